"""Detects the app's files by the head of a session, or by its message types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

LOG, DOCUMENT, CHECKPOINT, PROMPTS = "log", "document", "checkpoint", "prompts"

_ANSWER = "gemini"
_MESSAGE_TYPES = ("user", _ANSWER, "info", "error", "warning")
_TIMES = ("startTime", "lastUpdated")
_PROMPT_FIELDS = ("sessionId", "messageId", "message", "timestamp")
# A fork of the app, which first used the same format, has this in place of `gemini`.
_FORK_ANSWER = "qwen"
# Fields of other tools' sessions that also have an id and a start time.
_FOREIGN_FIELDS = ("uuid", "chatMessages", "requests", "payload")


def version_of(peek: Peek) -> str | None:
    """Get the version of the format if the input is the app's, else None."""
    if peek.is_folder or peek.opening not in {"[", "{"}:
        return None
    keys = peek.keys
    if peek.opening == "[":
        return _version_of_array(peek, keys)
    if "history" in keys or "clientHistory" in keys:
        return CHECKPOINT if len(peek.records) == 1 and _is_checkpoint(peek.records[0]) else None
    if not ("timestamp" in keys or "sessionId" in keys or "messages" in keys or "$set" in keys):
        return None
    records = peek.records
    if any(_is_foreign(record) for record in records):
        return None
    if any(_is_document(record) for record in records):
        return DOCUMENT if len(records) == 1 else LOG
    return LOG if any(map(_is_head, records)) or _has_lines(records) else None


def _version_of_array(peek: Peek, keys: frozenset[str]) -> str | None:
    if "messageId" in keys:
        return PROMPTS if all(_is_prompt(record) for record in peek.records) else None
    if keys == {"role", "parts"}:
        return CHECKPOINT if all(map(_is_content, peek.records)) else None
    return None


def _is_head(record: dict[str, Any]) -> bool:
    """Whether a record is the first line of a session, or has the head of a document."""
    if not isinstance(record.get("sessionId"), str) or "id" in record:
        return False
    return isinstance(record.get("projectHash"), str) or all(name in record for name in _TIMES)


def _is_document(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    if not isinstance(messages, list):
        return False
    return _is_head(record) or any(map(_is_answer, messages))


def _has_lines(records: tuple[dict[str, Any], ...]) -> bool:
    """Whether the lines of a log without its first line are those of a session."""
    if any(map(_is_answer, records)):
        return True
    has_changes = any("$rewindTo" in record or _is_change(record) for record in records)
    return has_changes and any(_is_message(record) for record in records)


def _is_change(record: dict[str, Any]) -> bool:
    return isinstance(record.get("$set"), dict) and len(record) == 1


def _is_message(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("id"), str)
        and "timestamp" in record
        and "content" in record
        and record.get("type") in _MESSAGE_TYPES
    )


def _is_answer(record: Any) -> bool:
    return _is_message(record) and record["type"] == _ANSWER


def _is_foreign(record: dict[str, Any]) -> bool:
    if record.get("type") == _FORK_ANSWER or any(name in record for name in _FOREIGN_FIELDS):
        return True
    messages = record.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("type") == _FORK_ANSWER for message in messages
    )


def _is_prompt(record: dict[str, Any]) -> bool:
    return all(name in record for name in _PROMPT_FIELDS) and isinstance(record["message"], str)


def _is_content(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("role") in ("user", "model")
        and isinstance(value.get("parts"), list)
    )


def _is_checkpoint(record: dict[str, Any]) -> bool:
    history = record.get("clientHistory", record.get("history"))
    return isinstance(history, list) and bool(history) and all(map(_is_content, history))
