"""What the model said: text, thoughts, and the edits it wrote into the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from agent_journal.model import Part, Reasoning, Text, ToolCall
from agent_journal.readers.aider import thoughts

if TYPE_CHECKING:
    from collections.abc import Iterator

# The lines of a block; behind the last two there is nothing.
_SEARCH, _MIDDLE, _REPLACE = "<<<<<<< SEARCH", "\n=======", "\n>>>>>>> REPLACE"
_NEXT_SEARCH = f"\n{_SEARCH}"
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|<[a-z]+>)\s*[\w+#.-]*\s*\Z")
_CLOSING = re.compile(r"\s*(?:`{3,}|~{3,}|</[a-z]+>)\s*\Z")
_LONGEST_NAME = 300


def parts(text: str, name: str) -> list[Part]:
    """The parts of an answer; edits are called by the name of the message and their number."""
    found: list[Part] = []
    if not thoughts.has_thoughts(text):
        _add_text(text, name, found)
        return found
    for part in thoughts.split(text):
        if isinstance(part, Reasoning):
            found.append(part)
        else:
            _add_text(part.text, name, found)
    return found


def _text(text: str) -> list[Text]:
    return [Text(text=text.strip("\n"))] if text and not text.isspace() else []


def _add_text(text: str, name: str, found: list[Part]) -> None:
    """Add a text, whole or cut where it has edits."""
    first = 0 if text.startswith(_SEARCH) else _next(text, 0)
    if first < 0:
        found.append(Text(text=text))
    else:
        _add_edits(text, first, name, found)


def _add_edits(text: str, first: int, name: str, found: list[Part]) -> None:
    """Add the text, cut where blocks, of which one begins here, say what to search for and what to put."""
    kept = 0
    number = len([part for part in found if part.__class__ is ToolCall])
    file: str | None = None
    for start, search, put, end in _blocks(text, first):
        edge = max(kept, start - 1)
        # The fence around a block goes with it: what is left must be whole Markdown.
        above = max(kept, text.rfind("\n", kept, edge) + 1)
        fence = text[above:edge]
        if _FENCE.match(fence):
            file = _file(text, kept, max(kept, above - 1), 2) or file
        else:
            fence = ""
            file = _file(text, kept, edge, 3) or file
        found += _text(text[kept : edge - len(fence)])
        number += 1
        kind: Literal["edit", "write"] = "edit" if search else "write"
        found.append(
            ToolCall(
                name=kind,
                call_id=f"{name}-{number}",
                input={"file": file, "search": search, "replace": put},
                kind=kind,
                extra={"fence": fence} if fence else {},
            )
        )
        kept = _behind_fence(text, end)
    found += _text(text[kept:])


def _blocks(text: str, at: int) -> Iterator[tuple[int, str, str, int]]:
    """Where each whole block begins, what to search for, what to put there, and the place behind it."""
    middle, end = (-1, at), (-1, at)
    while at >= 0:
        if middle[0] < at:
            middle = _line(text, _MIDDLE, at)
        if end[0] < middle[1]:
            end = _line(text, _REPLACE, middle[1])
        if middle[0] < 0 or end[0] < 0:
            return
        following = _next(text, at)
        # A block that is not whole ends where the next begins.
        if following < 0 or following > end[0]:
            first = text.index("\n", at) + 1
            yield at, text[first : middle[0]], text[middle[1] + 1 : end[0]], end[1] + 1
        at = following


def _line(text: str, mark: str, start: int) -> tuple[int, int]:
    """Where a mark stands with nothing behind it in its line, and the end of that; -1 if it is nowhere."""
    at = text.find(mark, start)
    while at >= 0:
        behind = at + len(mark)
        end = text.find("\n", behind)
        end = len(text) if end < 0 else end
        if end == behind or text[behind:end].isspace():
            return at, end
        at = text.find(mark, behind)
    return -1, len(text)


def _next(text: str, at: int) -> int:
    """Where the line of the next block begins behind a place; -1 if there is none."""
    found = text.find(_NEXT_SEARCH, at)
    return found if found < 0 else found + 1


def _behind_fence(text: str, at: int) -> int:
    """The place behind the line that closes a fence, if there is one here."""
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return at + len(line) + 1 if at <= len(text) and _CLOSING.match(line) else at


def _file(text: str, start: int, end: int, most: int) -> str | None:
    """The name of the file, which stands in the last lines above a block, outside or inside of its fence."""
    for _ in range(most):
        before = text.rfind("\n", start, end)
        line = text[max(start, before + 1) : end]
        name = line.strip().strip("`*:# ")
        if name and not _FENCE.match(line):
            return name if len(name) < _LONGEST_NAME and " " not in name else None
        if before < 0:
            return None
        end = before
    return None
