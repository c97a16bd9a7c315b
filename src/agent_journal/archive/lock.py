"""Lock a journal for one writer at a time; the operating system releases the lock of a dead process."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.errors import ArchiveInUse, UnusableArchive
from agent_journal.files import make_private, private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_POLL_S = 0.05


class Lock:
    """The right to write to a journal."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self, wait: float = 0.0, on_wait: Callable[[str], None] | None = None) -> None:
        """Take the lock, or raise `ArchiveInUse` after `wait` seconds; call `on_wait` once with the owner."""
        try:
            private_folder(str(self._path.parent))
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            if not os.fstat(handle).st_size:  # the file is new
                make_private(handle)
        except OSError as error:
            advice = "; 'aj doctor' shows what to do" if isinstance(error, PermissionError) else ""
            raise UnusableArchive(str(self._path.parent), _reason(error) + advice) from error
        deadline = time.monotonic() + wait
        has_called = False
        try:
            while not _locked(handle):
                if not has_called and on_wait is not None and wait:
                    on_wait(self._owner(handle))
                    has_called = True
                if time.monotonic() > deadline:
                    raise ArchiveInUse(str(self._path.parent), self._owner(handle))  # noqa: TRY301
                time.sleep(_POLL_S)
        except OSError as error:  # a file system without locks
            os.close(handle)
            raise UnusableArchive(
                str(self._path.parent), f"it cannot be locked ({_reason(error)})"
            ) from error
        except BaseException:
            os.close(handle)
            raise
        with suppress(OSError):  # only for information; the disk may be full
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle

    def release(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def is_held(self) -> bool:
        """Whether this process has the lock."""
        return self._handle is not None

    def owner(self) -> str | None:
        """Return the owner of the lock as text, or None if it is free."""
        try:
            handle = os.open(self._path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        except OSError:  # no writer so far, or no permission
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
        # One byte far after the content, which others may still read.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
