"""Canonical JSON: the bytes that Python's own encoder makes, whatever the numbers are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.records import canonical_json


def reference(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_floats(number: float) -> None:
    for value in ([number], {"a": number, "b": [number, number]}):
        assert reference(value) == canonical_json.encode(value)


@pytest.mark.parametrize(
    "number", [1e16, 1e-5, 1.5e-5, 0.0001, -3e-7, 123456789012345680.0, 1e300, 5e-324, 0.0]
)
def test_numbers_that_are_written_in_several_ways(number: float) -> None:
    assert reference({"cost": number}) == canonical_json.encode({"cost": number})
    assert canonical_json.parse(canonical_json.encode([number])) == [number]


@pytest.mark.parametrize("text", ["x:1e5,", ",3e7]", ":0.00001}", 'a":1e5,"b'])
def test_words_that_look_like_numbers(text: str) -> None:
    assert reference({"text": text, "n": 1}) == canonical_json.encode({"text": text, "n": 1})


def test_numbers_of_more_than_64_bits() -> None:
    assert reference([2**80, -(2**70)]) == canonical_json.encode([2**80, -(2**70)])
