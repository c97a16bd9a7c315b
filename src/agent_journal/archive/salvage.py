"""Read a unit whose bytes in the vault are damaged, from the bytes around the damage and from the rows.

One damaged blob loses only that blob. Files are cut between records, so what is before and after it can be
read; of its own content, the rows still have everything but the native form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.identity import identified
from agent_journal.archive.recording import ReplayedSource
from agent_journal.archive.rows import row_of, without_native
from agent_journal.conversion import pipeline
from agent_journal.conversion.pipeline import Unit
from agent_journal.errors import AgentJournalError, DamagedArchive
from agent_journal.model import Memory, Message
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import Manifest, StoredFile
    from agent_journal.archive.store import Snapshot
    from agent_journal.archive.vault import Vault
    from agent_journal.model import Conversation, Event, Item

_NO_ROWS = b"\xdd\x00\x00\x00\x00"  # an empty group of rows
# Placeholders for the first and the last chunk of an array that is cut between its elements.
_ARRAY_BEGINS, _ARRAY_ENDS = b"[null", b"]"


class PatchedVault:
    """The vault for one unit, with placeholders for damaged blobs so that the rest can be read."""

    def __init__(self, vault: Vault, manifest: Manifest) -> None:
        self._vault = vault
        self._manifest = manifest
        self.damaged: dict[bytes, DamagedArchive] = {}

    def get(self, blob: bytes) -> bytes:
        """Return bytes by their hash, or a placeholder."""
        try:
            return self._vault.get(blob)
        except DamagedArchive as error:
            self.damaged[blob] = error
            return placeholder_for(self._vault, self._manifest, blob)

    @property
    def trouble(self) -> DamagedArchive | None:
        """The damage of the manifest, or the first damage that was met."""
        if self._manifest.damage:
            return DamagedArchive(self._manifest.label, self._manifest.damage)
        return next(iter(self.damaged.values()), None)


def placeholder_for(vault: Vault, manifest: Manifest, blob: bytes) -> bytes:
    """Return what makes a unit readable without a blob: no rows, no lines, or an array's bracket."""
    for answers in manifest.databases.values():
        if any(blob in answer.groups for answer in answers):
            return _NO_ROWS
    file = next((each for each in manifest.files.values() if blob in each.chunks), None)
    if file is None or len(file.chunks) == 1 or not _is_array(vault, file):
        return b""
    if blob == file.chunks[0]:
        return _ARRAY_BEGINS
    return _ARRAY_ENDS if blob == file.chunks[-1] else b""


def _is_array(vault: Vault, file: StoredFile) -> bool:
    """Whether a file of several chunks is cut between the elements of an array."""
    for index, start in ((0, b"["), (1, b",")):
        try:
            return vault.get(file.chunks[index]).lstrip()[:1] == start
        except DamagedArchive:
            continue
    return False


def items(archive: Archive, snapshot: Snapshot, label: str, patched: PatchedVault) -> Iterator[Item]:
    """Yield every item in a snapshot; what is damaged in the vault comes from the rows.

    `patched` records the damage that was found.
    """
    yielded: set[tuple[str, str]] = set()
    is_known = snapshot.reader in readers.discover()
    for item in readable_items(archive, snapshot, patched, label):
        yielded.add((item.source, item.id))
        yield item if patched.trouble is None else complete_item(archive, item)
    if patched.trouble is not None or not is_known:
        yield from _from_rows(archive, snapshot, yielded)


def readable_items(archive: Archive, snapshot: Snapshot, patched: PatchedVault, label: str) -> Iterator[Item]:
    """Yield the readable items of a snapshot; none if its reader is no longer installed."""
    if snapshot.reader not in readers.discover():
        return
    source = ReplayedSource(snapshot.manifest, patched, label, snapshot.unit)
    unit = Unit(source, readers.get(snapshot.reader), snapshot.version)
    try:
        yield from identified(
            archive.store, pipeline.read_unit(unit, Notes(), is_confined=False), snapshot.source
        )
    except AgentJournalError:
        # A reader may fail at a gap; the remaining items come from the rows.
        if patched.trouble is None:
            raise


def complete_item(archive: Archive, item: Item) -> Item:
    """Return an incomplete item as the rows have it, with the native content that it does have."""
    if isinstance(item, Memory):
        return item
    key = archive.store.key_of(item.source, item.id)
    return item if key is None else with_native(archive.store.conversation(key), item)


def with_native(stored: Conversation, exact: Conversation, missing: set[str] | None = None) -> Conversation:
    """Add native content to a conversation from the rows: to all messages, or to those that still lack it."""
    missing = {entry.id for entry in stored.timeline} if missing is None else missing
    exact_entries = {entry.id: entry for entry in exact.timeline if entry.id in missing}
    return replace(
        stored,
        timeline=[
            _with_native_entry(entry, exact_entries.get(entry.id), missing) for entry in stored.timeline
        ],
    )


def _with_native_entry(
    entry: Message | Event, other: Message | Event | None, missing: set[str]
) -> Message | Event:
    if isinstance(other, Message) and isinstance(entry, Message) and without_native(other) == entry:
        missing.discard(entry.id)
        return other
    return entry


def _from_rows(archive: Archive, snapshot: Snapshot, yielded: set[tuple[str, str]]) -> Iterator[Item]:
    """Yield what the rows have of a unit and the vault does not."""
    store = archive.store
    for key in store.conversations_of_unit(snapshot.source, snapshot.unit):
        conversation = store.conversation(key)
        if (conversation.source, conversation.id) not in yielded:
            yield conversation
    for memory in store.memories_of(snapshot.source):
        if (memory.source, memory.id) not in yielded:
            yield memory


def versions_in_vault(archive: Archive, key: int) -> Iterator[Conversation]:
    """Yield a conversation from each snapshot in the vault, newest first, as far as readable."""
    store = archive.store
    listed = store.listed([key]).get(key)
    for source, unit in store.units_of(key) if listed is not None else ():
        for snapshot in reversed(store.snapshots(source, unit) or store.snapshots(source)):
            patched = PatchedVault(archive.vault, snapshot.manifest)
            for item in readable_items(archive, snapshot, patched, unit):
                is_requested = listed is not None and (item.source, item.id) == (listed.source, listed.id)
                if is_requested and not isinstance(item, Memory):
                    yield item


class DamageReport(NamedTuple):
    """The damage that was met in the rows of a conversation."""

    name: str
    recovered: int
    """The number of entries taken from the vault."""
    missing: int
    """The number of entries of which only the text is left."""

    def __str__(self) -> str:
        """Describe the damage for the user."""
        counts = [
            f"{self.recovered:,} damaged in the rows, restored from the vault" if self.recovered else "",
            f"{self.missing:,} damaged, only their text is left" if self.missing else "",
        ]
        return f"entries: {', '.join(filter(None, counts))}; 'aj repair' repairs what it can"


class RecoveringReader:
    """Reads rows, takes what is damaged in them from the vault, and reports the damage."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._reports: dict[int, DamageReport] = {}

    def conversation(self, key: int) -> Conversation:
        """Read a conversation with all of its entries."""
        store = self._archive.store
        pairs = dict(store.entries(key))
        bare = store.conversation_without_entries(key)
        return replace(bare, timeline=[*self._recovered(key, pairs).values()])

    def entries(self, key: int, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Read some entries of a conversation by their keys."""
        return self._recovered(key, self._archive.store.entries_by_key(keys))

    def take_reports(self) -> list[DamageReport]:
        """Return the damage met since the last call."""
        reports, self._reports = [*self._reports.values()], {}
        return reports

    def _recovered(self, key: int, entries: dict[int, Message | Event]) -> dict[int, Message | Event]:
        store = self._archive.store
        damaged = {
            entry_key: store.substituted[entry_key] for entry_key in entries if entry_key in store.substituted
        }
        if not damaged:
            return entries
        recovered: dict[int, Message | Event] = {}
        for item in versions_in_vault(self._archive, key):
            by_hash = {row_of(entry).hash: entry for entry in item.timeline}
            for entry_key, digest in damaged.items():
                if digest in by_hash and entry_key not in recovered:
                    entry = by_hash[digest]
                    recovered[entry_key] = without_native(entry) if isinstance(entry, Message) else entry
            if len(recovered) == len(damaged):
                break
        listed = store.listed([key])[key]
        previous = self._reports.get(key, DamageReport(f"{listed.source}:{listed.id}", 0, 0))
        self._reports[key] = previous._replace(
            recovered=previous.recovered + len(recovered),
            missing=previous.missing + len(damaged) - len(recovered),
        )
        return entries | recovered
