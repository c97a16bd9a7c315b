"""Detects agent records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

V3, V2 = "3.0.0-draft", "2.0.0-draft"


def version_of(peek: Peek) -> str | None:
    """Get the draft that the first record follows, if there is a record."""
    if "session" not in peek.keys and "file-attribution" not in peek.keys:
        return None
    record = next((record for record in peek.records if is_record(record)), None)
    if record is None:
        return None
    return V2 if str(record.get("version", "")).startswith("2.") else V3


def is_record(record: dict[str, Any]) -> bool:
    """Whether an object is a record. A truncated one may have the attributed lines but no session yet."""
    session, lines = record.get("session"), record.get("file-attribution")
    if session.__class__ is dict:
        return session.get("agent-meta").__class__ is dict and ("id" in record or "version" in record)
    return session is None and lines.__class__ is dict and lines.get("files").__class__ is list
