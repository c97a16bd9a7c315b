"""Detects session files by their first line or by messages inside of messages, and printed events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.factory_droid.names import MESSAGE, START

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

SESSION, STREAM = "session", "stream"
_ROLES = ("user", "assistant")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session file or a stream of events, else None."""
    if peek.is_folder or peek.opening != "{" or "type" not in peek.keys:
        return None
    if any(map(_is_start, peek.records)):
        return SESSION
    if "message" in peek.keys and any(map(_is_message, peek.records)):
        return SESSION
    if "session_id" in peek.keys or "sessionId" in peek.keys:
        return STREAM if any(map(_is_event, peek.records)) else None
    return None


def _is_start(record: dict[str, Any]) -> bool:
    return record.get("type") == START and "title" in record and ("owner" in record or "cwd" in record)


def _is_message(record: dict[str, Any]) -> bool:
    """Whether a record is a message whose lines before are lost; others' have more fields."""
    message = record.get("message")
    return (
        record.get("type") == MESSAGE
        and record.keys() <= {"type", "id", "parentId", "timestamp", "message"}
        and message.__class__ is dict
        and message.get("role") in _ROLES
        and message.get("content").__class__ is list
        and ("modelId" in message or "interactionMode" in message)
    )


def _is_event(record: dict[str, Any]) -> bool:
    if not (record.get("session_id").__class__ is str or record.get("sessionId").__class__ is str):
        return False
    match record.get("type"):
        case "message":
            return record.get("role") in _ROLES and record.get("text").__class__ is str
        case "tool_call":
            return "toolName" in record and "parameters" in record
        case "tool_result":
            return "value" in record and ("toolCallId" in record or "toolId" in record)
        case "completion":
            return "finalText" in record
    return False
