"""The store in one SQLite file keeps the contract, and what is its own."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from agent_journal.archive.sqlite import SqliteStore, open_store
from agent_journal.archive.store import Store
from tests.archive import store_suite
from tests.archive.journals import NOW, everything, put, said, talk, texts, the
from tests.archive.store_suite import Opener, StoreSuite


class TestSqliteStore(StoreSuite):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        return lambda: open_store(tmp_path / "journal.db", for_writing=True)


def test_every_method_of_the_contract_is_tried() -> None:
    suite = inspect.getsource(store_suite)
    methods = {name for name in vars(Store) if not name.startswith("_")} | {
        "location",
        "add_locations",
        "ends",
    }

    assert [] == sorted(name for name in methods if f".{name}(" not in suite)
    assert methods <= set(dir(SqliteStore))


def test_a_copy_can_be_opened(tmp_path: Path) -> None:
    store = open_store(tmp_path / "journal.db", for_writing=True)
    put(store, talk("a", said("1", "one")))
    store.backup(tmp_path / "copy.db")
    put(store, talk("b", said("2", "two")))
    copy = open_store(tmp_path / "copy.db", for_writing=False)

    assert [["one"]] == [texts(each) for each in everything(copy)]
    assert [] == list(copy.problems())
    copy.close()
    store.close()


def test_nothing_of_what_is_forgotten_is_left_in_any_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "journal.db", for_writing=True)
    canary = "canary-7f3a"
    put(store, talk("keep", said("1", "something else")), "/keep")
    put(store, talk(canary, said(canary, canary * 3), title=canary, cwd=canary), "/gone")
    with store.transaction():
        store.forget(the(store, canary).key, NOW)
    store.compact()
    left = [path.name for path in tmp_path.iterdir() if canary.encode() in path.read_bytes()]
    store.close()

    assert [] == left


def test_readers_are_not_held_up_by_a_writer(tmp_path: Path) -> None:
    writer = open_store(tmp_path / "journal.db", for_writing=True)
    put(writer, talk("a", said("1", "one")))
    reader = open_store(tmp_path / "journal.db", for_writing=False)
    with writer.transaction():
        writer.put_memory(store_suite.MEMORY, 1)
        assert ["one"] == texts(everything(reader)[0])
        assert [] == list(reader.memories())
    assert 1 == len(list(reader.memories()))
    reader.close()
    writer.close()
