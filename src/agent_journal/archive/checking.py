"""Check that everything in the archive is intact and consistent."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.archive import vault_checks
from agent_journal.archive.recording import stream_of
from agent_journal.errors import DamagedArchive
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.store import SourceRow
    from agent_journal.archive.vault_checks import CheckOutcome, Damage

_BLOCK_BYTES = 1 << 20


class Problem(NamedTuple):
    """A problem of the archive."""

    where: str
    problem: str

    def to_dict(self) -> dict[str, str]:
        """Return this as JSON values."""
        return {"problem": self.problem, "where": self.where}


def problems(archive: Archive, *, deep: bool = False, vault: CheckOutcome | None = None) -> Iterator[Problem]:
    """Yield every problem in rows and vault; with `deep`, all stored bytes are read and hashed again.

    `vault` is the outcome of an earlier check of the vault, if there is one.
    """
    for where, what in archive.store.problems():
        yield Problem(where, what)
    vault_problems = (
        _blob_problems(archive, deep=deep) if vault is None else _with_source_paths(archive, vault.damage)
    )
    for group in (vault_problems, _source_problems(archive, deep=deep)):
        try:
            yield from group
        except DamagedArchive as error:  # rows are damaged, so nothing more can be checked
            yield Problem(error.where, error.reason)


def _with_source_paths(archive: Archive, damage: list[Damage]) -> Iterator[Problem]:
    """Yield damage of the vault with the paths of the affected sources."""
    holders = blobs_of(archive) if damage else {}
    for each in damage:
        paths = ", ".join(row.path for row in holders.get(each.blob, ()))
        yield Problem(each.where, f"{each.problem}; part of {paths}" if paths else each.problem)


def vault_damage(archive: Archive) -> list[Damage]:
    """Return the known damage of the vault: from file sizes, and from earlier checks."""
    return vault_checks.known_damage(archive, lambda: needed_blobs(archive))


def vault_read_at(archive: Archive) -> str | None:
    """Return since when the whole vault has been read; None if a part of it never was."""
    at = vault_checks.load(archive.home).whole_at
    return timestamps.from_epoch(at) if at else None


def _blob_problems(archive: Archive, *, deep: bool) -> Iterator[Problem]:
    sizes = {pack: os.path.getsize(archive.vault.pack_path(pack)) for pack in archive.vault.packs()}
    needed = needed_blobs(archive)
    for blob, location in archive.store.locations():
        if needed is not None and blob not in needed:
            continue
        if not location.is_lost and location.start + location.stored > sizes.get(location.pack, 0):
            yield Problem(archive.vault.pack_path(location.pack), f"{blob.hex()} is after its end")
        elif deep or location.is_lost:
            trouble = archive.vault.problem_at(blob, location)
            if trouble:
                yield Problem(archive.vault.pack_path(location.pack), trouble)


def needed_blobs(archive: Archive) -> set[bytes] | None:
    """Return the blobs that snapshots need; None (all of them) if that is unknown.

    A file that was stored again after a pack was truncated may consist of other blobs than before.
    """
    try:
        return archive.store.needed_blobs()
    except DamagedArchive:
        return None


def _source_problems(archive: Archive, *, deep: bool) -> Iterator[Problem]:
    for row in archive.store.sources():
        yield from _snapshot_problems(archive, row, deep=deep)


def blobs_of(archive: Archive) -> dict[bytes, list[SourceRow]]:
    """Return every needed blob with the sources that need it."""
    by_blob: dict[bytes, list[SourceRow]] = {}
    for row in archive.store.sources():
        for snapshot in archive.store.snapshots(row.key):
            for blob in snapshot.manifest.blobs():
                rows = by_blob.setdefault(blob, [])
                if row not in rows:
                    rows.append(row)
    return by_blob


def _snapshot_problems(archive: Archive, row: SourceRow, *, deep: bool) -> Iterator[Problem]:
    for snapshot in archive.store.snapshots(row.key):
        if snapshot.manifest.damage:
            continue  # reported by the store's own check
        missing = [blob for blob in snapshot.manifest.blobs() if archive.store.location(blob) is None]
        if missing:
            yield Problem(row.path, f"{len(missing):,} pieces of its content are in no pack")
            continue
        for file in snapshot.manifest.files.values() if deep else ():
            try:
                digest = hashlib.sha256()
                with stream_of(replace(file, read_error=""), archive.vault) as stream:
                    while block := stream.read(_BLOCK_BYTES):
                        digest.update(block)
            except DamagedArchive as error:
                yield Problem(error.where, error.reason)
                continue
            if digest.digest() != file.sha256:
                yield Problem(row.path, f"{file.name} differs from what was stored")
