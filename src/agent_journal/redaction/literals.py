"""Search for many literals at once, in time that depends on the text and not on their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Occurrence(NamedTuple):
    """An occurrence of a literal."""

    start: int
    literal: str


class _Tier:
    """Literals of at least `gram + step - 1` characters.

    The gram at every `step`-th position of a text is looked up in a table. Any `gram + step - 1` characters
    of an occurrence cover one of those grams, so the table has the `step` grams of one such window of each
    literal. The window is in the middle, because secrets of one kind begin and often end alike. Literals that
    share a gram are looked up by offset and length in a set, never compared one by one.
    """

    def __init__(self, gram: int, step: int) -> None:
        self.min_chars = gram + step - 1
        self._gram = gram
        self._step = step
        self._table: dict[str, dict[tuple[int, int], set[str]]] = {}

    def add(self, literal: str) -> None:
        window = (len(literal) - self.min_chars) // 2
        for offset in range(window, window + self._step):
            gram = literal[offset : offset + self._gram]
            self._table.setdefault(gram, {}).setdefault((offset, len(literal)), set()).add(literal)

    def occurrences(self, text: str) -> Iterator[Occurrence]:
        table, gram = self._table, self._gram
        if not table:
            return
        last = len(text) - gram + 1
        positions = [
            position for position in range(0, last, self._step) if text[position : position + gram] in table
        ]
        for position in positions:
            for (offset, length), literals in table[text[position : position + gram]].items():
                start = position - offset
                candidate = text[start : start + length] if start >= 0 else ""
                if candidate in literals:
                    yield Occurrence(start, candidate)


class LiteralIndex:
    """A set of literals of at least `MIN_CHARS` characters, to search for all at once."""

    MIN_CHARS = 6

    def __init__(self, literals: Iterable[str]) -> None:
        self._tiers = (_Tier(8, 8), _Tier(6, 3), _Tier(4, 3))
        for literal in literals:
            next(tier for tier in self._tiers if tier.min_chars <= len(literal)).add(literal)

    def occurrences(self, text: str) -> Iterator[Occurrence]:
        """Yield every occurrence of every literal, also overlapping ones, in no particular order."""
        for tier in self._tiers:
            yield from tier.occurrences(text)

    def is_clean(self, text: str) -> bool:
        """Whether none of the literals occurs in the text."""
        return next(self.occurrences(text), None) is None
