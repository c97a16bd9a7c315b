"""Files and folders that are written: each appears whole or not at all, for its owner alone."""

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

# Zips state times in steps of two seconds since 1980; this one is the same in every zip.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
# Names that Windows keeps for devices, whatever their suffix.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_LONGEST = 120
# What is being written, by the number of the process. What nobody has locked so long after is a leftover.
_PART = re.compile(r"\.aj-\d+-\d+\.part")
_LEFTOVER_AFTER_S = 10.0
_numbers = count()
_tidied: set[str] = set()


class Nothing(Exception):
    """Raised to leave nothing behind: there was nothing to write."""


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """A file that takes its name only when it is complete; readable by its owner alone."""
    part = _part_for(path)
    try:
        # Inside, so that no signal can come between the file and its removal.
        with (
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out,
            passed_over(out.fileno()),
        ):
            keep_private(out.fileno())
            _locked(out.fileno())  # until it is closed: nobody takes it for a leftover
            yield out
        os.replace(part, path)
    except Nothing:
        _remove(part)
    except OSError as error:
        _remove(part)
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error
    except BaseException:
        _remove(part)
        raise


def _part_for(path: str) -> str:
    """The name of a file or folder while it is written; what killed processes left beside it is removed."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in _tidied:
        _tidied.add(folder)
        _remove_leftovers(folder)
    while True:
        part = os.path.join(folder, f".aj-{os.getpid()}-{next(_numbers)}.part")
        if not os.path.lexists(part):
            return part


def _remove_leftovers(folder: str) -> None:
    """Remove what processes that were killed have left: by its name it is ours, and nobody has locked it."""
    try:
        with os.scandir(folder) as listing:
            names = [entry.path for entry in listing if _PART.fullmatch(entry.name)]
    except OSError:
        return
    for path in names:
        with suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: str) -> None:
    status = os.lstat(path)
    is_folder = stat.S_ISDIR(status.st_mode)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return
    if time.time() - status.st_mtime < _LEFTOVER_AFTER_S:
        return
    if os.name == "nt":  # a file that is open cannot be removed there; of a folder nobody can tell
        if not is_folder:
            os.unlink(path)
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not _locked(handle):
            return
        if is_folder:
            _remove_folder(path)
        elif stat.S_ISREG(status.st_mode):
            os.unlink(path)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock that says that somebody is writing; False if another process has it."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return True
    except OSError:  # another one has it, or there are no locks here
        return False
    return True


def keep_private(place: int | str) -> None:
    """Let a new file or folder be for its owner alone, and for its owner indeed, whatever the umask."""
    mode = os.stat(place).st_mode
    wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
    if stat.S_IMODE(mode) != wanted and os.name != "nt":
        os.chmod(place, wanted)


@contextmanager
def named_file(path: str) -> Iterator[IO[bytes]]:
    """What a person calls a file: one that appears whole, also behind a link, or a pipe or device as it is.

    To put a file in the place of `/dev/null` would be no favour to anybody.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = stat.S_IFREG  # it is to be made
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
        raise  # whoever read it has seen enough
    except OSError as error:
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error
    except Nothing:
        return


def write_bytes(path: str, data: bytes) -> None:
    """Write a small file."""
    with whole_file(path) as out:
        out.write(data)


def write_regular(path: str, data: bytes) -> None:
    """Write a small file, but not in the place of a pipe, device or socket."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = stat.S_IFREG  # it is to be made
    if not stat.S_ISREG(mode):
        raise CannotWrite(path, _kind_of_file(mode))
    write_bytes(path, data)


class NotRegular(ValueError):
    """A pipe, device, socket or folder where a file must be."""


def open_regular(path: str) -> IO[bytes]:
    """Open a file to read it; anything else is refused, for to read it could take forever."""
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
    """Make a folder for its owner alone, if it is not there."""
    try:
        private_folder(path)
    except OSError as error:
        raise CannotWrite(path, (error.strerror or str(error)).lower()) from error


def private_folder(path: str) -> None:
    """Make a folder, and those above it that are missing, for the owner alone, whatever the umask."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(os.path.abspath(path))
    for folder in reversed(missing):
        with suppress(FileExistsError):  # somebody else made it just now, unless it is a file
            os.mkdir(folder, 0o700)
            keep_private(folder)
    if missing and not os.path.isdir(missing[0]):
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), missing[0])


def sync_folder(path: str) -> None:
    """Let the names of new files in a folder last, where a system can be asked for that."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_safe_name(text: str) -> bool:
    """Whether any file system takes a text for a name, with a suffix behind it."""
    return len(text) <= _LONGEST and _SAFE.fullmatch(text) is not None and _DEVICE.fullmatch(text) is None


def safe_name(text: str, known_by: str) -> str:
    """A name that any file system takes: what is plain of a text, and a hash of what it is known by."""
    slug = _OTHER.sub("-", text).strip("-.")[:80]
    mark = hashlib.sha256(known_by.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{slug}-{mark}" if slug else mark


class FolderBundle:
    """Several files in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file in the folder or in one below it."""
        place = os.path.join(self._folder, *_steps(path))
        make_folder(os.path.dirname(place))
        return whole_file(place)


class ZipBundle:
    """Several files in a zip; the same files give the same bytes."""

    def __init__(self, out: IO[bytes]) -> None:
        from zipfile import ZIP_DEFLATED, ZipFile  # noqa: PLC0415 (slow to import)

        self._zip = ZipFile(out, "w", ZIP_DEFLATED)

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file in the zip."""
        from zipfile import ZipInfo  # noqa: PLC0415

        info = ZipInfo("/".join(_steps(path)), _ZIP_TIME)
        info.compress_type = self._zip.compression
        info.external_attr = 0o600 << 16
        return self._zip.open(info, "w", force_zip64=True)

    def close(self) -> None:
        """Write what makes it a zip."""
        self._zip.close()


@contextmanager
def bundle(path: str | None, *, is_folder: bool) -> Iterator[FolderBundle | ZipBundle]:
    """Where several files go that belong together: a new folder, a zip, or (as a zip) standard output."""
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
    """A folder that takes its name when all that belongs into it is there."""
    target = os.path.normpath(path)
    with suppress(OSError):
        os.rmdir(target)  # an empty one is as good as none
    if os.path.lexists(target):
        raise CannotWrite(path, "there is something already; name another folder, or move that away")
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
    """Let nobody take a folder for a leftover."""
    if os.name == "nt":
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        _locked(handle)
        yield
    finally:
        os.close(handle)


def _steps(path: str) -> list[str]:
    steps = path.split("/")
    if not all(map(is_plain, steps)):
        raise CannotWrite(path, "it is no path inside of a bundle")
    return steps


def _remove_folder(path: str) -> None:
    from shutil import rmtree  # noqa: PLC0415 (slow to import)

    rmtree(path, ignore_errors=True)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
