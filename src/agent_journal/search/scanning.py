"""Search without an index: entries are looked through one by one, for as long as somebody waits."""

from __future__ import annotations

import time
from heapq import nlargest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.marking import Marker
from agent_journal.search.ranking import NO_WORDS, WEIGHTS, Ranked, Ranking, looked_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.search.entry import Entry
    from agent_journal.search.query import Filters, Query

_SECONDS = 2.0
_USUAL = 2000  # characters; what is longer has a word more easily


class Scan:
    """Looks through entries in their order, for as long as there is time."""

    def __init__(self, entries: Callable[[], Iterable[Entry]], seconds: float = _SECONDS) -> None:
        self._entries = entries
        self._seconds = seconds
        self._seen: _Seen | None = None

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first, among those that there was time for.

        Whoever wants more of the same gets it of what was seen then, and does not wait again.
        """
        if self._seen is None or self._seen.query != query:
            self._seen = self._look_through(query)
        best = nlargest(limit, self._seen.found)
        return Ranking([Ranked(key, score) for score, _, key in best], is_whole=self._seen.is_whole)

    def _look_through(self, query: Query) -> _Seen:
        look = _Look(query)
        until = time.monotonic() + self._seconds
        found: list[tuple[float, int, int]] = []
        for entry in self._entries():
            score = look.score(entry)
            if score is not None:
                found.append((score, entry.at, entry.key))
            if time.monotonic() > until:
                return _Seen(query, found, is_whole=False)
        return _Seen(query, found, is_whole=True)


class _Seen(NamedTuple):
    """What a look through entries found for a query."""

    query: Query
    found: list[tuple[float, int, int]]  # how well it matches, when it was said, its key
    is_whole: bool


class _Look:
    """What a query asks of one entry."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._marker = Marker(query)
        self._needed = len(query.wanted) if query.enough is None else query.enough
        self._fields = looked_in(query.filters.fields)
        asked = (query.filters._replace(fields=()), query.excluded)
        self._is_empty = not (query.wanted or query.unwanted or any(map(any, asked)))

    def score(self, entry: Entry) -> float | None:
        """How well an entry matches; None if it does not."""
        if self._is_empty or not passes(entry, self._query.filters, self._query.excluded):
            return None
        best: dict[int, float] = {}
        for field in WEIGHTS:
            text = getattr(entry, field)
            if not text:
                continue
            anywhere = field in self._fields
            if self._marker.is_unwanted(text, field, anywhere=anywhere):
                return None
            worth = WEIGHTS[field] / (1 + log(1 + len(text) / _USUAL))
            for group in self._marker.groups_in(text, field, anywhere=anywhere):
                best[group] = max(best.get(group, 0), worth)
        if len(best) < self._needed:
            return None
        return sum(best.values()) if self._needed else NO_WORDS


def passes(entry: Entry, wanted: Filters, excluded: Filters) -> bool:
    """Whether an entry is what filters ask for, and nothing that they exclude."""
    return all(_conditions(entry, wanted)) and not any(_conditions(entry, excluded))


def _conditions(entry: Entry, filters: Filters) -> Iterator[bool]:
    if filters.sources:
        yield _is_called(entry.source, filters.sources)
    if filters.projects:
        yield _is_called(entry.project, filters.projects)
    if filters.models:
        yield _is_called(entry.model, filters.models)
    if filters.roles:
        yield entry.role in filters.roles
    if filters.branches:
        yield _is_called(entry.branch, filters.branches)
    if filters.tools:
        yield any(_is_called(tool, filters.tools) for tool in entry.tools)
    if filters.conversations:
        yield entry.conversation in filters.conversations or entry.key in filters.held
    if filters.since is not None:
        yield bool(entry.at) and entry.at >= filters.since
    if filters.until is not None:
        yield bool(entry.at) and entry.at < filters.until
    if filters.has_error:
        yield entry.has_error


def _is_called(value: str, names: Iterable[str]) -> bool:
    """Whether a value is called so, or in part: what else is called so is not known here."""
    return any(name.casefold() in value.casefold() for name in names)
