"""All patterns as one tree: a folder that many of them lead through is one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.discovery import globs
from agent_journal.discovery.globs import DEEP, Part, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.readers import ReaderInfo

# Any number of folders, but none that is hidden or holds what others wrote.
PROJECTS = Part("***", is_glob=True)
_NO_PROJECTS = frozenset({"node_modules", "site-packages"})


class Home(NamedTuple):
    """A pattern, and whose it is."""

    info: ReaderInfo
    text: str
    """As it was written."""
    is_settled: bool = False
    """Whether a person wrote it, not the reader."""


class Node:
    """What a step of patterns leads to."""

    __slots__ = ("deep", "files", "folders", "globs", "literals", "searched", "stays")

    def __init__(self, stays: Part | None = None) -> None:
        self.literals: dict[str, Node] = {}
        self.globs: dict[str, tuple[Callable[[str], object], Node]] = {}
        self.deep: dict[Part, Node] = {}
        self.stays = stays
        """Set after `**`: it holds for all folders below, too."""
        self.files: list[Home] = []
        self.folders: list[Home] = []
        """Of whom a folder here is a unit."""
        self.searched: list[Home] = []
        """Of whom a folder here holds units, according to the configuration."""

    def add(self, pattern: Pattern, home: Home) -> None:
        """Let a pattern lead to a home."""
        node = self.step(Part(pattern.anchor)) if pattern.anchor else self
        for part in pattern.parts:
            node = node.step(part)
        if pattern.is_folder and not (home.is_settled and pattern.is_literal):
            node.folders.append(home)
            return
        node.files.append(home)
        if home.is_settled and DEEP not in pattern.parts:
            node.searched.append(home)

    def step(self, part: Part) -> Node:
        """The node that follows a part."""
        if part in {DEEP, PROJECTS}:
            return self.deep.setdefault(part, Node(stays=part))
        if not part.is_glob:
            return self.literals.setdefault(part.text, Node())
        if part.text not in self.globs:
            self.globs[part.text] = (globs.matcher(part.text), Node())
        return self.globs[part.text][1]


class Nodes:
    """The nodes that hold for a folder, as what has to be asked of each name in it."""

    __slots__ = ("globs", "is_deep", "is_listed", "literals", "staying")

    def __init__(self, nodes: Iterable[Node]) -> None:
        unfolded: dict[Node, None] = {}
        for node in nodes:
            unfolded |= dict.fromkeys([node, *node.deep.values()])
        named: dict[str, list[Node]] = {}
        for node in unfolded:
            for name, following in node.literals.items():
                named.setdefault(name, []).append(following)
        self.literals = dict(sorted(named.items()))
        self.globs = [pair for node in unfolded for pair in node.globs.values()]
        self.staying = [node for node in unfolded if node.stays]
        self.is_deep = any(node.stays == DEEP for node in self.staying)
        self.is_listed = bool(self.globs or self.staying)

    def into(self, name: str, following: list[Node]) -> list[Node]:
        """What holds for a folder below this one."""
        if not self.staying:
            return following
        is_project = name[0] != "." and name not in _NO_PROJECTS
        return following + [node for node in self.staying if node.stays == DEEP or is_project]


def laid_out(home: Home, name: str) -> Node:
    """What lies below a folder of that name at the source's home."""
    tree = Node()
    for text in home.info.homes:
        pattern = globs.below_its_root(text)
        for place, part in enumerate(pattern.parts, 1):
            below = pattern._replace(parts=pattern.parts[place:])
            is_distinctive = part not in {DEEP, globs.ANY} and (below.parts or below.is_folder)
            if is_distinctive and globs.matches(part, name):
                tree.add(below, Home(home.info, home.text))
    return tree


def of_such_names(home: Home) -> Node:
    """Anything below a folder that is called like units at the source's home."""
    tree = Node()
    for text in (*home.info.homes, *home.info.in_projects):
        pattern = globs.below_its_root(text)
        if not pattern.parts:
            continue
        first = next(
            place for place in range(len(pattern.parts) - 1, -1, -1) if _can_be_first(pattern, place)
        )
        tree.add(pattern._replace(parts=(DEEP, *pattern.parts[first:])), Home(home.info, home.text))
    return tree


def _can_be_first(pattern: Pattern, place: int) -> bool:
    """Whether a part may be the first of a pattern: the name of a file, or what a folder is called."""
    return place == 0 or not pattern.is_folder or not pattern.parts[place].is_glob
