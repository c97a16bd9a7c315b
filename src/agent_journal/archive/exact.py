"""A conversation with all that its source said, read again from the vault.

Rows hold no `native`: the few writers that promise the source's own form get it from here. Of an export
with thousands of conversations only the frame is read in which this one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal import pipeline, readers
from agent_journal.archive.frames import alone
from agent_journal.archive.kept import Replayed
from agent_journal.archive.manifest import KeptFile
from agent_journal.archive.rows import without_native
from agent_journal.model import Conversation, Message
from agent_journal.notes import Notes
from agent_journal.pipeline import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import Manifest
    from agent_journal.archive.store import Snapshot
    from agent_journal.archive.vault import Vault
    from agent_journal.model import Event

_ALONE = b"alone"


def exact(archive: Archive, key: int) -> Conversation:
    """The conversation as the rows have it, with the source's own form of what is as it was there."""
    stored = archive.store.conversation(key)
    for source in archive.store.sources_of(key):
        for snapshot in reversed(archive.store.snapshots(source)):
            found = _in_snapshot(archive, snapshot, stored)
            if found is not None:
                return _with_native(stored, found)
    return stored


def _in_snapshot(archive: Archive, snapshot: Snapshot, wanted: Conversation) -> Conversation | None:
    for vault, manifest in _readings(archive.vault, snapshot.manifest, wanted.id.encode()):
        source = Replayed(manifest, vault, snapshot.unit, snapshot.unit)
        unit = Unit(source, readers.get(snapshot.reader), snapshot.version)
        for item in pipeline.read_unit(unit, Notes(keep=0)):
            if isinstance(item, Conversation) and (item.source, item.id) == (wanted.source, wanted.id):
                return item
    return None


def _readings(vault: Vault, manifest: Manifest, id_: bytes) -> Iterator[tuple[Any, Manifest]]:
    """The unit with one frame in place of a file, for each frame with the id in it; at last the whole."""
    for place, file in manifest.files.items():
        for chunk in file.chunks if len(file.chunks) > 1 else ():
            data = vault.get(chunk)
            if id_ in data:
                frame = alone(data)
                instead = KeptFile(file.name, len(frame), _ALONE, [_ALONE], file.modified_at)
                yield _Overlaid(vault, frame), replace(manifest, files={**manifest.files, place: instead})
    yield vault, manifest


class _Overlaid:
    """A vault that has one blob more."""

    def __init__(self, vault: Vault, data: bytes) -> None:
        self._vault = vault
        self._data = data

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash."""
        return self._data if blob == _ALONE else self._vault.get(blob)


def _with_native(stored: Conversation, found: Conversation) -> Conversation:
    there = {entry.id: entry for entry in found.timeline}
    return replace(stored, timeline=[_own(entry, there.get(entry.id)) for entry in stored.timeline])


def _own(entry: Message | Event, other: Message | Event | None) -> Message | Event:
    if isinstance(other, Message) and isinstance(entry, Message) and without_native(other) == entry:
        return other
    return entry
