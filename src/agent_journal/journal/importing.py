"""Bring conversations into a journal: sync what discovery knows, import what a user names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from agent_journal import archive, crash_reports
from agent_journal.journal import index_upkeep
from agent_journal.journal.clock import utc_now
from agent_journal.journal.erasing import finishing_erasure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate, Result
    from agent_journal.archive.importing import Importer
    from agent_journal.archive.store import Change
    from agent_journal.archive.syncing import Scan
    from agent_journal.config import Config
    from agent_journal.notes import Notes
    from agent_journal.readers import ReaderInfo

# A second process takes a third of a second to start, which pays off for this much input.
_WORKER_MIN_BYTES = 32 << 20


class Summary(NamedTuple):
    """What a sync did."""

    unchanged: int
    missing: int
    read_again: int

    def to_dict(self) -> dict[str, int]:
        """Return this as JSON values."""
        return self._asdict()


def sync(
    config: Config,
    find_candidates: Callable[[Archive], Iterable[ImportCandidate]],
    on_result: Callable[[Result], None],
    *,
    full: bool = False,
    is_all: bool = True,
    create: bool = True,
    on_start: Callable[[int, int], None] | None = None,
    on_unchanged: Callable[[Result], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> Summary:
    """Import new and changed files among the candidates.

    `on_start` gets the number of files to read and their bytes, `on_result` each file that was read, and
    `on_unchanged` each file that did not change.

    If the candidates are all that exist (`is_all`), files that are gone are marked as missing, and what an
    older revision of a reader read is re-imported from the vault.
    """
    from agent_journal.archive.syncing import Scan  # noqa: PLC0415 (a search does not need it)

    now = utc_now()
    with (
        archive.open_to_write(config.home, on_wait=on_wait, create=create) as opened,
        finishing_erasure(opened, config),
    ):
        scan = Scan(opened, now, full=full, is_all=is_all, on_unchanged=on_unchanged)
        outdated = scan.outdated() if is_all else []
        changed = sorted(scan.changed(find_candidates(opened)), key=_by_source_and_age)
        with index_upkeep.Indexer(opened, config) as indexer:
            if on_start is not None:
                sizes = [*(each.size for each in changed), *(row.size for row in outdated)]
                on_start(len(sizes), sum(sizes))
            if changed or outdated:  # otherwise nothing that imports has to be loaded
                largest = largest_media(config)
                with importer(
                    opened, now, indexer.apply, on_result, largest_media=largest, repairs_rows=full
                ) as running:
                    for row in outdated:
                        running.reimport(row)
                    reports = str(config.home / crash_reports.FOLDER)
                    _take_all(running, scan, changed, now, largest_media=largest, reports=reports)
            missing = scan.mark_missing() if is_all else 0
        return Summary(scan.unchanged, missing, len(outdated))


def find_candidates(
    config: Config, archive: Archive, infos: Sequence[ReaderInfo], note: Notes
) -> Iterator[ImportCandidate]:
    """Yield every file and folder on this machine with conversations of these sources."""
    from agent_journal import discovery  # noqa: PLC0415 (an import does not need it)
    from agent_journal.archive.syncing import existing_projects, locate_candidates  # noqa: PLC0415

    here = discovery.here()
    return locate_candidates(config, infos, os.environ, here, projects=existing_projects(archive), note=note)


def infos_of(sources: Iterable[str]) -> list[ReaderInfo]:
    """Return the readers of sources, or all."""
    from agent_journal import readers  # noqa: PLC0415 (slow to import)

    named = [readers.named(name).INFO for name in sources]
    return named or [each.INFO for each in readers.discover().values()]


def absolute_candidate(path: str) -> ImportCandidate:
    """Return a path that a user named as the ledger stores it."""
    from agent_journal.archive.candidates import ImportCandidate  # noqa: PLC0415
    from agent_journal.inputs.input import is_address  # noqa: PLC0415

    return ImportCandidate(path if path == "-" or is_address(path) else os.path.abspath(path))  # noqa: PTH100


def _by_source_and_age(candidate: ImportCandidate) -> tuple[str, int]:
    """Order by source, and within a source by time, oldest first.

    Messages of the same days get adjacent keys and are close to each other in the index, so that searching
    the newest is cheap, however many there are.
    """
    return candidate.reader, candidate.stat.mtime_ns if candidate.stat else 0


def importer(
    opened: Archive,
    now: str,
    on_change: Callable[[Change], None],
    on_result: Callable[[Result], None],
    from_format: str | None = None,
    *,
    largest_media: int | None = 0,
    repairs_rows: bool = False,
) -> Importer:
    """Return an importer into an archive that is open for writing."""
    from agent_journal.archive.importing import Importer  # noqa: PLC0415 (slow to import)

    return Importer(
        opened,
        now,
        on_change,
        on_result,
        from_format,
        largest_media=largest_media,
        repairs_rows=repairs_rows,
    )


def largest_media(config: Config) -> int | None:
    """Return the size in bytes up to which images, sounds and documents are stored; None: all, 0: none."""
    storage = config.storage
    return {"none": 0, "small": storage.media_max_mb * 10**6, "all": None}[storage.media]


def _take_all(
    running: Importer,
    scan: Scan,
    changed: list[ImportCandidate],
    now: str,
    *,
    largest_media: int | None,
    reports: str,
) -> None:
    """Import changed files; if many are new, a second process reads them meanwhile."""
    from agent_journal.archive import worker  # noqa: PLC0415 (only if there is something to import)

    new = [
        each
        for each in changed
        if scan.is_new(each) and each.size <= worker.MAX_WORKER_FILE_BYTES and each.path.isprintable()
    ]
    if sum(each.size for each in new) >= _WORKER_MIN_BYTES and (os.cpu_count() or 1) > 1:
        for each, prepared in worker.prepare(new, now, largest_media, reports):
            if prepared is None:
                running.take(each)
            else:
                running.take_prepared(prepared)
        taken = set(new)
        changed = [each for each in changed if each not in taken]
    for each in changed:
        running.take(each)


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
    """Import files that a user names, whether they were imported before or not; of folders, their contents.

    `is_refused` says whether something in a folder must not be read.
    """
    from agent_journal.archive import folders  # noqa: PLC0415 (imports all readers)
    from agent_journal.notes import Notes  # noqa: PLC0415

    with (
        archive.open_to_write(config.home, on_wait=on_wait) as opened,
        finishing_erasure(opened, config),
        index_upkeep.Indexer(opened, config) as indexer,
        importer(
            opened,
            utc_now(),
            indexer.apply,
            on_result,
            from_format,
            largest_media=largest_media(config),
            repairs_rows=True,
        ) as running,
    ):
        for each in folders.expand_folders(candidates, note or Notes(), from_format, is_refused):
            running.take(each)
