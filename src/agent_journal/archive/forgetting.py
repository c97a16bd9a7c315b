"""Erase conversations for good: rows, raw bytes, and what is left of them in files.

A file that contains nothing else is erased as a whole. If an export contains other conversations too, its
bytes are replaced by these conversations in the lossless JSON format.

The rows and the intent to erase the rest go into one durable transaction. Every later step may fail and be
run again, until all are done.
"""

from __future__ import annotations

import hashlib
import io
import shlex
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from agent_journal import readers, writers
from agent_journal.archive import salvage
from agent_journal.archive.candidates import Stat, is_gone
from agent_journal.archive.manifest import Manifest, StoredFile
from agent_journal.archive.rows import row_of
from agent_journal.archive.store import Erasing, Status
from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.conversion.output import new_run
from agent_journal.errors import AgentJournalError, CannotWrite, DamagedArchive
from agent_journal.inputs.input import as_path
from agent_journal.model import Conversation
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Snapshot, SourceRow
    from agent_journal.archive.vault import BlobLocation, Vault
    from agent_journal.model import Event, Item, Message

# The lossless format of this program, by the name of its reader and writer.
_LOSSLESS_FORMAT = "json"


def forget(
    archive: Archive,
    keys: Iterable[int],
    now: str,
    *,
    memories: bool = False,
    names: Iterable[str] = (),
) -> None:
    """Erase conversations from the rows, so that no sync restores them. `finish_erasing` erases the rest.

    With `memories`, all memories are erased too. `names` are what the user called them, for a retry after
    `finish_erasing` failed.
    """
    store = archive.store
    store.commit_durably()
    with store.transaction():
        erasing = store.pending_erasure() or Erasing()
        sources = dict.fromkeys(erasing.sources)
        for key in keys:
            sources.update(dict.fromkeys(store.sources_of(key)))
            store.forget(key, now)
        if memories:
            store.forget_memories(now)
            sources.update(dict.fromkeys(row.key for row in store.sources()))
        known = [*erasing.names, *map(hashed_name, names)]
        store.set_pending_erasure(Erasing(sources=list(sources), rows=True, names=known))


def hashed_name(name: str) -> str:
    """Hash a name, as it is stored until everything it names is erased."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


class ErasureResult(NamedTuple):
    """What was erased from the vault."""

    freed: int
    """How many bytes were freed."""
    failures: list[AgentJournalError]
    replaced: list[str]
    """The sources whose damaged bytes were replaced, each with the consequence."""


def finish_erasing(archive: Archive) -> ErasureResult:
    """Erase forgotten content from the vault. A source that fails does not stop the others."""
    archive.store.commit_durably()  # older rows must not refer to a deleted pack after a power cut
    erasing = archive.store.pending_erasure()
    failures: list[AgentJournalError] = []
    replaced: list[str] = []
    for source in erasing.sources if erasing else ():
        try:
            replaced += scrub_source(archive, source)
        except AgentJournalError as error:
            failures.append(error)
    freed = 0
    try:
        freed = sweep(archive)
    except AgentJournalError as error:
        failures.append(error)
    except OSError as error:
        failures.append(CannotWrite(str(archive.home), (error.strerror or str(error)).lower()))
    return ErasureResult(freed, failures, replaced)


def scrub_source(archive: Archive, source: int) -> list[str]:
    """Remove what is forgotten from the vault's copy of a source; return messages about damage in it."""
    store = archive.store
    row = store.source_by_key(source)
    if store.is_empty_source(source):
        with store.transaction():
            store.drop_snapshots(source)
            emptied = replace(row, notes=[], conversations=0, messages=0, missing_since=None)
            store.put_source(replace(emptied, status=Status.FORGOTTEN))
        return []
    snapshots = store.snapshots(source)
    vaults = [salvage.PatchedVault(archive.vault, snapshot.manifest) for snapshot in snapshots]
    rewritten = [
        rewrite_snapshot(archive, snapshot, row.path, vault)
        for snapshot, vault in zip(snapshots, vaults, strict=True)
    ]
    archive.vault.settle()
    is_damaged = any(vault.trouble is not None for vault in vaults)
    with store.transaction():
        store.drop_snapshots(source)
        for snapshot in rewritten:
            store.put_snapshot(snapshot)
        if is_damaged:
            store.put_source(_with_replacement_note(row))
    return [f"{row.path}: {_replacement_message(row)}"] if is_damaged else []


def _replacement_message(row: SourceRow) -> str:
    """Explain what happened to a source whose damaged bytes were replaced."""
    path = as_path(row.path)
    if path == "-" or is_gone(path):
        how = "is lost, as the source is gone from disk"
    elif row.home:
        how = "comes back with the next 'aj sync'"
    else:
        how = f"comes back with 'aj import {shlex.quote(path)}'"
    return (
        "stored bytes of it were damaged; the other conversations in them are now stored as in the rows, "
        f"and the original form of their messages {how}"
    )


def _with_replacement_note(row: SourceRow) -> SourceRow:
    """Add that message to a ledger entry; if discovery covers the source, the next sync reads it again."""
    note = {"kind": Kind.RECOVERED.label, "file": row.path, "where": "", "detail": _replacement_message(row)}
    notes = [each for each in row.notes if each != note]
    status = Status.PARTLY if row.status == Status.IMPORTED else row.status
    return replace(row, stat=Stat(), status=status, notes=[note, *notes])


def rewrite_snapshot(
    archive: Archive, snapshot: Snapshot, label: str, vault: salvage.PatchedVault
) -> Snapshot:
    """Write the part of a snapshot that is not forgotten in the lossless JSON format.

    `vault` records the damage that was found.
    """
    info = readers.get(_LOSSLESS_FORMAT).INFO
    items = salvage.items(archive, snapshot, label, vault)
    out = _VaultStream(archive.vault)
    writers.get(_LOSSLESS_FORMAT).write(
        _not_forgotten(archive, items), cast("IO[bytes]", out), new_run(Notes())
    )
    file = out.finished("remaining.jsonl")
    return replace(
        snapshot,
        reader=info.name,
        version=info.versions[0],
        revision=info.revision,
        manifest=Manifest(name=file.name, files={"": file}),
    )


class _VaultStream(io.RawIOBase):
    """A stream that writes to the vault, with at most one chunk in memory."""

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

    def finished(self, name: str) -> StoredFile:
        """Finish and return the written file."""
        if self._pending:
            self._put(len(self._pending))
        return StoredFile(name, self._size, self._digest.digest(), self._chunks)


def _not_forgotten(archive: Archive, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        if archive.store.is_forgotten(item.source, item.id):
            continue
        if not (isinstance(item, Conversation) and item.only_prompts):
            yield item
        elif timeline := [each for each in item.timeline if not _is_forgotten(archive, item, each)]:
            yield replace(item, timeline=timeline)


def _is_forgotten(archive: Archive, prompts: Conversation, entry: Message | Event) -> bool:
    return archive.store.has_forgotten_prompts(prompts, [row_of(entry)])


def sweep(archive: Archive) -> int:
    """Remove every blob that no snapshot needs from the vault; return how many bytes were freed."""
    store, vault = archive.store, archive.vault
    vault.settle()
    needed = store.needed_blobs()
    freed = 0
    by_pack: dict[int, list[tuple[bytes, BlobLocation]]] = {}
    for blob, location in list(store.locations()):
        by_pack.setdefault(location.pack, []).append((blob, location))
    with store.transaction():  # blobs of lost packs that nothing needs any more
        existing_packs = {*vault.packs()}
        store.drop_blobs(
            [
                blob
                for pack in by_pack.keys() - existing_packs
                for blob, _ in by_pack[pack]
                if blob not in needed
            ]
        )
    for pack in vault.packs():
        known = by_pack.get(pack, [])
        needed_here = [(blob, location) for blob, location in known if blob in needed]
        if vault.holds_only(pack, (location for _, location in needed_here)):
            continue
        unneeded = [blob for blob, _ in known if blob not in needed]
        lost: list[tuple[bytes, BlobLocation]] = []
        vault.begin_pack()
        for blob, location in needed_here:
            try:
                vault.move(blob, location)
            except DamagedArchive:
                lost.append((blob, location))  # 'check' reports it, 'repair' looks for it elsewhere
        vault.settle()
        with store.transaction():
            store.drop_blobs(unneeded)
            store.mark_lost(lost)
        freed += sum(location.stored for blob, location in known if blob not in needed)
        vault.drop_pack(pack)
    return freed
