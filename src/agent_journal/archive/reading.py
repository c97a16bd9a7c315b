"""A source on its way into the archive: its units are told, kept and read; no rows are written here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from agent_journal import readers
from agent_journal.archive import media
from agent_journal.archive.candidates import Found, Stat, stat_of
from agent_journal.archive.recording import Keeping, Kept, sizes_in
from agent_journal.archive.rows import Row, row_of
from agent_journal.archive.store import Snapshot, SourceRow, Status
from agent_journal.conversion import pipeline
from agent_journal.conversion.pipeline import Unit
from agent_journal.detection.peek import Peek
from agent_journal.errors import (
    AgentJournalError,
    AmbiguousFormat,
    DamagedArchive,
    UnknownFormat,
    UnreadableSource,
)
from agent_journal.inputs.input import File, Stdin, as_text, files_below, open_source, opened
from agent_journal.model import Memory
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent_journal.archive.manifest import Manifest
    from agent_journal.archive.vault import Vault
    from agent_journal.crash_reports import CrashReports
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Note

_MOST_NOTES = 50
_NOTHING_READ = {Status.UNREADABLE, Status.UNKNOWN, Status.PENDING}
_NOT_READ = {Kind.UNREADABLE_FILE.label, Kind.READER_ERROR.label}
# What is told of files that no reader got to see.
_SKIPPED = {Kind.UNKNOWN_FILE.label, Kind.UNREADABLE_FILE.label}
# A last line that is still being written is no damage: it is read when it is whole.
_DAMAGE = {kind.label for kind in Kind if kind.damage and kind is not Kind.TORN_TAIL}


class Read(msgspec.Struct):
    """A source that was read: its account, and what it consisted of."""

    row: SourceRow
    snapshots: list[Snapshot]
    notes: list[str]
    is_again: bool = False
    grown: list[str] = []
    """Units that hold every byte of their snapshot before, and perhaps more behind it."""
    partial: list[str] = []
    """Units at which an unforeseen error stopped the reader, and which it had read whole before."""
    problems: dict[str, str] = {}
    """What is wrong with readers, as `plugins.problems` has it; a second process tells it so."""


class Reading:
    """Reads one source. `items` gives what is in it; when they are all taken, `read` is its account."""

    def __init__(
        self,
        vault: Vault,
        now: str,
        from_format: str | None = None,
        known: Mapping[str, Snapshot] | None = None,
        *,
        largest_media: int | None = 0,
        reports: CrashReports | None = None,
    ) -> None:
        self._vault = vault
        self._reports = reports
        self._now = now
        self._from_format = from_format
        self._known = known or {}
        self._largest_media = largest_media
        self._sizes: dict[str, int] = {}
        self.has_failed = False
        """Whether a unit of what was read again could not be read to its end."""
        self.read = Read(SourceRow(path=""), [], [])

    def items(self, found: Found, before: SourceRow | None = None) -> Iterator[tuple[Item, list[Row]]]:
        """Everything in a source with its rows."""
        stat = found.stat or stat_of(found.path)
        home = found.home or (before.home if before else "")
        path = as_text(found.path)
        row = SourceRow(path=path, home=home, reader=found.reader, stat=stat, size=stat.size)
        row.key = before.key if before else 0
        self.read = Read(row, [], [])
        note = Notes(found.path, keep=_MOST_NOTES, reports=self._reports)
        has_come = False
        try:
            for unit in self._units(found, note):
                for item in self._unit(unit, note):
                    has_come = True
                    yield item
            if not has_come and note.damaged:
                _wait_if_unfinished(open_source(found.path), found)
        except (UnreadableSource, DamagedArchive) as error:
            row.status = Status.UNREADABLE
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
            if isinstance(error.__cause__, OSError):
                row.stat = Stat()  # the next time it may be readable, and look the same
        except _Unfinished:
            row.status = Status.PENDING
            note = Notes(found.path)  # what a reader made of the beginning of a record is of no use
            note.add(Kind.TORN_TAIL, found.path, "", "its first record is still being written")
        except (UnknownFormat, AmbiguousFormat) as error:
            row.status = Status.UNREADABLE if note.failures else Status.UNKNOWN
            where = error.where if found.path == "-" else found.path
            note.add(Kind.UNKNOWN_FILE, where, "", getattr(error, "reason", str(error)))
        except AgentJournalError:
            raise  # of the journal, not of the file
        except Exception as error:  # noqa: BLE001 (it costs this source, not the others)
            row.status = Status.PARTLY if has_come else Status.UNREADABLE
            note.failed(error, found.path, row.reader or "unknown")
        if os.path.isdir(found.path):
            _count_skipped(row, note)
        if note.failures:
            row.stat = Stat()  # the next time it may be readable, and look the same
        self._settle(note)

    def again(self, row: SourceRow, units: list[tuple[Snapshot, Source]]) -> Iterator[tuple[Item, list[Row]]]:
        """Everything in a source as it was kept, read by the reader as it is now."""
        self.read = Read(row, [], [], is_again=True)
        note = Notes(row.path, keep=_MOST_NOTES, reports=self._reports)
        for snapshot, source in units:
            reader = readers.get(snapshot.reader)
            yield from self._rows_of(Unit(source, reader, snapshot.version), snapshot.manifest, note)
            revision = reader.INFO.revision
            self.read.snapshots.append(msgspec.structs.replace(snapshot, revision=revision))
        self.has_failed = Kind.UNREADABLE_FILE in note.counts or bool(note.failures)
        if note.failures:
            row.stat = Stat()  # if it is still there, it is tried again
        if row.status == Status.UNREADABLE and any(
            each["kind"] == Kind.READER_ERROR.label for each in row.notes
        ):
            row.status = Status.IMPORTED  # its reader failed then, and the vault has all of it
        if row.status not in _NOTHING_READ:  # else the vault has what it was before
            self._settle_again(note, {as_text(source.label) for _, source in units})

    def _units(self, found: Found, note: Notes) -> Iterator[Unit]:
        if found.path == "-":  # which has no size before it is read
            given = Stdin()
            row = self.read.row
            row.stat, row.size = Stat(given.size), given.size
            source = opened(given)
        else:
            source = open_source(found.path)
        if not source.is_folder and self._from_format is None:
            if found.home and _is_empty(source):
                return  # it was only begun
            unit = _expected(source, found.reader, note)
            if unit is not None:
                yield unit
                return
        _wait_if_unfinished(source, found)
        yield from pipeline.units_of(source, note, self._from_format)

    def _unit(self, unit: Unit, note: Notes) -> Iterator[tuple[Item, list[Row]]]:
        row = self.read.row
        before = self._known.get(as_text(unit.source.path))
        keeping = Keeping(self._vault, before.manifest if before else None)
        info = unit.reader.INFO
        row.reader = info.name
        kept = Unit(Kept(unit.source, keeping), unit.reader, unit.version)
        refs: list[str] = []
        failures = len(note.failures)
        for item, rows in self._rows_of(kept, keeping.manifest, note):
            if self._largest_media != 0 and not unit.source.is_folder:
                refs.extend(media.named(item))
            yield item, rows
        if self._largest_media != 0:
            media.keep(unit.source, refs, keeping, self._largest_media, note)
        row.beside.update(
            {place: stat for place, stat in keeping.beside.items() if as_text(place) != row.path}
        )
        if keeping.has_only_grown:
            self.read.grown.append(as_text(unit.source.path))
        row.size = self._size(unit.source, keeping.manifest)
        keeping.manifest.is_partial = len(note.failures) > failures
        if keeping.manifest.is_partial and before is not None and not before.manifest.is_partial:
            self.read.partial.append(as_text(unit.source.path))
        self.read.snapshots.append(
            Snapshot(
                source=row.key,
                unit=as_text(unit.source.path),
                number=before.number if before else 1,
                reader=info.name,
                version=unit.version,
                revision=info.revision,
                taken_at=self._now,
                manifest=keeping.manifest,
            )
        )

    def _rows_of(self, unit: Unit, manifest: Manifest, note: Notes) -> Iterator[tuple[Item, list[Row]]]:
        is_read = False
        try:
            for item in pipeline.read_unit(unit, note):
                rows = [] if isinstance(item, Memory) else [row_of(entry) for entry in item.timeline]
                is_read = True
                yield item, rows
        except AgentJournalError:
            raise
        except Exception as error:  # noqa: BLE001 (an item of which no rows can be made)
            note.failed(error, unit.source.label, unit.reader.INFO.name, unit.version)
        if not is_read and any(_is_about(each, unit.source.label) for each in note.kept):
            # None of its bytes came through.
            sizes = [file.size for file in manifest.files.values()]
            if any(answers and not answers[0].sql for answers in manifest.databases.values()):
                self.read.row.stat = Stat()  # held by another program, or no room for a copy of it
            note.lost_bytes[unit.source.label] = sum(sizes) if sizes else self.read.row.size

    def _size(self, source: Source, manifest: Manifest) -> int:
        """How many bytes were read: of a file as it lies, of a folder of all that was asked for in it."""
        row = self.read.row
        if as_text(source.label) == row.path and isinstance(source, File):
            return manifest.files[""].size if "" in manifest.files else row.stat.size
        if not os.path.isdir(row.path):  # something packed is counted as it lies
            return row.stat.size
        # Units share what lies beside them.
        new = {place: size for place, size in sizes_in(manifest).items() if place not in self._sizes}
        before = row.size if self.read.snapshots else 0
        self._sizes |= new
        return before + sum(new.values())

    def _settle(self, note: Notes) -> None:
        """Whatever of a file did not come through is named and counted; the rest came through."""
        row = self.read.row
        if row.status in _NOTHING_READ:
            row.defects = row.size
        else:
            damage = any(kind.label in _DAMAGE for kind in note.counts)
            row.defects = min(row.size, sum(note.lost_bytes.values()))
            row.status = Status.PARTLY if damage else Status.IMPORTED
            if damage and row.size and row.defects == row.size:
                row.status = Status.UNREADABLE
        row.read_at = self._now
        # Why something is missing is told before all that is merely odd.
        kept = sorted(note.kept, key=lambda each: each.kind not in _DAMAGE)[:_MOST_NOTES]
        row.notes = [
            {"kind": each.kind, "file": as_text(each.file), "where": each.where, "detail": each.detail}
            for each in kept
        ]
        self.read.notes = [as_text(str(each)) for each in kept]

    def _settle_again(self, note: Notes, units: set[str]) -> None:
        """The same for what was read from the vault: what was skipped on the way to it stays told."""
        row = self.read.row
        told, defects = row.notes, row.defects
        self._settle(note)
        skipped = [] if row.path in units else [each for each in told if each["kind"] in _SKIPPED]
        if skipped:
            row.notes += [each for each in skipped if each not in row.notes]
            row.status, row.defects = Status.PARTLY, defects


def _is_about(note: Note, label: str) -> bool:
    """Whether a note says that a whole file could not be read."""
    return note.kind in _NOT_READ and note.file == label


def _count_skipped(row: SourceRow, note: Notes) -> None:
    """Files in a folder that nobody reads belong to its account too."""
    for each in note.kept:
        if each.kind in _SKIPPED and each.file != row.path and not note.lost_bytes[each.file]:
            note.lost_bytes[each.file] = size = stat_of(each.file).size
            row.size += size


def _expected(source: Source, name: str, note: Notes) -> Unit | None:
    """The unit, if whoever keeps such files in such a place claims it; others are not asked then."""
    if not name:
        return None
    reader, peek = readers.get(name), Peek(source)
    version = readers.detect(reader, peek)
    if peek.failures:  # whoever else claimed it would take it for something else
        _, error = peek.failures[0]
        pipeline.note_failures(peek, note, is_claimed=False)
        raise UnknownFormat(source.label, f"its reader failed ({type(error).__name__})", 1) from error
    return None if version is None else Unit(source, reader, version)


class _Unfinished(Exception):
    """Nothing is whole yet."""


def _wait_if_unfinished(source: Source, found: Found) -> None:
    """What lies where histories lie may still be being written: what it is, is told when there is more."""
    if found.home and _is_unfinished(source):
        raise _Unfinished


def _is_unfinished(source: Source) -> bool:
    """Whether nothing is written yet but the beginning of a record, in a folder: of one in each file."""
    try:
        if not source.is_folder:
            return Peek(source).is_unfinished
        return all(Peek(file).is_unfinished for file in files_below(source))
    except UnreadableSource:
        return False  # whoever reads it tells why


def _is_empty(source: Source) -> bool:
    with source.open() as stream:
        return not stream.read(1)
