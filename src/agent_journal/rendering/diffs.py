"""Diffs with added and removed lines marked, and the words that differ in lines that replace each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.rendering.markup import NOTHING, Markup, element, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DIFF_START = re.compile(r"(?:diff --git |--- [^\n]*\n\+\+\+ |@@ -\d|Index: |\*\*\* Begin Patch)")
# Consecutive lines of one kind share one element.
_LINE_RUNS = re.compile(
    r"(^--- .*\n\+\+\+ .*\n?|^(?:@@|diff |index |\*\*\* ).*\n?)|((?:^\+.*\n?)+)|((?:^-.*\n?)+)", re.MULTILINE
)
_CLASSES = ("", "hunk", "added", "removed")
_ADDED, _REMOVED = 2, 3
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Comparing takes time that grows with the product of both sizes.
_MAX_COMPARED_LINES, _MAX_COMPARED_WORDS, _MAX_PAIRED_LINES = 2000, 400, 60
_MIN_COMMON_SHARE = 0.4  # of two lines, so that marking what differs says something


def is_diff(output: str) -> bool:
    """Whether a text starts like a diff."""
    return _DIFF_START.match(output) is not None


def diff(lines: str) -> Markup:
    """A diff with headers, added and removed lines marked."""
    pieces: list[str] = []
    end = 0
    runs = [*_LINE_RUNS.finditer(lines)]
    for index, run in enumerate(runs):
        pieces.append(_context(lines[end : run.start()]))
        end = run.end()
        following = runs[index + 1] if index + 1 < len(runs) else None
        before = runs[index - 1] if index else None
        if run.lastindex == _REMOVED and _replaces(run, following):
            assert following is not None  # noqa: S101
            removed, added = _paired(run[0], following[0])
            pieces += [removed, added]
        elif not (run.lastindex == _ADDED and before is not None and _replaces(before, run)):
            pieces.append(element("span", _CLASSES[run.lastindex or 0], run[0]))
    return element("pre", "diff", *pieces, _context(lines[end:]))


def _replaces(run: re.Match[str], following: re.Match[str] | None) -> bool:
    """Whether added lines directly follow removed ones."""
    return (
        following is not None
        and run.lastindex == _REMOVED
        and following.lastindex == _ADDED
        and run.end() == following.start()
    )


def _context(lines: str) -> Markup:
    return element("span", "", lines) if lines else NOTHING


def change(old: str, new: str) -> Markup:
    """The difference between two texts; lines that are equal are shown as context."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    pieces: list[Markup] = []
    for old_range, new_range in _differences(old_lines, new_lines):
        removed, added = old_lines[slice(*old_range)], new_lines[slice(*new_range)]
        if removed == added:
            pieces += _lines("", " ", removed)
        elif removed and added:
            pieces += _paired(_prefixed("-", removed), _prefixed("+", added))
        else:
            pieces += [*_lines("removed", "-", removed), *_lines("added", "+", added)]
    return element("pre", "diff", *pieces)


_Range = tuple[int, int]


def _differences(old: list[str], new: list[str]) -> Iterator[tuple[_Range, _Range]]:
    """Ranges of lines, in order: equal in both, or changed."""
    head = _common_prefix(old, new)
    tail = _common_prefix(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    yield (0, head), (0, head)
    for old_range, new_range in _compare(old[head:old_end], new[head:new_end], _MAX_COMPARED_LINES):
        yield (
            (old_range[0] + head, old_range[1] + head),
            (new_range[0] + head, new_range[1] + head),
        )
    yield (old_end, len(old)), (new_end, len(new))


def _compare(old: Sequence[str], new: Sequence[str], max_items: int) -> Iterator[tuple[_Range, _Range]]:
    """The longest common subsequence and what is between its parts; everything as changed if it is long."""
    if not old or not new or len(old) > max_items or len(new) > max_items:
        yield (0, len(old)), (0, len(new))
        return
    from rapidfuzz.distance import Indel  # noqa: PLC0415 (not every page has diffs)

    pending: tuple[_Range, _Range] | None = None
    for code in Indel.opcodes(old, new):
        here = (code.src_start, code.src_end), (code.dest_start, code.dest_end)
        if code.tag == "equal":
            if pending is not None:
                yield pending
            pending = None
            yield here
        elif pending is None:
            pending = here
        else:
            pending = (pending[0][0], here[0][1]), (pending[1][0], here[1][1])
    if pending is not None:
        yield pending


def _common_prefix(first: list[str], second: list[str]) -> int:
    """How many lines are equal at the start."""
    length = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        length += 1
    return length


def _prefixed(prefix: str, lines: list[str]) -> str:
    return "".join(f"{prefix}{line}\n" for line in lines)


def _lines(css_class: str, prefix: str, lines: list[str]) -> Iterator[Markup]:
    if lines:
        yield element("span", css_class, _prefixed(prefix, lines))


def _paired(removed: str, added: str) -> tuple[Markup, Markup]:
    """Removed lines and those that replace them, with the words that differ marked line by line."""
    old, new = removed.splitlines(keepends=True), added.splitlines(keepends=True)
    if len(old) != len(new) or len(old) > _MAX_PAIRED_LINES:
        return element("span", "removed", removed), element("span", "added", added)
    pairs = [_marked(left, right) for left, right in zip(old, new, strict=True)]
    return (
        element("span", "removed", *(left for left, _ in pairs)),
        element("span", "added", *(right for _, right in pairs)),
    )


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    """Two lines with what differs marked, if they have enough in common."""
    old_words, new_words = _WORD.findall(old[1:]), _WORD.findall(new[1:])
    ranges = [*_compare(old_words, new_words, _MAX_COMPARED_WORDS)]
    equal = sum(
        len(word)
        for old_range, new_range in ranges
        if old_words[slice(*old_range)] == new_words[slice(*new_range)]
        for word in old_words[slice(*old_range)]
        if not word.isspace()
    )
    if equal < _MIN_COMMON_SHARE * max(len(old), len(new)):
        return joined([old]), joined([new])
    left: list[str] = [old[:1]]
    right: list[str] = [new[:1]]
    for old_range, new_range in ranges:
        before, after = "".join(old_words[slice(*old_range)]), "".join(new_words[slice(*new_range)])
        if before == after:
            left.append(before)
            right.append(after)
        else:
            left.append(element("b", "", before) if before else NOTHING)
            right.append(element("b", "", after) if after else NOTHING)
    return joined(left), joined(right)
