"""What the model said: text, thoughts, and the edits it wrote into the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Part, Reasoning, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEARCH, _MIDDLE, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
_THINKING = re.compile(r"(?:\A|\n)-{4,}\n+► \*\*THINKING\*\*\n")
_ANSWER = re.compile(r"\n-{4,}\n+► \*\*ANSWER\*\*(?:\n|\Z)")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|<[a-z]+>)\s*[\w+#.-]*\s*\Z")
_CLOSING = re.compile(r"\s*(?:`{3,}|~{3,}|</[a-z]+>)\s*\Z")
_LONGEST_NAME = 300


def parts(text: str, name: str) -> list[Part]:
    """The parts of an answer; edits are called by the name of the message and their number."""
    return [*_numbered(text, name)]


def _numbered(text: str, name: str) -> Iterator[Part]:
    count = 0
    for part in _thoughts(text):
        if isinstance(part, Reasoning):
            yield part
            continue
        for piece in _edits(part.text):
            if isinstance(piece, ToolCall):
                count += 1
                yield replace(piece, call_id=f"{name}-{count}")
            else:
                yield piece


def _thoughts(text: str) -> Iterator[Text | Reasoning]:
    """The answer, and the thoughts that stand before it under a line of their own."""
    if "► **THINKING**" not in text:
        yield from _text(text)
        return
    start = 0
    while thinking := _THINKING.search(text, start):
        yield from _text(text[start : thinking.start()])
        answer = _ANSWER.search(text, thinking.end())
        end = answer.start() if answer else len(text)
        yield Reasoning(text=text[thinking.end() : end].strip("\n"))
        start = answer.end() if answer else len(text)
    yield from _text(text[start:])


def _text(text: str) -> Iterator[Text]:
    if text.strip():
        yield Text(text=text.strip("\n"))


def _edits(text: str) -> Iterator[Text | ToolCall]:
    """The text, cut where blocks say what to search for in a file and what to put there."""
    if _SEARCH not in text:
        yield Text(text=text)
        return
    lines = text.split("\n")
    kept = place = 0
    file: str | None = None
    while place < len(lines):
        block = _block(lines, place)
        if block is None:
            place += 1
            continue
        search, put, end = block
        file = _file(lines, kept, place) or file
        # The fence around a block goes with it: what is left must be whole Markdown.
        fence = lines[place - 1] if place > kept and _FENCE.match(lines[place - 1]) else None
        yield from _text("\n".join(lines[kept : place if fence is None else place - 1]))
        yield ToolCall(
            name="edit" if search else "write",
            input={"file": file, "search": search, "replace": put},
            kind="edit" if search else "write",
            extra={} if fence is None else {"fence": fence},
        )
        kept = place = end + 1 if end < len(lines) and _CLOSING.match(lines[end]) else end
    yield from _text("\n".join(lines[kept:]))


def _block(lines: list[str], place: int) -> tuple[str, str, int] | None:
    """What to search for, what to put there, and the place behind, if a whole block begins here."""
    if not lines[place].startswith(_SEARCH):
        return None
    middle = _find(lines, _MIDDLE, place + 1)
    end = None if middle is None else _find(lines, _REPLACE, middle + 1)
    if middle is None or end is None:
        return None
    return "\n".join(lines[place + 1 : middle]), "\n".join(lines[middle + 1 : end]), end + 1


def _find(lines: list[str], mark: str, start: int) -> int | None:
    for place in range(start, len(lines)):
        if lines[place].rstrip() == mark:
            return place
        if lines[place].startswith(_SEARCH):
            return None
    return None


def _file(lines: list[str], first: int, place: int) -> str | None:
    """The name of the file, which stands above the block, outside or inside of its fence."""
    for line in reversed(lines[max(first, place - 3) : place]):
        name = line.strip().strip("`*:# ")
        if name and not _FENCE.match(line) and len(name) < _LONGEST_NAME and " " not in name:
            return name
        if name and not _FENCE.match(line):
            return None
    return None
