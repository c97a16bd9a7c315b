"""Import sources: bytes go to the vault, conversations to the rows, their accounting to the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from agent_journal import plugins, readers
from agent_journal.archive import identity
from agent_journal.archive.candidates import ImportCandidate, Result, Stat, is_gone, stat_of
from agent_journal.archive.item_rows import LARGE_BYTES
from agent_journal.archive.reading import ReadResult, SourceReading
from agent_journal.archive.recording import ReplayedSource
from agent_journal.archive.rows import message_count
from agent_journal.archive.salvage import PatchedVault
from agent_journal.archive.store import Erasing, SourceRow, Status
from agent_journal.archive.stored_units import StoredUnits
from agent_journal.conversion import pipeline
from agent_journal.crash_reports import FOLDER, CrashReports
from agent_journal.errors import AgentJournalError, DamagedArchive
from agent_journal.inputs.input import as_text, why_absent
from agent_journal.model import Conversation, Memory
from agent_journal.notes import Kind, Note, Notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from agent_journal.archive import Archive
    from agent_journal.archive.bodies import Block
    from agent_journal.archive.item_rows import ItemRows
    from agent_journal.archive.rows import Row
    from agent_journal.archive.store import Change, Snapshot
    from agent_journal.archive.worker import PreparedSource
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item

__all__ = ["ImportCandidate", "Importer", "Result"]
# Rows are written in batches of this size. Bytes must be on disk before the rows made from them, and a sync
# takes as long for little data as for much.
_BATCH_BYTES = 6 << 20


class _ImportProgress:
    """The state of one source while it is imported."""

    def __init__(self, path: str, home: str, key: int, *, is_past: bool = False) -> None:
        self.path = path
        self.home = home
        self.key = key
        self.is_past = is_past
        self.is_complete = True
        self.conversations: set[int] = set()
        self.messages = self.new_messages = self.memories = self.new_memories = 0
        self.misses_entries = False
        self.has_forgotten_items = False
        self.failures: list[Exception] = []
        """Why some of its items could not be written."""

    def state(self) -> dict[str, Any]:
        """Return a copy of the state, to be restored if a transaction is rolled back."""
        return {**self.__dict__, "conversations": set(self.conversations)}


class _PendingItem(NamedTuple):
    """An item with its rows, or the read result of a source, which comes after all its items."""

    progress: _ImportProgress
    item: Item | ReadResult
    rows: list[Row]
    blocks: list[Block] = []
    """The bodies of the rows, if they are packed already."""

    @property
    def size(self) -> int:
        """The size of the bodies in bytes."""
        if self.blocks:
            return sum(sum(block.sizes) for block in self.blocks)
        return sum(len(row.body) for row in self.rows)


class Importer:
    """Imports one source after another. Use it in a `with` block, which writes what is pending at its end.

    `on_change` is called for each conversation that is written, `on_result` for each source.
    """

    def __init__(
        self,
        archive: Archive,
        now: str,
        on_change: Callable[[Change], None],
        on_result: Callable[[Result], None],
        from_format: str | None = None,
        *,
        largest_media: int | None = 0,
        repairs_rows: bool = False,
    ) -> None:
        self._archive = archive
        self._store = archive.store
        self._repairs_rows = repairs_rows
        """Whether damaged rows are written again from a source that has their content."""
        self._now = now
        self._on_change = on_change
        self._on_result = on_result
        self._from_format = from_format
        self._largest_media = largest_media
        self._pending: list[_PendingItem] = []
        self._pending_bytes = 0
        self._has_tombstones = archive.store.has_forgotten()
        self._reports = CrashReports(str(archive.home / FOLDER))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        # On Ctrl-C, pending items are still written; after an error nothing more is.
        if kind is None or kind is KeyboardInterrupt:
            self.flush()

    def take(self, candidate: ImportCandidate) -> None:
        """Import the file or folder at a path."""
        before = self._store.source(candidate.path)
        if candidate.path != "-" and is_gone(candidate.path):
            self._mark_gone(candidate, before)
            return
        if (
            before is not None
            and before.status == Status.FORGOTTEN
            and not self._has_new_items(candidate, before.key)
        ):
            self._skip_forgotten(candidate, before)
            return
        snapshots = {each.unit: each for each in self._store.snapshots(before.key)} if before else {}
        if before is not None and any(map(_is_outdated, snapshots.values())):
            # Otherwise the results of the older and of this reading could not be distinguished any more.
            self.reimport(before)
        reading = SourceReading(
            self._archive.vault,
            self._now,
            self._from_format,
            snapshots,
            largest_media=self._largest_media,
            pack_from=LARGE_BYTES,
            reports=self._reports,
        )
        self._take(
            reading,
            reading.items(candidate, before),
            candidate.path,
            candidate.home,
            before.key if before else 0,
        )

    def _mark_gone(self, candidate: ImportCandidate, before: SourceRow | None) -> None:
        """Mark a known file that is gone as missing; report one that never existed."""
        if before is not None and before.home and before.status != Status.FORGOTTEN:
            with self._store.transaction():
                self._store.mark_missing([before.key], before.missing_since or self._now)
        if before is None or not candidate.home:
            self._on_result(_absent_result(candidate.path))

    def _has_new_items(self, candidate: ImportCandidate, source: int) -> bool:
        """Whether a source of which everything was forgotten has other items by now.

        It is read without storing bytes, so that nothing forgotten is written. Standard input is different
        each time, and can be read only once.
        """
        if candidate.path == "-":
            return True
        note = Notes()
        try:
            items = pipeline.read_all([candidate.path], note, self._from_format)
            is_all_forgotten = all(self._is_forgotten(item, source) for item in items)
        except AgentJournalError:
            return True  # importing it reports why
        return not is_all_forgotten or Kind.UNREADABLE_FILE in note.counts or bool(note.failures)

    def _skip_forgotten(self, candidate: ImportCandidate, row: SourceRow) -> None:
        """Skip a source of which everything is forgotten until it changes; report it if a user named it."""
        row.stat = candidate.stat or stat_of(candidate.path)
        row.companion_stats = {place: stat_of(place) for place in row.companion_stats}
        with self._store.transaction():
            self._store.put_source(row)
        if not candidate.home:
            self._on_result(_forgotten_result(row))

    def reimport(self, row: SourceRow) -> None:
        """Re-import a source from the vault with the current revision of its reader.

        Whatever came only from this source is replaced. If it cannot be read, nothing is lost and it is
        reported.
        """
        row = self._store.source(row.path) or row
        installed = readers.discover()  # a plugin's reader may no longer be installed
        snapshots = self._store.snapshots(row.key)
        vaults = [PatchedVault(self._archive.vault, each.manifest) for each in snapshots]
        others = StoredUnits(self._store, self._archive.vault)
        units: list[tuple[Snapshot, Input]] = [
            (each, ReplayedSource(each.manifest, vault, row.path, each.unit, others=others))
            for each, vault in zip(snapshots, vaults, strict=True)
            if each.reader in installed
        ]
        newest = {each.unit: each.number for each, _ in units}
        current = [(each, source) for each, source in units if each.number == newest[each.unit]]
        if not current:
            return
        progress = _ImportProgress(row.path, row.home, row.key)
        progress.is_complete = len(units) == len(snapshots)
        reading, past = (
            SourceReading(self._archive.vault, self._now, reports=self._reports) for _ in range(2)
        )
        # Older snapshots are imported too, but they do not count as the source's current content.
        past_progress = _ImportProgress(row.path, row.home, row.key, is_past=True)
        older = [(each, source) for each, source in reversed(units) if each.number != newest[each.unit]]
        self._store.begin_reimport(row.key)
        try:
            self._queue_all(progress, self._without_gaps(reading.reread(row, current), vaults, row.key))
            self._queue_all(
                past_progress, self._without_gaps(past.reread(replace(row), older), vaults, row.key)
            )
            trouble = next((vault.trouble for vault in vaults if vault.trouble is not None), None)
        except DamagedArchive as error:  # of the rows
            trouble = error
        if trouble is not None:
            # The snapshots stay unchanged, so that the re-import is tried again once the damage is repaired.
            self.flush()
            self._store.end_reimport(row.key, is_complete=False)
            self._on_result(_unreadable_result(row, trouble))
            return
        progress.is_complete = progress.is_complete and not (reading.has_failed or past.has_failed)
        if others.has_gaps:
            reading.result.row.stat = Stat()  # if the file still exists, its companions may, too
        reading.result.snapshots += past.result.snapshots
        self._queue(_PendingItem(progress, reading.result, []))

    def _without_gaps(
        self, items: Iterable[ItemRows], vaults: list[PatchedVault], source: int
    ) -> Iterator[ItemRows]:
        """Leave out conversations that lack entries the rows have, because of damage in the vault."""
        for prepared in items:
            item, rows, _ = prepared
            is_damaged = any(vault.trouble is not None for vault in vaults)
            if is_damaged and isinstance(item, Conversation):
                item = identity.with_stored_id(self._store, item, source)
                key = self._store.key_of(item.source, item.id)
                stored_ids = set() if key is None else {entry.id for _, entry in self._store.entries(key)}
                if not stored_ids <= {row.id for row in rows}:
                    continue
            yield prepared

    def take_prepared(self, prepared: PreparedSource) -> None:
        """Import a new source that the worker process has read."""
        for name, problem in prepared.read.problems.items():
            plugins.add_problem(name, problem)
        for blob in prepared.blobs:
            self._archive.vault.put_stored(*blob)
        progress = _ImportProgress(prepared.read.row.path, prepared.read.row.home, 0)
        for item, rows, blocks in prepared.items:
            self._queue(_PendingItem(progress, item, rows, blocks))
        self._queue(_PendingItem(progress, prepared.read, []))

    def flush(self) -> None:
        """Write what is pending: bytes first, then whole conversations and ledger entries."""
        self._archive.vault.settle()
        batch, self._pending, self._pending_bytes = self._pending, [], 0
        for change in self._write_batch(batch):
            if change is not None:
                self._on_change(change)
        for pending in batch:
            if isinstance(pending.item, ReadResult):
                self._on_result(_result(pending.progress, pending.item))

    def _write_batch(self, batch: list[_PendingItem]) -> list[Change | None]:
        """Write items and ledger entries in one transaction, or each in its own if one of them fails."""
        all_progress = {id(pending.progress): pending.progress for pending in batch}.values()
        states = [(progress, progress.state()) for progress in all_progress]
        try:
            with self._store.transaction():
                return [self._write(pending) for pending in batch]
        except (AgentJournalError, OSError):
            raise  # a problem of the journal, not of the item
        except Exception:  # noqa: BLE001 (writing each alone shows which item it is)
            for progress, state in states:
                progress.__dict__.update(state)
            return [self._write_alone(pending) for pending in batch]

    def _write_alone(self, pending: _PendingItem) -> Change | None:
        """Write one item; an unforeseen error loses only that item, and the ledger entry says so."""
        progress = pending.progress
        state = progress.state()
        try:
            with self._store.transaction():
                return self._write(pending)
        except (AgentJournalError, OSError):
            raise
        except Exception as error:
            if isinstance(pending.item, ReadResult):
                raise  # without a ledger entry the source would look as if it had never been read
            progress.__dict__.update(state)
            progress.failures.append(error)
            progress.is_complete = False
            return None

    def _take(
        self, reading: SourceReading, items: Iterable[ItemRows], path: str, home: str, key: int
    ) -> None:
        progress = _ImportProgress(path, home, key)
        self._queue_all(progress, items)
        self._queue(_PendingItem(progress, reading.result, []))

    def _queue_all(self, progress: _ImportProgress, items: Iterable[ItemRows]) -> None:
        for prepared in items:
            self._queue(_PendingItem(progress, *prepared))

    def _queue(self, pending: _PendingItem) -> None:
        item = pending.item
        if self._is_forgotten(item, pending.progress.key):
            pending.progress.has_forgotten_items = True
            return
        if self._has_tombstones and isinstance(item, Conversation):
            pending.progress.has_forgotten_items |= self._store.has_forgotten_prompts(item, pending.rows)
        self._pending.append(pending)
        self._pending_bytes += pending.size
        if self._pending_bytes > _BATCH_BYTES:
            self.flush()

    def _is_forgotten(self, item: Item | ReadResult, source: int) -> bool:
        if not self._has_tombstones or isinstance(item, ReadResult):
            return False
        item = identity.with_stored_id(self._store, item, source)
        return self._store.is_forgotten(item.source, item.id)

    def _write(self, pending: _PendingItem) -> Change | None:
        progress, item = pending.progress, pending.item
        if not progress.key:
            # Until its ledger entry is complete it counts as changed: a killed import starts it again.
            progress.key = self._store.put_source(SourceRow(path=progress.path, home=progress.home))
        if isinstance(item, ReadResult):
            self._write_ledger_entry(progress, item)
            return self._finish_reimport(progress) if item.is_reimport else None
        if isinstance(item, Memory):
            progress.memories += 1
            change_of_memory = self._store.put_memory(item, progress.key)
            progress.new_memories += change_of_memory.added
            return change_of_memory
        item = cast("Conversation", identity.with_stored_id(self._store, item, progress.key))
        change = self._store.put(item, pending.rows, progress.key, pending.blocks, is_past=progress.is_past)
        if change.conversation:
            progress.conversations.add(change.conversation)
        progress.misses_entries = progress.misses_entries or change.misses_entries
        progress.messages += message_count(pending.rows)
        progress.new_messages += change.added
        if self._repairs_rows and change.conversation and change.added < len(pending.rows):
            self._store.repair_entries(change.conversation, item, pending.rows, pending.blocks)
        return change

    def _finish_reimport(self, progress: _ImportProgress) -> Change:
        """Remove what only the older reading gave, unless this one gave nothing."""
        is_empty = not progress.conversations and not progress.memories
        return self._store.end_reimport(progress.key, is_complete=progress.is_complete and not is_empty)

    def _report_failures(self, progress: _ImportProgress, read: ReadResult) -> None:
        """Add the items that could not be written to the ledger entry of their source."""
        note = Notes(keep=len(progress.failures), reports=self._reports)
        for error in progress.failures:
            note.failed(error, read.row.path, read.row.reader)
        progress.failures = []
        read.row.stat = Stat()
        read.row.status = Status.PARTLY if progress.conversations or progress.memories else Status.UNREADABLE
        read.row.notes = [
            *(
                {"kind": each.kind, "file": each.file, "where": "", "detail": each.detail}
                for each in note.collected
            ),
            *read.row.notes,
        ]
        read.notes = [*map(str, note.collected), *read.notes]

    def _write_ledger_entry(self, progress: _ImportProgress, read: ReadResult) -> None:
        if progress.failures:
            self._report_failures(progress, read)
        row = replace(
            read.row, key=progress.key, conversations=len(progress.conversations), messages=progress.messages
        )
        self._store.put_source(row)
        if progress.has_forgotten_items:
            # Its bytes in the vault now hold something that must be erased.
            erasing = self._store.pending_erasure() or Erasing()
            self._store.set_pending_erasure(replace(erasing, sources=[*erasing.sources, progress.key]))
        # The older snapshot is still needed if it has something that the newer one lacks, or if an error
        # stopped the reader before it had asked for everything.
        has_less = (
            progress.misses_entries
            or not set(self._store.conversations_of(progress.key)) <= progress.conversations
        )
        for snapshot in read.snapshots:
            needs_new_number = (
                has_less and not read.is_reimport and snapshot.unit not in read.only_grown_units
            )
            needs_new_number = needs_new_number or snapshot.unit in read.newly_partial_units
            number = snapshot.number + needs_new_number
            self._store.put_snapshot(replace(snapshot, source=progress.key, number=number))


def _is_outdated(snapshot: Snapshot) -> bool:
    reader = readers.discover().get(snapshot.reader)
    return reader is not None and snapshot.revision < reader.INFO.revision


def _absent_result(path: str) -> Result:
    file = as_text(path)
    why = Note(kind=Kind.UNREADABLE_FILE.label, file=file, detail=why_absent(path))
    return Result(source="", file=file, status=Status.UNREADABLE, notes=[str(why)])


def _forgotten_result(row: SourceRow) -> Result:
    why = f"{row.path}: everything in it was deleted with 'aj forget', so it is not imported again"
    return Result(source=row.reader, file=row.path, status=Status.FORGOTTEN, notes=[why])


def _unreadable_result(row: SourceRow, error: DamagedArchive) -> Result:
    return Result(
        source=row.reader,
        file=row.path,
        status=Status.UNREADABLE,
        conversations=row.conversations,
        messages=row.messages,
        notes=[str(error)],
    )


def _result(progress: _ImportProgress, read: ReadResult) -> Result:
    if progress.has_forgotten_items and not progress.conversations and not progress.memories:
        return _forgotten_result(read.row)
    return Result(
        source=read.row.reader,
        file=read.row.path,
        status=read.row.status,
        conversations=len(progress.conversations),
        messages=progress.messages,
        new_messages=progress.new_messages,
        new_memories=progress.new_memories,
        bytes=read.row.size,
        notes=read.notes,
    )
