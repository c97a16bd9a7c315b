"""What words an index has, and how many entries have each."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent_journal.search.entry import TEXTS
from agent_journal.search.faults import reading
from agent_journal.search.query import FACTS, fact
from agent_journal.search.reach import Week

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import tantivy

_SAID = ("text", "title", "thinking")
_MANY = 20_000  # entries with the rarest of some words
_MOST_VALUES = 100_000  # of a kind to filter by that are looked at


class Vocabulary:
    """What words an index has, as of one commit."""

    def __init__(self, folder: Path, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._folder = folder
        self._searcher = searcher
        self._schema = schema
        self.count = searcher.num_docs

    def frequency(self, field: str, word: str) -> int:
        """In how many entries a field has a word."""
        with reading(self._folder):
            return self._searcher.doc_freq(field, word)

    @cached_property
    def weeks(self) -> list[Week]:
        """Every week with its entries, newest first."""
        return sorted(map(Week._make, self._facts("week")), reverse=True)

    def beginning(self, field: str, prefix: str, most: int) -> list[tuple[str, int]]:
        """The most frequent words of a field that begin so, with the number of entries that have them."""
        with reading(self._folder):
            return self._searcher.terms_with_prefix(field, prefix, limit=most)

    def begins(self, prefix: str) -> bool:
        """Whether there are words that begin so."""
        return any(self.beginning(field, prefix, 1) for field in TEXTS)

    def entries_with(self, word: str) -> int:
        """In how many entries a word is, about."""
        with reading(self._folder):
            return sum(self._searcher.doc_freq(field, word) for field in TEXTS)

    def entries_with_row(self, words: Sequence[str]) -> int:
        """In how many entries words stand in a row, about; at most, where each of them is frequent."""
        with reading(self._folder):
            return sum(self._with_row(field, words) for field in TEXTS)

    def _with_row(self, field: str, words: Sequence[str]) -> int:
        from tantivy import Query  # noqa: PLC0415 (whoever has an index has it)

        rarest = min(self._searcher.doc_freq(field, word) for word in words)
        if len(words) == 1 or not 0 < rarest <= _MANY:  # to look whether they do takes longer
            return rarest
        found = self._searcher.search(Query.phrase_query(self._schema, field, list(words)), 1)
        count: int = found.count  # type: ignore[attr-defined] # its stub does not know it
        return count

    def entries_with_alike(self, word: str) -> int:
        """In how many entries, at most, is any word that differs from one in a letter."""
        from tantivy import Query  # noqa: PLC0415 (whoever has an index has it)

        with reading(self._folder):
            found = (
                self._searcher.search(Query.fuzzy_term_query(self._schema, field, word), 1) for field in TEXTS
            )
            return sum(each.count for each in found)  # type: ignore[attr-defined] # its stub does not know it

    def entries_of(self, kind: str, value: str) -> int:
        """How many entries have a value that they are filtered by."""
        with reading(self._folder):
            return self._searcher.doc_freq(FACTS, fact(kind, value))

    def like(self, beginning: str, most: int) -> list[str]:
        """Words that people and models said and that begin so, the most frequent first."""
        words = [word for field in _SAID for word, _ in self.beginning(field, beginning, most)]
        return list(dict.fromkeys(words))[:most]

    def values(self, kind: str) -> list[str]:
        """Every value of a kind that entries are filtered by."""
        return [value for value, _ in self._facts(kind, _MOST_VALUES)]

    def _facts(self, kind: str, most: int | None = None) -> list[tuple[str, int]]:
        """Values of a kind, with how many entries have each."""
        beginning = fact(kind, "")
        with reading(self._folder):
            found = self._searcher.terms_with_prefix(FACTS, beginning, limit=most)
        return [(each.removeprefix(beginning), count) for each, count in found]
