"""Whether everything in the archive is what was put there, and fits together."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.archive.kept import stream_of
from agent_journal.errors import DamagedArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.store import SourceRow

_BLOCK = 1 << 20


class Problem(NamedTuple):
    """Something that is not as it should be."""

    where: str
    problem: str


def problems(archive: Archive, *, deep: bool = False) -> Iterator[Problem]:
    """Every problem in rows and vault; with `deep` all kept bytes are read and hashed again."""
    for where, what in archive.store.problems():
        yield Problem(where, what)
    for found in (_blobs(archive, deep=deep), _kept(archive, deep=deep)):
        try:
            yield from found
        except DamagedArchive as error:  # of rows, so that nothing more can be told
            yield Problem(error.where, error.reason)


def lost(archive: Archive) -> list[str]:
    """The packs of which something is gone that is needed, by the sizes of their files alone."""
    return list(dict.fromkeys(problem.where for problem in _blobs(archive, deep=False)))


def _blobs(archive: Archive, *, deep: bool) -> Iterator[Problem]:
    sizes = {pack: os.path.getsize(archive.vault.pack_path(pack)) for pack in archive.vault.packs()}
    needed = _needed(archive)
    for blob, place in archive.store.places():
        if needed is not None and blob not in needed:
            continue
        if place.start + place.stored > sizes.get(place.pack, 0):
            yield Problem(archive.vault.pack_path(place.pack), f"{blob.hex()} lies behind its end")
        elif deep:
            try:
                archive.vault.at(blob, place)
                is_stated = archive.vault.states(blob, place)
            except DamagedArchive as error:
                yield Problem(error.where, error.reason)
                continue
            if not is_stated:
                yield Problem(archive.vault.pack_path(place.pack), f"{blob.hex()} is not what it says it is")


def _needed(archive: Archive) -> set[bytes] | None:
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


def _snapshots(archive: Archive, row: SourceRow, *, deep: bool) -> Iterator[Problem]:
    for snapshot in archive.store.snapshots(row.key):
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
