"""Writes files and folders: each appears complete or not at all, and only its owner can read it."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
import time
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from errno import ENOTDIR
from itertools import count
from typing import IO, TYPE_CHECKING

from agent_journal.errors import CannotWrite
from agent_journal.inputs.input import is_plain, passed_over

if TYPE_CHECKING:
    from collections.abc import Iterator

# Zips store times in steps of two seconds since 1980; this one is the same in every zip.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
# Names that Windows reserves for devices, with any suffix.
_DEVICE_NAME = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MAX_NAME_CHARS = 120
_MAX_SLUG_CHARS = 80
# A file that is being written, with the id of the process. If no process has locked it after this time, it is
# a leftover.
_PART_NAME = re.compile(r"\.aj-\d+-\d+\.part")
_LEFTOVER_AFTER_S = 10.0
_part_numbers = count()
_cleaned_folders: set[str] = set()


class Nothing(Exception):
    """Raised inside of `whole_file` and others if there is nothing to write, so that no file appears."""


@contextmanager
def whole_file(path: str, *, replaces: bool = True) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is complete; only its owner can read it.

    With `replaces=False`, it is an error if a file with this name exists by then.
    """
    part = _part_for(path)
    try:
        # Opened inside of the `try`, so that no signal can prevent its removal.
        with (
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out,
            passed_over(out.fileno()),
        ):
            make_private(out.fileno())
            _lock(out.fileno())  # until it is closed, so that no process takes it for a leftover
            yield out
        if replaces:
            os.replace(part, path)
        else:
            _give_new_name(part, path)
    except Nothing:
        _remove(part)
    except OSError as error:
        _remove(part)
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error
    except BaseException:
        _remove(part)
        raise


def _give_new_name(part: str, path: str) -> None:
    """Rename a file, unless one with the new name exists."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError as error:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        os.rename(part, path)
    else:
        os.unlink(part)


def _part_for(path: str) -> str:
    """The path of a file or folder while it is written; removes leftovers of killed processes next to it."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in _cleaned_folders:
        _cleaned_folders.add(folder)
        _remove_leftovers(folder)
    while True:
        part = os.path.join(folder, f".aj-{os.getpid()}-{next(_part_numbers)}.part")
        if not os.path.lexists(part):
            return part


def _remove_leftovers(folder: str) -> None:
    """Remove leftovers of killed processes: files with names of ours that no process has locked."""
    try:
        with os.scandir(folder) as listing:
            paths = [entry.path for entry in listing if _PART_NAME.fullmatch(entry.name)]
    except OSError:
        return
    for path in paths:
        with suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: str) -> None:
    status = os.lstat(path)
    is_folder = stat.S_ISDIR(status.st_mode)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return
    if time.time() - status.st_mtime < _LEFTOVER_AFTER_S:
        return
    if os.name == "nt":  # an open file cannot be removed there; a folder in use could be
        if not is_folder:
            os.unlink(path)
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not _lock(handle):
            return
        if is_folder:
            _remove_folder(path)
        elif stat.S_ISREG(status.st_mode):
            os.unlink(path)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file that is being written; False if another process has locked it."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return True
    except OSError:  # another process has it, or the file system has no locks
        return False
    return True


def make_private(file: int | str) -> None:
    """Give a new file or folder the permissions that let its owner, and only its owner, use it."""
    mode = os.stat(file).st_mode
    private_mode = 0o700 if stat.S_ISDIR(mode) else 0o600
    if stat.S_IMODE(mode) != private_mode and os.name != "nt":
        os.chmod(file, private_mode)


@contextmanager
def named_file(path: str) -> Iterator[IO[bytes]]:
    """The output file that a user named: a file that appears when it is complete, or a pipe or device itself.

    A link to a file stays a link, and a device such as `/dev/null` is not replaced by a file.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = stat.S_IFREG  # it does not exist yet
    if stat.S_ISBLK(mode):
        raise CannotWrite(path, "it is a disk, not a file on one")
    if stat.S_ISREG(mode):
        with whole_file(os.path.realpath(path) if os.path.islink(path) else path) as out:
            yield out
        return
    try:
        with os.fdopen(os.open(path, os.O_WRONLY), "wb") as out:
            yield out
    except BrokenPipeError:
        raise  # the reader has closed the pipe, which is not an error
    except OSError as error:
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error
    except Nothing:
        return


def write_bytes(path: str, data: bytes) -> None:
    """Write a small file."""
    with whole_file(path) as out:
        out.write(data)


def write_regular(path: str, data: bytes) -> None:
    """Write a small file, unless there is a pipe, device or socket of that name."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = stat.S_IFREG  # it does not exist yet
    if not stat.S_ISREG(mode):
        raise CannotWrite(path, _kind_of_file(mode))
    write_bytes(path, data)


class NotRegular(ValueError):
    """A path leads to a pipe, device, socket or folder instead of a file."""


def open_regular(path: str) -> IO[bytes]:
    """Open a file for reading; anything else is refused, because reading it might never end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise NotRegular(_kind_of_file(stat.S_IFSOCK)) from error
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise NotRegular(_kind_of_file(mode))
    return os.fdopen(handle, "rb")


def _kind_of_file(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "it is a folder, not a file"
    kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return f"it is a {kinds.get(stat.S_IFMT(mode), 'special file')}, not a regular file"


def make_folder(path: str) -> None:
    """Create a folder that only its owner can use, if it does not exist."""
    try:
        private_folder(path)
    except OSError as error:
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error


def private_folder(path: str) -> None:
    """Create a folder, and missing ones above it, that only the owner can use."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(os.path.abspath(path))
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another process has just created it, unless it is a file
            os.mkdir(folder, 0o700)
            make_private(folder)
    if missing and not os.path.isdir(missing[0]):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), missing[0])


def sync_folder(path: str) -> None:
    """Flush the names of new files in a folder to disk, if the system can do that."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_safe_name(text: str) -> bool:
    """Whether a text, followed by a suffix, is a valid file name on all file systems."""
    if len(text) > _MAX_NAME_CHARS or _DEVICE_NAME.fullmatch(text):
        return False
    return _SAFE_NAME.fullmatch(text) is not None


def safe_name(text: str, identity: str) -> str:
    """A name that is valid on all file systems: the harmless part of a text, and a hash of its identity."""
    slug = _UNSAFE_CHARACTERS.sub("-", text).strip("-.")[:_MAX_SLUG_CHARS]
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else digest


class FolderBundle:
    """Several files in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.count = 0
        """How many files were opened."""

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file in the folder or in a subfolder."""
        self.count += 1
        file_path = os.path.join(self._folder, *_steps(path))
        make_folder(os.path.dirname(file_path))
        return whole_file(file_path)


class ZipBundle:
    """Several files in a zip; the same files give the same bytes."""

    def __init__(self, out: IO[bytes]) -> None:
        from zipfile import ZIP_DEFLATED, ZipFile  # noqa: PLC0415 (slow to import)

        self._zip = ZipFile(out, "w", ZIP_DEFLATED)
        self.count = 0
        """How many files were opened."""

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file in the zip."""
        from zipfile import ZipInfo  # noqa: PLC0415

        self.count += 1
        info = ZipInfo("/".join(_steps(path)), _ZIP_TIME)
        info.compress_type = self._zip.compression
        info.external_attr = 0o600 << 16
        return self._zip.open(info, "w", force_zip64=True)

    def close(self) -> None:
        """Write the directory of the zip."""
        self._zip.close()


@contextmanager
def bundle(path: str | None, *, is_folder: bool) -> Iterator[FolderBundle | ZipBundle]:
    """The target for several files that belong together: a new folder, a zip, or a zip on standard output."""
    if path is None:
        with closing(ZipBundle(sys.stdout.buffer)) as zipped:
            yield zipped
    elif is_folder or not path.endswith(".zip"):
        with _whole_folder(path) as folder:
            yield FolderBundle(folder)
    else:
        with whole_file(path) as out, closing(ZipBundle(out)) as zipped:
            yield zipped


@contextmanager
def _whole_folder(path: str) -> Iterator[str]:
    """A folder that gets its name when all of its files are complete."""
    target = os.path.normpath(path)
    with suppress(OSError):
        os.rmdir(target)  # an empty folder may be replaced
    if os.path.lexists(target):
        raise CannotWrite(path, "it already exists; choose another folder, or move this one elsewhere")
    part = _part_for(target)
    try:
        make_folder(os.path.dirname(part))
        make_folder(part)
        with passed_over(part), _folder_locked(part):
            yield part
        os.rename(part, target)
    except Nothing:
        _remove_folder(part)
    except OSError as error:
        _remove_folder(part)
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error
    except BaseException:
        _remove_folder(part)
        raise


@contextmanager
def _folder_locked(path: str) -> Iterator[None]:
    """Lock a folder, so that no process takes it for a leftover."""
    if os.name == "nt":
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _steps(path: str) -> list[str]:
    steps = path.split("/")
    if not all(map(is_plain, steps)):
        raise CannotWrite(path, "it is not a path inside the bundle")
    return steps


def _remove_folder(path: str) -> None:
    from shutil import rmtree  # noqa: PLC0415 (slow to import)

    rmtree(path, ignore_errors=True)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
