"""Conversations with all that their sources said, read again from the vault.

Rows hold no `native`: the writers that promise the source's own form get it from here. Of an export with
thousands of conversations only the frame is read in which one is. Whoever asks for many of them has all of it
read once: what was not asked for yet waits in a temporary file.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.frames import alone
from agent_journal.archive.manifest import KeptFile
from agent_journal.archive.recording import Replayed
from agent_journal.archive.salvage import Patched, Sound, with_native
from agent_journal.conversion import pipeline
from agent_journal.conversion.pipeline import Unit
from agent_journal.decoding.spill import Shelf
from agent_journal.model import Conversation, Message
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import Manifest
    from agent_journal.archive.store import Snapshot
    from agent_journal.errors import DamagedArchive

_ALONE = b"alone"
# From so many conversations on it is quicker to read a unit once than to look for the frame of each.
_MANY = 8
_Name: TypeAlias = tuple[str, str]
"""The source and the id of a conversation."""
_decode = msgspec.msgpack.Decoder(Conversation).decode


class Exactly:
    """Gives conversations as the rows have them, with the source's own form of what is as it was there."""

    def __init__(self, archive: Archive, sound: Sound | None = None) -> None:
        self._archive = archive
        self._sound = sound or Sound(archive)
        self._unit: tuple[int, str] | None = None
        self._snapshots: list[Snapshot] = []
        self._asked: Counter[tuple[int, str, int]] = Counter()
        self._vaults: dict[tuple[int, str, int], Patched] = {}
        self._shelf: Shelf | None = None
        self._shelved: dict[tuple[int, str, int], dict[_Name, tuple[int, int] | None]] = {}

    def read(self, key: int) -> Conversation:
        """A conversation: one that a file no longer tells whole has the rest from what was kept before."""
        stored = self._sound.conversation(key)
        left = {entry.id for entry in stored.timeline if isinstance(entry, Message)}
        for unit in self._archive.store.units_of(key):
            for snapshot in reversed(self._kept(unit)):
                found = self._found(snapshot, _name(stored), left) if left else None
                if found is not None:
                    stored = with_native(stored, found, left)
        return stored

    def damage(self, key: int) -> list[DamagedArchive]:
        """What is damaged of the kept bytes that were read for a conversation."""
        found = {
            blob: error
            for unit in self._archive.store.units_of(key)
            for snapshot in self._kept(unit)
            for blob, error in self._patched(snapshot).damaged.items()
        }
        return list(found.values())

    def _patched(self, snapshot: Snapshot) -> Patched:
        """The vault as far as a snapshot can be read; what is damaged there is as in the rows."""
        place = (snapshot.source, snapshot.unit, snapshot.number)
        if place not in self._vaults:
            self._vaults[place] = Patched(self._archive.vault, snapshot.manifest)
        return self._vaults[place]

    def _kept(self, unit: tuple[int, str]) -> list[Snapshot]:
        """What is kept of a unit, oldest first; the conversations of an export come one after the other."""
        if unit != self._unit:
            store, source = self._archive.store, unit[0]
            # What came out of another journal says which file it was in there.
            self._snapshots = store.snapshots(*unit) or store.snapshots(source)
            self._unit = unit
        return self._snapshots

    def _found(self, snapshot: Snapshot, name: _Name, left: set[str]) -> Conversation | None:
        place = (snapshot.source, snapshot.unit, snapshot.number)
        self._asked[place] += 1
        if place not in self._shelved:
            found = self._in_frame(snapshot, name, left) if self._asked[place] < _MANY else None
            return found or self._shelve(snapshot, name)
        shelved = self._shelved[place]
        if name not in shelved:
            return None
        at = shelved[name]
        if at is None or self._shelf is None:
            return next((item for item in self._whole(snapshot) if _name(item) == name), None)
        return _decode(self._shelf.get(at))

    def _in_frame(self, snapshot: Snapshot, name: _Name, left: set[str]) -> Conversation | None:
        """A conversation that is all in one frame; those of many lines span several."""
        frames = [*islice(_frames(self._patched(snapshot), snapshot.manifest, name[1].encode()), 2)]
        for vault, manifest in frames if len(frames) == 1 else ():
            for item in _conversations(vault, snapshot, manifest):
                if _name(item) == name and left <= {entry.id for entry in item.timeline}:
                    return item
        return None

    def _shelve(self, snapshot: Snapshot, name: _Name) -> Conversation | None:
        """Read all of a unit for one conversation; if there are others, all are put where they are found."""
        wanted: Conversation | None = None
        shelved: dict[_Name, tuple[int, int] | None] = {}
        for item in self._whole(snapshot):
            if _name(item) == name and wanted is None:
                wanted = item
            elif _name(item) not in shelved:
                shelved[_name(item)] = self._put(item)
        if wanted is not None and shelved:
            shelved[name] = self._put(wanted)
        if shelved or wanted is None:
            self._shelved[snapshot.source, snapshot.unit, snapshot.number] = shelved
        return wanted

    def _put(self, item: Conversation) -> tuple[int, int] | None:
        if self._shelf is None:
            self._shelf = Shelf()
        return self._shelf.put(item)

    def _whole(self, snapshot: Snapshot) -> Iterator[Conversation]:
        return _conversations(self._patched(snapshot), snapshot, snapshot.manifest)


def _name(conversation: Conversation) -> _Name:
    return conversation.source, conversation.id


def _conversations(vault: Any, snapshot: Snapshot, manifest: Manifest) -> Iterator[Conversation]:
    source = Replayed(manifest, vault, snapshot.unit, snapshot.unit)
    unit = Unit(source, readers.get(snapshot.reader), snapshot.version)
    for item in pipeline.read_unit(unit, Notes(keep=0)):
        if isinstance(item, Conversation):
            yield item


def _frames(vault: Patched, manifest: Manifest, id_: bytes) -> Iterator[tuple[Any, Manifest]]:
    """The unit with one frame in place of a file, for each frame with the id in it."""
    for place, file in manifest.files.items():
        for chunk in file.chunks if len(file.chunks) > 1 else ():
            data = vault.get(chunk)
            if id_ in data:
                frame = alone(data)
                instead = KeptFile(file.name, len(frame), _ALONE, [_ALONE], file.modified_at)
                yield _Overlaid(vault, frame), replace(manifest, files={**manifest.files, place: instead})


class _Overlaid:
    """A vault that has one blob more."""

    def __init__(self, vault: Patched, data: bytes) -> None:
        self._vault = vault
        self._data = data

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash."""
        return self._data if blob == _ALONE else self._vault.get(blob)
