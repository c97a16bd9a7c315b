"""Rank entries by semantic similarity to a query, among those that pass its filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agent_journal.search.ranking import Ranked, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.search.query import Query
    from agent_journal.search.semantic.models import Model
    from agent_journal.search.semantic.vectors import StoredVectors

MIN_SIMILARITY = 0.2  # unrelated texts are rarely more similar
_MAX_ALLOWED_KEYS = 20_000  # that are passed as a list
_MAX_QUESTION_CHARS = 2_000


class LexicalIndex(Protocol):
    """The part of the word index that applies filters."""

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""

    def allowed_keys(self, query: Query, limit: int) -> list[int] | None:
        """Every key that passes filters and negated words of a query; None if more than `limit`."""

    def filter_keys(self, query: Query, keys: Iterable[int]) -> set[int]:
        """The given keys that pass filters and negated words of a query."""


class SemanticRanker:
    """Ranks by the similarity of the vectors of entries to that of a question."""

    def __init__(self, stored: StoredVectors, model: Model, lexical: LexicalIndex) -> None:
        self._stored = stored
        self._model = model
        self._lexical = lexical

    def rank(self, query: Query, limit: int) -> Ranking:
        """The semantically nearest entries; literal parts of the query must match in them too."""
        return Ranking(self._ranked(query, limit))

    def _ranked(self, query: Query, limit: int) -> list[Ranked]:
        question = embed_question(self._model, query)
        if not question.any() or query.filters.fields or limit <= 0:
            return []
        if not _is_narrowed(query):
            return self._nearest(question, limit)
        allowed = self._allowed(query)
        if allowed is not None:
            return self._nearest(question, limit, allowed)
        candidates = limit * 2
        while True:
            nearest = self._nearest(question, candidates)
            passing = self._lexical.filter_keys(query, [each.key for each in nearest])
            hits = [each for each in nearest if each.key in passing]
            if len(hits) >= limit or len(nearest) < candidates:
                return hits[:limit]
            candidates *= 4

    def _allowed(self, query: Query) -> list[int] | None:
        """Return the keys that pass the query's conditions; None if they are too many for a list."""
        if not query.is_exact:
            return self._lexical.allowed_keys(query, _MAX_ALLOWED_KEYS)
        ranking = self._lexical.rank(
            query._replace(groups=query.exact_groups, min_groups=None), _MAX_ALLOWED_KEYS
        )
        return [each.key for each in ranking.entries]

    def _nearest(
        self, question: NDArray[np.float32], limit: int, allowed: list[int] | None = None
    ) -> list[Ranked]:
        import numpy as np  # noqa: PLC0415 (slow to import)

        from agent_journal.search.semantic.nearest import find_nearest  # noqa: PLC0415

        keys = None if allowed is None else np.array(allowed, np.int64)
        neighbors = find_nearest(self._stored, question, limit, keys)
        return [Ranked(*each) for each in neighbors if each.similarity >= MIN_SIMILARITY]


def embed_question(model: Model, query: Query) -> NDArray[np.float32]:
    """Return the vector of a query."""
    row: NDArray[np.float32] = model.vectors([_question(query)])[0]
    return row


def _question(query: Query) -> str:
    """Return the text to embed, with all alternatives of each word: the typed one is often right."""
    terms = [term.text for group in query.groups for term in group]
    return " ".join(terms)[:_MAX_QUESTION_CHARS]


def _is_narrowed(query: Query) -> bool:
    """Whether the query has conditions besides its words."""
    bare = type(query)()
    return bool(query.is_exact or query.negated) or (query.filters, query.excluded) != (
        bare.filters,
        bare.excluded,
    )
