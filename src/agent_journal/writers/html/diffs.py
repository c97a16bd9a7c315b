"""Changes as changes: what went, what came, and where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.writers.html.markup import NOTHING, Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKS = re.compile(r"(?:diff --git |--- [^\n]*\n\+\+\+ |@@ -\d|Index: |\*\*\* Begin Patch)")
# A run of lines that begin alike is one piece.
_RUNS = re.compile(
    r"(^--- .*\n\+\+\+ .*\n?|^(?:@@|diff |index |\*\*\* ).*\n?)|((?:^\+.*\n?)+)|((?:^-.*\n?)+)", re.MULTILINE
)
_KINDS = ("", "place", "came", "went")


def is_diff(output: str) -> bool:
    """Whether a text begins as a diff does."""
    return _LOOKS.match(output) is not None


def diff(lines: str) -> Markup:
    """A diff with its lines told apart."""
    pieces: list[str] = []
    end = 0
    for run in _RUNS.finditer(lines):
        pieces += [_same(lines[end : run.start()]), element("span", _KINDS[run.lastindex or 0], run[0])]
        end = run.end()
    return element("pre", "diff", *pieces, _same(lines[end:]))


def _same(lines: str) -> Markup:
    return element("span", "", lines) if lines else NOTHING


def change(old: str, new: str) -> Markup:
    """The difference between two texts: lines that are equal at both ends are left as they are."""
    before, after = old.split("\n"), new.split("\n")
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    pieces = [
        *_lines("", " ", before[:head]),
        *_lines("went", "-", before[head : len(before) - tail]),
        *_lines("came", "+", after[head : len(after) - tail]),
        *_lines("", " ", before[len(before) - tail :]),
    ]
    return element("pre", "diff", *pieces)


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines are equal from the beginning."""
    number = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        number += 1
    return number


def _lines(kind: str, mark: str, lines: list[str]) -> Iterator[Markup]:
    if lines:
        yield element("span", kind, "".join(f"{mark}{line}\n" for line in lines))
