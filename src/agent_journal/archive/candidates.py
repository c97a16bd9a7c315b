"""Import candidates and import results."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins


class Stat(Struct, frozen=True, array_like=True):
    """Size, time and inode of a file, which show cheaply whether it has changed; all zero if it is absent."""

    size: int = 0
    mtime_ns: int = 0
    inode: int = 0


ABSENT = Stat()


def stat_of(location: str) -> Stat:
    """Return the stat of a file or folder, without following links."""
    try:
        status = os.lstat(location)
    except (OSError, ValueError):  # ValueError: the name contains a NUL
        return ABSENT
    return Stat(status.st_size, status.st_mtime_ns, status.st_ino)


def is_gone(path: str) -> bool:
    """Whether the file is certainly absent; in a folder that cannot be read this is unknown, so False."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


class ImportCandidate(NamedTuple):
    """A file or folder to import: its path, likely reader, the pattern that found it, and its stat."""

    path: str
    reader: str = ""
    home: str = ""
    stat: Stat | None = None

    @property
    def size(self) -> int:
        """The number of bytes when it was discovered."""
        return self.stat.size if self.stat else 0


class Result(Struct, kw_only=True):
    """The outcome of importing one file."""

    source: str
    file: str
    status: str
    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    new_memories: int = 0
    bytes: int = 0
    notes: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = to_builtins(self)
        return values
