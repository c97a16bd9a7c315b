"""Expected output with wildcards: `…` stands for anything within a line, a line of `…` for any lines."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise

WILDCARD = "…"
_TOKEN = re.compile(r"\w+|\W")


def matches(expected: str, actual: str) -> bool:
    """Whether the output is as expected."""
    pattern = "".join(
        "(?:.*\n)*?" if line.strip() == WILDCARD else _line_pattern(line) + "\n"
        for line in expected.split("\n")[:-1]
    )
    return re.fullmatch(pattern, actual) is not None


def with_wildcards(actual: str, expected: str) -> str:
    """Return the actual output, with the wildcards of the expected one where their surroundings are equal."""
    if matches(expected, actual):
        return expected
    old, new = expected.splitlines(), actual.splitlines()
    names = [_name_of(line, old) for line in new]
    lines: list[str] = []
    for old_start, old_end, new_start, new_end in _blocks(old, names):
        changed_old, changed_new = old[old_start:old_end], new[new_start:new_end]
        if [line.strip() for line in changed_old] == [WILDCARD]:
            lines += changed_old
        elif len(changed_old) == len(changed_new):
            lines += map(_line_with_wildcards, changed_new, changed_old)
        else:
            lines += changed_new
    return "".join(f"{line}\n" for line in lines)


def _line_pattern(line: str) -> str:
    return re.escape(line).replace(WILDCARD, ".*")


def _name_of(line: str, expected: list[str]) -> str:
    """Return the expected line that matches a line, or the line itself."""
    if line in expected:
        return line
    patterns = (each for each in expected if WILDCARD in each and each.strip() != WILDCARD)
    return next((each for each in patterns if re.fullmatch(_line_pattern(each), line)), line)


def _line_with_wildcards(actual: str, expected: str) -> str:
    if WILDCARD not in expected:
        return actual
    if re.fullmatch(_line_pattern(expected), actual):
        return expected
    old, new = _TOKEN.findall(expected), _TOKEN.findall(actual)
    pieces: list[str] = []
    for old_start, old_end, new_start, new_end in _blocks(old, new):
        is_wildcard = old[old_start:old_end] == [WILDCARD]
        pieces += [WILDCARD] if is_wildcard else new[new_start:new_end]
    return "".join(pieces)


def _blocks(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Return ranges of both that cover them: equal ones, and what is between these."""
    matching = [(0, 0, 0), *SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()]
    ranges = []
    for (old_at, new_at, size), (next_old, next_new, _) in pairwise(matching):
        ranges.append((old_at, old_at + size, new_at, new_at + size))
        ranges.append((old_at + size, next_old, new_at + size, next_new))
    return [each for each in ranges if each[0] < each[1] or each[2] < each[3]]
