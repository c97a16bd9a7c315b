"""Days and ages as people type them, as seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_AGE = re.compile(r"(\d{1,6})(h|d|w|mo?|y)")
_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_DAYS_AGO = {"today": 0, "yesterday": 1}


def seconds(value: str, now: float | None = None, zone: tzinfo | None = None) -> int | None:
    """The moment that is meant, by the clock of a zone or of this machine (None); None if none is.

    That is a moment (`2026-11-16T09:30`; one that has its own zone, as `…Z`, is meant by that), the beginning
    of a day, a month or a year (`2026-11-16`, `2026-11`, `2026`), or, if it is known what time it is, of
    `today` or `yesterday`, or an age: `12h`, `7d`, `2w`, `3m`, `1y`.
    """
    text = value.strip().lower()
    from agent_journal.model import timestamps  # noqa: PLC0415 (few ask for a time)

    if age := _AGE.fullmatch(text):
        return None if now is None else int(now) - int(age[1]) * _SECONDS[age[2]]
    moment = timestamps.in_zone((_day(text, now, zone) or text).upper(), zone)
    return None if moment is None else floor(moment.timestamp())


def _day(text: str, now: float | None, zone: tzinfo | None) -> str | None:
    """The date that a word or a part of a date means."""
    if now is not None and text in _DAYS_AGO:
        return str(datetime.fromtimestamp(now, zone).date() - timedelta(days=_DAYS_AGO[text]))
    part = _PART_OF_A_DATE.fullmatch(text)
    return f"{part[1]}-{int(part[2] or 1):02d}-01" if part else None
