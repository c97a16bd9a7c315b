"""Rows of the databases in which agents store their sessions, as records.

The columns of such tables grow from version to version. A record has those that are there and are not null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

ROWID = "rowid"


def has_columns(peek: Peek, table: str, columns: Collection[str]) -> bool:
    """Whether the input is a database that has a table with these columns."""
    return table in peek.columns and peek.columns[table] >= set(columns)


def each_row(
    database: Database,
    table: str,
    note: Notes,
    *,
    where: tuple[str, Any] | None = None,
    order: Sequence[str] = (),
    json_columns: Collection[str] = (),
    blob_columns: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, or those with one value in a column; none if there is no such table.

    Text that is not UTF-8 is replaced, and so are bytes in a column for text. JSON that cannot be decoded
    stays text.
    """
    columns = database.columns(table) if table in database.tables else ()
    if not columns or (where is not None and where[0] not in columns):
        return
    # SQLite would refuse a whole query because of one text that is not UTF-8.
    selected = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
        for name in map(_quoted, columns)
    )
    query = f"SELECT {selected} FROM {_quoted(table)}"  # noqa: S608 (quoted names)
    if where is not None:
        query += f" WHERE {_quoted(where[0])} = ?"
    if keys := ", ".join(_quoted(name) for name in order if name in columns or name == ROWID):
        query += f" ORDER BY {keys}"
    for row in database.rows(query, *(() if where is None else (where[1],))):
        record: dict[str, Any] = {}
        for name, value in zip(columns, row, strict=True):
            if value is not None:
                record[name] = value if name in blob_columns else _text(value, note, f"{table}.{name}")
        for name in json_columns:
            if record.get(name).__class__ is str:
                record[name] = _decoded(record[name], note, f"{table}.{name}")
        yield record


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any, note: Notes, where: str) -> Any:
    if value.__class__ is not bytes:
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        note(Kind.BAD_ENCODING, where, "not UTF-8")
        return value.decode("utf-8", "replace")


def _decoded(text: str, note: Notes, where: str) -> Any:
    """Return the value of a JSON text; an empty text is no value."""
    if not text.strip():
        return None
    value = json_stream.decode(text.encode("utf-8", "replace"), note, where)
    return text if value is json_stream.BAD else value
