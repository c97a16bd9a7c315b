"""Detects session files by their first line or the types of their lines, and databases by their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.pi.names import HEADER, MESSAGE, MODEL_CHANGE, THINKING_CHANGE, TITLE

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

TREE, HOOKS, LINES, DATABASE = "3", "2", "1", "database"
TABLES = frozenset({"transcript_events", "session_windows"})
# Fields of an answer, or of a tool's result, that no other agent writes.
_ANSWER = frozenset({"api", "provider", "stopReason", "usage"})


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session file or database, else None."""
    if peek.is_folder:
        return None
    if peek.opening != "{":
        return DATABASE if peek.raw.startswith(b"SQLite") and peek.tables >= TABLES else None
    if "type" not in peek.keys or "timestamp" not in peek.keys:
        return None
    header = next(filter(_is_header, peek.records), None)
    if header is not None:
        version = header.get("version", 1)
        return {1: LINES, 2: HOOKS}.get(version, TREE) if version.__class__ is int else TREE
    # The first line may be lost.
    return TREE if any(map(_is_own_line, peek.records)) else None


def _is_header(record: dict[str, Any]) -> bool:
    return (
        record.get("type") == HEADER
        and record.get("id").__class__ is str
        and record.get("timestamp").__class__ is str
        and ("cwd" in record or "version" in record)
        and "payload" not in record
    )


def _is_own_line(record: dict[str, Any]) -> bool:
    kind, message = record.get("type"), record.get("message")
    if kind == TITLE:
        return record.get("title").__class__ is str and "pad" in record
    if record.get("timestamp").__class__ is not str:
        return False
    if kind == MODEL_CHANGE:
        return "modelId" in record
    if kind == THINKING_CHANGE:
        return "thinkingLevel" in record
    if kind != MESSAGE or message.__class__ is not dict:
        return False
    if message.get("role") == "toolResult":
        return "toolCallId" in message
    return message.get("role") == "assistant" and message.keys() >= _ANSWER
