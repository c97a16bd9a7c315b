"""The walk through folders: one that needs no glob is not listed at all, every other one once.

Links are followed where a pattern names them, not where a glob matches them.
"""

from __future__ import annotations

import os
import stat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.discovery.companions import Companions
from agent_journal.discovery.tree import Home, Node, Nodes, laid_out, of_such_names
from agent_journal.inputs.input import is_litter
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.discovery.excluded import Refused
    from agent_journal.notes import Notes


_NAME = attrgetter("name")


class Unit(NamedTuple):
    """A file or folder that is read as a whole, and what shows whether it changed.

    Of a folder, `size` is the sum and `mtime_ns` the newest of all files in it.
    """

    reader: str
    """Whose home it was found in; empty where several look there."""
    path: str
    home: str
    """The pattern that found it, as the reader or the configuration has it."""
    size: int
    mtime_ns: int
    inode: int
    is_folder: bool


class _Folder(NamedTuple):
    """A folder that patterns lead to."""

    name: str
    path: str
    following: list[Node]


class Walk:
    """Goes through folders; remembers what it has seen, as a file may have several names."""

    def __init__(self, refused: Refused, note: Notes) -> None:
        self._refused = refused
        self._note = note
        self._seen: set[object] = set()
        self._nodes: dict[tuple[Node, ...], Nodes] = {}
        self._matched = 0
        """How many units were found, also those that had been found before."""

    def below(self, top: str, tree: Node) -> Iterator[Unit]:
        """The units that a tree of patterns leads to."""
        pending: list[tuple[str, list[Node], bool]] = [(top, [tree], bool(top))]
        while pending:
            folder, active, is_named = pending.pop()
            nodes = self._nodes_for(active)
            inner: list[tuple[str, list[Node], bool]] = []
            for match in self._in(folder, nodes, is_named=is_named):
                if isinstance(match, Unit):
                    yield match
                    continue
                yield from self._folder(match)
                if deeper := nodes.into(match.name, match.following):
                    inner.append((match.path, deeper, not nodes.is_listed))
            pending += reversed(inner)

    def _nodes_for(self, active: list[Node]) -> Nodes:
        key = tuple(active)
        if key not in self._nodes:
            self._nodes[key] = Nodes(active)
        return self._nodes[key]

    def _in(self, folder: str, nodes: Nodes, *, is_named: bool) -> Iterator[Unit | _Folder]:
        """What the patterns lead to in a folder."""
        if not nodes.is_listed:
            return self._named(folder, nodes)
        if is_named and self._refused.really(folder):
            return iter(())
        return self._listed(folder, nodes)

    def _named(self, folder: str, nodes: Nodes) -> Iterator[Unit | _Folder]:
        """What the patterns call by name, links too; the folder is not listed."""
        for name, following in nodes.literals.items():
            if match := self._called(name, _joined(folder, name), following, Companions(folder)):
                yield match

    def _called(
        self, name: str, path: str, following: list[Node], companions: Companions
    ) -> Unit | _Folder | None:
        """A file or folder that a pattern calls by name, if it is there and may be looked at."""
        try:
            status = os.stat(path)
        except OSError as error:
            self._cannot(path, error)
            return None
        if stat.S_ISDIR(status.st_mode):
            return None if self._refused.folder(path, status) else _Folder(name, path, following)
        if not any(node.files for node in following) or self._refused.really(path):
            return None
        return self._file(name, path, status, following, companions)

    def _listed(self, folder: str, nodes: Nodes) -> Iterator[Unit | _Folder]:
        """What the patterns match in a folder, in the order of names."""
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=_NAME)
        except OSError as error:
            self._cannot(folder, error)
            return
        named, tests, stays, is_deep = nodes.literals, nodes.globs, bool(nodes.staying), nodes.is_deep
        companions = Companions(folder)
        for entry in entries:
            name = entry.name
            following = [node for matches, node in tests if matches(name)]
            if name in named:
                following += named[name]
            match: Unit | _Folder | None = None
            if entry.is_dir(follow_symlinks=False):
                if following or stays:
                    match = self._inner_folder(entry, following)
            elif following or (is_deep and entry.is_symlink()):
                match = self._inner_file(entry, following, named.get(name), companions, is_deep=is_deep)
            if match is not None:
                yield match

    def _inner_folder(self, entry: os.DirEntry[str], following: list[Node]) -> _Folder | None:
        if is_litter(entry.name) or self._refused.entry(entry):
            return None
        return _Folder(entry.name, entry.path, following)

    def _inner_file(
        self,
        entry: os.DirEntry[str],
        following: list[Node],
        by_name: list[Node] | None,
        companions: Companions,
        *,
        is_deep: bool,
    ) -> Unit | _Folder | None:
        name, path = entry.name, entry.path
        if is_litter(name) or self._refused.path(path):
            return None
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._cannot(path, error)
            return None
        if not stat.S_ISLNK(status.st_mode):
            return self._file(name, path, status, following, companions)
        if by_name:
            return self._called(name, path, by_name, companions)
        if any(_may_hold(path, node) for node in following) or (is_deep and os.path.isdir(path)):
            self._note.add(Kind.IGNORED_FILE, path, detail="it is a link, which is not followed")
        return None

    def _cannot(self, path: str, error: OSError) -> None:
        """Note what is there but cannot be looked at; what is not there is nothing to speak of."""
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            self._note.add(Kind.UNREADABLE_FILE, path, detail=(error.strerror or str(error)).lower())

    def _file(
        self, name: str, path: str, status: os.stat_result, following: list[Node], companions: Companions
    ) -> Unit | None:
        homes = (
            following[0].files if len(following) == 1 else [home for node in following for home in node.files]
        )
        homes = [home for home in homes if not companions.has(home.info, name)]
        if not homes:
            return None
        if not stat.S_ISREG(status.st_mode):
            self._note.add(Kind.IGNORED_FILE, path, detail="it is not a regular file")
            return None
        if not self._is_new(path, status):
            return None
        size, mtime_ns, inode = status.st_size, status.st_mtime_ns, status.st_ino
        return Unit(_whose(homes), path, homes[0].text, size, mtime_ns, inode, False)  # noqa: FBT003 (speed)

    def _is_new(self, path: str, status: os.stat_result) -> bool:
        """Whether a unit was not reached before, under this name or another."""
        self._matched += 1
        # Windows gives no inode while listing; there are no links there either.
        known_by = (status.st_dev, status.st_ino) if status.st_ino else path
        if known_by in self._seen:
            return False
        self._seen.add(known_by)
        return True

    def _folder(self, folder: _Folder) -> Iterator[Unit]:
        """A folder as a unit, and the units in it if the configuration names it."""
        if homes := [home for node in folder.following for home in node.folders]:
            yield from self._whole(folder.path, _whose(homes), homes[0].text)
        for node in folder.following:
            for home in node.searched:
                yield from self._searched(folder, home)

    def _searched(self, folder: _Folder, home: Home) -> Iterator[Unit]:
        """A folder that a person named: laid out as at home, or with files of such names, or a unit."""
        for tree in (laid_out(home, folder.name), of_such_names(home)):
            before = self._matched
            yield from self._folder(folder._replace(following=[tree]))
            yield from self.below(folder.path, tree)
            if self._matched > before:
                return
        if not home.info.homes or any(text.endswith("/") for text in home.info.homes):
            yield from self._whole(folder.path, home.info.name, home.text)

    def _whole(self, path: str, whose: str, home: str) -> Iterator[Unit]:
        """A folder as one unit, if there is a file in it and nothing that must not be looked at."""
        try:
            status = os.stat(path)
            files = [(each.st_size, each.st_mtime_ns) for each in self._files_below(path)]
        except _HoldsRefused as error:
            reason = f"it would be read as a whole, but {error} is not to be looked at"
            self._note.add(Kind.UNREADABLE_FILE, path, detail=reason)
            return
        except OSError as error:
            self._cannot(path, error)
            return
        if files and self._is_new(path, status):
            size, newest = sum(size for size, _ in files), max(at for _, at in files)
            yield Unit(whose, path, home, size, newest, status.st_ino, is_folder=True)

    def _files_below(self, top: str) -> Iterator[os.stat_result]:
        pending = [top]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as listing:
                    for entry in listing:
                        if is_litter(entry.name):
                            continue
                        if self._refused.entry(entry):
                            raise _HoldsRefused(entry.path)
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            yield entry.stat(follow_symlinks=False)
            except OSError as error:
                self._cannot(folder, error)


class _HoldsRefused(Exception):
    """A folder that is read as a whole has something in it that must not be looked at."""


def _whose(homes: list[Home]) -> str:
    first = homes[0].info
    return first.name if len(homes) == 1 or all(home.info is first for home in homes) else ""


def _may_hold(path: str, node: Node) -> bool:
    """Whether a link may lead to something that patterns match."""
    if node.files or node.folders or node.searched or node.globs or node.deep:
        return True
    return any(os.path.lexists(_joined(path, name)) for name in node.literals)


def _joined(folder: str, name: str) -> str:
    return folder + name if not folder or folder.endswith(os.sep) else f"{folder}{os.sep}{name}"
