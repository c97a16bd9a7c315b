"""Moments on a web page: short, with the whole moment for who looks closer and for machines."""

from __future__ import annotations

from functools import lru_cache

from agent_journal.writers.html.markup import NOTHING, PLACE, Markup, Pattern, element, text
from agent_journal.writers.rendering import utc_times

_MOMENT = Pattern(element("time", {"datetime": PLACE, "title": PLACE}, PLACE))


@lru_cache(maxsize=64)
def clock(at: str | None) -> Markup:
    """`10:05`; what is no moment as it is."""
    return _shown(at, utc_times.clock(at))


def span(first: str | None, last: str | None) -> Markup:
    """From one moment to another, without what both have in common."""
    told = utc_times.span(first, last)
    return element("span", "", f"{told} UTC") if told else _shown(first or last, "")


def _shown(at: str | None, short: str) -> Markup:
    if not at:
        return NOTHING
    moment = text(at)
    return _MOMENT(moment, moment, short) if short else element("span", "", moment)
