"""Semantic search of a journal: open the model and the vectors, and add a few missing vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import AgentJournalError, ArchiveInUse, IndexDamaged
from agent_journal.journal import embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.search.lexical import Index
    from agent_journal.search.ranking import Ranker
    from agent_journal.search.semantic.models import Model

_MAX_CATCH_UP_ENTRIES = 20_000  # finding what is missing of more takes too long
_EMBED_BUDGET_S = 0.3  # that a search spends on missing vectors


class SemanticSearch:
    """Makes rankers for one query. `notice` explains in one line what is not available."""

    def __init__(self, archive: Archive, config: Config, resources: SearchResources) -> None:
        self._archive = archive
        self._config = config
        self._resources = resources
        self._problem = ""
        self.notice = ""

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
        from agent_journal.search.semantic.vectors import StoredVectors  # noqa: PLC0415

        is_complete, self.notice = self._catch_up(model)
        info = embeddings.read_current(self._archive, self._config, model)
        try:
            stored = None if info is None else StoredVectors(embeddings.vectors_folder(self._config), info)
        except IndexDamaged as error:
            self.notice = (
                f"Cannot use the embeddings in {error.where}: {error.reason}; run 'aj embed --rebuild'."
            )
            return words
        if not is_complete and not self.notice:
            self.notice = self._describe_progress(stored.entries if stored else 0, words.count)
        if stored is None or not len(stored.rows):
            return words
        semantic = SemanticRanker(stored, model, words)
        if not with_words:
            return semantic
        weights = fusion.HASH_WEIGHTS if model.is_rough else fusion.WEIGHTS
        return self._reranked(hybrid.HybridRanker(words, semantic, weights))

    def _catch_up(self, model: Model) -> tuple[bool, str]:
        """Embed the newest entries if they are few; return whether all have vectors, and what went wrong."""
        store = self._archive.store
        missing = store.last_key() - embeddings.embedded_up_to(self._archive, self._config, model)
        if missing > _MAX_CATCH_UP_ENTRIES:
            return False, ""
        try:
            embedder = embeddings.Embedder(self._archive, self._config, model)
            return missing <= 0 or embedder.run(seconds=_EMBED_BUDGET_S), ""
        except ArchiveInUse:
            return False, ""  # another process is embedding
        except AgentJournalError as error:  # a full disk, a read-only journal
            return False, f"The newest messages have no embeddings: {error}"

    def _describe_progress(self, done: int, entries: int) -> str:
        """Describe about how many entries have vectors: an exact count would take too long."""
        share = min(100 * done // max(entries, 1), 99)
        is_running = embeddings.running_process(self._config)
        rest = "the rest is being computed" if is_running else "'aj embed' computes the rest"
        return f"Only {share}% of the entries have embeddings; {rest}."

    def _reranked(self, ranker: Ranker) -> Ranker:
        """Rerank with the user's own model if it is configured for that."""
        if self._config.index.vector.model_use != "rerank":
            return ranker
        from agent_journal.search.rerank import Reranker  # noqa: PLC0415

        model, self._problem = self._resources.custom_model()
        return Reranker(ranker, model, self._texts) if model is not None else ranker

    def _texts(self, keys: Sequence[int]) -> dict[int, str]:
        return {key: each.text for key, each in self._archive.store.entry_views(keys).items()}
