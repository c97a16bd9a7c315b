"""The cases' own machinery: databases are kept as the SQL that makes them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cases import Case, database_leaves

SCRIPT = """
CREATE TABLE chat (id TEXT, data BLOB, size INTEGER);
INSERT INTO chat VALUES ('c-1', '{"title": "Tea", "turns": [{"text": "Green?"}]}', 3);
INSERT INTO chat VALUES ('c-2', X'ff00', NULL);
"""


def titles(location: Path) -> list[str]:
    with closing(sqlite3.connect(location)) as opened:
        return [value for (value,) in opened.execute("SELECT id FROM chat ORDER BY id")]


def test_sql_becomes_the_database_it_is_named_for(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "chats.db.sql").write_text(SCRIPT)
    location = Case("tea", "case", tmp_path / "case").location(tmp_path)

    assert location.name == "chats.db"
    assert titles(location) == ["c-1", "c-2"]


def test_sql_becomes_a_database_in_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "case" / "input" / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "chats.db.sql").write_text(SCRIPT)
    (inside / "notes.json").write_text("{}")
    location = Case("tea", "case", tmp_path / "case").location(tmp_path)

    found = sorted(path.relative_to(location).as_posix() for path in location.rglob("*") if path.is_file())
    assert found == ["a/b/chats.db", "a/b/notes.json"]
    assert titles(location / "a" / "b" / "chats.db") == ["c-1", "c-2"]


def test_an_input_without_databases_is_read_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "chat.json").write_text("{}")

    assert Case("tea", "case", tmp_path / "case").location(tmp_path) == tmp_path / "case" / "chat.json"


def test_strings_of_a_database_are_those_of_its_json_and_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "chats.db.sql").write_text(SCRIPT)

    assert sorted(database_leaves(tmp_path / "chats.db.sql")) == [
        ("id", "c-1"),
        ("id", "c-2"),
        ("text", "Green?"),
        ("title", "Tea"),
    ]
