"""A copy of the whole archive of one moment, made while others read and write."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from agent_journal import archive as archives
from agent_journal.archive import DATABASE, VAULT
from agent_journal.archive.checking import Problem, blobs_of, needed_blobs, problems
from agent_journal.archive.vault_checks import Outcome
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.files import private_folder
from agent_journal.inputs.input import as_text

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.store import SourceRow

_PARTIAL = ".partial"
_BLOCK, _SECTOR = 1 << 20, 4096


class Copied(NamedTuple):
    """What a backup holds."""

    size: int
    problems: list[Problem]
    """What is damaged in the journal itself, and so in the copy. All else was read and hashed there."""


def backup(archive: Archive, target: Path) -> Copied:
    """Copy rows and vault into a folder that is new or empty; all of the copy is read and hashed.

    Rows first: what they tell of is in the packs before they are written, and packs only grow. What is
    damaged in the journal is named; the copy has all else.
    """
    if not _is_text(target):
        raise CannotWrite(as_text(str(target)), "its name is no text; name another folder")
    is_there = target.exists()
    if is_there and not target.is_dir():
        raise CannotWrite(str(target), "it is a file; name a new folder")
    if is_there and any(each.name != _PARTIAL for each in target.iterdir()):
        raise CannotWrite(str(target), "it is there already and not empty; name a new folder")
    partial = target / _PARTIAL if is_there else target.with_name(target.name + _PARTIAL)
    _clear(partial)
    private_folder(str(partial))
    try:
        archive.store.backup(partial / DATABASE)
        (partial / DATABASE).chmod(0o600)
        private_folder(str(partial / VAULT))
        for pack in archive.vault.packs():
            _copy(archive.vault.pack_path(pack), partial / VAULT)
        with archives.open_to_read(partial) as copy:
            found = _compared(copy, archive)
        size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if is_there:
        _move_up(partial)
    else:
        partial.rename(target)
    return Copied(size, found)


def _clear(partial: Path) -> None:
    """Take away what a copy left that was killed, and nothing else."""
    if not os.path.lexists(partial):
        return
    is_ours = partial.is_dir() and not partial.is_symlink()
    if not is_ours or any(not each.name.startswith((DATABASE, VAULT)) for each in partial.iterdir()):
        raise CannotWrite(str(partial), "the copy is made there, and it holds something else; move that away")
    shutil.rmtree(partial)


def _move_up(partial: Path) -> None:
    """Fill the folder around a copy with it, rows last: a disk may be mounted there, or a person in it."""
    with suppress(PermissionError):  # it is somebody else's, who let us write
        partial.parent.chmod(0o700)
    for part in sorted(partial.iterdir(), reverse=True):
        part.rename(partial.parent / part.name)
    partial.rmdir()


def _is_text(path: Path) -> bool:
    """Whether a path is valid Unicode; names of files are bytes."""
    try:
        return bool(str(path).encode())
    except UnicodeEncodeError:
        return False


def _compared(copy: Archive, archive: Archive) -> list[Problem]:
    """What is wrong with a copy, and was wrong before; what is wrong with it alone is an error."""
    found = [*problems(copy, vault=Outcome.nothing())]
    if found:
        with archive.store.one_moment():
            before = {each.problem for each in problems(archive, vault=Outcome.nothing())}
        for each in found:
            if each.problem not in before:
                raise DamagedArchive(each.where, each.problem)
    needed = needed_blobs(copy)
    holders: dict[bytes, list[SourceRow]] | None = None
    for blob, place in copy.store.places():
        trouble = copy.vault.trouble_at(blob, place) if needed is None or blob in needed else ""
        if not trouble:
            continue
        if archive.vault.is_intact(blob):
            reason = "the copy is not what was copied; is the disk sound? Try again, or name another folder"
            raise CannotWrite(copy.vault.pack_path(place.pack), reason)
        holders = blobs_of(copy) if holders is None else holders
        paths = ", ".join(row.path for row in holders.get(blob, ()))
        found.append(Problem(paths or archive.vault.pack_path(place.pack), trouble))
    return found


def _copy(pack: str, folder: Path) -> None:
    copy = folder / os.path.basename(pack)
    handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(pack, "rb", buffering=0) as source, os.fdopen(handle, "wb") as out:
        left = os.fstat(source.fileno()).st_size
        while left > 0 and (block := _block_of(source, min(left, _BLOCK))):
            out.write(block)
            left -= len(block)
        out.flush()
        os.fsync(out.fileno())


def _block_of(source: FileIO, size: int) -> bytes:
    """So many bytes of a pack; zeros where the disk gives none. What they should be is told by their hash."""
    at = source.tell()
    try:
        return source.read(size) or b""
    except OSError:
        if size > _SECTOR:
            source.seek(at)
            return _block_of(source, _SECTOR)
        source.seek(at + size)
        return bytes(size)
