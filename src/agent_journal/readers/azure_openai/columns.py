"""A row whose columns are found however their names are written, also one level below."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import timestamps
from agent_journal.notes import Notes
from agent_journal.readers.azure_openai.names import IDS, NESTED, SEQUENCE, TIMES, spelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.readers.azure_openai.rows import Placed

_MOST_DIGITS = 18
# How a date begins that is written in numbers.
_NUMBERS = re.compile(r"\d{1,4}[./-] ?\d")
_NESTED = frozenset(NESTED)


class Layout(NamedTuple):
    """How the columns of a row are spelled, and those that are looked at before it is taken apart."""

    columns: dict[str, str]
    is_nested: bool
    times: tuple[str, ...]
    ids: tuple[str, ...]
    sequence: tuple[str, ...]


@lru_cache(maxsize=1024)
def layout(columns: tuple[str, ...]) -> Layout:
    """The layout of a row that has these columns; a log has few of them."""
    found = spelled(columns)
    times, ids, sequence = (
        tuple(found[name] for name in names if name in found) for names in (TIMES, IDS, (SEQUENCE,))
    )
    return Layout(found, not _NESTED.isdisjoint(found), times, ids, sequence)


def glance(values: dict[str, Any], columns: dict[str, str], name: str) -> Any:
    """See a value of a row before it is taken apart, of which it is known how its columns are spelled."""
    if name in columns:
        return values[columns[name]]
    for nested in NESTED:
        inner = values.get(columns.get(nested, ""))
        if inner.__class__ is dict and name in (below := spelled(tuple(inner))):
            return inner[below[name]]
    return None


def opened(value: Any) -> Any:
    """A column of columns: most exports have it as a text."""
    if value.__class__ is str and value.lstrip().startswith("{"):
        return json_stream.decode(value.encode("utf-8", "replace"), Notes(keep=0), "")
    return value


def open_nested(values: dict[str, Any], columns: dict[str, str]) -> None:
    """Let the columns be seen that lie in a column."""
    for name in NESTED:
        if name in columns and (inner := opened(values[columns[name]])).__class__ is dict:
            values[columns[name]] = inner


class Row:
    """Values are moved out by their folded names; what is left stays under its own name and nesting.

    A number may be written as text: CSV and the Azure CLI have nothing else.
    """

    def __init__(self, row: Placed, note: Notes) -> None:
        self.where = row.where
        self.note = note
        self._fields = Fields(row.values, note, row.where)
        self._values = row.values
        self._columns = columns = spelled(tuple(row.values))
        self._below: list[tuple[Fields, dict[str, Any], dict[str, str]]] = []
        if not _NESTED.isdisjoint(columns):
            for name in NESTED:
                if name in columns:
                    self._open(columns[name])

    def _open(self, column: str) -> None:
        """Let the columns be found that lie in a column."""
        value = self._values[column]
        if value.__class__ is dict and (inner := self._fields.nested(column)) is not None:
            self._below.append((inner, value, spelled(tuple(value))))

    def _place(self, name: str) -> tuple[Fields, str] | None:
        """Where the column of that name is, if nobody took it."""
        column = self._columns.get(name)
        if column is not None and column in self._values:
            return self._fields, column
        for fields, values, columns in self._below:
            column = columns.get(name)
            if column is not None and column in values:
                return fields, column
        return None

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return self.look(name) is not None

    def column(self, name: str) -> str | None:
        """How the row spells a column; None if it has none of that name."""
        place = self._place(name)
        return None if place is None else place[1]

    def look(self, name: str) -> Any:
        """See a value and leave it. Most columns are asked for in vain: that costs least."""
        column = self._columns.get(name)
        value = None if column is None else self._values.get(column)
        if value is not None or not self._below:
            return value
        place = self._place(name)
        return None if place is None else place[0].look(place[1])

    def take(self, name: str) -> Any:
        """Move a value of any type out."""
        place = self._place(name)
        return None if place is None else place[0].take(place[1])

    def text(self, name: str) -> str | None:
        """Move a text out; blanks are none."""
        column = self._columns.get(name)
        if column is not None and self._values.get(column).__class__ is str:
            return self._values.pop(column) or None
        place = self._place(name) if self.has(name) else None
        return None if place is None else place[0].text(place[1]) or None

    def whole(self, name: str) -> int | None:
        """Move a whole number out, also one that is written as text."""
        place = self._place(name)
        if place is None:
            return None
        fields, column = place
        value = fields.look(column)
        if value.__class__ is str and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
            return int(fields.take(column))
        return fields.whole(column)

    def number(self, name: str) -> int | float | None:
        """Move a number out, also one that is written as text."""
        place = self._place(name)
        if place is None:
            return None
        fields, column = place
        value = fields.look(column)
        if value.__class__ is not str:
            return fields.number(column)
        digits = value.strip().replace(".", "", 1)
        if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
            fields.drop(column)
            return float(value) if "." in value else int(value)
        return fields.number(column)

    def when(self, names: Iterable[str]) -> str | None:
        """See the time that `moment` would move out."""
        for name in names:
            if (value := self.look(name)) is not None:
                return moment(value)
        return None

    def moment(self, names: Iterable[str]) -> str | None:
        """Move the first time out that one of the columns states."""
        for name in names:
            place = self._place(name)
            if place is None:
                continue
            fields, column = place
            if (at := moment(fields.look(column))) is not None:
                fields.drop(column)
                return at
            return fields.moment(column)
        return None

    def rest(self) -> dict[str, Any]:
        """What nobody took."""
        return self._fields.rest()


def moment(value: Any) -> str | None:
    """A time as logs state it."""
    return _written(value) if value.__class__ is str else timestamps.moment(value)


# The rows of a call mostly have the same time, which is asked for again when they are taken apart.
@lru_cache(maxsize=4096)
def _written(text: str) -> str | None:
    """A time as a text; the portal's CSV has it as people write it."""
    at = timestamps.moment(text)
    return timestamps.from_locale(text) if at is None and _NUMBERS.match(text) else at
