"""Rank by two models: entries that the better one has read by that, all others by the one that is fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.ranking import Ranked, Ranking
from agent_journal.search.semantic.ranker import MIN_SIMILARITY, embed_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranker
    from agent_journal.search.semantic.models import Model
    from agent_journal.search.semantic.vectors import StoredVectors

# Similarities of the fast model, compared with those of the better one: the ratio of their weights in hybrid
# search.
_FAST_SHARE = 0.75


class ReadEntries(NamedTuple):
    """What the better model has read for a query, without storing it."""

    model: Model
    vectors: Mapping[int, NDArray[np.float32]]
    """By key; also those of other queries."""
    keys: Sequence[int]
    """The entries that pass the filters of the query."""


class TwoModelRanker:
    """Ranks by similarity; each entry has that of one model."""

    def __init__(
        self, fast: Ranker, read: ReadEntries, stored: tuple[Ranker, StoredVectors] | None = None
    ) -> None:
        """`stored` is a ranker of the better model, and what it ranks."""
        self._fast = fast
        self._read = read
        self._stored = stored

    def rank(self, query: Query, limit: int) -> Ranking:
        """The semantically nearest entries."""
        others = self._fast.rank(query, limit).entries
        nearest = self._similarities(query, [*self._read.keys, *(each.key for each in others)])
        known = self._known([each.key for each in others])
        if self._stored is not None:
            nearest |= {each.key: each.score for each in self._stored[0].rank(query, limit).entries}
        better = [Ranked(key, score) for key, score in nearest.items() if score >= MIN_SIMILARITY]
        rest = [Ranked(each.key, _FAST_SHARE * each.score) for each in others if each.key not in known]
        return Ranking(sorted([*better, *rest], key=lambda each: -each.score)[:limit])

    def _similarities(self, query: Query, keys: Sequence[int]) -> dict[int, float]:
        """Return how similar the entries are that were read and not stored."""
        rows = {key: self._read.vectors[key] for key in keys if key in self._read.vectors}
        if not rows:
            return {}
        question = embed_question(self._read.model, query)
        return {key: float((each @ question).max()) for key, each in rows.items() if len(each)}

    def _known(self, keys: Sequence[int]) -> set[int]:
        """Return those of the keys that the better model has read."""
        known = {key for key in keys if key in self._read.vectors}
        if self._stored is None:
            return known
        import numpy as np  # noqa: PLC0415 (slow to import)

        return known.union(np.intersect1d(keys, self._stored[1].keys).tolist())
