"""A copy of the whole archive of one moment, made while others read and write."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal import archive as archives
from agent_journal.archive import DATABASE, VAULT
from agent_journal.archive.checking import problems
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.files import private_folder
from agent_journal.source import as_text

if TYPE_CHECKING:
    from pathlib import Path

    from agent_journal.archive import Archive

_PARTIAL = ".partial"


def backup(archive: Archive, target: Path) -> int:
    """Copy rows and vault into a folder that is new or empty, checked; how many bytes they are.

    Rows first: what they tell of is in the packs before they are written, and packs only grow.
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
            _insist(copy)
        size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if is_there:
        _move_up(partial)
    else:
        partial.rename(target)
    return size


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


def _insist(copy: Archive) -> None:
    """A copy that is not whole is none."""
    for problem in problems(copy):
        raise DamagedArchive(problem.where, problem.problem)


def _copy(pack: str, folder: Path) -> None:
    copy = folder / os.path.basename(pack)
    handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(pack, "rb") as source, os.fdopen(handle, "wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
        out.flush()
        os.fsync(out.fileno())
