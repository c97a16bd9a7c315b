"""Detects logs by the origin that each step states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

LOG = "log"
_ORIGINS = ("USER_EXPLICIT", "USER_IMPLICIT", "MODEL", "SYSTEM")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a log of steps, else None."""
    if peek.is_folder or peek.opening != "{" or not peek.keys >= {"source", "created_at"}:
        return None
    return LOG if any(map(_is_step, peek.records)) else None


def _is_step(record: dict[str, Any]) -> bool:
    is_from_known = record.get("source") in _ORIGINS if record.get("source").__class__ is str else False
    return is_from_known and "created_at" in record and ("step_index" in record or "content" in record)
