"""Erasing for good: rows, raw bytes, and what is left of them in files.

A file that held nothing else goes whole. Of an export that holds other conversations too, those are kept in
our own lossless format in place of the export's bytes: the bytes cannot be kept without what is to go.

The rows and the intent to erase the rest go into one durable transaction. Every step after that may fail and
be run again, until all are done.
"""

from __future__ import annotations

import hashlib
import io
from typing import IO, TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from agent_journal import readers, writers
from agent_journal.archive import salvage
from agent_journal.archive.manifest import KeptFile, Manifest
from agent_journal.archive.rows import row_of
from agent_journal.archive.store import Erasing, Status
from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.conversion.output import new_run
from agent_journal.errors import AgentJournalError, CannotWrite, DamagedArchive
from agent_journal.model import Conversation
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Snapshot
    from agent_journal.archive.vault import Place, Vault
    from agent_journal.model import Event, Item, Message

# Our own format, by the name that its reader and its writer have.
_OWN = "json"


def forget(
    archive: Archive,
    keys: Iterable[int],
    now: str,
    *,
    memories: bool = False,
    names: Iterable[str] = (),
) -> None:
    """Erase conversations from the rows, so that no sync brings them back. `finish` erases what is left.

    With `memories` all of those are erased, too. By `names` a person knows them who asks again after `finish`
    failed.
    """
    store = archive.store
    store.commit_durably()
    with store.transaction():
        erasing = store.erasing() or Erasing()
        sources = dict.fromkeys(erasing.sources)
        for key in keys:
            sources.update(dict.fromkeys(store.sources_of(key)))
            store.forget(key, now)
        if memories:
            store.forget_memories(now)
            sources.update(dict.fromkeys(row.key for row in store.sources()))
        known = [*erasing.names, *map(hashed_name, names)]
        store.set_erasing(Erasing(sources=list(sources), rows=True, names=known))


def hashed_name(name: str) -> str:
    """What is stored of a name until all that it named is erased."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


def finish(archive: Archive) -> tuple[int, list[AgentJournalError]]:
    """Erase from the vault what is forgotten; how many bytes went with it, and what failed.

    A source that fails does not keep the others from being erased.
    """
    archive.store.commit_durably()  # a pack that is gone must not be one that older rows still name
    erasing = archive.store.erasing()
    failures: list[AgentJournalError] = []
    for source in erasing.sources if erasing else ():
        try:
            scrub(archive, source)
        except AgentJournalError as error:
            failures.append(error)
    try:
        return sweep(archive), failures
    except AgentJournalError as error:
        return 0, [*failures, error]
    except OSError as error:
        return 0, [*failures, CannotWrite(str(archive.home), (error.strerror or str(error)).lower())]


def scrub(archive: Archive, source: int) -> None:
    """Let the vault's copy of a source hold nothing that is forgotten."""
    store = archive.store
    row = store.source_by_key(source)
    if store.holds_nothing(source):
        with store.transaction():
            store.drop_snapshots(source)
            nothing = replace(row, notes=[], conversations=0, messages=0, missing_since=None)
            store.put_source(replace(nothing, status=Status.FORGOTTEN))
        return
    instead = [rewritten(archive, snapshot, row.path) for snapshot in store.snapshots(source)]
    archive.vault.settle()
    with store.transaction():
        store.drop_snapshots(source)
        for snapshot in instead:
            store.put_snapshot(snapshot)


def rewritten(archive: Archive, snapshot: Snapshot, label: str) -> Snapshot:
    """A snapshot in our own format, of all in it that is not forgotten."""
    own = readers.get(_OWN).INFO
    items = salvage.items(archive, snapshot, label)
    out = _IntoVault(archive.vault)
    writers.get(_OWN).write(_remembered(archive, items), cast("IO[bytes]", out), new_run(Notes()))
    file = out.finished("kept.jsonl")
    return replace(
        snapshot,
        reader=own.name,
        version=own.versions[0],
        revision=own.revision,
        manifest=Manifest(name=file.name, files={"": file}),
    )


class _IntoVault(io.RawIOBase):
    """A stream whose bytes go into the vault, so that no more than one chunk is in memory."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._pending = bytearray()
        self._chunks: list[bytes] = []
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._digest.update(data)
        self._size += len(data)
        self._pending += data
        while len(self._pending) >= CHUNK_BYTES:
            self._put(CHUNK_BYTES)
        return len(data)

    def _put(self, size: int) -> None:
        self._chunks.append(self._vault.put(bytes(self._pending[:size])))
        del self._pending[:size]

    def finished(self, name: str) -> KeptFile:
        """The file that was written."""
        if self._pending:
            self._put(len(self._pending))
        return KeptFile(name, self._size, self._digest.digest(), self._chunks)


def _remembered(archive: Archive, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        if archive.store.is_forgotten(item.source, item.id):
            continue
        if not (isinstance(item, Conversation) and item.only_prompts):
            yield item
        elif timeline := [each for each in item.timeline if not _is_forgotten(archive, item, each)]:
            yield replace(item, timeline=timeline)


def _is_forgotten(archive: Archive, prompts: Conversation, entry: Message | Event) -> bool:
    return archive.store.forgets_some(prompts, [row_of(entry)])


def sweep(archive: Archive) -> int:
    """Remove every blob that no snapshot needs from the vault; how many bytes that gave back."""
    store, vault = archive.store, archive.vault
    vault.settle()
    needed = store.needed_blobs()
    freed = 0
    places: dict[int, list[tuple[bytes, Place]]] = {}
    for blob, place in list(store.places()):
        places.setdefault(place.pack, []).append((blob, place))
    with store.transaction():  # what was lost and is needed no more
        there = {*vault.packs()}
        store.drop_blobs(
            [blob for pack in places.keys() - there for blob, _ in places[pack] if blob not in needed]
        )
    for pack in vault.packs():
        known = places.get(pack, [])
        here = [(blob, place) for blob, place in known if blob in needed]
        if vault.has_only(pack, (place for _, place in here)):
            continue
        gone = [blob for blob, _ in known if blob not in needed]
        lost: list[tuple[bytes, Place]] = []
        vault.begin_pack()
        for blob, place in here:
            try:
                vault.move(blob, place)
            except DamagedArchive:
                lost.append((blob, place))  # 'check' tells that it is lost, 'repair' looks for it elsewhere
        vault.settle()
        with store.transaction():
            store.drop_blobs(gone)
            store.lose_places(lost)
        freed += sum(place.stored for blob, place in known if blob not in needed)
        vault.drop_pack(pack)
    return freed
