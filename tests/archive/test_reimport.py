"""Read again: what a source alone gave is replaced by what it gives now, and nothing else changes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import journal as journals
from agent_journal.archive import DATABASE, LOCK, Archive, open_to_read
from agent_journal.archive.candidates import ImportCandidate, stat_of
from agent_journal.archive.lock import Lock
from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite import SqliteStore, connection, open_store, schema
from agent_journal.archive.sqlite.schema import MIGRATIONS, VERSION
from agent_journal.archive.store import Change, SourceRow, Status
from agent_journal.archive.syncing import Scan
from agent_journal.config import load
from agent_journal.errors import OlderArchive, UnusableArchive
from agent_journal.inputs.input import Input
from agent_journal.journal import index_upkeep
from agent_journal.model import Conversation, Memory, Message, ToolCall, ToolResult, Usage
from agent_journal.readers import claude_code
from tests.archive.journals import (
    NOW,
    everything,
    imported,
    journal,
    minute,
    put,
    read_again,
    said,
    store_in_memory,
    talk,
    texts,
    the,
)
from tests.archive.older import as_of_version
from tests.archive.test_vault import NAME, lines


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = store_in_memory()
    yield store
    assert [] == list(store.problems())
    assert store.indexable() == len(list(store.index_entries_since(0)))
    store.close()


def reread(
    store: SqliteStore, *given: Conversation | Memory, path: str = "/a", is_whole: bool = True
) -> Change:
    """Let a source give these, and nothing else, when it is read again."""
    row = store.source(path)
    assert row is not None
    with store.transaction():
        store.begin_reimport(row.key)
        for each in given:
            if isinstance(each, Memory):
                store.put_memory(each, row.key)
            else:
                store.put(each, [row_of(entry) for entry in each.timeline], row.key)
        return store.end_reimport(row.key, is_complete=is_whole)


def shown(store: SqliteStore) -> dict[str, list[tuple[str, str]]]:
    return {
        each.id: [(entry.id, *texts(talk("", entry))) for entry in each.timeline]  # type: ignore[misc]
        for each in everything(store)
    }


OLD = talk("c", said("1", "one", minute(1)), said("2", "two", minute(2)))
NEW = talk("c", said("n1", "one", minute(1)), said("n2", "two", minute(2)))


def test_other_ids_replace_the_old_ones(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    change = reread(store, NEW)

    assert {"c": [("n1", "one"), ("n2", "two")]} == shown(store)
    assert 2 == len(change.removed) == len(store.removed())


def test_the_same_again_writes_nothing(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    before = store.last_key()
    change = reread(store, OLD)

    assert ([], [], before) == (change.index_entries, change.removed, store.last_key())


def test_what_another_source_gave_too_stays(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    put(store, OLD, "/b")
    reread(store, NEW, path="/a")
    assert ["1", "2", "n1", "n2"] == sorted(id_ for id_, _ in shown(store)["c"])

    reread(store, NEW, path="/b")
    assert {"c": [("n1", "one"), ("n2", "two")]} == shown(store)


def test_whose_words_were_taken_into_longer_ones_still_gives_them(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "on", minute(1))), "/a")
    put(store, talk("c", said("1", "one and more", minute(1))), "/b")
    reread(store, talk("c", said("x", "other", minute(1))), path="/b")

    assert {("1", "one and more"), ("x", "other")} == set(shown(store)["c"])


def test_the_poorer_of_two_exports_shows_no_less_when_it_is_read_again(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "on", minute(1))), "/a")
    put(store, talk("c", said("1", "one and more", minute(1))), "/b")
    reread(store, talk("c", said("1", "on", minute(1))), path="/a")

    assert {"c": [("1", "one and more")]} == shown(store)


def test_another_id_of_the_conversation_moves_it(store: SqliteStore) -> None:
    put(store, replace(OLD, title="Tides"), "/a")
    change = reread(store, replace(NEW, id="d", title="Tides"))

    assert {"d": [("n1", "one"), ("n2", "two")]} == shown(store)
    assert 3 == len(change.removed), "two messages and a title"


def test_a_conversation_that_keeps_its_messages_and_gets_another_id_is_found_once(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    change = reread(store, replace(OLD, id="d"))

    assert {"d": [("1", "one"), ("2", "two")]} == shown(store)
    assert ["one", "two"] == [each.text for each in change.index_entries]
    assert [] == list(store._rows("SELECT 1 FROM timeline WHERE copy_of IS NOT NULL"))


def test_a_better_reading_of_a_message_leaves_no_earlier_version(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "garbled", minute(1))), "/a")
    reread(store, talk("c", said("1", "clear", minute(1))))

    assert [("clear", 0)] == list(store._rows("SELECT text, earlier FROM timeline"))


def test_where_the_shown_version_goes_the_one_before_it_is_shown(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "as b has it", minute(1))), "/b")
    put(store, talk("c", said("1", "as a has it", minute(1)), updated_at=minute(9)), "/a")
    reread(store, talk("c", said("x", "else", minute(1)), updated_at=minute(9)), path="/a")

    assert {("1", "as b has it"), ("x", "else")} == set(shown(store)["c"])


def test_what_is_known_of_it_is_what_the_new_reading_says(store: SqliteStore) -> None:
    put(store, replace(OLD, title="Wrong", git_branch="wrong", tags=["wrong"]), "/a")
    reread(store, replace(OLD, tags=["right"]))

    (got,) = everything(store)
    assert (None, None, ["right"]) == (got.title, got.git_branch, got.tags)
    assert ("one", None) == next(store._rows("SELECT summary, title_key FROM conversations"))


def test_calls_and_usage_follow(store: SqliteStore) -> None:
    def told(prefix: str) -> Conversation:
        usage = Usage(key="resp-1", output=7)
        call = ToolCall(call_id="call-1", name="look", input={})
        answer = ToolResult(call_id="call-1", output="seen", is_error=False)
        return talk(
            f"{prefix}c",
            Message(id=f"{prefix}1", role="assistant", at=minute(1), parts=[call], usage=usage),
            Message(id=f"{prefix}2", role="user", at=minute(2), parts=[answer]),
        )

    put(store, told("old-"), "/a")
    reread(store, told(""))

    sql = (
        "SELECT t.id, a.id FROM tool_calls c JOIN timeline t ON t.key = c.message "
        "JOIN timeline a ON a.key = answered_by"
    )
    assert [("1", "2")] == list(store._rows(sql))
    sql = "SELECT u.output, t.id FROM usage u JOIN timeline t ON t.key = u.message"
    assert [(7, "1")] == list(store._rows(sql))


def test_a_copy_in_another_file_becomes_the_original(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    put(store, replace(OLD, id="fork"), "/b")
    change = reread(store, NEW, path="/a")

    assert {"c": [("n1", "one"), ("n2", "two")], "fork": [("1", "one"), ("2", "two")]} == shown(store)
    assert ["one", "two"] == [each.text for each in change.index_entries]


def test_memories_are_replaced_too(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    old = Memory(id="m", source="s", kind="context", text="likes tea")
    row = store.source("/a")
    assert row is not None
    with store.transaction():
        store.put_memory(old, row.key)
    reread(store, OLD, replace(old, id="n"))

    assert ["n"] == [memory.id for memory in store.memories()]


def test_what_could_not_be_read_whole_loses_nothing(store: SqliteStore) -> None:
    put(store, OLD, "/a")
    reread(store, talk("c", said("n1", "one", minute(1))), is_whole=False)

    assert {"1", "2", "n1"} == {id_ for id_, _ in shown(store)["c"]}


def test_positions_are_closed_up_and_duplicates_judged_again(store: SqliteStore) -> None:
    four = [said(str(n), f"words {n}", minute(n)) for n in range(4)]
    put(store, talk("c", *four), "/a")
    others = (replace(each, id=f"t{each.id}", made_id=True) for each in four[:2])
    put(store, talk("twin", *others, made_id=True), "/b")
    assert "some-tool:c" == the(store, "twin").twin_of
    reread(store, talk("c", *four[2:]), path="/a")

    assert [("2", "words 2"), ("3", "words 3")] == shown(store)["c"]
    assert the(store, "twin").twin_of is None


# Through the vault, by a reader whose mapping has changed


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the reader one of a later revision, which names messages otherwise."""
    read = claude_code.read

    def renamed(*arguments: Any) -> Iterator[Any]:
        for item in read(*arguments):
            assert isinstance(item, Conversation)
            timeline = [replace(entry, id=f"new-{entry.id}", parent_id=None) for entry in item.timeline]
            yield replace(item, timeline=timeline)

    def change() -> None:
        monkeypatch.setattr(claude_code, "read", renamed)
        info = replace(claude_code.INFO, revision=claude_code.INFO.revision + 1)
        monkeypatch.setattr(claude_code, "INFO", info)

    return change


def outdated(archive: Archive) -> list[SourceRow]:
    return Scan(archive, NOW).outdated()


def test_a_later_revision_replaces_what_the_older_made(tmp_path: Path, later: Callable[[], None]) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        file.write_text(lines(2, 5))  # what it held once stays
        imported(archive, file)
        later()
        read_again(archive, outdated(archive))
        got = [entry.id for entry in everything(archive.store)[0].timeline]

        assert {"new-u0", "new-u1", "new-u2", "new-u5", "new-u6"} == set(got)
        assert [] == outdated(archive)
        assert [] == list(archive.store.problems())


def test_the_index_follows(tmp_path: Path, later: Callable[[], None]) -> None:
    file = tmp_path / NAME
    file.write_text(re.sub(r'"content":"\w+"', '"content":"low tide"', lines(1)))
    config = load(tmp_path / "journal", {})

    def sync() -> journals.Summary:
        found = ImportCandidate(str(file), "claude-code", "~/*", stat_of(str(file)))
        return journals.sync(config, lambda _: [found], lambda _: None)

    assert 0 == sync().read_again
    later()
    assert (1, 1) == (sync().read_again, sync().unchanged)
    with open_to_read(tmp_path / "journal") as archive:
        fit = index_upkeep.check_index(archive, config)
    assert ([], "") == (fit.problems, fit.outdated)
    with journals.Journal(config) as reading:
        assert ["new-u0"] == [hit.entry.message for hit in reading.search("tide").hits]


def test_a_file_that_is_imported_by_its_name_is_read_again_first(
    tmp_path: Path, later: Callable[[], None]
) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        later()
        file.write_text(lines(4))
        imported(archive, file)

        assert ["new-u0", "new-u1", "new-u2", "new-u3"] == [
            entry.id for entry in everything(archive.store)[0].timeline
        ]


def test_a_reading_that_gives_nothing_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        monkeypatch.setattr(claude_code, "read", lambda *_: iter(()))
        read_again(archive)

        assert 3 == len(everything(archive.store)[0].timeline)


def test_a_damaged_vault_is_reported_and_loses_nothing(tmp_path: Path, later: Callable[[], None]) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        later()
        (pack,) = (tmp_path / "journal" / "vault").glob("*.pack")
        pack.write_bytes(bytes(len(pack.read_bytes())))
        (result,) = read_again(archive, outdated(archive)).results

        assert (Status.UNREADABLE, 1) == (result.status, len(result.notes))
        assert ["u0", "u1", "u2"] == [entry.id for entry in everything(archive.store)[0].timeline]
        assert 1 == len(outdated(archive)), "it is tried again"


def test_companions_that_an_older_reader_did_not_know_are_among_the_other_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, subagents = tmp_path / NAME, tmp_path / Path(NAME).stem / "subagents"
    (subagents / "deeper").mkdir(parents=True)
    session.write_text(lines(3))
    for name in ("agent-1.jsonl", "deeper/agent-2.jsonl", "never-imported.jsonl"):
        (subagents / name).write_text(lines(2))
    listed, opened = [], []

    def read_without_companions(source: Input, *_: object) -> Iterator[Any]:
        with source.open() as stream:
            stream.read()
        yield talk(source.name, said("1", "one"))

    def read(source: Input, *_: object) -> Iterator[Any]:
        pending = list(source.companions(Path(NAME).stem, "subagents"))
        while pending:
            each = pending.pop(0)
            listed.append(each.name)
            if each.is_folder:
                pending += each.children()
            else:
                with each.open() as stream:
                    opened.append(stream.read())
        assert source.companion("missing.json") is None
        return iter(())

    monkeypatch.setattr(claude_code, "read", read_without_companions)
    with journal(tmp_path / "journal") as archive:
        imported(archive, session, subagents / "agent-1.jsonl", subagents / "deeper" / "agent-2.jsonl")
        shutil.rmtree(subagents)
        monkeypatch.setattr(claude_code, "read", read)
        row = archive.store.source(str(session))
        assert row is not None
        read_again(archive, [row])

        assert ["agent-1.jsonl", "deeper", "agent-2.jsonl"] == listed
        assert [lines(2).encode()] * 2 == opened


# Properties

mapped = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from("cd"),
    st.lists(
        st.tuples(st.sampled_from("123"), st.sampled_from(["a", "ab", "b"])),
        min_size=1,
        max_size=3,
        unique_by=lambda each: each[0],
    ),
)


@given(
    st.lists(mapped, min_size=1, max_size=4, unique_by=lambda each: (each[0], each[1])),
    st.sampled_from("cd12x"),
)
def test_reading_all_again_gives_what_the_new_reader_would_have_given(
    history: list[tuple[str, str, list[tuple[str, str]]]], renamed: str
) -> None:
    """Whatever the new revision calls otherwise: an entry, a conversation, or nothing at all."""

    def mapping(source: str, id_: str, said_: list[tuple[str, str]], *, new: bool) -> Conversation:
        def name(id_: str) -> str:
            return f"new-{id_}" if new and id_ == renamed else id_

        messages = [said(name(each), text, minute(int(each))) for each, text in said_]
        return talk(name(id_), *messages, updated_at=minute(10 + ord(source) % 2))

    store, fresh = store_in_memory(), store_in_memory()
    for source, id_, said_ in history:
        put(store, mapping(source, id_, said_, new=False), f"/{source}")
    for source in sorted({source for source, _, _ in history}):
        given = [mapping(*each, new=True) for each in history if each[0] == source]
        reread(store, *given, path=f"/{source}")
    for each in history:
        put(fresh, mapping(*each, new=True), f"/{each[0]}")

    # Which of two versions is shown may depend on which came last; that there is one may not.
    assert {id_: {entry for entry, _ in entries} for id_, entries in shown(fresh).items()} == {
        id_: {entry for entry, _ in entries} for id_, entries in shown(store).items()
    }
    said_now = {
        (talk_.id, entry.id, *texts(talk("", entry)))
        for talk_ in (mapping(*each, new=True) for each in history)
        for entry in talk_.timeline
    }
    assert said_now >= {(id_, *entry) for id_, entries in shown(store).items() for entry in entries}
    assert [] == list(store.problems())
    store.close()
    fresh.close()


@given(st.lists(mapped, min_size=1, max_size=5, unique_by=lambda each: (each[0], each[1])))
def test_reading_again_what_is_as_it_was_changes_nothing(
    history: list[tuple[str, str, list[tuple[str, str]]]],
) -> None:
    store = store_in_memory()
    talks = [
        (f"/{source}", talk(id_, *(said(each, text, minute(int(each))) for each, text in said_)))
        for source, id_, said_ in sorted(history)
    ]
    for path, each in talks:
        put(store, each, path)
    before = shown(store)
    for path in dict.fromkeys(path for path, _ in talks):
        reread(store, *(each for place, each in talks if place == path), path=path)

    assert before == shown(store)
    store.close()


# An older database


def test_a_database_of_the_first_version_learns_whose_its_entries_are(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    _of_version_one(path)
    store = open_store(path, for_writing=True)
    assert VERSION == store._value("PRAGMA user_version")
    assert [] == list(store.problems())
    sql = "SELECT id, given_by FROM timeline ORDER BY id"
    assert [("1", 1), ("2", None)] == list(store._rows(sql))
    with store.transaction():
        store.begin_reimport(1)
        store.end_reimport(1, is_complete=True)

    assert ["shared"] == [each.id for each in everything(store)], "what may be another's stays"
    assert [] == list(store.problems())
    store.close()


def _of_version_one(path: Path) -> None:
    """A database as the first version made it, with rows of a newer store."""
    new = store_in_memory()
    put(new, talk("alone", said("1", "one", minute(1))), "/a")
    put(new, talk("shared", said("2", "two", minute(2))), "/a")
    put(new, talk("shared", said("2", "two", minute(2))), "/b")
    as_of_version(new, path, 1)
    new.close()


def test_a_migration_that_breaks_off_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / DATABASE
    _of_version_one(path)
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE half (a); SELECT broken"))
    monkeypatch.setattr(connection, "VERSION", VERSION + 1)
    with pytest.raises(UnusableArchive, match="broken"):
        open_store(path, for_writing=True)
    monkeypatch.undo()

    with closing(apsw.Connection(str(path))) as database:
        assert 1 == database.pragma("user_version")
    store = open_store(path, for_writing=True)
    assert ["alone", "shared"] == [each.id for each in everything(store)]
    assert [] == list(store.problems())
    store.close()


def test_an_older_journal_is_brought_up_by_whoever_reads_it(tmp_path: Path) -> None:
    _of_version_one(tmp_path / DATABASE)
    told: list[None] = []
    with open_to_read(tmp_path, lambda: told.append(None)) as archive:
        assert ["alone", "shared"] == [each.id for each in everything(archive.store)]
    with open_to_read(tmp_path, lambda: told.append(None)) as archive:
        assert [] == list(archive.store.problems())

    assert [None] == told


def test_it_is_left_alone_while_another_writes(tmp_path: Path) -> None:
    """What writes may be of the older version."""
    _of_version_one(tmp_path / DATABASE)
    lock = Lock(tmp_path / LOCK)
    lock.acquire(0, None)
    with pytest.raises(OlderArchive, match="'aj sync' upgrades them"):
        open_to_read(tmp_path)
    lock.release()

    with closing(apsw.Connection(str(tmp_path / DATABASE))) as database:
        assert 1 == database.pragma("user_version")
