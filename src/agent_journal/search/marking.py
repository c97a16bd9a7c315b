"""Where in a text the words of a query stand, without an index: for snippets, and where there is no index.

Words are folded and cut as the index does it: case and accents count for nothing, names in camel case have
humps, Chinese, Japanese and Korean need no gaps.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.query import index_fields
from agent_journal.search.words import humps_of, is_paired, without_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.search.query import Query, Term

_MOST = 400  # places that are looked at
_MOST_WORDS = 64  # of one term
_LONGEST = 1_000_000  # characters of a text
_BEFORE, _WIDTH = 60, 240  # characters of a snippet: before its first word, and altogether
_WORD = re.compile(r"[^\W_]+")
# Letters that are no letter with an accent.
_LIGATURES = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "ð": "d"}
)


class Folded(NamedTuple):
    """A text without case and accents, and where its characters were; None if they are where they were."""

    text: str
    places: list[int] | None

    def place(self, at: int) -> int:
        """Where something was."""
        return at if self.places is None else self.places[at]


class Place(NamedTuple):
    """Where something that was sought stands."""

    start: int
    end: int
    group: int


class Snippet(NamedTuple):
    """A piece of a text, and from where to where in it what was sought stands."""

    text: str
    marks: list[tuple[int, int]]
    groups: int  # how many of the things that were sought are in it


class _Folds(dict[str, str]):
    """Each letter as the index has it, made when it is first met."""

    def __missing__(self, letter: str) -> str:
        lower = letter.lower().translate(_LIGATURES)
        bare = "".join(
            each for each in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(each)
        )
        self[letter] = known = bare if bare.isascii() else lower
        return known


_fold = _Folds().__getitem__


def folded(text: str) -> Folded:
    """A text as its words are compared."""
    if text.isascii():
        return Folded(text.lower(), None)
    letters = list(map(_fold, text))
    whole = "".join(letters)
    if len(whole) == len(text) and "" not in letters:
        return Folded(whole, None)
    places = [at for at, letter in enumerate(letters) for _ in letter]
    return Folded(whole, [*places, len(text)])


class Marker:
    """Finds what a query wants in texts."""

    def __init__(self, query: Query) -> None:
        self._groups = [list(_patterns(group)) for group in query.wanted]
        self._loose = [list(_loose_patterns(group)) for group in query.wanted]
        self._unwanted = list(_patterns(query.unwanted))
        self.count = len(self._groups)

    def groups_in(self, text: str, field: str, *, anywhere: bool) -> set[int]:
        """The groups of which a field's text has a term; those that may stand anywhere only if asked for."""
        known = folded(text[:_LONGEST])
        return {
            number
            for number, patterns in enumerate(self._groups)
            for pattern in patterns
            if (field in pattern.fields or (anywhere and not pattern.fields)) and pattern.is_in(text, known)
        }

    def is_unwanted(self, text: str, field: str) -> bool:
        """Whether a field's text has something that must not be there."""
        if not self._unwanted:
            return False
        known = folded(text[:_LONGEST])
        return any(
            pattern.is_in(text, known) for pattern in self._unwanted if field in (pattern.fields or {field})
        )

    def places(self, text: str) -> list[Place]:
        """Where everything that is sought stands, in the order of the text."""
        known = folded(text[:_LONGEST])
        found: list[Place] = []
        for number, patterns in enumerate(self._groups):
            these = _some(text, known, number, patterns)
            found += these or _some(text, known, number, self._loose[number])
        return _apart(sorted(found))

    def snippet(self, texts: Iterable[tuple[str, str]]) -> tuple[str, Snippet]:
        """The piece of the first text that has most of what is sought in one place, and the text's name."""
        best: tuple[str, Snippet] | None = None
        for name, text in texts:
            places = self.places(text)
            found = _around(text, places) if places else _beginning(text)
            if best is None or found.groups > best[1].groups:
                best = (name, found)
            if found.groups == self.count:
                break
        return best or ("text", _beginning(""))


class _Pattern(NamedTuple):
    """A term as it may stand in a folded text."""

    expression: re.Pattern[str]
    prefix: bool
    fields: frozenset[str] = frozenset()
    """Where alone it counts."""

    def is_in(self, text: str, known: Folded) -> bool:
        return next(self.places(text, known, 0), None) is not None

    def places(self, text: str, known: Folded, group: int) -> Iterator[Place]:
        for found in self.expression.finditer(known.text):
            start, end = known.place(found.start()), known.place(found.end())
            if _begins_word(text, start) and (self.prefix or _ends_word(text, end)):
                yield Place(start, end, group)


def _some(text: str, known: Folded, group: int, patterns: Sequence[_Pattern]) -> list[Place]:
    found: list[Place] = []
    for pattern in patterns:
        for place in pattern.places(text, known, group):
            found.append(place)
            if len(found) >= _MOST:
                return found
    return found


def _patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    for term in terms:
        for text in _written(term):
            words = _WORD.findall(folded(text).text)[:_MOST_WORDS]
            if words:
                yield _Pattern(_row(words), term.prefix, frozenset(index_fields([term.field])))


def _loose_patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    """The words of terms one by one, for where they do not stand in a row."""
    for term in terms:
        words = [word for text in _written(term) for word in _WORD.findall(folded(text).text)]
        pieces = dict.fromkeys(piece for word in words[:_MOST_WORDS] for piece in _pieces(word))
        yield from (_Pattern(_row([piece]), prefix=False) for piece in pieces)


def _pieces(word: str) -> list[str]:
    """A word, or pairs of its characters where the index has pairs."""
    if len(word) > 2 and any(map(is_paired, word)):  # noqa: PLR2004
        return [word[at : at + 2] for at in range(len(word) - 1)]
    return [word]


def _written(term: Term) -> list[str]:
    """The forms in which a term may stand in a text."""
    forms = [term.text]
    if not term.quoted:
        forms.append(without_line(term.text))
        if term.text.isascii():
            forms.append(" ".join(humps_of(term.text)))
    return list(dict.fromkeys(forms))


def _row(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"[\W_]*".join(map(re.escape, words)))


def _begins_word(text: str, at: int) -> bool:
    if at == 0 or not text[at - 1].isalnum() or is_paired(text[at - 1]) or is_paired(text[at]):
        return True
    if text[at].isupper():  # aB, 0B, or the last of ABCd
        return not text[at - 1].isupper() or text[at + 1 : at + 2].islower()
    return False


def _ends_word(text: str, at: int) -> bool:
    if at >= len(text) or unicodedata.combining(text[at]):
        return True
    return not text[at].isalnum() or _begins_word(text, at)


def _apart(places: list[Place]) -> list[Place]:
    """The places without those inside others."""
    kept: list[Place] = []
    for place in places:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
        elif place.end > kept[-1].end and place.start == kept[-1].start:
            kept[-1] = place
    return kept


def _around(text: str, places: list[Place]) -> Snippet:
    """The window with most of what is sought."""
    best, best_key = 0, (0, 0)
    last = 0
    for first, place in enumerate(places):
        last = max(last, first)
        while last + 1 < len(places) and places[last + 1].end <= place.start + _WIDTH - _BEFORE:
            last += 1
        within = places[first : last + 1]
        key = (len({each.group for each in within}), len(within))
        if key > best_key:
            best, best_key = first, key
    start, end = _window(text, places[best].start)
    inside = [
        (max(place.start, start), min(place.end, end)) for place in places if start <= place.start < end
    ]
    return _cut(text, start, end, inside, best_key[0])


def _window(text: str, at: int) -> tuple[int, int]:
    """From where to where a snippet goes that has something a little behind its beginning."""
    start = max(0, at - _BEFORE)
    if start:
        gap = text.find(" ", start, at)
        start = gap + 1 if gap >= 0 else start
    end = min(len(text), start + _WIDTH)
    if end < len(text):
        gap = text.rfind(" ", at + 1, end)
        end = gap if gap > at + _WIDTH // 2 else end
    return start, end


def _cut(text: str, start: int, end: int, marks: Iterable[tuple[int, int]], groups: int) -> Snippet:
    piece = text[start:end]
    head = len(piece) - len(piece.lstrip())
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    bare = piece.strip()
    moved = [(each[0] - start - head + len(before), each[1] - start - head + len(before)) for each in marks]
    return Snippet(f"{before}{bare}{behind}", moved, groups)


def _beginning(text: str) -> Snippet:
    return _cut(text, *_window(text, 0), [], 0)
