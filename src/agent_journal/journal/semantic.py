"""Semantic search of a journal: open the model and the vectors, and say what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import IndexDamaged
from agent_journal.journal import embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.search.lexical import Index
    from agent_journal.search.ranking import Ranker
    from agent_journal.search.semantic.models import Model
    from agent_journal.search.semantic.vectors import StoredVectors

_MAX_COUNTED_KEYS = 20_000  # counting more takes too long


class SemanticSearch:
    """Makes rankers for one query.

    `notice` explains in one line what is not available, and `unembedded_count` is about how many entries have
    no vectors.
    """

    def __init__(self, archive: Archive, config: Config, resources: SearchResources) -> None:
        self._archive = archive
        self._config = config
        self._resources = resources
        self._problem = ""
        self.notice = ""
        self.unembedded_count = 0

    def ranker(self, words: Index, *, with_words: bool) -> Ranker:
        """Return a semantic or hybrid ranker; the lexical index if there are no vectors."""
        settings = self._config.index.vector
        if not settings.enabled:
            self.notice = "Semantic search is disabled (index.vector.enabled); searched by words only."
            return words
        model, self._problem = self._resources.model()
        if model is None:
            self.notice = f"Semantic search is not available: {self._problem}. Searched by words only."
            return words
        ranker = self._ranker(words, model, with_words=with_words)
        problem = f"Semantic search: {self._problem}." if self._problem else ""
        self.notice = " ".join(filter(None, (problem, self.notice)))
        return ranker

    def _ranker(self, words: Index, model: Model, *, with_words: bool) -> Ranker:
        from agent_journal.search import fusion, hybrid  # noqa: PLC0415 (only for semantic search)
        from agent_journal.search.semantic.ranker import SemanticRanker  # noqa: PLC0415

        info = embeddings.read_current(self._archive, self._config, model)
        try:
            folder = embeddings.vectors_folder(self._config)
            stored = None if info is None else self._resources.stored_vectors(folder, info)
        except IndexDamaged as error:
            self.notice = (
                f"Cannot use the embeddings in {error.where}: {error.reason}; run 'aj embed --rebuild'."
            )
            return words
        self.unembedded_count = self._count_missing(stored, words.count)
        if self.unembedded_count:
            self.notice = self._describe_missing(words.count)
        if stored is None or not len(stored.rows):
            return words
        semantic = SemanticRanker(stored, model, words)
        weights = fusion.HASH_WEIGHTS if model.is_rough else fusion.WEIGHTS
        ranker = hybrid.HybridRanker(words, semantic, weights) if with_words else semantic
        sentence_model, problem = self._resources.sentence_model(model)
        if sentence_model is None:
            self._problem = self._problem or problem
            return self._reranked(ranker) if with_words else ranker
        from agent_journal.journal.sentences import SentenceSearch  # noqa: PLC0415 (an extra)

        sentences = SentenceSearch(self._archive, self._config, sentence_model, words, self._resources)
        return sentences.ranker(ranker, semantic, with_words=with_words)

    def _count_missing(self, stored: StoredVectors | None, entries: int) -> int:
        """Return how many entries have no vectors; of very many, about how many."""
        import numpy as np  # noqa: PLC0415 (imported with the model)

        if stored is None:
            return entries
        first, last = stored.info.upto + 1, self._archive.store.last_key()
        if last - first > _MAX_COUNTED_KEYS:
            return max(entries - stored.entries, 1)
        keys = self._archive.store.index_keys(range(first, last + 1)) if first <= last else []
        return len(np.setdiff1d(np.array(keys, np.int64), stored.known_keys(stored.info.upto)))

    def _describe_missing(self, entries: int) -> str:
        is_running = embeddings.running_process(self._config)
        rest = "they are being computed" if is_running else "'aj embed' computes them"
        total = max(entries, self.unembedded_count)
        return f"{self.unembedded_count:,} of {total:,} entries have no embeddings yet; {rest}."

    def _reranked(self, ranker: Ranker) -> Ranker:
        """Rerank with the user's own model if it is configured for that."""
        if self._config.index.vector.model_use != "rerank":
            return ranker
        from agent_journal.search.rerank import Reranker  # noqa: PLC0415

        model, self._problem = self._resources.custom_model()
        return Reranker(ranker, model, self._texts) if model is not None else ranker

    def _texts(self, keys: Sequence[int]) -> dict[int, str]:
        return {key: each.text for key, each in self._archive.store.entry_views(keys).items()}
