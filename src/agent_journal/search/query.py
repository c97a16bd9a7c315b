"""What a person types into a search box, as data.

Every text is a query, none is an error: what makes no sense as an operator is looked for as it stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.dates import seconds
from agent_journal.search.words import without_colours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FIELDS = {
    "text": ("text",),
    "title": ("title",),
    "thinking": ("thinking",),
    "tool": ("tool", "output"),
    "call": ("tool",),
    "output": ("output",),
    "attached": ("attached",),
}
"""Where words are looked for, and what the index calls it: what was said, what it is called, what was
thought, what tools were given and gave, or only one of these, what attached files say."""

FACTS = "fact"
"""The field of the index that has all that entries are filtered by, each with its kind before it."""

BY_PART = ("project", "model")
"""Values that are long and seldom typed as they are."""

_LONGEST_VALUE = 1000  # characters that are compared
_LONGEST = 20_000  # characters; the rest of a whole log pasted as a query changes nothing
_MOST = 64  # terms
_MOST_VALUES = 64  # of one filter
_PASTED = 10  # words; who has more pastes a message or a log, of which a part may read otherwise elsewhere
_NO_SENTENCE = 24  # words; nobody types as many, and what looks like an operator among them is none
_JOINING = ("OR", "AND")  # the second is what two words mean anyway
_NOWHERE = ("",)  # no field is called so
_QUOTES = str.maketrans("“”„‟«»＂", '"""""""')
# A field is a name before a colon with something right behind it; a minus belongs to what it touches.
_TERM = re.compile(r'(-(?=[^\s-]))?(?:([A-Za-z]+):(?=[^\s:]))?(?:"([^"]*+)"?|([^\s"]++))')
ROLES = ("user", "assistant", "system", "tool")


class Term(NamedTuple):
    """A word, a name or a path; or what stood in quotes, and must be found as it stands."""

    text: str
    quoted: bool = False
    prefix: bool = False  # anything that begins so
    field: str = ""  # where alone it counts, as FIELDS names it


class Filters(NamedTuple):
    """What a hit must be, whatever it says. Of several values one must hold; none given is no condition.

    Values are compared without regard to case. Projects and models are found by a part of their names; the
    others by their names, or by a part if nothing is called just so.
    """

    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    models: tuple[str, ...] = ()  # that said it
    roles: tuple[str, ...] = ()
    since: int | None = None  # seconds since 1970, the first that count
    until: int | None = None  # and the first that do not
    conversations: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()  # where words are looked for, as FIELDS names it
    branches: tuple[str, ...] = ()  # of repositories
    tools: tuple[str, ...] = ()  # names or kinds of tools that were called or answered
    has_error: bool = False  # whether a tool failed
    shown: bool = False  # whether it is on the branch that people see; only rows tell
    held: tuple[int, ...] = ()  # entries of other conversations that `conversations` hold, too

    def __add__(self, other: Filters) -> Filters:  # type: ignore[override]
        """Both together: values of the same kind stand beside each other, of times the narrower counts."""
        return Filters(
            sources=self.sources + other.sources,
            projects=self.projects + other.projects,
            models=self.models + other.models,
            roles=self.roles + other.roles,
            since=max((at for at in (self.since, other.since) if at is not None), default=None),
            until=min((at for at in (self.until, other.until) if at is not None), default=None),
            conversations=self.conversations + other.conversations,
            fields=self.fields + other.fields,
            branches=self.branches + other.branches,
            tools=self.tools + other.tools,
            has_error=self.has_error or other.has_error,
            shown=self.shown or other.shown,
            held=self.held + other.held,
        )


_NO_FILTERS = Filters()


class Misfit(NamedTuple):
    """What is called like a filter and has a value that none takes, so that it was taken for words."""

    text: str
    takes: str  # what the filter does take


class Query(NamedTuple):
    """One term of each group must be found (or of enough groups), and none of the unwanted."""

    wanted: tuple[tuple[Term, ...], ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: Filters = _NO_FILTERS
    enough: int | None = None  # so many groups at least, where not all must be found
    excluded: Filters = _NO_FILTERS  # what a hit must not be
    strict: bool = False  # whether no word may be taken for another, or let go of
    misfits: tuple[Misfit, ...] = ()  # what was taken for words, and a person may have meant otherwise

    @property
    def meaning(self) -> str:
        """What is asked, without operators and filters: what something similar in meaning is sought by."""
        return " ".join(group[0].text for group in self.wanted)

    @property
    def exact(self) -> tuple[tuple[Term, ...], ...]:
        """The groups that must be found, whatever is alike: in quotes, or in one place."""
        return tuple(group for group in self.wanted if any(term.quoted or term.field for term in group))

    @property
    def titled(self) -> tuple[tuple[Term, ...], ...]:
        """The groups that only a title can have."""
        return tuple(group for group in self.wanted if all(term.field == "title" for term in group))

    @property
    def is_exact(self) -> bool:
        """Whether something is asked for as it stands."""
        return bool(self.exact)


def index_fields(names: Iterable[str]) -> list[str]:
    """What the index calls fields; a name that none has counts for nothing."""
    return list(dict.fromkeys(field for name in names for field in FIELDS.get(name, ())))


def as_stored(value: str) -> str:
    """A value of an entry as it is kept to be filtered by."""
    return encodable(value[:_LONGEST_VALUE])


@lru_cache(maxsize=1024)  # a sync asks for the same few again and again
def fact(kind: str, value: str) -> str:
    """A value that entries are filtered by, as the index has it."""
    return f"{kind}:{as_stored(value)}"


def names_in(filters: Filters) -> dict[str, tuple[str, ...]]:
    """What filters ask for by name, by the kind of value that is called so."""
    asked = {
        "source": filters.sources,
        "project": filters.projects,
        "model": filters.models,
        "role": filters.roles,
        "branch": filters.branches,
        "tools": filters.tools,
    }
    return {kind: names for kind, names in asked.items() if names}


def meant(kind: str, names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Those of all values of a kind that are called so; or in part, if none is called just so."""
    folded = {value: value.casefold() for value in map(as_stored, known)}
    meant: dict[str, None] = {}
    for name in (as_stored(each).casefold() for each in names):
        equal = [value for value, each in folded.items() if each == name]
        if kind in BY_PART or not equal:
            equal = [value for value, each in folded.items() if name in each]
        meant.update(dict.fromkeys(equal))
    return list(meant)


def parse(text: str, filters: Filters = _NO_FILTERS, now: float | None = None) -> Query:
    """The query that a text means: words, "phrases", prefix*, -not, this OR that, field:value.

    `now` is what `since:7d` counts from, in seconds since 1970; without it no such age is understood.
    """
    text = without_colours(text[:_LONGEST]).translate(_QUOTES)
    if _is_pasted(text):
        return _pasted(text, filters)
    reading = _Reading(now)
    for minus, field, quoted, word in _TERM.findall(text):
        reading.take(bool(minus), field, quoted, word)
        if reading.is_full:
            break
    return reading.query(filters)


def _is_pasted(text: str) -> bool:
    return "\n" in text.strip() or len(text.split(None, _NO_SENTENCE)) > _NO_SENTENCE


def _pasted(text: str, filters: Filters) -> Query:
    """What was copied from elsewhere, where nothing is an operator; the end of a log says what failed."""
    words = [word for word in dict.fromkeys(text.replace('"', " ").split()) if any(map(str.isalnum, word))]
    if len(words) > _MOST:
        words = words[: _MOST // 2] + words[-_MOST // 2 :]
    wanted = tuple((Term(word.strip("'`,;()")),) for word in words)
    return Query(wanted, (), filters, _enough(len(wanted)))


def _enough(count: int) -> int | None:
    return None if count <= _PASTED else count * 3 // 4


class _Reading:
    """A query while it is read."""

    def __init__(self, now: float | None) -> None:
        self._now = now
        self._wanted: list[tuple[Term, ...]] = []
        self._unwanted: list[Term] = []
        self._filters = _NO_FILTERS
        self._excluded = _NO_FILTERS
        self._misfits: dict[Misfit, None] = {}
        self._either = False

    @property
    def is_full(self) -> bool:
        """Whether no more is taken."""
        return len(self._wanted) + len(self._unwanted) >= _MOST

    def take(self, minus: bool, field: str, quoted: str, word: str) -> None:  # noqa: FBT001
        """One more piece of the text."""
        if word in _JOINING and not minus and not field and (self._wanted or self._filters != _NO_FILTERS):
            self._either = word == "OR" and bool(self._wanted)
            return
        if field and self._is_filter(minus, field.lower(), quoted or word):
            self._either = False
            return
        is_address = word.startswith("//")
        known = "" if is_address else _TERM_FIELDS.get(field.lower(), "")
        if field and not known:  # std::vector, http://host, file:///tmp, C:\temp
            quoted, word = "", f"{field}:{quoted or word}"
        term = Term(quoted, quoted=True, field=known) if not word else _word(word, known)
        minus = minus and not _is_option(term)
        if any(map(str.isalnum, term.text)):
            self._put(term, minus=minus)

    def query(self, filters: Filters) -> Query:
        """What was taken, and what else is settled."""
        wanted = tuple(self._wanted)
        settled, excluded = filters + self._filters, self._excluded
        if excluded.fields:
            settled = settled._replace(fields=_without(settled.fields, excluded.fields))
            excluded = excluded._replace(fields=())
        unwanted, misfits = tuple(self._unwanted), tuple(self._misfits)
        return Query(wanted, unwanted, settled, _enough(len(wanted)), excluded, misfits=misfits)

    def _put(self, term: Term, *, minus: bool) -> None:
        if minus:
            self._unwanted.append(term)
        elif self._either:
            self._wanted[-1] = (*self._wanted[-1], term)
        elif (term,) not in self._wanted:
            self._wanted.append((term,))
        self._either = False

    def _is_filter(self, minus: bool, field: str, value: str) -> bool:  # noqa: FBT001
        """Whether a field with its value is a filter; if so, it is taken."""
        make = _FILTERS.get(field)
        found = make(value, self._now) if make else None
        if found is None:
            if make:
                self._misfits[Misfit(f"{field}:{value}", _TAKES[field])] = None
            return False
        if minus:
            self._excluded += found
        else:
            self._filters += found
        return True


def _is_option(term: Term) -> bool:
    """Whether a letter or a digit stands behind a minus: nobody means to do without it in `pytest -q`."""
    return len(term.text) == 1 and term.text.isascii() and not (term.quoted or term.field or term.prefix)


def _word(word: str, field: str = "") -> Term:
    if word.endswith("*"):
        return Term(word.rstrip("*"), prefix=True, field=field)
    return Term(word, field=field)


def _values(value: str) -> tuple[str, ...]:
    return tuple(each for each in value.split(",") if each)[:_MOST_VALUES]


def _fields(value: str, _now: float | None) -> Filters | None:
    fields = _values(value.lower())
    return Filters(fields=fields) if fields and set(fields) <= set(FIELDS) else None


def _without(fields: Iterable[str], excluded: Iterable[str]) -> tuple[str, ...]:
    """Where words are looked for if some fields do not count, each of the others by its own name."""
    left = set(index_fields(fields or FIELDS)) - set(index_fields(excluded))
    names = tuple(name for name, (field, *others) in FIELDS.items() if field in left and not others)
    return names or _NOWHERE


def _roles(value: str, _now: float | None) -> Filters | None:
    roles = _values(value.lower())
    return Filters(roles=roles) if roles and set(roles) <= set(ROLES) else None


def _since(value: str, now: float | None) -> Filters | None:
    at = seconds(value, now)
    return None if at is None else Filters(since=at)


def _until(value: str, now: float | None) -> Filters | None:
    at = seconds(value, now)
    return None if at is None else Filters(until=at)


def _has(value: str, _now: float | None) -> Filters | None:
    return Filters(has_error=True) if value.lower() in {"error", "errors"} else None


_FILTERS: dict[str, Callable[[str, float | None], Filters | None]] = {
    "source": lambda value, _: Filters(sources=_values(value)),
    "project": lambda value, _: Filters(projects=(value,)),
    "model": lambda value, _: Filters(models=_values(value)),
    "branch": lambda value, _: Filters(branches=_values(value)),
    "tool": lambda value, _: Filters(tools=_values(value)),
    "role": _roles,
    "in": _fields,
    "since": _since,
    "after": _since,
    "until": _until,
    "before": _until,
    "has": _has,
}
_DATE = "a date, such as 2026-11-16, today or 7d"
_TAKES = {
    "role": ", ".join(ROLES),
    "in": ", ".join(FIELDS),
    **dict.fromkeys(("since", "after", "until", "before"), _DATE),
    "has": "error",
}
# A file that was read or written is named in what a tool was given.
_TERM_FIELDS = {"title": "title", "text": "text", "thinking": "thinking", "file": "call"}


def filter_names() -> Iterator[str]:
    """Every name that means something before a colon."""
    yield from _FILTERS
    yield from _TERM_FIELDS
