"""The rows of a log, whatever holds them: an array, lines, a table of the REST API, CSV."""

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

    from agent_journal.inputs.input import Source

# The Azure CLI prints every value as Python does, and puts the table's name before the columns.
_PRINTED_BY = "TableName"
_PRINTED_NULL = "None"
_HOLDERS = frozenset({"tables", *WRAPPERS})
_DATED = frozenset({*TIMES, RESPONSE_TIME})


class Placed(NamedTuple):
    """A row and where it stands. It has no empty values: a table cannot tell them from absent ones."""

    where: str
    values: dict[str, Any]


def rows(source: Source, note: Notes) -> Iterator[Placed]:
    """Every row of a file."""
    if Peek(source).opening not in {"[", "{"}:
        yield from _rows_of_csv(source, note)
        return
    for where, value in json_stream.values(source, note):
        if value.__class__ is dict and _HOLDERS.isdisjoint(value):
            yield Placed(where, _stated(value))
        elif value.__class__ is dict:
            yield from _rows_in(value, where, note)
        else:
            note(Kind.BAD_RECORD, where, f"a row is {type(value).__name__}")


def _rows_of_csv(source: Source, note: Notes) -> Iterator[Placed]:
    """The rows of what the portal exports; it writes dates as the browser's language does."""
    day_first: bool | None = None
    for number, row in csv_tables.rows(source, note):
        values: dict[str, Any] = {name: value for name, value in row.items() if value}
        dated = [name for name in values if folded(name) in _DATED and timestamps.is_of_locale(values[name])]
        if dated and day_first is None:
            day_first = timestamps.is_day_first(_dates(source, dated[0]))
        if day_first:
            known = {name: timestamps.from_locale(values[name], day_first=True) for name in dated}
            values |= {name: at for name, at in known.items() if at is not None}
        yield Placed(f"line {number}", values)


def _dates(source: Source, column: str) -> Iterator[str]:
    return (row.get(column, "") for _, row in csv_tables.rows(source, Notes(keep=0)))


def _rows_in(value: dict[str, Any], where: str, note: Notes) -> Iterator[Placed]:
    """The rows that an object is or holds. The answer of the REST API is below 100 MB, and taken whole."""
    listed = value.get("tables")
    if listed.__class__ is list:
        for number, table in enumerate(listed):
            yield from _rows_of_table(table, f"tables[{number}]", note)
        return
    wrapper = next((name for name in WRAPPERS if value.get(name).__class__ is list), None)
    if wrapper is None:
        yield Placed(where, _stated(value))
        return
    for number, row in enumerate(value[wrapper]):
        if row.__class__ is dict:
            yield Placed(f"{where} {wrapper}[{number}]", _stated(row))
        else:
            note(Kind.BAD_RECORD, f"{where} {wrapper}[{number}]", f"a row is {type(row).__name__}")


def _rows_of_table(table: Any, where: str, note: Notes) -> Iterator[Placed]:
    columns, listed = columns_and_rows(table)
    if not columns:
        note(Kind.BAD_RECORD, where, "a table without columns")
    for number, row in enumerate(listed):
        place = f"{where} row {number}"
        if row.__class__ is not list:
            note(Kind.BAD_RECORD, place, f"a row is {type(row).__name__}")
            continue
        if len(row) != len(columns):
            note(Kind.WRONG_TYPE, place, f"{len(row)} of {len(columns)} fields")
        further = [f"column {index + 1}" for index in range(len(columns), len(row))]
        yield Placed(place, _stated(dict(zip([*columns, *further], row, strict=False))))


def _stated(row: dict[str, Any]) -> dict[str, Any]:
    if _PRINTED_BY in row:
        return {
            name: value
            for name, value in row.items()
            if value is not None and value not in ("", _PRINTED_NULL)
        }
    return {name: value for name, value in row.items() if value is not None and value != ""}
