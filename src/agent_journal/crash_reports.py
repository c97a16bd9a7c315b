"""Crash reports: the traceback of an unexpected error in a private file, to attach to a bug report.

A report contains no conversation text: it identifies the source only by its reader, and omits the quoted
parts of error messages, which may repeat input. The same crash has the same name, so that a file that fails
every day has one report.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

FOLDER = "reports"
MAX_REPORTS = 20
MAX_REPORT_BYTES = 32 << 10
_MAX_MESSAGE_CHARS = 200
_MAX_CAUSES = 5
# In a deep recursion, only the first and last frames are informative.
_MAX_FRAMES_PER_END = 25
_NAME = re.compile(r"[a-z0-9_-]{1,40}-[A-Za-z0-9_]{1,60}-[0-9a-f]{8}\.txt")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?|`[^`]*`?", re.DOTALL)


class CrashReports:
    """The folder of a journal's crash reports, which is created with the first one."""

    def __init__(self, folder: str | Callable[[], str]) -> None:
        self._folder = folder

    @property
    def folder(self) -> str:
        """The path of the folder; a function that returns it is called only for a report."""
        return self._folder if isinstance(self._folder, str) else self._folder()

    def write(self, error: BaseException, reader: str, version: str = "") -> str | None:
        """Write a report of an error; its path, or None if it cannot be written."""
        try:
            frames = _traceback_text(error)
            kind = re.sub(r"\W", "", type(error).__name__)[:60] or "Error"
            who = re.sub(r"[^a-z0-9_-]", "-", reader.lower())[:40] or "aj"
            digest = hashlib.sha256(frames.encode("utf-8", "replace")).hexdigest()[:8]
            folder = self.folder
            path = str(_path(folder) / f"{who}-{kind}-{digest}.txt")
            text = f"{_environment_text(reader, version)}\n{frames}"
            _write_private(folder, path, text.encode("utf-8", "backslashreplace")[:MAX_REPORT_BYTES])
        except (OSError, MemoryError, RecursionError, ValueError):
            return None
        return path


def _path(name: str) -> Path:
    from pathlib import Path  # noqa: PLC0415 (every command imports this module; few runs crash)

    return Path(name)


def _write_private(folder: str, path: str, data: bytes) -> None:
    with suppress(FileExistsError):
        _path(folder).mkdir(mode=0o700, parents=True)
        _path(folder).chmod(0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as out:
        if hasattr(os, "fchmod"):  # not on Windows
            os.fchmod(out.fileno(), 0o600)
        out.write(data)
    _remove_oldest(folder)


def _remove_oldest(folder: str) -> None:
    for name in _by_age(folder)[:-MAX_REPORTS]:
        with suppress(OSError):
            (_path(folder) / name).unlink()


def names_in(folder: str) -> list[str]:
    """The names of the reports in a folder, oldest first; none if it cannot be read."""
    try:
        return _by_age(folder)
    except OSError:
        return []


def _by_age(folder: str) -> list[str]:
    with os.scandir(folder) as listing:
        reports = [entry for entry in listing if _NAME.fullmatch(entry.name)]
    return [
        entry.name
        for entry in sorted(reports, key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    ]


def _environment_text(reader: str, version: str) -> str:
    from agent_journal import __version__  # noqa: PLC0415 (it imports everything else)

    lines = {
        "agent-journal": __version__,
        "python": sys.version.split()[0],
        "system": sys.platform,
        "reader": f"{reader} {version}".strip(),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def _traceback_text(error: BaseException) -> str:
    """The error and its causes, the first cause first, without quoted text and the home folder's path."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _MAX_CAUSES:
        frames = _frames(current.__traceback__)
        parts.append(f"Traceback (most recent call last):\n{frames}{_message(current)}\n")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    text = "\nWhile handling that error, or because of it:\n\n".join(reversed(parts))
    home = str(_path("~").expanduser())
    return text.replace(home, "~") if len(home) > 1 else text


def _frames(trace: TracebackType | None) -> str:
    from traceback import extract_tb, format_list  # noqa: PLC0415 (slow to import, and rarely needed)

    frames = list(extract_tb(trace))
    if len(frames) <= 2 * _MAX_FRAMES_PER_END:
        return "".join(format_list(frames))
    first, last = frames[:_MAX_FRAMES_PER_END], frames[-_MAX_FRAMES_PER_END:]
    omitted = len(frames) - len(first) - len(last)
    return "".join([*format_list(first), f"  … {omitted:,} frames …\n", *format_list(last)])


def _message(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 (the message of an error may fail too)
        message = ""
    shown = _QUOTED.sub("'…'", message[: 20 * _MAX_MESSAGE_CHARS])[:_MAX_MESSAGE_CHARS]
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__
