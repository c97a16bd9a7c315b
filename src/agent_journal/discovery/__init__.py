"""Where histories lie: the homes of all sources, found as fast as a machine's folders can be listed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.config import source_key
from agent_journal.discovery import globs
from agent_journal.discovery.excluded import Refused
from agent_journal.discovery.globs import DEEP, Pattern
from agent_journal.discovery.tree import PROJECTS, Home, Node
from agent_journal.discovery.walk import Unit, Walk
from agent_journal.notes import Kind, Notes
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agent_journal.config import Config
    from agent_journal.readers import ReaderInfo

__all__ = ["EncryptedFiles", "Home", "Unit", "default_homes", "encrypted_files", "homes_of", "units"]

# The folders of a user that an environment variable can move on Linux.
_MOVED = {
    "~/.config/": "%XDG_CONFIG_HOME%/",
    "~/.local/share/": "%XDG_DATA_HOME%/",
    "~/.local/state/": "%XDG_STATE_HOME%/",
}


def homes_of(config: Config, info: ReaderInfo) -> list[Home]:
    """The patterns that hold for a source: those of the configuration, else its own."""
    settled = config.storage.sources.get(source_key(info))
    if settled is not None:
        return [Home(info, text, is_settled=True) for text in settled]
    return [Home(info, text) for text in default_homes(info)]


def default_homes(info: ReaderInfo) -> list[str]:
    """The patterns of a source unless the configuration has some."""
    return [*dict.fromkeys([*_with_moved(info.homes), *info.in_projects])]


def _with_moved(homes: Iterable[str]) -> list[str]:
    """Patterns, and those in the folders that environment variables name instead of the default ones."""
    patterns = [*homes]
    return patterns + [
        variable + home.removeprefix(default)
        for home in patterns
        for default, variable in _MOVED.items()
        if home.startswith(default)
    ]


def here() -> str | None:
    """The folder that a person is in; None if it is no longer there."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def units(
    config: Config,
    infos: Iterable[ReaderInfo],
    environ: Mapping[str, str],
    here: str | None,
    *,
    note: Notes,
    projects: Iterable[str] = (),
) -> Iterator[Unit]:
    """Every unit of these sources, each once.

    Patterns without a root are looked for in `here`, in `projects` and below `storage.roots`, not elsewhere.
    What cannot be listed is noted.
    """
    folders = _Folders(config, environ, here, projects, note)
    tree = Node()
    for info in infos:
        for home in homes_of(config, info):
            for pattern in folders.placed(home):
                tree.add(pattern, home)
    yield from Walk(Refused(config, environ), note).below("", tree)


class EncryptedFiles(NamedTuple):
    """Files of a product that its vendor encrypts."""

    product: str
    content: str
    """What one file contains."""
    files: int
    newest: int
    """The newest modification time, in nanoseconds since 1970."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return self._asdict()

    def __str__(self) -> str:
        return (
            f"{self.product}: {count(self.files, self.content)}, encrypted by the vendor; nothing can be read"
        )


def encrypted_files(
    config: Config, infos: Iterable[ReaderInfo], environ: Mapping[str, str]
) -> list[EncryptedFiles]:
    """Count the files on this machine that nobody but their vendor can read; none of them is opened."""
    note = Notes()
    folders = _Folders(config, environ, None, (), note)
    walk = Walk(Refused(config, environ), note)
    counted = []
    for info in infos:
        for each in info.encrypted:
            tree = Node()
            for home in (Home(info, text) for text in _with_moved(each.homes)):
                for pattern in folders.placed(home):
                    tree.add(pattern, home)
            times = [unit.mtime_ns for unit in walk.below("", tree)]
            if times:
                counted.append(EncryptedFiles(each.product, each.content, len(times), max(times)))
    return counted


class Roots(NamedTuple):
    """Folders to keep an eye on: with all that is below them, and by themselves."""

    deep: list[str]
    flat: list[str]
    names: list[str]
    """What is looked for in those by themselves; programs write many other files there."""

    def may_be_wanted(self, path: str) -> bool:
        """Whether a path in a folder by itself is looked for, or is a companion of a database.

        A system may report the folder by another name, if there are links on the way to it.
        """
        last = os.path.basename(path)
        return any(last == name or last.startswith(f"{name}-") for name in self.names)


def roots(
    config: Config,
    infos: Iterable[ReaderInfo],
    environ: Mapping[str, str],
    here: str | None,
    *,
    projects: Iterable[str] = (),
) -> Roots:
    """The folders that are there and below which units lie or may come; no deep one is inside another."""
    folders = _Folders(config, environ, here, projects, Notes())
    deep: set[str] = set()
    flat: set[str] = set()
    names: set[str] = set()
    for info in infos:
        for home in homes_of(config, info):
            for pattern in folders.placed(home):
                folder = _fixed(pattern)
                if not os.path.isdir(folder):
                    continue
                if pattern.is_literal and not pattern.is_folder:
                    flat.add(folder)
                    names.add(os.path.basename(pattern.path))
                else:
                    deep.add(folder)
    deep = {folder for folder in deep if not any(_is_below(folder, other) for other in deep)}
    below = {folder for folder in flat if folder in deep or any(_is_below(folder, other) for other in deep)}
    return Roots(sorted(deep), sorted(flat - below), sorted(names))


def _fixed(pattern: Pattern) -> str:
    """The deepest folder that a pattern names letter by letter."""
    steps = []
    for part in pattern.parts[: None if pattern.is_folder else -1]:
        if part.is_glob or part == PROJECTS:
            break
        steps.append(part.text)
    return pattern.anchor + os.sep.join(steps)


def _is_below(folder: str, other: str) -> bool:
    return folder != other and folder.startswith(other.rstrip(os.sep) + os.sep)


class _Folders:
    """Where patterns begin."""

    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        here: str | None,
        projects: Iterable[str],
        note: Notes,
    ) -> None:
        self._environ = environ
        self._note = note
        near = [] if here is None else [os.path.abspath(here)]
        named = dict.fromkeys([*near, *filter(_may_be_looked_at, projects)])
        self._projects = [globs.literal(path) for path in named]
        self._roots = [*self._named_roots(config.storage.roots)]

    def _named_roots(self, texts: Iterable[str]) -> Iterator[Pattern]:
        """The folders of projects that a person names; what can be none is noted."""
        for text in texts:
            root = globs.parsed(text, self._environ)
            if root is None:
                continue
            if root.anchor:
                yield root
            is_absent = root.anchor and root.is_literal and not os.path.lexists(root.path)
            if is_absent:
                self._note.add(Kind.ABSENT_FOLDER, text, detail="storage.roots names it")
            elif not root.anchor or (root.is_literal and not os.path.isdir(root.path)):
                self._note.add(Kind.MISSING_FILE, text, detail="storage.roots names it, and it is no folder")

    def placed(self, home: Home) -> Iterator[Pattern]:
        """A pattern in each place where it is to be looked for."""
        pattern = globs.parsed(home.text, self._environ)
        if pattern is None or not pattern.parts:
            return
        if pattern.anchor:
            yield self._as_settled(pattern, home) if home.is_settled else pattern
            return
        # `**/x` in every folder of the machine is what nobody wants: below the roots it is any depth anyway.
        parts = pattern.parts[1:] if pattern.parts[0] == DEEP else pattern.parts
        for project in self._projects:
            yield Pattern(project.anchor, (*project.parts, *parts), pattern.is_folder)
        for root in self._roots:
            yield Pattern(root.anchor, (*root.parts, PROJECTS, *parts), pattern.is_folder)

    def _as_settled(self, pattern: Pattern, home: Home) -> Pattern:
        """What a person wrote is a path if there is one, also if its name has brackets."""
        if os.path.lexists(pattern.path):
            return globs.literal(pattern.path)
        if pattern.is_literal:
            named = f"the configuration names it for {source_key(home.info)}"
            self._note.add(Kind.ABSENT_FOLDER, pattern.path, detail=named)
        return pattern


def _may_be_looked_at(project: str) -> bool:
    """Histories name these folders, so they may be anything; no other machine is asked for files."""
    return os.path.isabs(project) and "\0" not in project and not project.startswith(("\\\\", "//"))
