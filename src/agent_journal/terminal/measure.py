"""Measures, cuts and pads text for a terminal. The texts must be sanitized already."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Characters in these ranges take one column; all others have to be looked up. Compiled at first use.
_NEEDS_LOOKUP = (
    "[^\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20cf\u2100-\u22ff\u2500-\u25fc]"
)


def width(text: str) -> int:
    """How many columns a line takes."""
    return len(text) if text.isascii() or not re.search(_NEEDS_LOOKUP, text) else sum(map(_columns, text))


@lru_cache(maxsize=8192)
def _columns(character: str) -> int:
    category = unicodedata.category(character)
    if category in {"Mn", "Me", "Cf"}:
        return 0
    if category == "Cn":  # newer than this Python's Unicode: an emoji or ideograph, if it is in their range
        return 2 if character >= "\U0001f000" else 1
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def cut(text: str, columns: int) -> str:
    """A line of at most this many columns, with an ellipsis if it was cut."""
    if len(text) <= columns and text.isascii():
        return text
    fits = used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used < columns:
            fits = index + 1
        elif used > columns:
            return f"{text[:fits].rstrip()}…" if columns > 0 else ""
    return text


def padded(text: str, columns: int) -> str:
    """A line padded with spaces to this many columns."""
    return text + " " * (columns - width(text))


def broken(text: str, columns: int) -> list[str]:
    """A text in lines of at most this many columns, broken anywhere."""
    lines = [""]
    used = 0
    for character in text:
        size = _columns(character)
        if used + size > columns and lines[-1]:
            lines.append("")
            used = 0
        lines[-1] += character
        used += size
    return lines
