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
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import Found, Result
    from agent_journal.archive.importing import Importer
    from agent_journal.archive.media import KeptMedia
    from agent_journal.archive.native_content import Exactly
    from agent_journal.archive.repairing import Healed, Outcome
    from agent_journal.archive.salvage import Sound
    from agent_journal.archive.store import Change, Filter, Listed
    from agent_journal.archive.syncing import Scan
    from agent_journal.config import Config
    from agent_journal.journal import embeddings
    from agent_journal.journal.search import Answer, Mode, Searching
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
    found: Callable[[Archive], Iterable[Found]],
    done: Callable[[Result], None],
    *,
    full: bool = False,
    is_all: bool = True,
    make: bool = True,
    begun: Callable[[int, int], None] | None = None,
    unchanged: Callable[[Result], None] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Summary:
    """Import what is new or changed of the files that are found; `begun` is told how many, and their bytes.

    `done` is told of each that was read, `unchanged` of each that is as it was.

    If these are all that there are, those that are gone are marked, and what an older revision of a reader
    read is read again from the vault.
    """
    from agent_journal.archive.syncing import Scan  # noqa: PLC0415 (who searches needs none of it)

    now = moment()
    with (
        archive.open_to_write(config.home, waiting=waiting, make=make) as kept,
        _finishing_erasure(kept, config),
    ):
        scan = Scan(kept, now, full=full, is_all=is_all, unchanged=unchanged)
        outdated = scan.outdated() if is_all else []
        changed = sorted(scan.changed(found(kept)), key=_by_age)
        with index_upkeep.Indexer(kept, config) as indexer:
            if begun is not None:
                sizes = [*(each.size for each in changed), *(row.size for row in outdated)]
                begun(len(sizes), sum(sizes))
            if changed or outdated:  # else nothing that imports need be loaded
                largest = _largest_media(config)
                with _importer(kept, now, indexer.take, done, largest_media=largest, heals=full) as importer:
                    for row in outdated:
                        importer.again(row)
                    reports = str(config.home / crash_reports.FOLDER)
                    _take_all(importer, scan, changed, now, largest_media=largest, reports=reports)
            missing = scan.mark_missing() if is_all else 0
        return Summary(scan.unchanged, missing, len(outdated))


def _by_age(found: Found) -> tuple[str, int]:
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

    return Importer(kept, now, changed, done, from_format, largest_media=largest_media, heals=heals)


def _largest_media(config: Config) -> int | None:
    """Up to how many bytes pictures, sounds and documents are kept; None if all are, 0 if none is."""
    storage = config.storage
    return {"none": 0, "small": storage.media_max_mb * 10**6, "all": None}[storage.media]


def _take_all(
    importer: Importer, scan: Scan, changed: list[Found], now: str, *, largest_media: int | None, reports: str
) -> None:
    """Import changed files; many new ones are read by a second process meanwhile."""
    from agent_journal.archive import worker  # noqa: PLC0415 (only if there is something to import)

    new = [
        each
        for each in changed
        if scan.is_new(each) and each.size <= worker.LARGEST and each.path.isprintable()
    ]
    if sum(each.size for each in new) >= _MUCH and (os.cpu_count() or 1) > 1:
        for each, prepared in worker.prepared(new, now, largest_media, reports):
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
    found: Iterable[Found],
    done: Callable[[Result], None],
    *,
    from_format: str | None = None,
    note: Notes | None = None,
    is_refused: Callable[[str], bool] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> None:
    """Import files that a person names, imported before or not; of folders what is in them.

    `is_refused` tells of what is in a folder whether it must not be looked at.
    """
    from agent_journal.archive import folders  # noqa: PLC0415 (asks all readers)
    from agent_journal.notes import Notes  # noqa: PLC0415

    with (
        archive.open_to_write(config.home, waiting=waiting) as kept,
        _finishing_erasure(kept, config),
        index_upkeep.Indexer(kept, config) as indexer,
        _importer(
            kept,
            moment(),
            indexer.take,
            done,
            from_format,
            largest_media=_largest_media(config),
            heals=True,
        ) as importer,
    ):
        for each in folders.expanded(found, note or Notes(), from_format, is_refused):
            importer.take(each)


def finish_erasing(kept: Archive, config: Config, told: Callable[[int, int], None] | None = None) -> int:
    """Erase what is forgotten and still lies somewhere; how many bytes of the vault that gave back.

    That may be the rest of what a killed process began, or come with a file that holds other things too.
    """
    erasing = kept.store.erasing()
    if erasing is None:
        return 0
    from agent_journal.archive import forgetting  # noqa: PLC0415 (seldom)
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    freed, failures = forgetting.finish(kept)
    if erasing.rows:
        # Words of what was removed would stay in the index's files for a while.
        steps: list[Callable[[], None]] = [
            kept.store.compact,
            lambda: index_upkeep.rebuild(kept, config, told),
            lambda: embeddings.erase(kept, config),
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
    with kept.store.transaction():
        kept.store.set_erasing(None)
    return freed


@contextmanager
def _finishing_erasure(kept: Archive, config: Config) -> Iterator[None]:
    """Finish what an earlier process began to erase, before and after something else.

    What cannot be erased now keeps nobody from what is done inside; it is told at the end.
    """
    with suppress(UnfinishedErasure):
        finish_erasing(kept, config)
    yield
    finish_erasing(kept, config)


def finish_forgetting(config: Config) -> bool:
    """Finish what an earlier `forget` began and could not end; whether there was such a thing.

    Raises UnfinishedErasure if it still cannot be ended, ArchiveInUse if another process is at it.
    """
    with archive.open_to_read(config.home) as kept:
        if kept.store.erasing() is None:
            return False
    with archive.open_to_write(config.home, wait=0, make=False) as kept:
        finish_erasing(kept, config)
    return True


def forget(
    config: Config,
    keys: Callable[[Archive], list[int]],
    told: Callable[[int, int], None] | None = None,
    *,
    memories: bool = False,
    names: Iterable[str] = (),
) -> tuple[int, int]:
    """Erase conversations from rows, vault and index; how many, and how many bytes of the vault went.

    With `memories` all of those go, too. `told` is given how many entries the new index has, and how many
    there are. Raises UnfinishedErasure if they are forgotten, and still in some file: `finish_forgetting`
    goes on with that, and whoever asks for the same `names` again is told so.
    """
    from agent_journal.archive import forgetting  # noqa: PLC0415

    with archive.open_to_write(config.home) as kept:
        wanted = keys(kept)
        forgetting.forget(kept, wanted, moment(), memories=memories, names=names)
        return len(wanted), finish_erasing(kept, config, told)


def reindex(
    config: Config,
    *,
    from_vault: bool = False,
    done: Callable[[Result], None],
    told: Callable[[int, int], None] | None = None,
) -> None:
    """Make the index anew from the rows; before that, if asked for, read everything in the vault again."""
    with archive.open_to_write(config.home) as kept, _finishing_erasure(kept, config):
        if from_vault:
            with _importer(kept, moment(), lambda _: None, done) as importer:
                for row in list(kept.store.sources()):
                    importer.again(row)
        index_upkeep.rebuild(kept, config, told)


def repair(
    config: Config,
    backup: Path | None = None,
    *,
    gives_up: bool = False,
    told: Callable[[str], None] | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Outcome:
    """Heal what is damaged in rows and vault from the sources, from a backup and from each other.

    With `gives_up` the journal does without what is nowhere else. An index that is damaged is made anew.
    """
    from agent_journal.archive import repairing  # noqa: PLC0415 (seldom)

    try:
        return _repaired(config, backup, gives_up=gives_up, told=told, waiting=waiting)
    except (UnusableArchive, DamagedArchive) as error:
        # A journal may also be of a newer version, or of another machine: then nothing is wrong with it.
        is_damaged = DamagedArchive in {type(error), type(error.__cause__)} or repairing.has_no_rows(
            config.home
        )
        if backup is None or not is_damaged:
            raise
        restored = repairing.restore_rows(config.home, backup)
    outcome = _repaired(config, backup, gives_up=gives_up, told=told, waiting=waiting)
    return outcome._replace(healed=[*restored, *outcome.healed])


def _repaired(
    config: Config,
    backup: Path | None,
    *,
    gives_up: bool,
    told: Callable[[str], None] | None,
    waiting: Callable[[str], None] | None,
) -> Outcome:
    from agent_journal.archive.repairing import Repairing  # noqa: PLC0415 (seldom)

    with (
        archive.open_to_write(config.home, waiting=waiting, make=False) as kept,
        archive.open_as_it_is(backup) if backup is not None else nullcontext() as copy,
        _finishing_erasure(kept, config),
    ):
        repairing = Repairing(kept, moment(), told or (lambda _: None))
        outcome = repairing.run(
            copy, gives_up=gives_up, reimport=lambda found: _import_again(kept, config, found)
        )
        if backup is not None and kept.store.is_damaged():
            raise DamagedArchive(str(config.home / archive.DATABASE), "the database is damaged")
        if index_upkeep.fit(kept, config).problems:
            index_upkeep.rebuild(kept, config)
            outcome.healed.append(index_made_anew(config))
        return outcome


def _import_again(kept: Archive, config: Config, found: list[Found]) -> None:
    with (
        index_upkeep.Indexer(kept, config) as indexer,
        _importer(
            kept, moment(), indexer.take, lambda _: None, largest_media=_largest_media(config), heals=True
        ) as importer,
    ):
        for each in found:
            importer.take(each)


def index_made_anew(config: Config) -> Healed:
    """What is told of an index that was damaged."""
    from agent_journal.archive.repairing import Healed  # noqa: PLC0415 (seldom)

    return Healed(
        str(config.storage.index_path), "the search index was damaged, and made again from the rows"
    )


def mend(config: Config, *, anew: bool) -> bool:
    """Bring the index up to the rows, or make it anew; whether nobody else was writing and that was done."""
    try:
        with archive.open_to_write(config.home, wait=0, make=False) as kept:
            if anew:
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
    anew: bool = False,
    seconds: float | None = None,
    told: Callable[[int, int], None] | None = None,
) -> embeddings.State:
    """Give vectors to all that has none yet, newest first, for so many seconds at most; how far they are.

    `anew` begins with none. Raises ArchiveInUse if another process is at it.
    """
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as kept:
        model, trouble = embeddings.chosen(config)
        if config.index.vector.enabled and model is not None:
            embedder = embeddings.Embedder(kept, config, model)
            embedder.run(seconds=seconds, told=told, wait=_A_SEARCH, anew=anew)
        state = embeddings.state(kept, config)
        return state._replace(problem=state.problem or trouble)


def embed_in_background(config: Config) -> bool:
    """Let another process give vectors to what has none, if that is much; whether one is at it."""
    if not (config.index.vector.enabled and config.index.vector.background):
        return False
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as kept:
        return embeddings.in_background(kept, config)


def disk(config: Config) -> dict[str, int]:
    """How many bytes the parts of a journal take."""
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    return {
        "rows": _bytes_in(config.home / archive.DATABASE),
        "vault": _bytes_in(config.home / archive.VAULT),
        "index": _bytes_in(config.storage.index_path),
        "vectors": _bytes_in(embeddings.folder(config)),
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
        self._searching: Searching | None = None
        self._exact: Exactly | None = None
        self._sound: Sound | None = None
        self._media: KeptMedia | None = None

    def conversations(self, wanted: Filter | None = None) -> Iterator[Listed]:
        """What there is, newest first."""
        from agent_journal.archive.store import Filter  # noqa: PLC0415

        return self._archive.store.conversations(wanted or Filter())

    def conversation(self, name: str, *, exact: bool = False) -> Conversation:
        """A conversation by its id, or by the beginning of it if that is enough.

        With `exact` its messages have the source's own form too, for writers that promise it.
        """
        return self.read(self._archive.one(name), exact=exact)

    def one(self, name: str) -> Listed:
        """The conversation that a person means by an id or the beginning of one, as lists have it."""
        return self._archive.one(name)

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
        return self._kept_media().filled(listed.key, found) if media else found

    def damage(self, listed: Listed, *, exact: bool = False) -> list[tuple[str, bool]]:
        """What is to be said of damage that was met when a conversation was read last, as `read` was asked.

        In words, and whether something is missing for it.
        """
        told = [(str(each), each.missing > 0) for each in self._soundly().told()]
        for error in self._exactly().damage(listed.key) if exact else ():
            why = f"{error.where}: {error.reason}; what the source itself said is as the rows have it"
            told.append((why, True))
        return told

    def _soundly(self) -> Sound:
        if self._sound is None:
            from agent_journal.archive.salvage import Sound  # noqa: PLC0415 (who searches needs none of it)

            self._sound = Sound(self._archive)
        return self._sound

    def media(self, name: str, media: Media) -> bytes | None:
        """The bytes of a picture, sound or document in a conversation; None if they were not kept."""
        return self._kept_media().brought_back(self._archive.one(name).key, media)

    def _exactly(self) -> Exactly:
        if self._exact is None:
            from agent_journal.archive.native_content import Exactly  # noqa: PLC0415 (seldom)

            self._exact = Exactly(self._archive, self._soundly())
        return self._exact

    def _kept_media(self) -> KeptMedia:
        if self._media is None:
            from agent_journal.archive.media import KeptMedia  # noqa: PLC0415 (seldom)

            self._media = KeptMedia(self._archive)
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
        from agent_journal.journal.search import MODES, Page, Searching  # noqa: PLC0415
        from agent_journal.search.query import Filters, parse  # noqa: PLC0415 (who syncs needs none of it)

        if isinstance(query, str):
            query = parse(query, filters or Filters(), time.time())
        elif filters is not None:
            query = query._replace(filters=query.filters + filters)
        if strict or query.strict:
            query = query._replace(strict=True, enough=None)
        mode = mode or self._config.search.default_mode
        if mode not in MODES:
            raise NoSuchName("mode of search", mode, MODES)
        if self._searching is None:
            self._searching = Searching(self._archive, self._config)
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
        from agent_journal.usage.periods import this_slot, zone_of  # noqa: PLC0415
        from agent_journal.usage.reporting import report  # noqa: PLC0415

        zone, now = zone_of(timezone), this_slot()
        return report(self._archive.store, self._config, by, wanted, zone=zone, now=now, estimate=estimate)

    def close(self) -> None:
        """Let go of the files."""
        if self._searching is not None:
            self._searching.close()
        self._archive.close()


def moment() -> str:
    """Now, as the ledger has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
