"""Sources into the archive: bytes to the vault, conversations to the rows, their account to the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.found import Found, Result
from agent_journal.archive.kept import Replayed
from agent_journal.archive.reading import Read, Reading
from agent_journal.archive.rows import messages_in
from agent_journal.archive.store import Erasing, SourceRow, Status
from agent_journal.model import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self

    from agent_journal.archive import Archive
    from agent_journal.archive.rows import Block, Row
    from agent_journal.archive.store import Change, Snapshot
    from agent_journal.archive.worker import Prepared
    from agent_journal.model import Item
    from agent_journal.source import Source

__all__ = ["Found", "Importer", "Result"]
# Rows wait until so much has come together: bytes are made lasting before the rows that came of them, and
# that takes as long for a little as for much.
_BATCH_BYTES = 6 << 20


class _Taking:
    """A source while it is imported."""

    def __init__(self, path: str, home: str, key: int) -> None:
        self.path = path
        self.home = home
        self.key = key
        self.conversations: set[int] = set()
        self.messages = self.new_messages = 0
        self.leaves = False
        self.met_forgotten = False


class _Ready(NamedTuple):
    """An item whose rows are made, or the account of a source, which is its end."""

    taking: _Taking
    item: Item | Read
    rows: list[Row]
    blocks: list[Block] = []
    """The bodies of the rows, if they are put together already."""


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
    ) -> None:
        self._archive = archive
        self._store = archive.store
        self._now = now
        self._changed = changed
        self._done = done
        self._from_format = from_format
        self._largest_media = largest_media
        self._waiting: list[_Ready] = []
        self._waiting_bytes = 0
        self._may_be_forgotten = archive.store.has_forgotten()

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
        if before is not None and before.status == Status.FORGOTTEN:
            return
        known = {each.unit: each for each in self._store.snapshots(before.key)} if before else {}
        reading = Reading(
            self._archive.vault, self._now, self._from_format, known, largest_media=self._largest_media
        )
        self._take(reading, reading.items(found, before), found.path, found.home, before.key if before else 0)

    def again(self, row: SourceRow) -> None:
        """Read a source again from the vault, as a later revision of its reader asks for."""
        row = self._store.source(row.path) or row
        known = readers.discover()  # one may have come with a package that is no longer there
        snapshots = [each for each in self._store.snapshots(row.key) if each.reader in known]
        newest = {each.unit: each.number for each in snapshots}
        units: list[tuple[Snapshot, Source]] = [
            (each, Replayed(each.manifest, self._archive.vault, row.path, each.unit)) for each in snapshots
        ]
        # What it held once is brought in too, but it is not in its account.
        past = Reading(self._archive.vault, self._now)
        aside = _Taking(row.path, row.home, row.key)
        older = [(each, source) for each, source in units if each.number != newest[each.unit]]
        for item, rows in past.again(replace(row), older):
            self._queue(_Ready(aside, item, rows))
        reading = Reading(self._archive.vault, self._now)
        current = [(each, source) for each, source in units if each.number == newest[each.unit]]
        if current:
            self._take(reading, reading.again(row, current), row.path, row.home, row.key)
        with self._store.transaction():
            for snapshot in past.read.snapshots:
                self._store.put_snapshot(snapshot)

    def take_prepared(self, prepared: Prepared) -> None:
        """Import a source that nobody knew and that another process has read."""
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
        with self._store.transaction():
            changes = [self._write(ready) for ready in waiting]
        for change in changes:
            if change is not None:
                self._changed(change)
        for ready in waiting:
            if isinstance(ready.item, Read):
                self._done(_result(ready.taking, ready.item))

    def _take(
        self, reading: Reading, items: Iterable[tuple[Item, list[Row]]], path: str, home: str, key: int
    ) -> None:
        taking = _Taking(path, home, key)
        for item, rows in items:
            self._queue(_Ready(taking, item, rows))
        self._queue(_Ready(taking, reading.read, []))

    def _queue(self, ready: _Ready) -> None:
        item = ready.item
        if self._is_forgotten(item):
            ready.taking.met_forgotten = True
            return
        self._waiting.append(ready)
        self._waiting_bytes += sum(len(row.body) for row in ready.rows)
        self._waiting_bytes += sum(size for block in ready.blocks for _, size in block.places)
        if self._waiting_bytes > _BATCH_BYTES:
            self.flush()

    def _is_forgotten(self, item: Item | Read) -> bool:
        if not self._may_be_forgotten or isinstance(item, Read | Memory):
            return False
        return self._store.is_forgotten(item.source, item.id)

    def _write(self, ready: _Ready) -> Change | None:
        taking, item = ready.taking, ready.item
        if not taking.key:
            # Until its account is written it counts as changed: a killed import begins it again.
            taking.key = self._store.put_source(SourceRow(path=taking.path, home=taking.home))
        if isinstance(item, Read):
            self._write_account(taking, item)
            return None
        if isinstance(item, Memory):
            return self._store.put_memory(item, taking.key)
        change = self._store.put(item, ready.rows, taking.key, ready.blocks)
        taking.conversations.add(change.conversation)
        taking.leaves = taking.leaves or change.leaves
        taking.messages += messages_in(ready.rows)
        taking.new_messages += change.added
        return change

    def _write_account(self, taking: _Taking, read: Read) -> None:
        row = replace(
            read.row, key=taking.key, conversations=len(taking.conversations), messages=taking.messages
        )
        self._store.put_source(row)
        if taking.met_forgotten:
            # What was kept of it now holds what must be erased.
            erasing = self._store.erasing() or Erasing()
            self._store.set_erasing(replace(erasing, sources=[*erasing.sources, taking.key]))
        # An older snapshot is needed as long as it tells something that the newer one does not.
        tells_less = (
            taking.leaves or not set(self._store.conversations_of(taking.key)) <= taking.conversations
        )
        for snapshot in read.snapshots:
            is_another = tells_less and not read.is_again and snapshot.unit not in read.grown
            number = snapshot.number + is_another
            self._store.put_snapshot(replace(snapshot, source=taking.key, number=number))


def _result(taking: _Taking, read: Read) -> Result:
    return Result(
        source=read.row.reader,
        file=read.row.path,
        status=read.row.status,
        conversations=len(taking.conversations),
        messages=taking.messages,
        new_messages=taking.new_messages,
        bytes=read.row.size,
        notes=read.notes,
    )
