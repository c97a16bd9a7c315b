"""What search by meaning needs of a journal: the model, the vectors, and the few that are still missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import AgentJournalError, ArchiveInUse, IndexDamaged
from agent_journal.journal import embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.search.lexical import Index
    from agent_journal.search.ranking import Ranker
    from agent_journal.search.semantic.models import Model

_LITTLE = 20_000  # entries; to find out what is missing of more takes too long
_PATIENCE = 0.3  # seconds that a search spends on vectors which are missing


class ByMeaning:
    """Makes rankers for one journal. What it could not do as it should is in `notice`, in one line."""

    def __init__(self, kept: Archive, config: Config) -> None:
        self._archive = kept
        self._config = config
        self._model: Model | None = None
        self._trouble = ""
        self.notice = ""

    def ranker(self, words: Index, *, with_words: bool) -> Ranker:
        """Who ranks by meaning, or by words and meaning; by words alone if there are no vectors."""
        settled = self._config.index.vector
        if not settled.enabled:
            self.notice = "search by meaning is switched off (index.vector.enabled); found by words alone"
            return words
        model = self._opened_model()
        if model is None:
            self.notice = f"{self._trouble}; found by words alone"
            return words
        ranker = self._ranker(words, model, with_words=with_words)
        self.notice = "; ".join(filter(None, (self._trouble, self.notice)))
        return ranker

    def _opened_model(self) -> Model | None:
        if self._model is None:
            self._model, self._trouble = embeddings.chosen(self._config)
        return self._model

    def _ranker(self, words: Index, model: Model, *, with_words: bool) -> Ranker:
        from agent_journal.search import hybrid  # noqa: PLC0415 (only if something is sought so)
        from agent_journal.search.semantic.ranker import Meaning  # noqa: PLC0415
        from agent_journal.search.semantic.vectors import Stored  # noqa: PLC0415

        is_whole, self.notice = self._catch_up(model)
        said = embeddings.fresh(self._archive, self._config, model)
        try:
            stored = None if said is None else Stored(embeddings.folder(self._config), said)
        except IndexDamaged as error:
            self.notice = f"{error.where}: {error.reason}; 'aj embed --anew' makes it again"
            return words
        if not is_whole and not self.notice:
            self.notice = self._how_far(stored.entries if stored else 0, words.count)
        if stored is None or not len(stored.rows):
            return words
        meaning = Meaning(stored, model, words)
        if not with_words:
            return meaning
        weights = hybrid.WEIGHTS_OF_HASHES if model.is_rough else hybrid.WEIGHTS
        return self._reranked(hybrid.Hybrid(words, meaning, weights))

    def _catch_up(self, model: Model) -> tuple[bool, str]:
        """Give vectors to what came last, if it is little; whether all have them, and what went wrong."""
        store = self._archive.store
        behind = store.last_key() - embeddings.reaches(self._archive, self._config, model)
        if behind > _LITTLE:
            return False, ""
        try:
            embedder = embeddings.Embedder(self._archive, self._config, model)
            return behind <= 0 or embedder.run(seconds=_PATIENCE), ""
        except ArchiveInUse:
            return False, ""  # somebody else is at it
        except AgentJournalError as error:  # a disk that is full, a journal that may only be read
            return False, f"what came last is not found by meaning: {error}"

    def _how_far(self, done: int, entries: int) -> str:
        """How much has vectors, about: who searches does not wait until all is counted."""
        share = min(100 * done // max(entries, 1), 99)
        is_going_on = embeddings.at_it(self._config)
        others = "the others are being prepared" if is_going_on else "'aj embed' prepares the others"
        return f"{share} % of the entries can be found by meaning so far; {others}"

    def _reranked(self, ranker: Ranker) -> Ranker:
        """The ranker, with the best read once more by the person's own model, if that is what it is for."""
        if self._config.index.vector.model_use != "rerank":
            return ranker
        from agent_journal.search.rerank import Reranked  # noqa: PLC0415

        model, self._trouble = embeddings.own_model(self._config)
        return Reranked(ranker, model, self._texts) if model is not None else ranker

    def _texts(self, keys: Sequence[int]) -> dict[int, str]:
        return {key: each.text for key, each in self._archive.store.found(keys).items()}
