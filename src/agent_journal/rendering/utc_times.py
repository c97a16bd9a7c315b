"""Times on a page, in UTC: a page is the same in whatever time zone it is written."""

from __future__ import annotations

import re
from functools import lru_cache

from agent_journal.model import timestamps

_MINUTE_CHARS = 16
_UTC_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-9.]*Z", re.ASCII)


@lru_cache(maxsize=64)  # a page formats the same time for the turn, its day and the table of contents
def date_and_time(at: str | None) -> str:
    """`2026-03-01 10:05`, without characters that need escaping; empty if `at` is no valid time."""
    if at is None:
        return ""
    if not _UTC_TIMESTAMP.fullmatch(at):
        at = timestamps.iso_ms(at) or ""
    return f"{at[:10]} {at[11:_MINUTE_CHARS]}" if at else ""


def day(at: str | None) -> str:
    """`2026-03-01`."""
    return date_and_time(at)[:10]


def clock(at: str | None) -> str:
    """`10:05`."""
    return date_and_time(at)[11:]


def span(first: str | None, last: str | None) -> str:
    """A time range; the end has no date if it is the same as that of the start."""
    begin, end = date_and_time(first), date_and_time(last)
    if not end or end == begin:
        return begin
    if end[:10] == begin[:10]:
        end = end[11:]
    return f"{begin} – {end}" if begin else end
