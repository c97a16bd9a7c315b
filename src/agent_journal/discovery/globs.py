"""Globs: `*` and `?` stay within a name, `**` is any number of folders, `/` at the end means a folder.

`~` and `%NAME%` are replaced by what the environment says, letter by letter: a home called `a[b]` is no glob.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.config import expanded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_GLOB = frozenset("*?[")
_IS_WINDOWS = os.name == "nt"
_CASE = re.IGNORECASE if _IS_WINDOWS else 0


class Part(NamedTuple):
    """One step of a pattern."""

    text: str
    is_glob: bool = False


DEEP = Part("**", is_glob=True)
"""Any number of folders."""
ANY = Part("*", is_glob=True)


class Pattern(NamedTuple):
    """A pattern in its parts."""

    anchor: str
    """Where it begins: `/`, a drive, or nothing if it has no fixed place."""
    parts: tuple[Part, ...]
    is_folder: bool
    """Whether it means folders as a whole, not files."""

    @property
    def is_literal(self) -> bool:
        """Whether it names one path."""
        return not any(part.is_glob for part in self.parts)

    @property
    def path(self) -> str:
        """The path, taken letter by letter."""
        return self.anchor + os.sep.join(part.text for part in self.parts)


def parsed(text: str, environ: Mapping[str, str]) -> Pattern | None:
    """The parts of a pattern, or None if it begins with a variable that is not set."""
    anchor, rest = _rooted(text)
    steps = _steps(rest)
    parts: list[Part] = []
    for place, step in enumerate(steps):
        if (place == 0 and step == "~" and not anchor) or _is_variable(step):
            value = expanded(step, environ)
            if value == step:
                return None
            root, value = _rooted(value)
            if root:
                anchor, parts = root, []
            parts += [Part(name) for name in _steps(value) if name not in {"", "."}]
        elif step not in {"", "."}:
            parts.append(Part(step, is_glob=not _GLOB.isdisjoint(step)))
    return Pattern(anchor, tuple(_simplified(parts)), is_folder=not steps[-1])


def literal(path: str) -> Pattern:
    """A path, as a pattern without globs."""
    anchor, rest = _rooted(path)
    parts = tuple(Part(name) for name in _steps(rest) if name not in {"", "."})
    return Pattern(anchor, parts, is_folder=False)


def below_its_root(text: str) -> Pattern:
    """A pattern without the part that depends on the person and the machine."""
    first, _, rest = text.partition("/")
    pattern = parsed(rest if first == "~" or _is_variable(first) else text, {})
    return pattern or Pattern("", (), is_folder=False)


def matches(part: Part, name: str) -> bool:
    """Whether a part leads to a name."""
    return bool(matcher(part.text)(name)) if part.is_glob else part.text == name


def _steps(path: str) -> list[str]:
    return (path.replace(os.sep, "/") if _IS_WINDOWS else path).split("/")


def _is_variable(step: str) -> bool:
    return len(step) > len("%%") and step[0] == step[-1] == "%"


def _rooted(path: str) -> tuple[str, str]:
    """The root of an absolute path, and what is below it."""
    drive, rest = os.path.splitdrive(path)
    is_absolute = rest[:1] == "/" or rest[:1] == os.sep
    return (drive + os.sep, rest.lstrip("/" + os.sep)) if is_absolute else ("", path)


def _simplified(parts: list[Part]) -> list[Part]:
    """Without repeated `**`; one at the end means every file below."""
    distinct = [
        part for place, part in enumerate(parts) if part != DEEP or parts[place - 1 : place] != [DEEP]
    ]
    return [*distinct, ANY] if distinct[-1:] == [DEEP] else distinct


def matcher(glob: str) -> Callable[[str], object]:
    """Whether a name matches; what most patterns look like needs no regular expression."""
    before, star, after = glob.partition("*")
    if _GLOB.isdisjoint(glob) and not _IS_WINDOWS:
        return lambda name: name == glob
    if star and _GLOB.isdisjoint(before + after) and not _IS_WINDOWS:
        if not before:
            return lambda name: name.endswith(after)
        shortest = len(before) + len(after)
        return lambda name: name.startswith(before) and name.endswith(after) and len(name) >= shortest
    return re.compile(_name_expression(glob), re.DOTALL | _CASE).fullmatch


def path_matcher(patterns: Iterable[Pattern]) -> Callable[[str], object]:
    """Whether a path, or a folder it lies in, matches one of several; those without a root match anywhere."""
    expressions = "|".join(map(_path_expression, patterns))
    return re.compile(f"(?:{expressions})(?:{re.escape(os.sep)}.*)?", re.DOTALL | _CASE).fullmatch


def _path_expression(pattern: Pattern) -> str:
    step = re.escape(os.sep)
    expression = re.escape(pattern.anchor.rstrip(os.sep)) if pattern.anchor else ".*"
    for part in pattern.parts:
        if part == DEEP:
            expression += f"(?:{step}[^{step}]+)*"
        else:
            expression += step + (_name_expression(part.text) if part.is_glob else re.escape(part.text))
    return expression


def _name_expression(glob: str) -> str:
    """A glob within a name as a regular expression."""
    not_a_separator = "[^/\\\\]" if _IS_WINDOWS else "[^/]"
    pieces: list[str] = []
    for piece in re.findall(r"\[!?+\]?+[^\]]*\]|.", glob, re.DOTALL):
        if piece in {"*", "?"}:
            pieces.append(not_a_separator + piece.strip("?"))
        else:
            pieces.append(_class(piece[1:-1]) if len(piece) > 1 else re.escape(piece))
    return "".join(pieces)


def _class(inside: str) -> str:
    """`[a-z]` or `[!a-z]` as a regular expression; a range that runs backwards is empty."""
    names = inside.removeprefix("!")
    ranges = [
        f"{re.escape(first)}-{re.escape(last)}" if last and first <= last else re.escape(single)
        for first, last, single in re.findall(r"(.)-(.)|(.)", names, re.DOTALL)
    ]
    listed = "".join(ranges)
    if not listed:
        return "." if inside.startswith("!") else "(?!)"
    return f"[^{listed}]" if inside.startswith("!") else f"[{listed}]"
