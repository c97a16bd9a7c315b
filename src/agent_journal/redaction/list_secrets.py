"""Secrets spread over a list of texts: arguments of a command, lines of a file, text parts of a message."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.model import Message, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.redaction.spans import Span

# Between the arguments of a command line, and between the members of a JSON list.
_SEPARATORS = (" ", '","')
# Tools split a text anywhere, or at the end of a line.
_PART_SEPARATORS = ("", "\n")


class ListSpan(NamedTuple):
    """A secret that covers ranges of one or more texts of a list."""

    span: Span
    secret: str
    pieces: tuple[tuple[int, int, int], ...]
    """Index of the text, and start and end in it."""


def spans_in_list(values: Sequence[Any], find_spans: Callable[[str], list[Span]]) -> Iterator[ListSpan]:
    """Yield the secrets that are found in adjacent texts but not in any of them alone."""
    for kind, members in groupby(enumerate(values), key=lambda member: member[1].__class__):
        if kind not in (str, Text):
            continue
        run = list(members)
        if len(run) > 1:
            texts = [text_of(value) for _, value in run]
            separators = _SEPARATORS if kind is str else _PART_SEPARATORS
            yield from _TextRun(run[0][0], texts, separators, find_spans).secret_spans()


def joined_parts(entries: Iterable[Any]) -> Iterator[str]:
    """Yield the adjacent text parts of messages and tool results, joined in each way that is searched."""
    for entry in entries:
        if isinstance(entry, Message) and len(entry.parts) > 1:
            yield from _joined_runs(entry.parts)
        if isinstance(entry, Message):
            for part in entry.parts:
                if isinstance(part, ToolResult) and part.output.__class__ is list and len(part.output) > 1:
                    yield from _joined_runs(part.output)


def text_of(value: str | Text) -> str:
    """The text of a member of a list."""
    return value.text if isinstance(value, Text) else value


def with_text(value: str | Text, text: str) -> str | Text:
    """A member of a list with another text."""
    return replace(value, text=text) if isinstance(value, Text) else text


def _joined_runs(parts: Iterable[Any]) -> Iterator[str]:
    for kind, members in groupby(parts, key=type):
        if kind is Text:
            texts = [part.text for part in members]
            if len(texts) > 1:
                yield from (separator.join(texts) for separator in _PART_SEPARATORS)


class _TextRun:
    """Adjacent texts of a list, searched as one."""

    def __init__(
        self,
        first: int,
        texts: list[str],
        separators: Sequence[str],
        find_spans: Callable[[str], list[Span]],
    ) -> None:
        self._first = first
        self._texts = texts
        self._separators = separators
        self._find_spans = find_spans
        self._matched_indexes: set[int] = set()

    def secret_spans(self) -> Iterator[ListSpan]:
        for separator in self._separators:
            starts = [0]
            for text in self._texts:
                starts.append(starts[-1] + len(text) + len(separator))
            joined = separator.join(self._texts)
            for span in self._find_spans(joined):
                pieces = self._pieces(span, starts)
                if self._is_new(pieces):
                    self._matched_indexes.update(index for index, _, _ in pieces)
                    secret = span.secret or joined[span.start : span.end]
                    places = tuple((self._first + index, start, end) for index, start, end in pieces)
                    yield ListSpan(span, secret, places)

    def _pieces(self, span: Span, starts: list[int]) -> list[tuple[int, int, int]]:
        pieces = []
        for index in range(bisect_right(starts, span.start) - 1, len(self._texts)):
            start = max(0, span.start - starts[index])
            end = min(len(self._texts[index]), span.end - starts[index])
            if end <= 0:
                break
            if start < end:
                pieces.append((index, start, end))
        return pieces

    def _is_new(self, pieces: list[tuple[int, int, int]]) -> bool:
        """Whether it is not found in one text alone, nor with the previous separator."""
        if not pieces or any(index in self._matched_indexes for index, _, _ in pieces):
            return False
        if len(pieces) > 1:
            return True
        ((index, start, end),) = pieces
        return not any(span.start < end and start < span.end for span in self._find_spans(self._texts[index]))
