"""Detects updates by their envelope, and messages by the fields that only they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.grok_build.names import LINES

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

UPDATES, HISTORY = "updates", "history"
_OWN_KEYS = ("synthetic_reason", "prompt_index", "model_id", "model_fingerprint")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session of this tool, else None."""
    if peek.is_folder or peek.opening != "{":
        return None
    keys = peek.keys
    if "params" in keys and any(map(_is_update, peek.records)):
        return UPDATES
    if "type" in keys and any(map(_is_own_message, peek.records)) and all(map(_is_message, peek.records)):
        return HISTORY
    return None


def _is_update(record: dict[str, Any]) -> bool:
    params = record.get("params")
    update = params.get("update") if params.__class__ is dict else None
    return (
        update.__class__ is dict
        and update.get("sessionUpdate").__class__ is str
        and "timestamp" in record
        and record.get("method", "session/update").__class__ is str
    )


def _is_message(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return kind.__class__ is not str or kind in LINES or "content" in record


def _is_own_message(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if kind.__class__ is not str or kind not in LINES or "uuid" in record or "message" in record:
        return False
    if kind == "backend_tool_call":
        return record.get("kind").__class__ is dict
    return "content" in record and any(key in record for key in _OWN_KEYS)
