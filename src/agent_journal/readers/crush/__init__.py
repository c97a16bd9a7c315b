"""Crush: one database per project, with the sessions of its agent and of their subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.crush.names import TABLES, TOOL_KINDS
from agent_journal.readers.dialects.database_rows import has_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

DATABASE = "database"
_FILE = ".crush/crush.db"

INFO = ReaderInfo(
    name="crush",
    title="Crush",
    versions=(DATABASE,),
    names={"record": "crush"},
    config_key="crush",
    env=("AJ_CRUSH_PATH", "CRUSH_GLOBAL_DATA", "XDG_DATA_HOME"),
    # In each project; a setting can move it to the folder of the app.
    homes=(
        f"./{_FILE}",
        f"~/{_FILE}",
        "~/.local/share/crush/crush.db",
        "%LOCALAPPDATA%/crush/crush.db",
        "%CRUSH_GLOBAL_DATA%/crush.db",
    ),
    in_projects=(_FILE,),
    companions=("*/crush.db-*", "*/crush/projects.json"),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    undercounts="the tool states the cost of a session, and of tokens only those of its last request",
    resume="crush --session {id}",
    evidence="the vendor's public source as of August 2026 (schema and messages); verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of sessions and messages that only this tool has."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    return DATABASE if all(has_columns(peek, table, columns) for table, columns in TABLES.items()) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each session as a conversation, the oldest first."""
    from agent_journal.readers.crush import sessions  # noqa: PLC0415 (only reading needs it)

    yield from sessions.conversations(source, note, INFO.name)
