"""A session taken apart into what the person typed, what Aider printed, and what the model said.

Aider ends what it writes itself with two spaces. That tells its lines from quotations and headings of the
model, unless an editor has cut white space from the ends of lines; then what stands before has to tell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Speaker = Literal["person", "aider", "model"]
Block: TypeAlias = tuple[Speaker, str]
"""Who wrote some lines, and these without the marks before them."""
Stretch: TypeAlias = tuple[Speaker, int, int]
"""Who wrote some lines, and where they begin and end, without the last line feed."""
_TYPED, _PRINTED, _END = "####", ">", "  "
_MARKS: dict[Speaker, str] = {"person": _TYPED, "aider": _PRINTED}
# What stands before the lines of a speaker, as bytes, and between them.
_AROUND = {who: (f"{mark} ".encode(), f"{_END}\n{mark} ") for who, mark in _MARKS.items()}
# What Aider prints and no model quotes.
_KNOWN = ("> Tokens: ", "> Applied edit to ", "> Commit ", "> Aider v", "> Main model: ", "> Add ")
_ENDED = re.compile(rb"^(?:####|>).*  $", re.MULTILINE)
_TYPED_AND_ENDED = re.compile(rb"^####.*  $", re.MULTILINE)
_TYPED_AND_CUT = re.compile(rb"^\n#### ", re.MULTILINE)
# Behind empty lines: lines of one kind, as many as stand together, or a line that only a model writes. The
# group that matches tells who wrote them.
_TOGETHER = re.compile(rb'\n*+(?:((?:####.*  \n){1,1000})|((?:>.*  \n){1,1000})|(?=([!"$-=?-~]))|)')
_SPEAKERS: tuple[Speaker, ...] = ("person", "aider", "model")
# What ends an answer: a line that is marked and ended, or known.
_BEHIND_ANSWER = re.compile(
    rf"\n(?:####.*  (?:\n|\Z)|>(?: (?:{'|'.join(known[2:] for known in _KNOWN)})|.*  (?:\n|\Z)))".encode()
)


def blocks(text: bytes, at: int = 0) -> list[Block]:
    """The blocks of a session, from a place on, in their order. Empty lines between them belong to nobody.

    It is searched as UTF-8, for most sessions have a character somewhere that makes their text twice as wide;
    bytes that are not UTF-8 raise `UnicodeDecodeError`.
    """
    found: list[Block] = []
    speaker: Speaker = "model"
    start, last = at, at - 1
    for now, begin, end in _stretches(text, at):
        if now != speaker or (begin != last + 1 and now != "model"):
            _add_block(text, speaker, start, last, found)
            speaker, start = now, begin
        last = end
    _add_block(text, speaker, start, last, found)
    return found


def _stretches(text: bytes, at: int) -> Iterator[Stretch]:
    """Who wrote the lines. White space is cut from all that is there; what is written later has its own."""
    cut = _end_of_cut(text, at)
    if cut > at:
        yield from _Lenient().stretches(text[: cut - 1] if cut < len(text) else text, at)
    if cut < len(text) or cut == at:
        yield from _Strict().stretches(text, cut)


def _end_of_cut(text: bytes, at: int) -> int:
    """Where the lines begin that still have their ends: nobody answers before a prompt."""
    if _ENDED.search(text, at) is None:
        return len(text)
    first = _TYPED_AND_ENDED.search(text, at)
    end = first.start() if first else len(text)
    return end if _TYPED_AND_CUT.search(text, at, end) else at


def _add_block(text: bytes, speaker: Speaker, start: int, end: int, found: list[Block]) -> None:
    """Add what is between two places, unless there is nothing."""
    if end < start:
        return
    if speaker != "model":
        found.append((speaker, _unmarked(text, speaker, start, end)))
    elif answer := text[start:end].lstrip(b"\n").rstrip().decode().rstrip():
        found.append((speaker, answer))


def _unmarked(text: bytes, speaker: Speaker, start: int, end: int) -> str:
    before, between = _AROUND[speaker]
    if text.startswith(before, start) and text.endswith(b"  ", start, end):
        marked = text[start + len(before) : end - len(_END)].decode()
        plain = marked.replace(between, "\n")
        # Each line feed has lost what is around it, or some lines are marked otherwise.
        if len(marked) - len(plain) == plain.count("\n") * (len(between) - 1):
            return plain
    return _unmarked_one_by_one(text[start:end].decode(), _MARKS[speaker])


def _unmarked_one_by_one(lines: str, mark: str) -> str:
    plain = [line[:-2] if line[-2:] == _END else line for line in lines.split("\n")]
    size = len(mark)
    # A line that goes on with the mark has none: it is part of an output, as the end of a block of changes.
    return "\n".join([line[size + 1 :] if f"{line} "[: size + 1] == f"{mark} " else line for line in plain])


class _Strict:
    """Tells by the two spaces. Of some outputs only the first line is marked, and only the last has them.

    Such an output follows what is before it at once; an answer has an empty line before it.
    """

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_open = False
        self._is_free = True

    def stretches(self, text: bytes, at: int) -> Iterator[Stretch]:
        """Who wrote the lines, as many at once as tell themselves; empty lines may be left out."""
        while at <= len(text):
            together = None if self._last == "model" or self._is_open else _TOGETHER.match(text, at)
            if together and (group := together.lastindex):
                start, end, speaker = together.start(group), together.end() - 1, _SPEAKERS[group - 1]
                self._is_free = False
                if speaker == "model":
                    # What stands behind an answer tells by itself who wrote it: whoever spoke last, it was
                    # no model.
                    end, self._last = _end_of_answer(text, start), "aider"
                else:
                    self._last = speaker
            else:
                speaker, start, end = self._stretch(text, at)
            yield speaker, start, end
            at = end + 1

    def _stretch(self, text: bytes, at: int) -> Stretch:
        """Who wrote the line that begins here, and those behind it that are surely of the same."""
        if self._last == "model":
            if (end := _end_of_answer(text, at)) >= at:
                return "model", at, end
        elif self._is_open and (end := self._end_of_output(text, at)) >= at:
            return "aider", at, end
        if (together := _TOGETHER.match(text, at)) and (group := together.lastindex):
            return self._together(text, together.start(group), together.end(), _SPEAKERS[group - 1])
        if together and together.end() > at:
            self._is_free = True
            return "model", at, together.end() - 1
        end = text.find(b"\n", at)
        end = end if end >= 0 else len(text)
        return self._speaker(text[at:end].decode()), at, end

    def _together(self, text: bytes, start: int, end: int, speaker: Speaker) -> Stretch:
        """The lines between these places, which tell who wrote them; an answer goes on behind its first."""
        self._is_open = self._is_free = False
        if speaker != "model":
            self._last = speaker
            return speaker, start, end - 1
        # What stands behind an answer tells by itself who wrote it: whoever spoke last, it was no model.
        self._last = "aider"
        return speaker, start, _end_of_answer(text, start)

    def _end_of_output(self, text: bytes, at: int) -> int:
        """The end of the line that ends an output, or of the last one before a prompt."""
        end = text.find(b"  \n", at)
        end = end + len(_END) if end >= 0 else len(text)
        last = text.rfind(b"\n", 0, end) + 1
        is_ended = text.endswith(b"  ", last, end)
        if is_ended and text.startswith(b"####", last):
            return last - 1
        self._is_open = not is_ended
        return end

    def _speaker(self, line: str) -> Speaker:
        """Who wrote a line that does not tell it by itself, given those before it."""
        is_free, self._is_free = self._is_free, False
        is_ended = line.endswith(_END)
        if line.startswith(_TYPED) and is_ended:
            self._last, self._is_open = "person", False
        elif line.startswith(_PRINTED) and (is_ended or line.startswith(_KNOWN)):
            self._last, self._is_open = "aider", not is_ended
        elif not line.strip():
            self._is_free = True
            return "model"
        elif line.startswith("> ") and self._last != "model" and not is_free:
            self._last, self._is_open = "aider", True
        else:
            self._last = "model"
        return self._last


def _end_of_answer(text: bytes, at: int) -> int:
    """The end of the last line before one that is no model's; the place before this one if it is such."""
    behind = _BEHIND_ANSWER.search(text, max(at - 1, 0))
    return behind.start() if behind else len(text)


class _Lenient:
    """Tells by what stands before: marks count behind an empty line and behind marks of their like."""

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_free = True

    def stretches(self, text: bytes, at: int) -> Iterator[Stretch]:
        """Who wrote each line."""
        for line in text[at:].split(b"\n"):
            yield self._speaker(line.decode()), at, at + len(line)
            at += len(line) + 1

    def _speaker(self, line: str) -> Speaker:
        """Who wrote a line, given those before it."""
        if line.startswith("#### ") and (self._is_free or self._last == "person"):
            self._last = "person"
        elif (
            line.startswith(_PRINTED) and (self._is_free or self._last == "aider") and line[1:2] in ("", " ")
        ):
            self._last = "aider"
        elif not line.strip():
            self._is_free = True
            return "model"
        else:
            self._last = "model"
        self._is_free = False
        return self._last
