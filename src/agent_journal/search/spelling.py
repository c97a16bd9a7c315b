"""Words that nobody wrote, taken for those that were meant."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.forms import forms_of
from agent_journal.search.query import Query, Term
from agent_journal.search.words import humps_of, is_paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.search.vocabulary import Vocabulary

# A slip of the pen is no name: letters alone, and enough of them to tell what they may have been.
_WORD = re.compile(r"[a-z]{4,24}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FOR_TWO = 6  # letters at least of a word with two mistakes
_RARE = 2  # entries; a word in as few may be a mistake that somebody made there, too
_MORE = 20  # times as frequent is what was meant then
_MOST_WORDS = 8  # of a query that are looked at
_MOST_MEANT = 3
_MOST_LIKE = 20_000  # words that begin alike and are compared
_BEGINNING = 6  # letters at least of what may be the beginning of a word, or of the hash of a commit


class Correction(NamedTuple):
    """A word as it was typed, and what it was taken for."""

    typed: str
    meant: tuple[str, ...]


def corrected(query: Query, vocabulary: Vocabulary) -> tuple[Query, list[Correction]]:
    """The query with words that were meant beside those that hardly anybody wrote, and which these are.

    What stands in quotes, names and parts of words are taken as they are. A word that nobody wrote may be the
    beginning of one: of a hash, or where nothing else is sought.
    """
    corrections: list[Correction] = []
    wanted = []
    for place, group in enumerate(query.wanted):
        found = _correction(group, vocabulary) if place < _MOST_WORDS else None
        if found is None and place < _MOST_WORDS and _is_beginning(group, query, vocabulary):
            corrections.append(Correction(group[0].text, (f"{group[0].text}*",)))
            group = (group[0]._replace(prefix=True),)  # noqa: PLW2901
        elif found is not None:
            corrections.append(found)
            # What stands first says what is meant.
            meant = tuple(Term(word) for word in found.meant)
            is_there = _entries_with(group[0], vocabulary)
            group = (*group, *meant) if is_there else (*meant, *group)  # noqa: PLW2901
        wanted.append(group)
    return (query._replace(wanted=tuple(wanted)) if corrections else query), corrections


def _correction(group: tuple[Term, ...], vocabulary: Vocabulary) -> Correction | None:
    term = group[0]
    word = _word_of(term)
    if not _is_plain(group) or not _WORD.fullmatch(word):
        return None
    count = _entries_with(term, vocabulary)
    if count > _RARE:
        return None
    meant = _meant_beside(word, count, vocabulary) if count else _meant(word, vocabulary)
    return Correction(term.text, tuple(meant)) if meant else None


def _is_plain(group: tuple[Term, ...]) -> bool:
    return len(group) == 1 and not (group[0].quoted or group[0].prefix or group[0].field)


def _is_beginning(group: tuple[Term, ...], query: Query, vocabulary: Vocabulary) -> bool:
    """Whether nobody wrote a word, but longer ones that begin so. What a number begins with is another."""
    forms = forms_of(group[0]) if _is_plain(group) else []
    words = forms[0].words if forms else []
    if len(words) != 1 or len(words[0]) < _BEGINNING or any(map(is_paired, words[0])):
        return False
    (word,) = words
    is_hash = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    is_all = len(query.wanted) == 1 and not word.isdigit()
    if not (is_hash or is_all) or any(vocabulary.entries_with_row(form.words) for form in forms):
        return False
    return vocabulary.begins(word)


def _entries_with(term: Term, vocabulary: Vocabulary) -> int:
    """In how many entries a word is, about; a name in camel case also where its humps stand in a row."""
    count = vocabulary.entries_with(_word_of(term))
    humps = [hump.lower() for hump in humps_of(term.text)]
    return count + vocabulary.entries_with_row(humps) if count <= _RARE and len(humps) > 1 else count


def _word_of(term: Term) -> str:
    """What a person typed as the index has it, without what may stand around it in a sentence."""
    return term.text.lower().strip(".,;:!?()'`")


def _meant(word: str, vocabulary: Vocabulary) -> list[str]:
    """Words like one that nobody wrote."""
    found = _most_frequent(_with_one_mistake(word), 1, vocabulary)
    if not found and len(word) >= _FOR_TWO:
        found = _most_frequent(_with_two_mistakes(word, vocabulary), 1, vocabulary)
    return found


def _meant_beside(word: str, count: int, vocabulary: Vocabulary) -> list[str]:
    """Words that are more likely than one that somebody wrote."""
    least = count * _MORE
    if vocabulary.entries_with_alike(word) < least:  # to count them one by one takes longer
        return []
    return _most_frequent(_with_one_mistake(word), least, vocabulary)


def _most_frequent(words: Iterable[str], least: int, vocabulary: Vocabulary) -> list[str]:
    """Words that are in so many entries at least, the most frequent first."""
    counted = ((vocabulary.entries_with(word), word) for word in set(words))
    found = sorted(((count, word) for count, word in counted if count >= least), reverse=True)
    return [word for _, word in found[:_MOST_MEANT]]


def _with_one_mistake(word: str) -> Iterator[str]:
    """Every word from which a letter was left out, doubled, mistaken, or that has two in another order."""
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


def _with_two_mistakes(word: str, vocabulary: Vocabulary) -> list[str]:
    """Words that begin alike and differ in two letters."""
    from rapidfuzz import process  # noqa: PLC0415 (seldom)
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    known = vocabulary.like(word[:2], _MOST_LIKE)
    close = process.extract(word, known, scorer=OSA.distance, score_cutoff=2, limit=_MOST_MEANT * 4)
    return [other for other, _, _ in close if other != word and _WORD.fullmatch(other)]
