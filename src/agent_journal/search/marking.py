"""Where in a text the words of a query stand, without an index: for snippets, and where there is no index.

Words are folded and cut as the index does it: case and accents count for nothing, names in camel case have
humps, Chinese, Thai and the like need no gaps.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.query import index_fields
from agent_journal.search.words import (
    FEW,
    composed,
    humps_of,
    in_index,
    is_mark,
    is_paired,
    is_unseen,
    odd_letters,
    other_version,
    without_colours,
    without_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.search.query import Query, Term

_MOST = 400  # places that are looked at
_MOST_WORDS = 64  # of one term
_LONGEST = 1_000_000  # characters of a text that are looked at together
_MOST_STRETCHES = 32  # of as many that are looked at
_WIDTH = 240  # characters of a snippet
_MOST_PIECES = 3  # that it is made of
_MOST_PLACES = 2_000  # from which a piece may begin
_WORD = re.compile(r"[^\W_]+")


class _Piece(NamedTuple):
    """From where to where a piece of a text goes."""

    start: int
    end: int


_ALL = _Piece(0, sys.maxsize)


class Folded(NamedTuple):
    """A text without case and accents, and where its characters were; None if they are where they were."""

    text: str
    places: list[int] | None

    def place(self, at: int) -> int:
        """Where something was."""
        return at if self.places is None else self.places[at]

    def piece(self, start: int, end: int) -> _Piece:
        """Where something is that was from one place to another."""
        if self.places is None:
            return _Piece(max(0, start), end)
        return _Piece(bisect_left(self.places, start), bisect_left(self.places, end))

    def is_inside(self, at: int) -> bool:
        """Whether it is between two letters that were one."""
        return self.places is not None and at > 0 and self.places[at - 1] == self.places[at]


class Place(NamedTuple):
    """Where something that was sought stands."""

    start: int
    end: int
    group: int

    def moved(self, by: int) -> Place:
        """The same in a text with so many characters more before it."""
        return self._replace(start=self.start + by, end=self.end + by)


class Snippet(NamedTuple):
    """What a text says around what was sought, and from where to where that stands in it."""

    text: str
    marks: list[tuple[int, int]]
    groups: int  # how many of the things that were sought are in it


class _Folds(dict[str, str]):
    """Each letter as the index has it, made when it is first met."""

    def __missing__(self, letter: str) -> str:
        if letter.isalnum():
            known = in_index(letter).lower()
        else:
            known = "" if unicodedata.combining(letter) or is_unseen(letter) else letter
        self[letter] = known
        return known


_fold = _Folds().__getitem__


def folded(text: str) -> Folded:
    """A text as its words are compared."""
    if text.isascii():
        return Folded(text.lower(), None)
    odd = odd_letters(text)
    if len(odd) <= FEW and all(len(_fold(letter)) == 1 for letter in odd):
        for letter in odd:
            text = text.replace(letter, _fold(letter))
        return Folded(text.lower(), None)
    letters = list(map(_fold, text))
    whole = "".join(letters)
    if len(whole) == len(text) and "" not in letters:
        return Folded(whole, None)
    places = [at for at, letter in enumerate(letters) for _ in letter]
    return Folded(whole, [*places, len(text)])


def _read(text: str) -> tuple[str, Folded]:
    """As much of a text as is looked at, and the same as its words are compared."""
    plain = composed(without_colours(text[:_LONGEST]))
    return plain, folded(plain)


class Marker:
    """Finds what a query wants in texts."""

    def __init__(self, query: Query) -> None:
        self._groups = [list(_patterns(group)) for group in query.wanted]
        self._loose = [list(_loose_patterns(group)) for group in query.wanted]
        self.count = len(self._groups)

    def places(self, text: str, field: str = "") -> list[Place]:
        """Where everything that is sought stands, in the order of a text, or of a field's text.

        Of what is frequent that is where it stands first, and around the rest.
        """
        written = text[:_LONGEST]
        text, known = _read(written)
        rare: list[Place] = []
        found: list[Place] = []
        frequent: list[tuple[int, list[_Pattern]]] = []
        for number in range(self.count):
            patterns, these = self._first(number, text, known, field)
            if len(these) < _MOST:
                rare += these
            else:
                frequent.append((number, patterns))
                found += these
        for number, patterns in frequent:
            for place in rare[:_MOST]:
                piece = known.piece(place.start - _WIDTH, place.end + _WIDTH)
                found += _some(text, known, number, patterns, piece)
        return _as_written(written, _apart(sorted({*rare, *found})))

    def _far_places(self, text: str, field: str) -> list[Place]:
        """The same in a text of any length: further on only what the stretches before do not have is sought.

        The line that tells why something failed stands at the end of a log of many megabytes.
        """
        places: list[Place] = []
        groups: set[int] = set()
        stretches = range(0, max(len(text), 1), _LONGEST - _WIDTH)  # a word may stand where one ends
        for start in stretches[:_MOST_STRETCHES]:
            found = self.places(text[start : start + _LONGEST], field)
            if not groups.issuperset(each.group for each in found):
                places += (each.moved(start) for each in found)
                groups.update(each.group for each in found)
            if len(groups) == self.count:
                break
        return _apart(places)

    def _first(self, number: int, text: str, known: Folded, field: str) -> tuple[list[_Pattern], list[Place]]:
        """Where a group stands first, in a row or else word by word, and what finds it so."""
        in_a_row, loose = (
            [each for each in patterns if not field or not each.fields or field in each.fields]
            for patterns in (self._groups[number], self._loose[number])
        )
        if found := _some(text, known, number, in_a_row):
            return in_a_row, found
        return loose, _some(text, known, number, loose)

    def snippet(self, texts: Iterable[tuple[str, str]]) -> tuple[str, Snippet]:
        """The piece of the first text that has most of what is sought in one place, and the text's name."""
        best: tuple[str, Snippet] | None = None
        for name, text in texts:
            places = self._far_places(text, name)
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

    def places(self, text: str, known: Folded, group: int, piece: _Piece = _ALL) -> Iterator[Place]:
        for found in self.expression.finditer(known.text, *piece):
            is_part = known.is_inside(found.end())
            if known.is_inside(found.start()) or (is_part and not self.prefix):
                continue
            start, end = known.place(found.start()), known.place(found.end()) + is_part
            if _begins_word(text, start) and (self.prefix or _ends_word(text, end)):
                yield Place(start, _with_marks(text, end), group)


def _some(
    text: str, known: Folded, group: int, patterns: Sequence[_Pattern], piece: _Piece = _ALL
) -> list[Place]:
    found: list[Place] = []
    for pattern in patterns:
        for place in pattern.places(text, known, group, piece):
            found.append(place)
            if len(found) >= _MOST:
                return found
    return found


def _patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    for term in terms:
        for text in _written(term):
            words = _WORD.findall(folded(text).text)[:_MOST_WORDS]
            if words:
                yield _Pattern(_row(words), term.prefix, _fields_of(term))


def _loose_patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    """The words of terms one by one, for where they do not stand in a row."""
    for term in terms:
        words = [word for text in _written(term) for word in _WORD.findall(folded(text).text)]
        pieces = dict.fromkeys(piece for word in words[:_MOST_WORDS] for piece in _pieces(word))
        yield from (_Pattern(_row([piece]), prefix=False, fields=_fields_of(term)) for piece in pieces)


def _fields_of(term: Term) -> frozenset[str]:
    """Where alone a term counts."""
    return frozenset(index_fields([term.field]))


def _pieces(word: str) -> list[str]:
    """A word, or pairs of its characters where the index has pairs."""
    if len(word) > 2 and any(map(is_paired, word)):  # noqa: PLR2004
        return [word[at : at + 2] for at in range(len(word) - 1)]
    return [word]


def _written(term: Term) -> list[str]:
    """The forms in which a term may stand in a text."""
    forms = [composed(term.text)]
    if not term.quoted:
        forms += (without_line(forms[0]), other_version(forms[0]))
        if term.text.isascii():
            forms.append(" ".join(humps_of(term.text)))
    return list(dict.fromkeys(forms))


def _row(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"[\W_]*".join(map(re.escape, words)))


def _begins_word(text: str, at: int) -> bool:
    before = at - 1
    while before >= 0 and is_mark(text[before]):
        before -= 1
    if before < 0 or not text[before].isalnum() or is_paired(text[before]) or is_paired(text[at]):
        return True
    if text[at].isupper():  # aB, 0B, or the last of ABCd
        return not text[before].isupper() or text[at + 1 : at + 2].islower()
    return False


def _ends_word(text: str, at: int) -> bool:
    end = _with_marks(text, at)
    return end >= len(text) or not text[end].isalnum() or _begins_word(text, end)


def _with_marks(text: str, end: int) -> int:
    """An end behind what belongs to the letter before it."""
    while end < len(text) and is_mark(text[end]):
        end += 1
    return end


def _apart(places: list[Place]) -> list[Place]:
    """The places without those inside others."""
    kept: list[Place] = []
    for place in places:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
        elif place.end > kept[-1].end and place.start == kept[-1].start:
            kept[-1] = place
    return kept


def _as_written(text: str, places: list[Place]) -> list[Place]:
    """Places in a text as it is composed, in the text as it was written."""
    if not places or composed(text) == text:
        return places
    origins: list[int] = []
    starts = [at for at, character in enumerate(text) if at and not _is_joined(character)]
    for start, end in pairwise([0, *starts, len(text)]):
        letter = composed(text[start:end])
        origins += range(start, end) if letter == text[start:end] else [start] * len(letter)
    origins.append(len(text))
    return [Place(origins[start], origins[end], group) for start, end, group in places]


def _is_joined(character: str) -> bool:
    """Whether a character may be one with the letter before it: accents, and the later parts of a hangul."""
    return is_mark(character) or "\u1160" <= character <= "\u11ff"


def _around(text: str, places: list[Place]) -> Snippet:
    """The piece with most of what is sought; if some stands elsewhere, shorter pieces around it, too."""
    every = {place.group for place in places}
    for count in range(1, _MOST_PIECES + 1):
        pieces, missing = _telling(text, places, every, count)
        if not missing:
            break
    return _cut(text, _apart_from_each_other(pieces), places, len(every) - len(missing))


def _telling(text: str, places: list[Place], every: set[int], count: int) -> tuple[list[_Piece], set[int]]:
    """So many pieces at most, the fullest first, each with something that is new; and what they lack."""
    pieces: list[_Piece] = []
    missing = set(every)
    while missing and len(pieces) < count:
        piece, groups = _fullest(text, places, missing, _WIDTH // count)
        pieces.append(piece)
        missing -= groups
    return pieces, missing


def _fullest(text: str, places: list[Place], wanted: set[int], width: int) -> tuple[_Piece, set[int]]:
    """The piece with most of what is wanted, and what that is."""
    best, best_key, best_groups = _Piece(0, 0), (0, 0), wanted
    ends = [place.end for place in places]
    for first in _starts(places, wanted):
        place = places[first]
        most = bisect_right(ends, place.start + width) - first
        if (min(max(most, 1), len(wanted)), most) <= best_key:  # no piece that begins there has more
            continue
        piece = _window(text, place.start, width)
        within = places[first : bisect_right(ends, piece.end)]
        groups = {place.group, *(each.group for each in within)} & wanted
        if (len(groups), len(within)) > best_key:
            best, best_key, best_groups = piece, (len(groups), len(within)), groups
    return best, best_groups


def _starts(places: list[Place], wanted: set[int]) -> list[int]:
    """From which places a piece may begin; where there are many, from those of what is rare."""
    starts = [number for number, place in enumerate(places) if place.group in wanted]
    if len(starts) > _MOST_PLACES:
        counts = Counter(place.group for place in places)
        starts.sort(key=lambda number: counts[places[number].group])
    return starts[:_MOST_PLACES]


def _window(text: str, at: int, width: int) -> _Piece:
    """From where to where a piece goes that has something a little behind its beginning."""
    start = max(0, at - width // 4)
    if start:
        gap = text.find(" ", start, at)
        start = gap + 1 if gap >= 0 else start
    end = min(len(text), start + width)
    if end < len(text):
        gap = text.rfind(" ", at + 1, end)
        end = gap if gap > at + width // 2 else end
    return _Piece(start, end)


def _apart_from_each_other(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces in the order of the text, those that touch as one."""
    apart: list[_Piece] = []
    for piece in sorted(pieces):
        if apart and piece.start <= apart[-1].end:
            apart[-1] = _Piece(apart[-1].start, max(piece.end, apart[-1].end))
        else:
            apart.append(piece)
    return apart


def _cut(text: str, pieces: list[_Piece], places: list[Place], groups: int) -> Snippet:
    """Pieces of a text in a row, with what is in them marked, and dots where something is left out."""
    shown = ""
    marks: list[tuple[int, int]] = []
    for start, end in pieces:
        bare = text[start:end].strip()
        shown += " … " if shown else "…" if start else ""
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        last = first + len(bare)
        by = len(shown) - first
        marks += [
            (each.start + by, min(each.end, last) + by) for each in places if first <= each.start < last
        ]
        shown += bare
    return Snippet(f"{shown}…" if pieces[-1].end < len(text) else shown, marks, groups)


def _beginning(text: str) -> Snippet:
    return _cut(text, [_window(text, 0, _WIDTH)], [], 0)
