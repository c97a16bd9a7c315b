"""The file that is asked about, and whether a path that a tool recorded means it."""

from __future__ import annotations

import os
import re
from typing import NamedTuple, Self

_DRIVE = re.compile(r"[A-Za-z]:/")
_LINES = re.compile(r"(.+?):(\d{1,9})(?:[-,:](\d{1,9}))?", re.DOTALL)


class LineRange(NamedTuple):
    """Lines of a file, from 1 on; both ends are included."""

    first: int
    last: int


def split_lines(text: str) -> tuple[str, LineRange | None]:
    """Split `PATH:10` or `PATH:10-20`; a file that has such a name is meant as a whole."""
    match = _LINES.fullmatch(text)
    if match is None or os.path.lexists(text):
        return text, None
    first = int(match[2])
    return match[1], LineRange(first, int(match[3] or first))


class Target(NamedTuple):
    """A file under the name that it has, or had at some time."""

    path: str
    """Absolute, or as much of it as is known."""
    tail: str
    """The end of the path by which copies of the project in other places are recognized."""
    is_on_disk: bool = False
    """Whether the path is that of a file on this machine."""

    @classmethod
    def of_file(cls, path: str, root: str | None) -> Self:
        """Return the target for an absolute path; `root` is the top folder of its project, if known."""
        path = normalized(path)
        root = root and normalized(root)
        if root and path.startswith(f"{root}/"):
            return cls(path, path.removeprefix(f"{os.path.dirname(root).rstrip('/')}/"), is_on_disk=True)  # noqa: PTH120
        return cls(path, path, is_on_disk=True)

    @classmethod
    def of_name(cls, name: str) -> Self:
        """Return the target for a file of which only the end of its path is known."""
        return cls(normalized(name), normalized(name))

    @property
    def name(self) -> str:
        """The name of the file without folders."""
        return self.path.rpartition("/")[2]

    def is_meant_by(self, path: str) -> bool:
        """Whether a recorded path (see `resolved`) means this file.

        The same file of another copy of the project counts, as on another machine or in a folder that has
        moved, but not if that copy is here as well.
        """
        if path.rpartition("/")[2] != self.name:
            return False
        if not _is_absolute(path):
            return _ends_with(self.path, path) or _ends_with(path, self.tail)
        if path == self.path:
            return True
        return _ends_with(path, self.tail) and not (self.is_on_disk and os.path.lexists(path))

    def before_move(self, old: str, new: str) -> Target:
        """Return the file under the name that it had before a move, as recorded (see `resolved`)."""
        for end in (self.path, self.tail):
            if _ends_with(new, end):
                root = new[: len(new) - len(end)]
                if old.startswith(root):
                    return self._moved_to(old.removeprefix(root), end)
            elif _ends_with(end, new):
                return self._moved_to(f"{end[: len(end) - len(new)]}{old}", end)
        return Target.of_name(old)

    def _moved_to(self, end: str, old_end: str) -> Target:
        """Return the target with another end of its path."""
        path = f"{self.path.removesuffix(old_end)}{end}"
        above = self.path.removesuffix(self.tail)
        return Target(path, path.removeprefix(above), self.is_on_disk)


def resolved(path: str, folder: str | None) -> str:
    """Return a path that a tool recorded, made absolute by its working folder if that is known."""
    path = normalized(path)
    return path if _is_absolute(path) or not folder else normalized(f"{folder}/{path}")


def normalized(path: str) -> str:
    """Return a path with slashes, without `.` and `..`."""
    path = path.replace("\\", "/") if "\\" in path else path
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return f"{'/' if absolute else ''}{'/'.join(parts)}"


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~/")) or _DRIVE.match(path) is not None


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end.lstrip('/')}")
