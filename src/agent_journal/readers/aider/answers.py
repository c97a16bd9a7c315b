"""Parses answers of the model: text, reasoning, and edits within the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from agent_journal.model import Part, Reasoning, Text, ToolCall
from agent_journal.readers.aider import thoughts

if TYPE_CHECKING:
    from collections.abc import Iterator

# The lines of a block of edits; nothing follows the last two on their lines.
_SEARCH, _MIDDLE, _REPLACE = "<<<<<<< SEARCH", "\n=======", "\n>>>>>>> REPLACE"
_NEXT_SEARCH = f"\n{_SEARCH}"
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|<[a-z]+>)\s*[\w+#.-]*\s*\Z")
_CLOSING = re.compile(r"\s*(?:`{3,}|~{3,}|</[a-z]+>)\s*\Z")
_MAX_NAME_CHARS = 300


def parts(text: str, message_id: str) -> list[Part]:
    """Parse an answer into parts; the ids of edits have the id of the message and a number."""
    result: list[Part] = []
    if not thoughts.may_have_reasoning(text):
        _add_text(text, message_id, result)
        return result
    for part in thoughts.split(text):
        if isinstance(part, Reasoning):
            result.append(part)
        else:
            _add_text(part.text, message_id, result)
    return result


def _text(text: str) -> list[Text]:
    return [Text(text=text.strip("\n"))] if text and not text.isspace() else []


def _add_text(text: str, message_id: str, parts: list[Part]) -> None:
    """Add a text; if it has edits, split it around them."""
    first = 0 if text.startswith(_SEARCH) else _next_block(text, 0)
    if first < 0:
        parts.append(Text(text=text))
    else:
        _add_edits(text, first, message_id, parts)


def _add_edits(text: str, first: int, message_id: str, parts: list[Part]) -> None:
    """Add a text, split around its search and replace blocks; the first one begins at `first`."""
    done = 0
    number = len([part for part in parts if part.__class__ is ToolCall])
    file: str | None = None
    for start, search, replacement, end in _blocks(text, first):
        text_end = max(done, start - 1)
        # The fence belongs to the block: what remains must be complete Markdown.
        fence_start = max(done, text.rfind("\n", done, text_end) + 1)
        fence = text[fence_start:text_end]
        if _FENCE.match(fence):
            file = _file_name(text, done, max(done, fence_start - 1), 2) or file
        else:
            fence = ""
            file = _file_name(text, done, text_end, 3) or file
        parts += _text(text[done : text_end - len(fence)])
        number += 1
        kind: Literal["edit", "write"] = "edit" if search else "write"
        parts.append(
            ToolCall(
                name=kind,
                call_id=f"{message_id}-{number}",
                input={"file": file, "search": search, "replace": replacement},
                kind=kind,
                extra={"fence": fence} if fence else {},
            )
        )
        done = _skip_closing_fence(text, end)
    parts += _text(text[done:])


def _blocks(text: str, at: int) -> Iterator[tuple[int, str, str, int]]:
    """Yield start, search text, replacement and end of each complete block."""
    middle, end = (-1, at), (-1, at)
    while at >= 0:
        if middle[0] < at:
            middle = _find_line(text, _MIDDLE, at)
        if end[0] < middle[1]:
            end = _find_line(text, _REPLACE, middle[1])
        if middle[0] < 0 or end[0] < 0:
            return
        following = _next_block(text, at)
        # An incomplete block ends where the next one begins.
        if following < 0 or following > end[0]:
            first = text.index("\n", at) + 1
            yield at, text[first : middle[0]], text[middle[1] + 1 : end[0]], end[1] + 1
        at = following


def _find_line(text: str, mark: str, start: int) -> tuple[int, int]:
    """Find a mark with nothing after it on its line, and the end of the line; -1 if there is none."""
    at = text.find(mark, start)
    while at >= 0:
        mark_end = at + len(mark)
        end = text.find("\n", mark_end)
        end = len(text) if end < 0 else end
        if end == mark_end or text[mark_end:end].isspace():
            return at, end
        at = text.find(mark, mark_end)
    return -1, len(text)


def _next_block(text: str, at: int) -> int:
    """Find the beginning of the next block; -1 if there is none."""
    position = text.find(_NEXT_SEARCH, at)
    return position if position < 0 else position + 1


def _skip_closing_fence(text: str, at: int) -> int:
    """Skip the line that closes a fence, if there is one here."""
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return at + len(line) + 1 if at <= len(text) and _CLOSING.match(line) else at


def _file_name(text: str, start: int, end: int, max_lines: int) -> str | None:
    """Get the file name from the last lines above a block, outside or inside of its fence."""
    for _ in range(max_lines):
        line_break = text.rfind("\n", start, end)
        line = text[max(start, line_break + 1) : end]
        name = line.strip().strip("`*:# ")
        if name and not _FENCE.match(line):
            return name if len(name) < _MAX_NAME_CHARS and " " not in name else None
        if line_break < 0:
            return None
        end = line_break
    return None
