"""Integers of any size are kept, wherever a history has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.archive import encoded
from agent_journal.archive.bodies import entry_of
from agent_journal.archive.rows import row_of
from agent_journal.model import Memory, Message, ToolCall, Usage
from tests.archive.journals import imported, journal

WIDE = 123_456_789_012_345_678_901_234_567_890
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_was_encoded_is_what_is_decoded(value: object) -> None:
    assert value == encoded.Decoder[object](object).decode(encoded.encode(value))


@pytest.mark.parametrize("number", [WIDE, -WIDE, 1 << 64, -(1 << 63) - 1])
def test_an_entry_holds_them_where_any_value_may_be_and_where_a_number_must_be(number: int) -> None:
    call = ToolCall(name="calc", input={"numbers": [1, {"n": number}]})
    usage = Usage(input=number, extra={"input_tokens": number})
    message = Message(id="m", role="assistant", parts=[call], usage=usage)
    row = row_of(message)

    assert message == entry_of(row.body, row.text)
    assert row.hash == row_of(message).hash


def test_a_damaged_value_is_shown_as_before() -> None:
    with pytest.raises(encoded.DecodeError):
        encoded.Decoder[Memory](Memory).decode(b"\x81")
    with pytest.raises(encoded.DecodeError):
        encoded.Decoder[Memory](Memory).decode(encoded.encode([1]))


def test_a_history_with_them_is_imported(tmp_path: Path) -> None:
    common = {
        "sessionId": "11111111-1111-4111-8111-111111111111", "cwd": "/w", "isSidechain": False,
        "timestamp": "2026-03-01T10:00:00.000Z", "version": "2.1.0",
    }  # fmt: skip
    asked = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"role": "user", "content": "go"}}
    use = {"type": "tool_use", "id": "t", "name": "calc", "input": {"n": WIDE}}
    said = {"id": "msg_1", "role": "assistant", "content": [use], "usage": {"input_tokens": WIDE}}
    answered = {"type": "assistant", "uuid": "a", "parentUuid": "u", "message": said}
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_text("".join(json.dumps({**line, **common}) + "\n" for line in (asked, answered)))
    with journal(tmp_path / "journal") as archive:
        imported(archive, path)
        (listed,) = archive.store.find("11111111")
        (call,) = archive.store.conversation(listed.key).timeline[-1].parts  # type: ignore[union-attr]

        assert {"n": WIDE} == call.input  # type: ignore[union-attr]
        assert [] == list(archive.store.problems())
