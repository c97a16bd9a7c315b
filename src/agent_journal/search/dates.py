"""Days and ages as people type them, as seconds since 1970."""

from __future__ import annotations

import re

_AGE = re.compile(r"(\d{1,6})(h|d|w|mo?|y)")
_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_DAYS_AGO = {"today": 0, "yesterday": 1}
_DAY = 86_400


def seconds(value: str, now: float | None = None) -> int | None:
    """The moment that is meant; None if none is.

    That is a date or a moment (`2026-11-16`, `2026-11-16T09:30:00Z`; without a zone in UTC), a month or a
    year (its beginning), or, if it is known what time it is, an age: `12h`, `7d`, `2w`, `3m`, `1y`,
    `today`, `yesterday`.
    """
    text = value.strip().lower()
    if now is not None and text in _DAYS_AGO:
        return (int(now) // _DAY - _DAYS_AGO[text]) * _DAY
    if age := _AGE.fullmatch(text):
        return None if now is None else int(now) - int(age[1]) * _SECONDS[age[2]]
    if part := _PART_OF_A_DATE.fullmatch(text):
        text = f"{part[1]}-{int(part[2] or 1):02d}-01"
    from agent_journal import times  # noqa: PLC0415 (few ask for a time)

    milliseconds = times.epoch_ms(text.upper())
    return None if milliseconds is None else milliseconds // 1000
