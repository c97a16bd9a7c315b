"""Detects databases by the columns of messages, and files by their first line or fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.database_rows import has_columns
from agent_journal.readers.hermes.names import MESSAGES, META

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DATABASE, LINES, FILE = "database", "lines", "file"
_COLUMNS = ("session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is of this tool, else None."""
    if peek.is_folder:
        return None
    if peek.opening != "{":
        return DATABASE if has_columns(peek, MESSAGES, _COLUMNS) else None
    if "role" in peek.keys and any(record.get("role") == META for record in peek.records):
        return LINES
    if "session_id" in peek.keys and "messages" in peek.keys and any(map(_is_session, peek.records)):
        return FILE
    return None


def _is_session(record: dict[str, Any]) -> bool:
    return (
        record.get("session_id").__class__ is str
        and record.get("messages").__class__ is list
        and ("session_start" in record or ("platform" in record and "last_updated" in record))
    )
