"""The best hits once more: a model of one's own reads them, which is too slow for everything there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.search.hybrid import fused, in_turn, is_literal
from agent_journal.search.ranking import Ranked
from agent_journal.search.semantic import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranker, Ranking
    from agent_journal.search.semantic.models import Model

TOP = 20
_PIECES = 4  # of each text that are read


class Reranked:
    """Ranks as another does, and lets a model reorder the first few unless something is sought literally."""

    def __init__(
        self, ranker: Ranker, model: Model, texts: Callable[[Sequence[int]], dict[int, str]]
    ) -> None:
        self._ranker = ranker
        self._model = model
        self._texts = texts

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""
        found = self._ranker.rank(query, max(limit, TOP))
        ranked = found.entries
        if not is_literal(query) and query.meaning:
            top = ranked[:TOP]
            ranked = in_turn(fused([(top, 1.0), (self._reread(query, top), 1.0)]), ranked)
        return found._replace(entries=ranked[:limit])

    def _reread(self, query: Query, top: list[Ranked]) -> list[Ranked]:
        """The same by how near their nearest piece is to the question."""
        texts = self._texts([each.key for each in top])
        pieces = [(key, piece) for key, text in texts.items() for piece in chunks.chunks(text, _PIECES)]
        rows = self._model.vectors([query.meaning, *(piece for _, piece in pieces)])
        likeness: dict[int, float] = {}
        for (key, _), value in zip(pieces, (rows[1:] @ rows[0]).tolist(), strict=True):
            likeness[key] = max(value, likeness.get(key, -1.0))
        nearest = sorted(likeness.items(), key=lambda each: -each[1])
        return [Ranked(*each) for each in nearest]
