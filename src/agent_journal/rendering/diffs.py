"""Diffs with added and removed lines marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.rendering.markup import NOTHING, Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIFF_START = re.compile(r"(?:diff --git |--- [^\n]*\n\+\+\+ |@@ -\d|Index: |\*\*\* Begin Patch)")
# Consecutive lines of one kind share one element.
_LINE_RUNS = re.compile(
    r"(^--- .*\n\+\+\+ .*\n?|^(?:@@|diff |index |\*\*\* ).*\n?)|((?:^\+.*\n?)+)|((?:^-.*\n?)+)", re.MULTILINE
)
_CLASSES = ("", "hunk", "added", "removed")


def is_diff(output: str) -> bool:
    """Whether a text starts like a diff."""
    return _DIFF_START.match(output) is not None


def diff(lines: str) -> Markup:
    """A diff with headers, added and removed lines marked."""
    pieces: list[str] = []
    end = 0
    for run in _LINE_RUNS.finditer(lines):
        pieces += [_context(lines[end : run.start()]), element("span", _CLASSES[run.lastindex or 0], run[0])]
        end = run.end()
    return element("pre", "diff", *pieces, _context(lines[end:]))


def _context(lines: str) -> Markup:
    return element("span", "", lines) if lines else NOTHING


def change(old: str, new: str) -> Markup:
    """The difference between two texts; lines that are equal at both ends are shown as context."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    head = _common_prefix(old_lines, new_lines)
    tail = _common_prefix(old_lines[head:][::-1], new_lines[head:][::-1])
    pieces = [
        *_lines("", " ", old_lines[:head]),
        *_lines("removed", "-", old_lines[head : len(old_lines) - tail]),
        *_lines("added", "+", new_lines[head : len(new_lines) - tail]),
        *_lines("", " ", old_lines[len(old_lines) - tail :]),
    ]
    return element("pre", "diff", *pieces)


def _common_prefix(first: list[str], second: list[str]) -> int:
    """How many lines are equal at the start."""
    length = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        length += 1
    return length


def _lines(css_class: str, prefix: str, lines: list[str]) -> Iterator[Markup]:
    if lines:
        yield element("span", css_class, "".join(f"{prefix}{line}\n" for line in lines))
