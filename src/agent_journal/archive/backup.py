"""Copy the whole archive as of one moment, while others read and write."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal import archive as archives
from agent_journal.archive import DATABASE, VAULT
from agent_journal.archive.checking import Problem, blobs_of, needed_blobs, problems
from agent_journal.archive.vault_checks import CheckOutcome
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.files import private_folder
from agent_journal.inputs.input import as_text

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.store import SourceRow

_PARTIAL = ".partial"
_BLOCK_BYTES, _SECTOR_BYTES = 1 << 20, 4096


class Copied(NamedTuple):
    """The outcome of a backup."""

    size: int
    problems: list[Problem]
    """What is damaged in the journal and therefore in the copy. Everything else was read and hashed there."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"size": self.size, "problems": [each.to_dict() for each in self.problems]}


def backup(archive: Archive, target: Path) -> Copied:
    """Copy rows and vault into a new or empty folder; the whole copy is read and hashed.

    Rows are copied first: bytes are in the packs before the rows that need them, and packs only grow. What is
    damaged in the journal is listed; the copy has everything else.
    """
    if not _is_text(target):
        raise CannotWrite(as_text(str(target)), "its name is not valid text; choose another folder")
    is_there = target.exists()
    if is_there and not target.is_dir():
        raise CannotWrite(str(target), "it is a file; choose a new folder")
    if is_there and any(each.name != _PARTIAL for each in target.iterdir()):
        raise CannotWrite(str(target), "it already exists and is not empty; choose a new folder")
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
            damage = _verify(copy, archive)
        size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if is_there:
        _move_up(partial)
    else:
        partial.rename(target)
    return Copied(size, damage)


def _clear(partial: Path) -> None:
    """Delete what an interrupted backup left, and nothing else."""
    if not os.path.lexists(partial):
        return
    is_partial_copy = partial.is_dir() and not partial.is_symlink()
    if not is_partial_copy or any(not each.name.startswith((DATABASE, VAULT)) for each in partial.iterdir()):
        raise CannotWrite(
            str(partial), "the backup is built there, but it contains something else; move that elsewhere"
        )
    shutil.rmtree(partial)


def _move_up(partial: Path) -> None:
    """Move a copy to its parent folder, rows last: the folder may be a mounted disk, so it stays."""
    with suppress(PermissionError):  # the folder belongs to another user
        partial.parent.chmod(0o700)
    for part in sorted(partial.iterdir(), reverse=True):
        part.rename(partial.parent / part.name)
    partial.rmdir()


def _is_text(path: Path) -> bool:
    """Whether a path is valid Unicode; file names are bytes."""
    try:
        return bool(str(path).encode())
    except UnicodeEncodeError:
        return False


def _verify(copy: Archive, archive: Archive) -> list[Problem]:
    """Return problems that the copy shares with the journal; raise for a problem of the copy alone."""
    problems_of_copy = [*problems(copy, vault=CheckOutcome.empty())]
    if problems_of_copy:
        with archive.store.read_snapshot():
            known_problems = {each.problem for each in problems(archive, vault=CheckOutcome.empty())}
        for each in problems_of_copy:
            if each.problem not in known_problems:
                raise DamagedArchive(each.where, each.problem)
    needed = needed_blobs(copy)
    holders: dict[bytes, list[SourceRow]] | None = None
    for blob, location in copy.store.locations():
        trouble = copy.vault.problem_at(blob, location) if needed is None or blob in needed else ""
        if not trouble:
            continue
        if archive.vault.is_intact(blob):
            reason = (
                "the copy differs from the original; check the disk, then try again or choose another folder"
            )
            raise CannotWrite(copy.vault.pack_path(location.pack), reason)
        holders = blobs_of(copy) if holders is None else holders
        paths = ", ".join(row.path for row in holders.get(blob, ()))
        problems_of_copy.append(Problem(paths or archive.vault.pack_path(location.pack), trouble))
    return problems_of_copy


def _copy(pack: str, folder: Path) -> None:
    copy = folder / os.path.basename(pack)
    handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(pack, "rb", buffering=0) as source, os.fdopen(handle, "wb") as out:
        left = os.fstat(source.fileno()).st_size
        while left > 0 and (block := _block_of(source, min(left, _BLOCK_BYTES))):
            out.write(block)
            left -= len(block)
        out.flush()
        os.fsync(out.fileno())


def _block_of(source: FileIO, size: int) -> bytes:
    """Read a block of a pack, with zeros for unreadable sectors; hashes show later what is damaged."""
    start = source.tell()
    try:
        return source.read(size) or b""
    except OSError:
        if size > _SECTOR_BYTES:
            source.seek(start)
            return _block_of(source, _SECTOR_BYTES)
        source.seek(start + size)
        return bytes(size)
