"""Search with the sentence model of the extra `sentence`, which is too slow to read everything at once.

`aj embed` stores its vectors, newest first. A search makes those of its own leading hits, and keeps them in
memory as long as the journal is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import IndexDamaged
from agent_journal.journal import embeddings
from agent_journal.search import fusion
from agent_journal.search.hybrid import HybridRanker, is_literal
from agent_journal.search.semantic import sentence
from agent_journal.search.semantic.ranker import SemanticRanker
from agent_journal.search.semantic.two_models import ReadEntries, TwoModelRanker

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.search.lexical import Index
    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranker, Ranking
    from agent_journal.search.semantic.models import Model
    from agent_journal.search.semantic.vectors import StoredVectors

_MAX_LEADING_ENTRIES = 100  # of a query, that are read at once
_READ_BUDGET_S = 1.0  # for these
_MAX_CACHED_ENTRIES = 20_000


class SentenceSearch:
    """Makes rankers that use the sentence model for one query."""

    def __init__(
        self, archive: Archive, config: Config, model: Model, words: Index, resources: SearchResources
    ) -> None:
        """`resources` have the vectors of entries that other queries read; those of this one are added."""
        self._archive = archive
        self._config = config
        self._model = model
        self._words = words
        self._cache = resources.read_sentences
        self._resources = resources
        self._folder = embeddings.sentence_folder(config)

    def ranker(self, first: Ranker, semantic: Ranker, *, with_words: bool) -> Ranker:
        """Return a ranker that uses both models; `first` and `semantic` rank by the bundled one."""
        return _SentenceRanker(self, first, semantic, with_words=with_words)

    def both(self, semantic: Ranker, leading: list[int]) -> Ranker:
        """Return a ranker by meaning that uses each model for what it has read."""
        stored = self._stored()
        self._read_unstored(leading, stored)
        read = ReadEntries(self._model, self._cache, leading)
        if stored is None:
            return TwoModelRanker(semantic, read)
        return TwoModelRanker(semantic, read, (SemanticRanker(stored, self._model, self._words), stored))

    def with_words(self, semantic: Ranker, weights: fusion.Weights = fusion.SENTENCE_WEIGHTS) -> Ranker:
        """Return a hybrid ranker."""
        return HybridRanker(self._words, semantic, weights)

    def _stored(self) -> StoredVectors | None:
        info = embeddings.read_current(self._archive, self._config, self._model, self._folder)
        try:
            stored = None if info is None else self._resources.stored_vectors(self._folder, info)
        except IndexDamaged:  # `aj check` reports it, and `aj embed` makes them again
            return None
        return stored if stored is not None and len(stored.rows) else None

    def _read_unstored(self, leading: list[int], stored: StoredVectors | None) -> None:
        """Compute the vectors of a query's leading entries that have none, as far as time allows."""
        store = self._archive.store
        if stored is not None and stored.info.upto >= store.last_key():
            return
        known = set() if stored is None else set(stored.known_keys().tolist())
        lacking = [key for key in leading if key not in known and key not in self._cache]
        locations = store.entry_locations(lacking)
        entries = [(locations[key].conversation, key) for key in lacking if key in locations]
        if len(self._cache) > _MAX_CACHED_ENTRIES:
            self._cache.clear()
        embedder = embeddings.Embedder(self._archive, self._config, self._model, self._folder)
        self._cache.update(embedder.compute(entries, _READ_BUDGET_S))


class _SentenceRanker:
    """Ranks with both models, unless the query is literal or in a script that the sentence model lacks."""

    def __init__(self, search: SentenceSearch, first: Ranker, semantic: Ranker, *, with_words: bool) -> None:
        self._search = search
        self._first = first
        self._semantic = semantic
        self._with_words = with_words
        self._better: Ranker | None = None

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""
        if is_literal(query) or not sentence.is_suitable(query.semantic_text):
            return self._first.rank(query, limit)
        if self._better is None:  # the same ranker is asked again for more
            leading = self._first.rank(query, _MAX_LEADING_ENTRIES).entries[:_MAX_LEADING_ENTRIES]
            both = self._search.both(self._semantic, [each.key for each in leading])
            self._better = self._search.with_words(both) if self._with_words else both
        return self._better.rank(query, limit)
