"""Search without an index: entries are looked through one by one, for as long as somebody waits."""

from __future__ import annotations

import time
from heapq import nlargest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.forms import forms_of, spaced
from agent_journal.search.query import BY_PART, ROLES, as_stored, index_fields, meant, names_in
from agent_journal.search.ranking import NO_WORDS, WEIGHTS, Ranked, Ranking, looked_in
from agent_journal.search.words import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from agent_journal.search.entry import Entry
    from agent_journal.search.query import Filters, Query, Term

_SECONDS = 2.0
_USUAL = 2000  # characters; what is longer has a word more easily


class Scan:
    """Looks through entries in their order, for as long as there is time."""

    def __init__(
        self,
        entries: Callable[[], Iterable[Entry]],
        values: Callable[[str], Iterable[str]],
        seconds: float = _SECONDS,
    ) -> None:
        """`values` gives all that there are of a kind that entries are filtered by."""
        self._entries = entries
        self._values = values
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
        look = _Look(query, self._values)
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

    def __init__(self, query: Query, values: Callable[[str], Iterable[str]]) -> None:
        self._wanted, self._excluded = _Asked(query.filters, values), _Asked(query.excluded, values)
        fields = looked_in(query.filters.fields)
        self._groups = [group for each in query.wanted if (group := _written(each, fields))]
        self._unwanted = _written(query.unwanted, fields)
        every = [each for group in (*self._groups, self._unwanted) for each in group]
        self._telling = {max(each.text.split(), key=len) for each in every}
        count = len(self._groups)
        self._needed = count if query.enough is None else min(max(query.enough, 1), count)
        asked = (query.filters._replace(fields=()), query.excluded)
        self._is_empty = not (self._groups or query.unwanted or any(map(any, asked)))

    def score(self, entry: Entry) -> float | None:
        """How well an entry matches; None if it does not."""
        if self._is_empty or not all(self._wanted.of(entry)) or any(self._excluded.of(entry)):
            return None
        best: dict[int, float] = {}
        for field, weight in WEIGHTS.items():
            text = getattr(entry, field)
            if not text or not self._may_be_in(text):
                continue
            known = spaced(text)
            if _is_in(known, field, self._unwanted):
                return None
            worth = weight / (1 + log(1 + len(text) / _USUAL))
            for number, group in enumerate(self._groups):
                if _is_in(known, field, group):
                    best[number] = max(best.get(number, 0), worth)
        if len(best) < self._needed:
            return None
        return sum(best.values()) if self._needed else NO_WORDS

    def _may_be_in(self, text: str) -> bool:
        """Whether a text may have something of what is sought: most texts have nothing, and are read so."""
        known = flat(text)
        return any(word in known for word in self._telling)


class _Written(NamedTuple):
    """Words as they stand in a text, and in which fields they count."""

    text: str
    fields: Collection[str]


def _written(terms: Iterable[Term], fields: Collection[str]) -> list[_Written]:
    """What finds one of several terms, in their own fields or else in some."""
    return [
        _Written(form.spaced, index_fields([term.field]) if term.field else fields)
        for term in terms
        for form in forms_of(term)
    ]


def _is_in(known: str, field: str, written: Iterable[_Written]) -> bool:
    return any(field in each.fields and each.text in known for each in written)


class _Asked:
    """What filters ask of one entry."""

    def __init__(self, filters: Filters, values: Callable[[str], Iterable[str]]) -> None:
        self._filters = filters
        self._names = {
            kind: names if kind in BY_PART else meant(kind, names, ROLES if kind == "role" else values(kind))
            for kind, names in names_in(filters).items()
        }

    def of(self, entry: Entry) -> Iterator[bool]:
        """Whether an entry is what they ask for, one by one."""
        filters = self._filters
        for kind, names in self._names.items():
            yield any(_is_called(value, kind, names) for value in _values(entry, kind))
        if filters.conversations:
            yield entry.conversation in filters.conversations or entry.key in filters.held
        if filters.since is not None:
            yield bool(entry.at) and entry.at >= filters.since
        if filters.until is not None:
            yield bool(entry.at) and entry.at < filters.until
        if filters.has_error:
            yield entry.has_error


def _values(entry: Entry, kind: str) -> tuple[str, ...]:
    """What an entry has of a kind of values; what is empty is none."""
    found = entry.tools if kind == "tools" else (getattr(entry, kind),)
    return tuple(as_stored(value) for value in found if value)


def _is_called(value: str, kind: str, names: Collection[str]) -> bool:
    return meant(kind, names, [value]) != [] if kind in BY_PART else value in names
