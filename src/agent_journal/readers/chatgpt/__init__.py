"""ChatGPT: the official export (zip, folder, single file or HTML page), and files of browser exporters.

Exports since 2026 also have the tasks of Codex in the cloud.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo
from agent_journal.readers.chatgpt.names import (
    CONVERSATIONS,
    MANIFEST,
    READ_FILES,
    SOURCE,
    TOOL_KINDS,
    has_turns,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="ChatGPT",
    category="chat apps",
    versions=("2026", "2023"),
    revision=6,
    names={"unified": "chatgpt", "pam": "chatgpt", "record": "chatgpt"},
    tool_kinds=TOOL_KINDS,
    required=("conversation_id", "created_at", "messages"),
    # Each conversation begins with a system message whose only part is an empty text.
    allows_empty_text=True,
    children_field="node.children",
    evidence="exports and captures from 2023 to July 2026 as several open-source readers describe them; "
    "the vendor documents nothing; verified November 2026",
)
# Other files of an export. Without any of them, the folder is no export, even if it has conversations.
_EXPORT_FILES = frozenset({"chat.html", "model_comparisons.json", MANIFEST, *READ_FILES})
# Fields of messages of another product that has a `mapping` too.
_FOREIGN_FIELDS = frozenset({"fragments", "inserted_at"})


def sniff(peek: Peek) -> str | None:
    """Claim conversations that have their messages in a `mapping`, and folders of exports."""
    if not peek.is_folder:
        return _version(peek)
    conversation_files = [name for name in peek.members if CONVERSATIONS.fullmatch(name)]
    if conversation_files == ["conversations.json"] and _EXPORT_FILES.isdisjoint(peek.members):
        return None
    versions = (_version(file) for name in conversation_files if (file := peek.member(name)) is not None)
    version = next((version for version in versions if version is not None), None)
    is_sharded = MANIFEST in peek.members or any(name != "conversations.json" for name in conversation_files)
    return "2026" if version and is_sharded else version


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (all versions are read the same way)
    """Yield the account, and each conversation with the memories made in it."""
    from agent_journal.readers.chatgpt import sidecars  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.chatgpt.export import read_files, read_folder  # noqa: PLC0415 (only reading needs it)

    if source.is_folder:
        return read_folder(source, note)
    return read_files([source], sidecars.empty(), note)


def _version(file: Peek) -> str | None:
    """Get the version: `2023` if nodes list their children; exports since 2026 omit them."""
    if file.opening == "<":
        from agent_journal.readers.chatgpt.page import is_page  # noqa: PLC0415 (few files are pages)

        return "2023" if is_page(file.head) else None
    if "turns" in file.keys and any(_is_task(record) for record in file.records):
        return "2026"
    if "mapping" not in file.keys or any(_is_foreign(record) for record in file.records):
        return None
    mappings = [record["mapping"] for record in file.records if _is_conversation(record)]
    if not mappings:
        return None
    complete_nodes = [
        node
        for mapping in mappings
        for node in mapping.values()
        if isinstance(node, dict) and "parent" in node
    ]
    return "2026" if complete_nodes and not any("children" in node for node in complete_nodes) else "2023"


def _is_task(record: dict[str, Any]) -> bool:
    """Whether a record is a task of Codex in the cloud, by its id and its turns."""
    task_id = record.get("id")
    return isinstance(task_id, str) and task_id.startswith("task_") and has_turns(record)


def _is_conversation(record: dict[str, Any]) -> bool:
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        return False
    if not mapping:
        return "current_node" in record
    return any(_is_node(node) for node in mapping.values())


def _is_node(node: Any) -> bool:
    """Whether a value is a node: a message with its relatives; of a node that is cut off, the message."""
    if not isinstance(node, dict) or "message" not in node:
        return False
    message = node["message"]
    return "parent" in node or "children" in node or (isinstance(message, dict) and "author" in message)


def _is_foreign(record: dict[str, Any]) -> bool:
    """Whether a record is of another product that has `mapping` too, with other times and messages."""
    if not {"inserted_at", "chat_messages"}.isdisjoint(record):
        return True
    mapping = record.get("mapping")
    nodes = mapping.values() if isinstance(mapping, dict) else ()
    messages = (node.get("message") for node in nodes if isinstance(node, dict))
    return any(isinstance(message, dict) and not _FOREIGN_FIELDS.isdisjoint(message) for message in messages)
