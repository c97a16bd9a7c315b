"""What all searches of a journal share: the open index, and the models. Many threads may use it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.errors import IndexDamaged
from agent_journal.inputs.closeable import Closing
from agent_journal.journal import embeddings, index_upkeep

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.search.lexical import Index
    from agent_journal.search.semantic.models import Model, ModelChoice
    from agent_journal.search.semantic.vectors import StoredVectors, VectorsInfo


class SearchResources(Closing):
    """Opens each part once, when the first search needs it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._index_folder = 0
        self._model: ModelChoice | None = None
        self._custom_model: ModelChoice | None = None
        self._sentence_model: ModelChoice | None = None
        self._stored_vectors: dict[Path, StoredVectors] = {}
        self.read_sentences: dict[int, NDArray[np.float32]] = {}
        """The vectors of entries that the sentence model has read for searches, by key."""

    def index(self, archive: Archive) -> Index:
        """Return the index; raises IndexDamaged if there is no usable one."""
        with self._lock:
            folder = self._folder_id()
            if self._index is None or folder != self._index_folder:  # a rebuilt index is in a new folder
                self._index = index_upkeep.open_index(archive, self._config)
                self._index_folder = folder
            return self._index

    def discard_index(self, index: Index | None) -> None:
        """Do not use an unusable index again; another may be in its place next time."""
        with self._lock:
            if index is self._index:
                self._index = None

    def model(self) -> ModelChoice:
        """Return the embedding model; a missing one is looked for again each time."""
        with self._lock:
            if self._model is None or self._model.model is None:
                self._model = embeddings.choose_model(self._config)
            return self._model

    def custom_model(self) -> ModelChoice:
        """Return the user's own model, which reranks."""
        with self._lock:
            if self._custom_model is None or self._custom_model.model is None:
                self._custom_model = embeddings.load_custom_model(self._config)
            return self._custom_model

    def sentence_model(self, model: Model) -> ModelChoice:
        """Return the sentence model, which searches next to the embedding model, if it is installed."""
        with self._lock:
            if self._sentence_model is None:
                self._sentence_model = embeddings.load_sentence_model(self._config, model)
            return self._sentence_model

    def stored_vectors(self, folder: Path, info: VectorsInfo) -> StoredVectors:
        """Return the vectors in a folder as of some metadata; raises IndexDamaged.

        They stay mapped for the next search, as mapping them takes longer than comparing them. On Windows, no
        process could remove their files meanwhile.
        """
        from agent_journal.search.semantic.vectors import StoredVectors  # noqa: PLC0415 (only for semantic search)

        with self._lock:
            known = self._stored_vectors.pop(folder, None)
            if known is None or known.info != info or not known.is_unchanged():
                known = StoredVectors(folder, info)
            if os.name != "nt":
                self._stored_vectors[folder] = known
            return known

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            index, self._index = self._index, None
            self._stored_vectors.clear()
        if index is not None:
            with suppress(IndexDamaged):
                index.close()

    def _folder_id(self) -> int:
        try:
            return self._config.storage.index_path.stat().st_ino
        except OSError:
            return 0
