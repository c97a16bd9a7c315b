"""Claude.ai: the official export as a zip, a folder, the parts of a manifest, or a single file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.claude_ai.detect import (
    CONVERSATIONS,
    DESIGN,
    SOURCE,
    has_parents,
    is_manifest_name,
    kind_of,
    parts_listed,
)
from agent_journal.readers.claude_ai.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Claude.ai",
    category="chat apps",
    versions=("2026", "2024", "design"),
    revision=7,
    names={"pam": "claude", "record": "claude-ai"},
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    text_field="text",
    resume="https://claude.ai/chat/{id}",
    evidence="exports from 2024 to September 2026 as several open-source readers describe them, and redacted "
    "samples of two; the vendor documents nothing; verified November 2026",
)
# Other files of an export. Without any of them, the folder is no export, even if it has conversations.
_OTHER_FILES = ("users.json", "projects.json", "memories.json")


def sniff(peek: Peek) -> str | None:
    """Claim conversations with `chat_messages`, the other files of an export, and its folder."""
    if not peek.is_folder:
        return _version(peek)
    if _is_listed(peek):
        return "2026"
    conversations = peek.member("conversations.json")
    if conversations is None:
        return None
    if not any(kind_of(file) for name in _OTHER_FILES if (file := peek.member(name)) is not None):
        return None
    # Other products' exports also have a file of that name. Claude's may be empty, or an index.
    is_claude = conversations.value == [] or (
        "uuid" in conversations.keys and "mapping" not in conversations.keys
    )
    return (_version(conversations) or "2024") if is_claude else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (all versions are read the same way)
    """Yield the account, memories, projects, and each conversation."""
    from agent_journal.readers.claude_ai.export import read_file, read_folder  # noqa: PLC0415 (only reading needs it)

    return read_folder(source, note) if source.is_folder else read_file(source, note)


def _version(file: Peek) -> str | None:
    kind = kind_of(file)
    if kind == CONVERSATIONS:
        return "2026" if has_parents(file) else "2024"
    return kind if kind in (None, DESIGN) else "2026"


def _is_listed(folder: Peek) -> bool:
    """Whether a folder has the manifest of an export and only files that it lists.

    A manifest among other downloads does not make their folder an export; the parts are then read separately.
    """
    listed: set[str] = set()
    for name in folder.members:
        file = folder.member(name) if is_manifest_name(name) else None
        if file is not None and (parts := parts_listed(file.value)):
            listed.update((name, *parts))
    return bool(listed) and listed.issuperset(folder.members)
