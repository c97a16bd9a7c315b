"""The strict reader of CBOR: what the library writes it reads, and every other form it refuses."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.records.signing import cbor

keys = st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.binary(max_size=300)
    | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_what_the_library_writes_is_read_back(value: Any) -> None:
    assert value == cbor.decode(cbor2.dumps(value))


@given(st.binary(max_size=200))
def test_any_other_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = cbor.decode(data)
    except cbor.Malformed:
        return
    # What is read is in its one form: writing it again gives the same bytes, up to the order of keys.
    assert len(data) == len(cbor2.dumps(untagged(value)))


def untagged(value: Any) -> Any:
    match value:
        case cbor.Tagged():
            return cbor2.CBORTag(value.tag, untagged(value.value))
        case list():
            return [untagged(each) for each in value]
        case dict():
            return {name: untagged(each) for name, each in value.items()}
    return value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends too early"),
        (b"\x42\x00", "ends too early"),
        (b"\x82\x00", "ends too early"),
        (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "ends too early"),
        (b"\x00\x00", "1 bytes follow"),
        (b"\x9f\x00\xff", "not stated"),
        (b"\x5f\x41\x00\xff", "not stated"),
        (b"\x18\x17", "longer than it needs"),
        (b"\x19\x00\x18", "longer than it needs"),
        (b"\x58\x01\x00", "longer than it needs"),
        (b"\xa2\x01\x00\x01\x00", "twice"),
        (b"\xa1\xf5\x00", "neither number nor text"),
        (b"\xa1\x80\x00", "neither number nor text"),
        (b"\xf9\x3c\x00", "float"),
        (b"\xf8\x20", "float"),
        (b"\xf7", "float"),
        (b"\x1c", "float"),
        (b"\x61\xff", "not UTF-8"),
        (b"\x81" * 100 + b"\x00", "nested"),
        (b"\xd2" * 100 + b"\x00", "nested"),
    ],
)
def test_other_forms_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(cbor.Malformed, match=reason):
        cbor.decode(data)


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cbor, "MAX_BYTES", 10)
    with pytest.raises(cbor.Malformed, match="larger"):
        cbor.decode(cbor2.dumps(b"x" * 20))
