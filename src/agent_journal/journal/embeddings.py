"""The vectors beside the rows: brought up to them after the words, newest first, erased with them.

Nobody waits for vectors: what is imported is found by its words at once. Whoever makes vectors reads rows as
everybody does, so that others may import meanwhile; a lock of their own keeps writers apart.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.archive.lock import Lock
from agent_journal.errors import ArchiveInUse, IndexDamaged
from agent_journal.journal import index_upkeep
from agent_journal.search.semantic import chunks, models, vectors
from agent_journal.search.semantic.vectors import StoredVectors, VectorFormat, VectorsInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.archive import Archive
    from agent_journal.archive.store import IndexEntry
    from agent_journal.config import Config
    from agent_journal.search.semantic.models import Model

# So many entries are worth a process of their own; fewer are dealt with by the next search.
MIN_BACKGROUND_ENTRIES = 500
_HELD = 8192  # vectors that are written together
_THOUGHTS = 8  # pieces of what a model thought, at most
_ATTACHED = 16  # and of files that were put beside a message: what they are about is mostly said early
# What a person had asked before counts for so much in the vector of an answer: measured by bench/quality.py,
# it lifts nDCG of questions by 0.12 and takes 0.02 from that of names.
_ASKED = 0.3
_WAIT = 30.0
_DEAD_SHARE = 0.2
_GONE = 0  # a generation that no vectors are of


class _Told(NamedTuple):
    """What is told of an entry: its pieces, and what was asked before."""

    pieces: list[str]
    asked: str


class State(NamedTuple):
    """How far the vectors are."""

    model: str
    vectors: int = 0
    done: int = 0
    """Entries that were dealt with."""
    entries: int = 0
    """Entries that there are."""
    whole: bool = False
    running: str = ""
    """Who is at it now, if anybody is."""
    problem: str = ""


def vectors_folder(config: Config) -> Path:
    """Where the vectors of a journal lie."""
    return vectors.vectors_folder(config.storage.index_path)


def choose_model(config: Config) -> models.ModelChoice:
    """The model that vectors are made with."""
    settled = config.index.vector
    is_own, is_settled = settled.model_use == "all", _names_a_model(config)
    return models.choose_model(
        settled.model_path, settled.fallback, allow_custom=is_own, is_configured=is_settled
    )


def load_custom_model(config: Config) -> models.ModelChoice:
    """The person's own model."""
    return models.load_custom_model(config.index.vector.model_path, is_configured=_names_a_model(config))


def _names_a_model(config: Config) -> bool:
    return "index.vector.model_path" in config.origins


def vector_format(kept: Archive, config: Config, model: Model) -> VectorFormat:
    """How vectors are to be made."""
    content = f"chunks {chunks.CHUNKING_VERSION}" + (" thinking" if config.index.thinking else "")
    content += " failures" if config.index.tool_output else ""
    precision = config.index.vector_precision
    return VectorFormat(kept.store.journal_id, model.name, model.dimensions, precision, content)


def read_current(kept: Archive, config: Config, model: Model) -> VectorsInfo | None:
    """What the vectors say about themselves, if they were made as they should be; None if not."""
    try:
        said = vectors.read_info(vectors_folder(config))
    except IndexDamaged:
        return None
    if said is None or said.made != vector_format(kept, config, model):
        return None
    # A power cut took rows that the vectors know; their keys will be given to others.
    return said if said.reach <= kept.store.last_key() else None


def embedded_up_to(kept: Archive, config: Config, model: Model) -> int:
    """Up to which key everything has vectors as it should; 0 if nothing has."""
    said = read_current(kept, config, model)
    return said.upto if said is not None else 0


def is_complete(place: Path, said: VectorsInfo) -> bool:
    """Whether the files are as long as they should be."""
    try:
        StoredVectors(place, said)
    except IndexDamaged:
        return False
    return True


class Embedder:
    """Gives vectors to what has none yet. Only one at a time can be at it."""

    def __init__(self, kept: Archive, config: Config, model: Model) -> None:
        self._archive = kept
        self._config = config
        self._model = model
        self._folder = vectors_folder(config)
        self._turn = Lock(self._folder / "turn")
        self._said: VectorsInfo | None = None
        self._generation = 0
        self._held: list[tuple[list[int], list[int], NDArray[np.float32]]] = []
        """Keys, the key of each vector, and vectors that are not written yet."""

    def run(
        self,
        *,
        seconds: float | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        wait: float = 0.0,
        from_scratch: bool = False,
    ) -> bool:
        """Whether all have vectors now; it ends after about so many seconds. `told` gets done and total.

        `anew` begins with none. Whatever ends it, what is done is kept. Raises ArchiveInUse if another
        process is at it.
        """
        until = None if seconds is None else time.monotonic() + seconds
        self._turn.acquire(wait)
        try:
            if from_scratch:
                self._forget()
            is_all = self._pass(until, on_progress or (lambda _, __: None))
            if is_all and seconds is None:
                self._tidy()
        finally:
            self._turn.release()
        if is_all and seconds is None:
            self._see_to_graph()
        return is_all

    def _pass(self, until: float | None, told: Callable[[int, int], None]) -> bool:
        """Deal with all that the rows have now."""
        last = self._archive.store.last_key()
        self._said = self._begun()
        try:
            is_all = self._make(until, told)
        finally:
            self._keep()
        if is_all:
            self._finish(last)
        return is_all

    def _make(self, until: float | None, told: Callable[[int, int], None]) -> bool:
        """Make vectors, until all are made or time is over; a few are made at any rate."""
        todo = self._todo()
        total, done = sum(len(keys) for _, keys in todo), 0
        for batch in self._batches(todo):
            if done and until is not None and time.monotonic() > until:
                return False
            told(done, total)
            owners = [key for key, each in batch.items() for _ in each.pieces]
            self._held.append((list(batch), owners, self._vectors(batch)))
            done += len(batch)
            if sum(len(owners) for _, owners, _ in self._held) >= _HELD:
                self._keep()
        told(total, total)
        return True

    def _forget(self) -> None:
        """Let go of the vectors that there are, whatever they are like."""
        with write_lock(self._folder):
            vectors.start_over(self._folder, vector_format(self._archive, self._config, self._model))

    def _begun(self) -> VectorsInfo:
        """Vectors to go on with: those that are there, new ones if they were made otherwise."""
        with write_lock(self._folder):
            said = read_current(self._archive, self._config, self._model)
            if said is not None and is_complete(self._folder, said):
                vectors.remove_other_generations(self._folder, said.generation)
            else:
                said = vectors.start_over(
                    self._folder, vector_format(self._archive, self._config, self._model)
                )
            self._generation = said.generation
            return said

    def _todo(self) -> list[tuple[int, list[int]]]:
        """Conversations, newest first, with the keys of what has no vectors yet."""
        said = self._current()
        done = set(StoredVectors(self._folder, said).known_keys(said.upto).tolist())
        found = self._archive.store.newest_first(said.upto)
        todo = ((each, [key for key in keys if key not in done]) for each, keys in found)
        return [(each, keys) for each, keys in todo if keys]

    def _batches(self, todo: list[tuple[int, list[int]]]) -> Iterator[dict[int, _Told]]:
        """Entries with their pieces, so many pieces at a time."""
        batch: dict[int, _Told] = {}
        count = 0
        for conversation, keys in todo:
            asked = self._archive.store.preceding_prompts(conversation, set(keys))
            for entry in self._archive.store.index_entries_of(conversation, set(keys)):
                batch[entry.key] = _Told(self._pieces(entry), asked.get(entry.key, ""))
                count += len(batch[entry.key].pieces)
                if count >= self._model.batch or len(batch) >= self._model.batch * 8:
                    yield batch
                    batch, count = {}, 0
        if batch:
            yield batch

    def _pieces(self, entry: IndexEntry) -> list[str]:
        """What is told of an entry: its title, what was said, thought and attached, how a tool failed."""
        pieces = chunks.split_chunks(entry.title) + chunks.split_chunks(entry.text)
        if self._config.index.thinking and entry.thinking:
            pieces += chunks.split_chunks(entry.thinking, _THOUGHTS)
        if entry.attached:
            pieces += chunks.split_chunks(entry.attached, _ATTACHED)
        if self._config.index.tool_output and entry.has_error:
            pieces += chunks.first_and_last_chunk(entry.output)
        return pieces

    def _keep(self) -> None:
        """Write what is held; of what was erased meanwhile nothing is."""
        if not self._held:
            return
        import numpy as np  # noqa: PLC0415 (takes long)

        held, self._held = self._held, []
        owners = np.array([key for _, each, _ in held for key in each], np.int64)
        rows = np.concatenate([each for _, _, each in held])
        says = np.linalg.norm(rows, axis=1) > 0
        kind = np.float16 if self._current().made.precision == "f16" else np.float32
        with write_lock(self._folder):
            said = self._reloaded()
            asked = [key for keys, _, _ in held for key in keys]
            there = np.array(self._archive.store.index_keys(asked), np.int64)
            says &= np.isin(owners, there)
            mute = np.setdiff1d(there, owners[says])
            self._said = vectors.append(self._folder, said, owners[says], rows[says].astype(kind), mute)

    def _vectors(self, batch: dict[int, _Told]) -> NDArray[np.float32]:
        """A row for each piece; an answer leans towards what was asked."""
        import numpy as np  # noqa: PLC0415

        asked = dict.fromkeys(told.asked for told in batch.values() if told.asked)
        pieces = [piece for told in batch.values() for piece in told.pieces]
        if not pieces:
            return np.empty((0, self._model.dimensions), np.float32)
        rows = self._model.vectors([*pieces, *asked])
        place = dict(zip(asked, range(len(pieces), len(rows)), strict=True))
        leans = [place.get(told.asked, -1) for told in batch.values() for _ in told.pieces]
        whole = rows[: len(pieces)] + np.where(np.array(leans)[:, None] >= 0, rows[leans] * _ASKED, 0)
        whole[~rows[: len(pieces)].any(axis=1)] = 0
        return models.normalize_rows(whole)

    def _current(self) -> VectorsInfo:
        return self._said or self._begun()

    def _reloaded(self) -> VectorsInfo:
        """What counts now: somebody may have erased something meanwhile."""
        said = vectors.read_info(self._folder)
        if said is None or said.made != self._current().made:
            said = vectors.start_over(self._folder, self._current().made)
            self._generation = _GONE
        return said

    def _finish(self, last: int) -> None:
        """Say up to where all is done, unless something was erased meanwhile: that may have left copies.

        If all was, what others had done is to be done again.
        """
        with write_lock(self._folder):
            said = self._said = self._reloaded()
            if said.generation == self._generation and said.upto < last:
                self._said = said._replace(upto=last, reach=max(said.reach, last))
                vectors.write_info(self._folder, self._said)

    def _tidy(self) -> None:
        """Throw out vectors of what is no longer there if they are many."""
        import numpy as np  # noqa: PLC0415

        with write_lock(self._folder):
            stored = StoredVectors(self._folder, self._reloaded())
            alive = np.array(self._archive.store.index_keys(), np.int64)
            known = stored.known_keys()
            is_much = len(known) > 0 and float(np.isin(known, alive).mean()) < 1 - _DEAD_SHARE
            if is_much:
                vectors.rewrite_with(stored, alive)
        if is_much:
            self._pass(None, lambda _, __: None)

    def _see_to_graph(self) -> None:
        """Make the graph if it is due: that may take an hour, in which others give vectors to what is new."""
        from agent_journal.search.semantic import nearest  # noqa: PLC0415 (imports numpy)

        if not nearest.needs_graph(StoredVectors(self._folder, self._current())):
            return
        turn = Lock(self._folder / "turn.graph")
        with suppress(ArchiveInUse):
            turn.acquire()
            try:
                nearest.build_graph(StoredVectors(self._folder, self._current()))
            finally:
                turn.release()


def erase_stale(kept: Archive, config: Config) -> None:
    """Leave no vector of what is no longer in the rows."""
    place = vectors_folder(config)
    if not place.exists():
        return
    import numpy as np  # noqa: PLC0415

    with write_lock(place):
        try:
            said = vectors.read_info(place)
            if said is None:
                vectors.discard(place)
            else:
                vectors.rewrite_with(StoredVectors(place, said), np.array(kept.store.index_keys(), np.int64))
        except IndexDamaged:
            vectors.discard(place)


def start_in_background(kept: Archive, config: Config) -> bool:
    """Let another process make vectors, if there are many to be made; whether it does."""
    if _behind(kept, config) < MIN_BACKGROUND_ENTRIES:
        return False
    if Lock(vectors_folder(config) / "turn").owner() is not None:
        return True
    import subprocess  # noqa: PLC0415 (takes long, and is seldom needed)

    command = [sys.executable, "-m", "agent_journal", "embed", "--quiet"]
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603 (our own program)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=config.home,
            env={**os.environ, "AJ_HOME": str(config.home)},
            start_new_session=True,
        )
        return True
    return False


def _behind(kept: Archive, config: Config) -> int:
    """About how many entries may lack vectors; told without numpy, which takes longer than a small sync."""
    try:
        said = vectors.read_info(vectors_folder(config))
    except IndexDamaged:
        said = None
    return kept.store.last_key() - (said.upto if said is not None else 0)


def running_process(config: Config) -> str:
    """Who is making vectors now; empty if nobody is."""
    return Lock(vectors_folder(config) / "turn").owner() or ""


def read_state(kept: Archive, config: Config) -> State:
    """How far the vectors are."""
    if not config.index.vector.enabled:
        return State("", problem="disabled (index.vector.enabled)")
    name = models.expected_model_name(
        config.index.vector.model_path, allow_custom=config.index.vector.model_use == "all"
    )
    running = running_process(config)
    entries = index_upkeep.count_entries(kept, config)
    try:
        said = vectors.read_info(vectors_folder(config))
    except IndexDamaged as error:
        return State(name, entries=entries, problem=str(error), running=running)
    if said is None or said.reach > kept.store.last_key():
        return State(name, entries=entries, running=running, whole=not entries)
    whole = said.upto >= kept.store.last_key()
    if whole:
        return State(said.made.model, said.rows, entries, entries, whole=True, running=running)
    import numpy as np  # noqa: PLC0415 (seldom)

    done = len(
        np.intersect1d(StoredVectors(vectors_folder(config), said).known_keys(), kept.store.index_keys())
    )
    return State(said.made.model, said.rows, done, entries, running=running)


def find_problems(kept: Archive, config: Config) -> list[tuple[str, str]]:
    """What is wrong with the vectors: where, and what."""
    place = vectors_folder(config)
    try:
        said = vectors.read_info(place)
        problems = StoredVectors(place, said).problems() if said is not None else []
    except IndexDamaged as error:
        return [(error.where, f"{error.reason}; 'aj embed --rebuild' computes them again")]
    if said is not None and said.made.journal != kept.store.journal_id:
        problems.append("they belong to another journal")
    return [(str(place), f"{problem}; 'aj embed --rebuild' computes them again") for problem in problems]


@contextmanager
def write_lock(place: Path) -> Iterator[None]:
    """Nobody else changes the vectors inside; what is inside takes a moment."""
    lock = Lock(place / "lock")
    lock.acquire(_WAIT)
    try:
        yield
    finally:
        lock.release()
