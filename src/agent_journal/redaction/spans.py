"""Where something stands in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Span(NamedTuple):
    """A stretch of a text, and the kind of secret that it is."""

    start: int
    end: int
    kind: str
    secret: str = ""
    """The secret without what was put into it, decoded; empty if the stretch is the secret itself."""


def merged(found: Iterable[Span]) -> list[Span]:
    """Spans in order that do not overlap: of those that do, the whole, by the name of the one found first."""
    ranked = sorted(enumerate(found), key=lambda row: (row[1].start, row[0]))
    apart: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if not apart or span.start >= apart[-1][1].end:
            apart.append((rank, span))
            continue
        best, last = apart[-1]
        kind = last.kind if best <= rank else span.kind
        apart[-1] = (min(best, rank), Span(last.start, max(last.end, span.end), kind, _secret(last, span)))
    return [span for _, span in apart]


def _secret(one: Span, other: Span) -> str:
    """What the whole of two spans stands for, if one of them is the whole."""
    longer, shorter = (one, other) if one.end - one.start >= other.end - other.start else (other, one)
    return longer.secret if longer.start <= shorter.start and shorter.end <= longer.end else ""
