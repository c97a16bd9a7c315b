"""Claude.ai: the official export as a zip, a folder, the parts a manifest lists, or one file of it."""

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
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Claude.ai",
    versions=("2026", "2024", "design"),
    revision=7,
    names={"pam": "claude", "record": "claude-ai"},
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    text_field="text",
    resume="https://claude.ai/chat/{id}",
    evidence="exports from 2024 to September 2026 as described by several open readers of them, and redacted "
    "samples of two; no documentation by the vendor; verified November 2026",
)
# What lies beside the conversations of an export. Where none of it is, such a file just lies in some folder.
_BESIDE = ("users.json", "projects.json", "memories.json")


def sniff(peek: Peek) -> str | None:
    """Claim conversations with `chat_messages`, what an export has beside them, and the folder of one."""
    if not peek.is_folder:
        return _version(peek)
    if _is_listed(peek):
        return "2026"
    conversations = peek.member("conversations.json")
    if conversations is None:
        return None
    if not any(kind_of(file) for name in _BESIDE if (file := peek.member(name)) is not None):
        return None
    # Other products' exports have a file of that name too. Ours may be empty, or an index.
    is_ours = conversations.value == [] or (
        "uuid" in conversations.keys and "mapping" not in conversations.keys
    )
    return (_version(conversations) or "2024") if is_ours else None


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (one way to read them all)
    """Yield the account, what the service remembers, its projects, and each conversation."""
    from agent_journal.readers.claude_ai.export import read_file, read_folder  # noqa: PLC0415 (imported when something is read)

    return read_folder(source, note) if source.is_folder else read_file(source, note)


def _version(file: Peek) -> str | None:
    kind = kind_of(file)
    if kind == CONVERSATIONS:
        return "2026" if has_parents(file) else "2024"
    return kind if kind in (None, DESIGN) else "2026"


def _is_listed(folder: Peek) -> bool:
    """Whether a folder has the manifest of an export, and no other files than that speaks of.

    A manifest among other downloads makes no export of their folder; the parts are then read one by one.
    """
    listed: set[str] = set()
    for name in folder.members:
        file = folder.member(name) if is_manifest_name(name) else None
        if file is not None and (parts := parts_listed(file.value)):
            listed.update((name, *parts))
    return bool(listed) and listed.issuperset(folder.members)
