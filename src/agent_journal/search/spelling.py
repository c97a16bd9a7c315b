"""Correct typos: replace words that no entry has by similar ones."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search import dictionary
from agent_journal.search.forms import forms_of
from agent_journal.search.languages import ENGLISH, detect_language
from agent_journal.search.query import Query, Term
from agent_journal.search.words import camel_parts, is_paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.search.vocabulary import Vocabulary

# Only words of letters are corrected, and only if they are long enough to identify the word.
_WORD = re.compile(r"[a-z]{4,24}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MIN_TWO_TYPOS_CHARS = 6
_MAX_CHECKED_WORDS = 8  # of a query
# American and British.
_SPELLINGS = (
    *(("or", "our"), ("our", "or"), ("iz", "is"), ("is", "iz"), ("yz", "ys"), ("ys", "yz")),
    *(("er$", "re"), ("re$", "er"), ("og$", "ogue"), ("ogue$", "og"), ("ense$", "ence"), ("ence$", "ense")),
)
_MAX_REPLACEMENTS = 3
_MAX_COMPARED_WORDS = 20_000  # with the same first letters
_MIN_PREFIX_CHARS = 6  # of a word that may be the prefix of a longer word or commit hash


class Correction(NamedTuple):
    """A typed word and its replacements."""

    typed: str
    meant: tuple[str, ...]


def correct_query(query: Query, vocabulary: Vocabulary) -> tuple[Query, list[Correction]]:
    """Return the query with replacements added to words that no entry and no dictionary has.

    Quoted phrases, names and prefixes are not corrected. An unknown word may be a prefix: of a hash, or if it
    is the whole query.
    """
    corrections: list[Correction] = []
    groups = []
    language = detect_language([_word_of(group[0]) for group in query.groups]) or ENGLISH
    for position, group in enumerate(query.groups):
        correction = _correction(group, language, vocabulary) if position < _MAX_CHECKED_WORDS else None
        if correction is None and position < _MAX_CHECKED_WORDS and _is_prefix(group, query, vocabulary):
            corrections.append(Correction(group[0].text, (f"{group[0].text}*",)))
            group = (group[0]._replace(prefix=True),)  # noqa: PLW2901
        elif correction is not None:
            corrections.append(correction)
            # The first term of a group is the one used for semantic search.
            group = (*(Term(word) for word in correction.meant), *group)  # noqa: PLW2901
        groups.append(group)
    return (query._replace(groups=tuple(groups)) if corrections else query), corrections


def _correction(group: tuple[Term, ...], language: str, vocabulary: Vocabulary) -> Correction | None:
    """Return the replacements of a word that is in no entry and in no dictionary."""
    term = group[0]
    word = _word_of(term)
    if not _is_plain(group) or not _WORD.fullmatch(word) or _entries_with(term, vocabulary):
        return None
    variants = _most_frequent(_variants(word), vocabulary)
    replacements = variants or _similar_words(word, vocabulary)
    if not replacements or (not variants and dictionary.is_word(word, language)):
        return None
    return Correction(term.text, tuple(replacements))


def _variants(word: str) -> Iterator[str]:
    """Yield the British spelling of an American word, and the other way round."""
    for ending, other in _SPELLINGS:
        yield re.sub(ending, other, word)


def _is_plain(group: tuple[Term, ...]) -> bool:
    return len(group) == 1 and not (group[0].quoted or group[0].prefix or group[0].field)


def _is_prefix(group: tuple[Term, ...], query: Query, vocabulary: Vocabulary) -> bool:
    """Whether only longer words begin with the word. A prefix of a number is another number."""
    forms = forms_of(group[0]) if _is_plain(group) else []
    words = forms[0].words if forms else []
    if len(words) != 1 or len(words[0]) < _MIN_PREFIX_CHARS or any(map(is_paired, words[0])):
        return False
    (word,) = words
    is_hash = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    is_whole_query = len(query.groups) == 1 and not word.isdigit()
    if not (is_hash or is_whole_query) or any(vocabulary.phrase_entry_count(form.words) for form in forms):
        return False
    return vocabulary.has_prefix(word)


def _entries_with(term: Term, vocabulary: Vocabulary) -> int:
    """Return about how many entries have a word; a camelCase name also where its parts are consecutive."""
    count = vocabulary.entry_count(_word_of(term))
    parts = [part.lower() for part in camel_parts(term.text)]
    return count + vocabulary.phrase_entry_count(parts) if not count and len(parts) > 1 else count


def _word_of(term: Term) -> str:
    """Return a term in lower case without the punctuation around it."""
    return term.text.lower().strip(".,;:!?()'`")


def _similar_words(word: str, vocabulary: Vocabulary) -> list[str]:
    """Return words similar to one that no entry has."""
    similar = _most_frequent(_with_one_typo(word), vocabulary)
    if not similar and len(word) >= _MIN_TWO_TYPOS_CHARS:
        similar = _most_frequent(_with_two_typos(word, vocabulary), vocabulary)
    return similar


def _most_frequent(words: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Return the words that some entries have, the most frequent first."""
    counted = ((vocabulary.entry_count(word), word) for word in set(words))
    frequent = sorted(((count, word) for count, word in counted if count), reverse=True)
    return [word for _, word in frequent[:_MAX_REPLACEMENTS]]


def _with_one_typo(word: str) -> Iterator[str]:
    """Yield every word that differs by an added, missing or wrong letter, or two swapped ones."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (left + right[1:] for left, right in cuts if right)
    yield from (left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1)
    for letter in _LETTERS:
        yield from chain.from_iterable(
            (
                left + letter + right,
                left + letter + right[1:] if right[:1] != letter else left + letter + right,
            )
            for left, right in cuts
        )


def _with_two_typos(word: str, vocabulary: Vocabulary) -> list[str]:
    """Return words with the same first letters that differ by two typos."""
    from rapidfuzz import process  # noqa: PLC0415 (rarely needed)
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    candidates = vocabulary.frequent_words(word[:2], _MAX_COMPARED_WORDS)
    close = process.extract(
        word, candidates, scorer=OSA.distance, score_cutoff=2, limit=_MAX_REPLACEMENTS * 4
    )
    return [other for other, _, _ in close if other != word and _WORD.fullmatch(other)]
