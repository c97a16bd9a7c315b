"""YAML beside conversations: JSON values, and nothing that could grow or run."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.decoding import yaml_text
from agent_journal.notes import Notes
from tests.memory_source import Bytes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 2.5, true, null]\n", {"a": 1, "b": ["x", 2.5, True, None]}),
        ("at: 2026-01-02T03:04:05Z\nday: 2026-01-02\n", {"at": "2026-01-02T03:04:05Z", "day": "2026-01-02"}),
        ("a: .nan\nb: -.inf\nc: 1e3\n", {"a": ".nan", "b": "-.inf", "c": 1000.0}),
        ("2: x\ntrue: y\n~: z\n", {"2": "x", "true": "y", "null": "z"}),
        (
            "a: 010\nb: 1:30\nc: 0xff\nd: -7\ne: " + "9" * 5000,
            {"a": "010", "b": "1:30", "c": "0xff", "d": -7, "e": "9" * 5000},
        ),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("\ufeffa: é\n", {"a": "é"}),
        ("", None),
    ],
)
def test_values(text: str, value: Any) -> None:
    note = Notes()

    assert value == yaml_text.load(Bytes(text.encode(), "a.yaml"), note)
    assert [] == note.collected


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: *x\n",
        "a: !!python/object/apply:os.system [ls]\n",
        "a: !!binary aGk=\n",
        "[" * 1000,
        "a: [1\n",
        "{[1]: 2}\n",
        "\x00",
    ],
)
def test_what_is_not_plain_is_noted(text: str) -> None:
    note = Notes()

    assert yaml_text.load(Bytes(text.encode(), "a.yaml"), note) is None
    assert ["bad-record"] == [each.kind for each in note.collected]


def test_a_huge_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_BYTES", 10)
    note = Notes()

    assert yaml_text.load(Bytes(b"a: 123456789", "a.yaml"), note) is None
    assert ["too-large"] == [each.kind for each in note.collected]
