"""Distinguishes sessions from other tools' logs by the envelope and the names of their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.copilot_events.names import KNOWN_TYPES

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

# The version of the events in `session.start`.
EVENTS = "1"
HISTORY = "history"

_ENVELOPE = {"id", "timestamp"}


def detect_version(peek: Peek) -> str | None:
    """Return the version of the format if the input is a session, else None."""
    if "chatMessages" in peek.keys:
        return HISTORY if any(_is_history(record) for record in peek.records) else None
    if not peek.keys >= {"type", "data"} or any(_is_an_editors(record) for record in peek.records):
        return None
    return EVENTS if any(_is_event(record, peek) for record in peek.records) else None


def _is_history(record: dict[str, Any]) -> bool:
    return isinstance(record.get("chatMessages"), list) and ("sessionId" in record or "startTime" in record)


def _is_event(record: dict[str, Any], peek: Peek) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in KNOWN_TYPES or not isinstance(record.get("data"), dict):
        return False
    # A first line that imports a long session is cut off before its id, which follows the payload.
    return record.keys() >= _ENVELOPE or (peek.is_cut and len(peek.records) == 1)


def _is_an_editors(record: dict[str, Any]) -> bool:
    """VS Code's chat writes some of the same events; its first one names the editor's version."""
    data = record.get("data")
    return isinstance(data, dict) and "vscodeVersion" in data
