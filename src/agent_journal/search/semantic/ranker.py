"""Search by meaning: what is nearest to a question, among what its filters leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agent_journal.search.ranking import Ranked, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.search.query import Query
    from agent_journal.search.semantic.models import Model
    from agent_journal.search.semantic.vectors import Stored

LEAST = 0.2  # likeness below which nothing is alike; unrelated texts are seldom above it
_FEW = 20_000  # entries; so many are told by name
_LONGEST = 2_000  # characters of a question


class Words(Protocol):
    """The index of words, as far as it is asked what a query leaves."""

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""

    def allowed(self, query: Query, most: int) -> list[int] | None:
        """Every key that filters and unwanted words of a query leave; None if more than so many are left."""

    def among(self, query: Query, keys: Iterable[int]) -> set[int]:
        """Those of some keys that filters and unwanted words of a query leave."""


class Meaning:
    """Ranks by how near the vectors of entries are to that of a question."""

    def __init__(self, stored: Stored, model: Model, words: Words) -> None:
        self._stored = stored
        self._model = model
        self._words = words

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that are nearest in meaning; what is asked for as it stands must stand in them too."""
        return Ranking(self._ranked(query, limit))

    def _ranked(self, query: Query, limit: int) -> list[Ranked]:
        question = self._model.vectors([_question(query)])[0]
        if not question.any() or query.filters.fields or limit <= 0:
            return []
        if not _is_narrowed(query):
            return self._nearest(question, limit)
        allowed = self._allowed(query)
        if allowed is not None:
            return self._nearest(question, limit, allowed)
        wanted = limit * 2
        while True:
            found = self._nearest(question, wanted)
            left = self._words.among(query, [each.key for each in found])
            kept = [each for each in found if each.key in left]
            if len(kept) >= limit or len(found) < wanted:
                return kept[:limit]
            wanted *= 4

    def _allowed(self, query: Query) -> list[int] | None:
        """The keys that a query leaves; None if they are too many to be told by name."""
        if not query.is_exact:
            return self._words.allowed(query, _FEW)
        found = self._words.rank(query._replace(wanted=query.exact, enough=None), _FEW)
        return [each.key for each in found.entries]

    def _nearest(
        self, question: NDArray[np.float32], limit: int, allowed: list[int] | None = None
    ) -> list[Ranked]:
        import numpy as np  # noqa: PLC0415 (takes long)

        from agent_journal.search.semantic.nearest import nearest  # noqa: PLC0415

        keys = None if allowed is None else np.array(allowed, np.int64)
        found = nearest(self._stored, question, limit, keys)
        return [Ranked(*each) for each in found if each.likeness >= LEAST]


def _question(query: Query) -> str:
    """What is asked, with all that words may have been meant for: the typed one is often right."""
    terms = [term.text for group in query.wanted for term in group]
    return " ".join(terms)[:_LONGEST]


def _is_narrowed(query: Query) -> bool:
    """Whether something is left out by more than what it says."""
    bare = type(query)()
    return bool(query.is_exact or query.unwanted) or (query.filters, query.excluded) != (
        bare.filters,
        bare.excluded,
    )
