"""Healing what is damaged in a journal, from wherever the same bytes still are.

Bytes of the vault come from the source they were read from, if that is still there, or from a backup: what
is found must have the hash that is sought, so nothing wrong can be put in. Entries of the rows come from the
vault or from a backup, by the same rule. What is nowhere else can be given up: then the vault keeps what the
rows have of it, and the rows what their columns have.

Each step is lasting when it ends, and a later run begins with what is still damaged.
"""

from __future__ import annotations

import hashlib
import os
from itertools import count
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple, cast

from msgspec.structs import replace

from agent_journal.archive import DATABASE, LOCK, checking, forgetting, open_as_it_is, salvage
from agent_journal.archive.candidates import Found, is_gone
from agent_journal.archive.lock import Lock
from agent_journal.archive.manifest import KeptFile, KeptRows
from agent_journal.archive.reading import Reading
from agent_journal.archive.rows import row_of, without_native
from agent_journal.archive.sqlite import is_damaged
from agent_journal.archive.vault import Place
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
    from agent_journal.archive.store import Snapshot, SourceRow, Unsound
    from agent_journal.archive.vault import Vault

STDIN = "-"


class Healed(NamedTuple):
    """Something that was damaged and is not any more."""

    what: str
    """The source or conversation that it is of."""
    how: str
    """What was damaged of it, and where the same was found."""
    bytes: int = 0


class Lost(NamedTuple):
    """Something that is damaged and was found nowhere else."""

    what: str
    how: str
    bytes: int
    conversations: list[str]
    """Those of which something is in it."""
    is_given_up: bool = False
    """Whether the journal does without it from now on."""


class Outcome(NamedTuple):
    """What a repair did."""

    healed: list[Healed]
    lost: list[Lost]


class Repairing:
    """One repair of a journal that nobody else is writing to."""

    def __init__(self, archive: Archive, now: str, told: Callable[[str], None] = lambda _: None) -> None:
        self._archive = archive
        self._now = now
        self._told = told
        self._healed: list[Healed] = []
        self._lost: list[Lost] = []

    def run(
        self,
        backup: Archive | None = None,
        *,
        gives_up: bool = False,
        reimport: Callable[[list[Found]], None] | None = None,
    ) -> Outcome:
        """Heal what can be healed, first from what is nearest to the source.

        `reimport` is given sources of which the journal no longer knows what it kept, and that are on disk.
        """
        self._told("looking for damage")
        self._file()
        damaged = self._damaged()
        self._from_sources(damaged)
        if reimport is not None:
            self._again(damaged, reimport)
        if backup is not None:
            self._from_backup(damaged, backup)
        self._rows(backup, gives_up=gives_up)
        if damaged:
            self._name_lost(damaged, gives_up=gives_up)
        return Outcome(self._healed, self._lost)

    # The database's own structure

    def _file(self) -> None:
        if self._archive.store.mend_indexes():
            self._healed.append(Healed("journal.db", "an index of its tables was damaged, and made again"))

    # Blobs

    def _damaged(self) -> dict[bytes, Place]:
        """Every blob that is needed and is not what was put, where it should lie."""
        store, vault = self._archive.store, self._archive.vault
        needed = checking.needed_blobs(self._archive)
        places = [(blob, place) for blob, place in store.places() if needed is None or blob in needed]
        found = {blob: place for blob, place in places if vault.trouble_at(blob, place)}
        known = {blob for blob, _ in places}
        named = {
            blob
            for row in list(store.sources())
            for snapshot in store.snapshots(row.key)
            if not snapshot.manifest.damage
            for blob in snapshot.manifest.blobs()
        }
        unknown = named - known  # an older version did not remember how large what it lost was
        return found | dict.fromkeys(unknown, Place(0, 0, 0, 0))

    def _from_sources(self, damaged: dict[bytes, Place]) -> None:
        for row, snapshot in list(self._holding(damaged)):
            path = as_path(row.path)
            wanted = damaged.keys() & set(snapshot.manifest.blobs())
            if not wanted or row.path == STDIN or is_gone(path):
                continue
            self._told(f"reading {row.path}")
            with _Taking(self._archive.vault, wanted) as taking:
                known = {snapshot.unit: snapshot}
                reading = Reading(cast("Vault", taking), self._now, None, known, largest_media=None)
                try:
                    for _ in reading.items(Found(path, row.reader, row.home), row):
                        pass
                except (AgentJournalError, OSError):
                    pass  # what came before that is of use
                self._archive.vault.settle()
                self._put(row.path, damaged, taking.healed, "read again from the source")

    def _again(self, damaged: dict[bytes, Place], reimport: Callable[[list[Found]], None]) -> None:
        """Import sources anew whose manifests are damaged: those name bytes that never were."""
        store = self._archive.store
        rows = {
            row.path: row
            for row in list(store.sources())
            for snapshot in store.snapshots(row.key)
            if snapshot.manifest.damage
            or any(blob in damaged and not damaged[blob].size for blob in snapshot.manifest.blobs())
        }
        there = [row for row in rows.values() if row.path != STDIN and not is_gone(as_path(row.path))]
        if not there:
            return
        reimport([Found(as_path(row.path), row.reader, row.home) for row in there])
        left = self._damaged()
        gone = damaged.keys() - left.keys()
        for blob in gone:
            del damaged[blob]
        for row in there:
            if not any(each.manifest.damage for each in store.snapshots(row.key)) and gone:
                self._healed.append(
                    Healed(row.path, "what tells which bytes were kept of it, imported again")
                )

    def _from_backup(self, damaged: dict[bytes, Place], backup: Archive) -> None:
        held: dict[str, set[bytes]] = {}
        for row, snapshot in self._holding(damaged):
            held.setdefault(row.path, set()).update(damaged.keys() & set(snapshot.manifest.blobs()))
        for path, blobs in held.items():
            healed = set()
            for blob in blobs & damaged.keys():
                try:
                    self._archive.vault.put(backup.vault.get(blob))
                    healed.add(blob)
                except DamagedArchive:
                    continue
            self._archive.vault.settle()
            self._put(path, damaged, healed, f"copied from {backup.home}")

    def _put(self, path: str, damaged: dict[bytes, Place], healed: set[bytes], how: str) -> None:
        sizes = [damaged.pop(blob).size for blob in healed if blob in damaged]
        if sizes:
            pieces = f"{len(sizes):,} {'piece' if len(sizes) == 1 else 'pieces'} of the vault"
            self._healed.append(Healed(path, f"{pieces} {how}", sum(sizes)))

    def _holding(self, damaged: dict[bytes, Place]) -> Iterator[tuple[SourceRow, Snapshot]]:
        """The snapshots that need damaged blobs, with their sources."""
        store = self._archive.store
        for row in list(store.sources()):
            for snapshot in store.snapshots(row.key):
                if not damaged.keys().isdisjoint(snapshot.manifest.blobs()):
                    yield row, snapshot

    def _name_lost(self, damaged: dict[bytes, Place], *, gives_up: bool) -> None:
        for row, snapshot in list(self._holding(damaged)):
            blobs = damaged.keys() & set(snapshot.manifest.blobs())
            size = sum(damaged[blob].size for blob in blobs)
            names = self._in_gap(snapshot, row.path)
            if gives_up:
                self._give_up(snapshot, blobs, row.path)
            how = f"{len(blobs):,} {'piece' if len(blobs) == 1 else 'pieces'} of what the vault kept of it"
            self._lost.append(Lost(row.path, how, size, names, gives_up))
        if gives_up:
            forgetting.sweep(self._archive)

    def _in_gap(self, snapshot: Snapshot, label: str) -> list[str]:
        """The conversations that the vault no longer gives whole."""
        store, whole = self._archive.store, set()
        patched = salvage.Patched(self._archive.vault, snapshot.manifest)
        for item in salvage.readable(snapshot, patched, label):
            key = store.key_of(item.source, item.id) if isinstance(item, Conversation) else None
            if key is not None and isinstance(item, Conversation) and _holds(item, store.conversation(key)):
                whole.add(key)
        left = [key for key in store.told_by(snapshot.source, snapshot.unit) if key not in whole]
        return [f"{each.source}:{each.id}" for each in store.listed(left).values()]

    def _give_up(self, snapshot: Snapshot, blobs: set[bytes], label: str) -> None:
        """Let a snapshot do without what is lost; what the rows have of it is kept beside the rest."""
        store, vault = self._archive.store, self._archive.vault
        kept = forgetting.rewritten(self._archive, snapshot, label)
        gaps = {blob: vault.put(salvage.stand_in(vault, snapshot.manifest, blob)) for blob in blobs}
        vault.settle()
        rest = _without(vault, snapshot.manifest, gaps)
        last = max(each.number for each in store.snapshots(snapshot.source, snapshot.unit))
        with store.transaction():
            # What is newest is read first, and what the older one has beside it comes behind that.
            store.put_snapshot(replace(kept, number=snapshot.number))
            if any(file.size for file in rest.files.values()) or rest.databases:
                store.put_snapshot(replace(snapshot, manifest=rest, number=last + 1))

    # Rows

    def _rows(self, backup: Archive | None, *, gives_up: bool) -> None:
        store = self._archive.store
        for listed in list(store.listed(store.all_conversations()).values()):
            unsound = store.unsound(listed.key)
            if not unsound:
                continue
            name = f"{listed.source}:{listed.id}"
            self._told(f"mending {name}")
            for item, where in self._elsewhere(listed.key, backup):
                with store.transaction():
                    mended = store.mend(listed.key, item, [row_of(entry) for entry in item.timeline])
                left = store.unsound(listed.key)
                if mended or left.detail != unsound.detail:
                    what = (
                        f"{mended:,} {'entry' if mended == 1 else 'entries'}"
                        if mended
                        else "what is known of it"
                    )
                    self._healed.append(Healed(name, f"{what} of the rows {where}"))
                unsound = left
                if not unsound:
                    break
            if unsound:
                self._lose_rows(listed.key, name, unsound, gives_up=gives_up)
        with store.transaction():
            mended = store.mend_links()
        if mended:
            told = f"{mended:,} that did not fit together {'was' if mended == 1 else 'were'} set right"
            self._healed.append(Healed("journal.db", f"counts and links of the rows: {told}"))

    def _lose_rows(self, key: int, name: str, unsound: Unsound, *, gives_up: bool) -> None:
        if gives_up:
            with self._archive.store.transaction():
                self._archive.store.settle_for_columns(key)
        number = len(unsound.entries)
        what = (
            f"{number:,} {'entry' if number == 1 else 'entries'} of the rows, all but the words"
            if number
            else ""
        )
        known = "what is known of it beside its entries" if unsound.detail else ""
        self._lost.append(Lost(name, " and ".join(filter(None, (what, known))), 0, [name], gives_up))

    def _elsewhere(self, key: int, backup: Archive | None) -> Iterator[tuple[Conversation, str]]:
        """A conversation as the vault has it, and as a backup does."""
        store = self._archive.store
        listed = store.listed([key])[key]
        for item in salvage.told_in_vault(self._archive, key):
            yield item, "read again from the vault"
        there = backup.store.key_of(listed.source, listed.id) if backup is not None else None
        if backup is not None and there is not None and not backup.store.unsound(there):
            yield backup.store.conversation(there), f"copied from {backup.home}"


def has_no_rows(home: Path) -> bool:
    """Whether the rows of a journal are gone, or cannot be read."""
    return is_damaged(home / DATABASE)


def restore_rows(home: Path, backup: Path) -> list[Healed]:
    """Put the rows of a backup in the place of rows that cannot be used; those are kept beside them."""
    with open_as_it_is(backup) as copy:
        wanting = [*copy.store.problems()]
        if wanting:
            raise DamagedArchive(wanting[0][0], f"the backup cannot be used either: {wanting[0][1]}")
        lock = Lock(home / LOCK)
        lock.acquire(0)
        try:
            part = home / f"{DATABASE}.restored"
            part.unlink(missing_ok=True)
            copy.store.backup(part)
            aside = _set_aside(home)
            part.rename(home / DATABASE)
            sync_folder(str(home))
        finally:
            lock.release()
    how = f"the rows could not be used; those of {backup} are in their place, and they are {aside.name} now"
    return [Healed(DATABASE, f"{how}. 'aj sync' brings in what came since")]


def _set_aside(home: Path) -> Path:
    """Move rows that cannot be used out of the way, with their log."""
    number = next(n for n in count(1) if not (home / f"{DATABASE}.damaged-{n}").exists())
    aside = home / f"{DATABASE}.damaged-{number}"
    for suffix in ("-wal", "-shm", ""):
        old = home / f"{DATABASE}{suffix}"
        if old.exists():
            old.rename(f"{aside}{suffix}")
    return aside


class _Taking(Closing):
    """A vault that takes only what is wanted; what else a reader asks for is in a temporary file."""

    def __init__(self, vault: Vault, wanted: set[bytes]) -> None:
        self._vault = vault
        self._wanted = wanted
        self._places: dict[bytes, tuple[int, int]] = {}
        self._file = TemporaryFile(prefix="agent-journal-")  # noqa: SIM115 (see close)
        self.healed: set[bytes] = set()

    def put(self, data: bytes) -> bytes:
        """Take bytes; their hash."""
        blob = hashlib.sha256(data).digest()
        if blob in self._wanted:
            self._vault.put(data)
            self.healed.add(blob)
        elif blob not in self._places and not self._vault.is_intact(blob):
            self._places[blob] = self._file.seek(0, os.SEEK_END), len(data)
            self._file.write(data)
        return blob

    def holds(self, blob: bytes, data: bytes) -> bool:
        """Whether these bytes are there."""
        return blob in self._places or self._vault.holds(blob, data)

    def size_of(self, blob: bytes) -> int | None:
        """How many bytes a blob has."""
        return self._places[blob][1] if blob in self._places else self._vault.size_of(blob)

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash."""
        if blob not in self._places:
            return self._vault.get(blob)
        start, size = self._places[blob]
        self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        """Let go of the temporary file."""
        self._file.close()


def _holds(item: Conversation, stored: Conversation) -> bool:
    """Whether an item has every entry of a conversation as the rows have it."""
    there = {entry.id: entry for entry in item.timeline}
    for entry in stored.timeline:
        other = there.get(entry.id)
        if (without_native(other) if isinstance(other, Message) else other) != entry:
            return False
    return True


def _without(vault: Vault, manifest: Manifest, gaps: dict[bytes, bytes]) -> Manifest:
    """A manifest with other blobs in place of lost ones."""
    files = {}
    for place, file in manifest.files.items():
        if gaps.keys().isdisjoint(file.chunks):
            files[place] = file
            continue
        chunks = [gaps.get(chunk, chunk) for chunk in file.chunks]
        digest, size = hashlib.sha256(), 0
        for chunk in chunks:
            data = vault.get(chunk)
            digest.update(data)
            size += len(data)
        files[place] = KeptFile(file.name, size, digest.digest(), chunks, file.modified_at, file.broke)
    databases = {
        place: [
            KeptRows(
                each.sql,
                each.values,
                [gaps.get(group, group) for group in each.groups],
                each.broke,
                each.count,
            )
            for each in answers
        ]
        for place, answers in manifest.databases.items()
    }
    return replace(manifest, files=files, databases=databases)
