"""ChatGPT: the official export as a zip, a folder, one file or its page, and what browser exporters save.

Exports since 2026 have the tasks of Codex in the cloud, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo
from agent_journal.readers.chatgpt.names import CONVERSATIONS, MANIFEST, READ, SOURCE, TOOL_KINDS, has_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="ChatGPT",
    versions=("2026", "2023"),
    revision=6,
    names={"unified": "chatgpt", "pam": "chatgpt", "record": "chatgpt"},
    tool_kinds=TOOL_KINDS,
    required=("conversation_id", "created_at", "messages"),
    # Each conversation begins with a system message whose only part is an empty text.
    allows_empty_text=True,
    children_field="node.children",
    evidence="exports and captures from 2023 to July 2026 as described by several open readers of them; "
    "no documentation by the vendor; verified November 2026",
)
# What lies beside the conversations of an export. Where none of it is, such a file just lies in some folder.
_BESIDE = frozenset({"chat.html", "model_comparisons.json", MANIFEST, *READ})
# How the messages of a product look that has a `mapping` too.
_FOREIGN = frozenset({"fragments", "inserted_at"})


def sniff(peek: Peek) -> str | None:
    """Claim conversations whose messages lie in a `mapping`, and the folder of an export that has them."""
    if not peek.is_folder:
        return _version(peek)
    found = [name for name in peek.members if CONVERSATIONS.fullmatch(name)]
    if found == ["conversations.json"] and _BESIDE.isdisjoint(peek.members):
        return None
    seen = (_version(file) for name in found if (file := peek.member(name)) is not None)
    version = next((version for version in seen if version is not None), None)
    is_sharded = MANIFEST in peek.members or any(name != "conversations.json" for name in found)
    return "2026" if version and is_sharded else version


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (one way to read them all)
    """Yield the account, and each conversation with what was remembered in it."""
    from agent_journal.readers.chatgpt import sidecars  # noqa: PLC0415 (imported when something is read)
    from agent_journal.readers.chatgpt.export import read_files, read_folder  # noqa: PLC0415 (imported when something is read)

    if source.is_folder:
        return read_folder(source, note)
    return read_files([source], sidecars.nothing(), note)


def _version(file: Peek) -> str | None:
    """`2023` if nodes list their children; exports since 2026 leave that out."""
    if file.opening == "<":
        from agent_journal.readers.chatgpt.page import is_page  # noqa: PLC0415 (few files are pages)

        return "2023" if is_page(file.head) else None
    if "turns" in file.keys and any(_is_task(record) for record in file.records):
        return "2026"
    if "mapping" not in file.keys or any(_is_foreign(record) for record in file.records):
        return None
    ours = [record["mapping"] for record in file.records if _is_conversation(record)]
    if not ours:
        return None
    whole = [
        node for mapping in ours for node in mapping.values() if isinstance(node, dict) and "parent" in node
    ]
    return "2026" if whole and not any("children" in node for node in whole) else "2023"


def _is_task(record: dict[str, Any]) -> bool:
    """Whether it is a task of Codex in the cloud, by its id and its turns."""
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
    """Whether it holds a message and a place in the graph; of a node that is cut, the message may do."""
    if not isinstance(node, dict) or "message" not in node:
        return False
    message = node["message"]
    return "parent" in node or "children" in node or (isinstance(message, dict) and "author" in message)


def _is_foreign(record: dict[str, Any]) -> bool:
    """Whether it is another product's conversation: one has `mapping` too, with other times and messages."""
    if not {"inserted_at", "chat_messages"}.isdisjoint(record):
        return True
    mapping = record.get("mapping")
    nodes = mapping.values() if isinstance(mapping, dict) else ()
    messages = (node.get("message") for node in nodes if isinstance(node, dict))
    return any(isinstance(message, dict) and not _FOREIGN.isdisjoint(message) for message in messages)
