"""Write the original bytes of conversations, as the vault has them, to where they were or below a folder.

A file that is there already is compared, and never overwritten. Of databases, zips and compressed files the
vault has the content, not the file.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from agent_journal.archive.recording import full_path, stream_of
from agent_journal.archive.salvage import PatchedVault, readable_items
from agent_journal.errors import CannotWrite, DamagedArchive, UnreadableSource
from agent_journal.files import make_folder, open_regular, whole_file
from agent_journal.inputs.input import as_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import Manifest, StoredFile
    from agent_journal.archive.store import Listed, Snapshot, SourceRow

_BLOCK_BYTES = 1 << 20

State: TypeAlias = Literal["restored", "already there", "different", "not restorable"]
"""What became of a file: written; there with these bytes; there with other bytes; not stored as it was."""


class RestoredFile(NamedTuple):
    """What became of one original file."""

    path: str
    """Where it is now, or would be."""
    state: State
    size: int = 0
    reason: str = ""
    """Why it was not restored."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"path": self.path, "state": self.state, "bytes": self.size, "reason": self.reason}


class _Original(NamedTuple):
    """An original file in the vault."""

    path: str
    """Where it was."""
    taken_at: str
    file: StoredFile | None
    is_unpacked: bool = False
    """Whether it is the content of a zip or a compressed file."""
    obstacle: str = ""
    """Why its original bytes cannot be restored."""


class _StoredUnit(NamedTuple):
    """A unit that contains a conversation."""

    row: SourceRow
    snapshot: Snapshot


def restore(archive: Archive, conversations: Iterable[Listed], folder: str | None) -> list[RestoredFile]:
    """Restore the files of conversations and of their subagents; nothing that exists is overwritten.

    With a folder, they are written below it with the paths that they had: relative to the user's home folder
    if they were in it, otherwise from the root.
    """
    originals: dict[str, _Original] = {}
    for listed in conversations:
        for unit in _units_of(archive, listed):
            for original in _originals_in(unit):
                known = originals.get(original.path)
                if known is None or known.taken_at <= original.taken_at:
                    originals[original.path] = original
    return [_restore(archive, original, folder) for original in originals.values()]


def _units_of(archive: Archive, listed: Listed) -> list[_StoredUnit]:
    """Return the units of a conversation and its subagents, without those that another one contains."""
    units_by_name: dict[tuple[int, str], _StoredUnit] = {}
    pending, visited = [listed], {listed.key}
    while pending:
        current = pending.pop(0)
        for unit in _own_units(archive, current):
            units_by_name.setdefault((unit.snapshot.source, unit.snapshot.unit), unit)
        for child in archive.store.children(current.key):
            if child.relation == "subagent" and child.key not in visited:
                visited.add(child.key)
                pending.append(child)
    units = [*units_by_name.values()]
    return [
        unit for unit in units if not any(other is not unit and _replaces(other, unit) for other in units)
    ]


def _own_units(archive: Archive, listed: Listed) -> Iterator[_StoredUnit]:
    """Yield the newest snapshot that has the conversation, for each unit that contains it."""
    store = archive.store
    for source, unit in store.units_of(listed.key):
        row = store.source_by_key(source)
        by_unit: dict[str, list[Snapshot]] = {}
        for snapshot in store.snapshots(source, unit) or store.snapshots(source):
            by_unit.setdefault(snapshot.unit, []).append(snapshot)
        for snapshots in by_unit.values():
            chosen = _newest_with(archive, listed, snapshots, is_certain=len(by_unit) == 1)
            if chosen is not None:
                yield _StoredUnit(row, chosen)


def _newest_with(
    archive: Archive, listed: Listed, snapshots: list[Snapshot], *, is_certain: bool
) -> Snapshot | None:
    """Return the newest snapshot that has a conversation; if one is certain to, it need not be read."""
    if is_certain and len(snapshots) == 1:
        return snapshots[0]
    for snapshot in reversed(snapshots):
        patched = PatchedVault(archive.vault, snapshot.manifest)
        for item in readable_items(archive, snapshot, patched, snapshot.unit):
            if (item.source, item.id) == (listed.source, listed.id):
                return snapshot
    return snapshots[-1] if is_certain else None


def _replaces(other: _StoredUnit, unit: _StoredUnit) -> bool:
    """Whether another unit is the same file at a later place: a tool has moved it, or it was copied."""
    mine, theirs = unit.snapshot.manifest.files.get(""), other.snapshot.manifest.files.get("")
    if mine is None or theirs is None or not mine.chunks:
        return False
    if mine.sha256 != theirs.sha256:
        return mine.chunks == theirs.chunks[: len(mine.chunks)]
    return _preference(other) > _preference(unit)


def _preference(unit: _StoredUnit) -> tuple[bool, str, int]:
    return unit.row.missing_since is None, unit.snapshot.taken_at, unit.row.key


def _originals_in(unit: _StoredUnit) -> Iterator[_Original]:
    row, taken_at, manifest = unit.row, unit.snapshot.taken_at, unit.snapshot.manifest
    label = as_path(manifest.label)
    if not label or manifest.damage:
        why = manifest.damage or (
            "something in it was deleted with 'aj forget', so the vault no longer has the original file"
        )
        yield _Original(row.path, taken_at, None, obstacle=why)
        return
    for place, answers in manifest.databases.items():
        if any(answer.sql for answer in answers):
            path = full_path(label, manifest.is_folder, as_path(place)) if place else label
            why = "it is a database, of which the vault has the rows that were read, not the file"
            yield _Original(path, taken_at, None, obstacle=why)
    is_in_zip = _is_in_zip(row, manifest)
    for place, file in manifest.files.items():
        path = full_path(label, manifest.is_folder, as_path(place)) if place else label
        is_unpacked = is_in_zip or _is_decompressed(manifest, place, file)
        if is_unpacked and not is_in_zip:
            path = os.path.join(os.path.dirname(path), as_path(file.name))
        obstacle = f"not all of it could be read ({file.read_error})" if file.read_error else ""
        yield _Original(path, taken_at, file, is_unpacked, obstacle)


def _is_in_zip(row: SourceRow, manifest: Manifest) -> bool:
    """Whether a unit is in a zip. The ledger states the size of a zip, but the sum of a folder's files."""
    is_within = manifest.is_folder or manifest.label != row.path
    return manifest.is_in_zip or (is_within and 0 < row.size == row.stat.size)


def _is_decompressed(manifest: Manifest, place: str, file: StoredFile) -> bool:
    if place:
        return as_path(file.name) != os.path.basename(as_path(place))
    return bool(manifest.sha256) and manifest.sha256 != file.sha256.hex()


def _restore(archive: Archive, original: _Original, folder: str | None) -> RestoredFile:
    file, path = original.file, original.path
    if file is None or original.obstacle:
        return RestoredFile(path, "not restorable", 0, original.obstacle)
    if folder is None and (original.is_unpacked or not os.path.isabs(path)):
        kind = "a zip or a compressed file" if os.path.isabs(path) else "standard input"
        reason = f"it was read from {kind}; '-o DIR' writes what was in it below a folder"
        return RestoredFile(path, "not restorable", file.size, reason)
    target = path if folder is None else os.path.join(folder, relative_path(path))
    if os.path.lexists(target):
        return _compared(target, file)
    try:
        _write(archive, file, target)
    except DamagedArchive as error:
        return RestoredFile(target, "not restorable", file.size, f"{error}; 'aj repair' repairs what it can")
    return RestoredFile(target, "restored", file.size)


def relative_path(path: str) -> str:
    """Return where a file goes below a folder: its path in the user's home folder, or from the root."""
    home = os.path.expanduser("~")
    for base in dict.fromkeys((home, os.path.realpath(home))):
        if base != os.sep and path.startswith(base.rstrip(os.sep) + os.sep):
            path = path[len(base.rstrip(os.sep)) :]
            break
    steps = os.path.splitdrive(path)[1].replace("\\" if os.name == "nt" else "/", "/").split("/")
    return os.path.join(*[step for step in steps if step not in {"", ".", ".."}])


def _compared(target: str, file: StoredFile) -> RestoredFile:
    """Compare what is there with what the vault has."""
    reason = "another file with this name exists, which stays as it is; '-o DIR' restores below a folder"
    with suppress(OSError, ValueError):
        if os.stat(target).st_size == file.size and _hash(target) == file.sha256:
            return RestoredFile(target, "already there", file.size)
    return RestoredFile(target, "different", file.size, reason)


def _write(archive: Archive, file: StoredFile, target: str) -> None:
    """Write a file from the vault with its time, and verify what was written."""
    make_folder(os.path.dirname(target))
    digest = hashlib.sha256()
    with whole_file(target, replaces=False) as out:
        try:
            with stream_of(file, archive.vault, target) as stream:
                while block := stream.read(_BLOCK_BYTES):
                    digest.update(block)
                    out.write(block)
        except UnreadableSource as error:
            raise DamagedArchive(error.where, error.reason) from error
        if digest.digest() != file.sha256:
            raise DamagedArchive(target, "the vault has other bytes than were imported")
        out.flush()
        os.fsync(out.fileno())
    if _hash(target) != file.sha256:
        os.unlink(target)
        raise CannotWrite(target, "the disk returns other bytes than were written; check the disk")
    if file.modified_at is not None:
        with suppress(OSError):
            os.utime(target, (file.modified_at, file.modified_at))


def _hash(path: str) -> bytes:
    digest = hashlib.sha256()
    with open_regular(path) as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.digest()
