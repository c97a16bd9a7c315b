"""One conversation from several places: nothing is lost, nothing is there twice, the newer is shown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal.archive.merge import merge_detail, preference
from agent_journal.archive.sqlite import SqliteStore
from agent_journal.archive.sqlite.schema import usage_name
from agent_journal.archive.store import Filter, SourceRow
from agent_journal.model import (
    Conversation,
    Event,
    Memory,
    Message,
    Origin,
    Part,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.readers import cursor
from tests import models
from tests.archive.journals import (
    ALL,
    bare,
    everything,
    minute,
    put,
    said,
    store_in_memory,
    talk,
    texts,
    the,
)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = store_in_memory()
    yield store
    assert [] == list(store.problems())
    store.close()


def only(store: SqliteStore) -> Conversation:
    (found,) = everything(store)
    return found


def ids(conversation: Conversation) -> list[str]:
    return [entry.id for entry in conversation.timeline]


def versions(store: SqliteStore) -> list[tuple[str, str | None, int]]:
    """Every version of every message: id, text, which one."""
    return list(store._rows("SELECT id, text, earlier FROM timeline ORDER BY id, earlier"))


def indexed(store: SqliteStore) -> list[str]:
    return sorted(each.text for each in store.index_entries_since(0) if each.role)


def usage_rows(store: SqliteStore) -> list[tuple[int, int]]:
    return list(store._rows("SELECT name, output FROM usage"))


# One conversation, two files or exports


OLD = talk("c", said("1", "one", minute(1)), said("2", "two", minute(2)), updated_at=minute(2))
NEW = talk(
    "c", said("1", "one", minute(1)), said("2", "two", minute(2)), said("3", "three", minute(3)),
    title="Counting", updated_at=minute(3),
)  # fmt: skip


@pytest.mark.parametrize("order", [(OLD, NEW), (NEW, OLD), (OLD, NEW, OLD, NEW), (NEW, NEW, OLD)])
def test_older_and_newer_exports_give_the_newer(store: SqliteStore, order: tuple[Conversation, ...]) -> None:
    for number, conversation in enumerate(order):
        put(store, conversation, f"/export/{number}")

    assert NEW == only(store)
    assert ["one", "three", "two"] == indexed(store)
    assert [3] == [each.messages for each in store.conversations(ALL)]


def test_an_older_export_without_times_of_its_own_is_identified_by_its_messages(store: SqliteStore) -> None:
    changed = talk("c", said("1", "one, corrected", minute(1)), said("2", "two", minute(5)))
    put(store, changed)
    put(store, talk("c", said("1", "first", minute(1))), "/older")

    assert ["one, corrected", "two"] == texts(only(store))
    assert minute(5) == the(store, "c").updated_at


def test_a_conversation_of_which_only_the_beginning_is_known_is_of_that_time(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "one", None), started_at=minute(2)))

    assert minute(2) == the(store, "c").updated_at
    assert ["c"] == [each.id for each in store.conversations(Filter(since=minute(1)))]


def test_the_time_of_the_latest_message_is_reported_whatever_its_zone(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "early", "2026-04-01T21:00:00+12:00"), said("2", "late", minute(1))))

    assert minute(1) == the(store, "c").updated_at


def test_parts_from_two_files_become_one(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "one", minute(1)), said("2", "two", minute(2))), "/a")
    put(store, talk("c", said("2", "two", minute(2)), said("3", "three", minute(3))), "/b")

    assert ["one", "two", "three"] == texts(only(store))


def test_a_shrunk_source_loses_nothing(store: SqliteStore) -> None:
    put(store, NEW)
    change = put(store, replace(NEW, timeline=NEW.timeline[:1]))

    assert NEW == only(store)
    assert change.misses_entries


def test_the_order_of_the_newer_holds_and_what_it_lacks_follows_what_it_followed(store: SqliteStore) -> None:
    put(store, talk("c", *(said(id_, id_, minute(1)) for id_ in "abcd"), updated_at=minute(1)))
    put(store, talk("c", *(said(id_, id_, minute(1)) for id_ in "dxb"), updated_at=minute(2)))

    # a was first; c followed b
    assert ["a", "d", "x", "b", "c"] == ids(only(store))


def test_an_older_one_does_not_change_the_order(store: SqliteStore) -> None:
    put(store, talk("c", *(said(id_, id_, minute(1)) for id_ in "dxb"), updated_at=minute(2)))
    put(store, talk("c", *(said(id_, id_, minute(1)) for id_ in "abcd"), updated_at=minute(1)))

    assert ["a", "d", "x", "b", "c"] == ids(only(store))


# Versions of a message


def test_growth_replaces(store: SqliteStore) -> None:
    put(store, talk("c", said("1", "I will loo", minute(1), usage=Usage(key="r1", output=2))))
    whole = said("1", "I will look", minute(1), usage=Usage(key="r1", output=9))
    change = put(store, talk("c", whole))

    assert [("1", "I will look", 0)] == versions(store)
    assert [(usage_name("some-tool", "r1"), 9)] == usage_rows(store)
    assert (1, 1) == (change.changed, len(change.removed))
    assert ["I will look"] == indexed(store)


def test_an_earlier_state_that_comes_late_changes_nothing(store: SqliteStore) -> None:
    whole = talk("c", said("1", "I will look", minute(1)), updated_at=minute(2))
    put(store, whole)
    put(store, talk("c", said("1", "I will loo", minute(1)), updated_at=minute(1)), "/older")

    assert whole == only(store)
    assert [("1", "I will look", 0)] == versions(store)


@pytest.mark.parametrize("is_newer", [True, False])
def test_conflicting_content_keeps_both(store: SqliteStore, is_newer: bool) -> None:
    first = talk("c", said("1", "yes", minute(1)), updated_at=minute(2))
    second = talk("c", said("1", "no", minute(1)), updated_at=minute(3 if is_newer else 1))
    put(store, first)
    put(store, second, "/other")
    put(store, second, "/other")

    shown, kept = ("no", "yes") if is_newer else ("yes", "no")
    assert [("1", shown, 0), ("1", kept, 1)] == versions(store)
    assert [shown] == texts(only(store))
    assert ["no", "yes"] == indexed(store)
    assert [1] == [each.messages for each in store.conversations(ALL)]


def test_what_only_an_attachment_is_distinctive_is_a_conflict_too(store: SqliteStore) -> None:
    with_call = Message(
        id="1", role="assistant", at=minute(1), parts=[Text(text="a"), ToolCall(name="ls", input={"p": "x"})]
    )
    put(store, talk("c", with_call, updated_at=minute(1)))
    put(store, talk("c", said("1", "a", minute(1), role="assistant"), updated_at=minute(2)))

    assert [0, 1] == [version for _, _, version in versions(store)]
    assert 0 == store.counts().tool_calls, "what is counted is what is shown"


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_parts_of_a_conversation_stand_in_its_order(store: SqliteStore, order: tuple[int, ...]) -> None:
    for part in order:
        asked = said(f"u{part}", f"question {part}", minute(2 * part))
        answered = said(f"a{part}", f"answer {part}", minute(2 * part + 1), role="assistant")
        put(store, talk("c", asked, Event(id=f"e{part}", name="x"), answered), f"/part{part}")

    together = [f"{kind}{part}" for part in range(4) for kind in "uea"]
    assert together == [entry.id for entry in only(store).timeline]
    assert ["question 0"] == [each.title for each in store.conversations(ALL)]


@pytest.mark.parametrize("words", ["a and more", "b"], ids=["says more", "says something else"])
def test_a_call_that_is_repeated_keeps_its_answer(store: SqliteStore, words: str) -> None:
    def asked(text: str) -> Conversation:
        call = ToolCall(name="ls", call_id="t1", input={})
        result = ToolResult(call_id="t1", output="no such file", is_error=True)
        return talk(
            "c",
            Message(id="1", role="assistant", at=minute(1), parts=[Text(text=text), call]),
            Message(id="2", role="user", at=minute(2), parts=[result]),
        )

    for text in ("a", words):
        put(store, asked(text))
        rows = store._rows("SELECT is_error, id FROM tool_calls JOIN timeline ON timeline.key = answered_by")
        assert [(1, "2")] == list(rows)


def test_calls_of_one_id_have_each_its_own_answer(store: SqliteStore) -> None:
    def turn(number: int, *, is_error: bool) -> list[Message]:
        call = ToolCall(name="ls", call_id="call_0", input={})
        result = ToolResult(call_id="call_0", output="…", is_error=is_error)
        return [
            Message(id=f"{number}a", role="assistant", at=minute(2 * number), parts=[call]),
            Message(id=f"{number}b", role="tool", at=minute(2 * number + 1), parts=[result]),
        ]

    turns = [*turn(1, is_error=True), *turn(2, is_error=False), *turn(3, is_error=True)]
    for told in (3, 4, 5, 6):  # in parts, as they were written
        put(store, talk("c", *turns[:told]))

    rows = store._rows(
        "SELECT is_error, id FROM tool_calls JOIN timeline ON timeline.key = answered_by ORDER BY message"
    )
    assert [(1, "1b"), (0, "2b"), (1, "3b")] == list(rows)


def test_an_answer_that_arrives_later_is_growth(store: SqliteStore) -> None:
    calls = [ToolCall(name="ls", call_id="t1", input={}), ToolCall(name="cat", call_id="t2", input={})]
    answers = [ToolResult(call_id="t1", output="a.txt"), ToolResult(call_id="t2", output="hello")]
    both: list[Part] = [calls[0], answers[0], calls[1], answers[1]]
    put(store, talk("c", Message(id="1", role="assistant", at=minute(1), parts=[*calls])))
    put(store, talk("c", Message(id="1", role="assistant", at=minute(1), parts=both)))

    assert [0] == [version for _, _, version in versions(store)]
    assert 2 == store.counts().tool_calls


def test_two_entries_with_one_id_stay_two(store: SqliteStore) -> None:
    doubled = talk("c", said("1", "one", minute(1)), said("1", "another", minute(2)), said("2", "two"))
    for _ in range(2):
        put(store, doubled)

    assert doubled == only(store)
    longer = replace(doubled, timeline=[*doubled.timeline, said("1", "third", minute(3))])
    put(store, longer)
    assert longer == only(store)


def test_events_are_merged_like_messages(store: SqliteStore) -> None:
    event = Event(id="e", name="snapshot", data={"files": 1})
    put(store, talk("c", event, updated_at=minute(1)))
    put(store, talk("c", replace(event, data={"files": 2}), updated_at=minute(2)))

    assert [{"files": 2}] == [entry.data for entry in only(store).timeline if isinstance(entry, Event)]
    assert (1, 0) == (store.counts().events, store.counts().messages)


# What is known of a conversation


def test_the_newer_is_silent_where_the_older_speaks() -> None:
    older = talk(
        "c", title="Old", cwd="/work", tags=["a", "b"], started_at=minute(1), platform={"x": 1, "y": 1}
    )
    newer = talk("c", title="New", tags=["b", "c"], started_at="2026-04-01T12:01:30+02:00", platform={"y": 2})

    assert talk(
        "c", title="New", cwd="/work", tags=["b", "c", "a"], started_at=minute(1),
        platform={"x": 1, "y": 2},
    ) == merge_detail(newer, older)  # fmt: skip


def test_requests_still_name_their_tools() -> None:
    def names(conversation: Conversation, id_: str) -> list[str]:
        (request,) = [each for each in conversation.requests if each.id == id_]
        return [conversation.tools[place].name for place in request.tools]

    ls, cat, rm = (Tool(name=name) for name in ("ls", "cat", "rm"))
    older = talk(
        "c", tools=[cat, ls],
        requests=[Request(id="r1", tools=[0, 1], model="old"), Request(id="r0", tools=[0])],
    )  # fmt: skip
    newer = talk(
        "c", tools=[ls, rm], requests=[Request(id="r1", tools=[0], model="new"), Request(id="r2", tools=[1])]
    )
    merged = merge_detail(newer, older)

    assert (["ls"], ["rm"], ["cat"]) == (names(merged, "r1"), names(merged, "r2"), names(merged, "r0"))
    assert ["new"] == [each.model for each in merged.requests if each.id == "r1"]
    assert merged == merge_detail(newer, merged)


def test_an_older_memory_does_not_replace_a_newer(store: SqliteStore) -> None:
    newer = Memory(id="m", source="s", kind="context", text="likes tea", at=minute(2))
    for memory in (newer, replace(newer, text="likes coffee", at=minute(1))):
        with store.transaction():
            store.put_memory(memory, store.put_source(SourceRow(path="/some/file")))

    assert [newer] == list(store.memories())


# Forks and resumed copies


def shared(conversation: str, *more: Message) -> Conversation:
    usage = Usage(key="resp-1", output=7)
    return talk(
        conversation,
        said("m1", "shall we?", minute(1)),
        said("m2", "let us", minute(2), role="assistant", usage=usage),
        said("m3", "unkeyed", minute(3), role="assistant", usage=Usage(output=5)),
        *more,
    )


def test_a_fork_shares_messages_and_counts_them_once(store: SqliteStore) -> None:
    put(store, shared("a", said("m4", "left", minute(4))), "/a")
    change = put(store, shared("b", said("m5", "right", minute(5))), "/b")

    assert ["right"] == [each.text for each in change.index_entries]
    assert ["left", "let us", "right", "shall we?", "unkeyed"] == indexed(store)
    assert [5, 7] == sorted(output for _, output in usage_rows(store))
    assert 4 == len(texts(store.conversation(the(store, "b").key)))
    copies = list(store._rows("SELECT count(*) FROM timeline WHERE copy_of IS NOT NULL"))
    assert [(3,)] == copies
    assert len(indexed(store)) == store.indexable()


def test_forgetting_the_original_leaves_the_copy_whole(store: SqliteStore) -> None:
    put(store, shared("a", said("m4", "left, which must go", minute(4))), "/a")
    put(store, shared("b", said("m5", "right", minute(5))), "/b")
    before = store.last_key()
    with store.transaction():
        removed = store.forget(the(store, "a").key, minute(9))

    assert ["shall we?", "let us", "unkeyed", "right"] == texts(only(store))
    assert ["let us", "right", "shall we?", "unkeyed"] == indexed(store)
    assert {"shall we?", "let us", "unkeyed"} == {each.text for each in store.index_entries_since(before)}
    assert 4 == len(removed)
    assert [5, 7] == sorted(output for _, output in usage_rows(store))
    blocks = b"".join(store._blocks.decompress(data) for (data,) in store._rows("SELECT data FROM blocks"))
    assert b"m4" not in blocks, "a block that others need too must not keep what is forgotten"


def test_a_copy_of_what_grew_is_still_found_once(store: SqliteStore) -> None:
    put(store, talk("a", said("m1", "hi", minute(1)), said("m2", "he", minute(2))), "/a")
    put(store, talk("b", said("m1", "hi", minute(1)), said("m2", "he", minute(2))), "/b")
    put(store, talk("a", said("m1", "hi", minute(1)), said("m2", "hello", minute(2))), "/a")

    assert ["hello", "hi"] == indexed(store)
    assert 2 == store.indexable()


def test_messages_with_made_ids_are_no_copies(store: SqliteStore) -> None:
    put(store, talk("a", said("1", "ok", minute(1), made_id=True)), "/a")
    put(store, talk("b", said("1", "ok", minute(1), made_id=True)), "/b")

    assert ["ok", "ok"] == indexed(store)


# Duplicates: document 000's test, where nothing that identifies two conversations differs


def twin(id_: str, *words: str, seconds: int = 0, prefix: str = "") -> Conversation:
    """A conversation whose answers have the vendor's response ids; with a prefix, all other ids are made."""
    is_made = bool(prefix)
    messages = [
        said(
            f"{prefix}{number}",
            text,
            minute(number, seconds),
            role=("user", "assistant")[number % 2],
            made_id=is_made,
            response_id=f"msg_0123456789abcdef{number}" if number % 2 else None,
        )
        for number, text in enumerate(words)
    ]
    return talk(id_, *messages, made_id=is_made)


def test_copies_under_other_ids_from_another_file_fold(store: SqliteStore) -> None:
    put(store, twin("a", "hi", "hello", "bye"), "/a")
    put(store, twin("b", "hi", "hello", "bye", seconds=5, prefix="x"), "/b")

    assert ["bye", "hello", "hi"] == indexed(store)
    assert "some-tool:a" == the(store, "b").twin_of
    assert ["a"] == [each.id for each in store.conversations(ALL_SHOWN)]


ALL_SHOWN = replace(ALL, with_children=False)


def test_six_seconds_apart_are_no_copies(store: SqliteStore) -> None:
    put(store, twin("a", "hi", "hello"), "/a")
    put(store, twin("b", "hi", "hello", seconds=6), "/b")

    assert [None, None] == [each.twin_of for each in store.conversations(ALL)]
    assert ["hello", "hello", "hi", "hi"] == indexed(store)


def test_two_conversations_of_one_file_never_fold(store: SqliteStore) -> None:
    put(store, twin("a", "hi", "hello"), "/one")
    put(store, twin("b", "hi", "hello", prefix="x"), "/one")

    assert 4 == len(indexed(store))


def test_duplicates_in_two_files_of_one_folder_fold(store: SqliteStore) -> None:
    for name, file in (("a", "old.json"), ("b", "new.json"), ("c", "new.json")):
        messages = (said(f"{name}{n}", f"words {n}", minute(n), made_id=True) for n in range(3))
        put(store, talk(name, *messages, origin=in_file(file), made_id=True), "/folder")

    twins = {each.id: each.twin_of for each in store.conversations(ALL)}
    assert {"a": None, "b": "some-tool:a", "c": None} == twins, "two of one file never become one"


def in_file(name: str) -> Origin:
    return Origin(reader="some-reader", version="1", revision=1, file=name)


def test_two_messages_of_one_file_never_fold(store: SqliteStore) -> None:
    for id_ in "ab":
        messages = (said(f"{id_}{number}", "ok", minute(1), made_id=True) for number in range(3))
        put(store, talk(id_, *messages, made_id=True), f"/{id_}")

    assert 3 == len(texts(store.conversation(the(store, "b").key)))
    assert ["ok"] * 3 == indexed(store)


def test_a_single_message_proves_nothing(store: SqliteStore) -> None:
    put(store, twin("a", "hi"), "/a")
    put(store, twin("b", "hi", prefix="x"), "/b")

    assert ["hi", "hi"] == indexed(store)


def test_times_that_cannot_be_understood_prove_nothing(store: SqliteStore) -> None:
    for id_ in "ab":
        put(store, talk(id_, said(f"{id_}1", "hi", "sometime"), said(f"{id_}2", "ho", "later")), f"/{id_}")

    assert [None, None] == [each.twin_of for each in store.conversations(ALL)]


def test_a_fork_of_nothing_but_copies_has_no_duplicates_by_chance(store: SqliteStore) -> None:
    put(store, twin("a", "hi", "hello"), "/a")
    put(store, twin("fork", "hi", "hello"), "/fork")  # the same ids: shared messages
    stranger = talk(
        "c", said("x1", "hi", minute(30)), said("x2", "hello", minute(31), role="assistant")
    )  # begins alike, at another time
    put(store, stranger, "/c")

    assert [None] * 3 == [each.twin_of for each in store.conversations(ALL)]


def test_the_longer_duplicate_is_shown_whichever_came_first(store: SqliteStore) -> None:
    put(store, twin("short", "hi", "hello"), "/a")
    put(store, twin("long", "hi", "hello", "bye", prefix="x"), "/b")

    assert ["long"] == [each.id for each in store.conversations(ALL_SHOWN)]
    assert ["bye", "hello", "hi"] == indexed(store)


@pytest.mark.parametrize(("shown", "seconds"), [("a", 0), ("a", 3), ("b", -3)])
@pytest.mark.parametrize("first", ["a", "b"])
def test_of_two_duplicates_alike_the_one_that_began_first_is_shown(
    store: SqliteStore, first: str, shown: str, seconds: int
) -> None:
    both = {
        "a": twin("a", "hi", "hello", seconds=4),
        "b": twin("b", "hi", "hello", seconds=4 + seconds, prefix="x"),
    }
    for id_ in sorted(both, reverse=first == "b"):
        put(store, both[id_], f"/{id_}")

    assert [shown] == [each.id for each in store.conversations(Filter())]
    parents = {holder.id: holder.parent for holder in store.usage_conversations().values()}
    assert {shown: None, "ab".replace(shown, ""): the(store, shown).key} == parents


def test_a_duplicate_that_goes_on_is_shown(store: SqliteStore) -> None:
    put(store, twin("a", "hi", "hello"), "/a")
    put(store, twin("b", "hi", "hello", prefix="x"), "/b")
    put(store, twin("b", "hi", "hello", "more", prefix="x"), "/b")
    assert ["b"] == [each.id for each in store.conversations(ALL_SHOWN)]

    put(store, twin("a", "hi", "hello", "more"), "/a")
    assert 1 == len(list(store.conversations(ALL_SHOWN)))
    assert ["hello", "hi", "more"] == indexed(store)

    put(store, twin("a", "hi", "hello", "more", "other"), "/a")
    put(store, twin("b", "hi", "hello", "more", "another", prefix="x"), "/b")
    assert {"a", "b"} == {each.id for each in store.conversations(ALL_SHOWN)}


def counted_twin(id_: str, *words: str) -> Conversation:
    """A twin whose answers used a token each, counted under ids of its own."""
    found = twin(id_, *words, prefix=id_)
    used = {"assistant": Usage(output=1)}
    messages = [replace(each, usage=used.get(each.role)) for each in tree.messages(found)]
    return replace(found, timeline=messages)


@pytest.mark.parametrize("order", [*permutations("abc")])
def test_three_duplicates_that_go_on_stay_one(store: SqliteStore, order: tuple[str, ...]) -> None:
    for id_ in "abc":
        put(store, counted_twin(id_, "hi", "hello"), f"/{id_}")
    for id_ in order:
        put(store, counted_twin(id_, "hi", "hello", "more", "less"), f"/{id_}")

    assert {"a": None, "b": "some-tool:a", "c": "some-tool:a"} == {
        each.id: each.twin_of for each in store.conversations(ALL)
    }
    assert ["hello", "hi", "less", "more"] == indexed(store)
    assert [1, 1] == [output for _, output in usage_rows(store)]


@pytest.mark.parametrize("first", ["a", "b", "both"])
def test_duplicates_that_came_with_their_first_words_alone_fold(store: SqliteStore, first: str) -> None:
    for id_ in "ab":
        if first in {id_, "both"}:
            put(store, counted_twin(id_, "hi"), f"/{id_}")
        put(store, counted_twin(id_, "hi", "hello", "bye"), f"/{id_}")

    assert ["a"] == [each.id for each in store.conversations(ALL_SHOWN)]
    assert ["bye", "hello", "hi"] == indexed(store)
    assert [1] == [output for _, output in usage_rows(store)]


# Forms of one conversation


BEST, *_, LEAST = cursor.INFO.versions


def form(version: str, *messages: Message, updated_at: str | None = None) -> Conversation:
    origin = Origin(reader=cursor.INFO.name, version=version, revision=1)
    return talk(
        "chat", *messages, source=cursor.INFO.name, origin=origin, title=version, updated_at=updated_at
    )


RICH = form(BEST, said("b1", "fix it", minute(1)), said("b2", "done", minute(2), role="assistant"))
POOR = form(
    LEAST, said("t0", "hello", made_id=True), said("t1", "fix it", made_id=True),
    said("t2", "looking", role="assistant", made_id=True), said("t3", "done", role="assistant", made_id=True),
    updated_at=minute(59),
)  # fmt: skip


@pytest.mark.parametrize("order", [(RICH, POOR), (POOR, RICH), (POOR, RICH, POOR, RICH, POOR)])
def test_the_form_with_the_most_content_is_shown(store: SqliteStore, order: tuple[Conversation, ...]) -> None:
    for number, conversation in enumerate(order):
        put(store, conversation, f"/{number % 2}")

    got = only(store)
    assert ["t0", "b1", "t2", "b2"] == ids(got)
    assert BEST == got.title
    assert got.origin is not None
    assert BEST == got.origin.version
    assert ["done", "fix it", "hello", "looking"] == indexed(store)


def test_what_only_the_other_form_has_of_a_message_is_preserved(store: SqliteStore) -> None:
    call = ToolCall(name="edit", input={"path": "a.py"})
    more = Message(id="t3", role="assistant", made_id=True, parts=[Text(text="done"), call])
    for conversation in (RICH, form(LEAST, more), RICH):
        put(store, conversation)

    assert ["b1", "b2"] == ids(only(store))
    assert [("t3", "done", 1)] == [each for each in versions(store) if each[0] == "t3"]


def test_a_file_that_turns_out_to_be_of_another_version_goes_on(store: SqliteStore) -> None:
    def grown(version: str, count: int) -> Conversation:
        messages = [said(f"m{number}", "more", minute(number)) for number in range(1, count)]
        origin = Origin(reader=cursor.INFO.name, version=version, revision=1, file="chat.jsonl")
        item = form(version, *messages, updated_at=minute(count) if messages else None)
        return replace(item, origin=origin, title=str(count))

    for conversation in (grown(BEST, 1), grown(LEAST, 2), grown(LEAST, 3), grown(LEAST, 4)):
        put(store, conversation)

    assert ("4", minute(4)) == (only(store).title, only(store).updated_at)


def test_a_list_has_no_branch_that_is_shown(store: SqliteStore) -> None:
    first, second = said("1", "one", minute(1)), said("2", "two", minute(2))
    put(store, replace(talk("a", first), shape="tree", head_id="1"))
    put(store, replace(talk("a", first, second), shape="list"))

    assert ("list", None) == (only(store).shape, only(store).head_id)


def test_a_reader_that_is_not_there_has_no_preference() -> None:
    origin = Origin(reader="gone", version="2", revision=1)

    assert 0 == preference(origin, "gone", "1")
    assert 0 == preference(None, "gone", "1")


# Properties


@given(models.conversations)
def test_any_conversation_comes_back_equal(conversation: Conversation) -> None:
    store = store_in_memory()
    put(store, conversation)
    assert bare(conversation) == only(store)
    put(store, conversation)

    assert bare(conversation) == only(store)
    assert [] == list(store.problems())
    entries = list(store.index_entries_since(0))
    assert store.indexable() == len(entries)
    store.close()


words = st.sampled_from(["a", "ab", "abc", "b", "", "ja"])
timelines = st.lists(
    st.tuples(st.sampled_from("12345"), words, st.integers(0, 3)), max_size=6, unique_by=lambda each: each[0]
)
exports = st.tuples(timelines, st.integers(0, 3)).map(
    lambda pair: talk(
        "c",
        *(said(id_, text, minute(at)) for id_, text, at in pair[0]),
        updated_at=minute(10 + pair[1]),
    )
)


def is_in_order(part: list[str], whole: list[str]) -> bool:
    left = iter(whole)
    return all(each in left for each in part)


@given(st.lists(exports, min_size=1, max_size=4))
def test_nothing_is_lost_and_repeating_changes_nothing(history: list[Conversation]) -> None:
    store = store_in_memory()
    for conversation in history:
        put(store, conversation)
        put(store, conversation)
    got = only(store)
    newest = max(history, key=lambda each: each.updated_at or "")
    newest = [each for each in history if each.updated_at == newest.updated_at][-1]

    assert {entry.id for each in history for entry in each.timeline} == set(ids(got))
    assert len(set(ids(got))) == len(ids(got))
    assert is_in_order(ids(newest), ids(got)), "the order of the newest holds"
    said_by_id: dict[str, list[str]] = {}
    for id_, text, _ in versions(store):
        said_by_id.setdefault(id_, []).append(text or "")
    for each in history:
        for entry in each.timeline:
            (text, *_) = [*texts(talk("c", entry)), ""]
            assert any(known.startswith(text) for known in said_by_id[entry.id])
    for conversation in history:
        put(store, conversation)
    assert set(ids(got)) == set(ids(only(store)))
    assert [] == list(store.problems())
    store.close()


def test_a_request_keeps_its_tool_where_two_are_the_same(store: SqliteStore) -> None:
    tools = [Tool(name="look"), Tool(name="look")]
    conversation = Conversation(id="c", source="x", tools=tools, requests=[Request(tools=[1])])
    put(store, conversation)
    put(store, conversation, "/another/file")
    assert only(store) == conversation
