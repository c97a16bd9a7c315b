"""Hybrid search: entries that both lexical and semantic search rank high come first.

Lists are fused by reciprocal rank (k = 60): entries with all the words, entries with half of them, and the
semantically nearest. The weights were tuned on one half of `tests/search/judged.jsonl` and are reported on
the other, in docs/search-quality.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.search.ranking import Ranked, Ranker, Ranking, merge_rankings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.search.query import Query, Term

RRF_RANK_OFFSET = 60
_MAX_FUSED_ENTRIES = 200  # entries of each list; the rest follows in its own order
_MIN_SIMILARITY_SHARE = 0.5  # of the similarity of the nearest entry
_NAME_PATTERN = re.compile(
    r"[^\W\d_][._/\\:-]+\w|\w\(\)|_\w|\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]|/\w|\d[.,:/-]?\d"
)


class Weights(NamedTuple):
    """The weight of each list."""

    all_words: float
    half_of_words: float
    as_ranked: float
    """Lexical ranking: entries with all words, then those with some."""
    semantic: float


WEIGHTS = Weights(2.0, 0.2, 0.0, 1.5)
# Hashed vectors find similar spellings, which lexical search does better.
HASH_WEIGHTS = Weights(2.0, 0.0, 0.5, 0.3)


class LexicalSearch(Ranker, Protocol):
    """Lexical search: `rank` drops words if few entries have all of them, `search` does not."""

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        """The entries that match best, best first."""


class HybridRanker:
    """Ranks by lexical and semantic search."""

    def __init__(self, lexical: LexicalSearch, semantic: Ranker, weights: Weights = WEIGHTS) -> None:
        self._lexical = lexical
        self._semantic = semantic
        self._weights = weights

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; literal matches of names and quotes come first."""
        depth = max(limit, _MAX_FUSED_ENTRIES)
        with_all = self._lexical.search(query, limit=depth)
        with_half = (
            self._lexical.search(query._replace(min_groups=half_word_count(query)), limit=depth)
            if len(query.groups) > 1 and not query.is_exact
            else Ranking([])
        )
        similar = self._semantic.rank(query, depth)
        # The lexical ranking is needed only where it has a weight, or if there is little else.
        has_few = len(with_all.entries) + len(with_half.entries) + len(similar.entries) < limit
        lexical = self._lexical.rank(query, depth) if self._weights.as_ranked or has_few else Ranking([])
        if with_all.entries:  # the words exist, so slightly similar entries are not what was meant
            similar = similar._replace(entries=_close(similar.entries))
        rankings = [with_all, with_half, lexical, similar]
        lists = [each.entries for each in rankings]
        fused = fuse(
            (each[:_MAX_FUSED_ENTRIES], weight) for each, weight in zip(lists, self._weights, strict=True)
        )
        first = [with_all.entries, fused] if is_literal(query) else [fused]
        # Entries with only some of the words do not matter if others have all of them.
        sources = [with_all] if with_all.entries else rankings
        have_words = query.is_exact or any(each.entries for each in (with_all, with_half, lexical))
        return merge_rankings(concatenate(*first, *lists)[:limit], *sources)._replace(
            is_semantic_only=not have_words
        )


def _close(ranked: list[Ranked]) -> list[Ranked]:
    """Return the entries that are not much less similar than the nearest."""
    return [each for each in ranked if each.score >= _MIN_SIMILARITY_SHARE * ranked[0].score]


def half_word_count(query: Query) -> int:
    """Return how many words are half of them: few entries have that many by chance."""
    return (len(query.groups) + 1) // 2


def is_literal(query: Query) -> bool:
    """Whether the query has literal parts: quotes, field terms, prefixes, names or numbers."""
    return query.is_exact or any(_is_name(term) for group in query.groups for term in group)


def _is_name(term: Term) -> bool:
    return term.prefix or _NAME_PATTERN.search(term.text) is not None


def fuse(lists: Iterable[tuple[Sequence[Ranked], float]]) -> list[Ranked]:
    """Fuse lists by weighted reciprocal rank."""
    scores: dict[int, float] = {}
    for ranked, weight in ((ranked, weight) for ranked, weight in lists if weight):
        for rank, entry in enumerate(ranked, 1):
            scores[entry.key] = scores.get(entry.key, 0.0) + weight / (RRF_RANK_OFFSET + rank)
    return [Ranked(key, score) for key, score in sorted(scores.items(), key=lambda entry: -entry[1])]


def concatenate(*lists: Sequence[Ranked]) -> list[Ranked]:
    """Return all of the first list, then what each next list adds."""
    keys = dict.fromkeys(entry.key for ranked in lists for entry in ranked)
    return [Ranked(key, 1 / (RRF_RANK_OFFSET + rank)) for rank, key in enumerate(keys, 1)]
