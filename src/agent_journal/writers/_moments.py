"""Moments on a page: in UTC, so that the same conversation is the same page wherever it is written."""

from __future__ import annotations

from agent_journal import times

_MINUTES = 16


def short(at: str | None) -> str:
    """`2026-03-01 10:05`; what is no moment as it is, and nothing if there is none."""
    if at is None:
        return ""
    if not at.endswith("Z"):
        at = times.iso_ms(at) or at
    return at[:_MINUTES].replace("T", " ")


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
