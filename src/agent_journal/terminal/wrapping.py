"""Wraps text to the width of a terminal. The texts must be sanitized already."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.terminal.measure import width

if TYPE_CHECKING:
    from collections.abc import Iterator

# Scripts that are written without spaces: a line may end after any character, but does not begin with
# punctuation that closes something.
_WIDE = (
    "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_CLOSING = "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u30fb\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
_WORDS = re.compile(f" +|[{_WIDE}][{_CLOSING}\u200d\ufe0f]*|[^ {_WIDE}]+")
# A line that starts with spaces, a bullet, a number or a quote is continued with an indent of the same width.
_MARGIN = re.compile(r" *(?:(?:[-*+•>]|\d{1,3}[.)]) +)*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PREFORMATTED = re.compile(r"(?: {4}|\t)\s*(?![-*+•>\d\s])|\|")


def wrapped(text: str, columns: int) -> Iterator[str]:
    """The lines of a text, with prose wrapped between words.

    Code, tables and words that are too long are not broken, so that they can be copied.
    """
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        elif not fence and len(line) > columns // 2 and not _PREFORMATTED.match(line):
            yield from _broken(line.expandtabs(4), columns)
            continue
        yield line


def _broken(line: str, columns: int) -> Iterator[str]:
    if width(line) <= columns:
        yield line
        return
    margin = _MARGIN.match(line)
    indent = " " * (min(width(margin[0]), columns // 2) if margin else 0)
    yield from (_broken_ascii if line.isascii() else _broken_between_words)(line, columns, indent)


def _broken_ascii(line: str, columns: int, indent: str) -> Iterator[str]:
    """The same as `_broken_between_words`, but much faster: each character takes one column."""
    start, prefix = 0, ""
    while len(line) - start > (available := columns - len(prefix)):
        end = line.rfind(" ", start, start + available + 1)
        if not line[start : max(end, start)].strip(" "):
            end = line.find(" ", _next_word(line, start))  # after a word that is too long
        if end < 0:
            break
        yield prefix + line[start:end].rstrip(" ")
        start, prefix = _next_word(line, end), indent
    if start < len(line):
        yield prefix + line[start:].rstrip(" ")


def _next_word(line: str, start: int) -> int:
    while start < len(line) and line[start] == " ":
        start += 1
    return start


def _broken_between_words(line: str, columns: int, indent: str) -> Iterator[str]:
    current, used = "", 0
    for word in _WORDS.findall(line):
        word_width = width(word)
        if current and used + word_width > columns and word[0] != " " and current.strip():
            yield current.rstrip(" ")
            current, used = indent, len(indent)
        current += word
        used += word_width
    yield current.rstrip(" ") or current
