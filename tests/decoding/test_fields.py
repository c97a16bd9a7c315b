"""Ids, fields, notes."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding.fields import Fields
from agent_journal.model import ids
from agent_journal.notes import Kind, Notes


@given(st.text())
def test_uuid5_is_the_standard_librarys(name: str) -> None:
    expected = uuid.uuid5(uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), name)

    assert str(expected) == ids.uuid5(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0574c517-2408-4a20-8808-7626fd961640", True),
        ("0574C517-2408-4A20-8808-7626FD961640", True),
        ("0574c51724084a2088087626fd961640", False),
        ("{0574c517-2408-4a20-8808-7626fd961640}", False),
        ("0574c517-2408-4a20-8808-7626fd96164g", False),
        ("", False),
    ],
)
def test_is_uuid(text: str, expected: bool) -> None:
    assert expected is ids.is_uuid(text)


def test_made_ids_follow_content_not_key_order() -> None:
    assert ids.made({"a": 1, "b": 2}) == ids.made({"b": 2, "a": 1})
    assert ids.made("a", "b") != ids.made("ab")
    assert [ids.made("a", 1, "b"), ids.made("a", 1, "c", 2)] == ids.made_each(("a", 1), ("b",), ("c", 2))


def test_the_hash_of_cooked_messages() -> None:
    message = {
        "role": "user",
        "content": "What's 2+2?",
        "tool_calls": None,
        "tool_use_id": None,
        "is_error": None,
    }

    assert ids.trace_hash(message) == "f1388d4d84b7a360"
    assert ids.trace_hash({"b": "é", "a": 1}) == ids.trace_hash({"a": 1, "b": "é"})


def test_fields_keeps_what_nobody_takes() -> None:
    notes = Notes()
    record = {"a": "x", "b": 1, "c": {"d": 2, "e": [1]}, "f": None, "g": "left"}
    fields = Fields(record, notes, 7)
    inner = fields.nested("c")
    assert inner is not None

    assert (fields.text("a"), fields.whole("b"), inner.take("d"), fields.take("f")) == ("x", 1, 2, None)
    assert fields.rest() == {"c": {"e": [1]}, "g": "left"}
    assert notes.collected == []


def test_fields_leaves_values_of_another_type_and_says_so() -> None:
    notes = Notes()
    fields = Fields(
        {"a": 1, "b": "x", "c": [], "d": "no", "e": {}, "f": "x", "g": "late", "h": True}, notes, "[3]"
    )

    assert fields.text("a") is None
    assert fields.whole("b") is None
    assert fields.bag("c") is None
    assert fields.flag("d") is None
    assert fields.items("e") is None
    assert fields.number("f") is None
    assert fields.timestamp("g") is None
    assert fields.whole("h") is None
    assert sorted(fields.rest()) == list("abcdefgh")
    assert {note.where for note in notes.collected} == {"[3]"}
    assert [note.kind for note in notes.collected] == ["wrong-type"] * 6 + ["bad-time", "wrong-type"]


def test_fields_gives_a_price_as_one_kind_of_number() -> None:
    notes = Notes()
    fields = Fields({"a": 0, "b": 0.5, "c": 10**400, "d": None, "e": True}, notes, 1)
    got = [fields.decimal(name) for name in "abcde"]

    assert got == [0.0, 0.5, None, None, None]
    assert got[0].__class__ is float
    assert fields.rest() == {"c": 10**400, "e": True}
    assert [note.kind for note in notes.collected] == ["wrong-type"] * 2


def test_fields_moves_drops_and_looks() -> None:
    fields = Fields({"a": 2.0, "b": 1, "c": 3, "at": 1770000000}, Notes(), 1)

    assert fields.whole("a") == 2
    assert fields.view("b") == 1
    fields.drop("c")
    assert fields.timestamp("at") == "2026-02-02T02:40:00Z"
    assert fields.rest() == {"b": 1}


def test_notes_count_all_and_keep_some() -> None:
    notes = Notes("a.json", keep=2)
    for line in range(5):
        notes(Kind.BAD_RECORD, line)
    notes.about("b.json")(Kind.BAD_TIME, "[1]", "odd")

    assert [str(note) for note in notes.collected] == [
        "a.json line 0: bad-record",
        "a.json line 1: bad-record",
        "b.json [1]: bad-time: odd",
    ]
    assert notes.counts == {Kind.BAD_RECORD: 5, Kind.BAD_TIME: 1}
    assert notes.damaged


def test_anomalies_are_not_damage() -> None:
    notes = Notes()
    notes(Kind.DANGLING_PARENT)

    assert not notes.damaged
