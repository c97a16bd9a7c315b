"""Times as people read them: short, and in the time zone of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import timestamps
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from datetime import datetime

_LENGTHS = {"year": 365 * 86_400, "month": 30 * 86_400, "day": 86_400, "hour": 3600, "minute": 60}


def _to_local(at: str | None) -> datetime | None:
    parsed = timestamps.parse(at)
    if parsed is None:
        return None
    try:
        return parsed.astimezone()
    except (
        OverflowError,
        OSError,
        ValueError,
    ):  # at the ends of the calendar, or of what the system supports
        return parsed


def day(at: str | None) -> str:
    """`2026-03-01`; empty if it is not a time."""
    local = _to_local(at)
    return "" if local is None else f"{local.year:04d}-{local.month:02d}-{local.day:02d}"


def clock(at: str | None) -> str:
    """`10:05`; what is not a time stays unchanged."""
    local = _to_local(at)
    return one_line(at or "") if local is None else f"{local.hour:02d}:{local.minute:02d}"


def short(at: str | None) -> str:
    """`2026-03-01 10:05`."""
    return f"{day(at)} {clock(at)}".strip()


def age(at: str | None, now: float) -> str:
    """How long ago something was: `3 days ago`; empty if it is not a time, or in the future."""
    milliseconds = timestamps.epoch_ms(at)
    seconds = -1 if milliseconds is None else now - milliseconds / 1000
    for name, length in _LENGTHS.items():
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now" if seconds >= 0 else ""


def span(first: str | None, last: str | None) -> str:
    """From one time to another; the date is not repeated."""
    start = short(first)
    if last is None or short(last) == start:
        return start
    end = clock(last) if day(first) == day(last) else short(last)
    return f"{start} – {end}" if start else end
