"""Moments on a page: in UTC, so that the same conversation is the same page wherever it is written."""

from __future__ import annotations

import re
from functools import lru_cache

from agent_journal.model import timestamps

_MINUTES = 16
_USUAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-9.]*Z", re.ASCII)


@lru_cache(maxsize=64)  # a page asks several times for a moment: of a turn, of its day, in the contents
def short(at: str | None) -> str:
    """`2026-03-01 10:05`: digits and nothing that could be markup; empty if there is no such moment."""
    if at is None:
        return ""
    if not _USUAL.fullmatch(at):
        at = timestamps.iso_ms(at) or ""
    return f"{at[:10]} {at[11:_MINUTES]}" if at else ""


def day(at: str | None) -> str:
    """`2026-03-01`."""
    return short(at)[:10]


def clock(at: str | None) -> str:
    """`10:05`."""
    return short(at)[11:]


def span(first: str | None, last: str | None) -> str:
    """From one moment to another, without what both have in common."""
    begin, end = short(first), short(last)
    if not end or end == begin:
        return begin
    if end[:10] == begin[:10]:
        end = end[11:]
    return f"{begin} – {end}" if begin else end
