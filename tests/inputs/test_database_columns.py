"""Detection sees all tables and columns of a database, however many there are and wherever they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import open_input
from agent_journal.readers.dialects.database_rows import has_columns

MANY = 40


def test_all_of_many_tables_and_columns_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with closing(sqlite3.connect(path)) as database:
        columns = ", ".join(f"column_{number}" for number in range(MANY))
        for number in range(MANY):
            database.execute(f"CREATE TABLE table_{number} ({columns})")
    peek = Peek(open_input(str(path)))

    assert len(peek.tables) == MANY
    assert has_columns(peek, f"table_{MANY - 1}", ["column_0", f"column_{MANY - 1}"])
    assert not has_columns(peek, "table_0", [f"column_{MANY}"])
    assert not has_columns(peek, "absent", [])


def test_a_table_that_is_only_in_the_file_of_the_newest_rows_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = wal")
        database.execute("CREATE TABLE threads (id, data)")
        database.commit()
        peek = Peek(open_input(str(path)))

        assert peek.tables == {"threads"}
        assert has_columns(peek, "threads", ["id", "data"])


def test_a_file_that_is_no_database_has_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("text")

    assert not Peek(open_input(str(path))).tables
    assert not has_columns(Peek(open_input(str(path))), "threads", ["id"])
