"""Shelley, the agent of exe.dev: conversations in one database."""

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
    "bash": "shell",
    "shell": "shell",
    "patch": "edit",
    "keyword_search": "search",
    "browser": "web",
    "browser_navigate": "web",
    "web_search": "web",
    "subagent": "agent",
    "think": "plan",
    "read_image": "read",
    "change_dir": "shell",
}

INFO = ReaderInfo(
    name="shelley",
    title="Shelley",
    versions=(DATABASE,),
    names={"record": "shelley"},
    config_key="shelley",
    env=("AJ_SHELLEY_PATH", "XDG_CONFIG_HOME"),
    # The same folder in the home directory of all systems.
    homes=("~/.config/shelley/shelley.db",),
    companions=("*/shelley/shelley.db-*",),
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    evidence=(
        "the vendor's public source as of August 2026; no real database was seen; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of messages that only this tool has."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    columns = ("message_id", "conversation_id", "sequence_id", "type", "llm_data")
    return DATABASE if has_columns(peek, "messages", columns) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each conversation, the oldest first."""
    from agent_journal.readers.shelley import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
