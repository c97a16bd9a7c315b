"""Reads the rows of a log from an array, lines, a table of the REST API, or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import csv_tables, json_stream
from agent_journal.detection.peek import Peek
from agent_journal.model import timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.azure_openai.detect import WRAPPERS, columns_and_rows
from agent_journal.readers.azure_openai.names import RESPONSE_TIME, TIMES, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input

# The Azure CLI prints values as Python does, and adds a column with the table's name.
_CLI_COLUMN = "TableName"
_CLI_NULL = "None"
_WRAPPER_FIELDS = frozenset({"tables", *WRAPPERS})
_TIME_COLUMNS = frozenset({*TIMES, RESPONSE_TIME})


class LocatedRow(NamedTuple):
    """A row and its location, without empty values, which a table cannot distinguish from absent ones."""

    location: str
    values: dict[str, Any]


def rows(source: Input, note: Notes) -> Iterator[LocatedRow]:
    """Yield the rows of a file."""
    if Peek(source).opening not in {"[", "{"}:
        yield from _rows_of_csv(source, note)
        return
    for location, value in json_stream.values(source, note):
        if value.__class__ is dict and _WRAPPER_FIELDS.isdisjoint(value):
            yield LocatedRow(location, _without_empty_values(value))
        elif value.__class__ is dict:
            yield from _rows_in(value, location, note)
        else:
            note(Kind.BAD_RECORD, location, f"a row is {type(value).__name__}")


def _rows_of_csv(source: Input, note: Notes) -> Iterator[LocatedRow]:
    """Yield the rows of the portal's export, whose dates have the format of the browser's language."""
    day_first: bool | None = None
    for number, row in csv_tables.rows(source, note):
        values: dict[str, Any] = {name: value for name, value in row.items() if value}
        time_columns = [
            name for name in values if folded(name) in _TIME_COLUMNS and timestamps.is_of_locale(values[name])
        ]
        if time_columns and day_first is None:
            day_first = timestamps.is_day_first(_dates(source, time_columns[0]))
        if day_first:
            converted = {name: timestamps.from_locale(values[name], day_first=True) for name in time_columns}
            values |= {name: at for name, at in converted.items() if at is not None}
        yield LocatedRow(f"line {number}", values)


def _dates(source: Input, column: str) -> Iterator[str]:
    return (row.get(column, "") for _, row in csv_tables.rows(source, Notes(keep=0)))


def _rows_in(value: dict[str, Any], location: str, note: Notes) -> Iterator[LocatedRow]:
    """Yield the rows of an object. Answers of the REST API are below 100 MB and read into memory at once."""
    listed = value.get("tables")
    if listed.__class__ is list:
        for number, table in enumerate(listed):
            yield from _rows_of_table(table, f"tables[{number}]", note)
        return
    wrapper = next((name for name in WRAPPERS if value.get(name).__class__ is list), None)
    if wrapper is None:
        yield LocatedRow(location, _without_empty_values(value))
        return
    for number, row in enumerate(value[wrapper]):
        if row.__class__ is dict:
            yield LocatedRow(f"{location} {wrapper}[{number}]", _without_empty_values(row))
        else:
            note(Kind.BAD_RECORD, f"{location} {wrapper}[{number}]", f"a row is {type(row).__name__}")


def _rows_of_table(table: Any, location: str, note: Notes) -> Iterator[LocatedRow]:
    columns, listed = columns_and_rows(table)
    if not columns:
        note(Kind.BAD_RECORD, location, "a table without columns")
    for number, row in enumerate(listed):
        row_location = f"{location} row {number}"
        if row.__class__ is not list:
            note(Kind.BAD_RECORD, row_location, f"a row is {type(row).__name__}")
            continue
        if len(row) != len(columns):
            note(Kind.WRONG_TYPE, row_location, f"{len(row)} of {len(columns)} fields")
        extra_columns = [f"column {index + 1}" for index in range(len(columns), len(row))]
        yield LocatedRow(
            row_location, _without_empty_values(dict(zip([*columns, *extra_columns], row, strict=False)))
        )


def _without_empty_values(row: dict[str, Any]) -> dict[str, Any]:
    if _CLI_COLUMN in row:
        return {
            name: value for name, value in row.items() if value is not None and value not in ("", _CLI_NULL)
        }
    return {name: value for name, value in row.items() if value is not None and value != ""}
