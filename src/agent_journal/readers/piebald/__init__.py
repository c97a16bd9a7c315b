"""Piebald: chats in one database."""

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
    "Terminal": "shell",
    "Bash": "shell",
    "ReadFile": "read",
    "Read": "read",
    "EditFile": "edit",
    "Edit": "edit",
    "WriteFile": "write",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "WebSearch": "web",
    "WebFetch": "web",
    "Task": "agent",
    "TodoWrite": "plan",
}

INFO = ReaderInfo(
    name="piebald",
    title="Piebald",
    versions=(DATABASE,),
    names={"record": "piebald"},
    config_key="piebald",
    env=("AJ_PIEBALD_PATH", "XDG_DATA_HOME"),
    homes=tuple(
        f"{home}/piebald/app.db" for home in ("~/.local/share", "~/Library/Application Support", "%APPDATA%")
    ),
    companions=("*/piebald/app.db-*",),
    # They are numbers in each database.
    ids_may_repeat=True,
    tool_kinds=TOOL_KINDS,
    evidence=(
        "the vendor's own program that reads its tokens (splitrail), and agentsview; no real database was "
        "seen; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of chats and messages."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    is_own = has_columns(peek, "messages", ("parent_chat_id", "role")) and "message_parts" in peek.tables
    return DATABASE if is_own and has_columns(peek, "chats", ("id", "title")) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each chat as a conversation, the oldest first."""
    from agent_journal.readers.piebald import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
