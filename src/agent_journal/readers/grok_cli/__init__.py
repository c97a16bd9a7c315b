"""Grok CLI, the community's (superagent): sessions in one database."""

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
    "process_logs": "shell",
    "read_file": "read",
    "write_file": "write",
    "edit_file": "edit",
    "grep": "search",
    "search_web": "web",
    "search_x": "web",
    "task": "agent",
    "delegate": "agent",
    "generate_plan": "plan",
    "generate_image": "media",
    "generate_video": "media",
}

INFO = ReaderInfo(
    name="grok-cli",
    title="Grok CLI (community)",
    versions=(DATABASE,),
    names={"record": "grok-cli"},
    config_key="grok_cli",
    env=("AJ_GROK_CLI_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.grok/grok.db",),
    companions=("*/.grok/grok.db-*",),
    tool_kinds=TOOL_KINDS,
    resume="grok --session {id}",
    evidence=(
        "the public source of 2026 (schema and migrations); no real database was seen; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of messages and sessions that only this tool has."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    is_own = has_columns(peek, "messages", ("session_id", "seq", "role", "message_json"))
    return DATABASE if is_own and has_columns(peek, "sessions", ("id", "workspace_id")) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each session as a conversation, the oldest first."""
    from agent_journal.readers.grok_cli import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
