"""Files of an export that are text."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal.inputs.input import File
from agent_journal.notes import Kind, Notes
from agent_journal.readers.dialects.text_files import MAX_TEXT_BYTES, is_text, read_text
from tests.memory_source import Bytes


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"Moss\r\n", "Moss\r\n"),
        (b"\xef\xbb\xbfMoss", "Moss"),
        (b"", None),
        (b"Mo\xdf", None),
        (b"Moss\0", None),
        (b"a" * MAX_TEXT_BYTES, "a" * MAX_TEXT_BYTES),
        (b"a" * (MAX_TEXT_BYTES + 1), None),
    ],
    ids=range(7),
)
def test_what_a_file_says(content: bytes, text: str | None) -> None:
    assert text == read_text(Bytes(content), Notes())


def test_a_file_that_is_gone_is_noted_and_no_damage(tmp_path: Path) -> None:
    notes = Notes()

    assert read_text(File(str(tmp_path / "gone.txt")), notes) is None
    assert [Kind.IGNORED_FILE.label] == [note.kind for note in notes.collected]


def test_which_files_are_text() -> None:
    assert list(map(is_text, ("text/csv", "application/json", "image/png", None))) == [
        True,
        True,
        False,
        False,
    ]
