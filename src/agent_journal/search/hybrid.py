"""Search by words and by meaning together: entries that several ways of searching rank high rank highest.

Lists are fused by reciprocal rank (k = 60): entries with all the words, entries with half of them, and those
near in meaning. The weights were tuned on one half of `tests/search/judged.jsonl` and are reported on
the other, in docs/search-quality.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.search.ranking import Ranked, Ranker, Ranking, ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.search.query import Query, Term

K = 60
_DEPTH = 200  # of each list; what is further down follows as it comes
_CLOSE = 0.5  # of the likeness of the nearest
_NAME = re.compile(r"[^\W\d_][._/\\:-]+\w|\w\(\)|_\w|\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]|/\w|\d[.,:/-]?\d")


class Weights(NamedTuple):
    """How much each way of searching counts."""

    all_words: float
    half_of_them: float
    as_ranked: float
    """By words alone, as that would rank them: those with all words, then those with some."""
    meaning: float


WEIGHTS = Weights(2.0, 0.2, 0.0, 1.5)
# Hashes find what shares spelling, which words do better.
WEIGHTS_OF_HASHES = Weights(2.0, 0.0, 0.5, 0.3)


class Words(Ranker, Protocol):
    """Search by words: `rank` lets go of some of them where few entries have all, `search` does not."""

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        """The entries that match best, best first."""


class Hybrid:
    """Ranks by words and by meaning."""

    def __init__(self, words: Words, meaning: Ranker, weights: Weights = WEIGHTS) -> None:
        self._words = words
        self._meaning = meaning
        self._weights = weights

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first. Names and quotes go before whatever is alike."""
        depth = max(limit, _DEPTH)
        every = self._words.search(query, limit=depth)
        some = (
            self._words.search(query._replace(enough=half(query)), limit=depth)
            if len(query.wanted) > 1 and not query.is_exact
            else Ranking([])
        )
        near = self._meaning.rank(query, depth)
        # By words alone is asked for only where it counts, or where there is little else.
        is_little = len(every.entries) + len(some.entries) + len(near.entries) < limit
        ranked = self._words.rank(query, depth) if self._weights.as_ranked or is_little else Ranking([])
        if every.entries:  # the words are there; what is only a little alike is not what was meant
            near = near._replace(entries=_close(near.entries))
        found = [every, some, ranked, near]
        lists = [each.entries for each in found]
        best = fused((each[:_DEPTH], weight) for each, weight in zip(lists, self._weights, strict=True))
        first = [every.entries, best] if is_literal(query) else [best]
        # What has only some of the words is beside the point where others have all of them.
        told = [every] if every.entries else found
        have_words = query.is_exact or any(each.entries for each in (every, some, ranked))
        return ranking(in_turn(*first, *lists)[:limit], *told)._replace(by_meaning=not have_words)


def _close(near: list[Ranked]) -> list[Ranked]:
    """Those that are not much less alike than the nearest."""
    return [each for each in near if each.score >= _CLOSE * near[0].score]


def half(query: Query) -> int:
    """How many words are half of them: what has as many has them seldom by chance."""
    return (len(query.wanted) + 1) // 2


def is_literal(query: Query) -> bool:
    """Whether something is sought as it is written: in quotes or a place, a beginning, a name, a number."""
    return query.is_exact or any(_is_name(term) for group in query.wanted for term in group)


def _is_name(term: Term) -> bool:
    return term.prefix or _NAME.search(term.text) is not None


def fused(lists: Iterable[tuple[Sequence[Ranked], float]]) -> list[Ranked]:
    """Several lists as one: each gives an entry its weight by the place where it has it."""
    scores: dict[int, float] = {}
    for ranked, weight in ((ranked, weight) for ranked, weight in lists if weight):
        for place, each in enumerate(ranked, 1):
            scores[each.key] = scores.get(each.key, 0.0) + weight / (K + place)
    return [Ranked(key, score) for key, score in sorted(scores.items(), key=lambda each: -each[1])]


def in_turn(*lists: Sequence[Ranked]) -> list[Ranked]:
    """All of a list, then what the next has besides."""
    keys = dict.fromkeys(each.key for ranked in lists for each in ranked)
    return [Ranked(key, 1 / (K + place)) for place, key in enumerate(keys, 1)]
