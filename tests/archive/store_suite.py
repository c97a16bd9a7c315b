"""What any store must do. A backend's tests inherit `StoreSuite` and say how to open one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_journal.archive.bodies import Blocks
from agent_journal.archive.candidates import Stat
from agent_journal.archive.manifest import Manifest, StoredFile, StoredRows
from agent_journal.archive.rows import row_of
from agent_journal.archive.store import SORTS, Erasing, Filter, Snapshot, SourceRow, Status, Store
from agent_journal.archive.vault import BlobLocation
from agent_journal.model import (
    Conversation,
    Event,
    Link,
    Memory,
    Message,
    Origin,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    timestamps,
)
from tests.archive.journals import ALL, NOW, everything, minute, put, said, talk, texts, the

Opener = Callable[[], Store]
MEMORY = Memory(id="m1", source="s", kind="context", text="likes tea", about="drinks", at=minute(1))


def snapshot(source: int, unit: str = "", number: int = 1, revision: int = 1, blob: bytes = b"b") -> Snapshot:
    files = {"": StoredFile("a.jsonl", 3, b"h" * 32, [blob])}
    rows = {"x.db": [StoredRows("SELECT ?", (1, "ä", b"\0", None), [b"group"], "broke", 2)]}
    manifest = Manifest(name="a.jsonl", files=files, databases=rows, absent={"b"}, present={"c": 1.5})
    return Snapshot(
        source=source, unit=unit, number=number, reader="some-reader", version="v1", revision=revision,
        taken_at=NOW, manifest=manifest,
    )  # fmt: skip


def used(
    id_: str, output: int, at: str | None = None, model: str | None = "m", key: str | None = None
) -> Message:
    """An answer that used something."""
    return said(id_, f"said {id_}", at, role="assistant", model=model, usage=Usage(key=key, output=output))


def prompt(id_: str, number: int) -> Message:
    """Something that a person asked, as a list of prompts has it."""
    return said(id_, f"words of {id_}", minute(number), made_id=True)


def asked(id_: str, *prompts: Message, sha256: str = "", **more: object) -> Conversation:
    """What a list of prompts tells of a conversation."""
    origin = Origin(reader="some-tool", version="prompts", revision=1, file="/list", sha256=sha256)
    return replace(talk(id_, *prompts, origin=origin, only_prompts=True), **more)


def whole(id_: str, number: int) -> Conversation:
    """A conversation with an answer."""
    answer = said(f"{id_}2", f"answer to {id_}1", minute(number, 30), role="assistant")
    return talk(id_, said(f"{id_}1", f"words of {id_}1", minute(number)), answer)


class StoreSuite:
    """The contract of a store, method by method."""

    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        """Opens the same store for writing, as often as it is called."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, opener: Opener) -> Iterator[Store]:
        store = opener()
        yield store
        assert [] == list(store.problems())
        store.close()

    # Transactions

    def test_all_or_nothing(self, store: Store) -> None:
        put(store, talk("a", said("1", "one")))
        last = store.last_key()

        def half() -> None:
            with store.transaction():
                store.put_source(SourceRow(path="/lost"))
                store.put(talk("b"), [row_of(said("2", "two"))], 1)
                raise InterruptedError

        with pytest.raises(InterruptedError):
            half()
        assert ["a"] == [each.id for each in store.conversations(ALL)]
        assert store.source("/lost") is None
        assert last == store.last_key()
        put(store, talk("c", said("1", "one")))
        assert store.last_key() > last

    def test_what_was_written_is_there_for_the_next(self, opener: Opener) -> None:
        first = opener()
        journal = first.journal_id
        put(first, talk("a", said("1", "one"), title="T"))
        last = first.last_key()
        first.close()
        second = opener()

        assert journal == second.journal_id
        assert last == second.last_key()
        assert ["one"] == texts(everything(second)[0])
        second.close()

    def test_who_wrote_is_remembered(self, opener: Opener) -> None:
        with closing(opener()) as store:
            first = store.generation()
            with store.transaction():
                store.set_writers(["one", "other"])
            second = store.generation()
        with closing(opener()) as store:
            assert ["one", "other"] == store.writers()
            assert second == store.generation() != first, "reading leaves no mark"
            put(store, talk("a", said("1", "one")))
            assert store.generation() != second

    def test_a_reader_notices_what_another_connection_wrote(self, opener: Opener) -> None:
        with closing(opener()) as store, closing(opener()) as other:
            before = store.data_version()
            assert before == store.data_version()
            put(other, talk("a", said("1", "one")))
            assert store.data_version() != before

    # Sources

    def test_a_source_comes_back(self, store: Store) -> None:
        row = SourceRow(
            path="/home/ä b.jsonl", home="~/*", stat=Stat(1, 2, 3),
            companion_stats={"/home/x": Stat(4, 5, 6), "/gone": Stat()},
            reader="r", status=Status.PARTLY, size=10, defects=3, conversations=1, messages=2,
            notes=[{"kind": "bad-record", "file": "f", "where": "line 1", "detail": "d"}], read_at=NOW,
            missing_since=minute(1),
        )  # fmt: skip
        with store.transaction():
            row.key = store.put_source(row)

        assert row == store.source(row.path) == store.source_by_key(row.key)
        assert [replace(row, notes=[])] == list(store.sources())
        assert store.source("/other") is None

    def test_a_source_is_known_by_its_path(self, store: Store) -> None:
        with store.transaction():
            keys = [store.put_source(SourceRow(path=path, size=1)) for path in ("/b", "/a", "/b")]

        assert keys[0] == keys[2] != keys[1]
        assert ["/a", "/b"] == [row.path for row in store.sources()]
        assert {"/a", "/b"} == set(store.ledger())
        assert {"/a"} == set(store.ledger("/a"))
        assert keys[1] == store.ledger("/a")["/a"].key
        assert {} == store.ledger("/c")

    def test_source_paths_below_a_folder(self, store: Store) -> None:
        paths = ["/a", "/a b/1", "/a/1", "/a/b/2", "/a/ä", "/a0", "/b/1"]
        with store.transaction():
            for path in reversed(paths):
                store.put_source(SourceRow(path=path))

        assert ["/a/1", "/a/b/2", "/a/ä"] == store.source_paths_below("/a/")
        assert [] == store.source_paths_below("/c/")

    def test_missing_sources_are_marked(self, store: Store) -> None:
        put(store, talk("a", said("1", "one")), "/a")
        put(store, talk("a", said("1", "one")), "/b")
        keys = [row.key for row in store.sources()]
        for marked, is_missing in ((keys[:1], False), (keys, True)):
            with store.transaction():
                store.mark_missing(marked, NOW)
            assert is_missing == the(store, "a").source_missing
        assert ["a"] == [each.id for each in store.conversations(replace(ALL, only_missing=True))]
        with store.transaction():
            store.mark_missing(keys[1:], None)
        assert [NOW, None] == [row.missing_since for row in store.sources()]
        assert [] == list(store.conversations(replace(ALL, only_missing=True)))
        assert 1 == store.counts().missing

    def test_snapshots_come_back_oldest_first(self, store: Store) -> None:
        with store.transaction():
            key = store.put_source(SourceRow(path="/a"))
            made = [snapshot(key, "b", 2), snapshot(key, "b", 1), snapshot(key, "a", 1)]
            for each in [*made, made[0]]:
                store.put_snapshot(each)

        assert [made[2], made[1], made[0]] == store.snapshots(key)
        assert [made[1], made[0]] == store.snapshots(key, "b")
        assert [] == store.snapshots(key, "c")
        assert [] == store.snapshots(key + 1)
        assert {b"b", b"group"} == store.needed_blobs()
        with store.transaction():
            store.drop_snapshots(key)
        assert [] == store.snapshots(key)
        assert set() == store.needed_blobs()

    def test_sources_read_by_an_older_revision_are_outdated(self, store: Store) -> None:
        with store.transaction():
            for path, revision in (("/new", 3), ("/old", 2)):
                store.put_snapshot(snapshot(store.put_source(SourceRow(path=path)), revision=revision))

        assert ["/old"] == [row.path for row in store.outdated({"some-reader": 3, "other": 9})]
        assert ["/new", "/old"] == [row.path for row in store.outdated({"some-reader": 4})]
        assert [] == store.outdated({})

    def test_who_holds_what(self, store: Store) -> None:
        put(store, talk("a", said("1", "one")), "/a")
        put(store, talk("b", said("2", "two")), "/a")
        put(store, talk("a", said("1", "one")), "/b")
        a, b = the(store, "a").key, the(store, "b").key
        one, two = (row.key for row in store.sources())

        assert {one, two} == set(store.sources_of(a))
        assert [one] == store.sources_of(b)
        assert [(one, ""), (two, "")] == store.units_of(a)
        assert ({a, b}, {a}) == (set(store.conversations_of(one)), set(store.conversations_of(two)))

    def test_what_a_source_gives_no_longer_when_it_is_read_again_goes(self, store: Store) -> None:
        put(store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2))), "/a")
        put(store, talk("a", said("1", "one", minute(1))), "/b")
        anew = talk("a", said("3", "three", minute(3)))
        (source, _) = (row.key for row in store.sources())
        with store.transaction():
            store.begin_reimport(source)
            store.put(anew, [row_of(entry) for entry in anew.timeline], source)
            change = store.end_reimport(source, is_complete=True)

        assert ["one", "three"] == texts(store.conversation(the(store, "a").key))
        assert 1 == len(change.removed)

    # The vault's catalog

    def test_places_of_blobs(self, store: Store) -> None:
        places = {
            b"a" * 32: BlobLocation(1, 44, 10, 20),
            b"b" * 32: BlobLocation(1, 98, 5, 5),
            b"c" * 32: BlobLocation(2, 44, 7, 9),
        }
        store.add_locations(places.items())
        with store.transaction():
            store.add_locations([(b"d" * 32, BlobLocation(3, 44, 1, 1))])

        assert {**places, b"d" * 32: BlobLocation(3, 44, 1, 1)} == dict(store.locations())
        assert places[b"b" * 32] == store.location(b"b" * 32)
        assert store.location(b"e" * 32) is None
        assert {1: 103, 2: 51, 3: 45} == store.ends()
        with store.transaction():
            store.drop_blobs([b"c" * 32, b"d" * 32])
        assert {1: 103} == store.ends()
        with store.transaction():
            store.mark_lost([(b"b" * 32, places[b"b" * 32])])
        assert BlobLocation(0, 0, 5, 5) == store.location(b"b" * 32)
        assert {0: 5, 1: 54} == store.ends()

    # Damage

    def test_nothing_is_damaged(self, store: Store) -> None:
        conversation = talk("a", said("1", "one", minute(1)), said("2", "two", minute(2)), title="T")
        key = put(store, conversation).conversation
        with store.transaction():
            store.put_memory(MEMORY, 1)
            store.put_snapshot(snapshot(1, "/unit"))
            assert 0 == store.repair_entries(
                key, conversation, [row_of(entry) for entry in conversation.timeline]
            )
            store.accept_columns(key)
            assert 0 == store.repair_links()

        assert not store.damaged_rows(key)
        assert not store.rebuild_damaged_indexes()
        assert not store.is_damaged()
        assert {} == store.substituted
        assert ["/unit"] == store.units(1)
        assert [key] == store.all_conversations() == store.conversations_of_unit(1, "/unit")
        assert key == store.key_of("some-tool", "a")
        assert store.key_of("some-tool", "b") is None
        assert [MEMORY] == store.memories_of(1)
        assert [] == store.memories_of(2)
        assert everything(store) == [conversation]

    def test_namesakes_have_an_id_alone_or_with_a_folder(self, store: Store) -> None:
        with_folder = ids.in_folder("a", "/home/ana")
        put(store, talk("a", said("1", "one")))
        put(store, talk(with_folder, said("1", "one")), "/other")
        put(store, talk("ab", said("1", "one")))
        put(store, talk("a.b", said("1", "one")))

        assert {"a": {"/some/file"}, with_folder: {"/other"}} == {
            each.id: each.paths for each in store.namesakes("some-tool", "a")
        }
        assert [] == store.namesakes("some-tool", "b")
        assert [] == store.namesakes("another-tool", "a")

    def test_an_outline_has_all_but_the_texts(self, store: Store) -> None:
        call = Message(id="2", role="assistant", parts=[ToolCall(name="ls", call_id="c", input={"a": 1})])
        answer = Message(id="3", role="tool", parts=[ToolResult(call_id="c", output="a" * 1000)])
        event = Event(id="e", name="done")
        conversation = talk("a", said("1", "words", minute(1)), call, answer, event, title="T")
        key = put(store, conversation).conversation
        outline = store.outline(key)

        assert ["1", "2", "3", "e"] == [entry.id for entry in outline.conversation.timeline]
        assert outline.sizes[2] > 1000
        assert sum(outline.sizes) == store.size_of(key)
        assert conversation.timeline == [*store.entries_by_key(outline.keys).values()]
        assert {outline.keys[2]: answer} == store.entries_by_key(outline.keys[2:3])
        assert replace(conversation, timeline=[]) == store.conversation_without_entries(key)
        kinds = [entry.parts[0].__class__ for entry in outline.conversation.timeline[:3]]  # type: ignore[union-attr]
        assert [Text, ToolCall, ToolResult] == kinds

    def test_a_part_of_a_timeline_is_read_by_position(self, store: Store) -> None:
        context = said("2", "context", minute(2), hidden=True)
        conversation = talk(
            "a", said("1", "one\ntwo"), context, said("3", "three"), Event(id="e", name="done")
        )
        key = put(store, conversation).conversation
        state = store.timeline_state(key)

        assert (False, None, 4) == (state.is_tree, state.head_id, state.entries)
        assert state == store.timeline_state(key)
        keys = store.entry_keys(key, 1, 2)
        assert ["2", "3"] == [store.entries_by_key(keys)[each].id for each in keys]
        assert [] == store.entry_keys(key, 4, 10)
        assert 2 == store.position_of(key, "3")
        assert store.position_of(key, "4") is None
        prompts = store.prompts(key)
        assert [("1", 0, "one\ntwo"), ("3", 2, "three")] == [
            (each.message, each.position, each.text) for each in prompts.values()
        ]
        put(store, replace(conversation, timeline=[*conversation.timeline, said("5", "five")]))
        assert state != store.timeline_state(key)

    # Conversations

    def test_a_conversation_comes_back_with_everything(self, store: Store) -> None:
        call = Message(
            id="2", role="assistant", at=minute(2), parts=[ToolCall(name="ls", call_id="c", input={})]
        )
        answer = Message(
            id="3", role="tool", at=minute(3), parts=[ToolResult(call_id="c", output="a\0b", is_error=True)]
        )
        conversation = talk(
            "a", said("1", "NUL \0 and 🙂", minute(1)), call, answer,
            Event(id="e", name="done", data={"x": [1.5]}), title="T", cwd="/work", tags=["x"],
            summaries=[Summary(text="short")], extra={"k": 2**63 - 1},
        )  # fmt: skip
        change = put(store, conversation)

        assert conversation == store.conversation(change.conversation)
        entries = list(store.entries(change.conversation))
        assert conversation.timeline == [entry for _, entry in entries]
        assert len(entries) == len({key for key, _ in entries})
        assert {entries[1][0]: {"c"}} == store.failed_calls([key for key, _ in entries])
        assert (3, 0, False) == (change.added, change.changed, change.misses_entries)
        assert {"NUL \0 and 🙂", "T"} == {each.text or each.title for each in change.index_entries} - {""}
        assert 1 == store.counts().tool_calls

    def test_a_second_time_adds_nothing(self, store: Store) -> None:
        conversation = talk("a", said("1", "one", minute(1)), title="T")
        first = put(store, conversation)
        last = store.last_key()
        again = put(store, conversation)

        assert (first.conversation, 0, 0, [], []) == again[:5]
        assert last == store.last_key()

    def test_without_a_title_a_list_shows_what_a_person_wrote_and_no_compaction(self, store: Store) -> None:
        prompt = said("1", "first question", minute(1))
        recap = Summary(text="This session is being continued", kind="system")
        put(store, talk("a", prompt, summaries=[recap]), "/a")
        put(store, talk("b", prompt, summaries=[Summary(text="Of tea"), recap]), "/b")

        assert {"a": "first question", "b": "Of tea"} == {
            each.id: each.title for each in store.conversations(Filter(), "title", None)
        }

    def test_products_are_selected_by_name(self, store: Store) -> None:
        put(store, talk("a", said("1", "a", minute(1)), product="Kilo Code", source="editor"), "/a")
        put(store, talk("b", said("2", "b", minute(2)), product="Cline", source="editor"), "/b")
        put(store, talk("c", said("3", "c", minute(3)), product="Editor", source="kilo"), "/c")

        def found(name: str) -> list[str]:
            return [each.id for each in store.conversations(Filter(source=name))]

        assert ["a"] == found("kilo-code") == found("KiloCode") == found("kilo code")
        assert ["c"] == found("kilo"), "the name of a source goes before that of a product"
        assert ["b", "a"] == found("editor")
        assert [] == found("windsurf")
        assert {"a": "Kilo Code"} == {each.id: each.product for each in store.find("a")}
        assert store.has_product("kilo-code")
        assert not store.has_product("windsurf")

    def test_lists(self, store: Store) -> None:
        conversations = [
            talk(
                "a",
                said("1", "first question", minute(1), model="m-1"),
                updated_at=minute(9),
                cwd="/Work/one",
            ),
            talk(
                "b", said("2", "b", minute(2)), said("3", "c"), title="Ärger", source="other", cwd="/work/two"
            ),
            talk("c", said("4", "d", minute(3)), title="beta", started_at=minute(3), updated_at=minute(5)),
        ]
        for conversation in conversations:
            put(store, conversation, f"/{conversation.id}")

        def found(sort: str = "updated", limit: int | None = None, **wanted: str) -> list[str]:
            return [each.id for each in store.conversations(Filter(**wanted), sort, limit)]  # type: ignore[arg-type]

        assert ["a", "c", "b"] == found()
        assert ["c", "b", "a"] == found("started")
        assert ["b"] == found("messages", 1)
        assert ["c", "a", "b"] == found("title"), "beta, first question, Ärger"
        assert ["a", "b", "c"] == found("project"), "what has none stands last"
        assert ["c", "b"] == [each.id for each in store.conversations(Filter(), limit=5, offset=1)]
        assert ["b", "c", "a"] == [each.id for each in store.conversations(Filter(), descending=False)]
        assert ["b", "a", "c"] == [
            each.id for each in store.conversations(Filter(), "title", descending=True)
        ]
        assert (3, 1) == (
            store.count_conversations(Filter()),
            store.count_conversations(Filter(source="oth")),
        )
        assert ["b"] == found(source="other")
        assert ["b"] == found(source="OTH"), "a part of a name does, where nothing is called just so"
        assert ["a", "b"] == sorted(found(project="WORK"))
        assert ["a"] == found(model="M-1")
        assert ["c"] == found(title="BET")
        assert ["b"] == found(title="ÄRG") == found(title="a\u0308rg"), (
            "in all letters, however they are written"
        )
        assert ["a"] == found(title="question"), "without a title its first words stand for it"
        assert ["a", "c"] == found(since=minute(4))
        assert ["a"] == found(until=minute(2))
        assert ["/Work/one", "/work/two"] == sorted(store.projects())
        listed = the(store, "a")
        assert {listed.key: listed} == store.listed([listed.key, 999])
        assert ("m-1", minute(1), minute(9), 1) == (
            listed.model, listed.started_at, listed.updated_at, listed.messages,
        )  # fmt: skip

    def test_what_nobody_wrote_names_no_conversation(self, store: Store) -> None:
        context = said("1", "<context>", minute(1), hidden=True)
        put(store, talk("a", context), "/a")
        assert the(store, "a").title is None
        put(store, talk("a", context, said("2", "how many eggs?", minute(2))), "/a")
        assert the(store, "a").title == "how many eggs?"
        put(store, talk("b", context, said("2", "a question", minute(2))), "/b")
        assert the(store, "b").title == "a question"

    @pytest.mark.parametrize("ids", ["abc", "cab"])
    def test_what_is_alike_is_listed_by_its_name(self, store: Store, ids: str) -> None:
        link = Link(conversation_id="a", relation="fork")
        for id_ in ids:
            put(store, talk(id_, said(f"{id_}1", "x", minute(1)), link=link), f"/{id_}")

        for sort in SORTS:
            assert ["a", "b", "c"] == [each.id for each in store.conversations(ALL, sort)]
        assert ["b", "c"] == [each.id for each in store.children(the(store, "a").key)]

    def test_finding_by_what_a_person_types(self, store: Store) -> None:
        for id_, source in (("abc-1", "s"), ("abc-2", "s"), ("abc-1", "t"), ("a%_", "s"), ("s:x", "u")):
            put(store, talk(id_, said("1", "x"), source=source), f"/{source}/{id_}")

        def found(name: str) -> list[str]:
            return sorted(f"{each.source}:{each.id}" for each in store.find(name))

        assert ["s:abc-1", "t:abc-1"] == found("abc-1")
        assert ["s:abc-1"] == found("s:abc-1")
        assert ["s:abc-1", "s:abc-2", "t:abc-1"] == found("abc")
        assert ["s:abc-1", "s:abc-2"] == found("s:abc")
        assert ["s:a%_"] == found("a%")
        assert ["u:s:x"] == found("s:x")
        assert [] == found("") == found("%") == found("nothing")

    def test_children_belong_to_their_parent(self, store: Store) -> None:
        put(store, talk("parent", said("1", "go", minute(1))), "/p")
        for number, relation in ((2, "subagent"), (1, "fork")):
            link = Link(conversation_id="parent", relation=relation)  # type: ignore[arg-type]
            put(
                store,
                talk(f"child{number}", said(f"x{number}", "x", minute(number)), link=link),
                f"/{number}",
            )
        parent = the(store, "parent")

        assert ["child1", "child2"] == [each.id for each in store.children(parent.key)]
        assert 2 == parent.children
        assert ["child1", "parent"] == sorted(each.id for each in store.conversations(Filter()))
        assert {the(store, "child2").key} == store.subagents([parent.key])
        assert set() == store.subagents([the(store, "child1").key])
        assert {parent.key, the(store, "child1").key} == store.selected(Filter())
        assert {parent.key} == store.selected(Filter(), [parent.key, the(store, "child2").key])
        assert ("parent", "subagent") == (the(store, "child2").parent_id, the(store, "child2").relation)

    def test_where_a_conversation_came_from(self, store: Store) -> None:
        link = Link(conversation_id="parent", relation="subagent", message_id="m1", call_id="c1")
        put(store, talk("parent", said("1", "go", minute(1))), "/p")
        put(store, talk("child", said("2", "x", minute(2)), link=link), "/c")

        assert link == store.link(the(store, "child").key)
        assert store.link(the(store, "parent").key) is None

    def test_bodies_may_be_packed_already(self, store: Store) -> None:
        first, second, third = (said(f"{n}", f"text {n}", minute(n)) for n in (1, 2, 3))
        in_turn = (
            talk("new", first, second),
            talk("new", first, second, third),  # known by now
            talk("fork", first, second, said("4", "text 4", minute(4))),  # with copies of the other's
        )
        with store.transaction():
            source = store.put_source(SourceRow(path="/some/file", read_at=NOW))
        for conversation in in_turn:
            rows = [row_of(entry) for entry in conversation.timeline]
            blocks = list(Blocks().pack(row.stored for row in rows))
            with store.transaction():
                store.put(conversation, [row._replace(body=b"") for row in rows], source, blocks)

        assert [in_turn[2], in_turn[1]] == everything(store)

    # Prompts

    def test_prompts_stand_in_for_a_conversation(self, store: Store) -> None:
        change = put(store, asked("a", prompt("p1", 1), prompt("p2", 2), cwd="/work"), "/list")

        listed = the(store, "a")
        assert listed.only_prompts
        assert ("/work", "words of p1", 2) == (listed.project, listed.title, listed.messages)
        assert ["words of p1", "words of p2"] == [each.text for each in change.index_entries]
        assert store.conversation(listed.key).only_prompts

    @pytest.mark.parametrize("order", ["list first", "list last"])
    def test_prompts_of_a_conversation_that_is_known_add_nothing(self, store: Store, order: str) -> None:
        both = [(asked("a", prompt("p1", 1), prompt("p2", 2)), "/list"), (whole("a", 1), "/session")]
        changes = [put(store, *each) for each in (both if order == "list first" else reversed(both))]
        put(store, asked("a", prompt("p1", 1), prompt("p2", 2), prompt("p3", 3)), "/list")

        (listed,) = store.conversations(ALL)
        assert not listed.only_prompts
        assert whole("a", 1) == store.conversation(listed.key)
        indexed = {each.key for change in changes for each in change.index_entries}
        removed = {key for change in changes for key in change.removed}
        assert set(store.index_keys()) == indexed - removed
        assert removed <= set(store.removed())
        assert ["/list", "/session"] == sorted(
            store.source_by_key(source).path for source in store.sources_of(listed.key)
        )
        assert ["/session"] == [store.source_by_key(each).path for each, _ in store.units_of(listed.key)]

    @pytest.mark.parametrize("order", ["list first", "list last"])
    def test_a_conversation_without_texts_yields_to_one_with_prompts(self, store: Store, order: str) -> None:
        silent = talk("a", Event(id="e1", name="titled", at=minute(0)), title="A title")
        both = [(asked("a", prompt("p1", 1)), "/list"), (silent, "/session")]
        for each in both if order == "list first" else reversed(both):
            put(store, *each)
        (listed,) = store.conversations(ALL)
        assert (True, "A title", 1) == (listed.only_prompts, listed.title, listed.messages)
        assert {"e1", "p1"} == {entry.id for entry in store.conversation(listed.key).timeline}

        put(store, whole("a", 1), "/session")
        put(store, asked("a", prompt("p1", 1), prompt("p2", 2)), "/list")
        assert whole("a", 1) == store.conversation(the(store, "a").key)

    def test_a_list_that_is_there_does_not_hide_that_a_session_is_gone(self, store: Store) -> None:
        put(store, asked("a", prompt("p1", 1)), "/list")
        put(store, whole("a", 1), "/session")
        put(store, asked("b", prompt("p2", 2)), "/list")
        for path, missing in (("/session", {"a"}), ("/list", {"a", "b"})):
            row = store.source(path)
            assert row is not None
            with store.transaction():
                store.mark_missing([row.key], NOW)
            listed = list(store.conversations(Filter(only_missing=True)))
            assert missing == {each.id for each in listed}
            assert all(each.source_missing for each in listed)

    def test_a_list_that_grows_changes_only_what_is_new(self, store: Store) -> None:
        put(store, asked("a", prompt("p1", 1), sha256="1"), "/list")
        before = store.conversation(the(store, "a").key)
        change = put(store, asked("a", prompt("p1", 1), sha256="2"), "/list")
        assert ([], [], 0) == (change.index_entries, change.removed, change.added)
        assert before == store.conversation(change.conversation)

        put(store, asked("a", prompt("p1", 1), title="Named since"), "/list")
        assert "Named since" == the(store, "a").title
        change = put(store, asked("a", prompt("p1", 1), prompt("p2", 2), sha256="3"), "/list")
        assert (1, "Named since") == (change.added, the(store, "a").title)
        assert minute(2) == the(store, "a").updated_at
        put(store, asked("a", prompt("p2", 2), prompt("p3", 3), sha256="4"), "/list")
        words = texts(store.conversation(change.conversation))
        assert ["words of p1", "words of p2", "words of p3"] == words, "a list may lose its beginning"

    def test_what_was_pasted_into_a_prompt_stays_when_it_is_gone(self, store: Store) -> None:
        less = prompt("p1", 1)
        more = replace(less, parts=[*less.parts, Text(text="pasted")])
        put(store, asked("a", more), "/list")
        change = put(store, asked("a", less, prompt("p2", 2)), "/list")

        assert ["words of p1", "pasted", "words of p2"] == texts(store.conversation(change.conversation))
        assert change.misses_entries

    @pytest.mark.parametrize("order", ["list first", "list last"])
    def test_prompts_of_no_session_are_looked_for_in_others(self, store: Store, order: str) -> None:
        prompts = [said("p1", "words of a1", minute(1, 4)), said("p2", "go on", minute(2)), prompt("p3", 40)]
        both = [(asked("made", *prompts, made_id=True), "/list"), (whole("a", 1), "/session")]
        changes = [put(store, *each) for each in (both if order == "list first" else reversed(both))]
        again = put(store, *both[0])

        assert ["go on", "words of p3"] == texts(store.conversation(the(store, "made").key))
        assert "go on" == the(store, "made").title
        indexed = {each.key for change in changes for each in change.index_entries}
        assert set(store.index_keys()) == indexed - {key for change in changes for key in change.removed}
        assert ([], 0, 0) == (again.index_entries, again.added, again.changed)
        put(store, talk("b", said("b1", "<mark>go on</mark>", minute(2, 3)), prompt("p3", 40)), "/other")
        assert ["a", "b"] == sorted(each.id for each in store.conversations(ALL))
        put(store, *both[0])
        assert ["a", "b"] == sorted(each.id for each in store.conversations(ALL))

    def test_prompts_of_another_time_or_source_are_others(self, store: Store) -> None:
        put(store, whole("a", 1), "/session")
        put(store, asked("made", said("p1", "words of a1", minute(1, 6)), made_id=True), "/list")
        put(store, asked("own", said("p2", "words of a1", minute(1))), "/list")
        put(store, asked("short", said("p4", "word", minute(1)), made_id=True), "/list")
        elsewhere = asked("made", said("p3", "words of a1", minute(1)), made_id=True)
        put(store, replace(elsewhere, source="other-tool"), "/others")

        assert 5 == len(list(store.conversations(ALL)))

    def test_prompts_of_what_is_forgotten_do_not_come_back(self, store: Store) -> None:
        put(store, whole("a", 1), "/session")
        of_no_session = asked("made", said("p1", "words of a1", minute(1)), prompt("p2", 2), made_id=True)
        put(store, of_no_session, "/list")
        key = the(store, "a").key
        assert 2 == len(store.sources_of(key))
        rows = [row_of(entry) for entry in of_no_session.timeline]
        assert not store.has_forgotten_prompts(of_no_session, rows)
        with store.transaction():
            store.forget(key, NOW)

        assert store.has_forgotten_prompts(of_no_session, rows)
        assert not store.has_forgotten_prompts(of_no_session, rows[1:])
        assert store.is_forgotten("some-tool", "a")
        put(store, of_no_session, "/list")
        assert ["words of p2"] == texts(store.conversation(the(store, "made").key))

    def test_a_list_that_is_read_again(self, store: Store) -> None:
        lists = [
            asked("a", prompt("p1", 1)),
            asked("b", prompt("p2", 2)),
            asked("made", said("p4", "words of a1", minute(1)), prompt("p3", 3), made_id=True),
        ]
        put(store, whole("a", 1), "/session")
        changes = [put(store, each, "/list") for each in lists]
        before = everything(store)
        list_, session = (store.source(path) for path in ("/list", "/session"))
        assert list_ is not None
        assert session is not None
        with store.transaction():
            store.begin_reimport(list_.key)
            for each in lists:
                store.put(each, [row_of(entry) for entry in each.timeline], list_.key)
            store.end_reimport(list_.key, is_complete=True)
        assert before == everything(store)
        assert {change.conversation for change in changes} == set(store.conversations_of(list_.key))

        with store.transaction():
            store.begin_reimport(session.key)
            other = whole("other", 30)
            store.put(other, [row_of(entry) for entry in other.timeline], session.key)
            store.end_reimport(session.key, is_complete=True)
        assert ["b", "made", "other"] == [each.id for each in everything(store)]
        assert "" == store.ledger()["/list"].read_at, "it counts as changed: it tells of what is gone"
        for each in lists:
            put(store, each, "/list")
        assert ["a", "b", "made", "other"] == [each.id for each in everything(store)]

    def test_a_list_that_was_taken_for_conversations(self, store: Store) -> None:
        before = asked("a", prompt("p1", 1)), asked("b", prompt("p2", 2))
        for each in before:
            put(store, replace(each, only_prompts=False), "/list")
        put(store, whole("a", 1), "/session")
        list_ = store.source("/list")
        assert list_ is not None
        with store.transaction():
            store.begin_reimport(list_.key)
            for each in before:
                store.put(each, [row_of(entry) for entry in each.timeline], list_.key)
            store.end_reimport(list_.key, is_complete=True)

        assert ["words of a1", "answer to a1"] == texts(store.conversation(the(store, "a").key))
        assert [False, True] == [the(store, id_).only_prompts for id_ in "ab"]
        assert ["words of p2"] == texts(store.conversation(the(store, "b").key))

    # Memories

    def test_memories(self, store: Store) -> None:
        with store.transaction():
            source = store.put_source(SourceRow(path="/some/file"))
            first = store.put_memory(MEMORY, source)
            again = store.put_memory(MEMORY, source)
            changed = store.put_memory(replace(MEMORY, text="likes coffee", at=minute(2)), source)

        assert ["likes tea"] == [each.text for each in first.index_entries]
        assert ([], []) == (again.index_entries, again.removed)
        assert [each.key for each in first.index_entries] == changed.removed == store.removed()
        assert ["likes coffee"] == [memory.text for memory in store.memories()]
        assert 1 == store.counts().memories

    # Index

    def test_the_index_gets_everything_once(self, store: Store) -> None:
        first = put(store, talk("a", said("1", "one", minute(1)), Event(id="e", name="x"), title="Old"))
        upto = store.last_key()
        second = put(store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2)), title="New"))
        with store.transaction():
            remembered = store.put_memory(MEMORY, store.put_source(SourceRow(path="/some/file")))

        told = [*first.index_entries, *second.index_entries, *remembered.index_entries]
        gone = set(second.removed)
        assert {"Old"} == {each.title for each in told if each.key in gone}
        assert sorted(each for each in told if each.key not in gone) == sorted(store.index_entries_since(0))
        assert sorted([*second.index_entries, *remembered.index_entries]) == sorted(
            store.index_entries_since(upto)
        )
        assert 4 == store.indexable() == len(list(store.index_entries_since(0)))
        assert store.last_key() == max(each.key for each in told)
        assert gone == set(store.removed())

    def test_what_has_no_vectors_yet_newest_first(self, store: Store) -> None:
        put(store, replace(talk("old", said("1", "one"), title="Old"), updated_at="2026-01-01T00:00:00Z"))
        upto = store.last_key()
        put(
            store,
            replace(talk("new", said("2", "two"), said("3", "three")), updated_at="2026-02-01T00:00:00Z"),
        )
        with store.transaction():
            remembered = store.put_memory(Memory(id="m", source="x", kind="context", text="likes tea"), 1)

        found = list(store.newest_first(0))

        told = {each.key: each for each in store.index_entries_since(0)}
        assert [0, *(store.find(name)[0].key for name in ("new", "old"))] == [each for each, _ in found]
        assert [each.key for each in remembered.index_entries] == found[0][1]
        assert sorted(told) == sorted(key for _, keys in found for key in keys)
        for conversation, keys in found:
            assert [told[key] for key in sorted(keys)] == sorted(store.index_entries_of(conversation, keys))
        assert [0, found[1][0]] == [each for each, _ in store.newest_first(upto)]
        assert sorted(told) == sorted(store.index_keys())
        assert [min(told)] == store.index_keys([min(told), max(told) + 1])
        assert [] == list(store.index_entries_of(found[1][0], [])) == list(store.index_entries_of(999, [1]))

    def test_what_was_asked_before_an_answer(self, store: Store) -> None:
        first, second = said("1", "why?"), replace(said("2", "because"), role="assistant")
        third, fourth = replace(said("3", "so"), role="assistant"), said("4", "and now?")
        key = put(store, talk("a", first, second, third, fourth)).conversation
        messages = {entry.id: number for number, entry in store.entries(key)}

        asked = store.preceding_prompts(key, messages.values())

        assert {messages["2"]: "why?", messages["3"]: "why?"} == asked
        assert {messages["3"]: "why?"} == store.preceding_prompts(key, [messages["3"]])

    def test_how_far_the_index_is(self, store: Store) -> None:
        assert 0 == store.indexed_up_to()
        put(store, talk("a", said("1", "one"), title="Old"))
        change = put(store, talk("a", said("1", "one"), title="New"))
        with store.transaction():
            store.mark_indexed(store.last_key(), change.removed)

        assert store.last_key() == store.indexed_up_to()
        assert [] == store.removed()

    def test_what_a_search_shows(self, store: Store) -> None:
        call = Message(id="2", role="assistant", parts=[ToolCall(name="ls", input={"path": "/work"})])
        change = put(store, talk("a", said("1", "one", minute(1)), call, title="T", updated_at=minute(9)))
        with store.transaction():
            memory = store.put_memory(MEMORY, store.put_source(SourceRow(path="/some/file")))
        keys = [each.key for each in (*change.index_entries, *memory.index_entries)]
        found = store.entry_views([*keys, 999_999])

        assert set(keys) == set(found)
        shown = {(each.message, each.role, each.text, each.position) for each in found.values()}
        assert {("1", "user", "one", 0), ("2", "assistant", "ls\n/work", 1), ("", "", "T", 0)} <= shown
        assert ("m1", "memory", "likes tea", 0) in shown
        assert {} == store.entry_views([])

    def test_texts_are_there_without_the_rest(self, store: Store) -> None:
        call = ToolCall(name="ls", input={"path": "/work"})
        both = Message(id="2", role="assistant", parts=[Text(text="a"), call, Text(text="b")])
        silent = Message(id="3", role="assistant", parts=[call])
        change = put(store, talk("a", said("1", "one", minute(1)), both, silent, title="T"))
        with store.transaction():
            memory = store.put_memory(MEMORY, store.put_source(SourceRow(path="/some/file")))
        keys = [each.key for each in (*change.index_entries, *memory.index_entries)]
        found = store.message_texts([*keys, 999_999])

        assert set(keys) == set(found)
        texts = {each.message: each.texts for each in found.values()}
        assert (("text", "a\n\nb"),) == texts["2"]
        assert () == texts["3"]
        assert {"one", "a\n\nb", "", "T", "likes tea"} == {each.text for each in found.values()}
        for key, whole in store.entry_views(keys).items():
            assert whole._replace(text="", texts=()) == found[key]._replace(text="", texts=())
            assert dict(found[key].texts).items() <= dict(whole.texts).items()

    def test_what_is_around_a_hit(self, store: Store) -> None:
        messages = [said(str(number), f"text {number}", minute(number)) for number in range(6)]
        event = Event(id="e", name="x")
        change = put(store, talk("a", *messages[:3], event, *messages[3:], title="T"))
        hits = {
            each.message: each
            for each in store.entry_views([each.key for each in change.index_entries]).values()
        }

        def ids(count: int, message: str) -> tuple[list[str], list[str]]:
            before, behind = store.surrounding_entries(hits[message], count)
            return [each.message for each in before], [each.message for each in behind]

        assert (["1", "2"], ["4", "5"]) == ids(2, "3")
        assert ([], ["1"]) == ids(1, "0")
        assert ([], []) == ids(0, "3")
        assert ([], []) == ids(2, ""), "a title stands in no order"

    def test_what_is_around_a_hit_in_a_tree_is_on_its_branch(self, store: Store) -> None:
        parents = {"1": None, "2": "1", "3": "2", "4": "1", "5": "4", "6": "4"}
        messages = [
            replace(said(name, f"text {name}", minute(int(name))), parent_id=parent)
            for name, parent in parents.items()
        ]
        tree = replace(talk("a", *messages), shape="tree", head_id="5")
        change = put(store, tree)
        hits = {
            each.message: each
            for each in store.entry_views([each.key for each in change.index_entries]).values()
        }

        def ids(message: str) -> tuple[list[str], list[str]]:
            before, behind = store.surrounding_entries(hits[message], 2)
            return [each.message for each in before], [each.message for each in behind]

        assert (["1", "2"], []) == ids("3")
        assert ([], ["4", "5"]) == ids("1"), "what people see goes on"
        assert (["1", "4"], []) == ids("6")

    def test_where_hits_stand(self, store: Store) -> None:
        long = "the same long text that nobody says twice in two conversations, or is it?"
        first = put(
            store, talk("a", said("1", long, minute(1)), said("2", "go on", minute(2)), title="T"), "/a"
        )
        second = put(store, talk("b", said("3", long, minute(3)), said("4", "go on", minute(4))), "/b")
        subagent = replace(
            talk("c", said("5", "looked", minute(5))), link=Link(conversation_id="a", relation="subagent")
        )
        third = put(store, subagent, "/c")
        with store.transaction():
            memory = store.put_memory(MEMORY, 1)
        changes = (first, second, third, memory)
        placed = store.entry_locations(
            [each.key for change in changes for each in change.index_entries] + [999_999]
        )
        by_message = {each.message: each for each in placed.values()}

        assert {"1", "2", "3", "4", "5", "", "m1"} == set(by_message)
        assert by_message["1"].duplicate_key == by_message["3"].duplicate_key == long
        assert (
            by_message["2"].duplicate_key is None
            or by_message["2"].duplicate_key != by_message["4"].duplicate_key
        )
        assert by_message["5"].family == by_message["1"].family == by_message[""].family == first.conversation
        assert "c" == by_message["5"].id
        assert by_message["m1"].family < 0
        assert {} == store.entry_locations([])

    def test_copies_are_reported_where_the_original_is(self, store: Store) -> None:
        first = put(store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2))), "/a")
        fork = put(store, talk("b", said("1", "one", minute(1)), said("3", "three", minute(3))), "/b")
        original = next(each.key for each in first.index_entries if each.text == "one")

        assert {original: [fork.conversation]} == store.copies([each.key for each in first.index_entries])
        copy = store.resolve_copies([original], [fork.conversation])[original]
        assert {copy: [first.conversation]} == store.copies([copy])
        assert {} == store.copies([])

    def test_a_message_of_a_fork_stands_in_both(self, store: Store) -> None:
        first = put(
            store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2)), title="T"), "/a"
        )
        fork = put(store, talk("b", said("1", "one", minute(1)), said("3", "three", minute(3))), "/b")
        one, two = (
            next(each.key for each in first.index_entries if each.text == text) for text in ("one", "two")
        )
        title = next(each.key for each in first.index_entries if each.title)
        copy = next(iter(store.copied_keys(fork.conversation)))

        assert [one] == store.originals_copied_into([fork.conversation])
        assert [] == store.originals_copied_into([first.conversation])
        assert {one: copy} == store.resolve_copies([one, two], [fork.conversation])
        assert {one: one, two: two} == store.resolve_copies(
            [one, two], [first.conversation, fork.conversation]
        )
        assert {one: one, two: two, title: title} == store.resolve_copies([one, two, title], only_shown=True)

    @pytest.mark.parametrize(("head", "seen"), [(None, [*"1345s"]), ("2", [*"12s"]), ("gone", [*"12345s"])])
    def test_what_people_see_of_a_tree(self, store: Store, head: str | None, seen: list[str]) -> None:
        call, result = ToolCall(call_id="c", name="look"), ToolResult(call_id="c", output="seen")
        tree = talk(
            "a",
            said("s", "a prompt", minute(0), role="system"),
            said("1", "one", minute(1)),
            said("2", "dropped", minute(2), parent_id="1"),
            Message(id="3", role="assistant", at=minute(3), parent_id="1", parts=[call]),
            Message(id="4", role="tool", at=minute(4), parent_id="3", parts=[result]),
            said("5", "last", minute(5), parent_id="3"),
        )
        change = put(store, replace(tree, shape="tree", head_id=head))
        shown = store.resolve_copies([each.key for each in change.index_entries], only_shown=True)

        assert seen == sorted(each.message for each in store.entry_views([*shown]).values())

    def test_the_newest_first(self, store: Store) -> None:
        old = put(store, talk("a", said("1", "one", minute(1)), title="T"), "/a")
        put(store, talk("b", said("2", "two", minute(2))), "/b")
        with store.transaction():
            store.put_memory(MEMORY, 1)

        assert ["two", "", "one", "likes tea"] == [each.text for each in store.newest_index_entries(0)]
        later = max(each.key for each in old.index_entries)
        assert ["two", "likes tea"] == [each.text for each in store.newest_index_entries(later)]

    # Usage

    def test_usage_is_summed_by_bucket_source_model_and_state(self, store: Store) -> None:
        put(store, talk("a", used("1", 5, minute(1)), used("2", 7, minute(20)), used("3", 1, minute(29))))
        put(store, talk("b", used("4", 2, minute(1), model="n"), used("5", -3, minute(2)), source="other"))
        put(
            store, talk("c", said("6", "x", minute(1), role="assistant", usage=Usage(key="k6")), used("7", 4))
        )
        quarter = (timestamps.epoch_ms(minute(0)) or 0) // 900_000

        def bucket(slot: int | None) -> int:
            return -1 if slot is None else slot - quarter

        found = sorted(
            (spent.bucket, spent.source, spent.model or "", spent.state, spent.answers, spent.output)
            for spent in store.usage(Filter(), bucket)
        )
        assert [
            (-1, "some-tool", "m", "counted", 1, 4),
            (0, "other", "m", "odd", 1, 0),
            (0, "other", "n", "counted", 1, 2),
            (0, "some-tool", "", "empty", 1, 0),
            (0, "some-tool", "m", "counted", 1, 5),
            (1, "some-tool", "m", "counted", 2, 8),
        ] == found
        assert ["m", "n"] == store.used_models()

    def test_usage_that_is_wanted(self, store: Store) -> None:
        put(store, talk("a", used("1", 1, minute(1)), used("2", 2, minute(20)), cwd="/work/tides", title="T"))
        put(store, talk("b", used("3", 4, minute(40), model="n"), source="other"))

        def outputs(wanted: Filter) -> int:
            return sum(spent.output for spent in store.usage(wanted, lambda _: 0))

        for wanted, output in (
            (Filter(), 7), (Filter(source="other"), 4), (Filter(project="TIDES"), 3), (Filter(title="t"), 3),
            (Filter(model="N"), 4), (Filter(since=minute(15)), 6), (Filter(until=minute(15)), 1),
            (Filter(since=minute(15), until=minute(30)), 2), (Filter(until=minute(31)), 7),
        ):  # fmt: skip
            assert output == outputs(wanted), wanted

    def test_usage_by_the_size_of_prompts(self, store: Store) -> None:
        prompts = (100_000, 200_000, 200_001, 300_000)
        answers = [
            said(
                f"{model}{size}", f"said {size}", minute(1), role="assistant", model=model,
                usage=Usage(input=size),
            )
            for size in prompts
            for model in ("m", "n")
        ]  # fmt: skip
        put(store, talk("a", *answers))

        def found(model: str, **sizes: list[int]) -> list[tuple[int, int]]:
            spent = store.usage(Filter(model=model), lambda _: 0, sizes=sizes)
            return sorted((each.price_tier_threshold, each.input) for each in spent)

        assert [(0, 800_001)] == found("m")
        assert [(0, 300_000), (200_000, 500_001)] == found("m", m=[200_000])
        both = {"m": [200_000, 272_000], "n": [272_000]}
        assert [(0, 300_000), (200_000, 200_001), (272_000, 300_000)] == found("m", **both)
        assert [(0, 500_001), (272_000, 300_000)] == found("n", **both)

    def test_usage_by_conversation(self, store: Store) -> None:
        put(store, talk("a", used("1", 1, minute(1)), title="T", cwd="/w"))
        link = Link(conversation_id="a", relation="subagent")
        put(store, talk("a/1", used("2", 2, minute(2)), link=link))
        holders = store.usage_conversations()
        found = {
            holders[spent.conversation].id: spent.output
            for spent in store.usage(Filter(), lambda _: 0, per="conversation")
        }

        assert {"a": 1, "a/1": 2} == found
        by_id = {holder.id: holder for holder in holders.values()}
        assert ("T", "/w", None) == (by_id["a"].title, by_id["a"].project, by_id["a"].parent)
        assert by_id["a"].key == by_id["a/1"].parent

    def test_usage_by_project(self, store: Store) -> None:
        put(store, talk("a", used("1", 1, minute(1)), cwd="/w"))
        put(store, talk("b", used("2", 2, minute(1)), cwd="/w"))
        put(store, talk("c", used("3", 4, minute(1))))
        found = {(spent.project, spent.output) for spent in store.usage(Filter(), lambda _: 0, per="project")}

        assert {("/w", 3), (None, 4)} == found

    def test_conversations_that_nobody_counted(self, store: Store) -> None:
        put(store, talk("a", used("1", 1, minute(1)), said("2", "and", minute(2), role="assistant")))
        answer = said("4", "fine", minute(3), role="assistant", model="m")
        put(store, talk("b", said("3", "how are you", minute(2)), answer, cwd="/w"))
        put(store, talk("c", said("5", "nobody answers", minute(40)), source="other"))
        put(store, talk("d", said("6", "well", minute(40), role="assistant"), source="other"))
        put(store, talk("e", used("1", 1, minute(1))))  # repeats what is counted with another

        for wanted, found in (
            (Filter(), {"other": 1, "some-tool": 1}), (Filter(source="other"), {"other": 1}),
            (Filter(project="w"), {"some-tool": 1}), (Filter(model="m"), {"some-tool": 1}),
            (Filter(since=minute(30)), {"other": 1}), (Filter(until=minute(30)), {"some-tool": 1}),
        ):  # fmt: skip
            assert found == store.uncounted(wanted), wanted

    def test_usage_is_counted_once_and_the_last_word_holds(self, store: Store) -> None:
        whole = [used("1", 3, minute(1), key="k"), used("2", 9, minute(1, 1), key="k")]
        for each in (talk("a", *whole), talk("fork", whole[0]), talk("a", *whole)):
            put(store, each)

        assert [(1, 9)] == [(spent.answers, spent.output) for spent in store.usage(Filter(), lambda _: 0)]

    def test_usage_is_of_the_day_it_was_written_first(self, store: Store) -> None:
        later = "2026-04-03T10:00:00Z"
        for order in (("x", later, minute(1)), ("y", minute(1), later)):
            name, first, second = order
            put(store, talk(f"{name}1", used(f"{name}1", 3, first, key=name)))
            put(store, talk(f"{name}2", used(f"{name}2", 3, second, key=name)))
        days = {spent.bucket for spent in store.usage(Filter(), lambda slot: (slot or 0) // 96)}

        assert {(timestamps.epoch_ms(minute(1)) or 0) // 86_400_000} == days
        holders = store.usage_conversations()
        by_conversation = store.usage(Filter(), lambda _: 0, per="conversation")
        assert {"x2", "y1"} == {holders[spent.conversation].id for spent in by_conversation}

    @pytest.mark.parametrize("order", ["first fork", "fork first"])
    def test_what_a_fork_repeats_is_counted_where_it_came_from(self, store: Store, order: str) -> None:
        def holding() -> dict[str, int]:
            by_conversation = store.usage(Filter(), lambda _: 0, per="conversation")
            return {
                store.usage_conversations()[spent.conversation].id: spent.output or 0
                for spent in by_conversation
            }

        both = [used("1", 3, minute(1), key="k1"), used("2", 4, minute(2), key="k2")]
        link = Link(conversation_id="first", relation="fork")
        talks = {
            "first": talk("first", *both, used("a", 5, minute(3), key="a")),
            "fork": talk("fork", *both, used("b", 6, minute(4), key="b"), link=link),
        }
        for id_ in order.split():
            put(store, talks[id_], f"/{id_}")

        assert {"first": 12, "fork": 6} == holding()
        assert [] == list(store.problems())
        with store.transaction():
            store.forget(the(store, "first").key, NOW)
        assert {"fork": 13} == holding()

    def test_what_is_counted_under_another_name_is_not_counted_twice(self, store: Store) -> None:
        put(store, talk("a", used("1", 3, minute(1)), used("2", 4, minute(2))))
        put(store, talk("a", used("1", 3, minute(1), key="sum"), used("2", 7, minute(2), key="sum")))

        assert [(1, 7)] == [(spent.answers, spent.output) for spent in store.usage(Filter(), lambda _: 0)]

    def test_usage_of_what_is_forgotten_goes_to_its_copies(self, store: Store) -> None:
        put(store, talk("a", used("1", 3, minute(1)), used("2", 4, minute(2))))
        put(store, talk("b", used("1", 3, minute(1))))
        assert 7 == sum(spent.output for spent in store.usage(Filter(), lambda _: 0))
        with store.transaction():
            store.forget(the(store, "a").key, NOW)

        assert [3] == [spent.output for spent in store.usage(Filter(), lambda _: 0)]

    def test_which_entries_are_copies(self, store: Store) -> None:
        put(store, talk("a", said("1", "one", minute(1)), said("2", "two", minute(2))))
        put(store, talk("b", said("1", "one", minute(1)), said("3", "three", minute(3))))
        keys = [key for key, _ in store.entries(the(store, "b").key)]

        assert {keys[0]} == store.copied_keys(the(store, "b").key)
        assert set() == store.copied_keys(the(store, "a").key)

    # Care

    def test_counts(self, store: Store) -> None:
        assert 0 == store.counts().conversations
        put(store, talk("a", said("1", "one", minute(1)), Event(id="e", name="x")), "/a")
        put(store, talk("b", said("2", "two"), source="other"), "/b")
        assert 0 == store.counts().hidden_from_lists
        subagent = Link(conversation_id="a", relation="subagent")
        put(store, replace(talk("c", said("3", "three")), link=subagent), "/c")
        counts = store.counts()

        assert (3, 3, 1, 3) == (counts.conversations, counts.messages, counts.events, counts.sources)
        assert 1 == counts.hidden_from_lists
        assert {"some-tool", "other"} == set(counts.by_source)
        assert (1, 1) == (
            counts.by_source["other"]["conversations"], counts.by_source["other"]["messages"],
        )  # fmt: skip

    def test_the_newest_time_is_shown_whatever_its_zone(self, store: Store) -> None:
        put(store, talk("a", said("1", "early", "2026-04-01T21:00:00+12:00")), "/a")
        put(store, talk("b", said("2", "late", minute(1))), "/b")
        put(store, talk("c", said("3", "sometime")), "/c")

        assert minute(1) == store.counts().by_source["some-tool"]["updated_at"]

    def test_what_is_forgotten_is_gone_and_stays_away(self, store: Store) -> None:
        assert not store.has_forgotten()
        change = put(store, talk("a", said("1", "one"), title="T"))
        put(store, talk("b", said("2", "two")))
        with store.transaction():
            removed = store.forget(change.conversation, NOW)
        store.compact()

        assert {each.key for each in change.index_entries} == set(removed) == set(store.removed())
        assert ["b"] == [each.id for each in store.conversations(ALL)]
        assert {} == store.listed([change.conversation])
        assert {} == store.entry_views(removed)
        assert store.has_forgotten()
        assert (True, False) == (store.is_forgotten("some-tool", "a"), store.is_forgotten("some-tool", "b"))
        assert change.conversation not in store.conversations_of(1)

    def test_memories_that_are_forgotten_are_gone_and_stay_away(self, store: Store) -> None:
        put(store, talk("a", said("1", "one")), "/a")
        with store.transaction():
            sources = [store.put_source(SourceRow(path=path, read_at=NOW)) for path in ("/b", "/c", "/d")]
            changes = [store.put_memory(MEMORY, source) for source in sources[:2]]
        assert [False, False, True] == [store.is_empty_source(source) for source in sources]
        with store.transaction():
            removed = store.forget_memories(NOW)
        store.compact()

        assert [each.key for change in changes for each in change.index_entries] == removed == store.removed()
        assert [] == list(store.memories())
        assert [] == list(store.problems())
        assert store.is_forgotten(MEMORY.source, MEMORY.id)
        assert all(map(store.is_empty_source, sources))
        assert [False] == [store.is_empty_source(each) for each in store.sources_of(the(store, "a").key)]

    def test_what_is_left_to_erase_is_remembered(self, opener: Opener) -> None:
        store = opener()
        assert store.pending_erasure() is None
        with store.transaction():
            store.set_pending_erasure(Erasing(sources=[3, 1], rows=True))
        store.close()
        store = opener()

        assert Erasing(sources=[3, 1], rows=True) == store.pending_erasure()
        with store.transaction():
            store.set_pending_erasure(None)
        assert store.pending_erasure() is None
        store.close()

    def test_what_is_read_is_of_one_moment(self, opener: Opener) -> None:
        store, other = opener(), opener()
        put(store, talk("a", said("1", "one")))
        with other.read_snapshot():
            assert 1 == other.counts().conversations
            put(store, talk("b", said("2", "two")))
            assert 1 == other.counts().conversations

        assert 2 == other.counts().conversations
        other.close()
        store.close()

    def test_what_was_forgotten_is_known_by_its_name(self, store: Store) -> None:
        change = put(store, talk("a", said("1", "one")))
        assert not store.was_forgotten("some-tool:a")
        store.commit_durably()
        with store.transaction():
            store.forget(change.conversation, NOW)

        assert store.was_forgotten("some-tool:a")
        assert not store.was_forgotten("some-tool:b")

    def test_duplicates_that_are_sound_stay(self, store: Store) -> None:
        for id_ in "ab":
            messages = (said(f"{id_}{n}", f"text {n}", minute(n), made_id=True) for n in range(2))
            put(store, talk(id_, *messages, made_id=True), f"/{id_}")
        before = {each.id: each.twin_of for each in store.conversations(ALL)}
        assert not store.has_unresolved_duplicates()
        with store.transaction():
            store.resolve_duplicates()

        assert {"a": None, "b": "some-tool:a"} == before
        assert before == {each.id: each.twin_of for each in store.conversations(ALL)}
        assert [] == list(store.problems())

    def test_a_copy_is_a_store_of_its_own(self, store: Store, tmp_path: Path) -> None:
        put(store, talk("a", said("1", "one")))
        store.backup(tmp_path / "copy")
        put(store, talk("b", said("2", "two")))

        assert (tmp_path / "copy").exists()
        assert [] == list(store.problems())
