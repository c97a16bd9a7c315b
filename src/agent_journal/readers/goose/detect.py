"""Detects databases by columns that only this tool has, and files by their first line or their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.database_rows import has_columns

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DATABASE, LINES = "database", "lines"
SESSIONS, MESSAGES, LEDGER = "sessions", "messages", "usage_ledger"
_TABLES = {
    SESSIONS: ("id", "working_dir", "created_at", "updated_at"),
    MESSAGES: ("session_id", "role", "content_json", "created_timestamp"),
}
_CALLS = ("toolRequest", "toolResponse")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is the tool's, else None."""
    if peek.is_folder:
        return None
    if peek.opening != "{":
        is_database = all(has_columns(peek, table, columns) for table, columns in _TABLES.items())
        return DATABASE if is_database else None
    is_log = any(is_header(record) or _has_calls(record) for record in peek.records)
    return LINES if is_log else None


def is_header(record: dict[str, Any]) -> bool:
    """Whether a line is the first one of a file: what the session is."""
    return "working_dir" in record and "message_count" in record and "role" not in record


def _has_calls(record: dict[str, Any]) -> bool:
    """Whether a line is a message whose blocks only this tool writes; the first line may be lost."""
    content = record.get("content")
    if record.get("created").__class__ is not int or content.__class__ is not list:
        return False
    return any(block.__class__ is dict and block.get("type") in _CALLS for block in content)
