"""Read a source for the archive: detect its units, store their bytes, and make rows, which others write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from agent_journal import readers
from agent_journal.archive import media
from agent_journal.archive.candidates import ImportCandidate, Stat, stat_of
from agent_journal.archive.item_rows import ItemRows, item_rows
from agent_journal.archive.recording import CaptureSession, RecordingSource, sizes_in
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
from agent_journal.inputs.input import File, Stdin, as_text, files_below, open_input, opened
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agent_journal.archive.manifest import Manifest
    from agent_journal.archive.vault import Vault
    from agent_journal.crash_reports import CrashReports
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Note

_MAX_NOTES = 50
_NOTHING_READ = {Status.UNREADABLE, Status.UNKNOWN, Status.PENDING}
_FILE_FAILURES = {Kind.UNREADABLE_FILE.label, Kind.READER_ERROR.label}
# Kinds of notes about files that no reader got to see.
_SKIPPED = {Kind.UNKNOWN_FILE.label, Kind.UNREADABLE_FILE.label}
# A last line that is still being written is not damage: it is read when it is complete.
_DAMAGE = {kind.label for kind in Kind if kind.damage and kind is not Kind.TORN_TAIL}


class ReadResult(msgspec.Struct):
    """The result of reading a source: its ledger entry, and snapshots of its units."""

    row: SourceRow
    snapshots: list[Snapshot]
    notes: list[str]
    is_reimport: bool = False
    only_grown_units: list[str] = []
    """Units that begin with every byte of their last snapshot."""
    newly_partial_units: list[str] = []
    """Units whose reader was stopped by an unforeseen error, and which were read completely before."""
    problems: dict[str, str] = {}
    """Problems with readers, as in `plugins.problems`; the worker process passes them on here."""


class SourceReading:
    """Reads one source: `items` yields its items, and after the last of them `result` is complete."""

    def __init__(
        self,
        vault: Vault,
        now: str,
        from_format: str | None = None,
        known: Mapping[str, Snapshot] | None = None,
        *,
        largest_media: int | None = 0,
        pack_from: int | None = None,
        reports: CrashReports | None = None,
    ) -> None:
        self._vault = vault
        self._pack_from = pack_from
        """The bytes of bodies from which a conversation is packed at once; None: never."""
        self._reports = reports
        self._now = now
        self._from_format = from_format
        self._known = known or {}
        self._largest_media = largest_media
        self._sizes: dict[str, int] = {}
        self.has_failed = False
        """Whether a re-imported unit could not be read to its end."""
        self.result = ReadResult(SourceRow(path=""), [], [])

    def items(self, candidate: ImportCandidate, before: SourceRow | None = None) -> Iterator[ItemRows]:
        """Yield every item of a source with its rows."""
        stat = candidate.stat or stat_of(candidate.path)
        home = candidate.home or (before.home if before else "")
        path = as_text(candidate.path)
        row = SourceRow(path=path, home=home, reader=candidate.reader, stat=stat, size=stat.size)
        row.key = before.key if before else 0
        self.result = ReadResult(row, [], [])
        note = Notes(candidate.path, keep=_MAX_NOTES, reports=self._reports)
        has_items = False
        try:
            for unit in self._units(candidate, note):
                for item in self._unit(unit, note):
                    has_items = True
                    yield item
            if not has_items and note.damaged:
                _raise_if_unfinished(open_input(candidate.path), candidate)
        except (UnreadableSource, DamagedArchive) as error:
            row.status = Status.UNREADABLE
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
            if isinstance(error.__cause__, OSError):
                row.stat = Stat()  # try again next time, even if the file looks the same
        except _Unfinished:
            row.status = Status.PENDING
            note = Notes(candidate.path)  # the reader's notes on half a record are of no use
            note.add(Kind.TORN_TAIL, candidate.path, "", "its first record is not complete yet")
        except (UnknownFormat, AmbiguousFormat) as error:
            row.status = Status.UNREADABLE if note.failures else Status.UNKNOWN
            where = error.where if candidate.path == "-" else candidate.path
            note.add(Kind.UNKNOWN_FILE, where, "", getattr(error, "reason", str(error)))
        except AgentJournalError:
            raise  # a problem of the journal, not of the file
        except Exception as error:  # noqa: BLE001 (it fails this source, not the others)
            row.status = Status.PARTLY if has_items else Status.UNREADABLE
            note.failed(error, candidate.path, row.reader or "unknown")
        if os.path.isdir(candidate.path):
            _count_skipped(row, note)
        if note.failures:
            row.stat = Stat()  # try again next time, even if the file looks the same
        self._finish_result(note)

    def reread(self, row: SourceRow, units: list[tuple[Snapshot, Input]]) -> Iterator[ItemRows]:
        """Yield every item of a source as the vault has it, read by the current reader."""
        self.result = ReadResult(row, [], [], is_reimport=True)
        note = Notes(row.path, keep=_MAX_NOTES, reports=self._reports)
        for snapshot, source in units:
            reader = readers.get(snapshot.reader)
            yield from self._rows_of(
                Unit(source, reader, snapshot.version), snapshot.manifest, note, lambda _: None
            )
            revision = reader.INFO.revision
            self.result.snapshots.append(msgspec.structs.replace(snapshot, revision=revision))
        self.has_failed = Kind.UNREADABLE_FILE in note.counts or bool(note.failures)
        if note.failures:
            row.stat = Stat()  # if the file still exists, try it again
        if row.status == Status.UNREADABLE and any(
            each["kind"] == Kind.READER_ERROR.label for each in row.notes
        ):
            row.status = Status.IMPORTED  # only its reader failed then; the vault has all of it
        if row.status not in _NOTHING_READ:  # otherwise the vault has what it was before
            self._finish_reimport(note, {as_text(source.label) for _, source in units})

    def _units(self, candidate: ImportCandidate, note: Notes) -> Iterator[Unit]:
        if candidate.path == "-":  # its size is known only after reading it
            stdin = Stdin()
            row = self.result.row
            row.stat, row.size = Stat(stdin.size), stdin.size
            source = opened(stdin)
        else:
            source = open_input(candidate.path)
        if not source.is_folder and self._from_format is None:
            if candidate.home and _is_empty(source):
                return  # the program has only created it
            unit = _detect_expected(source, candidate.reader, note)
            if unit is not None:
                yield unit
                return
        _raise_if_unfinished(source, candidate)
        yield from pipeline.units_of(source, note, self._from_format)

    def _unit(self, unit: Unit, note: Notes) -> Iterator[ItemRows]:
        row = self.result.row
        last_snapshot = self._known.get(as_text(unit.source.path))
        capture = CaptureSession(self._vault, last_snapshot.manifest if last_snapshot else None)
        info = unit.reader.INFO
        row.reader = info.name
        recorded = Unit(RecordingSource(unit.source, capture), unit.reader, unit.version)
        refs: list[str] = []
        failures = len(note.failures)

        def on_item(item: Item) -> None:
            if self._largest_media != 0 and not unit.source.is_folder:
                refs.extend(media.media_refs(item))

        yield from self._rows_of(recorded, capture.manifest, note, on_item)
        if self._largest_media != 0:
            media.store_media(unit.source, refs, capture, self._largest_media, note)
        row.companion_stats.update(
            {place: stat for place, stat in capture.companion_stats.items() if as_text(place) != row.path}
        )
        if capture.has_only_grown:
            self.result.only_grown_units.append(as_text(unit.source.path))
        row.size = self._size(unit.source, capture.manifest)
        capture.manifest.is_partial = len(note.failures) > failures
        if (
            capture.manifest.is_partial
            and last_snapshot is not None
            and not last_snapshot.manifest.is_partial
        ):
            self.result.newly_partial_units.append(as_text(unit.source.path))
        self.result.snapshots.append(
            Snapshot(
                source=row.key,
                unit=as_text(unit.source.path),
                number=last_snapshot.number if last_snapshot else 1,
                reader=info.name,
                version=unit.version,
                revision=info.revision,
                taken_at=self._now,
                manifest=capture.manifest,
            )
        )

    def _rows_of(
        self, unit: Unit, manifest: Manifest, note: Notes, on_item: Callable[[Item], None]
    ) -> Iterator[ItemRows]:
        is_read = False
        try:
            for prepared in item_rows(pipeline.read_unit(unit, note), self._pack_from, on_item):
                is_read = True
                yield prepared
        except AgentJournalError:
            raise
        except Exception as error:  # noqa: BLE001 (an item that cannot be made into rows)
            note.failed(error, unit.source.label, unit.reader.INFO.name, unit.version)
        if not is_read and any(_is_about(each, unit.source.label) for each in note.collected):
            # None of its bytes were read.
            sizes = [file.size for file in manifest.files.values()]
            if any(answers and not answers[0].sql for answers in manifest.databases.values()):
                self.result.row.stat = Stat()  # locked by another program, or no room for a copy of it
            note.lost_bytes[unit.source.label] = sum(sizes) if sizes else self.result.row.size

    def _size(self, source: Input, manifest: Manifest) -> int:
        """Return how many bytes were read: the size of a file, or of everything read in a folder."""
        row = self.result.row
        if as_text(source.label) == row.path and isinstance(source, File):
            return manifest.files[""].size if "" in manifest.files else row.stat.size
        if not os.path.isdir(row.path):  # a zip or compressed file counts with its own size
            return row.stat.size
        # Units may share companions: each counts once.
        new_sizes = {path: size for path, size in sizes_in(manifest).items() if path not in self._sizes}
        before = row.size if self.result.snapshots else 0
        self._sizes |= new_sizes
        return before + sum(new_sizes.values())

    def _finish_result(self, note: Notes) -> None:
        """Complete the ledger entry: count what could not be read, and set the status and notes."""
        row = self.result.row
        if row.status in _NOTHING_READ:
            row.defects = row.size
        else:
            damage = any(kind.label in _DAMAGE for kind in note.counts)
            row.defects = min(row.size, sum(note.lost_bytes.values()))
            row.status = Status.PARTLY if damage else Status.IMPORTED
            if damage and row.size and row.defects == row.size:
                row.status = Status.UNREADABLE
        row.read_at = self._now
        # Notes about losses come before those about anomalies.
        notes = sorted(note.collected, key=lambda each: each.kind not in _DAMAGE)[:_MAX_NOTES]
        row.notes = [
            {"kind": each.kind, "file": as_text(each.file), "where": each.where, "detail": each.detail}
            for each in notes
        ]
        self.result.notes = [as_text(str(each)) for each in notes]

    def _finish_reimport(self, note: Notes, units: set[str]) -> None:
        """Complete the ledger entry of a re-import: notes on skipped files remain."""
        row = self.result.row
        old_notes, defects = row.notes, row.defects
        self._finish_result(note)
        skipped = [] if row.path in units else [each for each in old_notes if each["kind"] in _SKIPPED]
        if skipped:
            row.notes += [each for each in skipped if each not in row.notes]
            row.status, row.defects = Status.PARTLY, defects


def _is_about(note: Note, label: str) -> bool:
    """Whether a note says that a whole file could not be read."""
    return note.kind in _FILE_FAILURES and note.file == label


def _count_skipped(row: SourceRow, note: Notes) -> None:
    """Count the files in a folder that no reader reads as part of its size."""
    for each in note.collected:
        if each.kind in _SKIPPED and each.file != row.path and not note.lost_bytes[each.file]:
            note.lost_bytes[each.file] = size = stat_of(each.file).size
            row.size += size


def _detect_expected(source: Input, name: str, note: Notes) -> Unit | None:
    """Return the unit if the reader that discovery expects claims it; then no other reader is asked."""
    if not name:
        return None
    reader, peek = readers.get(name), Peek(source)
    version = readers.detect(reader, peek)
    if peek.failures:  # another reader that claims it would misread it
        _, error = peek.failures[0]
        pipeline.note_failures(peek, note, is_claimed=False)
        raise UnknownFormat(source.label, f"its reader failed ({type(error).__name__})", 1) from error
    return None if version is None else Unit(source, reader, version)


class _Unfinished(Exception):
    """The source does not contain a complete record yet."""


def _raise_if_unfinished(source: Input, candidate: ImportCandidate) -> None:
    """Raise `_Unfinished` for a discovered source of which only the beginning is written."""
    if candidate.home and _is_unfinished(source):
        raise _Unfinished


def _is_unfinished(source: Input) -> bool:
    """Whether only the beginning of a first record is written; in a folder, in each of its files."""
    try:
        if not source.is_folder:
            return Peek(source).is_unfinished
        return all(Peek(file).is_unfinished for file in files_below(source))
    except UnreadableSource:
        return False  # reading it reports why


def _is_empty(source: Input) -> bool:
    with source.open() as stream:
        return not stream.read(1)
