"""How far back a search goes: what is everywhere is sought among what is newest.

The index goes through every entry that has the words. If they are in a tenth of all entries, that takes ten
times as long in a journal ten times as large, and hardly anybody who looks for them is served by the oldest.
So the newest weeks are looked at first, and more of them only if these have too little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_EASY = 100_000  # entries that are gone through in a millisecond or two
_NEWEST = 20_000  # entries that are looked at first if there are more
_FURTHER = 10  # times as many are looked at next, at most
_AMONG = 200  # hits among which the best are sought
_IN_QUOTES = 50  # of what is asked for as it stands, where all are good; as many as are ranked at first
_NEARLY_ALL = 0.12  # of all entries; who looks at as many may as well look at all
_SECONDS = 7 * 86_400


class Week(NamedTuple):
    """How many entries are of a week, as the index calls it."""

    name: str
    entries: int


def week_of(at: int) -> str:
    """The week of a moment, so that names are in the order of weeks."""
    return f"{at // _SECONDS:08}"


def is_easy(entries: int) -> bool:
    """Whether it takes no time to go through so many entries."""
    return entries <= _EASY


def first(weeks: Sequence[Week]) -> list[Week]:
    """The weeks to look at first, newest first; none for all."""
    return _newest(weeks, _NEWEST)


def enough(wanted: int, *, is_exact: bool) -> int:
    """Among how many hits the best are sought for somebody who wants so many.

    It is the same for all who want a page or more, so that a later page begins where the earlier one ended.
    """
    return min(wanted, _IN_QUOTES) if is_exact else _AMONG


def further(before: Sequence[Week], hits: int, needed: int, weeks: Sequence[Week]) -> list[Week]:
    """The weeks that may have the hits that are needed if some had so many; none for all.

    If they had enough, but more are wanted, it is twice as many.
    """
    seen = sum(week.entries for week in before)
    return _newest(weeks, min(seen * _FURTHER, seen * 2 * max(needed, hits) // max(hits, 1)))


def since(weeks: Sequence[Week], wanted: int | None) -> int | None:
    """Since when the weeks are, in seconds since 1970; None if they are all, or all that is wanted."""
    if not weeks:
        return None
    beginning = int(weeks[-1].name) * _SECONDS
    return beginning if wanted is None or wanted < beginning else None


def _newest(weeks: Sequence[Week], entries: int) -> list[Week]:
    """The newest weeks that have so many entries; none if hardly anything is left out then."""
    total = sum(week.entries for week in weeks)
    newest: list[Week] = []
    newer = 0
    for week in weeks:
        if newer >= entries:
            break
        newer += week.entries
        newest.append(week)
    return newest if newer < _NEARLY_ALL * total else []
