"""Forge: conversations in one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.dialects.database_rows import has_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

DATABASE = "database"
TOOL_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "read": "read",
    "read_image": "read",
    "write": "write",
    "patch": "edit",
    "multi_patch": "edit",
    "remove": "edit",
    "undo": "edit",
    "search": "search",
    "fs_search": "search",
    "sem_search": "search",
    "fetch": "web",
    "task": "agent",
    "plan": "plan",
    "todo_write": "plan",
    "todo_read": "plan",
}

INFO = ReaderInfo(
    name="forge",
    title="Forge",
    versions=(DATABASE,),
    names={"record": "forge"},
    config_key="forge",
    env=("AJ_FORGE_PATH", "FORGE_CONFIG"),
    # The same folders on Linux, macOS and Windows; the second is that of older versions.
    homes=("~/.forge/.forge.db", "~/forge/.forge.db", "%FORGE_CONFIG%/.forge.db"),
    companions=("*/.forge.db-*",),
    tool_kinds=TOOL_KINDS,
    resume="forge --conversation-id {id}",
    evidence="the vendor's public source as of April 2026; no real database was seen; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of conversations."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    columns = ("conversation_id", "title", "workspace_id", "context", "created_at")
    return DATABASE if has_columns(peek, "conversations", columns) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each conversation, the oldest first."""
    from agent_journal.readers.forge import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
