"""Sources into the archive: bytes to the vault, conversations to the rows, their account to the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal import plugins, readers
from agent_journal.archive.candidates import Found, Result, Stat, is_gone, stat_of
from agent_journal.archive.reading import Read, Reading
from agent_journal.archive.recording import Replayed
from agent_journal.archive.rows import messages_in
from agent_journal.archive.salvage import Patched
from agent_journal.archive.store import Erasing, SourceRow, Status
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
    from agent_journal.archive.rows import Row
    from agent_journal.archive.store import Change, Snapshot
    from agent_journal.archive.worker import Prepared
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item

__all__ = ["Found", "Importer", "Result"]
# Rows wait until so much has come together: bytes are made lasting before the rows that came of them, and
# that takes as long for a little as for much.
_BATCH_BYTES = 6 << 20


class _Taking:
    """A source while it is imported."""

    def __init__(self, path: str, home: str, key: int, *, is_past: bool = False) -> None:
        self.path = path
        self.home = home
        self.key = key
        self.is_past = is_past
        self.is_whole = True
        self.conversations: set[int] = set()
        self.messages = self.new_messages = self.memories = self.new_memories = 0
        self.leaves = False
        self.met_forgotten = False
        self.failures: list[Exception] = []
        """Why items of it could not be written."""

    def state(self) -> dict[str, Any]:
        """What writing changes, to be put back if that is undone."""
        return {**self.__dict__, "conversations": set(self.conversations)}


class _Ready(NamedTuple):
    """An item whose rows are made, or the account of a source, which is its end."""

    taking: _Taking
    item: Item | Read
    rows: list[Row]
    blocks: list[Block] = []
    """The bodies of the rows, if they are put together already."""

    @property
    def size(self) -> int:
        """How many bytes the bodies have."""
        if self.blocks:
            return sum(sum(block.places[-1]) for block in self.blocks)  # where the last one ends
        return sum(len(row.body) for row in self.rows)


class Importer:
    """Imports one source after another. Use it in a `with`: what is ready is written at its end.

    `changed` is told of each conversation that is written, `done` of each source.
    """

    def __init__(
        self,
        archive: Archive,
        now: str,
        changed: Callable[[Change], None],
        done: Callable[[Result], None],
        from_format: str | None = None,
        *,
        largest_media: int | None = 0,
        heals: bool = False,
    ) -> None:
        self._archive = archive
        self._store = archive.store
        self._heals = heals
        """Whether rows that are damaged are written again where a source has what they should hold."""
        self._now = now
        self._changed = changed
        self._done = done
        self._from_format = from_format
        self._largest_media = largest_media
        self._waiting: list[_Ready] = []
        self._waiting_bytes = 0
        self._may_be_forgotten = archive.store.has_forgotten()
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
        # A person who interrupts keeps what is ready; after an error nothing more is written.
        if kind is None or kind is KeyboardInterrupt:
            self.flush()

    def take(self, found: Found) -> None:
        """Import what a path holds."""
        before = self._store.source(found.path)
        if found.path != "-" and is_gone(found.path):
            self._miss(found, before)
            return
        if before is not None and before.status == Status.FORGOTTEN and not self._tells_more(found):
            self._pass_over(found, before)
            return
        known = {each.unit: each for each in self._store.snapshots(before.key)} if before else {}
        if before is not None and any(map(_is_outdated, known.values())):
            self.again(before)  # else nobody would know any more what came of the older reading
        reading = Reading(
            self._archive.vault,
            self._now,
            self._from_format,
            known,
            largest_media=self._largest_media,
            reports=self._reports,
        )
        self._take(reading, reading.items(found, before), found.path, found.home, before.key if before else 0)

    def _miss(self, found: Found, before: SourceRow | None) -> None:
        """What is gone keeps its account, but for a mark; what was never there has none."""
        if before is not None and before.home and before.status != Status.FORGOTTEN:
            with self._store.transaction():
                self._store.mark_missing([before.key], before.missing_since or self._now)
        if before is None or not found.home:
            self._done(_absent(found.path))

    def _tells_more(self, found: Found) -> bool:
        """Whether there is something else by now where all was forgotten: files of many conversations grow.

        It is read without being kept, so that nothing of what is forgotten is written. What comes on
        standard input is another thing each time, and can be read only once.
        """
        if found.path == "-":
            return True
        note = Notes()
        try:
            items = pipeline.read_all([found.path], note, self._from_format)
            is_all_forgotten = all(map(self._is_forgotten, items))
        except AgentJournalError:
            return True  # whoever keeps it tells why
        return not is_all_forgotten or Kind.UNREADABLE_FILE in note.counts or bool(note.failures)

    def _pass_over(self, found: Found, row: SourceRow) -> None:
        """Leave a source of which all is forgotten alone until it changes; who named it is told."""
        row.stat = found.stat or stat_of(found.path)
        row.beside = {place: stat_of(place) for place in row.beside}
        with self._store.transaction():
            self._store.put_source(row)
        if not found.home:
            self._done(_forgotten(row))

    def again(self, row: SourceRow) -> None:
        """Read a source again from the vault, as a later revision of its reader asks for.

        What it alone gave is replaced by what it gives now. What cannot be read loses nothing, and is told.
        """
        row = self._store.source(row.path) or row
        known = readers.discover()  # one may have come with a package that is no longer there
        snapshots = self._store.snapshots(row.key)
        vaults = [Patched(self._archive.vault, each.manifest) for each in snapshots]
        units: list[tuple[Snapshot, Source]] = [
            (each, Replayed(each.manifest, vault, row.path, each.unit))
            for each, vault in zip(snapshots, vaults, strict=True)
            if each.reader in known
        ]
        newest = {each.unit: each.number for each, _ in units}
        current = [(each, source) for each, source in units if each.number == newest[each.unit]]
        if not current:
            return
        taking = _Taking(row.path, row.home, row.key)
        taking.is_whole = len(units) == len(snapshots)
        reading, past = (Reading(self._archive.vault, self._now, reports=self._reports) for _ in range(2))
        # What it held once is brought in too, but it is not in its account.
        aside = _Taking(row.path, row.home, row.key, is_past=True)
        older = [(each, source) for each, source in reversed(units) if each.number != newest[each.unit]]
        self._store.begin_again(row.key)
        try:
            self._queue_all(taking, self._that_lack_nothing(reading.again(row, current), vaults))
            self._queue_all(aside, self._that_lack_nothing(past.again(replace(row), older), vaults))
            trouble = next((vault.trouble for vault in vaults if vault.trouble is not None), None)
        except DamagedArchive as error:  # of the rows
            trouble = error
        if trouble is not None:
            # The snapshots stay as they are, so that all of it is read again once it is repaired.
            self.flush()
            self._store.end_again(row.key, is_whole=False)
            self._done(_unreadable(row, trouble))
            return
        taking.is_whole = taking.is_whole and not (reading.has_failed or past.has_failed)
        reading.read.snapshots += past.read.snapshots
        self._queue(_Ready(taking, reading.read, []))

    def _that_lack_nothing(
        self, items: Iterable[tuple[Item, list[Row]]], vaults: list[Patched]
    ) -> Iterator[tuple[Item, list[Row]]]:
        """What is read again, but for conversations of which damage took something that the rows have."""
        for item, rows in items:
            is_damaged = any(vault.trouble is not None for vault in vaults)
            if is_damaged and isinstance(item, Conversation):
                key = self._store.key_of(item.source, item.id)
                there = set() if key is None else {entry.id for _, entry in self._store.entries(key)}
                if not there <= {row.id for row in rows}:
                    continue
            yield item, rows

    def take_prepared(self, prepared: Prepared) -> None:
        """Import a source that nobody knew and that another process has read."""
        for name, problem in prepared.read.problems.items():
            plugins.problems.setdefault(name, problem)
        for blob in prepared.blobs:
            self._archive.vault.put_stored(*blob)
        taking = _Taking(prepared.read.row.path, prepared.read.row.home, 0)
        for item, rows, blocks in prepared.items:
            self._queue(_Ready(taking, item, rows, blocks))
        self._queue(_Ready(taking, prepared.read, []))

    def flush(self) -> None:
        """Write what is ready: bytes first, then whole conversations with the accounts of their sources."""
        self._archive.vault.settle()
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for change in self._written(waiting):
            if change is not None:
                self._changed(change)
        for ready in waiting:
            if isinstance(ready.item, Read):
                self._done(_result(ready.taking, ready.item))

    def _written(self, waiting: list[_Ready]) -> list[Change | None]:
        """Write items and accounts in one transaction; each in its own if one cannot be written."""
        takings = {id(ready.taking): ready.taking for ready in waiting}.values()
        states = [(taking, taking.state()) for taking in takings]
        try:
            with self._store.transaction():
                return [self._write(ready) for ready in waiting]
        except (AgentJournalError, OSError):
            raise  # of the journal, not of what is written
        except Exception:  # noqa: BLE001 (which item it is, is told when each is written alone)
            for taking, state in states:
                taking.__dict__.update(state)
            return [self._written_alone(ready) for ready in waiting]

    def _written_alone(self, ready: _Ready) -> Change | None:
        """Write one item; an unforeseen error costs that item, and the account of its source says so."""
        taking = ready.taking
        state = taking.state()
        try:
            with self._store.transaction():
                return self._write(ready)
        except (AgentJournalError, OSError):
            raise
        except Exception as error:
            if isinstance(ready.item, Read):
                raise  # without its account the source would look as if it had never been read
            taking.__dict__.update(state)
            taking.failures.append(error)
            taking.is_whole = False
            return None

    def _take(
        self, reading: Reading, items: Iterable[tuple[Item, list[Row]]], path: str, home: str, key: int
    ) -> None:
        taking = _Taking(path, home, key)
        self._queue_all(taking, items)
        self._queue(_Ready(taking, reading.read, []))

    def _queue_all(self, taking: _Taking, items: Iterable[tuple[Item, list[Row]]]) -> None:
        for item, rows in items:
            self._queue(_Ready(taking, item, rows))

    def _queue(self, ready: _Ready) -> None:
        item = ready.item
        if self._is_forgotten(item):
            ready.taking.met_forgotten = True
            return
        if self._may_be_forgotten and isinstance(item, Conversation):
            ready.taking.met_forgotten |= self._store.forgets_some(item, ready.rows)
        self._waiting.append(ready)
        self._waiting_bytes += ready.size
        if self._waiting_bytes > _BATCH_BYTES:
            self.flush()

    def _is_forgotten(self, item: Item | Read) -> bool:
        if not self._may_be_forgotten or isinstance(item, Read):
            return False
        return self._store.is_forgotten(item.source, item.id)

    def _write(self, ready: _Ready) -> Change | None:
        taking, item = ready.taking, ready.item
        if not taking.key:
            # Until its account is written it counts as changed: a killed import begins it again.
            taking.key = self._store.put_source(SourceRow(path=taking.path, home=taking.home))
        if isinstance(item, Read):
            self._write_account(taking, item)
            return self._settle_again(taking) if item.is_again else None
        if isinstance(item, Memory):
            taking.memories += 1
            brought = self._store.put_memory(item, taking.key)
            taking.new_memories += brought.added
            return brought
        change = self._store.put(item, ready.rows, taking.key, ready.blocks, is_past=taking.is_past)
        if change.conversation:
            taking.conversations.add(change.conversation)
        taking.leaves = taking.leaves or change.leaves
        taking.messages += messages_in(ready.rows)
        taking.new_messages += change.added
        if self._heals and change.conversation and not ready.blocks and change.added < len(ready.rows):
            self._store.mend(change.conversation, item, ready.rows)
        return change

    def _settle_again(self, taking: _Taking) -> Change:
        """What came of an older reading goes, unless nothing came of this one."""
        is_empty = not taking.conversations and not taking.memories
        return self._store.end_again(taking.key, is_whole=taking.is_whole and not is_empty)

    def _tell_failures(self, taking: _Taking, read: Read) -> None:
        """Let the account of a source say which of its items could not be written."""
        note = Notes(keep=len(taking.failures), reports=self._reports)
        for error in taking.failures:
            note.failed(error, read.row.path, read.row.reader)
        taking.failures = []
        read.row.stat = Stat()
        read.row.status = Status.PARTLY if taking.conversations or taking.memories else Status.UNREADABLE
        read.row.notes = [
            *(
                {"kind": each.kind, "file": each.file, "where": "", "detail": each.detail}
                for each in note.kept
            ),
            *read.row.notes,
        ]
        read.notes = [*map(str, note.kept), *read.notes]

    def _write_account(self, taking: _Taking, read: Read) -> None:
        if taking.failures:
            self._tell_failures(taking, read)
        row = replace(
            read.row, key=taking.key, conversations=len(taking.conversations), messages=taking.messages
        )
        self._store.put_source(row)
        if taking.met_forgotten:
            # What was kept of it now holds what must be erased.
            erasing = self._store.erasing() or Erasing()
            self._store.set_erasing(replace(erasing, sources=[*erasing.sources, taking.key]))
        # An older snapshot is needed as long as it tells something that the newer one does not, and where an
        # error stopped the reader before it had asked for everything.
        tells_less = (
            taking.leaves or not set(self._store.conversations_of(taking.key)) <= taking.conversations
        )
        for snapshot in read.snapshots:
            is_another = tells_less and not read.is_again and snapshot.unit not in read.grown
            is_another = is_another or snapshot.unit in read.partial
            number = snapshot.number + is_another
            self._store.put_snapshot(replace(snapshot, source=taking.key, number=number))


def _is_outdated(snapshot: Snapshot) -> bool:
    reader = readers.discover().get(snapshot.reader)
    return reader is not None and snapshot.revision < reader.INFO.revision


def _absent(path: str) -> Result:
    file = as_text(path)
    why = Note(kind=Kind.UNREADABLE_FILE.label, file=file, detail=why_absent(path))
    return Result(source="", file=file, status=Status.UNREADABLE, notes=[str(why)])


def _forgotten(row: SourceRow) -> Result:
    why = f"{row.path}: all that it held was forgotten by 'aj forget', and is not imported again"
    return Result(source=row.reader, file=row.path, status=Status.FORGOTTEN, notes=[why])


def _unreadable(row: SourceRow, error: DamagedArchive) -> Result:
    return Result(
        source=row.reader,
        file=row.path,
        status=Status.UNREADABLE,
        conversations=row.conversations,
        messages=row.messages,
        notes=[str(error)],
    )


def _result(taking: _Taking, read: Read) -> Result:
    if taking.met_forgotten and not taking.conversations and not taking.memories:
        return _forgotten(read.row)
    return Result(
        source=read.row.reader,
        file=read.row.path,
        status=read.row.status,
        conversations=len(taking.conversations),
        messages=taking.messages,
        new_messages=taking.new_messages,
        new_memories=taking.new_memories,
        bytes=read.row.size,
        notes=read.notes,
    )
