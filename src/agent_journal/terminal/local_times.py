"""Moments as people read them: in the zone of this machine, and short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import timestamps
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from datetime import datetime

_LENGTHS = {"year": 365 * 86_400, "month": 30 * 86_400, "day": 86_400, "hour": 3600, "minute": 60}


def _here(at: str | None) -> datetime | None:
    parsed = timestamps.parse(at)
    if parsed is None:
        return None
    try:
        return parsed.astimezone()
    except (
        OverflowError,
        OSError,
        ValueError,
    ):  # the ends of the calendar, and what the system's clock knows
        return parsed


def day(at: str | None) -> str:
    """`2026-03-01`, or nothing."""
    moment = _here(at)
    return "" if moment is None else f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"


def clock(at: str | None) -> str:
    """`10:05`; what is no moment as it is."""
    moment = _here(at)
    return one_line(at or "") if moment is None else f"{moment.hour:02d}:{moment.minute:02d}"


def short(at: str | None) -> str:
    """`2026-03-01 10:05`."""
    return f"{day(at)} {clock(at)}".strip()


def age(at: str | None, now: float) -> str:
    """How long ago something was: `3 days ago`; nothing for what is no moment or still to come."""
    milliseconds = timestamps.epoch_ms(at)
    seconds = -1 if milliseconds is None else now - milliseconds / 1000
    for name, length in _LENGTHS.items():
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now" if seconds >= 0 else ""


def span(first: str | None, last: str | None) -> str:
    """From one moment to another, without what both have in common."""
    begin = short(first)
    if last is None or short(last) == begin:
        return begin
    end = clock(last) if day(first) == day(last) else short(last)
    return f"{begin} – {end}" if begin else end
