"""The page on the tables names every one of them and every column, and its questions have answers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_journal.archive import DATABASE
from agent_journal.journal import demo

PAGE = (Path(__file__).parents[1] / "docs" / "schema.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^([^\n]+):\n\n```sql\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    home = tmp_path_factory.mktemp("demo") / "journal"
    demo.fill(home)
    connection = sqlite3.connect(f"file:{home / DATABASE}?mode=ro", uri=True)
    yield connection
    connection.close()


@pytest.mark.parametrize(("what", "question"), QUESTIONS, ids=[what for what, _ in QUESTIONS])
def test_questions_have_answers(what: str, question: str, rows: sqlite3.Connection) -> None:
    answers = rows.execute(question).fetchall()

    assert answers, what
    assert any(value is not None for value in answers[0])


def test_there_are_a_dozen_questions() -> None:
    assert len(QUESTIONS) >= 12


def test_every_column_is_explained(rows: sqlite3.Connection) -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    tables = [
        name
        for (name,) in rows.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        if not name.startswith("sqlite_")
    ]
    columns = {(table, row[1]) for table in tables for row in rows.execute(f"PRAGMA table_info({table})")}

    assert [] == [table for table in tables if not re.search(rf"\b{table}\b", PAGE)]
    assert [] == sorted(f"{table}.{column}" for table, column in columns if column not in named)
