"""Ranges of a text that are secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Span(NamedTuple):
    """A range of a text, and the kind of secret in it."""

    start: int
    end: int
    kind: str
    secret: str = ""
    """The decoded secret without insertions; empty if the range is the secret as it is."""


def merge(spans: Iterable[Span]) -> list[Span]:
    """Merge overlapping spans, sort them, and give each merged span the kind that comes first in `spans`."""
    ranked = sorted(enumerate(spans), key=lambda row: (row[1].start, row[0]))
    disjoint: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if not disjoint or span.start >= disjoint[-1][1].end:
            disjoint.append((rank, span))
            continue
        best, last = disjoint[-1]
        kind = last.kind if best <= rank else span.kind
        disjoint[-1] = (min(best, rank), Span(last.start, max(last.end, span.end), kind, _secret(last, span)))
    return [span for _, span in disjoint]


def _secret(one: Span, other: Span) -> str:
    """The secret of the longer span, if it covers the other one; otherwise empty."""
    longer, shorter = (one, other) if one.end - one.start >= other.end - other.start else (other, one)
    return longer.secret if longer.start <= shorter.start and shorter.end <= longer.end else ""
