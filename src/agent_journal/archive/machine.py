"""Tie a journal to one machine: two that share a folder would overwrite each other's changes.

Services that synchronize folders copy single files at any time. Rows, their log and the vault are then of
different moments, and if two machines write, one loses its changes. So the journal records which machines
wrote to it, and each writing session leaves a new mark in the rows and in a file next to them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal.errors import UnusableArchive
from agent_journal.files import make_private

if TYPE_CHECKING:
    from agent_journal.archive.store import Store

MARK = "generation"
_MAX_WRITERS = 20
_LINUX_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_SHARED = (
    "another machine wrote to it after this one did, but a journal belongs to one machine; move it to a "
    "folder that no service copies and share backups made with 'aj backup', or assign it to this machine "
    "with 'aj doctor --adopt'"
)
_TORN = (
    "it was copied from another machine while it was being written, so it is not complete; copy it again "
    "while no aj is running there, or accept it as it is with 'aj doctor --adopt'"
)


def machine_id() -> str | None:
    """Return a stable id of this machine; None if the system has none."""
    with suppress(OSError, AttributeError, ImportError):
        raw_id = _system_id()
        return hashlib.sha256(f"agent-journal\0{raw_id}".encode()).hexdigest()[:16] if raw_id else None
    return None


def _system_id() -> str:
    if sys.platform == "darwin":
        return _mac_id()
    if sys.platform == "win32":
        return _windows_id()
    return next((text for path in _LINUX_ID_FILES if (text := _content(Path(path)))), "")


def _mac_id() -> str:
    import ctypes  # noqa: PLC0415

    buffer, forever = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(5, 0)
    failed = ctypes.CDLL(None).gethostuuid(buffer, forever)
    return "" if failed else buffer.raw.hex()


def _windows_id() -> str:
    import winreg  # noqa: PLC0415

    registry_path = r"SOFTWARE\Microsoft\Cryptography"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, registry_path) as key:  # type: ignore[attr-defined]
        return str(winreg.QueryValueEx(key, "MachineGuid")[0])  # type: ignore[attr-defined]


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def write_refusal(home: Path, store: Store) -> str:
    """Return why this machine must not write to a journal; empty if it may."""
    own_id, writers = machine_id(), store.writers()
    if own_id is None or not writers or writers[-1] == own_id:
        return ""
    if own_id in writers:
        return _SHARED
    mark = _content(home / MARK)
    return _TORN if mark and mark != store.generation() else ""


def claim(home: Path, store: Store) -> None:
    """Record this machine as the journal's writer, or raise if it must not write."""
    reason = write_refusal(home, store)
    if reason:
        raise UnusableArchive(str(home), reason)
    _record_writer(store)


def adopt(store: Store) -> None:
    """Make this machine the journal's writer, whichever machine wrote last."""
    _record_writer(store)


def _record_writer(store: Store) -> None:
    own_id, writers = machine_id(), store.writers()
    if own_id is not None and writers[-1:] != [own_id]:
        with store.transaction():
            store.set_writers([*(each for each in writers if each != own_id), own_id][-_MAX_WRITERS:])


def leave_mark(home: Path, mark: str) -> None:
    """Write the mark of a session next to the rows; a copy without it is considered consistent."""
    with suppress(OSError):
        handle = os.open(home / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            make_private(handle)
            os.write(handle, mark.encode())
        finally:
            os.close(handle)
