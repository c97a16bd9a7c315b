"""Hybrid search: what words find and what is near in meaning, with scores that can be added.

The weights were tuned on one half of `tests/search/judged.jsonl` and are reported on the other, in
docs/search-quality.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agent_journal.search.forms import is_name
from agent_journal.search.fusion import WEIGHTS, Weights, combine, follow
from agent_journal.search.ranking import Ranked, Ranker, Ranking, merge_rankings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.search.passages import ScoredMessage
    from agent_journal.search.query import Query
    from agent_journal.search.questions import Question

RRF_RANK_OFFSET = 60
_MAX_FUSED_ENTRIES = 200  # entries of each list; the rest follows in its own order
_MIN_SIMILARITY_SHARE = 0.5  # of the similarity of the nearest entry


class LexicalSearch(Ranker, Protocol):
    """Lexical search: `rank` drops words if few entries have all of them, `search` does not."""

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        """The entries that match best, best first."""

    def read_question(self, query: Query) -> Question:
        """Return which words of a query to score."""

    def score_question(
        self, query: Query, question: Question, keys: Sequence[int] = ()
    ) -> list[ScoredMessage]:
        """Return the messages that answer a question best with their scores, and those with `keys`."""


class HybridRanker:
    """Ranks by lexical and semantic search."""

    def __init__(self, lexical: LexicalSearch, semantic: Ranker, weights: Weights = WEIGHTS) -> None:
        self._lexical = lexical
        self._semantic = semantic
        self._weights = weights

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; literal matches of names and quotes come first."""
        depth = max(limit, _MAX_FUSED_ENTRIES)
        question = self._lexical.read_question(query)
        typed = self._lexical.search(query, limit=depth)
        similar = self._semantic.rank(query, depth)
        if typed.entries:  # the words exist, so slightly similar entries are not what was meant
            similar = similar._replace(entries=_close(similar.entries))
        first, nearest = typed.entries[:_MAX_FUSED_ENTRIES], similar.entries[:_MAX_FUSED_ENTRIES]
        keys = list(dict.fromkeys(each.key for each in (*first, *nearest)))
        scored = self._lexical.score_question(query, question, keys)
        ranked = combine(first, scored, nearest, self._weights)
        if is_literal(query):
            ranked = follow(first, ranked)
        ranked = follow(ranked, typed.entries, similar.entries)
        have_words = query.is_exact or bool(typed.entries) or any(each.has_words for each in scored)
        sources = [typed] if typed.entries else [typed, similar]
        return merge_rankings(ranked[:limit], *sources)._replace(is_semantic_only=not have_words)


def _close(ranked: list[Ranked]) -> list[Ranked]:
    """Return the entries that are not much less similar than the nearest."""
    return [each for each in ranked if each.score >= _MIN_SIMILARITY_SHARE * ranked[0].score]


def is_literal(query: Query) -> bool:
    """Whether the query has literal parts: quotes, field terms, prefixes, names or numbers."""
    return query.is_exact or any(is_name(term) for group in query.groups for term in group)


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
