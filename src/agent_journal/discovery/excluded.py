"""What is never looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal.discovery import globs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.config import Config


class Refused:
    """What is never looked at: the journal itself, and what a person excluded."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        own = [os.path.realpath(path) for path in (config.home, config.storage.index_path)]
        self._own = tuple(own)
        self._below_own = tuple(path + os.sep for path in own)
        self._inodes = {status.st_ino: status.st_dev for status in filter(None, map(_status, own))}
        excluded = [globs.parsed(text, environ) for text in config.storage.exclude]
        patterns = [pattern for pattern in excluded if pattern is not None and pattern.parts]
        self._excludes = globs.path_matcher(patterns) if patterns else None

    def path(self, path: str) -> bool:
        """Whether a person excluded a path."""
        return self._excludes is not None and bool(self._excludes(path))

    def folder(self, path: str, status: os.stat_result) -> bool:
        """Whether a folder is refused."""
        return self._inodes.get(status.st_ino, -1) == status.st_dev or self.path(path)

    def entry(self, entry: os.DirEntry[str]) -> bool:
        """Whether what was found in a folder is refused."""
        # Asked of the path: on Windows an entry does not know its device.
        status = _status(entry.path) if entry.inode() in self._inodes else None
        return self.path(entry.path) or (status is not None and self.folder(entry.path, status))

    def own(self, path: str) -> bool:
        """Whether a path leads to the journal itself, or into it."""
        real = os.path.realpath(path)
        return real in self._own or real.startswith(self._below_own)

    def really(self, path: str) -> bool:
        """Whether a path is refused for where it leads to."""
        return self.own(path) or self.path(os.path.realpath(path)) or self.path(path)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
