"""One writer at a time: a lock on a file of its own, which the system takes back from a process that dies."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.errors import ArchiveInUse, UnusableArchive
from agent_journal.files import keep_private, private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PAUSE = 0.05


class Lock:
    """The right to write to a journal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self, wait: float = 0.0, waiting: Callable[[str], None] | None = None) -> None:
        """Take the lock, or raise `ArchiveInUse` after so many seconds; `waiting` is told once who has it."""
        try:
            private_folder(str(self._path.parent))
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            if not os.fstat(handle).st_size:  # it is new
                keep_private(handle)
        except OSError as error:
            advice = "; 'aj doctor' says what to do" if isinstance(error, PermissionError) else ""
            raise UnusableArchive(str(self._path.parent), _reason(error) + advice) from error
        until = time.monotonic() + wait
        told = False
        try:
            while not _locked(handle):
                if not told and waiting is not None and wait:
                    waiting(self._owner(handle))
                    told = True
                if time.monotonic() > until:
                    raise ArchiveInUse(str(self._path.parent), self._owner(handle))  # noqa: TRY301
                time.sleep(_PAUSE)
        except OSError as error:  # a file system without locks
            os.close(handle)
            raise UnusableArchive(str(self._path.parent), f"no lock ({_reason(error)})") from error
        except BaseException:
            os.close(handle)
            raise
        with suppress(OSError):  # who has it is told for convenience; the disk may be full
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def is_held(self) -> bool:
        """Whether this process may write."""
        return self._handle is not None

    def owner(self) -> str | None:
        """Who has the lock now, as `acquire` would tell it; None if nobody has."""
        try:
            handle = os.open(self._path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except OSError:  # nobody ever wrote, or this person may not
            return None
        try:
            return None if _locked(handle) else self._owner(handle)
        finally:
            os.close(handle)

    @staticmethod
    def _owner(handle: int) -> str:
        os.lseek(handle, 0, os.SEEK_SET)
        number = os.read(handle, 20).strip().decode("ascii", "replace")
        return f" (process {number})" if number.isdigit() else ""


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _locked(handle: int) -> bool:
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return _locked_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked_on_windows(handle: int) -> bool:
    import msvcrt  # noqa: PLC0415

    try:
        # One byte far behind what is written, which others may still read.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
