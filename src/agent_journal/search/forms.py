"""Split search terms into words the way the index splits texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search import words

if TYPE_CHECKING:
    from agent_journal.search.query import Term

MAX_TERM_WORDS = 64  # per term
_NAME_PATTERN = re.compile(
    r"[^\W\d_][._/\\:-]+\w|\w\(\)|_\w|\d[^\W\d_]|[^\W\d_]\d|[a-z][A-Z]|/\w|\d[.,:/-]?\d"
)
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+\W*")
_YEAR_OR_SMALL_NUMBER = re.compile(r"\W*(?:\d{1,2}|(?:19|20)\d\d)\W*")


class Form(NamedTuple):
    """Consecutive words to find."""

    words: list[str]
    prefix: bool  # whether the last word may continue

    @property
    def padded(self) -> str:
        """The substring to look for in a text returned by `pad_words`."""
        return f" {' '.join(self.words)}{'' if self.prefix else ' '}"


def forms_of(term: Term) -> list[Form]:
    """Return a term's spellings: as typed, camelCase parts, without line number, with and without v."""
    text = term.text if term.text.isascii() else words.pair_query_characters(term.text)
    spellings = [text]
    if not term.quoted:
        spellings += (words.strip_line_number(text), words.toggle_version_prefix(text))
        if text.isascii():
            spellings.append(" ".join(words.camel_parts(text)))
    cuts = [words.split_words(spelling) for spelling in dict.fromkeys(spellings)]
    forms = [
        Form(cut[:MAX_TERM_WORDS], term.prefix or words.is_lone_character(cut[-1])) for cut in cuts if cut
    ]
    return [form for position, form in enumerate(forms) if form not in forms[:position]]


def is_name(term: Term) -> bool:
    """Whether a term is a name from code, a number, a path or a prefix, and not a word of a language."""
    return term.prefix or _NAME_PATTERN.search(term.text) is not None


def is_indispensable(term: Term) -> bool:
    """Whether a hit without the term is hardly what was meant: a name, a large number or a phrase."""
    if term.quoted or term.field:
        return True
    if _HYPHENATED.fullmatch(term.text) or _YEAR_OR_SMALL_NUMBER.fullmatch(term.text):
        return False
    return is_name(term)


def pad_words(text: str) -> str:
    """Return a text as indexed, with a space on both sides of each word."""
    return f" {f' {words.GAP} '.join(' '.join(spelling.split()) for spelling in words.prepare(text))} "
