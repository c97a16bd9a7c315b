"""Read conversations again from the vault, with their sources' native content.

Rows have no `native`: the writers that promise the source's own form get it from here. Of an export with
thousands of conversations, only the frame that contains one is read. If many of them are requested, the
whole export is read once, and the others wait in a temporary file.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.frames import as_standalone
from agent_journal.archive.identity import identified
from agent_journal.archive.manifest import StoredFile
from agent_journal.archive.recording import ReplayedSource
from agent_journal.archive.salvage import PatchedVault, RecoveringReader, with_native
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

_FRAME_BLOB = b"alone"
# From this many conversations on, it is faster to read a unit once than to search the frame of each.
_READ_ALL_THRESHOLD = 8
_ConversationId: TypeAlias = tuple[str, str]
"""The source and the id of a conversation."""
_decode = msgspec.msgpack.Decoder(Conversation).decode


class NativeContentReader:
    """Reads conversations from the rows, and adds the native content of unchanged entries from the vault."""

    def __init__(self, archive: Archive, rows: RecoveringReader | None = None) -> None:
        self._archive = archive
        self._rows = rows or RecoveringReader(archive)
        self._unit: tuple[int, str] | None = None
        self._snapshots: list[Snapshot] = []
        self._requests: Counter[tuple[int, str, int]] = Counter()
        self._vaults: dict[tuple[int, str, int], PatchedVault] = {}
        self._shelf: Shelf | None = None
        self._shelved: dict[tuple[int, str, int], dict[_ConversationId, tuple[int, int] | None]] = {}

    def read(self, key: int) -> Conversation:
        """Read a conversation; what its file no longer has comes from earlier snapshots."""
        stored = self._rows.conversation(key)
        missing = {entry.id for entry in stored.timeline if isinstance(entry, Message)}
        for unit in self._archive.store.units_of(key):
            for snapshot in reversed(self._unit_snapshots(unit)):
                exact = self._find(snapshot, _conversation_id(stored), missing) if missing else None
                if exact is not None:
                    stored = with_native(stored, exact, missing)
        return stored

    def damage(self, key: int) -> list[DamagedArchive]:
        """Return the damage in the vault that was met while reading a conversation."""
        by_blob = {
            blob: error
            for unit in self._archive.store.units_of(key)
            for snapshot in self._unit_snapshots(unit)
            for blob, error in self._patched_vault(snapshot).damaged.items()
        }
        return list(by_blob.values())

    def _patched_vault(self, snapshot: Snapshot) -> PatchedVault:
        """Return the vault with placeholders for the damaged blobs of a snapshot."""
        snapshot_id = (snapshot.source, snapshot.unit, snapshot.number)
        if snapshot_id not in self._vaults:
            self._vaults[snapshot_id] = PatchedVault(self._archive.vault, snapshot.manifest)
        return self._vaults[snapshot_id]

    def _unit_snapshots(self, unit: tuple[int, str]) -> list[Snapshot]:
        """Return the snapshots of a unit, oldest first, cached for the next conversation of the same unit."""
        if unit != self._unit:
            store, source = self._archive.store, unit[0]
            # A conversation from another journal names the file that it was in there.
            self._snapshots = store.snapshots(*unit) or store.snapshots(source)
            self._unit = unit
        return self._snapshots

    def _find(self, snapshot: Snapshot, name: _ConversationId, left: set[str]) -> Conversation | None:
        snapshot_id = (snapshot.source, snapshot.unit, snapshot.number)
        self._requests[snapshot_id] += 1
        if snapshot_id not in self._shelved:
            conversation = (
                self._in_frame(snapshot, name, left)
                if self._requests[snapshot_id] < _READ_ALL_THRESHOLD
                else None
            )
            return conversation or self._read_all(snapshot, name)
        shelved = self._shelved[snapshot_id]
        if name not in shelved:
            return None
        shelf_position = shelved[name]
        if shelf_position is None or self._shelf is None:
            return next(
                (item for item in self._conversations_in(snapshot) if _conversation_id(item) == name), None
            )
        return _decode(self._shelf.get(shelf_position))

    def _in_frame(self, snapshot: Snapshot, name: _ConversationId, left: set[str]) -> Conversation | None:
        """Read a conversation from its frame, if it is in only one; those of many lines span several."""
        frames = [*islice(_frames(self._patched_vault(snapshot), snapshot.manifest, name[1].encode()), 2)]
        for vault, manifest in frames if len(frames) == 1 else ():
            for item in self._conversations(vault, snapshot, manifest):
                if _conversation_id(item) == name and left <= {entry.id for entry in item.timeline}:
                    return item
        return None

    def _read_all(self, snapshot: Snapshot, name: _ConversationId) -> Conversation | None:
        """Read a whole unit for one conversation, and shelve its conversations if there are several."""
        wanted: Conversation | None = None
        shelved: dict[_ConversationId, tuple[int, int] | None] = {}
        for item in self._conversations_in(snapshot):
            if _conversation_id(item) == name and wanted is None:
                wanted = item
            elif _conversation_id(item) not in shelved:
                shelved[_conversation_id(item)] = self._put(item)
        if wanted is not None and shelved:
            shelved[name] = self._put(wanted)
        if shelved or wanted is None:
            self._shelved[snapshot.source, snapshot.unit, snapshot.number] = shelved
        return wanted

    def _put(self, item: Conversation) -> tuple[int, int] | None:
        if self._shelf is None:
            self._shelf = Shelf()
        return self._shelf.put(item)

    def _conversations_in(self, snapshot: Snapshot) -> Iterator[Conversation]:
        return self._conversations(self._patched_vault(snapshot), snapshot, snapshot.manifest)

    def _conversations(self, vault: Any, snapshot: Snapshot, manifest: Manifest) -> Iterator[Conversation]:
        source = ReplayedSource(manifest, vault, snapshot.unit, snapshot.unit)
        unit = Unit(source, readers.get(snapshot.reader), snapshot.version)
        for item in identified(self._archive.store, pipeline.read_unit(unit, Notes(keep=0)), snapshot.source):
            if isinstance(item, Conversation):
                yield item


def _conversation_id(conversation: Conversation) -> _ConversationId:
    return conversation.source, conversation.id


def _frames(vault: PatchedVault, manifest: Manifest, id_: bytes) -> Iterator[tuple[Any, Manifest]]:
    """Yield, for each frame that contains the id, the unit with only this frame in place of the file."""
    for place, file in manifest.files.items():
        for chunk in file.chunks if len(file.chunks) > 1 else ():
            data = vault.get(chunk)
            if id_ in data:
                frame = as_standalone(data)
                instead = StoredFile(file.name, len(frame), _FRAME_BLOB, [_FRAME_BLOB], file.modified_at)
                yield _Overlaid(vault, frame), replace(manifest, files={**manifest.files, place: instead})


class _Overlaid:
    """A vault with one additional blob."""

    def __init__(self, vault: PatchedVault, data: bytes) -> None:
        self._vault = vault
        self._data = data

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash."""
        return self._data if blob == _FRAME_BLOB else self._vault.get(blob)
