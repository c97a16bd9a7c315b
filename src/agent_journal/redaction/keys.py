"""Private keys, from the first line to the last, with any prefix that a program put before each line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.redaction import decoys
from agent_journal.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = r"(?: |%20|\+|=20)"
_LABEL = rf"(?:[A-Z0-9]+{_BLANK}){{0,4}}PRIVATE{_BLANK}KEY(?:{_BLANK}BLOCK)?"
_DASHES = r"-{4,5}"
_BEGIN = rf"{_DASHES}{_BLANK}?BEGIN{_BLANK}{_LABEL}{_BLANK}?{_DASHES}"
_END = rf"{_DASHES}{_BLANK}?END{_BLANK}{_LABEL}{_BLANK}?{_DASHES}"
_MARK = rf"{_DASHES}{_BLANK}?(?:BEGIN|END){_BLANK}[A-Z0-9 %+=]{{0,60}}PRIVATE{_BLANK}KEY"

# A key of 16,384 bits has 200 lines; no program puts 100 characters before each.
_MAX_KEY_CHARS = 1 << 16
_MIN_RUN_CHARS = 16
_MIN_CUT_CHARS = 40  # of a key without its first or last line
_MAX_OTHER_LINES = 3

_NEXT_MARK_RE = re.compile(f"(?P<end>{_END})|{_BEGIN}")
_RUN_RE = re.compile(rf"[A-Za-z0-9+/]{{{_MIN_RUN_CHARS},}}+={{0,2}}")
_MARK_RE = re.compile(_MARK)
_BREAK_RE = re.compile(r"\r?\n|(?:\\+r)?\\+n|%0[Aa]|<br ?/?>")
# Between the lines of a key whose line breaks were lost.
_LOST_BREAK_RE = re.compile(r"[\s\"',\\|+]{1,8}")
_PUTTY_END_RE = re.compile(r"Private-(?:MAC|Hash): [a-f0-9]{40,64}|Private-Lines: [0-9]")
_HEADER_RE = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID|Encryption|Key-Derivation): "
)


def _key_from(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """The range from a first line to the last one, or to where lines stop looking like a key."""
    mark = _NEXT_MARK_RE.search(text, stop, stop + _MAX_KEY_CHARS)
    if mark is not None and mark["end"] and _is_key(text[stop : mark.start()]):
        return start, mark.end()
    end = _end_of_lines(text, stop, mark.start() if mark else min(len(text), stop + _MAX_KEY_CHARS))
    material = sum(map(len, _RUN_RE.findall(text, stop, end)))
    return (start, end) if material >= _MIN_CUT_CHARS and _is_real(text[stop:end]) else None


def _key_before(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """The range of a key whose first line is missing, from its last line backward."""
    first = max(0, start - _MAX_KEY_CHARS)
    marks = list(_MARK_RE.finditer(text, first, start))
    first = marks[-1].end() if marks else first
    begin, others = start, 0
    for line_start, line_end in _lines_backward(text, first, start):
        run = _RUN_RE.search(text, line_start, line_end)
        if run is not None:
            begin, others = run.start(), 0
        elif begin < start or (others := others + 1) > 1:
            break
    body = text[begin:start]
    is_key = sum(map(len, _RUN_RE.findall(body))) >= _MIN_CUT_CHARS and _is_real(body)
    return (begin, stop) if is_key else None


def _putty_key(text: str, start: int, stop: int) -> tuple[int, int] | None:
    mark = _PUTTY_END_RE.search(text, stop, stop + _MAX_KEY_CHARS)
    if (
        mark is not None
        and mark[0].startswith(("Private-M", "Private-H"))
        and _is_key(text[stop : mark.start()])
    ):
        return start, mark.end()
    end = _end_of_lines(text, stop, mark.start() if mark else min(len(text), stop + _MAX_KEY_CHARS))
    return (start, end) if sum(map(len, _RUN_RE.findall(text, stop, end))) >= _MIN_CUT_CHARS else None


def _is_key(between: str) -> bool:
    """Whether the text between the first and the last line is a key, not code that mentions both."""
    lines = [line for line in _BREAK_RE.split(between) if line.strip()]
    with_runs = sum(_RUN_RE.search(line) is not None for line in lines)
    return 0 < with_runs >= len(lines) / 2 - _MAX_OTHER_LINES and _is_real(between)


def _is_real(body: str) -> bool:
    return all(decoys.is_not_placeholder(None, run[0]) for run in _RUN_RE.finditer(body))


def _end_of_lines(text: str, start: int, end: int) -> int:
    """The end of the last line with a piece of a key."""
    last_end, others = start, 0
    for line_start, line_end in _lines(text, start, end):
        run_end = _end_of_runs(text, line_start, line_end)
        if run_end:
            last_end, others = run_end, 0
        elif (
            _HEADER_RE.search(text, line_start, line_end) is None
            and (others := others + 1) > _MAX_OTHER_LINES
        ) or (others and last_end > start):
            break
    return last_end


def _end_of_runs(text: str, start: int, end: int) -> int:
    """The end of the pieces of a key in a line; 0 if it has none."""
    run = _RUN_RE.search(text, start, end)
    if run is None:
        return 0
    stop = run.end()
    while (gap := _LOST_BREAK_RE.match(text, stop, end)) and (more := _RUN_RE.match(text, gap.end(), end)):
        stop = more.end()
    return stop


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line_break in _BREAK_RE.finditer(text, start, end):
        yield start, line_break.start()
        start = line_break.end()
    yield start, end


def _lines_backward(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    yield from reversed(list(_lines(text, start, end)))


KEYS = (
    Rule(
        kind="private-key",
        pattern=_BEGIN,
        trigger=f"{_DASHES}{_BLANK}?BEGIN{_BLANK}[A-Z0-9 %+=]{{0,60}}PRIVATE{_BLANK}KEY",
        find_bounds=_key_from,
    ),
    Rule(
        kind="private-key",
        pattern=_END,
        trigger=f"{_DASHES}{_BLANK}?END{_BLANK}[A-Z0-9 %+=]{{0,60}}PRIVATE{_BLANK}KEY",
        find_bounds=_key_before,
    ),
    Rule(
        kind="private-key",  # PuTTY's
        before=r"Private-Lines: [0-9]{1,3}",
        pattern=r"(?![0-9])",
        trigger="Private-Lines: [0-9]",
        find_bounds=_putty_key,
    ),
    Rule(
        kind="private-key",  # minisign's, signify's
        pattern=r"RW(?:RTY0Iy|RCS)[A-Za-z0-9+/]{80,}+={0,2}",
        trigger=r"RW(?:RTY0Iy|RCS)[A-Za-z0-9+/]{80}",
    ),
)
