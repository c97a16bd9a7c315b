from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import json_stream, json_window
from agent_journal.notes import Notes
from tests.memory_source import Bytes

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
records = st.fixed_dictionaries({"title": st.text(max_size=5), "body": values})
layouts = st.sampled_from([(None, (",", ":")), (None, (", ", ": ")), (2, (",", ": "))])


def dumped(value: Any, layout: Any, *, ascii_only: bool) -> bytes:
    indent, separators = layout
    return json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only).encode()


def noted(notes: Notes) -> list[str]:
    return [f"{note.where} {note.kind}" for note in notes.collected]


@given(st.lists(records | values, max_size=8), layouts, st.booleans(), st.integers(1, 64))
def test_elements_are_those_of_the_array_however_it_is_laid_out_and_cut_into_blocks(
    array: list[Any], layout: Any, ascii_only: bool, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_window, "BLOCK_BYTES", block)
        patch.setattr(json_stream, "BLOCK_BYTES", block)
        notes = Notes()
        got = list(json_stream.elements(Bytes(dumped(array, layout, ascii_only=ascii_only)), notes))

    assert list(enumerate(array)) == got
    assert [] == notes.collected


@given(st.lists(records, min_size=2, max_size=6), st.data(), st.integers(1, 64))
def test_one_bad_element_costs_one_element(array: list[Any], data: st.DataObject, block: int) -> None:
    bad = data.draw(st.integers(1, len(array) - 1))
    array[bad - 1]["body"] = ["]}", "[{", 'x"]}']
    broken = data.draw(
        st.sampled_from(
            [
                b'{"title":"x","body":nul}',
                b'{"title":"x" "body":1}',
                b'{"title":"x",}',
                b'{"title":"]}\\"[","body":[nul,"}"]}',
            ]
        )
    )
    parts = [dumped(element, (None, (",", ":")), ascii_only=True) for element in array]
    parts[bad] = broken
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_window, "BLOCK_BYTES", block)
        patch.setattr(json_stream, "BLOCK_BYTES", block)
        notes = Notes()
        got = list(json_stream.elements(Bytes(b"[" + b",".join(parts) + b"]"), notes))

    assert [(place, value) for place, value in enumerate(array) if place != bad] == got
    assert [f"[{bad}] bad-record"] == noted(notes)


class Record(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    body: int | None


@given(st.lists(records | values, max_size=8), layouts, st.integers(1, 64), st.integers(1, 3))
def test_elements_that_have_the_shape_are_decoded_into_it(
    array: list[Any], layout: Any, block: int, max_failures: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_window, "BLOCK_BYTES", block)
        patch.setattr(json_stream, "BLOCK_BYTES", block)
        patch.setattr(json_window, "_MAX_FAILURES", max_failures)
        notes = Notes()
        source = Bytes(dumped(array, layout, ascii_only=False))
        got = list(json_stream.elements(source, notes, shape=json_stream.Shape(Record)))

    assert list(enumerate(array)) == [(place, msgspec.to_builtins(value)) for place, value in got]
    assert [] == notes.collected


def test_several_elements_are_decoded_into_their_shape() -> None:
    array = [{"title": str(number), "body": number} for number in range(100)]
    source = Bytes(dumped(array, (None, (",", ":")), ascii_only=True))

    got = [value for _, value in json_stream.elements(source, Notes(), shape=json_stream.Shape(Record))]

    assert [Record(str(number), number) for number in range(100)] == got


@pytest.mark.parametrize(
    ("text", "values", "notes"),
    [
        (b"[nul", [], ["[0] truncated"]),
        (b"[1,nul,2]", [1, 2], ["[1] bad-record"]),
        (b'[tru,{"a":1}]', [{"a": 1}], ["[0] bad-record"]),
        (b"[ nonsense words here", [], ["[0] truncated"]),
        (b"[-", [], ["[0] truncated"]),
        (b"[}]", [], ["[0] bad-record"]),
        (b'[{"a":1}}, 2]', [{"a": 1}, 2], ["[1] bad-record"]),
        (b'{"a":1} more', [{"a": 1}], ["[1] bad-record"]),
        (b'[{"a":1}] more', [{"a": 1}], ["[1] bad-record"]),
        (b'[{"a":1} x {"a":2}]', [{"a": 1}, {"a": 2}], ["[1] bad-record"]),
    ],
)
def test_words_that_are_no_values(text: bytes, values: list[Any], notes: list[str]) -> None:
    collected = Notes()

    assert values == [value for _, value in json_stream.elements(Bytes(text), collected)]
    assert notes == noted(collected)


@given(
    st.binary(max_size=60) | st.text('[]{}",:\\\n nul1-e.{tx', max_size=60).map(str.encode),
    st.integers(1, 16),
)
def test_no_bytes_at_all_break_or_hang_it(data: bytes, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_window, "BLOCK_BYTES", block)
        patch.setattr(json_stream, "BLOCK_BYTES", block)
        for read in (json_stream.elements, json_stream.values, json_stream.lines):
            found = list(read(Bytes(data), Notes()))
            assert len(found) <= len(data)


def test_objects_inside_that_open_like_the_elements_are_not_taken_for_them() -> None:
    good = [{"id": str(n), "name": "x", "inside": [{"id": "a", "text": "y"}, {"id": "b"}]} for n in range(4)]
    text = json.dumps(good).replace('"1", "name":', '"1", "name"').encode()
    notes = Notes()

    assert [value["id"] for _, value in json_stream.elements(Bytes(text), notes)] == ["0", "2", "3"]
    assert noted(notes) == ["[1] bad-record"]


def test_an_element_with_an_open_string_does_not_swallow_its_siblings() -> None:
    notes = Notes()
    text = b'[{"title":"a"},{"title":"b},{"title":"c"},{"title":"d"}]'

    got = [value["title"] for _, value in json_stream.elements(Bytes(text), notes)]

    assert ["a", "c", "d"] == got
    assert ["[1] bad-record"] == noted(notes)


@pytest.mark.parametrize("cut", range(1, 43))
def test_a_cut_array_gives_its_whole_elements_and_says_so(cut: int) -> None:
    text = b'[{"title":"a"},{"title":"b"},{"title":"c"}]'
    notes = Notes()

    got = [value["title"] for _, value in json_stream.elements(Bytes(text[:cut]), notes)]

    assert ["a", "b", "c"][: cut // 14] == got
    assert ["truncated"] == [note.kind for note in notes.collected]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        (b'{"a":NaN,"b":-Infinity}', {"a": "NaN", "b": "-Infinity"}, "bad-number"),
        (b'{"a":1e999}', {"a": "1e999"}, "bad-number"),
        (b'{"a":' + b"7" * 10_000 + b"}", {"a": "7" * 10_000}, "bad-number"),
        (rb'{"a":"x\ud800y"}', {"a": "x\ufffdy"}, "lone-surrogate"),
        (rb'{"a":"\udc00\ud83d\ude00"}', {"a": "\ufffd\U0001f600"}, "lone-surrogate"),
        (b'{"a":"caf\xe9"}', {"a": "caf\ufffd"}, "bad-encoding"),
    ],
)
def test_values_that_json_cannot_hold_are_preserved_and_noted(text: bytes, value: Any, kind: str) -> None:
    notes = Notes()

    assert value == json_stream.decode(text, notes, 1)
    assert [f"line 1 {kind}"] == noted(notes)


def test_control_characters_in_strings_are_read() -> None:
    assert {"a": "x\x00\ny"} == json_stream.decode(b'{"a":"x\x00\ny"}', Notes(), 1)


def test_an_escaped_backslash_before_u_is_no_surrogate() -> None:
    assert ["\\ud800", "NaN"] == json_stream.decode(rb'["\\ud800", NaN]', Notes(), 1)


def test_nesting_of_any_depth_is_refused_not_fatal() -> None:
    notes = Notes()
    deep = b"[" * 100_000 + b"]" * 100_000

    got = list(json_stream.elements(Bytes(b'[{"a":1},' + deep + b',{"a":2}]'), notes))

    assert [(0, {"a": 1}), (2, {"a": 2})] == got
    assert ["[1] bad-record"] == noted(notes)


def test_nesting_of_four_hundred_levels_is_read() -> None:
    deep = b"[" * 400 + b"]" * 400

    assert json_stream.decode(deep, Notes(), 1) is not json_stream.BAD


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_end_only_at_line_feeds(end: bytes) -> None:
    text = end.join(['{"a":"x\u2028y\u0085z"}'.encode(), b"", b"  ", b'{"a":2}', b""])

    assert [(1, {"a": "x\u2028y\x85z"}), (4, {"a": 2})] == list(json_stream.lines(Bytes(text), Notes()))


def test_a_torn_last_line_is_distinguished_from_a_bad_one() -> None:
    notes = Notes()

    got = list(json_stream.lines(Bytes(b'{"a":1}\n{"a":\n{"a":3}\n{"a":'), notes))

    assert [(1, {"a": 1}), (3, {"a": 3})] == got
    assert ["line 2 bad-record", "line 4 torn-tail"] == noted(notes)


@pytest.mark.parametrize(
    ("line", "records"),
    [
        (b'{"a":"}{"}{"b":"\xff"}{"c":"\xc3\xa4"}', [b'{"a":"}{"}', b'{"b":"\xff"}', b'{"c":"\xc3\xa4"}']),
        (b'{"a":1}{"b":', [b'{"a":1}', b'{"b":']),
        (b'{"a":1} and more', [b'{"a":1} and more']),
        (b'{"a":{"b":1}', [b'{"a":{"b":1}']),
        (b"[1][2]", [b"[1][2]"]),
    ],
)
def test_records_that_share_a_line_are_distinguished(line: bytes, records: list[bytes]) -> None:
    assert records == list(json_stream.apart(line))


def test_an_endless_line_is_skipped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (json_stream, json_window):
        monkeypatch.setattr(module, "BLOCK_BYTES", 8)
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 64)
    notes = Notes()

    got = list(json_stream.lines(Bytes(b'{"a":1}\n' + b"\0" * 500 + b'\n{"a":2}\n'), notes))

    assert [(1, {"a": 1}), (3, {"a": 2})] == got
    assert ["line 2 too-large"] == noted(notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "utf-16-be-bom"])
def test_byte_order_marks_and_utf16_are_understood(encoding: str) -> None:
    text = '{"a":"é—日"}\n{"a":2}\n'
    marks = {"utf-16-le-bom": ("utf-16-le", b"\xff\xfe"), "utf-16-be-bom": ("utf-16-be", b"\xfe\xff")}
    codec, mark = marks.get(encoding, (encoding, b""))

    got = [value for _, value in json_stream.lines(Bytes(mark + text.encode(codec)), Notes())]

    assert [{"a": "é—日"}, {"a": 2}] == got


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (b'[{"a":1},{"a":2}]', ["[0]", "[1]"]),
        (b'{"a":1}\n{"a":2}\n', ["line 1", "line 2"]),
        (b'// a comment\n{"a":1}\n// another\n{"a":2}', ["line 2", "line 4"]),
        (b'// a comment\n[\n {"a":1},\n {"a":2}\n]', ["[0]", "[1]"]),
        (b'[\n // one\n {"a":1},\n   // "two" [\n {"a":2}\n]', ["[0]", "[1]"]),
        (b'{\n "a":1\n}\n{\n "a":2\n}', ["value 0", "value 1"]),
        (b'{"a":1}{"a":2}', ["value 0", "value 1"]),
    ],
)
def test_values_in_any_container(text: bytes, places: list[str]) -> None:
    notes = Notes()

    got = list(json_stream.values(Bytes(text), notes))

    assert list(zip(places, [{"a": 1}, {"a": 2}], strict=True)) == got
    assert [] == notes.collected


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), values, max_size=4),
    st.lists(values, max_size=4),
    layouts,
)
def test_elements_below_a_key(before: dict[str, Any], array: list[Any], layout: Any) -> None:
    before.pop("wanted", None)
    text = dumped({**before, "wanted": array, "after": 1}, layout, ascii_only=True)

    assert list(enumerate(array)) == list(json_stream.elements(Bytes(text), Notes(), key="wanted"))


@given(values, st.data())
def test_a_repaired_head_decodes(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"a": value, "b": [value]}).encode()
    head = text[: data.draw(st.integers(1, len(text)))]

    assert isinstance(json.loads(json_stream.repaired(head)), dict)
