"""Find files that changed since they were imported, that are gone, or that need a re-import."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from agent_journal import discovery, readers
from agent_journal.archive.candidates import ImportCandidate, Result, Stat, is_gone, stat_of
from agent_journal.archive.store import Status
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import as_path, as_text, open_input

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from agent_journal.archive import Archive
    from agent_journal.archive.store import SourceRow, SourceState
    from agent_journal.config import Config
    from agent_journal.notes import Notes
    from agent_journal.readers import Reader, ReaderInfo


_encode = msgspec.msgpack.Encoder().encode


@cache
def _companion_stats_decoder() -> msgspec.msgpack.Decoder[dict[bytes, Stat]]:
    return msgspec.msgpack.Decoder(dict[bytes, Stat])


def existing_projects(archive: Archive) -> list[str]:
    """Return the project folders named by conversations that exist on this machine."""
    return [folder for folder in archive.store.projects() if os.path.isdir(folder)]


def locate_candidates(
    config: Config,
    infos: Iterable[ReaderInfo],
    environ: Mapping[str, str],
    here: str | None,
    *,
    projects: Iterable[str],
    note: Notes,
) -> Iterator[ImportCandidate]:
    """Yield every file and folder that these sources keep conversations in."""
    infos = [*infos]
    excluded = _excluded_readers(config, infos)
    for unit in discovery.units(config, infos, environ, here, note=note, projects=projects):
        if not _is_read_by_any(excluded.get(unit.home, ()), unit.path):
            yield ImportCandidate(
                unit.path, unit.reader, unit.home, Stat(unit.size, unit.mtime_ns, unit.inode)
            )


def _excluded_readers(config: Config, infos: Iterable[ReaderInfo]) -> dict[str, list[Reader]]:
    """Return the readers that are not included, by their default locations."""
    included = {info.name for info in infos if discovery.homes_of(config, info)}
    by_home: dict[str, list[Reader]] = {}
    for reader in readers.discover().values():
        if reader.INFO.name not in included:
            for home in discovery.default_homes(reader.INFO):
                by_home.setdefault(home, []).append(reader)
    return by_home


def _is_read_by_any(candidates: Collection[Reader], path: str) -> bool:
    """Whether one of these readers claims the content; several sources may share a location."""
    if not candidates:
        return False
    try:
        peek = Peek(open_input(path))
        return any(readers.detect(reader, peek) is not None for reader in candidates)
    except UnreadableSource:
        return False  # reading it reports why


class Scan:
    """One pass over the files on disk, compared with the ledger."""

    def __init__(
        self,
        archive: Archive,
        now: str,
        *,
        full: bool = False,
        is_all: bool = True,
        on_unchanged: Callable[[Result], None] | None = None,
    ) -> None:
        self._archive = archive
        self._on_unchanged = on_unchanged
        self._now = now
        self._full = full
        self._is_all = is_all
        self._known = archive.store.ledger() if is_all else {}
        self._seen: set[str] = set()
        self._reimported: set[str] = set()
        self._stats: dict[bytes, Stat] = {}
        self.unchanged = 0

    def changed(self, candidates: Iterable[ImportCandidate]) -> Iterator[ImportCandidate]:
        """Yield the candidates that must be read: new and changed ones, or all of them with `full`."""
        for candidate in candidates:
            path = as_text(candidate.path)
            if path in self._seen:
                continue
            self._seen.add(path)
            known = self._row(path)
            if known is None or self._full or not self._is_unchanged(known, candidate.stat):
                yield candidate
            else:
                self.unchanged += 1
                if self._on_unchanged is not None and path not in self._reimported:
                    self._on_unchanged(self._unchanged_result(path))

    def _unchanged_result(self, path: str) -> Result:
        row = self._archive.store.source(path)
        if row is None:  # cannot happen: it was in the ledger, and this process has the lock
            return Result(source="", file=path, status=Status.UNCHANGED)
        notes = [": ".join(filter(None, (each["where"], each["kind"], each["detail"]))) for each in row.notes]
        return Result(
            source=row.reader,
            file=path,
            status=Status.UNCHANGED,
            conversations=row.conversations,
            messages=row.messages,
            bytes=row.size,
            notes=notes,
        )

    def is_new(self, candidate: ImportCandidate) -> bool:
        """Whether the ledger has no entry for a file."""
        return self._row(as_text(candidate.path)) is None

    def _row(self, path: str) -> SourceState | None:
        known = self._known if self._is_all else self._archive.store.ledger(path)
        return known.get(path)

    def _is_unchanged(self, known: SourceState, current: Stat | None) -> bool:
        if known.stat != _encode(current) or not known.read_at:
            return False
        if known.companion_stats is None:
            return True
        return all(
            self._stat(path) == stat_before
            for path, stat_before in _companion_stats_decoder().decode(known.companion_stats).items()
        )

    def _stat(self, path: bytes) -> Stat:
        """Return the stat of a companion; companions shared by many files are looked up once."""
        if path not in self._stats:
            self._stats[path] = stat_of(os.fsdecode(path))
        return self._stats[path]

    def mark_missing(self) -> int:
        """Record which files are gone and which are back; return how many are gone."""
        gone = [
            known.key
            for path, known in self._known.items()
            if known.home
            and path not in self._seen
            and known.missing_since is None
            and known.status != Status.FORGOTTEN  # nothing of it is stored
            and is_gone(path)
            and is_gone(as_path(path))
        ]
        back = [
            known.key for path, known in self._known.items() if known.missing_since and path in self._seen
        ]
        if gone or back:
            with self._archive.store.transaction():
                self._archive.store.mark_missing(gone, self._now)
                self._archive.store.mark_missing(back, None)
        return len(gone)

    def outdated(self) -> list[SourceRow]:
        """Return the sources read by an earlier revision of their reader, which need a re-import."""
        known = readers.discover()
        revisions = {name: reader.INFO.revision for name, reader in known.items()}
        rows = self._archive.store.outdated(revisions)
        self._reimported = {row.path for row in rows}
        return rows
