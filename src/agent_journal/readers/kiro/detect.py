"""Detects databases by their tables, and files by the fields of conversations, lines and chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.database_rows import has_columns
from agent_journal.readers.kiro.names import LINES, OLD_TABLE, PAYLOADS, TABLE

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

CLI, DATABASE, IDE_LINES = "cli", "conversation", "ide-lines"
IDE_SESSION, IDE_CHAT = "ide-session", "ide-chat"
_STATE = ("valid_history_range", "transcript", "next_message", "env_context", "file_line_tracker")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is of these tools, else None."""
    if peek.is_folder:
        return None
    if peek.opening != "{":
        is_database = has_columns(peek, TABLE, ("key", "conversation_id", "value")) or (
            has_columns(peek, OLD_TABLE, ("key", "value"))
            and not has_columns(peek, OLD_TABLE, ("conversation_id",))
        )
        return DATABASE if is_database else None
    keys = peek.keys
    tests = (
        ("kind", CLI, _is_line),
        ("payload", IDE_LINES, _is_editor_line),
        ("conversation_id", DATABASE, is_conversation),
        ("chat", IDE_CHAT, _is_chat),
        ("history", IDE_SESSION, _is_session),
    )
    for key, version, test in tests:
        if key in keys and any(map(test, peek.records)):
            return version
    return None


def is_conversation(record: Any) -> bool:
    """Whether a value is the state of a conversation, as the databases hold it and `/save` writes it."""
    if record.__class__ is not dict or record.get("conversation_id").__class__ is not str:
        return False
    history = record.get("history")
    if history.__class__ is not list or (record.keys().isdisjoint(_STATE) and not history):
        return False
    return not history or any(map(_is_exchange, history))


def _is_exchange(exchange: Any) -> bool:
    """Whether a value has a prompt and its answer; the oldest versions wrote them as a pair."""
    if exchange.__class__ is list:
        return len(exchange) == 2  # noqa: PLR2004 (prompt and answer)
    return exchange.__class__ is dict and "user" in exchange


def _is_line(record: dict[str, Any]) -> bool:
    kind = record.get("kind")
    return (
        "version" in record
        and kind.__class__ is str
        and kind in LINES
        and record.get("data").__class__ is dict
    )


def _is_editor_line(record: dict[str, Any]) -> bool:
    payload = record.get("payload")
    if payload.__class__ is not dict or not record.keys() <= {"id", "timestamp", "payload", "parentId"}:
        return False
    return payload.get("type").__class__ is str and payload["type"] in PAYLOADS and "id" in record


def _is_chat(record: dict[str, Any]) -> bool:
    return "executionId" in record and record.get("chat").__class__ is list and "metadata" in record


def _is_session(record: dict[str, Any]) -> bool:
    history = record.get("history")
    if history.__class__ is not list or "sessionId" not in record:
        return False
    messages = [item for item in history if item.__class__ is dict and item.get("message").__class__ is dict]
    if not {"workspacePath", "selectedModel"}.isdisjoint(record):
        return bool(messages) or not history
    return any("executionId" in item and "contextItems" not in item for item in messages)
