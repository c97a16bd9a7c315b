"""Parse what a person types into a search box.

Every text is a valid query: what makes no sense as an operator is searched literally.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.dates import to_epoch_seconds
from agent_journal.search.words import blank_terminal_colors

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
"""Field names in queries, with the index fields that each one searches."""

FACT_FIELD = "fact"
"""The index field with all filter values, each prefixed with its kind."""

SUBSTRING_KINDS = ("project", "model")
"""Kinds whose values match by substring, as they are long and rarely typed in full."""

_MAX_VALUE_CHARS = 1000  # characters that are compared
_MAX_QUERY_CHARS = 20_000  # the rest of a pasted log changes nothing
_MAX_TERMS = 64
_MAX_FILTER_VALUES = 64
_MAX_REQUIRED_WORDS = 10  # more are a pasted message or log, which may partly differ elsewhere
_MAX_TYPED_WORDS = 24  # nobody types more; what looks like an operator in a longer text is none
_CONJUNCTIONS = ("OR", "AND")  # AND is the default
_NO_FIELDS = ("",)  # matches no field
_QUOTES = str.maketrans("“”„‟«»＂", '"""""""')
# A field is a name, a colon and a value without a space between; a minus belongs to what it touches.
_TERM = re.compile(r'(-(?=[^\s-]))?(?:([A-Za-z]+):(?=[^\s:]))?(?:"([^"]*+)"?|([^\s"]++))')
ROLES = ("user", "assistant", "system", "tool")


class Term(NamedTuple):
    """A word, name or path; or a quoted phrase, which must match literally."""

    text: str
    quoted: bool = False
    prefix: bool = False  # whether it may continue
    field: str = ""  # the only field to search, by its name in FIELDS


class Filters(NamedTuple):
    """Conditions on a hit. Of several values of a filter one must match; an empty filter is no condition.

    Values are compared case-insensitively. Projects and models match by substring; the others by the whole
    name, or by substring if no name is equal.
    """

    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    models: tuple[str, ...] = ()  # that wrote the message
    roles: tuple[str, ...] = ()
    since: int | None = None  # seconds since 1970, inclusive
    until: int | None = None  # exclusive
    conversations: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()  # to search, by their names in FIELDS
    branches: tuple[str, ...] = ()  # of Git repositories
    tools: tuple[str, ...] = ()  # names or kinds of the tools called or answered
    has_error: bool = False  # whether a tool failed
    shown: bool = False  # whether it is on a shown branch; only the rows know
    held: tuple[int, ...] = ()  # entries of other conversations that `conversations` contain, too

    def __add__(self, other: Filters) -> Filters:  # type: ignore[override]
        """Combine both: values of a kind are joined, of times the narrower counts."""
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


class RejectedFilter(NamedTuple):
    """Text that looks like a filter but has an invalid value, so it was searched literally."""

    text: str
    accepts: str  # the valid values


class Query(NamedTuple):
    """One term of each group must match (or of `min_groups` groups), and none of the negated ones."""

    groups: tuple[tuple[Term, ...], ...] = ()
    negated: tuple[Term, ...] = ()
    filters: Filters = _NO_FILTERS
    min_groups: int | None = None  # how many groups must match; None for all
    excluded: Filters = _NO_FILTERS  # conditions that a hit must not meet
    strict: bool = False  # whether typo correction and dropping words are off
    rejected_filters: tuple[RejectedFilter, ...] = ()  # invalid filters that were searched literally

    @property
    def semantic_text(self) -> str:
        """The words without operators and filters, for semantic search."""
        return " ".join(group[0].text for group in self.groups)

    @property
    def exact_groups(self) -> tuple[tuple[Term, ...], ...]:
        """The groups that must match literally: in quotes, or in one field."""
        return tuple(group for group in self.groups if any(term.quoted or term.field for term in group))

    @property
    def title_groups(self) -> tuple[tuple[Term, ...], ...]:
        """The groups that only titles can match."""
        return tuple(group for group in self.groups if all(term.field == "title" for term in group))

    @property
    def is_exact(self) -> bool:
        """Whether a part of the query must match literally."""
        return bool(self.exact_groups)


def index_fields(names: Iterable[str]) -> list[str]:
    """Return the index fields for query field names; unknown names are ignored."""
    return list(dict.fromkeys(field for name in names for field in FIELDS.get(name, ())))


def to_filter_value(value: str) -> str:
    """Return a value as it is stored for filters."""
    return encodable(value[:_MAX_VALUE_CHARS])


@lru_cache(maxsize=1024)  # a sync needs the same few values repeatedly
def fact(kind: str, value: str) -> str:
    """Return a filter value as indexed."""
    return f"{kind}:{to_filter_value(value)}"


def names_by_kind(filters: Filters) -> dict[str, tuple[str, ...]]:
    """Return the names in filters by kind."""
    names_of = {
        "source": filters.sources,
        "project": filters.projects,
        "model": filters.models,
        "role": filters.roles,
        "branch": filters.branches,
        "tools": filters.tools,
    }
    return {kind: names for kind, names in names_of.items() if names}


def match_values(kind: str, names: Iterable[str], values: Iterable[str]) -> list[str]:
    """Return the values of a kind that have one of the names, or contain it if none is equal."""
    folded = {value: value.casefold() for value in map(to_filter_value, values)}
    matches: dict[str, None] = {}
    for name in (to_filter_value(each).casefold() for each in names):
        matching = [value for value, each in folded.items() if each == name]
        if kind in SUBSTRING_KINDS or not matching:
            matching = [value for value, each in folded.items() if name in each]
        matches.update(dict.fromkeys(matching))
    return list(matches)


def parse(text: str, filters: Filters = _NO_FILTERS, now: float | None = None) -> Query:
    """Parse a query: words, "phrases", prefix*, -not, this OR that, field:value.

    `now`, in seconds since 1970, is what `since:7d` counts from; without it, ages are not parsed.
    """
    text = blank_terminal_colors(text[:_MAX_QUERY_CHARS]).translate(_QUOTES)
    if _is_pasted(text):
        return _pasted(text, filters)
    builder = _QueryBuilder(now)
    for minus, field, quoted, word in _TERM.findall(text):
        builder.add(bool(minus), field, quoted, word)
        if builder.is_full:
            break
    return builder.query(filters)


def _is_pasted(text: str) -> bool:
    return "\n" in text.strip() or len(text.split(None, _MAX_TYPED_WORDS)) > _MAX_TYPED_WORDS


def _pasted(text: str, filters: Filters) -> Query:
    """Return the query for pasted text, which has no operators; the end of a log states what failed."""
    words = [word for word in dict.fromkeys(text.replace('"', " ").split()) if any(map(str.isalnum, word))]
    if len(words) > _MAX_TERMS:
        words = words[: _MAX_TERMS // 2] + words[-_MAX_TERMS // 2 :]
    groups = tuple((Term(word.strip("'`,;()")),) for word in words)
    return Query(groups, (), filters, _min_groups(len(groups)))


def _min_groups(count: int) -> int | None:
    return None if count <= _MAX_REQUIRED_WORDS else count * 3 // 4


class _QueryBuilder:
    """Collects the parts of a query."""

    def __init__(self, now: float | None) -> None:
        self._now = now
        self._groups: list[tuple[Term, ...]] = []
        self._negated: list[Term] = []
        self._filters = _NO_FILTERS
        self._excluded = _NO_FILTERS
        self._rejected: dict[RejectedFilter, None] = {}
        self._after_or = False

    @property
    def is_full(self) -> bool:
        """Whether the maximum number of terms is reached."""
        return len(self._groups) + len(self._negated) >= _MAX_TERMS

    def add(self, minus: bool, field: str, quoted: str, word: str) -> None:  # noqa: FBT001
        """Add a piece of the text."""
        if (
            word in _CONJUNCTIONS
            and not minus
            and not field
            and (self._groups or self._filters != _NO_FILTERS)
        ):
            self._after_or = word == "OR" and bool(self._groups)
            return
        if field and self._add_filter(minus, field.lower(), quoted or word):
            self._after_or = False
            return
        is_address = word.startswith("//")
        term_field = "" if is_address else _TERM_FIELDS.get(field.lower(), "")
        if field and not term_field:  # std::vector, http://host, file:///tmp, C:\temp
            quoted, word = "", f"{field}:{quoted or word}"
        term = Term(quoted, quoted=True, field=term_field) if not word else _parse_word(word, term_field)
        minus = minus and not _is_option(term)
        if any(map(str.isalnum, term.text)):
            self._add_term(term, minus=minus)

    def query(self, filters: Filters) -> Query:
        """Return the query, with additional filters."""
        groups = tuple(self._groups)
        combined, excluded = filters + self._filters, self._excluded
        if excluded.fields:
            combined = combined._replace(fields=_without(combined.fields, excluded.fields))
            excluded = excluded._replace(fields=())
        negated, rejected = tuple(self._negated), tuple(self._rejected)
        return Query(groups, negated, combined, _min_groups(len(groups)), excluded, rejected_filters=rejected)

    def _add_term(self, term: Term, *, minus: bool) -> None:
        if minus:
            self._negated.append(term)
        elif self._after_or:
            self._groups[-1] = (*self._groups[-1], term)
        elif (term,) not in self._groups:
            self._groups.append((term,))
        self._after_or = False

    def _add_filter(self, minus: bool, field: str, value: str) -> bool:  # noqa: FBT001
        """Add a filter; whether the field and its value are one."""
        parse_value = _FILTERS.get(field)
        parsed = parse_value(value, self._now) if parse_value else None
        if parsed is None:
            if parse_value:
                self._rejected[RejectedFilter(f"{field}:{value}", _ACCEPTED[field])] = None
            return False
        if minus:
            self._excluded += parsed
        else:
            self._filters += parsed
        return True


def _is_option(term: Term) -> bool:
    """Whether it is a single letter or digit: `pytest -q` does not exclude q."""
    return len(term.text) == 1 and term.text.isascii() and not (term.quoted or term.field or term.prefix)


def _parse_word(word: str, field: str = "") -> Term:
    if word.endswith("*"):
        return Term(word.rstrip("*"), prefix=True, field=field)
    return Term(word, field=field)


def _split_values(value: str) -> tuple[str, ...]:
    return tuple(part for part in value.split(",") if part)[:_MAX_FILTER_VALUES]


def _fields(value: str, _now: float | None) -> Filters | None:
    fields = _split_values(value.lower())
    return Filters(fields=fields) if fields and set(fields) <= set(FIELDS) else None


def _without(fields: Iterable[str], excluded: Iterable[str]) -> tuple[str, ...]:
    """Return the fields to search without some fields, each of the others by its own name."""
    remaining = set(index_fields(fields or FIELDS)) - set(index_fields(excluded))
    names = tuple(name for name, (field, *others) in FIELDS.items() if field in remaining and not others)
    return names or _NO_FIELDS


def _roles(value: str, _now: float | None) -> Filters | None:
    roles = _split_values(value.lower())
    return Filters(roles=roles) if roles and set(roles) <= set(ROLES) else None


def _since(value: str, now: float | None) -> Filters | None:
    at = to_epoch_seconds(value, now)
    return None if at is None else Filters(since=at)


def _until(value: str, now: float | None) -> Filters | None:
    at = to_epoch_seconds(value, now)
    return None if at is None else Filters(until=at)


def _has(value: str, _now: float | None) -> Filters | None:
    return Filters(has_error=True) if value.lower() in {"error", "errors"} else None


_FILTERS: dict[str, Callable[[str, float | None], Filters | None]] = {
    "source": lambda value, _: Filters(sources=_split_values(value)),
    "project": lambda value, _: Filters(projects=(value,)),
    "model": lambda value, _: Filters(models=_split_values(value)),
    "branch": lambda value, _: Filters(branches=_split_values(value)),
    "tool": lambda value, _: Filters(tools=_split_values(value)),
    "role": _roles,
    "in": _fields,
    "since": _since,
    "after": _since,
    "until": _until,
    "before": _until,
    "has": _has,
}
_DATE = "a date, such as 2026-11-16, today or 7d"
_ACCEPTED = {
    "role": ", ".join(ROLES),
    "in": ", ".join(FIELDS),
    **dict.fromkeys(("since", "after", "until", "before"), _DATE),
    "has": "error",
}
# The name of a file that was read or written is in the tool's input.
_TERM_FIELDS = {"title": "title", "text": "text", "thinking": "thinking", "file": "call"}


def filter_names() -> Iterator[str]:
    """Yield every name that has a meaning before a colon."""
    yield from _FILTERS
    yield from _TERM_FIELDS
