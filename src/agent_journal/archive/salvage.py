"""What is left of a unit whose kept bytes are damaged: the bytes around the damage, and what rows have of it.

One damaged blob costs no more than that blob. Files are cut behind whole records, so what stands before and
behind it can be read; of what it held, the rows still have all but the source's own form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.recording import Replayed
from agent_journal.archive.rows import row_of, without_native
from agent_journal.conversion import pipeline
from agent_journal.conversion.pipeline import Unit
from agent_journal.errors import AgentJournalError, DamagedArchive
from agent_journal.model import Memory, Message
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import KeptFile, Manifest
    from agent_journal.archive.store import Snapshot
    from agent_journal.archive.vault import Vault
    from agent_journal.model import Conversation, Event, Item

_NO_ROWS = b"\xdd\x00\x00\x00\x00"  # an empty list, as groups of rows are kept
# What stands for the first and the last piece of an array that is cut behind its elements.
_ARRAY_BEGINS, _ARRAY_ENDS = b"[null", b"]"


class Patched:
    """The vault for one unit, with something that lets the rest be read in place of each damaged blob."""

    def __init__(self, vault: Vault, manifest: Manifest) -> None:
        self._vault = vault
        self._manifest = manifest
        self.damaged: dict[bytes, DamagedArchive] = {}

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash, or what stands for them."""
        try:
            return self._vault.get(blob)
        except DamagedArchive as error:
            self.damaged[blob] = error
            return stand_in(self._vault, self._manifest, blob)

    @property
    def trouble(self) -> DamagedArchive | None:
        """The first damage that was met, or that of the manifest itself."""
        if self._manifest.damage:
            return DamagedArchive(self._manifest.label, self._manifest.damage)
        return next(iter(self.damaged.values()), None)


def stand_in(vault: Vault, manifest: Manifest, blob: bytes) -> bytes:
    """What lets a unit be read without a blob: no rows, no lines, or the bracket that an array needs."""
    for answers in manifest.databases.values():
        if any(blob in answer.groups for answer in answers):
            return _NO_ROWS
    file = next((each for each in manifest.files.values() if blob in each.chunks), None)
    if file is None or len(file.chunks) == 1 or not _is_array(vault, file):
        return b""
    if blob == file.chunks[0]:
        return _ARRAY_BEGINS
    return _ARRAY_ENDS if blob == file.chunks[-1] else b""


def _is_array(vault: Vault, file: KeptFile) -> bool:
    """Whether a file of several pieces is cut behind the elements of an array."""
    for place, sign in ((0, b"["), (1, b",")):
        try:
            return vault.get(file.chunks[place]).lstrip()[:1] == sign
        except DamagedArchive:
            continue
    return False


def items(archive: Archive, snapshot: Snapshot, label: str) -> Iterator[Item]:
    """Everything in a snapshot; what is damaged in the vault comes from the rows."""
    patched = Patched(archive.vault, snapshot.manifest)
    given: set[tuple[str, str]] = set()
    is_known = snapshot.reader in readers.discover()
    for item in readable(snapshot, patched, label):
        given.add((item.source, item.id))
        yield item if patched.trouble is None else completed(archive, item)
    if patched.trouble is not None or not is_known:
        yield from _from_rows(archive, snapshot, given)


def readable(snapshot: Snapshot, patched: Patched, label: str) -> Iterator[Item]:
    """What can be read of a snapshot; nothing, if its reader is not there any more."""
    if snapshot.reader not in readers.discover():
        return
    source = Replayed(snapshot.manifest, patched, label, snapshot.unit)
    unit = Unit(source, readers.get(snapshot.reader), snapshot.version)
    try:
        yield from pipeline.read_unit(unit, Notes(), is_confined=False)
    except AgentJournalError:
        # A reader may stumble over a gap; what it did not give comes from the rows.
        if patched.trouble is None:
            raise


def completed(archive: Archive, item: Item) -> Item:
    """An item that may lack something, as the rows have it, with the source's own form of what is in it."""
    if isinstance(item, Memory):
        return item
    key = archive.store.key_of(item.source, item.id)
    return item if key is None else with_native(archive.store.conversation(key), item)


def with_native(stored: Conversation, found: Conversation, left: set[str] | None = None) -> Conversation:
    """A conversation of the rows with the source's own form of its messages, of all or of those left."""
    left = {entry.id for entry in stored.timeline} if left is None else left
    there = {entry.id: entry for entry in found.timeline if entry.id in left}
    return replace(stored, timeline=[_own(entry, there.get(entry.id), left) for entry in stored.timeline])


def _own(entry: Message | Event, other: Message | Event | None, left: set[str]) -> Message | Event:
    if isinstance(other, Message) and isinstance(entry, Message) and without_native(other) == entry:
        left.discard(entry.id)
        return other
    return entry


def _from_rows(archive: Archive, snapshot: Snapshot, given: set[tuple[str, str]]) -> Iterator[Item]:
    """What the rows have of a unit and the vault did not give."""
    store = archive.store
    for key in store.told_by(snapshot.source, snapshot.unit):
        conversation = store.conversation(key)
        if (conversation.source, conversation.id) not in given:
            yield conversation
    for memory in store.memories_of(snapshot.source):
        if (memory.source, memory.id) not in given:
            yield memory


def told_in_vault(archive: Archive, key: int) -> Iterator[Conversation]:
    """A conversation as each snapshot in the vault tells it, newest first, as far as that can be read."""
    store = archive.store
    listed = store.listed([key]).get(key)
    for source, unit in store.units_of(key) if listed is not None else ():
        for snapshot in reversed(store.snapshots(source, unit) or store.snapshots(source)):
            patched = Patched(archive.vault, snapshot.manifest)
            for item in readable(snapshot, patched, unit):
                is_meant = listed is not None and (item.source, item.id) == (listed.source, listed.id)
                if is_meant and not isinstance(item, Memory):
                    yield item


class Told(NamedTuple):
    """What is to be said of a conversation whose rows are damaged."""

    name: str
    recovered: int
    """Entries that the vault still has."""
    missing: int
    """Entries of which there are no more than the words that were said."""

    def __str__(self) -> str:
        """In words."""
        told = [
            f"{self.recovered:,} damaged in the rows and taken from the vault" if self.recovered else "",
            f"{self.missing:,} damaged, of which only the words are left" if self.missing else "",
        ]
        return f"entries: {', '.join(filter(None, told))}; 'aj repair' heals what can be healed"


class Sound:
    """Reads rows; what is damaged in them comes from the vault, and what is nowhere else is told."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._told: dict[int, Told] = {}

    def conversation(self, key: int) -> Conversation:
        """A conversation with all of its entries."""
        store = self._archive.store
        pairs = dict(store.entries(key))
        bare = store.conversation_without_entries(key)
        return replace(bare, timeline=[*self._sound(key, pairs).values()])

    def entries(self, key: int, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Some entries of a conversation by their keys."""
        return self._sound(key, self._archive.store.entries_by_key(keys))

    def told(self) -> list[Told]:
        """What is to be said of what was read since this was asked last."""
        told, self._told = [*self._told.values()], {}
        return told

    def _sound(self, key: int, entries: dict[int, Message | Event]) -> dict[int, Message | Event]:
        store = self._archive.store
        damaged = {place: store.stood_in[place] for place in entries if place in store.stood_in}
        if not damaged:
            return entries
        recovered: dict[int, Message | Event] = {}
        for item in told_in_vault(self._archive, key):
            found = {row_of(entry).hash: entry for entry in item.timeline}
            for place, digest in damaged.items():
                if digest in found and place not in recovered:
                    entry = found[digest]
                    recovered[place] = without_native(entry) if isinstance(entry, Message) else entry
            if len(recovered) == len(damaged):
                break
        listed = store.listed([key])[key]
        before = self._told.get(key, Told(f"{listed.source}:{listed.id}", 0, 0))
        self._told[key] = before._replace(
            recovered=before.recovered + len(recovered),
            missing=before.missing + len(damaged) - len(recovered),
        )
        return entries | recovered
