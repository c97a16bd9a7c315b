"""Days and ages as people type them, as seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_AGE = re.compile(r"(\d{1,6})(h|d|w|mo?|y)")
_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_DAYS_AGO = {"today": 0, "yesterday": 1}


def seconds(value: str, now: float | None = None) -> int | None:
    """The moment that is meant; None if none is.

    That is a date or a moment (`2026-11-16`, `2026-11-16T09:30:00Z`; without a zone in UTC), a month or a
    year (its beginning), or, if it is known what time it is, an age: `12h`, `7d`, `2w`, `3m`, `1y`, or
    `today` and `yesterday`, which begin when the day of this machine does.
    """
    text = value.strip().lower()
    from agent_journal import times  # noqa: PLC0415 (few ask for a time)

    if now is not None and text in _DAYS_AGO:
        text = times.first_moment(day(text, now) or "") or text
    if age := _AGE.fullmatch(text):
        return None if now is None else int(now) - int(age[1]) * _SECONDS[age[2]]
    milliseconds = times.epoch_ms((day(text) or text).upper())
    return None if milliseconds is None else milliseconds // 1000


def day(value: str, now: float | None = None, zone: tzinfo | None = None) -> str | None:
    """The date that a word or a part of a date means, by the clock of a zone or of this machine (None)."""
    text = value.strip().lower()
    if now is not None and text in _DAYS_AGO:
        return str(datetime.fromtimestamp(now, zone).date() - timedelta(days=_DAYS_AGO[text]))
    part = _PART_OF_A_DATE.fullmatch(text)
    return f"{part[1]}-{int(part[2] or 1):02d}-01" if part else None
