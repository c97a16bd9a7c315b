"""The members of one large object, in one pass."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import json_stream
from agent_journal.notes import Notes
from tests.memory_source import Bytes

plain = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9)
elements = st.lists(plain | st.dictionaries(st.text(max_size=3), plain, max_size=3), max_size=6)


def members(data: bytes) -> tuple[list[tuple[str, int | None, Any]], list[str]]:
    notes = Notes()
    return [*json_stream.members(Bytes(data), notes)], [note.kind for note in notes.collected]


@given(st.dictionaries(st.text(max_size=4), elements | plain, max_size=5), st.sampled_from([None, 1]))
def test_members_are_those_of_the_object(whole: dict[str, Any], indent: int | None) -> None:
    expected: list[tuple[str, int | None, Any]] = []
    for key, value in whole.items():
        expected += (
            [(key, index, element) for index, element in enumerate(value)]
            if isinstance(value, list)
            else [(key, None, value)]
        )

    assert (expected, []) == members(json.dumps(whole, indent=indent).encode())


def test_what_opens_one_array_is_not_looked_for_in_the_next() -> None:
    whole = {"a": [{"x": 1}, {"x": 2}, {"x": 3}], "b": [{"y": 1}, {"x": 2}], "c": {"x": 1}}

    found, kinds = members(json.dumps(whole).encode())

    assert [1, 2, 3] == [value["x"] for key, _, value in found if key == "a"]
    assert [{"y": 1}, {"x": 2}] == [value for key, _, value in found if key == "b"]
    assert [] == kinds


def test_a_bad_element_costs_one_element() -> None:
    found, kinds = members(b'{"a": [{"x": 1}, {"x": 2 2}, {"x": 3}], "b": [4]}')

    assert [("a", 0, {"x": 1}), ("a", 2, {"x": 3}), ("b", 0, 4)] == found
    assert ["bad-record"] == kinds


@pytest.mark.parametrize(
    ("text", "count", "kind"),
    [
        (b'{"a": [1, 2], "b": [3', 2, "truncated"),
        (b'{"a": [1, 2],', 2, "truncated"),
        (b'{"a": [1, 2', 1, "truncated"),
        (b'{"a": [{"x": 1}, {"x": ', 1, "truncated"),
        (b'{"a" 5, "b": 6}', 0, "bad-record"),
        (b"[1]", 0, "bad-record"),
        (b"", 0, "bad-record"),
    ],
)
def test_what_is_missing_is_noted_once(text: bytes, count: int, kind: str) -> None:
    found, kinds = members(text)

    assert [kind] == kinds
    assert len(found) in (count, count + 1)
