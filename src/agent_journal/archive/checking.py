"""Whether everything in the archive is what was put there, and fits together."""

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
    from agent_journal.archive.vault_checks import Damage, Outcome

_BLOCK = 1 << 20


class Problem(NamedTuple):
    """Something that is not as it should be."""

    where: str
    problem: str


def problems(archive: Archive, *, deep: bool = False, vault: Outcome | None = None) -> Iterator[Problem]:
    """Every problem in rows and vault; with `deep` all kept bytes are read and hashed again.

    `vault` is what was found there already, if somebody looked.
    """
    for where, what in archive.store.problems():
        yield Problem(where, what)
    in_vault = _blobs(archive, deep=deep) if vault is None else _named(archive, vault.damage)
    for found in (in_vault, _kept(archive, deep=deep)):
        try:
            yield from found
        except DamagedArchive as error:  # of rows, so that nothing more can be told
            yield Problem(error.where, error.reason)


def _named(archive: Archive, damage: list[Damage]) -> Iterator[Problem]:
    """Damage of the vault, each with the sources of which something is in it."""
    holders = blobs_of(archive) if damage else {}
    for each in damage:
        paths = ", ".join(row.path for row in holders.get(each.blob, ()))
        yield Problem(each.where, f"{each.problem}; a piece of {paths}" if paths else each.problem)


def vault_damage(archive: Archive) -> list[Damage]:
    """What is known to be damaged or gone in the vault: by the sizes of files, and by earlier checks."""
    return vault_checks.glance(archive, lambda: needed_blobs(archive))


def vault_read_at(archive: Archive) -> str | None:
    """Since when all of the vault was read; None if a part of it never was."""
    at = vault_checks.load(archive.home).whole_at
    return timestamps.from_epoch(at) if at else None


def _blobs(archive: Archive, *, deep: bool) -> Iterator[Problem]:
    sizes = {pack: os.path.getsize(archive.vault.pack_path(pack)) for pack in archive.vault.packs()}
    needed = needed_blobs(archive)
    for blob, place in archive.store.places():
        if needed is not None and blob not in needed:
            continue
        if not place.is_lost and place.start + place.stored > sizes.get(place.pack, 0):
            yield Problem(archive.vault.pack_path(place.pack), f"{blob.hex()} lies behind its end")
        elif deep or place.is_lost:
            trouble = archive.vault.trouble_at(blob, place)
            if trouble:
                yield Problem(archive.vault.pack_path(place.pack), trouble)


def needed_blobs(archive: Archive) -> set[bytes] | None:
    """Blobs that something consists of; None, which is all, if that cannot be told.

    A file that was put again after a pack was cut may lie in other pieces than before.
    """
    try:
        return archive.store.needed_blobs()
    except DamagedArchive:
        return None


def _kept(archive: Archive, *, deep: bool) -> Iterator[Problem]:
    for row in archive.store.sources():
        yield from _snapshots(archive, row, deep=deep)


def blobs_of(archive: Archive) -> dict[bytes, list[SourceRow]]:
    """Every blob that something consists of, and of which sources."""
    found: dict[bytes, list[SourceRow]] = {}
    for row in archive.store.sources():
        for snapshot in archive.store.snapshots(row.key):
            for blob in snapshot.manifest.blobs():
                held = found.setdefault(blob, [])
                if row not in held:
                    held.append(row)
    return found


def _snapshots(archive: Archive, row: SourceRow, *, deep: bool) -> Iterator[Problem]:
    for snapshot in archive.store.snapshots(row.key):
        if snapshot.manifest.damage:
            continue  # which is told already
        missing = [blob for blob in snapshot.manifest.blobs() if archive.store.place(blob) is None]
        if missing:
            yield Problem(row.path, f"{len(missing):,} pieces of what was kept of it are in no pack")
            continue
        for file in snapshot.manifest.files.values() if deep else ():
            try:
                digest = hashlib.sha256()
                with stream_of(replace(file, broke=""), archive.vault) as stream:
                    while block := stream.read(_BLOCK):
                        digest.update(block)
            except DamagedArchive as error:
                yield Problem(error.where, error.reason)
                continue
            if digest.digest() != file.sha256:
                yield Problem(row.path, f"{file.name} is not what was kept of it")
