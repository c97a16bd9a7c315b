"""A journal belongs to one machine: it may move, and is not shared."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_journal.archive import DATABASE, machine, open_to_read, open_to_write
from agent_journal.archive.checking import problems
from agent_journal.errors import UnusableArchive
from tests.archive.journals import everything, put, said, talk, texts

On = Callable[[str | None], None]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> On:
    """Go to another machine."""

    def go(name: str | None) -> None:
        monkeypatch.setattr(machine, "machine_id", lambda: name)

    return go


def write(home: Path, text: str) -> None:
    with open_to_write(home, wait=0) as archive:
        put(archive.store, talk(text, said("1", text)))


def test_this_machine_is_identified_or_not_at_all() -> None:
    assert machine.machine_id() == machine.machine_id()
    assert machine.machine_id() is None or len(machine.machine_id() or "") == 16


def test_a_journal_may_move_to_another_machine(tmp_path: Path, on: On) -> None:
    on("one")
    write(tmp_path / "journal", "a")
    on("other")
    write(tmp_path / "journal", "b")
    write(tmp_path / "journal", "c")

    with open_to_read(tmp_path / "journal") as archive:
        assert ["one", "other"] == archive.store.writers()
        assert not list(problems(archive, deep=True))


def test_two_machines_that_write_by_turns_are_reported(tmp_path: Path, on: On) -> None:
    home = tmp_path / "journal"
    for name in ("one", "other"):
        on(name)
        write(home, name)
    on("one")
    with pytest.raises(UnusableArchive, match=r"another machine wrote to it after this one did.*--adopt"):
        write(home, "again")

    with open_to_read(home) as archive:
        assert [["one"], ["other"]] == [texts(each) for each in everything(archive.store)]
    open_to_write(home, adopt=True).close()
    write(home, "again")
    on("other")
    with pytest.raises(UnusableArchive):
        write(home, "other again")


def test_rows_that_were_copied_without_their_log_are_reported(tmp_path: Path, on: On) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    on("one")
    write(here, "a")
    with open_to_write(here, wait=0) as archive:
        put(archive.store, talk("b", said("1", "b")))
        shutil.copytree(here, there, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    on("other")
    with pytest.raises(UnusableArchive, match="so it is not complete"):
        write(there, "c")
    open_to_write(there, adopt=True).close()
    write(there, "c")


def test_a_copy_that_is_put_back_is_used(tmp_path: Path, on: On) -> None:
    home = tmp_path / "journal"
    on("one")
    write(home, "a")
    with open_to_read(home) as archive:
        archive.store.backup(tmp_path / "copy.db")
    write(home, "b")
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (home / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy.db", home / DATABASE)
    write(home, "c")

    with open_to_read(home) as archive:
        assert {"a", "c"} == {each.id for each in everything(archive.store)}


def test_where_machines_cannot_be_distinguished_nothing_is_refused(tmp_path: Path, on: On) -> None:
    for name in ("one", None, "other", None, "other"):
        on(name)
        write(tmp_path / "journal", "a")


def test_an_older_journal_knows_nobody(tmp_path: Path, on: On) -> None:
    on(None)
    write(tmp_path / "journal", "a")
    (tmp_path / "journal" / machine.MARK).unlink()
    on("one")
    write(tmp_path / "journal", "b")


def test_the_mark_is_for_the_owner_alone(tmp_path: Path) -> None:
    write(tmp_path / "journal", "a")

    assert 0o600 == (tmp_path / "journal" / machine.MARK).stat().st_mode & 0o777
