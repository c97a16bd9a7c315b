"""Tokens that were broken over several lines by a terminal, a mail, a box or a program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.redaction import decoys
from agent_journal.redaction.prefilter import dismisser
from agent_journal.redaction.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redaction.rules import Rule

_BODY = "[A-Za-z0-9_.+/=%-]"
_MIN_FIRST_CHARS = 4
# The end of a line, with what closes it there and opens the next: quotes, boxes, operators, marks of a diff.
_BREAK = (
    r"[ \t]{0,4}(?:\\{0,4}[\"'`]|[│┃║|])?[ \t]{0,4}[+.\\&]{0,4}[ \t]{0,2}(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)"
    r"[ \t>|│┃║+*#]{0,16}(?:\\{0,4}[\"'`])?"
    r"|\\{0,4}[\"'],[ \t]{0,2}\\{0,4}[\"']"  # between members of a list
)
_LINE_END = re.compile(r"[ \t]{0,4}(?:\\{0,4}[\"'`│┃║|)\]},;+.]){0,4}[ \t]{0,4}(?:\Z|[\r\n]|\\{1,4}[rn])")
_MAX_TOKEN_CHARS, _MAX_PIECES = 4096, 40
_MIN_COMPLETE_CHARS = 20
_MIN_WIDTH = 40  # of a terminal; a shorter line was not broken for its length
_MAX_WIDTH = 400
_WORD = re.compile("[a-z_.-]+|[A-Z_.-]+")  # the beginning of a token is no word
_HASH = re.compile("[0-9a-f]{7,64}|[0-9a-f-]{36}")


class LineWraps:
    """Finds tokens of some rules that go on in the next line."""

    def __init__(self, rules: Sequence[Rule], complete: Callable[[str], Iterator[Span]]) -> None:
        leads = "|".join(dict.fromkeys(f"(?:{rule.lead})" for rule in rules if rule.lead))
        self.trigger = (
            rf"(?:^|[^A-Za-z0-9]|\\[nrt])(?:{leads}){_BODY}{{{_MIN_FIRST_CHARS},}}(?:{_BREAK}){_BODY}"
        )
        self._first = re.compile(
            rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:{leads}){_BODY}{{{_MIN_FIRST_CHARS},}}+(?={_BREAK})"
        )
        self._next = re.compile(rf"(?P<gap>{_BREAK})(?!{leads})[A-Za-z0-9_.+/%-]++={{0,2}}")
        self._complete = complete
        self._is_clean = dismisser([self.trigger])

    def spans(self, text: str) -> Iterator[Span]:
        """Every token that a break of lines cuts, from its first line to its last."""
        if self._is_clean(text):
            return
        place = 0
        while (first := self._first.search(text, place)) is not None:
            span, place = self._from(text, first)
            if span is not None:
                yield span

    def _from(self, text: str, first: re.Match[str]) -> tuple[Span | None, int]:
        """The token that begins with a piece, if it goes on; and where to look on."""
        token, end = first[0], first.end()
        width = end - _start_of_line(text, first.start())
        if _WORD.fullmatch(token):
            return None, end
        kind = self._kind(token)
        found: Span | None = None
        is_filled, is_block = width >= _MIN_WIDTH, False
        for _ in range(_MAX_PIECES):
            piece = self._next.match(text, end)
            if piece is None or len(token) > _MAX_TOKEN_CHARS:
                break
            run = text[piece.end("gap") : piece.end()]
            is_member = "," in piece["gap"]
            if kind and (
                is_member or not (is_filled and _goes_on(text, piece.end(), run, width, is_block=is_block))
            ):
                break
            token, end = token + run, piece.end()
            is_block = is_filled = width == end - _start_of_line(text, piece.end("gap")) or len(run) == len(
                first[0]
            )
            kind = self._kind(token) or kind
            if kind:
                found = Span(first.start(), end, kind, token)
        return found, end

    def _kind(self, token: str) -> str:
        """The kind of token that it is as a whole; empty if it is none."""
        if len(token) < _MIN_COMPLETE_CHARS:
            return ""
        spans = list(self._complete(token))
        return spans[0].kind if spans and (spans[0].start, spans[0].end) == (0, len(token)) else ""


def _start_of_line(text: str, place: int) -> int:
    first = max(0, place - _MAX_WIDTH)
    ends = (text.rfind(end, first, place) + len(end) for end in ("\n", "\\n") if end in text[first:place])
    return max(first, *ends, 0)


def _goes_on(text: str, end: int, run: str, width: int, *, is_block: bool) -> bool:
    """Whether a line may be the rest of a token that could end before it: nothing else is in it.

    Behind lines of the same width it may be anything, otherwise it must look random, and not like a hash.
    """
    is_likely = is_block or (decoys.is_random(run) and _HASH.fullmatch(run) is None)
    return is_likely and len(run) <= width and _LINE_END.match(text, end) is not None
