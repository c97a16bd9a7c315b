"""`problems`: whatever damage there is, it is told, and nothing that is told is made up."""

from __future__ import annotations

import os
import random
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_journal.archive import open_to_read
from agent_journal.archive.backup import backup
from agent_journal.archive.checking import problems
from agent_journal.archive.sqlite import SqliteStore, open_store
from agent_journal.archive.sqlite.connection import connect
from agent_journal.errors import AgentJournalError, CannotWrite, DamagedArchive, UnusableArchive
from agent_journal.model import Memory, Usage
from tests.archive.journals import (
    everything,
    imported,
    journal,
    minute,
    put,
    said,
    store_in_memory,
    talk,
)
from tests.cases import READERS, database


def small_journal(home: Path) -> None:
    with journal(home) as archive:
        for number in range(12):
            messages = [
                said(
                    f"{number}-{place}",
                    f"word {place} " * 30,
                    minute(place),
                    role=("user", "assistant")[place % 2],
                )
                for place in range(10)
            ]
            put(archive.store, talk(f"c{number}", *messages, title=f"Number {number}"), f"/file/{number}")
        with archive.store.transaction():
            archive.store.put_memory(Memory(id="m", source="s", kind="context", text="likes tea"), 1)


def told(store: SqliteStore) -> tuple[Any, ...]:
    """Everything that people see of messages, from the entries and from the columns."""
    columns = list(store._rows("SELECT * FROM messages"))
    return everything(store), list(store.memories()), columns


def damaged(whole: bytes, rounds: int) -> Iterator[bytes]:
    rng = random.Random(20260501)  # noqa: S311 (the same places every time)
    for number in range(rounds):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 0xFF if number % 3 == 0 else 1 << rng.randrange(8)
        yield bytes(data)


def test_damage_that_alters_a_message_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    small_journal(tmp_path / "journal")
    path = tmp_path / "journal" / "journal.db"
    whole = path.read_bytes()
    with open_to_read(tmp_path / "journal") as archive:
        before = told(archive.store)
        assert [] == list(problems(archive, deep=True))
    noticed = harmless = 0
    for data in damaged(whole, 120):
        path.write_bytes(data)
        try:
            store = open_store(path, for_writing=False)
        except UnusableArchive:
            noticed += 1
            continue
        found = list(store.problems())
        try:
            after = told(store)
        except DamagedArchive:
            after = ()
        finally:
            store.close()
        assert found or after == before, "something changed and nobody says so"
        noticed += bool(found)
        harmless += not found
    assert noticed > 15, (noticed, harmless)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = store_in_memory()
    usage = Usage(output=3)
    put(store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2), usage=usage), title="T"))
    put(store, talk("b", said("1", "one", minute(1)), said("3", "three", minute(3))), "/b")
    assert [] == list(store.problems())
    yield store
    store.close()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE timeline SET text = 'zwei' WHERE id = '2'", "its content differs from what was stored"),
        ("UPDATE timeline SET text = NULL WHERE id = '2'", "its content differs from what was stored"),
        ("UPDATE timeline SET role = 'system' WHERE id = '2'", "its content differs from what was stored"),
        (
            "UPDATE timeline SET at = '2020-01-01T00:00:00Z' WHERE id = '2'",
            "its content differs from what was stored",
        ),
        ("UPDATE timeline SET model = 'gpt' WHERE id = '2'", "its content differs from what was stored"),
        ("UPDATE timeline SET parent_id = '1' WHERE id = '2'", "its content differs from what was stored"),
        ("UPDATE timeline SET position = 0 WHERE id = '2'", "are not consecutive"),
        ("UPDATE timeline SET position = 7 WHERE id = '2'", "are not consecutive"),
        ("UPDATE timeline SET earlier = 1 WHERE id = '2'", "are stated"),
        ("UPDATE timeline SET start = 'x' WHERE id = '2'", "damaged"),
        ("UPDATE timeline SET start = -5 WHERE id = '2'", "its content differs from what was stored"),
        ("DELETE FROM timeline WHERE id = '3'", "are stated"),
        ("UPDATE timeline SET conversation = 1 WHERE id = '3'", "are stated"),
        ("UPDATE conversations SET title = 'U' WHERE id = 'a'", "its columns differ from its content"),
        ("UPDATE conversations SET detail = X'00'", "cannot be read"),
        ("UPDATE conversations SET summary = CAST(X'FF' AS TEXT)", "damaged"),
        ("UPDATE conversations SET updated_ms = 5", "its times differ from what was stored"),
        ("UPDATE conversations SET updated_at = 'soon'", "its times differ from what was stored"),
        ("UPDATE usage SET model = CAST(X'FF' AS TEXT)", "damaged"),
        ("UPDATE conversations SET messages = 'many'", "are stated"),
        ("UPDATE blocks SET data = X'28B52FFD' WHERE key = 1", "cannot be read"),
        ("DELETE FROM blocks", "entry without content"),
        ("INSERT INTO blocks (data) VALUES (X'00')", "content without an entry"),
        ("DELETE FROM conversations WHERE id = 'b'", "entry without a conversation"),
        ("DELETE FROM timeline WHERE id = '1' AND copy_of IS NULL", "copy without its original"),
        (
            "INSERT INTO tool_calls VALUES (1, 99, 0, NULL, 'ls', NULL, NULL, NULL, NULL)",
            "tool call without a message",
        ),
        ("UPDATE usage SET message = 99", "usage without a message"),
        ("DELETE FROM sources", "content without a source"),
        ("UPDATE sources SET defects = 5", "do not add up"),
        ("UPDATE sources SET stat = X'00'", "damaged"),
        ("UPDATE conversations SET twin_of = 99 WHERE id = 'a'", "duplicate of a missing conversation"),
        ("INSERT INTO snapshots VALUES (1, 'u', 1, 'r', 'v', 1, 'now', X'C1')", "damaged"),
        ("INSERT INTO memories VALUES (9, 's', 'm', 'k', NULL, NULL, 't', X'00', X'00', 1)", "damaged"),
        ("UPDATE timeline SET text = CAST(X'FF' AS TEXT) WHERE id = '2'", "damaged"),
    ],
)
def test_contradictions_are_reported(store: SqliteStore, statement: str, what: str) -> None:
    store._db.execute(statement)

    assert any(what in problem for _, problem in store.problems()), list(store.problems())


def test_a_changed_memory_is_reported(store: SqliteStore) -> None:
    with store.transaction():
        store.put_memory(Memory(id="m", source="s", kind="context", text="likes tea"), 1)
    assert [] == list(store.problems())
    store._db.execute("UPDATE memories SET text = 'likes coffee'")

    assert [("s:m", "its columns differ from its content")] == list(store.problems())


def test_missing_bytes_of_the_vault_are_reported(tmp_path: Path) -> None:
    case = next(path for path in sorted(READERS.glob("*/*")) if list(path.glob("*.jsonl")))
    with journal(tmp_path / "journal") as archive:
        imported(archive, next(case.glob("*.jsonl")))
        assert [] == list(problems(archive, deep=True))
        pack = Path(archive.vault.pack_path(1))
        whole = pack.read_bytes()

        pack.write_bytes(whole[:-3])
        assert any("after its end" in each.problem for each in problems(archive))
        pack.write_bytes(whole[:-3] + b"abc")
        assert [] == list(problems(archive)), "only a deep check reads the bytes"
        assert list(problems(archive, deep=True))
        for place in (0, 4, 36, 40):  # what the first blob states: a magic number, its hash, its sizes
            pack.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
            assert any("has the wrong checksum" in each.problem for each in problems(archive, deep=True))
        pack.write_bytes(whole)
        archive.store._db.execute("DELETE FROM blobs")
        assert any("in no pack" in each.problem for each in problems(archive))


@pytest.mark.parametrize("content", [b"", b"not a database at all", b"SQLite format 3\0" + b"\0" * 84])
def test_a_file_that_is_no_journal_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)

    with pytest.raises(AgentJournalError, match="Cannot use the journal") as refused:
        open_store(path, for_writing=False)
    assert "\n" not in str(refused.value)


def test_another_programs_database_is_no_journal(tmp_path: Path) -> None:
    script = tmp_path / "x.sql"
    script.write_text("CREATE TABLE t (a); PRAGMA user_version = 1;")
    with pytest.raises(UnusableArchive):
        open_store(database(script, tmp_path / "journal.db"), for_writing=False)


def test_a_newer_journal_is_refused(tmp_path: Path) -> None:
    small_journal(tmp_path)
    with journal(tmp_path) as archive:
        archive.store._db.pragma("user_version", 99)
    for for_writing in (True, False):
        with pytest.raises(UnusableArchive, match="newer version"):
            open_store(tmp_path / "journal.db", for_writing=for_writing)


@pytest.mark.parametrize("for_writing", [True, False])
def test_a_journal_that_was_emptied_is_not_recreated(tmp_path: Path, for_writing: bool) -> None:
    (tmp_path / "journal.db").touch()
    with pytest.raises(UnusableArchive, match="it is empty"):
        open_store(tmp_path / "journal.db", for_writing=for_writing)


def test_damage_does_not_end_a_look_at_one_moment(tmp_path: Path) -> None:
    small_journal(tmp_path / "journal")
    path = tmp_path / "journal" / "journal.db"
    whole, page = path.read_bytes(), 8192
    told = 0
    for start in range(page, len(whole), page):
        path.write_bytes(whole[:start] + b"\x7f" * page + whole[start + page :])
        try:
            archive = open_to_read(tmp_path / "journal")
        except AgentJournalError:
            continue
        with archive:
            with archive.store.read_snapshot():
                found = list(problems(archive, deep=True))
            assert archive.store._db.get_autocommit()
            told += bool(found)
    assert told > 5


def test_a_copy_needs_a_name_that_is_text(tmp_path: Path) -> None:
    small_journal(tmp_path / "journal")
    with (
        open_to_read(tmp_path / "journal") as archive,
        pytest.raises(CannotWrite, match="its name is not valid text"),
    ):
        backup(archive, tmp_path / os.fsdecode(b"copy\xff"))


def test_an_empty_folder_is_filled_with_a_copy_and_stays_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_journal(tmp_path / "journal")
    copy = tmp_path / "copy"
    (copy / ".partial" / "vault" / "left by one that was killed").mkdir(parents=True)
    inode = copy.stat().st_ino
    monkeypatch.chdir(copy)
    with open_to_read(tmp_path / "journal") as archive:
        backup(archive, Path())
        with pytest.raises(CannotWrite, match="it already exists and is not empty"):
            backup(archive, Path())

    assert (inode, 0o700) == (copy.stat().st_ino, copy.stat().st_mode & 0o777)
    assert {"journal.db", "vault"} <= {each.name for each in copy.iterdir()}
    assert not (copy / ".partial").exists()
    with open_to_read(copy) as archive:
        assert [] == list(problems(archive, deep=True))


@pytest.mark.parametrize("is_there", [True, False])
def test_a_copy_takes_nobodys_files_away(tmp_path: Path, is_there: bool) -> None:
    small_journal(tmp_path / "journal")
    copy = tmp_path / "copy"
    mine = copy / ".partial" / "mine" if is_there else tmp_path / "copy.partial" / "mine"
    mine.mkdir(parents=True)
    with open_to_read(tmp_path / "journal") as archive:
        with pytest.raises(CannotWrite, match="it contains something else"):
            backup(archive, copy)
        assert mine.is_dir()
        mine.rename(mine.with_name("vault"))
        backup(archive, copy)

    assert not mine.parent.exists()


def test_a_copy_is_made_in_a_folder(tmp_path: Path) -> None:
    small_journal(tmp_path / "journal")
    (tmp_path / "copy").touch()
    with open_to_read(tmp_path / "journal") as archive, pytest.raises(CannotWrite, match="it is a file"):
        backup(archive, tmp_path / "copy")


def test_a_database_that_may_not_be_read_is_not_called_a_broken_one(tmp_path: Path) -> None:
    with pytest.raises(UnusableArchive, match="check that you can read it and the files next to it"):
        connect(tmp_path / "nowhere" / "journal.db", for_writing=False)


def test_a_copy_without_room_is_named_and_not_the_journal(tmp_path: Path) -> None:
    small_journal(tmp_path / "journal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_to_read(tmp_path / "journal") as archive:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
        try:
            with pytest.raises(CannotWrite, match=r"copy\.partial/journal\.db"):
                backup(archive, tmp_path / "copy")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert ["journal"] == [each.name for each in tmp_path.iterdir()]
