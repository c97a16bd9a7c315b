"""Tables from the wild: the rows of a CSV file as dicts by its header, one at a time.

A row is found by counting quotes line by line, so that a field may hold line breaks and be of any size;
the `csv` module, whose limit on fields is one for the whole process, is not needed. Memory is bounded by the
largest row. A row with too many or too few fields is returned and noted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import utf8
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input, Stream
    from agent_journal.notes import Notes

# A row larger than this is not read: no format in use comes near it.
MAX_ROW_BYTES = 256 << 20
_BLOCK_BYTES = 1 << 20
# Spreadsheets save with semicolons where the comma is the decimal sign, and UTF-16 with tabs.
_DELIMITERS = ",;\t"
# What spreadsheets put before the header to name the delimiter.
_SEPARATOR_LINE = re.compile(r'"?sep=.?"?', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+("|\Z)')
# Inside a quoted field, a quote that ends it and is followed by what cannot follow a field.
_WRONG_END = re.compile(rb'[^"]*+(?:""[^"]*+)*+"[^",;\t\r\n]')
# A machine that stops while it writes leaves NULs.
_EMPTY = b" \t\r\n\0"
_LINE_FEED_CODE = 10
_NEVER = re.compile(rb"(?!)")
# A table with more columns than this is split field by field.
_MAX_PATTERN_COLUMNS = 100


def rows(source: Input, note: Notes, names: Iterable[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and values of each row after the header; empty rows do not count.

    A column that differs from one of `names` only in case or spaces gets that name. A field without a column
    is called `column 5`; a column without a field is absent.
    """
    with utf8(source) as stream:
        table = _Table(stream, note)
        header: list[str] = []
        columns: list[str] = []
        for number, fields in table:
            if not header:
                header, columns = fields, _columns(fields, names)
            elif fields == header:
                note(Kind.REPEATED_RECORD, number, "the header again")
            elif len(fields) == len(columns):
                yield number, dict(zip(columns, fields, strict=True))
            else:
                kind = Kind.TORN_TAIL if table.is_cut and len(fields) < len(columns) else Kind.WRONG_TYPE
                note(kind, number, f"{len(fields)} of {len(columns)} fields")
                yield number, _ragged(columns, fields)


def header_of(head: bytes) -> tuple[str, ...]:
    """The names of the columns if the first bytes of a file, as UTF-8, may be those of a table; else none."""
    for line in head[:_BLOCK_BYTES].lstrip().split(b"\n", 2)[:2]:
        text = line.decode("utf-8", "replace").strip("\r\ufeff")
        if not _SEPARATOR_LINE.fullmatch(text):
            fields = split(text, _delimiter(text))
            is_table = len(fields) > 1 and "\0" not in text
            return tuple(field.strip() for field in fields) if is_table else ()
    return ()


def folded(name: str) -> str:
    """A column's name without regard to case and spaces."""
    return "".join(name.split()).casefold()


def split(text: str, delimiter: str = ",") -> list[str]:
    """The fields of one row. A quote inside an unquoted field, or after a quoted one, is text."""
    if '"' not in text:
        return text.split(delimiter)
    fields: list[str] = []
    at, end = 0, len(text)
    while True:
        value = ""
        if quoted := _QUOTED.match(text, at):
            value = text[at + 1 : quoted.start(1)]
            if '""' in value:
                value = value.replace('""', '"')
            at = quoted.end()
        stop = text.find(delimiter, at)
        if stop < 0:
            stop = end
        fields.append(value + text[at:stop] if at < stop else value)
        if stop == end:
            return fields
        at = stop + 1


class _Table:
    """The rows of a stream, the header first: lines, joined while a quote is open, and split into fields."""

    def __init__(self, stream: Stream, note: Notes) -> None:
        self._stream = stream
        self._note = note
        self._number = 0
        self._data = b""
        self._at = 0
        # Known when the header was read.
        self._delimiter = ""
        self._width = 0
        self._common_row = _NEVER
        self.is_cut = False
        """Whether no line feed ends the row, and no open quote shows that already."""

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        while True:
            # All of a row at once, where it is well-formed and the block holds it; else line by line.
            if row := self._common_row.match(self._data, self._at):
                number = self._number + 1
                self._number += self._data.count(b"\n", self._at, row.end())
                self._at = row.end()
                fields = [
                    _decoded(field if field[:1] != b'"' else _unquoted(field), self._note, number)
                    for field in row.groups()
                ]
            elif record := self._line():
                number = self._number
                fields = self._fields(record, number)
            else:
                return
            if any(fields):
                yield number, fields

    def _fields(self, record: bytes, number: int) -> list[str]:
        """The fields of the row that begins with a line; none if there is nothing in it."""
        if record.count(b'"') & 1:
            record = self._closed(record)
        if len(record) >= MAX_ROW_BYTES:
            self._note(Kind.TOO_LARGE, number, f"a row of more than {MAX_ROW_BYTES:,} bytes")
            self._pass_line(record)
            return []
        if not record.strip(_EMPTY):
            if b"\0" in record:
                self._note(Kind.BAD_RECORD, number, f"{len(record):,} bytes of nothing but NUL")
            return []
        self.is_cut = record[-1] != _LINE_FEED_CODE and not record.count(b'"') & 1
        text = _decoded(record, self._note, number).removesuffix("\n").removesuffix("\r")
        if self._delimiter:
            return split(text, self._delimiter)
        return [] if _SEPARATOR_LINE.fullmatch(text) else self._header(text)

    def _header(self, text: str) -> list[str]:
        self._delimiter = _delimiter(text)
        fields = split(text, self._delimiter)
        self._width = len(fields)
        if self._width <= _MAX_PATTERN_COLUMNS:
            self._common_row = _common_row_pattern(self._delimiter, self._width)
        return fields

    def _line(self) -> bytes:
        """The next line, or as much of it as a row may have; nothing at the end."""
        self._number += 1
        seen = self._at
        while (end := self._data.find(b"\n", seen) + 1) == 0:
            seen = len(self._data) - self._at
            if seen >= MAX_ROW_BYTES or not self._grow():
                end = len(self._data)
                break
        line = self._data[self._at : end]
        self._at = end
        return line

    def _grow(self) -> bool:
        """Read more after what is left; whether there was more."""
        unread = self._data[self._at :]
        # Reading as much again keeps the work linear when one line is very large.
        block = self._stream.read(max(_BLOCK_BYTES, len(unread)))
        self._data, self._at = unread + block, 0
        return bool(block)

    def _pass_line(self, line: bytes) -> None:
        while line and line[-1] != _LINE_FEED_CODE:
            line = self._line()
            self._number -= 1

    def _closed(self, first: bytes) -> bytes:
        """The row that begins with a line in which a quote stays open."""
        number, parts, size = self._number, [first], len(first)
        while size < MAX_ROW_BYTES and (line := self._line()):
            count = line.count(b'"')
            if count and self._is_row(line):
                self._at -= len(line)
                self._number -= 1
                self._note(Kind.WRONG_TYPE, number, "a quote is not closed; the next row ends this one")
                return b"".join(parts)
            parts.append(line)
            size += len(line)
            if count & 1:
                return b"".join(parts)
        if size < MAX_ROW_BYTES:
            self._note(Kind.TORN_TAIL, number, "the file ends inside a quoted field")
        return b"".join(parts)

    def _is_row(self, line: bytes) -> bool:
        """Whether a line inside a quoted field is a row: its quotes are wrong there, and right in a row."""
        if not _WRONG_END.match(line):
            return False
        return len(split(line.decode("latin-1"), self._delimiter)) == self._width


def _common_row_pattern(delimiter: str, width: int) -> re.Pattern[bytes]:
    """Matches the fields of a well-formed row in one go."""
    field = rf'("[^"]*+(?:""[^"]*+)*+"|[^"\r\n{delimiter}]*+)'
    return re.compile((delimiter.join([field] * width) + r"\r?\n").encode())


def _unquoted(field: bytes) -> bytes:
    inside = field[1:-1]
    return inside.replace(b'""', b'"') if b'"' in inside else inside


def _decoded(raw: bytes, note: Notes, number: int) -> str:
    """The text of a row; one that is not UTF-8 and has no character of it is Windows' code page 1252."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    if text.replace("\ufffd", "").isascii():
        text = raw.decode("cp1252", "replace")
    if "\ufffd" in text:
        note(Kind.BAD_ENCODING, number, "not UTF-8")
    return text


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _columns(header: list[str], names: Iterable[str]) -> list[str]:
    spelled = {folded(name): name for name in names}
    columns: list[str] = []
    for place, field in enumerate(header):
        name = spelled.get(folded(field), field.strip())
        columns.append(name if name and name not in columns else _nameless(place))
    return columns


def _nameless(place: int) -> str:
    return f"column {place + 1}"


def _ragged(columns: list[str], fields: list[str]) -> dict[str, str]:
    row = dict(zip(columns, fields, strict=False))
    for place in range(len(columns), len(fields)):
        row[_nameless(place)] = fields[place]
    return row
