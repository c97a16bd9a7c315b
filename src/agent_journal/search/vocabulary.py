"""The words of an index, and how many entries have each."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.entry import TEXT_FIELDS
from agent_journal.search.faults import read_errors_as_damage
from agent_journal.search.languages import stems
from agent_journal.search.query import FACT_FIELD, fact
from agent_journal.search.reach import Week

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import tantivy

_WRITTEN_FIELDS = ("text", "title", "thinking")
_MIN_STEM_CHARS = 3
_MAX_COMPARED_WORDS = 100  # the most frequent with the same first letters, per field
_MAX_CACHED_WORDS = 20_000
_MAX_CONTINUATIONS = 200  # of a prefix, per field
_MAX_INFLECTIONS = 8  # per field
_VOWELS = "aeiouy"
_MAX_PHRASE_ENTRIES = 20_000  # with the rarest word of a phrase; counting in more is too slow
_MAX_VALUES = 100_000  # of a kind of filter


class Inflection(NamedTuple):
    """A word of a field, and how many entries have it there."""

    field: str
    word: str
    entries: int


class Vocabulary:
    """The words of an index as of one commit."""

    def __init__(self, folder: Path, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._folder = folder
        self._searcher = searcher
        self._schema = schema
        self.count = searcher.num_docs
        self._frequencies: dict[tuple[str, str], int] = {}
        self._inflections: dict[tuple[str, str], tuple[Inflection, ...]] = {}

    def frequency(self, field: str, word: str) -> int:
        """Return in how many entries a field has the word."""
        known = self._frequencies.get((field, word))
        if known is None:
            if len(self._frequencies) >= _MAX_CACHED_WORDS:
                self._frequencies = {}
            with read_errors_as_damage(self._folder):
                known = self._frequencies[field, word] = self._searcher.doc_freq(field, word)
        return known

    @cached_property
    def weeks(self) -> list[Week]:
        """Every week with its number of entries, newest first."""
        return sorted(map(Week._make, self._facts("week")), reverse=True)

    def words_with_prefix(self, field: str, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return the most frequent words with a prefix in a field, with the number of entries of each."""
        with read_errors_as_damage(self._folder):
            return self._searcher.terms_with_prefix(field, prefix, limit=limit)

    def inflections(self, word: str, language: str) -> tuple[Inflection, ...]:
        """Return the most frequent other words of written text that have the stem of a word."""
        known = self._inflections.get((word, language))
        if known is None:
            if len(self._inflections) >= _MAX_CACHED_WORDS:
                self._inflections = {}
            known = self._inflections[word, language] = tuple(self._find_inflections(word, language))
        return known

    def _find_inflections(self, word: str, language: str) -> Iterator[Inflection]:
        (stem,) = stems([word], language) or [word]
        letters = takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False))
        shared = "".join(letter for letter, _ in letters)
        prefix = shared.rstrip(_VOWELS)
        prefix = prefix if len(prefix) >= _MIN_STEM_CHARS else shared
        if len(prefix) < _MIN_STEM_CHARS:
            return
        for field in _WRITTEN_FIELDS:
            similar = self.words_with_prefix(field, prefix, _MAX_COMPARED_WORDS)
            pairs = zip(similar, stems([other for other, _ in similar], language), strict=True)
            same = [each for each, other_stem in pairs if other_stem == stem and each[0] != word]
            yield from (Inflection(field, *each) for each in same[:_MAX_INFLECTIONS])

    def has_prefix(self, prefix: str) -> bool:
        """Whether any word has this prefix."""
        return any(self.words_with_prefix(field, prefix, 1) for field in TEXT_FIELDS)

    def entry_count(self, word: str) -> int:
        """Return about how many entries have a word."""
        return sum(self.frequency(field, word) for field in TEXT_FIELDS)

    def phrase_entry_count(self, words: Sequence[str]) -> int:
        """Return about how many entries have consecutive words; an upper bound if all are frequent."""
        with read_errors_as_damage(self._folder):
            return sum(self._phrase_count(field, words) for field in TEXT_FIELDS)

    def phrase_entry_count_in(self, fields: Sequence[str], words: Sequence[str], *, prefix: bool) -> int:
        """Return about how many entries have consecutive words in some fields; the last one may continue."""
        if prefix:
            longer = (self.words_with_prefix(field, words[-1], _MAX_CONTINUATIONS) for field in fields)
            return sum(count for each in longer for _, count in each)
        with read_errors_as_damage(self._folder):
            return sum(self._phrase_count(field, words) for field in fields)

    def _phrase_count(self, field: str, words: Sequence[str]) -> int:
        from tantivy import Query  # noqa: PLC0415 (imported with the index)

        rarest = min(self.frequency(field, word) for word in words)
        if len(words) == 1 or not 0 < rarest <= _MAX_PHRASE_ENTRIES:  # checking each entry would take longer
            return rarest
        result = self._searcher.search(Query.phrase_query(self._schema, field, list(words)), 1)
        count: int = result.count  # type: ignore[attr-defined] # missing in its type stub
        return count

    def fact_entry_count(self, kind: str, value: str) -> int:
        """Return how many entries have a filter value."""
        with read_errors_as_damage(self._folder):
            return self._searcher.doc_freq(FACT_FIELD, fact(kind, value))

    def frequent_words(self, prefix: str, limit: int) -> list[str]:
        """Return words with a prefix that people and models wrote, the most frequent first."""
        words = [
            word for field in _WRITTEN_FIELDS for word, _ in self.words_with_prefix(field, prefix, limit)
        ]
        return list(dict.fromkeys(words))[:limit]

    def values(self, kind: str) -> list[str]:
        """Return every value of a kind of filter."""
        return [value for value, _ in self._facts(kind, _MAX_VALUES)]

    def _facts(self, kind: str, limit: int | None = None) -> list[tuple[str, int]]:
        """Return the values of a kind, with the number of entries of each."""
        prefix = fact(kind, "")
        with read_errors_as_damage(self._folder):
            terms = self._searcher.terms_with_prefix(FACT_FIELD, prefix, limit=limit)
        return [(term.removeprefix(prefix), count) for term, count in terms]
