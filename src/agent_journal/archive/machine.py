"""Which machine a journal belongs to: two that share one folder would each undo what the other wrote.

Services that keep folders alike copy single files, whenever they like. Rows, the log beside them and the
vault then come from different moments, and of two machines that write, one loses. The journal remembers who
wrote to it, and each session of writing leaves a new mark in the rows and beside them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal.errors import UnusableArchive
from agent_journal.files import keep_private

if TYPE_CHECKING:
    from agent_journal.archive.store import Store

MARK = "generation"
_MOST = 20
_LINUX = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_SHARED = (
    "another machine wrote to it after this one did, and a journal belongs to one; keep it where no service "
    "copies it and share copies by 'aj backup', or make it this machine's with 'aj doctor --adopt'"
)
_TORN = (
    "it was copied from another machine while something wrote to it, and is not whole; copy it again when "
    "no aj runs there, or take it as it is with 'aj doctor --adopt'"
)


def here() -> str | None:
    """What tells this machine from others and stays the same; None where the system has no such thing."""
    with suppress(OSError, AttributeError, ImportError):
        known = _stated()
        return hashlib.sha256(f"agent-journal\0{known}".encode()).hexdigest()[:16] if known else None
    return None


def _stated() -> str:
    if sys.platform == "darwin":
        return _of_mac()
    if sys.platform == "win32":
        return _of_windows()
    return next((text for place in _LINUX if (text := _content(Path(place)))), "")


def _of_mac() -> str:
    import ctypes  # noqa: PLC0415

    found, forever = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(5, 0)
    failed = ctypes.CDLL(None).gethostuuid(found, forever)
    return "" if failed else found.raw.hex()


def _of_windows() -> str:
    import winreg  # noqa: PLC0415

    place = r"SOFTWARE\Microsoft\Cryptography"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:  # type: ignore[attr-defined]
        return str(winreg.QueryValueEx(key, "MachineGuid")[0])  # type: ignore[attr-defined]


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def trouble(home: Path, store: Store) -> str:
    """Why this machine must not write to a journal; empty if it may."""
    me, writers = here(), store.writers()
    if me is None or not writers or writers[-1] == me:
        return ""
    if me in writers:
        return _SHARED
    mark = _content(home / MARK)
    return _TORN if mark and mark != store.generation() else ""


def sign(home: Path, store: Store) -> None:
    """Let the journal know who writes to it from now on, if that may be."""
    reason = trouble(home, store)
    if reason:
        raise UnusableArchive(str(home), reason)
    _be_last(store)


def adopt(store: Store) -> None:
    """Make a journal this machine's, whoever wrote to it."""
    _be_last(store)


def _be_last(store: Store) -> None:
    me, writers = here(), store.writers()
    if me is not None and writers[-1:] != [me]:
        with store.transaction():
            store.set_writers([*(each for each in writers if each != me), me][-_MOST:])


def leave_mark(home: Path, mark: str) -> None:
    """Put the mark of a session beside the rows; without it, a copy is taken to be whole."""
    with suppress(OSError):
        handle = os.open(home / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            keep_private(handle)
            os.write(handle, mark.encode())
        finally:
            os.close(handle)
