"""Repair damage in a journal from wherever the same bytes still exist.

Bytes of the vault come from their source, if it still exists, or from a backup. They must have the right
hash, so nothing wrong can be stored. Entries of the rows come from the vault or from a backup, by the same
rule. What exists nowhere else can be given up: then the vault stores what the rows have of it, and the rows
what their columns have.

Each step is durable when it ends, and a later run continues with what is still damaged.
"""

from __future__ import annotations

import hashlib
import os
from itertools import count
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from agent_journal.archive import DATABASE, LOCK, checking, forgetting, open_without_migrating, salvage
from agent_journal.archive.candidates import ImportCandidate, is_gone
from agent_journal.archive.lock import Lock
from agent_journal.archive.manifest import StoredFile, StoredRows
from agent_journal.archive.reading import SourceReading
from agent_journal.archive.rows import row_of, without_native
from agent_journal.archive.sqlite import is_damaged
from agent_journal.archive.vault import BlobLocation
from agent_journal.errors import AgentJournalError, DamagedArchive
from agent_journal.files import sync_folder
from agent_journal.inputs.closeable import Closing
from agent_journal.inputs.input import as_path
from agent_journal.model import Conversation, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import Manifest
    from agent_journal.archive.store import DamagedRows, Snapshot, SourceRow
    from agent_journal.archive.vault import Vault

STDIN = "-"


class Repaired(NamedTuple):
    """Something that was repaired."""

    what: str
    """The source or conversation that it belongs to."""
    how: str
    """What was damaged, and where the replacement came from."""
    bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"healed": self.what, "how": self.how, "bytes": self.bytes}


class Lost(NamedTuple):
    """Something that is damaged and exists nowhere else."""

    what: str
    how: str
    bytes: int
    conversations: list[str]
    """The conversations that are affected."""
    is_given_up: bool = False
    """Whether the journal has given it up."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "lost": self.what,
            "how": self.how,
            "bytes": self.bytes,
            "conversations": self.conversations,
            "given_up": self.is_given_up,
        }


class RepairOutcome(NamedTuple):
    """The outcome of a repair."""

    repaired: list[Repaired]
    lost: list[Lost]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values; `repaired` and `lost` are separate."""
        return {"ok": not self.lost, "healed": len(self.repaired), "lost": len(self.lost)}


class Repair:
    """One repair of a journal that no other process is writing to."""

    def __init__(
        self, archive: Archive, now: str, on_progress: Callable[[str], None] = lambda _: None
    ) -> None:
        self._archive = archive
        self._now = now
        self._on_progress = on_progress
        self._repaired: list[Repaired] = []
        self._lost: list[Lost] = []

    def run(
        self,
        backup: Archive | None = None,
        *,
        gives_up: bool = False,
        reimport: Callable[[list[ImportCandidate]], None] | None = None,
    ) -> RepairOutcome:
        """Repair what can be repaired, first from what is nearest to the source.

        `reimport` is called with sources on disk whose manifests are damaged.
        """
        self._on_progress("looking for damage")
        self._repair_database_indexes()
        damaged = self._damaged_blobs()
        self._repair_from_sources(damaged)
        if reimport is not None:
            self._reimport_sources(damaged, reimport)
        if backup is not None:
            self._repair_from_backup(damaged, backup)
        self._repair_rows(backup, gives_up=gives_up)
        if damaged:
            self._report_lost(damaged, gives_up=gives_up)
        return RepairOutcome(self._repaired, self._lost)

    # The database's own structure

    def _repair_database_indexes(self) -> None:
        if self._archive.store.rebuild_damaged_indexes():
            self._repaired.append(Repaired("journal.db", "rebuilt an index of its tables that was damaged"))

    # Blobs

    def _damaged_blobs(self) -> dict[bytes, BlobLocation]:
        """Return every damaged blob that is needed, with its location."""
        store, vault = self._archive.store, self._archive.vault
        needed = checking.needed_blobs(self._archive)
        places = [(blob, place) for blob, place in store.locations() if needed is None or blob in needed]
        damaged = {blob: place for blob, place in places if vault.problem_at(blob, place)}
        known = {blob for blob, _ in places}
        named = {
            blob
            for row in list(store.sources())
            for snapshot in store.snapshots(row.key)
            if not snapshot.manifest.damage
            for blob in snapshot.manifest.blobs()
        }
        unknown = named - known  # an older version did not store the size of what was lost
        return damaged | dict.fromkeys(unknown, BlobLocation(0, 0, 0, 0))

    def _repair_from_sources(self, damaged: dict[bytes, BlobLocation]) -> None:
        for row, snapshot in list(self._snapshots_with(damaged)):
            path = as_path(row.path)
            missing = damaged.keys() & set(snapshot.manifest.blobs())
            if not missing or row.path == STDIN or is_gone(path):
                continue
            self._on_progress(f"reading {row.path}")
            with _SelectiveVault(self._archive.vault, missing) as selective_vault:
                known = {snapshot.unit: snapshot}
                reading = SourceReading(
                    cast("Vault", selective_vault), self._now, None, known, largest_media=None
                )
                try:
                    for _ in reading.items(ImportCandidate(path, row.reader, row.home), row):
                        pass
                except (AgentJournalError, OSError):
                    pass  # what was read before that is still useful
                self._archive.vault.settle()
                self._record_repaired(
                    row.path, damaged, selective_vault.stored, "read again from its file on disk"
                )

    def _reimport_sources(
        self, damaged: dict[bytes, BlobLocation], reimport: Callable[[list[ImportCandidate]], None]
    ) -> None:
        """Import sources again whose manifests are damaged: these may name bytes that never existed."""
        store = self._archive.store
        rows = {
            row.path: row
            for row in list(store.sources())
            for snapshot in store.snapshots(row.key)
            if snapshot.manifest.damage
            or any(blob in damaged and not damaged[blob].size for blob in snapshot.manifest.blobs())
        }
        available = [row for row in rows.values() if row.path != STDIN and not is_gone(as_path(row.path))]
        if not available:
            return
        reimport([ImportCandidate(as_path(row.path), row.reader, row.home) for row in available])
        left = self._damaged_blobs()
        gone = damaged.keys() - left.keys()
        for blob in gone:
            del damaged[blob]
        for row in available:
            if not any(each.manifest.damage for each in store.snapshots(row.key)) and gone:
                self._repaired.append(Repaired(row.path, "its list of stored bytes: imported again"))

    def _repair_from_backup(self, damaged: dict[bytes, BlobLocation], backup: Archive) -> None:
        blobs_by_path: dict[str, set[bytes]] = {}
        for row, snapshot in self._snapshots_with(damaged):
            blobs_by_path.setdefault(row.path, set()).update(damaged.keys() & set(snapshot.manifest.blobs()))
        for path, blobs in blobs_by_path.items():
            restored = set()
            for blob in blobs & damaged.keys():
                try:
                    self._archive.vault.put(backup.vault.get(blob))
                    restored.add(blob)
                except DamagedArchive:
                    continue
            self._archive.vault.settle()
            self._record_repaired(path, damaged, restored, f"copied from {backup.home}")

    def _record_repaired(
        self, path: str, damaged: dict[bytes, BlobLocation], restored: set[bytes], how: str
    ) -> None:
        sizes = [damaged.pop(blob).size for blob in restored if blob in damaged]
        if sizes:
            pieces = f"{len(sizes):,} {'piece' if len(sizes) == 1 else 'pieces'} of the vault"
            self._repaired.append(Repaired(path, f"{pieces} {how}", sum(sizes)))

    def _snapshots_with(self, damaged: dict[bytes, BlobLocation]) -> Iterator[tuple[SourceRow, Snapshot]]:
        """Yield the snapshots that need damaged blobs, with their sources."""
        store = self._archive.store
        for row in list(store.sources()):
            for snapshot in store.snapshots(row.key):
                if not damaged.keys().isdisjoint(snapshot.manifest.blobs()):
                    yield row, snapshot

    def _report_lost(self, damaged: dict[bytes, BlobLocation], *, gives_up: bool) -> None:
        for row, snapshot in list(self._snapshots_with(damaged)):
            blobs = damaged.keys() & set(snapshot.manifest.blobs())
            size = sum(damaged[blob].size for blob in blobs)
            names = self._conversations_lost_in(snapshot, row.path)
            if gives_up:
                self._give_up(snapshot, blobs, row.path)
            how = f"{len(blobs):,} {'piece' if len(blobs) == 1 else 'pieces'} of its content in the vault"
            self._lost.append(Lost(row.path, how, size, names, gives_up))
        if gives_up:
            forgetting.sweep(self._archive)

    def _conversations_lost_in(self, snapshot: Snapshot, label: str) -> list[str]:
        """Return the conversations that the vault no longer has completely."""
        store, complete = self._archive.store, set()
        patched = salvage.PatchedVault(self._archive.vault, snapshot.manifest)
        for item in salvage.readable_items(self._archive, snapshot, patched, label):
            key = store.key_of(item.source, item.id) if isinstance(item, Conversation) else None
            if (
                key is not None
                and isinstance(item, Conversation)
                and _contains_stored(item, store.conversation(key))
            ):
                complete.add(key)
        incomplete = [
            key for key in store.conversations_of_unit(snapshot.source, snapshot.unit) if key not in complete
        ]
        return [f"{each.source}:{each.id}" for each in store.listed(incomplete).values()]

    def _give_up(self, snapshot: Snapshot, blobs: set[bytes], label: str) -> None:
        """Replace what a snapshot lost by what the rows have, and store the rest next to it."""
        store, vault = self._archive.store, self._archive.vault
        patched = salvage.PatchedVault(vault, snapshot.manifest)
        from_rows = forgetting.rewrite_snapshot(self._archive, snapshot, label, patched)
        placeholders = {
            blob: vault.put(salvage.placeholder_for(vault, snapshot.manifest, blob)) for blob in blobs
        }
        vault.settle()
        rest = _with_placeholders(vault, snapshot.manifest, placeholders)
        last = max(each.number for each in store.snapshots(snapshot.source, snapshot.unit))
        with store.transaction():
            # The newest snapshot is read first, and the older one completes it.
            store.put_snapshot(replace(from_rows, number=snapshot.number))
            if any(file.size for file in rest.files.values()) or rest.databases:
                store.put_snapshot(replace(snapshot, manifest=rest, number=last + 1))

    # Rows

    def _repair_rows(self, backup: Archive | None, *, gives_up: bool) -> None:
        store = self._archive.store
        for listed in list(store.listed(store.all_conversations()).values()):
            damaged_rows = store.damaged_rows(listed.key)
            if not damaged_rows:
                continue
            name = f"{listed.source}:{listed.id}"
            self._on_progress(f"repairing {name}")
            for item, where in self._other_versions(listed.key, backup):
                with store.transaction():
                    repaired_count = store.repair_entries(
                        listed.key, item, [row_of(entry) for entry in item.timeline]
                    )
                left = store.damaged_rows(listed.key)
                if repaired_count or left.detail != damaged_rows.detail:
                    what = _describe_count(repaired_count) if repaired_count else "its metadata"
                    self._repaired.append(Repaired(name, f"{what} {where}"))
                damaged_rows = left
                if not damaged_rows:
                    break
            if damaged_rows:
                self._report_lost_rows(listed.key, name, damaged_rows, gives_up=gives_up)
        with store.transaction():
            repaired_count = store.repair_links()
        if repaired_count:
            self._repaired.append(
                Repaired("journal.db", f"counts and links of the rows: {repaired_count:,} corrected")
            )

    def _report_lost_rows(self, key: int, name: str, damaged_rows: DamagedRows, *, gives_up: bool) -> None:
        if gives_up:
            with self._archive.store.transaction():
                self._archive.store.accept_columns(key)
        number = len(damaged_rows.entries)
        what = f"{_describe_count(number)} in the rows, except for the text" if number else ""
        detail = "its metadata" if damaged_rows.detail else ""
        self._lost.append(Lost(name, " and ".join(filter(None, (what, detail))), 0, [name], gives_up))

    def _other_versions(self, key: int, backup: Archive | None) -> Iterator[tuple[Conversation, str]]:
        """Yield a conversation as the vault has it, and as a backup has it."""
        store = self._archive.store
        listed = store.listed([key])[key]
        for item in salvage.versions_in_vault(self._archive, key):
            yield item, "restored from the vault"
        key_in_backup = backup.store.key_of(listed.source, listed.id) if backup is not None else None
        if backup is not None and key_in_backup is not None and not backup.store.damaged_rows(key_in_backup):
            yield backup.store.conversation(key_in_backup), f"copied from {backup.home}"


def _describe_count(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def has_no_rows(home: Path) -> bool:
    """Whether the rows of a journal are missing or unreadable."""
    return is_damaged(home / DATABASE)


def restore_rows(home: Path, backup: Path) -> list[Repaired]:
    """Replace unusable rows by those of a backup; the unusable ones are renamed, not deleted."""
    with open_without_migrating(backup) as copy:
        problems = [*copy.store.problems()]
        if problems:
            raise DamagedArchive(problems[0][0], f"the backup is damaged too: {problems[0][1]}")
        lock = Lock(home / LOCK)
        lock.acquire(0)
        try:
            part = home / f"{DATABASE}.restored"
            part.unlink(missing_ok=True)
            copy.store.backup(part)
            renamed = _rename_damaged(home)
            part.rename(home / DATABASE)
            sync_folder(str(home))
        finally:
            lock.release()
    how = f"replaced by the database in {backup}; the damaged one is now {renamed.name}"
    return [Repaired(DATABASE, f"{how}; run 'aj sync' to add what is newer")]


def _rename_damaged(home: Path) -> Path:
    """Rename unusable rows and their log."""
    number = next(n for n in count(1) if not (home / f"{DATABASE}.damaged-{n}").exists())
    renamed = home / f"{DATABASE}.damaged-{number}"
    for suffix in ("-wal", "-shm", ""):
        old = home / f"{DATABASE}{suffix}"
        if old.exists():
            old.rename(f"{renamed}{suffix}")
    return renamed


class _SelectiveVault(Closing):
    """A vault that stores only the wanted blobs; others that a reader needs go to a temporary file."""

    def __init__(self, vault: Vault, wanted: set[bytes]) -> None:
        self._vault = vault
        self._wanted = wanted
        self._spans: dict[bytes, tuple[int, int]] = {}
        self._file = TemporaryFile(prefix="agent-journal-")  # noqa: SIM115 (see close)
        self.stored: set[bytes] = set()

    def put(self, data: bytes) -> bytes:
        """Store bytes and return their hash."""
        blob = hashlib.sha256(data).digest()
        if blob in self._wanted:
            self._vault.put(data)
            self.stored.add(blob)
        elif blob not in self._spans and not self._vault.is_intact(blob):
            self._spans[blob] = self._file.seek(0, os.SEEK_END), len(data)
            self._file.write(data)
        return blob

    def holds(self, blob: bytes, data: bytes) -> bool:
        """Whether these bytes are stored."""
        return blob in self._spans or self._vault.holds(blob, data)

    def size_of(self, blob: bytes) -> int | None:
        """Return the size of a blob in bytes."""
        return self._spans[blob][1] if blob in self._spans else self._vault.size_of(blob)

    def get(self, blob: bytes) -> bytes:
        """Return bytes by their hash."""
        if blob not in self._spans:
            return self._vault.get(blob)
        start, size = self._spans[blob]
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Close the temporary file."""
        self._file.close()


def _contains_stored(item: Conversation, stored: Conversation) -> bool:
    """Whether an item has every entry of a stored conversation unchanged."""
    entries = {entry.id: entry for entry in item.timeline}
    for entry in stored.timeline:
        other = entries.get(entry.id)
        if (without_native(other) if isinstance(other, Message) else other) != entry:
            return False
    return True


def _with_placeholders(vault: Vault, manifest: Manifest, placeholders: dict[bytes, bytes]) -> Manifest:
    """Return a manifest with placeholders for lost blobs."""
    files = {}
    for path, file in manifest.files.items():
        if placeholders.keys().isdisjoint(file.chunks):
            files[path] = file
            continue
        chunks = [placeholders.get(chunk, chunk) for chunk in file.chunks]
        digest, size = hashlib.sha256(), 0
        for chunk in chunks:
            data = vault.get(chunk)
            digest.update(data)
            size += len(data)
        files[path] = StoredFile(file.name, size, digest.digest(), chunks, file.modified_at, file.read_error)
    databases = {
        path: [
            StoredRows(
                answer.sql,
                answer.values,
                [placeholders.get(group, group) for group in answer.groups],
                answer.read_error,
                answer.count,
            )
            for answer in answers
        ]
        for path, answers in manifest.databases.items()
    }
    return replace(manifest, files=files, databases=databases)
