"""Conversations that state no time have that of their file, whichever reader reads them."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from agent_journal.conversion.pipeline import FILE_TIME, read_all
from agent_journal.model import Conversation
from agent_journal.notes import Notes
from tests.cases import Case, all_cases, database, input_files, zipped
from tests.inline import save_lines, written

WRITTEN_AT = 1767600000
FILE_AT = "2026-01-05T08:00:00Z"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC|[+-]\d\d:?\d\d)?")
_EPOCH = re.compile(r'(?<![\w".:/-])1[67]\d{8}(?:\d{3}|\d{6})?(?:\.\d+)?(?![\w"-])')
_EPOCH_TEXT = re.compile(r'"1[67]\d{8}(?:\d{3})?"')
_ZERO = re.compile(r'(?<=_at": )0\b')


def without_times(text: str) -> str:
    return _ZERO.sub("null", _EPOCH.sub("null", _EPOCH_TEXT.sub('""', _MOMENT.sub("", text))))


def stripped(case: Case, folder: Path) -> Path:
    """The input of a case without any time that can be seen in its text, written at a known time."""
    target = folder / case.input.name
    if case.input.is_dir():
        shutil.copytree(case.input, target)
    else:
        shutil.copy(case.input, target)
    for path in input_files(target):
        try:
            path.write_text(without_times(path.read_text(encoding="utf-8")), encoding="utf-8")
        except UnicodeDecodeError:
            continue
    for script in [path for path in input_files(target) if path.suffix == ".sql"]:
        try:
            database(script, script.with_suffix(""))
        except sqlite3.IntegrityError:
            pytest.skip("this database must have times")
        script.unlink()
    location = target if target.exists() else target.with_suffix("")
    if case.is_zip:
        location = zipped(location, folder / "input.zip")
    for path in input_files(folder):
        os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    return location


@pytest.mark.parametrize("case", [case for case in all_cases() if "damaged" not in case.name], ids=str)
def test_no_conversation_is_of_1970(case: Case, tmp_path: Path) -> None:
    location = stripped(case, tmp_path)
    items = read_all([str(location), str(location)], Notes(), case.reader)
    for item in items:
        # What a writer of ours wrote down is given back as it was.
        if isinstance(item, Conversation) and item.source == case.reader:
            document = written("unified", item).only
            moments = [document["created_at"], *(each["timestamp"] for each in document["messages"])]
            assert not [at for at in moments if at == "1970-01-01T00:00:00.000Z"]


def test_the_time_of_the_file_is_noted(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Tea?"}]}
    path = save_lines(tmp_path, "requests.jsonl", [body, body])
    os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    notes = Notes()
    item = next(read_all([str(path)], notes, "api-trace"))

    assert isinstance(item, Conversation)
    assert (item.started_at, item.updated_at) == (None, FILE_AT)
    assert [note.detail for note in notes.collected if note.kind == "missing-time"] == [FILE_TIME]


def test_a_document_of_others_without_a_time_has_that_of_its_file(tmp_path: Path) -> None:
    message = {"message_id": "m1", "role": "user", "content": [{"type": "text", "text": "Tea?"}]}
    document = {
        "schema_version": "1.0.0",
        "conversation_id": "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
        "platform": {"name": "claude_code", "version": "2"},
        "messages": [message],
    }
    path = save_lines(tmp_path, "made.json", [document])
    os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    notes = Notes()
    (item,) = read_all([str(path)], notes)

    assert isinstance(item, Conversation)
    assert (item.started_at, item.updated_at) == (None, FILE_AT)
    assert [note.detail for note in notes.collected if note.kind == "missing-time"] == [FILE_TIME]


def test_a_stated_time_counts_more_than_that_of_the_file(tmp_path: Path) -> None:
    line = "\n# aider chat started at 2025-02-01 08:00:00\n\n#### hi  \n\nHello.\n"
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(line, encoding="utf-8")
    (item,) = read_all([str(path)], Notes())

    assert isinstance(item, Conversation)
    assert (item.started_at, item.updated_at) == ("2025-02-01T08:00:00Z", None)
