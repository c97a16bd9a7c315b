"""Keep the vectors in step with the rows: compute missing ones, newest first, and erase stale ones.

Nothing waits for vectors: an imported message can be searched by its words at once. The process that
computes vectors reads rows like any other reader, so that others can import meanwhile; the vectors have a
lock of their own.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.archive.lock import Lock
from agent_journal.errors import AgentJournalError, ArchiveInUse, IndexDamaged
from agent_journal.journal import index_upkeep
from agent_journal.search.semantic import chunks, models, vectors
from agent_journal.search.semantic.vectors import StoredVectors, VectorFormat, VectorsInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from agent_journal.archive import Archive
    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.config import Config
    from agent_journal.search.semantic.models import Model

# A process of its own is worth its start for this many entries; whoever imports fewer embeds them.
MIN_BACKGROUND_ENTRIES = 500
_NEWEST_BUDGET_S = 0.3  # that an import spends on missing vectors
_MAX_NEWEST_ENTRIES = 20_000  # finding what is missing of more takes too long
_WRITE_BATCH_COUNT = 8192  # vectors that are written together
_MAX_THINKING_CHUNKS = 8
_MAX_ATTACHED_CHUNKS = 16  # the topic of an attached file mostly shows early
# The weight of the preceding prompt in the vector of an answer. Measured by bench/quality.py, it raises nDCG
# of questions by 0.12 and lowers that of names by 0.02.
_PROMPT_WEIGHT = 0.3
_MAX_LOCK_WAIT_S = 30.0
_MIN_STALE_SHARE = 0.2  # of vectors without an entry, from which the files are rewritten
_NO_GENERATION_ID = 0  # that no vectors have


class _EntryText(NamedTuple):
    """What the vectors of an entry are made of: its chunks, and the preceding prompt."""

    chunks: list[str]
    prompt: str


class State(NamedTuple):
    """How many entries have vectors."""

    model: str
    vectors: int = 0
    done: int = 0
    """The number of processed entries."""
    entries: int = 0
    """The number of all entries."""
    whole: bool = False
    """Whether all entries are processed."""
    running: str = ""
    """The process that computes vectors now, if any."""
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return self._asdict()


def vectors_folder(config: Config) -> Path:
    """Return the folder of a journal's vectors."""
    return vectors.vectors_folder(config.storage.index_path)


def sentence_folder(config: Config) -> Path:
    """Return the folder of the vectors that the sentence model makes, if it is installed."""
    return config.storage.index_path.with_name(f"{config.storage.index_path.name}.sentences")


def load_sentence_model(config: Config, model: Model) -> models.ModelChoice:
    """Return the sentence model, which searches next to the bundled one; none if it is not installed."""
    from agent_journal.search.semantic import onnx, sentence, static  # noqa: PLC0415 (an extra)

    if model.name != static.model_name() or not config.index.vector.enabled:
        return models.ModelChoice(None)
    try:
        return models.ModelChoice(sentence.load())
    except onnx.UnusableModel as error:
        return models.ModelChoice(None, str(error))


def choose_model(config: Config) -> models.ModelChoice:
    """Return the model that makes the vectors."""
    settings = config.index.vector
    allow_custom, is_configured = settings.model_use == "all", _is_model_configured(config)
    return models.choose_model(
        settings.model_path, settings.fallback, allow_custom=allow_custom, is_configured=is_configured
    )


def load_custom_model(config: Config) -> models.ModelChoice:
    """Return the user's own model."""
    return models.load_custom_model(
        config.index.vector.model_path, is_configured=_is_model_configured(config)
    )


def _is_model_configured(config: Config) -> bool:
    return "index.vector.model_path" in config.origins


def vector_format(archive: Archive, config: Config, model: Model) -> VectorFormat:
    """Return how vectors must be made."""
    content = f"chunks {chunks.CHUNKING_VERSION}" + (" thinking" if config.index.thinking else "")
    content += " failures" if config.index.tool_output else ""
    precision = config.index.vector_precision
    return VectorFormat(archive.store.journal_id, model.name, model.dimensions, precision, content)


def read_current(
    archive: Archive, config: Config, model: Model, folder: Path | None = None
) -> VectorsInfo | None:
    """Return the metadata of the vectors; None if they were not made as they must be."""
    try:
        info = vectors.read_info(folder or vectors_folder(config))
    except IndexDamaged:
        return None
    if info is None or info.made != vector_format(archive, config, model):
        return None
    # After a power cut, rows of which there are vectors may be lost; their keys will be used again.
    return info if info.reach <= archive.store.last_key() else None


def is_complete(folder: Path, info: VectorsInfo) -> bool:
    """Whether the files are long enough."""
    try:
        StoredVectors(folder, info)
    except IndexDamaged:
        return False
    return True


class Embedder:
    """Computes the vectors of entries that have none. Only one process can do so at a time."""

    def __init__(self, archive: Archive, config: Config, model: Model, folder: Path | None = None) -> None:
        """`folder` is that of the vectors; by default, that of the model that searches everything."""
        self._archive = archive
        self._config = config
        self._model = model
        self._folder = folder or vectors_folder(config)
        self._run_lock = Lock(self._folder / "turn")
        self._info: VectorsInfo | None = None
        self._generation = 0
        self._unwritten: list[tuple[list[int], list[int], NDArray[np.float32]]] = []
        """The keys, the key of each vector, and the vectors that are not written yet."""

    def run(
        self,
        *,
        seconds: float | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        wait: float = 0.0,
        from_scratch: bool = False,
    ) -> bool:
        """Compute missing vectors for about `seconds`; return whether all entries have theirs.

        `on_progress` gets the number of processed entries and their total. With `from_scratch`, all vectors
        are computed again. Whatever ends the run, its results are saved. Raises ArchiveInUse if another
        process is computing vectors.
        """
        until = None if seconds is None else time.monotonic() + seconds
        self._run_lock.acquire(wait)
        try:
            if from_scratch:
                self._start_over()
            is_all = self._process_all(until, on_progress or (lambda _, __: None))
            if is_all and seconds is None:
                self._drop_stale()
        finally:
            self._run_lock.release()
        if is_all and seconds is None:
            self._build_graph()
        return is_all

    def compute(self, entries: Iterable[tuple[int, int]], seconds: float) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of some entries, as many as take about `seconds`; nothing is written.

        `entries` are pairs of a conversation and the key of an entry.
        """
        until = time.monotonic() + seconds
        keys_by_conversation: dict[int, list[int]] = {}
        for conversation, key in entries:
            keys_by_conversation.setdefault(conversation, []).append(key)
        computed: dict[int, NDArray[np.float32]] = {}
        for pending in keys_by_conversation.items():
            for batch in self._batches([pending]):
                rows, start = self._vectors(batch), 0
                for key, each in batch.items():
                    computed[key] = rows[start : start + len(each.chunks)]
                    start += len(each.chunks)
            if time.monotonic() > until:
                break
        return computed

    def _process_all(self, until: float | None, on_progress: Callable[[int, int], None]) -> bool:
        """Process all entries of the rows."""
        last = self._archive.store.last_key()
        self._info = self._load_or_start()
        try:
            is_all = self._compute(until, on_progress)
        finally:
            self._write()
        if is_all:
            self._finish(last)
        return is_all

    def _compute(self, until: float | None, on_progress: Callable[[int, int], None]) -> bool:
        """Compute vectors until all are done or time is over; at least one batch is computed."""
        pending = self._pending()
        total, done = sum(len(keys) for _, keys in pending), 0
        for batch in self._batches(pending):
            if done and until is not None and time.monotonic() > until:
                return False
            on_progress(done, total)
            owners = [key for key, each in batch.items() for _ in each.chunks]
            self._unwritten.append((list(batch), owners, self._vectors(batch)))
            done += len(batch)
            if sum(len(owners) for _, owners, _ in self._unwritten) >= _WRITE_BATCH_COUNT:
                self._write()
        on_progress(total, total)
        return True

    def _start_over(self) -> None:
        """Discard all vectors."""
        with write_lock(self._folder):
            vectors.start_over(self._folder, vector_format(self._archive, self._config, self._model))

    def _load_or_start(self) -> VectorsInfo:
        """Return the vectors to continue; new ones if the stored ones are unusable."""
        with write_lock(self._folder):
            info = read_current(self._archive, self._config, self._model, self._folder)
            if info is not None and is_complete(self._folder, info):
                vectors.remove_other_generations(self._folder, info.generation)
            else:
                info = vectors.start_over(
                    self._folder, vector_format(self._archive, self._config, self._model)
                )
            self._generation = info.generation
            return info

    def _pending(self) -> list[tuple[int, list[int]]]:
        """Return conversations, newest first, with the keys of entries that have no vectors yet."""
        info = self._current()
        done = set(StoredVectors(self._folder, info).known_keys(info.upto).tolist())
        conversations = self._archive.store.newest_first(info.upto)
        pending = ((each, [key for key in keys if key not in done]) for each, keys in conversations)
        return [(each, keys) for each, keys in pending if keys]

    def _batches(self, pending: list[tuple[int, list[int]]]) -> Iterator[dict[int, _EntryText]]:
        """Yield entries with their texts, a batch of chunks at a time."""
        batch: dict[int, _EntryText] = {}
        count = 0
        for conversation, keys in pending:
            prompts = self._archive.store.preceding_prompts(conversation, set(keys))
            for entry in self._archive.store.index_entries_of(conversation, set(keys)):
                batch[entry.key] = _EntryText(self._chunks(entry), prompts.get(entry.key, ""))
                count += len(batch[entry.key].chunks)
                if count >= self._model.batch or len(batch) >= self._model.batch * 8:
                    yield batch
                    batch, count = {}, 0
        if batch:
            yield batch

    def _chunks(self, entry: IndexEntry) -> list[str]:
        """Return the chunks of an entry: title, text, thinking, attachments, output of a failed tool."""
        parts = chunks.split_chunks(entry.title) + chunks.split_chunks(entry.text)
        if self._config.index.thinking and entry.thinking:
            parts += chunks.split_chunks(entry.thinking, _MAX_THINKING_CHUNKS)
        if entry.attached:
            parts += chunks.split_chunks(entry.attached, _MAX_ATTACHED_CHUNKS)
        if self._config.index.tool_output and entry.has_error:
            parts += chunks.first_and_last_chunk(entry.output)
        return parts

    def _write(self) -> None:
        """Write the vectors computed so far, except for entries that were erased meanwhile."""
        if not self._unwritten:
            return
        import numpy as np  # noqa: PLC0415 (slow to import)

        unwritten, self._unwritten = self._unwritten, []
        owners = np.array([key for _, each, _ in unwritten for key in each], np.int64)
        rows = np.concatenate([each for _, _, each in unwritten])
        has_vector = np.linalg.norm(rows, axis=1) > 0
        dtype = np.float16 if self._current().made.precision == "f16" else np.float32
        with write_lock(self._folder):
            info = self._reloaded()
            keys = [key for keys, _, _ in unwritten for key in keys]
            existing = np.array(self._archive.store.index_keys(keys), np.int64)
            has_vector &= np.isin(owners, existing)
            mute = np.setdiff1d(existing, owners[has_vector])
            self._info = vectors.append(
                self._folder, info, owners[has_vector], rows[has_vector].astype(dtype), mute
            )

    def _vectors(self, batch: dict[int, _EntryText]) -> NDArray[np.float32]:
        """Return a vector for each chunk; those of an answer are moved towards the prompt's vector."""
        import numpy as np  # noqa: PLC0415

        prompts = dict.fromkeys(text.prompt for text in batch.values() if text.prompt)
        pieces = [chunk for text in batch.values() for chunk in text.chunks]
        if not pieces:
            return np.empty((0, self._model.dimensions), np.float32)
        rows = self._model.vectors([*pieces, *prompts])
        row_of = dict(zip(prompts, range(len(pieces), len(rows)), strict=True))
        prompt_rows = [row_of.get(text.prompt, -1) for text in batch.values() for _ in text.chunks]
        has_prompt = np.array(prompt_rows)[:, None] >= 0
        mixed = rows[: len(pieces)] + np.where(has_prompt, rows[prompt_rows] * _PROMPT_WEIGHT, 0)
        mixed[~rows[: len(pieces)].any(axis=1)] = 0
        return models.normalize_rows(mixed)

    def _current(self) -> VectorsInfo:
        return self._info or self._load_or_start()

    def _reloaded(self) -> VectorsInfo:
        """Return the current metadata: another process may have erased vectors meanwhile."""
        info = vectors.read_info(self._folder)
        if info is None or info.made != self._current().made:
            info = vectors.start_over(self._folder, self._current().made)
            self._generation = _NO_GENERATION_ID
        return info

    def _finish(self, last: int) -> None:
        """Record up to which key all is done, unless vectors were erased meanwhile.

        In that case, the next run compares the keys again.
        """
        with write_lock(self._folder):
            info = self._info = self._reloaded()
            if info.generation == self._generation and info.upto < last:
                self._info = info._replace(upto=last, reach=max(info.reach, last))
                vectors.write_info(self._folder, self._info)

    def _drop_stale(self) -> None:
        """Rewrite the files if many vectors belong to entries that no longer exist."""
        import numpy as np  # noqa: PLC0415

        with write_lock(self._folder):
            stored = StoredVectors(self._folder, self._reloaded())
            alive = np.array(self._archive.store.index_keys(), np.int64)
            known = stored.known_keys()
            has_many_stale = len(known) > 0 and float(np.isin(known, alive).mean()) < 1 - _MIN_STALE_SHARE
            if has_many_stale:
                vectors.rewrite_with(stored, alive)
        if has_many_stale:
            self._process_all(None, lambda _, __: None)

    def _build_graph(self) -> None:
        """Build the graph if it is due; that may take an hour, in which others can compute vectors."""
        from agent_journal.search.semantic import nearest  # noqa: PLC0415 (imports numpy)

        if not nearest.needs_graph(StoredVectors(self._folder, self._current())):
            return
        lock = Lock(self._folder / "turn.graph")
        with suppress(ArchiveInUse):
            lock.acquire()
            try:
                nearest.build_graph(StoredVectors(self._folder, self._current()))
            finally:
                lock.release()


def erase_stale(archive: Archive, config: Config) -> None:
    """Erase the vectors of entries that no longer exist."""
    for folder in (vectors_folder(config), sentence_folder(config)):
        if folder.exists():
            _erase_stale(archive, folder)


def _erase_stale(archive: Archive, folder: Path) -> None:
    import numpy as np  # noqa: PLC0415

    with write_lock(folder):
        try:
            info = vectors.read_info(folder)
            if info is None:
                vectors.discard(folder)
            else:
                alive = np.array(archive.store.index_keys(), np.int64)
                vectors.rewrite_with(StoredVectors(folder, info), alive)
        except IndexDamaged:
            vectors.discard(folder)


def embed_newest(archive: Archive, config: Config) -> None:
    """Compute the vectors of the newest entries, if they are too few for a process of their own.

    What cannot be computed is missing until the next time, and a search says so.
    """
    limit = _min_background_entries(config) if config.index.vector.background else _MAX_NEWEST_ENTRIES
    if not 0 < count_missing(archive, vectors_folder(config)) < limit:
        return
    # A full disk, another process that computes them, too little memory: what was imported is safe.
    with suppress(AgentJournalError, ImportError, MemoryError, OSError):
        model = choose_model(config).model
        if model is not None:
            Embedder(archive, config, model).run(seconds=_NEWEST_BUDGET_S)


def _min_background_entries(config: Config) -> int:
    """Return how many missing entries are worth a process; the user's own model is slow."""
    settings = config.index.vector
    has_custom = settings.model_use == "all" and (settings.model_path / "model.onnx").is_file()
    return 1 if has_custom else MIN_BACKGROUND_ENTRIES


def start_in_background(archive: Archive, config: Config) -> bool:
    """Start a process that computes vectors if many are missing; return whether one is running."""
    is_worth_it = count_missing(archive, vectors_folder(config)) >= _min_background_entries(config)
    if not is_worth_it and not _lacks_sentences(archive, config):
        return False
    if running_process(config):
        return True
    import subprocess  # noqa: PLC0415 (slow to import, and rarely needed)

    command = [sys.executable, "-m", "agent_journal", "--home", str(config.home), "embed", "--quiet"]
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603 (our own program)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=config.home,
            start_new_session=True,
        )
        return True
    return False


def _lacks_sentences(archive: Archive, config: Config) -> bool:
    """Whether there is a sentence model that has not read everything."""
    from agent_journal.search.semantic import sentence  # noqa: PLC0415 (an extra)

    if not sentence.is_installed():
        return False
    from agent_journal.search.semantic import static  # noqa: PLC0415 (rarely needed)

    settings = config.index.vector
    name = models.expected_model_name(settings.model_path, allow_custom=settings.model_use == "all")
    if not sentence.model_name() or name != static.model_name():
        return False
    return count_missing(archive, sentence_folder(config)) > 0


def count_missing(archive: Archive, folder: Path) -> int:
    """Return about how many entries lack vectors, without numpy, whose import takes longer than a sync."""
    try:
        info = vectors.read_info(folder)
    except IndexDamaged:
        info = None
    return archive.store.last_key() - (info.upto if info is not None else 0)


def running_process(config: Config) -> str:
    """Return the process that is computing vectors now; empty if there is none."""
    owners = (Lock(each / "turn").owner() for each in (vectors_folder(config), sentence_folder(config)))
    return next(filter(None, owners), "")


def read_state(archive: Archive, config: Config) -> State:
    """Return how many entries have vectors."""
    if not config.index.vector.enabled:
        return State("", problem="disabled (index.vector.enabled)")
    name = models.expected_model_name(
        config.index.vector.model_path, allow_custom=config.index.vector.model_use == "all"
    )
    running = running_process(config)
    entries = index_upkeep.count_entries(archive, config)
    try:
        info = vectors.read_info(vectors_folder(config))
    except IndexDamaged as error:
        return State(name, entries=entries, problem=str(error), running=running)
    if info is None or info.reach > archive.store.last_key():
        return State(name, entries=entries, running=running, whole=not entries)
    whole = info.upto >= archive.store.last_key()
    if whole:
        return State(info.made.model, info.rows, entries, entries, whole=True, running=running)
    import numpy as np  # noqa: PLC0415 (rarely needed)

    done = len(
        np.intersect1d(StoredVectors(vectors_folder(config), info).known_keys(), archive.store.index_keys())
    )
    return State(info.made.model, info.rows, done, entries, running=running)


def find_problems(archive: Archive, config: Config) -> list[tuple[str, str]]:
    """Return the problems of the vectors, each with its place."""
    folders = vectors_folder(config), sentence_folder(config)
    return [problem for folder in folders for problem in _find_problems(archive, folder)]


def _find_problems(archive: Archive, folder: Path) -> list[tuple[str, str]]:
    try:
        info = vectors.read_info(folder)
        problems = StoredVectors(folder, info).problems() if info is not None else []
    except IndexDamaged as error:
        return [(error.where, f"{error.reason}; 'aj embed --rebuild' computes them again")]
    if info is not None and info.made.journal != archive.store.journal_id:
        problems.append("they belong to another journal")
    return [(str(folder), f"{problem}; 'aj embed --rebuild' computes them again") for problem in problems]


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from changing the vectors in the body, which must be short."""
    lock = Lock(folder / "lock")
    lock.acquire(_MAX_LOCK_WAIT_S)
    try:
        yield
    finally:
        lock.release()
