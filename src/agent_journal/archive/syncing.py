"""Which files have changed since they were imported, which are gone, and which must be read again."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from agent_journal import discovery, readers
from agent_journal.archive.candidates import Found, Result, Stat, is_gone, stat_of
from agent_journal.archive.store import Status
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import as_path, as_text, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Known, SourceRow
    from agent_journal.config import Config
    from agent_journal.notes import Notes
    from agent_journal.readers import Reader, ReaderInfo


_encode = msgspec.msgpack.Encoder().encode


@cache
def _beside() -> msgspec.msgpack.Decoder[dict[bytes, Stat]]:
    return msgspec.msgpack.Decoder(dict[bytes, Stat])


def projects_of(archive: Archive) -> list[str]:
    """The folders that conversations name as their projects, those that are there."""
    return [folder for folder in archive.store.projects() if os.path.isdir(folder)]


def located(
    config: Config,
    infos: Iterable[ReaderInfo],
    environ: Mapping[str, str],
    here: str | None,
    *,
    projects: Iterable[str],
    note: Notes,
) -> Iterator[Found]:
    """Every file and folder where these sources keep their histories."""
    infos = [*infos]
    others = _left_out(config, infos)
    for unit in discovery.units(config, infos, environ, here, note=note, projects=projects):
        if not _is_of(others.get(unit.home, ()), unit.path):
            yield Found(unit.path, unit.reader, unit.home, Stat(unit.size, unit.mtime_ns, unit.inode))


def _left_out(config: Config, infos: Iterable[ReaderInfo]) -> dict[str, list[Reader]]:
    """Sources that are not to be looked at, by where they lie if nothing is settled."""
    wanted = {info.name for info in infos if discovery.homes_of(config, info)}
    found: dict[str, list[Reader]] = {}
    for reader in readers.discover().values():
        if reader.INFO.name not in wanted:
            for home in discovery.usual_homes(reader.INFO):
                found.setdefault(home, []).append(reader)
    return found


def _is_of(others: Collection[Reader], path: str) -> bool:
    """Whether something is of one of these sources: of what lies where several look the content tells."""
    if not others:
        return False
    try:
        peek = Peek(open_source(path))
        return any(readers.detect(reader, peek) is not None for reader in others)
    except UnreadableSource:
        return False  # whoever reads it tells why


class Scan:
    """One look at the disk, compared with what the archive knows."""

    def __init__(
        self,
        archive: Archive,
        now: str,
        *,
        full: bool = False,
        is_all: bool = True,
        unchanged: Callable[[Result], None] | None = None,
    ) -> None:
        self._archive = archive
        self._tell_unchanged = unchanged
        self._now = now
        self._full = full
        self._is_all = is_all
        self._known = archive.store.ledger() if is_all else {}
        self._seen: set[str] = set()
        self._read_again: set[str] = set()
        self._stats: dict[bytes, Stat] = {}
        self.unchanged = 0

    def changed(self, found: Iterable[Found]) -> Iterator[Found]:
        """Those of the found files that must be read: new ones, changed ones; with `full` all of them."""
        for each in found:
            path = as_text(each.path)
            if path in self._seen:
                continue
            self._seen.add(path)
            known = self._row(path)
            if known is None or self._full or not self._is_as_it_was(known, each.stat):
                yield each
            else:
                self.unchanged += 1
                if self._tell_unchanged is not None and path not in self._read_again:
                    self._tell_unchanged(self._as_it_is(path))

    def _as_it_is(self, path: str) -> Result:
        row = self._archive.store.source(path)
        if row is None:  # it was in the ledger a moment ago, and nobody else may write
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

    def is_new(self, found: Found) -> bool:
        """Whether the archive knows nothing of a file."""
        return self._row(as_text(found.path)) is None

    def _row(self, path: str) -> Known | None:
        known = self._known if self._is_all else self._archive.store.ledger(path)
        return known.get(path)

    def _is_as_it_was(self, known: Known, stat: Stat | None) -> bool:
        if known.stat != _encode(stat) or not known.read_at:
            return False
        if known.beside is None:
            return True
        return all(self._stat(place) == before for place, before in _beside().decode(known.beside).items())

    def _stat(self, place: bytes) -> Stat:
        """What lies beside many files is looked at once."""
        if place not in self._stats:
            self._stats[place] = stat_of(os.fsdecode(place))
        return self._stats[place]

    def mark_missing(self) -> int:
        """Say of each file that is gone since when, and of each that is back; how many are gone."""
        gone = [
            known.key
            for path, known in self._known.items()
            if known.home
            and path not in self._seen
            and known.missing_since is None
            and known.status != Status.FORGOTTEN  # of which nothing is kept
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
        """Sources that an earlier revision of their reader read: they are read again from the vault."""
        known = readers.discover()
        revisions = {name: reader.INFO.revision for name, reader in known.items()}
        rows = self._archive.store.outdated(revisions)
        self._read_again = {row.path for row in rows}
        return rows
