"""Detects rollouts and the prompt history by the envelope of their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DOCUMENT, PROMPTS = "document", "prompts"
# In September 2025 the prompt history called a session a conversation.
SESSION_IDS = ("session_id", "conversation_id")

_ENVELOPE_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def version_of(peek: Peek) -> str | None:
    """Get the version of the format if the input is a rollout or prompt history, else None."""
    if peek.is_folder:
        return None
    keys, records = peek.keys, peek.records
    if "payload" in keys and any(_is_enveloped(record) for record in records):
        return "envelope"
    if "instructions" in keys or "record_type" in keys:
        return "bare" if any(_is_bare(record) for record in records) else None
    if "ts" in keys:
        return PROMPTS if any(map(_is_prompt, records)) else None
    return DOCUMENT if "session" in keys and _is_document(records[0]) else None


def _is_enveloped(record: dict[str, Any]) -> bool:
    return isinstance(record.get("payload"), dict) and record.get("type") in _ENVELOPE_TYPES


def _is_bare(record: dict[str, Any]) -> bool:
    """Whether a record is a first line of mid-2025, or one of the marks between items."""
    if "type" in record:
        return False
    is_mark = record.get("record_type") == "state"
    return is_mark or all(name in record for name in ("id", "timestamp", "instructions"))


def _is_prompt(record: dict[str, Any]) -> bool:
    """Whether a record is a line of the prompt history: three fields, and the time in seconds."""
    if not isinstance(record.get("text"), str) or record.get("ts").__class__ is not int:
        return False
    return record.keys() - {"text", "ts"} in ({name} for name in SESSION_IDS)


def _is_document(record: dict[str, Any]) -> bool:
    session = record.get("session")
    return isinstance(session, dict) and "instructions" in session and isinstance(record.get("items"), list)
