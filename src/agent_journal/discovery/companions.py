"""Files that belong to others and are never units themselves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal.discovery import globs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.readers import ReaderInfo


class Companions:
    """Which files of a folder belong to others."""

    __slots__ = ("_folder", "_tests")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._tests: dict[str, list[Callable[[str], object]]] = {}

    def has(self, info: ReaderInfo, name: str) -> bool:
        """Whether a file is a companion by what its reader says."""
        tests = self._tests.get(info.name)
        if tests is None:
            tests = self._tests[info.name] = _tests_in(self._folder.replace(os.sep, "/"), info.companions)
        for matches in tests:  # noqa: SIM110 (asked of every file, and quicker than any)
            if matches(name):
                return True
        return False


def _tests_in(folder: str, companions: Sequence[str]) -> list[Callable[[str], object]]:
    """What to ask of names in a folder: the last parts of those patterns whose other parts match it."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 (only if something was found)

    tests = []
    for pattern in companions:
        above, _, last = pattern.rpartition("/")
        place, above = (f"{folder}/", f"{above}/*") if last == "*" else (folder, above)
        if above in {"", "*"} or fnmatchcase(place, above):
            tests.append(globs.matcher(last))
    return tests
