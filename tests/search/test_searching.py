"""Searching in a journal as it is in use: rows, index, and what a person sees of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from agent_journal import config as configs
from agent_journal import journal as journals
from agent_journal.archive import importing, open_to_write
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.cli.search import _report
from agent_journal.config import Config
from agent_journal.errors import IndexBehind, IndexDamaged, NoSuchName
from agent_journal.journal import Journal, export, index_upkeep
from agent_journal.journal import search as searching
from agent_journal.journal.answer import Answer, Mode
from agent_journal.search import reach, scanning
from agent_journal.search.folder import discard
from agent_journal.search.query import Filters, Query

LONG = "a long sentence about old lanterns that nobody says in the same words a second time"


def said(id_: str, text: str, minute: int, role: str = "user", **more: Any) -> dict[str, Any]:
    at = f"2026-03-01T10:{minute:02}:00Z"
    return {
        "type": "message",
        "id": id_,
        "role": role,
        "at": at,
        "parts": [{"type": "text", "text": text}],
        **more,
    }


def did(id_: str, minute: int, *parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {
        "type": "message",
        "id": id_,
        "role": role,
        "at": f"2026-03-01T10:{minute:02}:00Z",
        "parts": list(parts),
    }


def call(name: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "tool_call", "call_id": f"{name}1", "name": name, "kind": kind, "input": {"what": text}}


def gave(name: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "call_id": f"{name}1", "output": text, "is_error": failed}


def chat(id_: str, *timeline: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "conversation",
        "id": id_,
        "source": "tea",
        "shape": "list",
        "timeline": list(timeline),
        **more,
    }


CHATS = [
    chat(
        "tides",
        said("t1", "why is the tide so high at the harbour?", 1),
        said("t2", "because of the moon, and the harbour is narrow", 2, "assistant", model="gull-4"),
        said("t3", "thank you", 3),
        did("t4", 4, call("Bash", "shell", "cat tides/table.py")),
        did("t5", 5, gave("Bash", "ConnectionError: no route to harbour", failed=True), role="tool"),
        title="High water",
        cwd="/home/ana/tides",
        git_branch="main",
    ),
    chat(
        "ships",
        said("s1", "ships in the harbour", 6),
        said("s2", LONG, 7),
        cwd="/home/ana/ships",
        git_branch="fix/mast",
    ),
    chat("copied", said("c1", LONG, 8), said("c2", "something else", 9)),
    chat("empty"),
]


def keep(config: Config, folder: Path, *chats: dict[str, Any]) -> None:
    path = folder / f"{chats[0]['id']}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in chats), encoding="utf-8")
    journals.import_files(config, [ImportCandidate(str(path))], lambda _: None)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return configs.load(tmp_path / "home", {})


@pytest.fixture
def search(config: Config, tmp_path: Path) -> Iterator[Callable[..., Answer]]:
    keep(config, tmp_path, *CHATS)
    with Journal(config) as journal:

        def search(query: str, **more: Any) -> Answer:
            return journal.search(query, mode="lexical", **more)

        yield search


def found(answer: Answer) -> list[tuple[str, str]]:
    return [(hit.conversation.id if hit.conversation else "", hit.entry.message) for hit in answer.hits]


def test_the_best_of_each_conversation(search: Callable[..., Answer]) -> None:
    answer = search("harbour")
    assert [("ships", "s1"), ("tides", "t2")] == sorted(found(answer))
    tides = next(hit for hit in answer.hits if hit.conversation and hit.conversation.id == "tides")
    assert {"t1", "t5"} == {each.message for each in tides.others}
    assert answer.is_whole
    assert not answer.has_more


def test_copies_are_folded(search: Callable[..., Answer]) -> None:
    (hit,) = search('"nobody says"').hits
    assert len(hit.copies) == 1
    assert {"ships", "copied"} == {hit.conversation.id if hit.conversation else "", *hit.copies}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("project:ships harbour", {"ships"}),
        ("harbour project:/HOME/ana/tides", {"tides"}),
        ("branch:main harbour", {"tides"}),
        ("branch:mast", {"ships"}),
        ("-branch:main harbour", {"ships"}),
        ("model:gull", {"tides"}),
        ("model:gull ships", set()),
        ("role:assistant harbour", {"tides"}),
        ("tool:shell", {"tides"}),
        ("tool:bash harbour", {"tides"}),
        ("has:error", {"tides"}),
        ("has:error moon", set()),
        ("source:tea harbour", {"tides", "ships"}),
        ("source:coffee harbour", set()),
        ("title:water", {"tides"}),
        ("title:harbour", set()),
        ("title:water harbour", {"tides"}),
        ("title:water title:high moon", {"tides"}),
        ("title:water ships", set()),
        ("title:ships harbour", set()),
        ("title:water role:assistant", {"tides"}),
        ("title:water OR narrow", {"tides"}),
        ("-title:water harbour", {"ships"}),
        ("-title:ships harbour", {"tides", "ships"}),
        ("-title:water title:water harbour", set()),
        ("in:title water", {"tides"}),
        ("in:output harbour", {"tides"}),
        ("in:call harbour", set()),
        ("-in:title,output water", set()),
        ("-in:output harbour -ships", {"tides"}),
        ("-in:text harbour", {"tides"}),
        ("-in:text -in:tool harbour", set()),
        ("in:title,output harbour -in:title", {"tides"}),
        ("in:output harbour -table", {"tides"}),
        ("file:tides/table.py", {"tides"}),
        ("tides/table.py:12", {"tides"}),
        ("since:2026-03-01T10:06:00Z harbour", {"ships"}),
        ("before:2026-03-01T10:06:00Z harbour", {"tides"}),
        ("since:2026-04 harbour", set()),
        ("harbour -ships", {"tides"}),
        ("harbour moon", {"tides"}),
        ("std::harbour", {"tides", "ships"}),
        ("harbor", {"tides", "ships"}),
    ],
)
def test_what_is_asked_for(search: Callable[..., Answer], query: str, expected: set[str]) -> None:
    assert expected == {id_ for id_, _ in found(search(query))}


def test_what_has_all_words_of_a_sentence_comes_first(search: Callable[..., Answer]) -> None:
    assert ("tides", "t5") == found(search("ConnectionError: no route to harbour"))[0]
    assert [("ships", "s1")] == found(search("which ships were in that harbour yesterday"))[:1]
    assert [] == found(search('"which ships" were in that harbour yesterday')), "quotes are meant"


def test_a_result_answers_for_the_tool_that_was_called(search: Callable[..., Answer]) -> None:
    assert [("tides", "t5")] == found(search("route", filters=Filters(tools=("shell",), has_error=True)))


def test_what_is_shown_of_a_hit(search: Callable[..., Answer]) -> None:
    (hit,) = search("route", context=1).hits
    assert (hit.field, hit.snippet.text) == ("output", "ConnectionError: no route to harbour")
    assert [(20, 25)] == hit.snippet.marks
    assert (["t4"], []) == ([each.message for each in hit.before], [each.message for each in hit.after])
    (hit,) = search("high water").hits
    assert hit.field == "title"


def test_what_an_attached_file_says_is_found(config: Config, tmp_path: Path) -> None:
    told = {"type": "media", "kind": "document", "name": "lease.pdf", "text": "The tenant waters the ferns."}
    held = {"type": "media", "kind": "file", "mime": "text/plain", "data": "cGFyc2xleSBhbmQgc2FnZQ=="}
    keep(config, tmp_path, chat("flat", did("m1", 1, told, role="user"), did("m2", 2, held, role="user")))
    with Journal(config) as journal:
        for query, message in (("ferns", "m1"), ("parsley in:attached", "m2")):
            (hit,) = journal.search(query, mode="lexical").hits
            assert (hit.field, hit.entry.message) == ("attached", message)
        for query in ("ferns in:text", "ferns in:tool", "ferns in:title"):
            assert not journal.search(query, mode="lexical").hits
        journal.embed()
        (hit,) = journal.search("who has to water plants", mode="semantic", limit=1).hits
        assert hit.entry.message == "m1"


def test_all_that_a_hit_says_is_there_for_whoever_wants_it(config: Config, tmp_path: Path) -> None:
    both = did("m1", 1, {"type": "text", "text": "the oars creak"}, call("Bash", "shell", "grease oars"))
    keep(config, tmp_path, chat("boat", both))
    with Journal(config) as journal:
        texts = {
            (query, whole): journal.search(query, mode="lexical", whole=whole).hits[0].entry.text
            for query in ("oars", "grease")
            for whole in (False, True)
        }
    every = "the oars creak\n\nBash\ngrease oars"
    assert texts[("oars", False)] == "the oars creak"
    assert {every} == {texts["oars", True], texts["grease", False], texts["grease", True]}


def test_what_was_misspelled_is_reported(search: Callable[..., Answer]) -> None:
    answer = search("hrabour moon")
    assert [("tides", "t2")] == found(answer)
    assert [("hrabour", ("harbour",))] == answer.corrections


def test_stop_words_of_a_sentence_are_not_marked(search: Callable[..., Answer]) -> None:
    (hit,) = search("why is the moon so narrow").hits

    assert ["moon", "narrow"] == [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    (output,) = search("is there no route to the harbour, or is it an error", limit=1).hits
    assert (("t5", "output"), True) == ((output.entry.message, output.field), "route" in output.snippet.text)


def test_what_nothing_contains_is_named(search: Callable[..., Answer]) -> None:
    answer = search("zebra moon")
    assert (("zebra",), [("tides", "t2")]) == (answer.missing, found(answer))
    assert [False] == [hit.is_semantic_only for hit in answer.hits]
    assert answer.missing == search("zebra moon", strict=True).missing
    assert () == search("hrabour moon").missing, "it was corrected"
    assert ["title:moon", "zebra"] == list(search("title:moon zebra").to_dict()["missing"])


def test_hits_without_the_words_are_marked(config: Config, tmp_path: Path) -> None:
    bikes = chat("bikes", said("b1", "the brakes of my bicycle squeal after cleaning the chain", 1))
    soup = chat("soup", said("s1", "sounds of cooking lentil soup with carrots", 2))
    keep(config, tmp_path, bikes, soup)
    with Journal(config) as journal:
        journal.embed()
        answer = journal.search("cycling sounds", mode="hybrid")

    marks = {hit.conversation.id: hit.is_semantic_only for hit in answer.hits if hit.conversation}
    assert {"bikes": True, "soup": False} == marks
    assert {"bikes": True, "soup": False} == {
        each["conversation"]: each["semantic_only"] for each in answer.to_dict()["hits"]
    }


def test_all_words_as_they_were_typed(search: Callable[..., Answer]) -> None:
    assert [] == search("hrabour", strict=True).hits
    assert [] == search("harbour nowhere", strict=True).hits
    assert [("tides", "t2")] == found(search("harbour moon", strict=True))
    most = "because of the moon and the harbour is narrow at nine today"
    assert ("tides", "t2") == found(search(most))[0]
    assert [] == search(most, strict=True).hits, "a long text has all of its words, too"


def test_pages(search: Callable[..., Answer]) -> None:
    first, second = search("harbour", limit=1), search("harbour", limit=1, offset=1)
    assert first.has_more
    assert not second.has_more
    assert {"tides", "ships"} == {id_ for id_, _ in found(first) + found(second)}
    assert [] == search("harbour", offset=2).hits


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"offset": -1}, {"context": -1}])
def test_less_than_nothing_is_nothing(search: Callable[..., Answer], wrong: dict[str, int]) -> None:
    nothing = dict.fromkeys(wrong, 0)
    assert search("harbour", **nothing) == search("harbour", **wrong)


def test_a_mode_that_there_is_not(config: Config, tmp_path: Path) -> None:
    keep(config, tmp_path, *CHATS)
    with (
        Journal(config) as journal,
        pytest.raises(NoSuchName, match="choose one of: lexical, semantic, hybrid"),
    ):
        journal.search("harbour", mode=cast("Mode", "fuzzy"))


def test_what_a_long_conversation_leaves_no_room_for_is_found(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_INITIAL_WINDOW_COUNT", 4)
    monkeypatch.setattr(searching, "_MAX_WINDOW_ENTRIES", 8)
    monkeypatch.setattr(searching, "_MAX_ENTRIES_PER_HIT", 8)
    long = chat("long", *(said(f"l{number}", f"tea {number}", 10 + number) for number in range(40)))
    short = [chat(f"short-{number}", said(f"s{number}", f"some tea {number}", number)) for number in range(5)]
    keep(config, tmp_path, long, *short)
    with Journal(config) as journal:
        first = journal.search("role:user", 1)
        assert [("long", "l39")] == found(first)
        assert first.has_more, "the window ended in the long one"
        assert ["short-4"] == [id_ for id_, _ in found(journal.search("role:user", 1, 1))]
        both = journal.search("role:user", 20)
        assert (6, False) == (len(both.hits), both.has_more)
        assert 6 == len(export.find_conversations(journal, "role:user", None, None))
        monkeypatch.setattr(export, "_INITIAL_MAX_HITS", 1)
        assert 6 == len(export.find_conversations(journal, "role:user", None, None))


def test_a_subagent_is_shown_with_the_one_it_works_for(config: Config, tmp_path: Path) -> None:
    keep(
        config,
        tmp_path,
        chat("boss", said("b1", "find the lighthouse", 1)),
        chat(
            "helper",
            said("h1", "the lighthouse is here", 2),
            link={"conversation_id": "boss", "relation": "subagent"},
        ),
    )
    with Journal(config) as journal:
        (hit,) = journal.search("lighthouse", mode="lexical").hits
    assert len(hit.others) == 1
    assert {"boss", "helper"} == {hit.conversation.id if hit.conversation else "", hit.others[0].conversation}


@pytest.mark.parametrize("boss", [{}, {"link": {"conversation_id": "second", "relation": "subagent"}}])
def test_subagents_of_subagents_are_shown_with_the_one_they_work_for(
    config: Config, tmp_path: Path, boss: dict[str, Any]
) -> None:
    def works_for(id_: str) -> dict[str, Any]:
        return {"conversation_id": id_, "relation": "subagent"}

    keep(
        config,
        tmp_path,
        chat("boss", said("b1", "find the lighthouse", 1), **boss),
        chat("first", said("f1", "the lighthouse is here", 2), link=works_for("boss")),
        chat("second", said("s1", "no lighthouse is there", 3), link=works_for("first")),
    )
    with Journal(config) as journal:
        hits = journal.search("lighthouse", mode="lexical").hits
    shown = [
        {hit.conversation.id if hit.conversation else "", *(o.conversation for o in hit.others)}
        for hit in hits
    ]
    assert {"boss", "first", "second"} == set().union(*shown)
    assert boss or len(shown) == 1


def words(config: Config) -> Path:
    return next(config.storage.index_path.rglob("about.json")).parent


def delete(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


FORKED = [
    chat("first", said("m1", "a lantern by the door", 1), said("m2", "and a lantern on the wall", 2)),
    chat("fork", said("m1", "a lantern by the door", 1), said("m3", "no lantern at the gate", 3)),
    chat(
        "rewound",
        said("r1", "light the lanterns", 4),
        said("r2", "the lantern is broken", 5, "assistant", parent_id="r1"),
        said("r3", "the lantern is lit", 6, "assistant", parent_id="r1"),
        shape="tree",
        head_id="r3",
    ),
    chat(
        "helper",
        said("h1", "which lantern do you mean", 7),
        link={"conversation_id": "rewound", "relation": "subagent"},
    ),
]


def every(answer: Answer) -> set[tuple[str, str]]:
    others = {(each.conversation, each.message) for hit in answer.hits for each in hit.others}
    return {*found(answer), *others}


@pytest.fixture
def forked(config: Config, tmp_path: Path) -> Iterator[Journal]:
    keep(config, tmp_path, *FORKED)
    with Journal(config) as journal:
        yield journal


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first", {("first", "m1"), ("first", "m2")}),
        ("fork", {("fork", "m1"), ("fork", "m3")}),
        ("rewound", {("rewound", "r2"), ("rewound", "r3"), ("helper", "h1")}),
        ("helper", {("helper", "h1")}),
    ],
)
@pytest.mark.parametrize("harm", [lambda _: None, delete])
def test_within_a_conversation(
    forked: Journal,
    config: Config,
    name: str,
    expected: set[tuple[str, str]],
    harm: Callable[[Path], None],
) -> None:
    harm(words(config))
    within = Filters(conversations=(forked.one(name).key,))

    assert expected == every(forked.search("lantern", filters=within, mode="lexical"))


def test_a_hit_in_a_fork_states_where_else_it_is(forked: Journal) -> None:
    within = Filters(conversations=(forked.one("fork").key,))
    (hit,) = forked.search("door", filters=within, mode="lexical", context=1).hits

    assert ["first"] == hit.copies
    assert ["m3"] == [each.message for each in hit.after]


def test_what_is_shown(forked: Journal) -> None:
    assert ("rewound", "r2") in every(forked.search("lantern broken", mode="lexical"))
    assert [] == forked.search('"lantern is broken"', filters=Filters(shown=True), mode="lexical").hits
    seen = every(forked.search("lantern", filters=Filters(shown=True), mode="lexical"))
    assert {"m1", "m2", "m3", "r3", "h1"} == {message for _, message in seen}


def test_facets_count_the_matches_of_a_search(forked: Journal, config: Config) -> None:
    def roles(query: str, **filters: Any) -> dict[str, int]:
        return dict(forked.facets(query, filters=Filters(**filters)).values["role"])

    assert {"user": 4, "assistant": 2} == roles("lantern")
    assert {"user": 5, "assistant": 2} == roles("")
    assert {"user": 4, "assistant": 1} == roles("lantern", shown=True)
    assert {"user": 2} == roles("lantern", conversations=(forked.one("fork").key,))
    assert {"user": 1, "assistant": 2} == roles("lantern", conversations=(forked.one("rewound").key,))
    assert {"user": 4, "assistant": 2} == roles("lantren"), "corrected"
    assert 0 == forked.facets("lantren", strict=True).total
    damage(words(config))
    with pytest.raises(IndexDamaged, match="aj reindex"), Journal(config) as journal:
        journal.facets("lantern")


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_without_words_the_newest_comes_first(forked: Journal, mode: Mode) -> None:
    answer = forked.search("role:user", mode=mode)

    assert [("helper", "h1"), ("fork", "m3"), ("first", "m2")] == found(answer)
    assert not answer.semantic_problem


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_where_words_are_looked_for_only_words_are(forked: Journal, mode: Mode) -> None:
    texts, titles = (forked.search(f"in:{place} lantern", mode=mode) for place in ("text", "title"))

    assert found(forked.search("in:text lantern", mode="lexical")) == found(texts)
    assert texts.hits
    assert not titles.hits
    assert not texts.semantic_problem


def test_an_answer_states_since_when_frequent_words_were_searched(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "_MAX_CHEAP_ENTRIES", 20)
    monkeypatch.setattr(reach, "_MAX_FIRST_ENTRIES", 4)
    monkeypatch.setattr(reach, "_MIN_HITS", 1)
    monkeypatch.setattr(searching, "_INITIAL_WINDOW_COUNT", 4)
    thursday = datetime(2025, 1, 2, 10, tzinfo=UTC)
    weeks = [f"{thursday + timedelta(weeks=number):%FT%TZ}" for number in range(56)]
    keep(config, tmp_path, *(chat(at, said(at, "a lantern", 0) | {"at": at}) for at in weeks))
    with Journal(config) as journal:
        answer = journal.search("lantern", limit=2, mode="lexical")
        everything = journal.search("lantern", limit=100, mode="lexical")
        older = journal.search("lantern before:2025-01-10", limit=2, mode="lexical")

    assert "2026-01-01" == str(datetime.fromtimestamp(answer.since or 0, UTC).date())
    assert all(hit.entry.at and hit.entry.at > "2026-01-01" for hit in answer.hits)
    assert (56, None) == (len(everything.hits), everything.since)
    assert ({"2025-01-02", "2025-01-09"}, None) == ({id_[:10] for id_, _ in found(older)}, older.since)


def damage(folder: Path) -> None:
    (folder / "meta.json").write_bytes(b"{")


def age(folder: Path) -> None:
    about = folder / "about.json"
    about.write_bytes(about.read_bytes().replace(b'"layout":', b'"layout":9'))


def cut(folder: Path) -> None:
    for path in folder.glob("*.term"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[:20])


@pytest.mark.parametrize("harm", [delete, damage, age, cut])
def test_without_an_index_rows_are_looked_through(
    config: Config, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    keep(config, tmp_path, *CHATS)
    harm(words(config))
    with Journal(config) as journal:
        answer = journal.search("harbour -ships", mode="lexical")
        assert answer.problem
        assert answer.is_whole
        assert {"tides"} == {id_ for id_, _ in found(answer)}
        assert [("tides", "t5")] == found(journal.search("tool:shell has:error route", mode="lexical"))
        assert journals.update_index(config, from_scratch=True)
        healed = journal.search("harbour -ships", mode="lexical")
    assert not healed.problem
    assert {"tides"} == {id_ for id_, _ in found(healed)}


def test_with_and_without_an_index_unwanted_words_count_where_words_do(
    config: Config, tmp_path: Path
) -> None:
    words_and_call = did("m1", 1, {"type": "text", "text": "harbour"}, call("Bash", "shell", "ls moon"))
    keep(config, tmp_path, chat("both", words_and_call))
    queries = {"harbour -moon": 0, "-in:tool harbour -moon": 1, "-in:tool harbour": 1, "in:call harbour": 0}
    with Journal(config) as journal:
        assert queries == {each: len(journal.search(each, mode="lexical").hits) for each in queries}
        delete(words(config))
        assert queries == {each: len(journal.search(each, mode="lexical").hits) for each in queries}


def test_with_and_without_an_index_names_mean_the_same(config: Config, tmp_path: Path) -> None:
    """A name that something has means that; else whatever has it in its own."""
    words_and_call = (said("m1", "harbour", 1), did("m2", 2, call("Bash", "shell", "ls")))
    others = (said("n1", "harbour", 3), did("n2", 4, call("BashOutput", "shell", "ls")))
    keep(config, tmp_path, chat("one", *words_and_call, git_branch="main") | {"source": "claude"})
    keep(config, tmp_path, chat("two", *others, git_branch="main-2") | {"source": "claude-code"})
    queries = {
        "source:claude": {"one"},
        "-source:claude": {"two"},
        "source:Claude-": {"two"},
        "branch:main": {"one"},
        "branch:mai": {"one", "two"},
        "tool:bash": {"one"},
        "tool:output": {"two"},
        "tool:shell": {"one", "two"},
    }
    index = words(config)
    with Journal(config) as journal:
        for harm in (str, delete):  # none, and that there is none
            harm(index)
            answers = {each: journal.search(each, mode="lexical") for each in queries}
            assert queries == {each: {id_ for id_, _ in found(answer)} for each, answer in answers.items()}


def test_what_is_looked_for_nowhere_is_not_found(config: Config, tmp_path: Path) -> None:
    keep(config, tmp_path, *CHATS)
    nowhere = ("in:text -in:text", "-in:text,title,thinking,tool,attached", "in:tool -in:call,output")
    index = words(config)
    with Journal(config) as journal:
        for harm in (str, delete):  # none, and that there is none
            harm(index)
            for fields in nowhere:
                assert [] == journal.search(f"{fields} harbour", mode="lexical").hits, fields
                assert journal.search(f"{fields} project:tides", mode="lexical").hits, "no word is sought"
            assert journal.search("in:text,title -in:title harbour", mode="lexical").hits


def test_rows_are_looked_through_once_however_much_one_conversation_has(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(config, tmp_path, chat("long", *(said(f"m{n}", f"harbour {n}", n % 60) for n in range(250))))
    delete(words(config))
    looks: list[scanning._EntryMatcher] = []

    class Look(scanning._EntryMatcher):
        def __init__(self, query: Query, values: Callable[[str], Iterable[str]]) -> None:
            super().__init__(query, values)
            looks.append(self)

    monkeypatch.setattr(scanning, "_EntryMatcher", Look)
    with Journal(config) as journal:
        (hit,) = journal.search("harbour", mode="lexical").hits

    assert 249 == len(hit.others)
    assert 1 == len(looks), "two seconds are all that anybody waits"


def test_whoever_cannot_write_still_searches(config: Config, tmp_path: Path) -> None:
    keep(config, tmp_path, *CHATS)
    delete(words(config))
    with open_to_write(config.home), Journal(config) as journal:
        assert {"tides", "ships"} == {id_ for id_, _ in found(journal.search("harbour"))}
        assert not journals.update_index(config, from_scratch=True)


def test_rows_that_the_index_lacks_are_found(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(config, tmp_path, CHATS[0])
    kept = {path: path.read_bytes() for path in words(config).iterdir()}
    keep(config, tmp_path, CHATS[1])
    delete(words(config))
    for path, data in kept.items():
        path.write_bytes(data)
    with Journal(config) as journal:
        answer = journal.search("harbour", mode="lexical")
        assert (answer.problem, answer.unindexed_count > 0, answer.is_whole) == ("", True, True)
        assert {"tides", "ships"} == {id_ for id_, _ in found(answer)}
        assert ("zebra",) == journal.search("ships zebra", mode="lexical").missing, "only new rows have ships"
        with monkeypatch.context() as patched:
            patched.setattr(scanning, "Scan", partial(scanning.Scan, seconds=-1))
            assert not journal.search("harbour", mode="lexical").is_whole, "there was no time for them"
        assert journals.update_index(config, from_scratch=False)
        assert journal.search("harbour", mode="lexical").is_whole


def test_what_no_filter_can_mean_is_reported(search: Callable[..., Answer]) -> None:
    assert [("source", "nobody")] == search("source:nobody -source:nothing harbour").unknown
    asked = Filters(projects=("tide", "/nowhere"), tools=("Bash", "hammer"), branches=("mian",))
    answer = search("nobody-says-this", filters=asked)
    assert [("project", "/nowhere"), ("branch", "mian"), ("tool", "hammer")] == answer.unknown
    assert not search("nobody-says-this", filters=Filters(branches=("main",))).unknown
    assert not search("source:nobody harbour OR tide", filters=Filters(sources=("",))).unknown, "found"
    assert ["role:usr", "since:then"] == [each.text for each in search("role:usr since:then tide").misfits]
    assert not search("role:user since:2020 std:vector in:text tide").misfits


def test_what_could_not_be_examined_is_not_reported_as_missing(capsys: pytest.CaptureFixture[str]) -> None:
    _report(Answer([], is_whole=False, unindexed_count=3), as_json=False)

    assert "for two seconds.\naj: Nothing found.\n" in capsys.readouterr().err


def test_a_sync_makes_an_index_of_another_version_again(config: Config, tmp_path: Path) -> None:
    keep(config, tmp_path, *CHATS)
    age(words(config))
    journals.sync(config, lambda _: [], lambda _: None)
    with Journal(config) as journal:
        assert not journal.search("harbour", mode="lexical").problem


def test_where_a_conversation_was_held_is_known_of_all_of_it_once_it_is_known(
    config: Config, tmp_path: Path
) -> None:
    begun = [said("a", "the lantern is lit", 1), did("b", 2, call("Bash", "shell", "light it"))]
    done = [did("c", 3, gave("Bash", "lit", failed=True), role="tool")]
    fork = chat("fork", *begun, title="A fork")
    where = {"cwd": "/home/ana/lamps", "git_branch": "wick"}
    keep(config, tmp_path, chat("lamp", *begun, *done, title="Lamps"))
    keep(config, tmp_path, fork)
    keep(config, tmp_path, chat("lamp", *begun, *done, said("d", "and out", 4), title="Lamps", **where))

    with Journal(config) as journal:
        for query in ("project:lamps lantern", "branch:wick title:lamps", "branch:wick tool:shell has:error"):
            assert ["lamp"] == [id_ for id_, _ in found(journal.search(query, mode="lexical"))], query
        assert ["fork"] == journal.search("project:lamps lantern", mode="lexical").hits[0].copies
        assert not journal.search("-project:lamps lantern OR lit OR out", mode="lexical").hits
    with open_to_write(config.home) as kept:
        assert not index_upkeep.check_index(kept, config).problems
        assert not [*kept.store.problems()]


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_title_is_asked_of_the_conversation_that_a_message_is_in(
    config: Config, tmp_path: Path, *, is_indexed: bool
) -> None:
    begun = [said("a", "the lantern is lit", 1)]
    keep(config, tmp_path, chat("lamp", *begun, title="Lamps"))
    keep(config, tmp_path, chat("fork", *begun, said("b", "and out", 2), title="A fork"))
    keep(config, tmp_path, chat("other", said("c", "another lantern", 3), title="More lamps"))
    if not is_indexed:
        discard(words(config))

    with Journal(config) as journal:
        lamp = Filters(conversations=(journal.one("lamp").key,))
        for query, filters, ids in (
            ("title:lamps lantern", Filters(), {"lamp", "other"}),
            ("title:fork lantern", Filters(), {"fork"}),
            ("title:lamps lantern", lamp, {"lamp"}),
            ("title:more lantern", lamp, set()),
            ("-title:more lantern", Filters(), {"lamp"}),
            ("-title:lamps role:user", Filters(), {"fork"}),
        ):
            answer = journal.search(query, mode="lexical", filters=filters)
            assert ids == {id_ for id_, _ in found(answer)}, query
            assert is_indexed == (not answer.problem)


def test_a_conversation_that_grows_is_not_indexed_again(config: Config, tmp_path: Path) -> None:
    story = [said(f"m{minute}", f"word{minute}", minute) for minute in range(9)]
    where = {"cwd": "/home/ana/lamps", "git_branch": "wick"}
    for length in range(7, 10):
        keep(config, tmp_path, chat("lamp", *story[:length], title="Lamps", **where))

    with open_to_write(config.home) as kept:
        assert 10 == kept.store.last_key()


def test_all_is_archived_although_the_index_cannot_be_written(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_BATCH_BYTES", 1)  # each conversation is written by itself
    blocking = config.storage.index_path
    blocking.parent.mkdir(parents=True)
    blocking.write_text("no folder")
    with pytest.raises(IndexBehind, match="everything that was read is archived"):
        keep(config, tmp_path, *CHATS)
    with Journal(config) as journal:
        assert len(CHATS) == len(list(journal.conversations()))
        assert found(journal.search("moon", mode="lexical")) == [("tides", "t2")]
    blocking.unlink()
    keep(config, tmp_path, *CHATS)
    with Journal(config) as journal:
        answer = journal.search("moon", mode="lexical")
        assert ([("tides", "t2")], "", True) == (found(answer), answer.problem, answer.is_whole)
