"""Splits a session into what the person typed, what Aider printed, and what the model answered.

Aider ends its own lines with two spaces. That distinguishes them from quotations and headings of the model,
unless an editor has removed trailing white space; then the lines before them must decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Speaker = Literal["person", "aider", "model"]
Block: TypeAlias = tuple[Speaker, str]
"""Who wrote some lines, and the lines without their marks."""
Span: TypeAlias = tuple[Speaker, int, int]
"""Who wrote some lines, and where they begin and end, without the last line feed."""
_TYPED, _PRINTED, _END = "####", ">", "  "
_MARKS: dict[Speaker, str] = {"person": _TYPED, "aider": _PRINTED}
# The prefix of a speaker's first line, as bytes, and the separator of the lines.
_PREFIX_AND_SEPARATOR = {
    speaker: (f"{mark} ".encode(), f"{_END}\n{mark} ") for speaker, mark in _MARKS.items()
}
# Aider prints these, and no model quotes them.
_KNOWN_LINES = ("> Tokens: ", "> Applied edit to ", "> Commit ", "> Aider v", "> Main model: ", "> Add ")
_ENDED_LINE = re.compile(rb"^(?:####|>).*  $", re.MULTILINE)
_ENDED_PROMPT = re.compile(rb"^####.*  $", re.MULTILINE)
_TRIMMED_PROMPT = re.compile(rb"^\n#### ", re.MULTILINE)
# After empty lines: all adjacent lines of one kind, or a line that only a model writes. The matching group
# identifies who wrote them.
_ADJACENT_LINES = re.compile(rb'\n*+(?:((?:####.*  \n){1,1000})|((?:>.*  \n){1,1000})|(?=([!"$-=?-~]))|)')
_SPEAKERS: tuple[Speaker, ...] = ("person", "aider", "model")
# An answer ends before a line with a mark and two spaces, or a known line.
_AFTER_ANSWER = re.compile(
    rf"\n(?:####.*  (?:\n|\Z)|>(?: (?:{'|'.join(line[2:] for line in _KNOWN_LINES)})|.*  (?:\n|\Z)))".encode()
)


def blocks(text: bytes, at: int = 0) -> list[Block]:
    """Split a session into blocks from an offset on; empty lines between them are dropped.

    The search works on UTF-8 bytes, because most sessions have a character that doubles the width of a `str`;
    bytes that are not UTF-8 raise `UnicodeDecodeError`.
    """
    result: list[Block] = []
    speaker: Speaker = "model"
    start, last = at, at - 1
    for next_speaker, begin, end in _spans(text, at):
        if next_speaker != speaker or (begin != last + 1 and next_speaker != "model"):
            _add_block(text, speaker, start, last, result)
            speaker, start = next_speaker, begin
        last = end
    _add_block(text, speaker, start, last, result)
    return result


def _spans(text: bytes, at: int) -> Iterator[Span]:
    """Yield who wrote the lines. An editor trims all lines so far; those written later still have spaces."""
    trimmed_end = _end_of_trimmed(text, at)
    if trimmed_end > at:
        yield from _ContextBasedSplitter().spans(
            text[: trimmed_end - 1] if trimmed_end < len(text) else text, at
        )
    if trimmed_end < len(text) or trimmed_end == at:
        yield from _SpaceBasedSplitter().spans(text, trimmed_end)


def _end_of_trimmed(text: bytes, at: int) -> int:
    """Get the offset of the first lines with trailing spaces: no answer comes before a prompt."""
    if _ENDED_LINE.search(text, at) is None:
        return len(text)
    first = _ENDED_PROMPT.search(text, at)
    end = first.start() if first else len(text)
    return end if _TRIMMED_PROMPT.search(text, at, end) else at


def _add_block(text: bytes, speaker: Speaker, start: int, end: int, result: list[Block]) -> None:
    """Add the lines between two offsets, unless they are empty."""
    if end < start:
        return
    if speaker != "model":
        result.append((speaker, _without_marks(text, speaker, start, end)))
    elif answer := text[start:end].lstrip(b"\n").rstrip().decode().rstrip():
        result.append((speaker, answer))


def _without_marks(text: bytes, speaker: Speaker, start: int, end: int) -> str:
    prefix, separator = _PREFIX_AND_SEPARATOR[speaker]
    if text.startswith(prefix, start) and text.endswith(b"  ", start, end):
        marked = text[start + len(prefix) : end - len(_END)].decode()
        plain = marked.replace(separator, "\n")
        # If more or less was removed, some lines have other marks.
        if len(marked) - len(plain) == plain.count("\n") * (len(separator) - 1):
            return plain
    return _without_marks_by_line(text[start:end].decode(), _MARKS[speaker])


def _without_marks_by_line(lines: str, mark: str) -> str:
    plain = [line[:-2] if line[-2:] == _END else line for line in lines.split("\n")]
    mark_length = len(mark)
    # A line that continues after the mark has no mark: it is part of an output, such as the end of an edit.
    return "\n".join(
        [line[mark_length + 1 :] if f"{line} "[: mark_length + 1] == f"{mark} " else line for line in plain]
    )


class _SpaceBasedSplitter:
    """Splits by the two spaces; in some outputs only the first line has a mark, and only the last has spaces.

    Such an output directly follows the line before it; an answer follows an empty line.
    """

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_open = False
        self._is_after_gap = True

    def spans(self, text: bytes, at: int) -> Iterator[Span]:
        """Yield who wrote the lines, as many at once as possible; empty lines may be omitted."""
        while at <= len(text):
            match = None if self._last == "model" or self._is_open else _ADJACENT_LINES.match(text, at)
            if match and (group := match.lastindex):
                start, end, speaker = match.start(group), match.end() - 1, _SPEAKERS[group - 1]
                self._is_after_gap = False
                if speaker == "model":
                    # The line after an answer identifies its writer by itself.
                    end, self._last = _end_of_answer(text, start), "aider"
                else:
                    self._last = speaker
            else:
                speaker, start, end = self._span(text, at)
            yield speaker, start, end
            at = end + 1

    def _span(self, text: bytes, at: int) -> Span:
        """Get who wrote the line that begins here, and the lines after it that are certainly of the same."""
        if self._last == "model":
            if (end := _end_of_answer(text, at)) >= at:
                return "model", at, end
        elif self._is_open and (end := self._end_of_output(text, at)) >= at:
            return "aider", at, end
        if (match := _ADJACENT_LINES.match(text, at)) and (group := match.lastindex):
            return self._matched_span(text, match.start(group), match.end(), _SPEAKERS[group - 1])
        if match and match.end() > at:
            self._is_after_gap = True
            return "model", at, match.end() - 1
        end = text.find(b"\n", at)
        end = end if end >= 0 else len(text)
        return self._speaker(text[at:end].decode()), at, end

    def _matched_span(self, text: bytes, start: int, end: int, speaker: Speaker) -> Span:
        """Get the span of lines that identify their writer; an answer continues after its first line."""
        self._is_open = self._is_after_gap = False
        if speaker != "model":
            self._last = speaker
            return speaker, start, end - 1
        # The line after an answer identifies its writer by itself.
        self._last = "aider"
        return speaker, start, _end_of_answer(text, start)

    def _end_of_output(self, text: bytes, at: int) -> int:
        """Find the end of an output: of its last line, or of the one before a prompt."""
        end = text.find(b"  \n", at)
        end = end + len(_END) if end >= 0 else len(text)
        last = text.rfind(b"\n", 0, end) + 1
        is_ended = text.endswith(b"  ", last, end)
        if is_ended and text.startswith(b"####", last):
            return last - 1
        self._is_open = not is_ended
        return end

    def _speaker(self, line: str) -> Speaker:
        """Decide who wrote a line, based on the lines before it."""
        is_after_gap, self._is_after_gap = self._is_after_gap, False
        is_ended = line.endswith(_END)
        if line.startswith(_TYPED) and is_ended:
            self._last, self._is_open = "person", False
        elif line.startswith(_PRINTED) and (is_ended or line.startswith(_KNOWN_LINES)):
            self._last, self._is_open = "aider", not is_ended
        elif not line.strip():
            self._is_after_gap = True
            return "model"
        elif line.startswith("> ") and self._last != "model" and not is_after_gap:
            self._last, self._is_open = "aider", True
        else:
            self._last = "model"
        return self._last


def _end_of_answer(text: bytes, at: int) -> int:
    """Find the end of an answer that continues at an offset; just before the offset if it has ended."""
    next_block = _AFTER_ANSWER.search(text, max(at - 1, 0))
    return next_block.start() if next_block else len(text)


class _ContextBasedSplitter:
    """Splits trimmed text: marks count after an empty line and after lines with the same mark."""

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_after_gap = True

    def spans(self, text: bytes, at: int) -> Iterator[Span]:
        """Yield who wrote each line."""
        for line in text[at:].split(b"\n"):
            yield self._speaker(line.decode()), at, at + len(line)
            at += len(line) + 1

    def _speaker(self, line: str) -> Speaker:
        """Decide who wrote a line, based on the lines before it."""
        if line.startswith("#### ") and (self._is_after_gap or self._last == "person"):
            self._last = "person"
        elif (
            line.startswith(_PRINTED)
            and (self._is_after_gap or self._last == "aider")
            and line[1:2] in ("", " ")
        ):
            self._last = "aider"
        elif not line.strip():
            self._is_after_gap = True
            return "model"
        else:
            self._last = "model"
        self._is_after_gap = False
        return self._last
