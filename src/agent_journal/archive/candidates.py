"""What is to be imported, and what became of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from msgspec import Struct


class Stat(Struct, frozen=True, array_like=True):
    """What tells cheaply whether a file is as it was; all zero if it was not there."""

    size: int = 0
    mtime_ns: int = 0
    inode: int = 0


ABSENT = Stat()


def stat_of(location: str) -> Stat:
    """The stat of a file or folder, without following links."""
    try:
        status = os.lstat(location)
    except (OSError, ValueError):  # a name with a NUL in it is none
        return ABSENT
    return Stat(status.st_size, status.st_mtime_ns, status.st_ino)


def is_gone(path: str) -> bool:
    """Whether there is no such file; of one in a folder that may not be looked into nobody knows."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


class Found(NamedTuple):
    """A file or folder to import: where it is, who may read it, how it was found, and its state then."""

    path: str
    reader: str = ""
    home: str = ""
    stat: Stat | None = None

    @property
    def size(self) -> int:
        """How many bytes it had when it was found."""
        return self.stat.size if self.stat else 0


class Result(Struct, kw_only=True):
    """What became of a file."""

    source: str
    file: str
    status: str
    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    new_memories: int = 0
    bytes: int = 0
    notes: list[str] = []
