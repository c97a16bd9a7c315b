"""Rerank the best hits with the user's own model, which is too slow for all entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.search.hybrid import concatenate, fuse, is_literal
from agent_journal.search.ranking import Ranked
from agent_journal.search.semantic import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranker, Ranking
    from agent_journal.search.semantic.models import Model

MAX_RERANKED_HITS = 20
_MAX_TEXT_CHUNKS = 4  # of each text that are embedded


class Reranker:
    """Reorders the first hits of another ranker with a model, unless the query is literal."""

    def __init__(
        self, ranker: Ranker, model: Model, texts: Callable[[Sequence[int]], dict[int, str]]
    ) -> None:
        self._ranker = ranker
        self._model = model
        self._texts = texts

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""
        ranking = self._ranker.rank(query, max(limit, MAX_RERANKED_HITS))
        ranked = ranking.entries
        if not is_literal(query) and query.semantic_text:
            top = ranked[:MAX_RERANKED_HITS]
            ranked = concatenate(fuse([(top, 1.0), (self._rank_top(query, top), 1.0)]), ranked)
        return ranking._replace(entries=ranked[:limit])

    def _rank_top(self, query: Query, top: list[Ranked]) -> list[Ranked]:
        """Return the entries ranked by the similarity of their nearest chunk to the query."""
        texts = self._texts([each.key for each in top])
        chunks_by_key = [
            (key, piece)
            for key, text in texts.items()
            for piece in chunks.split_chunks(text, _MAX_TEXT_CHUNKS)
        ]
        rows = self._model.vectors([query.semantic_text, *(piece for _, piece in chunks_by_key)])
        similarities: dict[int, float] = {}
        for (key, _), value in zip(chunks_by_key, (rows[1:] @ rows[0]).tolist(), strict=True):
            similarities[key] = max(value, similarities.get(key, -1.0))
        nearest = sorted(similarities.items(), key=lambda each: -each[1])
        return [Ranked(*each) for each in nearest]
