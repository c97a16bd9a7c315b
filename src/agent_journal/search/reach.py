"""Decide how far back to search: very common words are searched in the newest weeks first.

The index visits every entry that has the words. If a tenth of all entries have them, that takes ten times as
long in a journal ten times as large, and the oldest hits rarely help. So the newest weeks are searched first,
and more of them only if these have too few hits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_CHEAP_ENTRIES = 100_000  # visited in a millisecond or two
_MAX_FIRST_ENTRIES = 20_000  # searched first if there are more
_MAX_GROWTH_FACTOR = 10  # times as many are searched next, at most
_MIN_HITS = 200  # to choose the best from
_MIN_EXACT_HITS = 50  # for literal queries, where all are good; as many as are ranked at first
_NEARLY_ALL_SHARE = 0.12  # of all entries; above this, searching all takes no longer
WEEK_SECONDS = 7 * 86_400


class Week(NamedTuple):
    """A week by its name in the index, with its number of entries."""

    name: str
    entries: int


def week_of(at: int) -> str:
    """Return the name of a week; names sort chronologically."""
    return f"{at // WEEK_SECONDS:08}"


def is_cheap(entries: int) -> bool:
    """Whether visiting that many entries takes hardly any time."""
    return entries <= _MAX_CHEAP_ENTRIES


def first_weeks(weeks: Sequence[Week]) -> list[Week]:
    """Return the weeks to search first, newest first; empty for all."""
    return _newest_weeks(weeks, _MAX_FIRST_ENTRIES)


def min_hits(wanted: int, *, is_exact: bool) -> int:
    """Return how many hits to choose the best from if `wanted` are requested.

    It does not depend on the page, so that a later page begins where the earlier one ended.
    """
    return min(wanted, _MIN_EXACT_HITS) if is_exact else _MIN_HITS


def more_weeks(searched: Sequence[Week], hits: int, needed: int, weeks: Sequence[Week]) -> list[Week]:
    """Return the weeks to search next, as `before` had only that many hits; empty for all.

    If the hits were enough to rank, but not for the page, it is twice as many weeks.
    """
    visited = sum(week.entries for week in searched)
    return _newest_weeks(
        weeks, min(visited * _MAX_GROWTH_FACTOR, visited * 2 * max(needed, hits) // max(hits, 1))
    )


def start_of_weeks(weeks: Sequence[Week], requested: int | None) -> int | None:
    """Return the start of the weeks in seconds since 1970; None if they cover all that was requested."""
    if not weeks:
        return None
    beginning = int(weeks[-1].name) * WEEK_SECONDS
    return beginning if requested is None or requested < beginning else None


def _newest_weeks(weeks: Sequence[Week], entries: int) -> list[Week]:
    """Return the newest weeks with that many entries; empty if they are nearly all."""
    total = sum(week.entries for week in weeks)
    newest: list[Week] = []
    count = 0
    for week in weeks:
        if count >= entries:
            break
        count += week.entries
        newest.append(week)
    return newest if count < _NEARLY_ALL_SHARE * total else []
