"""Search for many literals at once, in time that depends on the text and not on how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Hit(NamedTuple):
    """An occurrence of a literal."""

    start: int
    literal: str


class _Tier:
    """Literals of at least `gram + step - 1` characters.

    Every `step`-th place of a text is looked up in a table. An occurrence covers one of those places within
    any window of `gram + step - 1` of its characters, so each literal enters the `step` grams of one window.
    The window lies in the middle, because secrets of one kind begin and often end alike. Literals that share
    a gram are told apart by their length and a set, never one by one.
    """

    def __init__(self, gram: int, step: int) -> None:
        self.min_length = gram + step - 1
        self._gram = gram
        self._step = step
        self._table: dict[str, dict[tuple[int, int], set[str]]] = {}

    def add(self, literal: str) -> None:
        window = (len(literal) - self.min_length) // 2
        for offset in range(window, window + self._step):
            gram = literal[offset : offset + self._gram]
            self._table.setdefault(gram, {}).setdefault((offset, len(literal)), set()).add(literal)

    def hits(self, text: str) -> Iterator[Hit]:
        table, gram = self._table, self._gram
        if not table:
            return
        last = len(text) - gram + 1
        places = [place for place in range(0, last, self._step) if text[place : place + gram] in table]
        for place in places:
            for (offset, length), literals in table[text[place : place + gram]].items():
                start = place - offset
                candidate = text[start : start + length] if start >= 0 else ""
                if candidate in literals:
                    yield Hit(start, candidate)


class LiteralIndex:
    """A set of literals of at least six characters, looked for all at once."""

    MIN_LENGTH = 6

    def __init__(self, literals: Iterable[str]) -> None:
        self._tiers = (_Tier(8, 8), _Tier(6, 3), _Tier(4, 3))
        for literal in literals:
            next(tier for tier in self._tiers if tier.min_length <= len(literal)).add(literal)

    def hits(self, text: str) -> Iterator[Hit]:
        """Every occurrence of every literal, overlapping ones too, in no particular order."""
        for tier in self._tiers:
            yield from tier.hits(text)

    def is_clean(self, text: str) -> bool:
        """Whether none of the literals occurs in the text."""
        return next(self.hits(text), None) is None
