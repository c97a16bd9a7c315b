"""Parse days and ages that people type into seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_AGE_PATTERN = re.compile(r"(\d{1,6})(h|d|w|mo?|y)")
_UNIT_SECONDS = {
    "h": 3600,
    "d": 86_400,
    "w": 7 * 86_400,
    "m": 30 * 86_400,
    "mo": 30 * 86_400,
    "y": 365 * 86_400,
}
_PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_DAYS_AGO = {"today": 0, "yesterday": 1}


def to_epoch_seconds(value: str, now: float | None = None, zone: tzinfo | None = None) -> int | None:
    """Parse a date, time or age; None if it is none. `zone` None means the zone of this machine.

    Accepted are a time (`2026-11-16T09:30`; its own zone, as in `…Z`, takes precedence), a day, month or year
    (`2026-11-16`, `2026-11`, `2026`), which stands for its beginning, and, if `now` is given, `today`,
    `yesterday` and ages: `12h`, `7d`, `2w`, `3m`, `1y`.
    """
    text = value.strip().lower()
    from agent_journal.model import timestamps  # noqa: PLC0415 (rarely needed)

    if age := _AGE_PATTERN.fullmatch(text):
        return None if now is None else int(now) - int(age[1]) * _UNIT_SECONDS[age[2]]
    parsed = timestamps.in_zone((_day(text, now, zone) or text).upper(), zone)
    return None if parsed is None else floor(parsed.timestamp())


def _day(text: str, now: float | None, zone: tzinfo | None) -> str | None:
    """Return the full date for a word or a partial date."""
    if now is not None and text in _DAYS_AGO:
        return str(datetime.fromtimestamp(now, zone).date() - timedelta(days=_DAYS_AGO[text]))
    match = _PARTIAL_DATE.fullmatch(text)
    return f"{match[1]}-{int(match[2] or 1):02d}-01" if match else None
