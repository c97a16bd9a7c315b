from __future__ import annotations

import csv
import io
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import csv_tables
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import Stream
from agent_journal.notes import Notes
from tests.memory_source import Bytes

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12) | st.text(
    'a",\n;', max_size=12
)


class Drops(io.BytesIO):
    """A stream that gives few bytes at a time."""

    size = 1

    def read(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 (the contract)
        return super().read(self.size)


class Dripping(Bytes):
    """A file whose bytes come in small blocks."""

    def __init__(self, data: bytes, block: int) -> None:
        super().__init__(data)
        self._block = block

    def open(self) -> Stream:
        stream = Drops(self._data)
        stream.size = self._block
        return stream


def read(data: bytes, *names: str, block: int = 0) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    notes = Notes()
    source = Dripping(data, block) if block else Bytes(data)
    found = list(csv_tables.rows(source, notes, names))
    return found, [f"{note.where} {note.kind}" for note in notes.collected]


def values(data: bytes, *names: str) -> list[dict[str, str]]:
    return [row for _, row in read(data, *names)[0]]


@given(
    st.lists(st.tuples(cells, cells, cells).filter(any), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.integers(1, 64),
)
def test_rows_are_those_that_were_written_however_they_are_cut_into_blocks(
    table: list[tuple[str, ...]], ending: str, quoting: Any, block: int
) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator=ending, quoting=quoting).writerows([("one", "two", "three"), *table])
    found, noted = read(written.getvalue().encode(), block=block)

    assert [dict(zip(("one", "two", "three"), row, strict=True)) for row in table] == [
        row for _, row in found
    ]
    assert [] == noted


@given(st.binary(max_size=80) | st.text('a",\n', max_size=40).map(str.encode), st.integers(1, 16))
def test_whatever_the_bytes_are_nothing_raises(data: bytes, block: int) -> None:
    found, noted = read(b"one,two\n" + data, block=block)

    assert (found, noted) == read(b"one,two\n" + data)
    assert all(row for _, row in found)
    assert sorted(number for number, _ in found) == [number for number, _ in found]


def test_each_row_has_the_number_of_its_first_line() -> None:
    found, _ = read(b'a,b\r\n1,"x\ny\nz"\r\n\r\n2,y\r\n"3\n",\r\n4,w')

    assert [2, 6, 7, 9] == [number for number, _ in found]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_distinguished(encoding: str) -> None:
    found, noted = read('Größe,Preis\n"für\nzwei",5 €\n'.encode(encoding))

    assert [(2, {"Größe": "für\nzwei", "Preis": "5 €"})] == found
    assert [] == noted


def test_a_bad_byte_among_good_characters_is_not_taken_for_a_code_page() -> None:
    found, noted = read(b"a,b\nc\xc3\xa9\xff,1\n")

    assert [{"a": "c\u00e9\ufffd", "b": "1"}] == [row for _, row in found]
    assert ["line 2 bad-encoding"] == noted


def test_a_field_may_be_larger_than_any_limit_of_the_csv_module() -> None:
    limit = csv.field_size_limit()
    large = 'say "hi",\n' * 300_000
    found = values(b'a,b\n1,"' + large.replace('"', '""').encode() + b'"\n2,' + b"x" * 400_000 + b"\n")

    assert [{"a": "1", "b": large}, {"a": "2", "b": "x" * 400_000}] == found
    assert limit == csv.field_size_limit() < sys.maxsize


def test_nul_is_a_character_and_a_row_of_nothing_else_is_noted() -> None:
    found, noted = read(b"a,b\nx\0y,\0\n\0\0\0\0")

    assert [(2, {"a": "x\0y", "b": "\0"})] == found
    assert ["line 3 bad-record"] == noted


def test_ragged_rows_are_preserved_and_noted() -> None:
    found, noted = read(b"a,b\n1\n1,2,3,4\n1,2\n")

    assert [{"a": "1"}, {"a": "1", "b": "2", "column 3": "3", "column 4": "4"}, {"a": "1", "b": "2"}] == [
        row for _, row in found
    ]
    assert ["line 2 wrong-type", "line 3 wrong-type"] == noted


@pytest.mark.parametrize(
    ("end", "row"), [(b'3,"a ""cut""\nfiel', {"a": "3", "b": 'a "cut"\nfiel'}), (b"3", {"a": "3"})]
)
def test_a_torn_end_is_preserved_as_far_as_it_goes_and_noted(end: bytes, row: dict[str, str]) -> None:
    found, noted = read(b"a,b\n1,2\n" + end)

    assert (3, row) == found[-1]
    assert ["line 3 torn-tail"] == noted


def test_a_whole_last_row_needs_no_line_break() -> None:
    assert ([(2, {"a": "1", "b": "x"})], []) == read(b'a,b\n1,"x"')


def test_a_quote_that_is_not_closed_costs_no_other_row() -> None:
    found, noted = read(b'a,b\n1,"x\n2,"y"\n3,"z\nz"\n')

    assert [(2, {"a": "1", "b": "x"}), (3, {"a": "2", "b": "y"}), (4, {"a": "3", "b": "z\nz"})] == found
    assert ["line 2 wrong-type"] == noted


def test_quotes_in_the_wrong_place_are_text() -> None:
    assert [{"a": 'x "y" z', "b": "quoted and more"}] == values(b'a,b\nx "y" z,"quoted" and more\n')


def test_columns_are_known_without_regard_to_case_and_spaces() -> None:
    assert [{"CreatedAt": "1", "Other": "2"}] == values(b"created at , Other\n1,2\n", "CreatedAt")


def test_columns_without_a_name_of_their_own_are_called_by_their_place() -> None:
    assert [{"a": "1", "column 2": "2", "column 3": "3"}] == values(b"a,a,\n1,2,3\n")


@pytest.mark.parametrize("data", [b"sep=;\na;b\n1,5;2\n", b"a;b\r\n1,5;2\r\n", b"a\tb\n1,5\t2\n"])
def test_what_spreadsheets_put_between_fields_is_identified_by_the_header(data: bytes) -> None:
    assert [{"a": "1,5", "b": "2"}] == values(data)


def test_a_second_header_is_no_row() -> None:
    found, noted = read(b"a,b\n1,2\na,b\n3,4\n")

    assert [2, 4] == [number for number, _ in found]
    assert ["line 3 repeated-record"] == noted


def test_a_row_beyond_the_limit_is_noted_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_tables, "MAX_ROW_BYTES", 64)
    found, noted = read(b"a,b\n1," + b"x" * 500 + b"\n2,y\n", block=16)

    assert [{"a": "2", "b": "y"}] == [row for _, row in found]
    assert ["line 2 too-large"] == noted
    assert [3] == [number for number, _ in found]


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (b'\xef\xbb\xbfOne,"Two, too" ,three\r\n1,2,3', ("One", "Two, too", "three")),
        ("One\tTwo\n1\t2\n".encode("utf-16"), ("One", "Two")),
        (b"sep=;\r\nOne;Two\r\n", ("One", "Two")),
        (b'{"a": 1, "b": 2}', ()),
        (b"[1, 2]", ()),
        (b"<!doctype html>, x", ()),
        (b"prose", ()),
        (b"", ()),
        (b"SQLite format 3\0,\0", ()),
    ],
)
def test_a_peek_sees_the_header(data: bytes, header: tuple[str, ...]) -> None:
    assert header == Peek(Bytes(data)).header
