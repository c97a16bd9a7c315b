"""One look at an input, shown to all readers: they recognize their own by its structure."""

from __future__ import annotations

import io
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import csv_tables, json_stream
from agent_journal.decoding.text_encoding import decoded_head, head_text
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import HEAD_BYTES
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database

# The first records are mostly enough; where they are not, some more may be.
_DEFAULT_RECORDS, _MAX_RECORDS = 4, 40
# With fewer whole records than this, the one that the end of the head cuts is looked at too.
_MIN_WHOLE_RECORDS = 3
# What Git LFS leaves in the place of a large file.
_POINTER = b"version https://git-lfs.github.com/spec/"
_SQLITE = b"SQLite format 3\0"
# A zip, gzip and zstd, which nobody looks at unopened unless they are packed twice; 7z, rar, xz.
_PACKED = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
    *(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\xfd7zXZ\0"),
)
_TAR, _TAR_AT = b"ustar", 257
_MAX_ROWS = 20
# No row if there is nothing, as all of it may still be in the file of the newest rows.
_SELECT_TABLES = (
    "SELECT group_concat(name, char(10)) FROM sqlite_schema WHERE type = 'table' HAVING count(*) > 0"
)
# Virtual tables may need a module that is not there, and no reader looks at them.
_SELECT_COLUMNS = (
    "SELECT group_concat(tables.name || char(9) || columns.name, char(10))"
    " FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns"
    " WHERE tables.type = 'table' AND tables.sql NOT LIKE 'CREATE VIRTUAL%' HAVING count(*) > 0"
)
# A first line may hold a picture.
_MAX_FIRST_LINE_BYTES = 64 << 20


class Peek:
    """The beginning of a file, or the names in a folder. Nothing is read before it is asked for."""

    def __init__(self, source: Input, most_records: int = _DEFAULT_RECORDS) -> None:
        self._source = source
        self._most_records = most_records
        self.name = source.name
        self.path = source.path
        self.label = source.label
        self.is_folder = source.is_folder
        self.failures: list[tuple[str, Exception]] = []
        """Readers that failed while they looked at it, and how."""

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Names of the files directly in the folder; none for a file."""
        return tuple(child.name for child in self._children if not child.is_folder)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """Names of the folders directly in the folder; none for a file."""
        return tuple(child.name for child in self._children if child.is_folder)

    def folder(self, name: str) -> Peek | None:
        """A look at a folder in the folder."""
        return next((Peek(child) for child in self._children if child.is_folder and child.name == name), None)

    @cached_property
    def _children(self) -> Sequence[Input]:
        return self._source.children()

    def member(self, *names: str) -> Peek | None:
        """A look at a file in the folder, or in a folder in it; each name is one step."""
        member = self._source.companion(*names)
        return None if member is None else Peek(member)

    @cached_property
    def raw(self) -> bytes:
        """The first bytes of the file as they are."""
        if self.is_folder:
            return b""
        with self._source.open() as stream:
            return stream.read(HEAD_BYTES)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file as plain UTF-8."""
        return head_text(self.raw)

    def beyond(self, mark: bytes, most: int) -> bytes:
        """What begins with a mark, looked for in so many bytes of a file that opens with a long preamble."""
        with self._source.open() as stream:
            data = self.raw[:0]
            while len(data) < most and (block := stream.read(most - len(data))):
                data += block
        return data[at : at + HEAD_BYTES] if (at := data.find(mark)) >= 0 else b""

    @property
    def is_cut(self) -> bool:
        """Whether the file goes on after the head."""
        return len(self.raw) == HEAD_BYTES

    @cached_property
    def opening(self) -> str:
        """The first character that is no white space."""
        return self._text[:1].decode("utf-8", "replace")

    @cached_property
    def _text(self) -> bytes:
        return self.head.lstrip()

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of the columns if the file may be a table (CSV); else none."""
        return () if self.opening in {"", "[", "{", "<"} else csv_tables.header_of(self._text)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of its tables if the file is a SQLite database; else none."""
        # In one row, as a query gives only the first rows.
        (names,) = next(iter(self.query(_SELECT_TABLES)), (None,))
        return frozenset(names.split("\n")) if isinstance(names, str) else frozenset()

    @cached_property
    def columns(self) -> dict[str, frozenset[str]]:
        """The names of the columns of each table if the file is a SQLite database; else none."""
        (names,) = next(iter(self.query(_SELECT_COLUMNS)), (None,))
        columns: dict[str, set[str]] = {}
        for line in names.split("\n") if isinstance(names, str) else ():
            table, _, column = line.partition("\t")
            columns.setdefault(table, set()).add(column)
        return {table: frozenset(own) for table, own in columns.items()}

    def query(self, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
        """The first rows of a query if the file is a SQLite database that can answer it; else none."""
        if not self.raw.startswith(_SQLITE):
            return []
        from agent_journal.inputs import sqlite_copy  # noqa: PLC0415 (only databases need it)

        rows = _first_rows(sqlite_copy.glanced(self._source), sql, values)
        if not rows and sqlite_copy.has_wal(self._source):  # all of it may still be there
            rows = _first_rows(sqlite_copy.opened(self._source), sql, values)
        return rows

    @cached_property
    def value(self) -> Any:
        """The file as one JSON value, with what lies beyond the head left out; else None."""
        if self.opening not in {"[", "{"} or self._is_lines:
            return None
        if not self.is_cut and (value := self._decoded(self._text)) is not None:
            return value
        return self._decoded(json_stream.repaired(self._text))

    @cached_property
    def _is_lines(self) -> bool:
        """Whether the first line is a value by itself and others follow."""
        line, _, rest = self._text.partition(b"\n")
        return self.opening == "{" and bool(rest.strip()) and self._decoded(line) is not None

    @cached_property
    def records(self) -> tuple[dict[str, Any], ...]:
        """The objects the file begins with: elements of its array, its lines, or itself.

        The last one may be cut; it then has the members that lie within the head.
        """
        records = self._lines() if self.opening != "[" else self._elements()
        return tuple(record for record in records[: self._most_records] if isinstance(record, dict))

    def further(self) -> Peek | None:
        """A look at more records, if there may be more than were looked at."""
        if self.is_folder or len(self.records) < self._most_records or self._most_records >= _MAX_RECORDS:
            return None
        wider = Peek(self._source, _MAX_RECORDS)
        wider.failures = self.failures
        return wider

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of the fields that any of the records has: the quick way to say no."""
        return frozenset().union(*self.records)

    def _elements(self) -> list[Any]:
        if isinstance(self.value, list):
            return self.value
        return [value for _, value in json_stream.elements_in(io.BytesIO(self._text), Notes())]

    def _lines(self) -> list[Any]:
        if self.opening != "{":
            return []
        whole = self._text.split(b"\n", self._most_records)
        if not whole[0].rstrip().endswith(b"}") and isinstance(self.value, dict):
            return [self.value]  # one object over many lines, some of which would do alone
        # What follows the last line that is examined, or the line that the end of the head cuts.
        rest = whole.pop() if self.is_cut or len(whole) > self._most_records else b""
        cut = rest if b"\n" not in rest and self.is_cut else b""
        values = [self._decoded(line) for line in whole[: self._most_records] if line.strip()]
        if cut and len(values) < _MIN_WHOLE_RECORDS:
            values.append(self._decoded(json_stream.repaired(cut)))
        good = [value for value in values if isinstance(value, dict)]
        return good or [self.value]

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is nothing in the file but white space."""
        return not self.is_folder and not self.head.strip()

    @cached_property
    def is_unfinished(self) -> bool:
        """Whether the file holds nothing but the beginning of a JSON value: it may still be being written."""
        if self.is_folder or self.opening not in {"", "[", "{"}:
            return False
        if not self.is_cut:
            return json_stream.is_unfinished(self._text)
        if self._is_lines:
            return False
        with self._source.open() as stream:
            data = stream.read(_MAX_FIRST_LINE_BYTES)
        return len(data) < _MAX_FIRST_LINE_BYTES and json_stream.is_unfinished(decoded_head(data))

    def looks_like(self) -> str:
        """In a few words, what a file that nobody claims seems to be."""
        if self.is_folder:
            return "no file in it has a known layout"
        if self.is_empty:
            return "it is empty"
        start = self.head.lstrip()[:200].lower()
        if start.startswith((b"<!doctype html", b"<html")):
            return "it is a web page (HTML), perhaps a login or error page saved in place of the data"
        if self.raw.startswith(_SQLITE):
            return "it is a database that no reader knows"
        if self.raw.startswith(_PACKED) or self.raw[_TAR_AT:].startswith(_TAR):
            return "it is packed in a way that is not opened; unpack it, and give what is in it"
        if self.raw.startswith(_POINTER):
            return "it only points to the file, which Git LFS keeps elsewhere; 'git lfs pull' brings it"
        if b"\0" in self.raw[:4096]:
            return "it is a binary file"
        if self.opening in {"[", "{"}:
            keys = sorted({key for record in self.records[:5] for key in record})
            return (
                f"it is JSON with {', '.join(keys[:8])}"
                if keys
                else "it looks like JSON but holds no object, or cannot be decoded"
            )
        return "it is text that no reader knows"

    def _decoded(self, data: bytes) -> Any:
        value = json_stream.decode(data, self._quiet, "")
        return None if value is json_stream.BAD else value

    @cached_property
    def _quiet(self) -> Notes:
        return Notes(keep=0)


def _first_rows(
    opening: AbstractContextManager[Database], sql: str, values: tuple[str | int, ...]
) -> list[tuple[Any, ...]]:
    try:
        with opening as opened:
            return list(islice(opened.rows(sql, *values), _MAX_ROWS))
    except UnreadableSource:
        return []
