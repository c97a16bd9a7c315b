"""Tokens that a terminal, a mail, a box or a program wrapped over several lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.redaction import decoys
from agent_journal.redaction.prefilter import compile_prefilter
from agent_journal.redaction.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redaction.rules import Rule

_BODY = "[A-Za-z0-9_.+/=%-]"
_MIN_FIRST_CHARS = 4
# A line break with what closes a line and opens the next one: quotes, boxes, operators, marks of a diff.
_BREAK = (
    r"[ \t]{0,4}(?:\\{0,4}[\"'`]|[│┃║|])?[ \t]{0,4}[+.\\&]{0,4}[ \t]{0,2}(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)"
    r"[ \t>|│┃║+*#]{0,16}(?:\\{0,4}[\"'`])?"
    r"|\\{0,4}[\"'],[ \t]{0,2}\\{0,4}[\"']"  # between members of a list
)
_LINE_END = re.compile(
    r"[ \t]{0,4}(?:\\{0,4}[\"'`│┃║|)\]},;+.]){0,4}[ \t]{0,4}(?:\Z|[\r\n]|\\{1,4}[rn])"
    r"|[ \t│┃║|]{0,4}(?:\\{0,8}[\"'`]){0,2}\\{0,8}\"[ \t]{0,2}[,}\]]"  # the end of a text within JSON
)
_MAX_TOKEN_CHARS, _MAX_PIECES = 4096, 40
_MIN_COMPLETE_CHARS = 20
_MIN_LINE_CHARS = 40  # of a terminal; a shorter line was not wrapped for its length
_MAX_LINE_CHARS = 400
_WORD = re.compile("[a-z_.-]+|[A-Z_.-]+")  # the beginning of a token is not a word
_HASH = re.compile("[0-9a-f]{7,64}|[0-9a-f-]{36}")


class WrappedLines:
    """Searches for tokens of some rules that continue on the next line."""

    def __init__(self, rules: Sequence[Rule], find_tokens: Callable[[str], Iterator[Span]]) -> None:
        prefixes = "|".join(
            dict.fromkeys(f"(?:{rule.wrappable_prefix})" for rule in rules if rule.wrappable_prefix)
        )
        self.trigger = (
            rf"(?:^|[^A-Za-z0-9]|\\[nrt])(?:{prefixes}){_BODY}{{{_MIN_FIRST_CHARS},}}(?:{_BREAK}){_BODY}"
        )
        self._first = re.compile(
            rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:{prefixes}){_BODY}{{{_MIN_FIRST_CHARS},}}+(?={_BREAK})"
        )
        self._next = re.compile(rf"(?P<gap>{_BREAK})(?!{prefixes})[A-Za-z0-9_.+/%-]++={{0,2}}")
        self._find_tokens = find_tokens
        self._is_clean = compile_prefilter([self.trigger])

    def spans(self, text: str) -> Iterator[Span]:
        """Yield every token that is wrapped, from its first line to its last."""
        if self._is_clean(text):
            return
        position = 0
        while (first := self._first.search(text, position)) is not None:
            span, position = self._token_from(text, first)
            if span is not None:
                yield span

    def _token_from(self, text: str, first: re.Match[str]) -> tuple[Span | None, int]:
        """Return the token that begins with a match, if it continues, and where to resume the search."""
        token, end = first[0], first.end()
        width = end - _start_of_line(text, first.start())
        if _WORD.fullmatch(token):
            return None, end
        kind = self._kind(token)
        span: Span | None = None
        is_filled, is_block = width >= _MIN_LINE_CHARS, False
        for _ in range(_MAX_PIECES):
            piece = self._next.match(text, end)
            if piece is None or len(token) > _MAX_TOKEN_CHARS:
                break
            run = text[piece.end("gap") : piece.end()]
            is_member = "," in piece["gap"]
            if kind and (
                is_member or not (is_filled and _continues(text, piece.end(), run, width, is_block=is_block))
            ):
                break
            token, end = token + run, piece.end()
            is_block = is_filled = width == end - _start_of_line(text, piece.end("gap")) or len(run) == len(
                first[0]
            )
            kind = self._kind(token) or kind
            if kind:
                span = Span(first.start(), end, kind, token)
        return span, end

    def _kind(self, token: str) -> str:
        """The kind of a complete token; empty if it is not one."""
        if len(token) < _MIN_COMPLETE_CHARS:
            return ""
        spans = list(self._find_tokens(token))
        return spans[0].kind if spans and (spans[0].start, spans[0].end) == (0, len(token)) else ""


def _start_of_line(text: str, position: int) -> int:
    first = max(0, position - _MAX_LINE_CHARS)
    ends = (
        text.rfind(end, first, position) + len(end) for end in ("\n", "\\n") if end in text[first:position]
    )
    return max(first, *ends, 0)


def _continues(text: str, end: int, run: str, width: int, *, is_block: bool) -> bool:
    """Whether a line may be the rest of a token that could end before it: there is nothing else in it.

    After lines of the same width it may be anything; otherwise it must look random, and not like a hash.
    """
    is_likely = is_block or (decoys.is_random(run) and _HASH.fullmatch(run) is None)
    return is_likely and len(run) <= width and _LINE_END.match(text, end) is not None
