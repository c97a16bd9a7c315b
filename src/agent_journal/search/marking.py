"""Find the words of a query in a text without an index, to make snippets and highlight matches.

Words are folded and split as the index does it: case and accents are ignored, camelCase names match by their
parts, Chinese, Thai and similar scripts need no spaces.
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
    MAX_REPLACED_CHARS,
    blank_terminal_colors,
    camel_parts,
    compose,
    fold_character,
    is_invisible,
    is_mark,
    is_paired,
    non_ascii_chars,
    strip_line_number,
    toggle_version_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.search.query import Query, Term

_MAX_MATCHES = 400  # per group
_MAX_TERM_WORDS = 64
_STRETCH_CHARS = 1_000_000  # of a text that are searched together
_MAX_STRETCHES = 32  # of a text that are searched
_SNIPPET_CHARS = 240
_MAX_SNIPPET_PIECES = 3
_MAX_PIECE_STARTS = 2_000
_WORD = re.compile(r"[^\W_]+")


class _Span(NamedTuple):
    """A range of a text."""

    start: int
    end: int


_WHOLE_TEXT = _Span(0, sys.maxsize)


class FoldedText(NamedTuple):
    """A text without case and accents, and the original positions of its characters; None if unchanged."""

    text: str
    origins: list[int] | None

    def origin(self, at: int) -> int:
        """Return the original position."""
        return at if self.origins is None else self.origins[at]

    def span(self, start: int, end: int) -> _Span:
        """Return the range of an original range."""
        if self.origins is None:
            return _Span(max(0, start), end)
        return _Span(bisect_left(self.origins, start), bisect_left(self.origins, end))

    def is_inside(self, at: int) -> bool:
        """Whether the position splits what was one character."""
        return self.origins is not None and at > 0 and self.origins[at - 1] == self.origins[at]


class Match(NamedTuple):
    """A match of a group of the query."""

    start: int
    end: int
    group: int

    def shifted(self, by: int) -> Match:
        """Shift the match by an offset."""
        return self._replace(start=self.start + by, end=self.end + by)


class Snippet(NamedTuple):
    """An excerpt around matches, and the ranges of the matches in it."""

    text: str
    marks: list[tuple[int, int]]
    groups: int  # how many groups of the query match in it


class _FoldedLetters(dict[str, str]):
    """Maps letters to their folded form, computed on first use."""

    def __missing__(self, letter: str) -> str:
        if letter.isalnum():
            folded = fold_character(letter).lower()
        else:
            folded = "" if unicodedata.combining(letter) or is_invisible(letter) else letter
        self[letter] = folded
        return folded


_fold = _FoldedLetters().__getitem__


def fold(text: str) -> FoldedText:
    """Fold a text for comparison."""
    if text.isascii():
        return FoldedText(text.lower(), None)
    special = non_ascii_chars(text)
    if len(special) <= MAX_REPLACED_CHARS and all(len(_fold(letter)) == 1 for letter in special):
        for letter in special:
            text = text.replace(letter, _fold(letter))
        return FoldedText(text.lower(), None)
    letters = list(map(_fold, text))
    joined = "".join(letters)
    if len(joined) == len(text) and "" not in letters:
        return FoldedText(joined, None)
    origins = [at for at, letter in enumerate(letters) for _ in letter]
    return FoldedText(joined, [*origins, len(text)])


def _prepare(text: str) -> tuple[str, FoldedText]:
    """Return the beginning of a text, and the same folded for comparison."""
    plain = compose(blank_terminal_colors(text[:_STRETCH_CHARS]))
    return plain, fold(plain)


class Highlighter:
    """Locates the groups of a query in texts."""

    def __init__(self, query: Query) -> None:
        self._groups = [list(_patterns(group)) for group in query.groups]
        self._loose = [list(_loose_patterns(group)) for group in query.groups]
        self.count = len(self._groups)

    def find_matches(self, text: str, field: str = "") -> list[Match]:
        """Return all matches in the order of the text, which may be that of a field.

        Of frequent groups, only the first matches and those near other groups are returned.
        """
        original = text[:_STRETCH_CHARS]
        text, folded = _prepare(original)
        rare: list[Match] = []
        matches: list[Match] = []
        frequent: list[tuple[int, list[_Pattern]]] = []
        for group in range(self.count):
            patterns, first = self._first_matches(group, text, folded, field)
            if len(first) < _MAX_MATCHES:
                rare += first
            else:
                frequent.append((group, patterns))
                matches += first
        for group, patterns in frequent:
            for match in rare[:_MAX_MATCHES]:
                span = folded.span(match.start - _SNIPPET_CHARS, match.end + _SNIPPET_CHARS)
                matches += _limited_matches(text, folded, group, patterns, span)
        return _to_original(original, _without_overlaps(sorted({*rare, *matches})))

    def _find_in_long_text(self, text: str, field: str) -> list[Match]:
        """Find matches in a text of any length: later stretches count only if they add groups.

        The line that explains a failure is at the end of a log of many megabytes.
        """
        matches: list[Match] = []
        groups: set[int] = set()
        stretches = range(
            0, max(len(text), 1), _STRETCH_CHARS - _SNIPPET_CHARS
        )  # stretches overlap, as a word may cross their border
        for start in stretches[:_MAX_STRETCHES]:
            new = self.find_matches(text[start : start + _STRETCH_CHARS], field)
            if not groups.issuperset(match.group for match in new):
                matches += (match.shifted(start) for match in new)
                groups.update(match.group for match in new)
            if len(groups) == self.count:
                break
        return _without_overlaps(matches)

    def _first_matches(
        self, group: int, text: str, folded: FoldedText, field: str
    ) -> tuple[list[_Pattern], list[Match]]:
        """Return a group's first matches, as phrases or else word by word, and the patterns that match."""
        phrases, loose = (
            [pattern for pattern in patterns if not field or not pattern.fields or field in pattern.fields]
            for patterns in (self._groups[group], self._loose[group])
        )
        if matches := _limited_matches(text, folded, group, phrases):
            return phrases, matches
        return loose, _limited_matches(text, folded, group, loose)

    def snippet(self, texts: Iterable[tuple[str, str]]) -> tuple[str, Snippet]:
        """Return the name of the first text that matches most groups, and its snippet."""
        best: tuple[str, Snippet] | None = None
        for name, text in texts:
            matches = self._find_in_long_text(text, name)
            snippet = _snippet_around(text, matches) if matches else _first_snippet(text)
            if best is None or snippet.groups > best[1].groups:
                best = (name, snippet)
            if snippet.groups == self.count:
                break
        return best or ("text", _first_snippet(""))


class _Pattern(NamedTuple):
    """A spelling of a term in folded text."""

    expression: re.Pattern[str]
    prefix: bool
    fields: frozenset[str] = frozenset()
    """The only fields to search; empty for all."""

    def find_in(
        self, text: str, folded: FoldedText, group: int, span: _Span = _WHOLE_TEXT
    ) -> Iterator[Match]:
        for match in self.expression.finditer(folded.text, *span):
            is_part = folded.is_inside(match.end())
            if folded.is_inside(match.start()) or (is_part and not self.prefix):
                continue
            start, end = folded.origin(match.start()), folded.origin(match.end()) + is_part
            if _begins_word(text, start) and (self.prefix or _ends_word(text, end)):
                yield Match(start, _with_marks(text, end), group)


def _limited_matches(
    text: str, folded: FoldedText, group: int, patterns: Sequence[_Pattern], span: _Span = _WHOLE_TEXT
) -> list[Match]:
    matches: list[Match] = []
    for pattern in patterns:
        for match in pattern.find_in(text, folded, group, span):
            matches.append(match)
            if len(matches) >= _MAX_MATCHES:
                return matches
    return matches


def _patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    for term in terms:
        for text in _spellings(term):
            words = _WORD.findall(fold(text).text)[:_MAX_TERM_WORDS]
            if words:
                yield _Pattern(_consecutive(words), term.prefix, _fields_of(term))


def _loose_patterns(terms: Iterable[Term]) -> Iterator[_Pattern]:
    """Yield patterns for the single words of terms, if no phrase matches."""
    for term in terms:
        words = [word for text in _spellings(term) for word in _WORD.findall(fold(text).text)]
        pieces = dict.fromkeys(piece for word in words[:_MAX_TERM_WORDS] for piece in _word_parts(word))
        yield from (
            _Pattern(_consecutive([piece]), prefix=False, fields=_fields_of(term)) for piece in pieces
        )


def _fields_of(term: Term) -> frozenset[str]:
    """Return the only index fields to search for a term; empty for all."""
    return frozenset(index_fields([term.field]))


def _word_parts(word: str) -> list[str]:
    """Return a word, or pairs of its characters if the index pairs them."""
    if len(word) > 2 and any(map(is_paired, word)):  # noqa: PLR2004
        return [word[at : at + 2] for at in range(len(word) - 1)]
    return [word]


def _spellings(term: Term) -> list[str]:
    """Return the spellings of a term in texts."""
    forms = [compose(term.text)]
    if not term.quoted:
        forms += (strip_line_number(forms[0]), toggle_version_prefix(forms[0]))
        if term.text.isascii():
            forms.append(" ".join(camel_parts(term.text)))
    return list(dict.fromkeys(forms))


def _consecutive(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"[\W_]*".join(map(re.escape, words)))


def _begins_word(text: str, at: int) -> bool:
    previous = at - 1
    while previous >= 0 and is_mark(text[previous]):
        previous -= 1
    if previous < 0 or not text[previous].isalnum() or is_paired(text[previous]) or is_paired(text[at]):
        return True
    if text[at].isupper():  # aB, 0B, or the last of ABCd
        return not text[previous].isupper() or text[at + 1 : at + 2].islower()
    return False


def _ends_word(text: str, at: int) -> bool:
    end = _with_marks(text, at)
    return end >= len(text) or not text[end].isalnum() or _begins_word(text, end)


def _with_marks(text: str, end: int) -> int:
    """Extend an end past the marks of the last letter."""
    while end < len(text) and is_mark(text[end]):
        end += 1
    return end


def _without_overlaps(matches: list[Match]) -> list[Match]:
    """Drop matches inside others."""
    separate: list[Match] = []
    for match in matches:
        if not separate or match.start >= separate[-1].end:
            separate.append(match)
        elif match.end > separate[-1].end and match.start == separate[-1].start:
            separate[-1] = match
    return separate


def _to_original(text: str, matches: list[Match]) -> list[Match]:
    """Convert matches in the composed text to positions in the original text."""
    if not matches or compose(text) == text:
        return matches
    origins: list[int] = []
    starts = [at for at, character in enumerate(text) if at and not _is_joined(character)]
    for start, end in pairwise([0, *starts, len(text)]):
        letter = compose(text[start:end])
        origins += range(start, end) if letter == text[start:end] else [start] * len(letter)
    origins.append(len(text))
    return [Match(origins[start], origins[end], group) for start, end, group in matches]


def _is_joined(character: str) -> bool:
    """Whether a character may compose with the one before it: accents, and later parts of hangul."""
    return is_mark(character) or "\u1160" <= character <= "\u11ff"


def _snippet_around(text: str, matches: list[Match]) -> Snippet:
    """Return the excerpt that matches most groups; if others match elsewhere, several shorter excerpts."""
    groups = {match.group for match in matches}
    for count in range(1, _MAX_SNIPPET_PIECES + 1):
        pieces, missing = _choose_pieces(text, matches, groups, count)
        if not missing:
            break
    return _assemble(text, _merge_touching(pieces), matches, len(groups) - len(missing))


def _choose_pieces(
    text: str, matches: list[Match], groups: set[int], count: int
) -> tuple[list[_Span], set[int]]:
    """Choose at most `count` pieces, each adding groups, the best first; return them and missing groups."""
    pieces: list[_Span] = []
    missing = set(groups)
    while missing and len(pieces) < count:
        piece, piece_groups = _best_piece(text, matches, missing, _SNIPPET_CHARS // count)
        pieces.append(piece)
        missing -= piece_groups
    return pieces, missing


def _best_piece(text: str, matches: list[Match], missing: set[int], width: int) -> tuple[_Span, set[int]]:
    """Return the piece that matches most of the wanted groups, and these."""
    best, best_key, best_groups = _Span(0, 0), (0, 0), missing
    ends = [match.end for match in matches]
    for first in _piece_starts(matches, missing):
        match = matches[first]
        max_matches = bisect_right(ends, match.start + width) - first
        if (
            min(max(max_matches, 1), len(missing)),
            max_matches,
        ) <= best_key:  # no piece that begins there has more
            continue
        piece = _window(text, match.start, width)
        within = matches[first : bisect_right(ends, piece.end)]
        groups = {match.group, *(other.group for other in within)} & missing
        if (len(groups), len(within)) > best_key:
            best, best_key, best_groups = piece, (len(groups), len(within)), groups
    return best, best_groups


def _piece_starts(matches: list[Match], missing: set[int]) -> list[int]:
    """Return the matches at which a piece may begin; if there are many, those of rare groups."""
    starts = [index for index, match in enumerate(matches) if match.group in missing]
    if len(starts) > _MAX_PIECE_STARTS:
        counts = Counter(match.group for match in matches)
        starts.sort(key=lambda index: counts[matches[index].group])
    return starts[:_MAX_PIECE_STARTS]


def _window(text: str, at: int, width: int) -> _Span:
    """Return a range of `width` characters that starts a little before a position."""
    start = max(0, at - width // 4)
    if start:
        gap = text.find(" ", start, at)
        start = gap + 1 if gap >= 0 else start
    end = min(len(text), start + width)
    if end < len(text):
        gap = text.rfind(" ", at + 1, end)
        end = gap if gap > at + width // 2 else end
    return _Span(start, end)


def _merge_touching(pieces: list[_Span]) -> list[_Span]:
    """Merge touching pieces, in the order of the text."""
    merged: list[_Span] = []
    for piece in sorted(pieces):
        if merged and piece.start <= merged[-1].end:
            merged[-1] = _Span(merged[-1].start, max(piece.end, merged[-1].end))
        else:
            merged.append(piece)
    return merged


def _assemble(text: str, pieces: list[_Span], matches: list[Match], groups: int) -> Snippet:
    """Join pieces of a text, with the ranges of matches, and dots where text is omitted."""
    shown = ""
    marks: list[tuple[int, int]] = []
    for start, end in pieces:
        stripped = text[start:end].strip()
        shown += " … " if shown else "…" if start else ""
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        last = first + len(stripped)
        offset = len(shown) - first
        marks += [
            (match.start + offset, min(match.end, last) + offset)
            for match in matches
            if first <= match.start < last
        ]
        shown += stripped
    return Snippet(f"{shown}…" if pieces[-1].end < len(text) else shown, marks, groups)


def _first_snippet(text: str) -> Snippet:
    return _assemble(text, [_window(text, 0, _SNIPPET_CHARS)], [], 0)
