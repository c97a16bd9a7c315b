"""A journal: the archive and its index together. What is imported can be found when the import returns."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from agent_journal import archive, crash_reports
from agent_journal.errors import (
    AgentJournalError,
    CannotWrite,
    DamagedArchive,
    NoSuchName,
    UnfinishedErasure,
    UnusableArchive,
)
from agent_journal.inputs.closeable import Closing
from agent_journal.journal import index_upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate, Result
    from agent_journal.archive.importing import Importer
    from agent_journal.archive.media import StoredMedia
    from agent_journal.archive.native_content import NativeContentReader
    from agent_journal.archive.repairing import Repaired, RepairOutcome
    from agent_journal.archive.salvage import RecoveringReader
    from agent_journal.archive.store import Change, Filter, Listed
    from agent_journal.archive.syncing import Scan
    from agent_journal.config import Config
    from agent_journal.journal import embeddings
    from agent_journal.journal.search import Answer, Mode, SearchSession
    from agent_journal.model import Conversation, Link, Media, Memory
    from agent_journal.notes import Notes
    from agent_journal.search.query import Filters, Query
    from agent_journal.usage import By, Report


# So much to read is worth a second process, which takes a third of a second to start.
_MUCH = 32 << 20
_A_SEARCH = 1.0  # seconds that a search may take for vectors, at most


class Summary(NamedTuple):
    """What a sync did."""

    unchanged: int
    missing: int
    read_again: int


def sync(
    config: Config,
    find_candidates: Callable[[Archive], Iterable[ImportCandidate]],
    on_result: Callable[[Result], None],
    *,
    full: bool = False,
    is_all: bool = True,
    make: bool = True,
    on_start: Callable[[int, int], None] | None = None,
    on_unchanged: Callable[[Result], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> Summary:
    """Import what is new or changed of the files that are found; `begun` is told how many, and their bytes.

    `done` is told of each that was read, `unchanged` of each that is as it was.

    If these are all that there are, those that are gone are marked, and what an older revision of a reader
    read is read again from the vault.
    """
    from agent_journal.archive.syncing import Scan  # noqa: PLC0415 (who searches needs none of it)

    now = utc_now()
    with (
        archive.open_to_write(config.home, on_wait=on_wait, create=make) as kept,
        _finishing_erasure(kept, config),
    ):
        scan = Scan(kept, now, full=full, is_all=is_all, on_unchanged=on_unchanged)
        outdated = scan.outdated() if is_all else []
        changed = sorted(scan.changed(find_candidates(kept)), key=_by_age)
        with index_upkeep.Indexer(kept, config) as indexer:
            if on_start is not None:
                sizes = [*(each.size for each in changed), *(row.size for row in outdated)]
                on_start(len(sizes), sum(sizes))
            if changed or outdated:  # else nothing that imports need be loaded
                largest = _largest_media(config)
                with _importer(
                    kept, now, indexer.apply, on_result, largest_media=largest, heals=full
                ) as importer:
                    for row in outdated:
                        importer.reimport(row)
                    reports = str(config.home / crash_reports.FOLDER)
                    _take_all(importer, scan, changed, now, largest_media=largest, reports=reports)
            missing = scan.mark_missing() if is_all else 0
        return Summary(scan.unchanged, missing, len(outdated))


def _by_age(found: ImportCandidate) -> tuple[str, int]:
    """Source after source, what changed last at the end.

    So what was said in the same days gets keys in a row, and lies side by side in the index: to look at the
    newest takes little, however much there is.
    """
    return found.reader, found.stat.mtime_ns if found.stat else 0


def _importer(
    kept: Archive,
    now: str,
    changed: Callable[[Change], None],
    done: Callable[[Result], None],
    from_format: str | None = None,
    *,
    largest_media: int | None = 0,
    heals: bool = False,
) -> Importer:
    from agent_journal.archive.importing import Importer  # noqa: PLC0415

    return Importer(kept, now, changed, done, from_format, largest_media=largest_media, repairs_rows=heals)


def _largest_media(config: Config) -> int | None:
    """Up to how many bytes pictures, sounds and documents are kept; None if all are, 0 if none is."""
    storage = config.storage
    return {"none": 0, "small": storage.media_max_mb * 10**6, "all": None}[storage.media]


def _take_all(
    importer: Importer,
    scan: Scan,
    changed: list[ImportCandidate],
    now: str,
    *,
    largest_media: int | None,
    reports: str,
) -> None:
    """Import changed files; many new ones are read by a second process meanwhile."""
    from agent_journal.archive import worker  # noqa: PLC0415 (only if there is something to import)

    new = [
        each
        for each in changed
        if scan.is_new(each) and each.size <= worker.MAX_WORKER_FILE_BYTES and each.path.isprintable()
    ]
    if sum(each.size for each in new) >= _MUCH and (os.cpu_count() or 1) > 1:
        for each, prepared in worker.prepare(new, now, largest_media, reports):
            if prepared is None:
                importer.take(each)
            else:
                importer.take_prepared(prepared)
        taken = set(new)
        changed = [each for each in changed if each not in taken]
    for each in changed:
        importer.take(each)


def import_files(
    config: Config,
    candidates: Iterable[ImportCandidate],
    on_result: Callable[[Result], None],
    *,
    from_format: str | None = None,
    note: Notes | None = None,
    is_refused: Callable[[str], bool] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> None:
    """Import files that a person names, imported before or not; of folders what is in them.

    `is_refused` tells of what is in a folder whether it must not be looked at.
    """
    from agent_journal.archive import folders  # noqa: PLC0415 (asks all readers)
    from agent_journal.notes import Notes  # noqa: PLC0415

    with (
        archive.open_to_write(config.home, on_wait=on_wait) as kept,
        _finishing_erasure(kept, config),
        index_upkeep.Indexer(kept, config) as indexer,
        _importer(
            kept,
            utc_now(),
            indexer.apply,
            on_result,
            from_format,
            largest_media=_largest_media(config),
            heals=True,
        ) as importer,
    ):
        for each in folders.expand_folders(candidates, note or Notes(), from_format, is_refused):
            importer.take(each)


class Erased(NamedTuple):
    """What was erased."""

    freed: int = 0
    """How many bytes of the vault were freed."""
    replaced: Sequence[str] = ()
    """The sources whose damaged bytes were replaced, each with the consequence."""


def finish_erasing(
    archive: Archive, config: Config, on_progress: Callable[[int, int], None] | None = None
) -> Erased:
    """Erase what is forgotten and still lies somewhere.

    That may be the rest of what a killed process began, or come with a file that holds other things too.
    """
    erasing = archive.store.pending_erasure()
    if erasing is None:
        return Erased()
    from agent_journal.archive import forgetting  # noqa: PLC0415 (seldom)
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    freed, failures, replaced = forgetting.finish_erasing(archive)
    if erasing.rows:
        # Words of what was removed would stay in the index's files for a while.
        steps: list[Callable[[], None]] = [
            archive.store.compact,
            lambda: index_upkeep.rebuild(archive, config, on_progress),
            lambda: embeddings.erase_stale(archive, config),
        ]
        for step in steps:  # one that fails must not keep the others from erasing what they can
            try:
                step()
            except AgentJournalError as error:
                failures.append(error)
            except OSError as error:
                failures.append(CannotWrite(str(config.home), (error.strerror or str(error)).lower()))
    if failures:
        raise UnfinishedErasure(failures[0]) from failures[0]
    with archive.store.transaction():
        archive.store.set_pending_erasure(None)
    return Erased(freed, replaced)


@contextmanager
def _finishing_erasure(kept: Archive, config: Config) -> Iterator[None]:
    """Finish what an earlier process began to erase, before and after something else.

    What cannot be erased now keeps nobody from what is done inside; it is told at the end.
    """
    with suppress(UnfinishedErasure):
        finish_erasing(kept, config)
    yield
    finish_erasing(kept, config)


def finish_forgetting(config: Config) -> Erased | None:
    """Finish what an earlier `forget` began and could not end; None if there was no such thing.

    Raises UnfinishedErasure if it still cannot be ended, ArchiveInUse if another process is at it.
    """
    with archive.open_to_read(config.home) as kept:
        if kept.store.pending_erasure() is None:
            return None
    with archive.open_to_write(config.home, wait=0, create=False) as kept:
        return finish_erasing(kept, config)


def forget(
    config: Config,
    keys: Callable[[Archive], list[int]],
    on_progress: Callable[[int, int], None] | None = None,
    *,
    memories: bool = False,
    names: Iterable[str] = (),
) -> tuple[int, Erased]:
    """Erase conversations from rows, vault and index; how many, and what became of the bytes in the vault.

    With `memories` all of those go, too. `told` is given how many entries the new index has, and how many
    there are. Raises UnfinishedErasure if they are forgotten, and still in some file: `finish_forgetting`
    goes on with that, and whoever asks for the same `names` again is told so.
    """
    from agent_journal.archive import forgetting  # noqa: PLC0415

    with archive.open_to_write(config.home) as kept:
        wanted = keys(kept)
        forgetting.forget(kept, wanted, utc_now(), memories=memories, names=names)
        return len(wanted), finish_erasing(kept, config, on_progress)


def reindex(
    config: Config,
    *,
    from_vault: bool = False,
    on_result: Callable[[Result], None],
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Make the index anew from the rows; before that, if asked for, read everything in the vault again."""
    with archive.open_to_write(config.home) as kept, _finishing_erasure(kept, config):
        if from_vault:
            with _importer(kept, utc_now(), lambda _: None, on_result) as importer:
                for row in list(kept.store.sources()):
                    importer.reimport(row)
        index_upkeep.rebuild(kept, config, on_progress)


def repair(
    config: Config,
    backup: Path | None = None,
    *,
    gives_up: bool = False,
    on_message: Callable[[str], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> RepairOutcome:
    """Heal what is damaged in rows and vault from the sources, from a backup and from each other.

    With `gives_up` the journal does without what is nowhere else. An index that is damaged is made anew.
    """
    from agent_journal.archive import repairing  # noqa: PLC0415 (seldom)

    try:
        return _repaired(config, backup, gives_up=gives_up, told=on_message, waiting=on_wait)
    except (UnusableArchive, DamagedArchive) as error:
        # A journal may also be of a newer version, or of another machine: then nothing is wrong with it.
        is_damaged = DamagedArchive in {type(error), type(error.__cause__)} or repairing.has_no_rows(
            config.home
        )
        if backup is None or not is_damaged:
            raise
        restored = repairing.restore_rows(config.home, backup)
    outcome = _repaired(config, backup, gives_up=gives_up, told=on_message, waiting=on_wait)
    return outcome._replace(repaired=[*restored, *outcome.repaired])


def _repaired(
    config: Config,
    backup: Path | None,
    *,
    gives_up: bool,
    told: Callable[[str], None] | None,
    waiting: Callable[[str], None] | None,
) -> RepairOutcome:
    from agent_journal.archive.repairing import Repair  # noqa: PLC0415 (seldom)

    with (
        archive.open_to_write(config.home, on_wait=waiting, create=False) as kept,
        archive.open_without_migrating(backup) if backup is not None else nullcontext() as copy,
        _finishing_erasure(kept, config),
    ):
        repairing = Repair(kept, utc_now(), told or (lambda _: None))
        outcome = repairing.run(
            copy, gives_up=gives_up, reimport=lambda found: _import_again(kept, config, found)
        )
        if backup is not None and kept.store.is_damaged():
            raise DamagedArchive(str(config.home / archive.DATABASE), "the database is damaged")
        if index_upkeep.check_index(kept, config).problems:
            index_upkeep.rebuild(kept, config)
            outcome.repaired.append(describe_rebuilt_index(config))
        return outcome


def _import_again(kept: Archive, config: Config, found: list[ImportCandidate]) -> None:
    with (
        index_upkeep.Indexer(kept, config) as indexer,
        _importer(
            kept, utc_now(), indexer.apply, lambda _: None, largest_media=_largest_media(config), heals=True
        ) as importer,
    ):
        for each in found:
            importer.take(each)


def describe_rebuilt_index(config: Config) -> Repaired:
    """What is told of an index that was damaged."""
    from agent_journal.archive.repairing import Repaired  # noqa: PLC0415 (seldom)

    return Repaired(str(config.storage.index_path), "rebuilt, because it was damaged")


def mend(config: Config, *, from_scratch: bool) -> bool:
    """Bring the index up to the rows, or make it anew; whether nobody else was writing and that was done."""
    try:
        with archive.open_to_write(config.home, wait=0, create=False) as kept:
            if from_scratch:
                index_upkeep.rebuild(kept, config)
            else:
                with index_upkeep.Indexer(kept, config) as indexer:
                    indexer.catch_up()
    except (AgentJournalError, OSError):
        return False
    return True


def embed(
    config: Config,
    *,
    from_scratch: bool = False,
    seconds: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> embeddings.State:
    """Give vectors to all that has none yet, newest first, for so many seconds at most; how far they are.

    `anew` begins with none. Raises ArchiveInUse if another process is at it.
    """
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as kept:
        model, trouble = embeddings.choose_model(config)
        if config.index.vector.enabled and model is not None:
            embedder = embeddings.Embedder(kept, config, model)
            embedder.run(seconds=seconds, on_progress=on_progress, wait=_A_SEARCH, from_scratch=from_scratch)
        state = embeddings.read_state(kept, config)
        return state._replace(problem=state.problem or trouble)


def embed_in_background(config: Config) -> bool:
    """Let another process give vectors to what has none, if that is much; whether one is at it."""
    if not (config.index.vector.enabled and config.index.vector.background):
        return False
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as kept:
        return embeddings.start_in_background(kept, config)


def disk_usage(config: Config) -> dict[str, int]:
    """How many bytes the parts of a journal take."""
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    return {
        "rows": _bytes_in(config.home / archive.DATABASE),
        "vault": _bytes_in(config.home / archive.VAULT),
        "index": _bytes_in(config.storage.index_path),
        "vectors": _bytes_in(embeddings.vectors_folder(config)),
    }


def _bytes_in(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in path.rglob("*"):
        with suppress(FileNotFoundError):  # a writer may put others in its place
            total += file.stat().st_size if file.is_file() else 0
    return total


class Journal(Closing):
    """A journal that is read; others may be writing to it. Close it, or use it in a `with`."""

    def __init__(self, config: Config, bringing_up: Callable[[], None] | None = None) -> None:
        self._config = config
        self._archive = archive.open_to_read(config.home, bringing_up)
        self._searching: SearchSession | None = None
        self._exact: NativeContentReader | None = None
        self._sound: RecoveringReader | None = None
        self._media: StoredMedia | None = None

    def conversations(self, wanted: Filter | None = None) -> Iterator[Listed]:
        """What there is, newest first."""
        from agent_journal.archive.store import Filter  # noqa: PLC0415

        return self._archive.store.conversations(wanted or Filter())

    def conversation(self, name: str, *, exact: bool = False) -> Conversation:
        """A conversation by its id, or by the beginning of it if that is enough.

        With `exact` its messages have the source's own form too, for writers that promise it.
        """
        return self.read(self._archive.find_conversation(name), exact=exact)

    def one(self, name: str) -> Listed:
        """The conversation that a person means by an id or the beginning of one, as lists have it."""
        return self._archive.find_conversation(name)

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Conversations by their keys in this journal, as lists show them."""
        return self._archive.store.listed(keys)

    def children(self, listed: Listed) -> list[Listed]:
        """Conversations that came out of one."""
        return self._archive.store.children(listed.key)

    def link(self, listed: Listed) -> Link | None:
        """Where a conversation came from, and from which place in it."""
        return self._archive.store.link(listed.key)

    def read(self, listed: Listed, *, exact: bool = False, media: bool = False) -> Conversation:
        """A conversation that was listed; with `media` it has the images and files that are kept for it."""
        found = self._exactly().read(listed.key) if exact else self._soundly().conversation(listed.key)
        return self._kept_media().with_data(listed.key, found) if media else found

    def damage(self, listed: Listed, *, exact: bool = False) -> list[tuple[str, bool]]:
        """What is to be said of damage that was met when a conversation was read last, as `read` was asked.

        In words, and whether something is missing for it.
        """
        told = [(str(each), each.missing > 0) for each in self._soundly().take_reports()]
        for error in self._exactly().damage(listed.key) if exact else ():
            why = f"{error.where}: {error.reason}; its original form was replaced by the content of the rows"
            told.append((why, True))
        return told

    def _soundly(self) -> RecoveringReader:
        if self._sound is None:
            from agent_journal.archive.salvage import RecoveringReader  # noqa: PLC0415 (who searches needs none of it)

            self._sound = RecoveringReader(self._archive)
        return self._sound

    def media(self, name: str, media: Media) -> bytes | None:
        """The bytes of a picture, sound or document in a conversation; None if they were not kept."""
        return self._kept_media().load(self._archive.find_conversation(name).key, media)

    def _exactly(self) -> NativeContentReader:
        if self._exact is None:
            from agent_journal.archive.native_content import NativeContentReader  # noqa: PLC0415 (seldom)

            self._exact = NativeContentReader(self._archive, self._soundly())
        return self._exact

    def _kept_media(self) -> StoredMedia:
        if self._media is None:
            from agent_journal.archive.media import StoredMedia  # noqa: PLC0415 (seldom)

            self._media = StoredMedia(self._archive)
        return self._media

    def memories(self) -> Iterator[Memory]:
        """What services keep about the person."""
        return self._archive.store.memories()

    def search(
        self,
        query: str | Query,
        limit: int = 20,
        offset: int = 0,
        context: int = 0,
        *,
        mode: Mode | None = None,
        filters: Filters | None = None,
        strict: bool = False,
        whole: bool = False,
    ) -> Answer:
        """What is sought, by conversation, best first, each with so many messages around the best hit.

        A text is read as `docs/search.md` says; no text is an error. `filters` hold beside those in it.
        `mode` is `lexical` (by words), `semantic` (by meaning) or `hybrid` (both); None is what the
        configuration says. With `strict` no word is taken for another that may have been meant, and none is
        let go of if hardly anything has all of them. With `whole` each hit has all that its message says,
        also what was thought, attached, given to tools and given by them; that takes longer. An index that
        cannot be used is no error either: the newest rows are looked through then, and the answer says so
        (`problem`); `mend` makes it again.
        """
        from agent_journal.journal.search import MODES, Page, SearchSession  # noqa: PLC0415
        from agent_journal.search.query import Filters, parse  # noqa: PLC0415 (who syncs needs none of it)

        if isinstance(query, str):
            query = parse(query, filters or Filters(), time.time())
        elif filters is not None:
            query = query._replace(filters=query.filters + filters)
        if strict or query.strict:
            query = query._replace(strict=True, min_groups=None)
        mode = mode or self._config.search.default_mode
        if mode not in MODES:
            raise NoSuchName("search mode", mode, MODES)
        if self._searching is None:
            self._searching = SearchSession(self._archive, self._config)
        page = Page(max(limit, 0), max(offset, 0), max(context, 0), whole)
        return self._searching.answer(query, mode, page)

    def usage(
        self,
        by: By = "day",
        wanted: Filter | None = None,
        timezone: str | None = None,
        *,
        estimate: bool = False,
    ) -> Report:
        """What was used and what it cost, each token once; days are those of a time zone, or the machine's.

        What is wanted is so by the time and the model of each answer. With `estimate` there are lines for
        answers of which nothing is stated, apart from all others.
        """
        from agent_journal.usage.periods import current_slot, parse_zone  # noqa: PLC0415
        from agent_journal.usage.reporting import build_report  # noqa: PLC0415

        zone, now = parse_zone(timezone), current_slot()
        return build_report(
            self._archive.store, self._config, by, wanted, zone=zone, now=now, estimate=estimate
        )

    def close(self) -> None:
        """Let go of the files."""
        if self._searching is not None:
            self._searching.close()
        self._archive.close()


def utc_now() -> str:
    """Now, as the ledger has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
