"""What a person types into a search box, as data.

Every text is a query, none is an error: what makes no sense as an operator is looked for as it stands.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LONGEST_VALUE = 1000  # characters that are compared
_LONGEST = 20_000  # characters; the rest of a whole log pasted as a query changes nothing
_MOST = 64  # terms
_PASTED = 10  # words; who has more pastes a message or a log, of which a part may read otherwise elsewhere
_QUOTES = str.maketrans("“”„‟«»＂", '"""""""')
_TERM = re.compile(r'(-?)(?:"([^"]*+)"?|([^\s"]++))')


class Term(NamedTuple):
    """A word, a name or a path; or what stood in quotes, and must be found as it stands."""

    text: str
    quoted: bool = False
    prefix: bool = False  # anything that begins so


class Filters(NamedTuple):
    """What a hit must be, whatever it says. Of several values one must hold; none given is no condition.

    Values are compared without regard to case. Projects and models are found by a part of their names; the
    others by their names, or by a part if nothing is called just so.
    """

    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    since: int | None = None  # seconds since 1970, the first that count
    until: int | None = None  # and the first that do not
    conversations: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()  # where words are looked for: text, title, thinking, tool
    branches: tuple[str, ...] = ()  # of repositories
    tools: tuple[str, ...] = ()  # names or kinds of tools that were called or answered
    has_error: bool = False  # whether a tool failed


_NO_FILTERS = Filters()


class Query(NamedTuple):
    """One term of each group must be found (or of enough groups), and none of the unwanted."""

    wanted: tuple[tuple[Term, ...], ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: Filters = _NO_FILTERS
    enough: int | None = None  # so many groups at least, where not all must be found
    excluded: Filters = _NO_FILTERS  # what a hit must not be

    @property
    def meaning(self) -> str:
        """What is asked, without operators and filters: what something similar in meaning is sought by."""
        return " ".join(group[0].text for group in self.wanted)

    @property
    def is_exact(self) -> bool:
        """Whether something is asked for as it stands: in quotes."""
        return any(term.quoted for group in self.wanted for term in group)


def as_stored(value: str) -> str:
    """A value of an entry as it is kept to be filtered by."""
    value = value[:_LONGEST_VALUE]
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def parse(text: str, filters: Filters = _NO_FILTERS) -> Query:
    """The query that a text means: words, "phrases", prefix*, -not, this OR that."""
    wanted: list[tuple[Term, ...]] = []
    unwanted: list[Term] = []
    either = False
    for minus, quoted, word in _TERM.findall(text[:_LONGEST].translate(_QUOTES)):
        if word == "OR" and not minus and wanted:
            either = True
            continue
        term = Term(quoted, quoted=True) if not word else _word(word)
        if not any(map(str.isalnum, term.text)):
            continue
        if minus:
            unwanted.append(term)
        elif either:
            wanted[-1] = (*wanted[-1], term)
        elif (term,) not in wanted:
            wanted.append((term,))
        either = False
        if len(wanted) + len(unwanted) >= _MOST:
            break
    enough = None if len(wanted) <= _PASTED else len(wanted) * 3 // 4
    return Query(tuple(wanted), tuple(unwanted), filters, enough)


def _word(word: str) -> Term:
    """One word as typed. What stands before a colon may become a filter here; so far it is looked for."""
    return Term(word.rstrip("*"), prefix=True) if word.endswith("*") else Term(word)
