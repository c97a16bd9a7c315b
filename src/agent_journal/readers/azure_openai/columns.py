"""A row whose columns are cell in any spelling, also in nested columns."""

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

    from agent_journal.readers.azure_openai.rows import LocatedRow

_MAX_DIGITS = 18
# The beginning of a numeric date.
_NUMERIC_DATE = re.compile(r"\d{1,4}[./-] ?\d")
_NESTED = frozenset(NESTED)


class Layout(NamedTuple):
    """The spelling of a row's columns, and the columns needed to group rows."""

    columns: dict[str, str]
    is_nested: bool
    times: tuple[str, ...]
    ids: tuple[str, ...]
    sequence: tuple[str, ...]


@lru_cache(maxsize=1024)
def layout(columns: tuple[str, ...]) -> Layout:
    """Return the layout of rows with these columns; a log has few layouts."""
    spelling = spelled(columns)
    times, ids, sequence = (
        tuple(spelling[name] for name in names if name in spelling) for names in (TIMES, IDS, (SEQUENCE,))
    )
    return Layout(spelling, not _NESTED.isdisjoint(spelling), times, ids, sequence)


def glance(values: dict[str, Any], columns: dict[str, str], name: str) -> Any:
    """Return a value of a row with a known spelling of columns, and leave it in place."""
    if name in columns:
        return values[columns[name]]
    for nested in NESTED:
        inner = values.get(columns.get(nested, ""))
        if inner.__class__ is dict and name in (inner_columns := spelled(tuple(inner))):
            return inner[inner_columns[name]]
    return None


def parse_nested(value: Any) -> Any:
    """Parse a column with nested columns, which most exports have as text."""
    if value.__class__ is str and value.lstrip().startswith("{"):
        return json_stream.decode(value.encode("utf-8", "replace"), Notes(keep=0), "")
    return value


def open_nested(values: dict[str, Any], columns: dict[str, str]) -> None:
    """Parse the nested columns of a row in place."""
    for name in NESTED:
        if name in columns and (inner := parse_nested(values[columns[name]])).__class__ is dict:
            values[columns[name]] = inner


class Row:
    """A row whose values are taken by normalized names; other values keep their own name and nesting.

    Numbers may be text: CSV and the Azure CLI have only text.
    """

    def __init__(self, row: LocatedRow, note: Notes) -> None:
        self.where = row.location
        self.note = note
        self._fields = Fields(row.values, note, row.location)
        self._values = row.values
        self._columns = columns = spelled(tuple(row.values))
        self._nested_rows: list[tuple[Fields, dict[str, Any], dict[str, str]]] = []
        if not _NESTED.isdisjoint(columns):
            for name in NESTED:
                if name in columns:
                    self._open(columns[name])

    def _open(self, column: str) -> None:
        """Make the nested columns of a column available."""
        value = self._values[column]
        if value.__class__ is dict and (inner := self._fields.nested(column)) is not None:
            self._nested_rows.append((inner, value, spelled(tuple(value))))

    def _find(self, name: str) -> tuple[Fields, str] | None:
        """Return the fields and the spelling of a column that was not taken yet."""
        column = self._columns.get(name)
        if column is not None and column in self._values:
            return self._fields, column
        for fields, values, columns in self._nested_rows:
            column = columns.get(name)
            if column is not None and column in values:
                return fields, column
        return None

    def has(self, name: str) -> bool:
        """Return whether the row has a column."""
        return self.view(name) is not None

    def column(self, name: str) -> str | None:
        """Return the row's spelling of a column; None if it lacks the column."""
        cell = self._find(name)
        return None if cell is None else cell[1]

    def view(self, name: str) -> Any:
        """Return a value and leave it in place; absent columns, the most common case, are fastest."""
        column = self._columns.get(name)
        value = None if column is None else self._values.get(column)
        if value is not None or not self._nested_rows:
            return value
        cell = self._find(name)
        return None if cell is None else cell[0].view(cell[1])

    def take(self, name: str) -> Any:
        """Take a value of any type."""
        cell = self._find(name)
        return None if cell is None else cell[0].take(cell[1])

    def text(self, name: str) -> str | None:
        """Take a text; None if it is empty."""
        column = self._columns.get(name)
        if column is not None and self._values.get(column).__class__ is str:
            return self._values.pop(column) or None
        cell = self._find(name) if self.has(name) else None
        return None if cell is None else cell[0].text(cell[1]) or None

    def whole(self, name: str) -> int | None:
        """Take an integer, also one written as text."""
        cell = self._find(name)
        if cell is None:
            return None
        fields, column = cell
        value = fields.view(column)
        if value.__class__ is str and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS:
            return int(fields.take(column))
        return fields.whole(column)

    def number(self, name: str) -> int | float | None:
        """Take a number, also one written as text."""
        cell = self._find(name)
        if cell is None:
            return None
        fields, column = cell
        value = fields.view(column)
        if value.__class__ is not str:
            return fields.number(column)
        digits = value.strip().replace(".", "", 1)
        if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS:
            fields.drop(column)
            return float(value) if "." in value else int(value)
        return fields.number(column)

    def peek_time(self, names: Iterable[str]) -> str | None:
        """Return the time that `time` would take."""
        for name in names:
            if (value := self.view(name)) is not None:
                return parse_time(value)
        return None

    def time(self, names: Iterable[str]) -> str | None:
        """Take the first time of some columns."""
        for name in names:
            cell = self._find(name)
            if cell is None:
                continue
            fields, column = cell
            if (at := parse_time(fields.view(column))) is not None:
                fields.drop(column)
                return at
            return fields.timestamp(column)
        return None

    def rest(self) -> dict[str, Any]:
        """Return the values that were not taken."""
        return self._fields.rest()


def parse_time(value: Any) -> str | None:
    """Parse a time as logs write it."""
    return _parse_text(value) if value.__class__ is str else timestamps.parse_timestamp(value)


# The rows of a call mostly have the same time, which is needed again when they are parsed.
@lru_cache(maxsize=4096)
def _parse_text(text: str) -> str | None:
    """Parse a time as text; the portal's CSV has the local format."""
    at = timestamps.parse_timestamp(text)
    return timestamps.from_locale(text) if at is None and _NUMERIC_DATE.match(text) else at
