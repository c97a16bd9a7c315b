"""SQLite files of other programs: read whole, from a copy, whatever they hold."""

from __future__ import annotations

import os
import zipfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.input import File, files_below, open_input
from tests.memory_source import Bytes


def made(path: Path, *statements: str) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute(";".join(statements)).fetchall()
    return connection


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.fixture
def live(tmp_path: Path) -> tuple[Path, apsw.Connection]:
    """A database that a program holds open in WAL mode; all its rows are still in the -wal."""
    path = tmp_path / "live" / "state.db"
    path.parent.mkdir()
    connection = made(
        path, "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (v)"
    )
    connection.execute("INSERT INTO t VALUES ('one'), ('two')")
    return path, connection


def test_rows_in_the_wal_are_read_and_nothing_next_to_the_source_changes(
    live: tuple[Path, apsw.Connection],
) -> None:
    path, connection = live
    before = state(path.parent)
    peek = Peek(File(str(path)))
    assert "t" in peek.tables
    assert [("one",), ("two",)] == peek.query("SELECT v FROM t")
    with sqlite_copy.opened(File(str(path))) as opened:
        # The program goes on writing while we read.
        connection.execute("INSERT INTO t VALUES ('three')")
        assert [("one",), ("two",)] == list(opened.rows("SELECT v FROM t ORDER BY v"))
        assert ("v",) == opened.columns("t")
    assert before["state.db"] == state(path.parent)["state.db"]
    assert set(before) == set(state(path.parent))


def test_the_copy_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    made(tmp_path / "a.db", "CREATE TABLE t (v)").close()
    with sqlite_copy.opened(File(str(tmp_path / "a.db"))) as opened:
        assert frozenset({"t"}) == opened.tables
        assert [0o700] == [path.stat().st_mode & 0o777 for path in scratch.iterdir()]
    assert [] == list(scratch.iterdir())


def test_a_database_in_a_zip_is_read_too(tmp_path: Path) -> None:
    made(tmp_path / "a.db", "CREATE TABLE t (v)", "INSERT INTO t VALUES (7)").close()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "a.db", "inner/a.db")
    (member,) = files_below(open_input(str(tmp_path / "a.zip")))

    assert [(7,)] == Peek(member).query("SELECT v FROM t")


def test_a_file_that_is_no_database_has_no_tables() -> None:
    assert frozenset() == Peek(Bytes(b'{"tables": []}')).tables
    assert frozenset() == Peek(Bytes(b"SQLite format 3\0" + b"x" * 3000)).tables


def test_damage_ends_the_rows_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, "PRAGMA page_size = 512", "CREATE TABLE t (v)").close()
    connection = apsw.Connection(str(path))
    with connection:
        connection.executemany("INSERT INTO t VALUES (?)", [(f"{number:0100}",) for number in range(4000)])
    connection.close()
    data = bytearray(path.read_bytes())
    data[-2000:] = b"\xff" * 2000
    path.write_bytes(data)
    seen: list[tuple[str]] = []
    with sqlite_copy.opened(File(str(path))) as opened:
        with pytest.raises(UnreadableSource, match="database is damaged"):
            seen.extend(row for row in opened.rows("SELECT v FROM t"))
        assert len(seen) > 10


def test_text_that_is_not_utf8_is_reported_or_read_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, "CREATE TABLE t (v)", "INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))").close()
    with sqlite_copy.opened(File(str(path))) as opened:
        assert [(b"\xff\x41",)] == list(opened.rows("SELECT CAST(v AS BLOB) FROM t"))
        with pytest.raises(UnreadableSource):
            list(opened.rows("SELECT v FROM t"))


def test_a_view_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_copy, "_MAX_STEPS", 3)
    path = tmp_path / "a.db"
    endless = "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n) SELECT max(v) AS v FROM n"
    made(path, f"CREATE VIEW t AS {endless}").close()
    with sqlite_copy.opened(File(str(path))) as opened, pytest.raises(UnreadableSource, match="interrupt"):
        list(opened.rows("SELECT v FROM t"))


def test_a_file_that_never_rests_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    made(path, "CREATE TABLE t (v)").close()
    whole = File.open

    def touched(self: File):  # type: ignore[no-untyped-def] # noqa: ANN202 (as the original)
        stamp = path.stat().st_mtime_ns + 1_000_000
        os.utime(path, ns=(stamp, stamp))
        return whole(self)

    monkeypatch.setattr(File, "open", touched)
    with pytest.raises(UnreadableSource, match="changes all the time"), sqlite_copy.opened(File(str(path))):
        pass


def test_a_small_database_that_changes_after_a_first_look_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(apsw.Connection(str(path))) as program:
        program.pragma("journal_mode", "wal")
        program.execute("CREATE TABLE t (x)")
        source = open_input(str(path))
        program.executemany("INSERT INTO t VALUES (?)", [("x" * 3_000,)] * 50)
        program.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        program.execute("INSERT INTO t VALUES ('last')")  # its log begins anew
        with sqlite_copy.opened(source) as opened:
            assert [(51,)] == list(opened.rows("SELECT count(*) FROM t"))
            assert [("ok",)] == list(opened.rows("PRAGMA integrity_check"))
