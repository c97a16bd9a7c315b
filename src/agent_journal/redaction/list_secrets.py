"""Secrets spread over a list of texts: arguments of a command, lines of a file, chunks of a stream."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redaction.spans import Span

# Between the arguments of a command line, and between the members of a JSON list.
_SEPARATORS = (" ", '","')


class ListSpan(NamedTuple):
    """A secret that covers ranges of one or more texts of a list."""

    span: Span
    secret: str
    pieces: tuple[tuple[int, int, int], ...]
    """Index of the text, and start and end in it."""


def spans_in_list(values: Sequence[Any], find_spans: Callable[[str], list[Span]]) -> Iterator[ListSpan]:
    """Yield the secrets that are found in adjacent texts but not in any of them alone."""
    for is_text, members in groupby(enumerate(values), key=lambda member: member[1].__class__ is str):
        run = list(members)
        if is_text and len(run) > 1:
            yield from _TextRun(run[0][0], [text for _, text in run], find_spans).secret_spans()


class _TextRun:
    """Adjacent texts of a list, searched as one."""

    def __init__(self, first: int, texts: list[str], find_spans: Callable[[str], list[Span]]) -> None:
        self._first = first
        self._texts = texts
        self._find_spans = find_spans
        self._matched_indexes: set[int] = set()

    def secret_spans(self) -> Iterator[ListSpan]:
        for separator in _SEPARATORS:
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
