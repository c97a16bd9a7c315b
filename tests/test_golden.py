"""What a failing golden test prints turns the golden file into what was produced."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings

from tests.golden import assert_same_files, assert_same_json, described, edits_between
from tests.models import value

JQ = shutil.which("jq")


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [".a = 2  # was 1"]),
        ({"a": 1}, {"a": True}, [".a = true  # was 1"]),
        ({"a": 1}, {"a": 1.0}, [".a = 1.0  # was 1"]),
        ({"a": {"b-c": [0]}}, {"a": {"b-c": [1]}}, ['.a["b-c"][0] = 1  # was 0']),
        ({"a": 1}, {}, ["del(.a)  # was 1"]),
        ({}, {"a": None}, [".a = null"]),
        ({"a": None}, {}, ["del(.a)  # was null"]),
        ([1, 2, 3], [1, 3], ["del(.[1:2])  # was [2]"]),
        ([1, 3], [1, 2, 3], [".[1:1] = [2]"]),
        ([1, 2, 3], [1, 5, 6, 3], [".[2:2] = [6]", ".[1] = 5  # was 2"]),
        ([], {}, [". = {}  # was []"]),
        ({"a": "it's"}, {"a": "it's \u2028"}, ['.a = "it\\u0027s \u2028"  # was "it\\u0027s"']),
    ],
)
def test_paths(before: Any, after: Any, edits: list[str]) -> None:
    assert edits == [*edits_between(before, after)]


def test_a_failure_is_a_command_to_paste() -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        assert_same_json({"title": "Tea", "tags": []}, {"title": "Coffee", "tags": ["new"]}, "expected.json")

    assert str(failure.value) == (
        "2 paths differ:\n"
        "jq --indent 1 '\n"
        '  .title = "Coffee"  # was "Tea"\n'
        '  | .tags[0:0] = ["new"]\n'
        "' expected.json"
    )


def test_files_are_compared_by_what_they_hold() -> None:
    before = {"a.json": b'{"a":1}', "b.json": b"[]", "c.txt": b"one\ntwo\n", "lines": b'{"a":1}\n{"a":2}\n'}
    after = {"a.json": b'{"a":2}', "c.txt": b"one\n2\n", "d.json": b"[]", "lines": b'{"a":1}\n{"a":3}\n'}
    with pytest.raises(pytest.fail.Exception) as failure:
        assert_same_files(before, after, "expected")
    message = str(failure.value)

    assert ".a = 2  # was 1\n' expected/a.json" in message
    assert "expected/b.json is no longer written." in message
    assert "-two\n+2" in message
    assert "expected/d.json is newly written." in message
    assert ".[1].a = 3  # was 2\n' <(jq -s . expected/lines)" in message


def test_another_order_is_a_difference() -> None:
    with pytest.raises(pytest.fail.Exception, match="in another order or form"):
        assert_same_files({"": b'{"a":1,"b":2}'}, {"": b'{"b":2,"a":1}'}, "expected.json")


@pytest.mark.skipif(JQ is None, reason="needs jq")
@settings(max_examples=60, deadline=None)
@given(before=value, after=value)
def test_jq_makes_of_the_golden_what_was_produced(before: Any, after: Any) -> None:
    with_small_numbers = json.loads(
        json.dumps([before, after]), parse_int=lambda _: 1, parse_float=lambda _: 2
    )
    before, after = with_small_numbers
    edits = [*edits_between(before, after)]
    program = described(edits, "").split("'")[1] if edits else "."
    made = subprocess.run(
        [str(JQ), program], input=json.dumps(before), capture_output=True, text=True, check=False
    )

    assert (0, "") == (made.returncode, made.stderr)
    assert after == json.loads(made.stdout)
