"""A session taken apart into what the person typed, what Aider printed, and what the model said.

Aider ends what it writes itself with two spaces. That tells its lines from quotations and headings of the
model, unless an editor has cut white space from the ends of lines; then what stands before has to tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Speaker = Literal["person", "aider", "model"]
_TYPED, _PRINTED, _END = "####", ">", "  "
_MARKS = ("#", ">")
# What Aider prints and no model quotes.
_KNOWN = ("> Tokens: ", "> Applied edit to ", "> Commit ", "> Aider v", "> Main model: ", "> Add ")


class Block(NamedTuple):
    """Lines of one speaker, without the marks before them; `line` is where they begin in the session."""

    speaker: Speaker
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a session in their order. Empty lines between them belong to nobody."""
    lines = text.split("\n")
    has_ends = any(line.endswith(_END) and line.startswith((_TYPED, _PRINTED)) for line in lines)
    teller = _Strict() if has_ends else _Lenient()
    speaker: Speaker = "model"
    start = 0
    held: list[str] = []
    for number, line in enumerate(lines, 1):
        now = teller.speaker(line)
        if now != speaker and held:
            yield from _block(speaker, held, start)
            held = []
        if not held:
            start = number
        speaker = now
        held.append(line if now == "model" else _unmarked(line, now))
    yield from _block(speaker, held, start)


def _block(speaker: Speaker, lines: list[str], start: int) -> Iterator[Block]:
    if speaker != "model":
        yield Block(speaker, "\n".join(lines), start)
    elif said := "\n".join(lines).strip("\n").rstrip():
        yield Block(speaker, said, start + next(place for place, line in enumerate(lines) if line.strip()))


def _unmarked(line: str, speaker: Speaker) -> str:
    mark = _TYPED if speaker == "person" else _PRINTED
    plain = line.removesuffix(_END)
    return plain.removeprefix(mark).removeprefix(" ") if plain.startswith(mark) else plain


class _Strict:
    """Tells by the two spaces. Of some outputs only the first line is marked, and only the last has them.

    Such an output follows what is before it at once; an answer has an empty line before it.
    """

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_open = False
        self._is_free = True

    def speaker(self, line: str) -> Speaker:
        """Who wrote a line, given those before it."""
        if self._last == "model" and line[:1] not in _MARKS and not self._is_open:
            return "model"  # as most lines are
        is_free, self._is_free = self._is_free, False
        is_ended = line.endswith(_END)
        if line.startswith(_TYPED) and is_ended:
            self._last, self._is_open = "person", False
        elif line.startswith(_PRINTED) and (is_ended or line.startswith(_KNOWN)):
            self._last, self._is_open = "aider", not is_ended
        elif self._is_open:
            self._is_open = not is_ended
        elif not line.strip():
            self._is_free = True
            return "model"
        elif line.startswith("> ") and self._last != "model" and not is_free:
            self._last, self._is_open = "aider", True
        else:
            self._last = "model"
        return self._last


class _Lenient:
    """Tells by what stands before: marks count behind an empty line and behind marks of their like."""

    def __init__(self) -> None:
        self._last: Speaker = "aider"
        self._is_free = True

    def speaker(self, line: str) -> Speaker:
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
