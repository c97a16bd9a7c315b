"""Search without an index: scan entries one by one within a time limit."""

from __future__ import annotations

import time
from heapq import nlargest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.forms import forms_of, pad_words
from agent_journal.search.query import (
    ROLES,
    SUBSTRING_KINDS,
    index_fields,
    match_values,
    names_by_kind,
    to_filter_value,
)
from agent_journal.search.ranking import FILTER_ONLY_SCORE, WEIGHTS, Ranked, Ranking, search_fields
from agent_journal.search.words import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from agent_journal.search.entry import Entry
    from agent_journal.search.query import Filters, Query, Term

_MAX_SCAN_S = 2.0
_TYPICAL_CHARS = 2000  # longer texts contain any word more easily


class Scan:
    """Scans entries in their order within a time limit."""

    def __init__(
        self,
        entries: Callable[[], Iterable[Entry]],
        values: Callable[[str], Iterable[str]],
        seconds: float = _MAX_SCAN_S,
    ) -> None:
        """`values` returns all values of a kind of filter."""
        self._entries = entries
        self._values = values
        self._seconds = seconds
        self._last_result: _ScanResult | None = None

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first, among those scanned in time.

        A repeated query uses the results of the first scan.
        """
        if self._last_result is None or self._last_result.query != query:
            self._last_result = self._scan(query)
        best = nlargest(limit, self._last_result.matches)
        return Ranking(
            [Ranked(key, score) for score, _, key in best], is_complete=self._last_result.is_complete
        )

    def _scan(self, query: Query) -> _ScanResult:
        matcher = _EntryMatcher(query, self._values)
        deadline = time.monotonic() + self._seconds
        matches: list[tuple[float, int, int]] = []
        for entry in self._entries():
            score = matcher.score(entry)
            if score is not None:
                matches.append((score, entry.at, entry.key))
            if time.monotonic() > deadline:
                return _ScanResult(query, matches, is_complete=False)
        return _ScanResult(query, matches, is_complete=True)


class _ScanResult(NamedTuple):
    """The matches of a query."""

    query: Query
    matches: list[tuple[float, int, int]]  # score, time and key
    is_complete: bool


class _EntryMatcher:
    """Scores one entry for a query."""

    def __init__(self, query: Query, values: Callable[[str], Iterable[str]]) -> None:
        self._required, self._excluded = (
            _FilterMatcher(query.filters, values),
            _FilterMatcher(query.excluded, values),
        )
        fields = search_fields(query.filters.fields)
        self._groups = [group for each in query.groups if (group := _phrases(each, fields))]
        self._negated = _phrases(query.negated, fields)
        phrases = [each for group in (*self._groups, self._negated) for each in group]
        self._longest_words = {max(each.text.split(), key=len) for each in phrases}
        count = len(self._groups)
        self._min_groups = count if query.min_groups is None else min(max(query.min_groups, 1), count)
        conditions = (query.filters._replace(fields=()), query.excluded)
        self._is_empty = not (self._groups or query.negated or any(map(any, conditions)))

    def score(self, entry: Entry) -> float | None:
        """Return the score of an entry; None if it does not match."""
        if self._is_empty or not all(self._required.checks(entry)) or any(self._excluded.checks(entry)):
            return None
        best: dict[int, float] = {}
        for field, weight in WEIGHTS.items():
            text = getattr(entry, field)
            if not text or not self._may_be_in(text):
                continue
            padded = pad_words(text)
            if _is_in(padded, field, self._negated):
                return None
            field_score = weight / (1 + log(1 + len(text) / _TYPICAL_CHARS))
            for number, group in enumerate(self._groups):
                if _is_in(padded, field, group):
                    best[number] = max(best.get(number, 0), field_score)
        if len(best) < self._min_groups:
            return None
        return sum(best.values()) if self._min_groups else FILTER_ONLY_SCORE

    def _may_be_in(self, text: str) -> bool:
        """Whether a text may match: a quick check, as most texts don't."""
        normalized = normalize(text)
        return any(word in normalized for word in self._longest_words)


class _Phrase(NamedTuple):
    """Padded words to find in a text, and the fields to search."""

    text: str
    fields: Collection[str]


def _phrases(terms: Iterable[Term], fields: Collection[str]) -> list[_Phrase]:
    """Return the phrases for terms, in their own fields or else the given ones."""
    return [
        _Phrase(form.padded, index_fields([term.field]) if term.field else fields)
        for term in terms
        for form in forms_of(term)
    ]


def _is_in(text: str, field: str, phrases: Iterable[_Phrase]) -> bool:
    return any(field in phrase.fields and phrase.text in text for phrase in phrases)


class _FilterMatcher:
    """Checks one entry against filters."""

    def __init__(self, filters: Filters, values: Callable[[str], Iterable[str]]) -> None:
        self._filters = filters
        self._names = {
            kind: names
            if kind in SUBSTRING_KINDS
            else match_values(kind, names, ROLES if kind == "role" else values(kind))
            for kind, names in names_by_kind(filters).items()
        }

    def checks(self, entry: Entry) -> Iterator[bool]:
        """Yield whether the entry meets each condition."""
        filters = self._filters
        for kind, names in self._names.items():
            yield any(_has_name(value, kind, names) for value in _values(entry, kind))
        if filters.conversations:
            yield entry.conversation in filters.conversations or entry.key in filters.held
        if filters.since is not None:
            yield bool(entry.at) and entry.at >= filters.since
        if filters.until is not None:
            yield bool(entry.at) and entry.at < filters.until
        if filters.has_error:
            yield entry.has_error


def _values(entry: Entry, kind: str) -> tuple[str, ...]:
    """Return an entry's non-empty values of a kind."""
    values = entry.tools if kind == "tools" else (getattr(entry, kind),)
    return tuple(to_filter_value(value) for value in values if value)


def _has_name(value: str, kind: str, names: Collection[str]) -> bool:
    return match_values(kind, names, [value]) != [] if kind in SUBSTRING_KINDS else value in names
