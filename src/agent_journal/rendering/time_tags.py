"""Times on a web page: shown in short, with the full timestamp in a tooltip and for machines."""

from __future__ import annotations

from functools import lru_cache

from agent_journal.rendering import utc_times
from agent_journal.rendering.markup import NOTHING, SLOT, Markup, Template, element, text

_TIME_TAG = Template(element("time", {"datetime": SLOT, "title": SLOT}, SLOT))


@lru_cache(maxsize=64)
def clock(at: str | None) -> Markup:
    """`10:05`, or the text itself if it is no timestamp."""
    return _time_tag(at, utc_times.clock(at))


def span(first: str | None, last: str | None) -> Markup:
    """A time range; the end has no date if it is the same as that of the start."""
    time_range = utc_times.span(first, last)
    return element("span", "", f"{time_range} UTC") if time_range else _time_tag(first or last, "")


def _time_tag(at: str | None, label: str) -> Markup:
    if not at:
        return NOTHING
    timestamp = text(at)
    return _TIME_TAG(timestamp, timestamp, label) if label else element("span", "", timestamp)
