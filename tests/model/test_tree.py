from __future__ import annotations

import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal.conversion import transforms
from agent_journal.errors import NoSuchMessage
from agent_journal.model import (
    Conversation,
    Event,
    Feedback,
    Media,
    Message,
    Reasoning,
    Request,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)


def said(entry_id: str, parent: str | None = None, **more: object) -> Message:
    return Message(id=entry_id, role="user", parent_id=parent, parts=[Text(text=entry_id)], **more)  # type: ignore[arg-type] # test data


def ids(entries: list[tree.Entry]) -> list[str]:
    return [entry.id for entry in entries]


FORKED: list[tree.Entry] = [
    said("a"),
    said("b", "a"),
    said("c", "b"),
    said("d", "b"),
    Event(id="e", name="x", parent_id="d"),
]


@pytest.mark.parametrize(
    ("media", "text"),
    [
        (Media(kind="file", mime="text/plain", data="w6k=", text="told"), "told"),
        (Media(kind="file", mime="text/x-python", data="w6k="), "é"),
        (Media(kind="file", mime="text/plain", data="/w=="), None),
        (Media(kind="file", mime="text/plain", data="é"), None),
        (Media(kind="file", data="w6k="), None),
        (Media(kind="file", text=""), None),
    ],
)
def test_what_a_file_says(media: Media, text: str | None) -> None:
    assert text == tree.held_text(media)


def test_chains_leaves_and_children() -> None:
    assert ids(tree.chain_to(FORKED, "c")) == ["a", "b", "c"]
    assert [leaf.id for leaf in tree.leaves(FORKED)] == ["c", "d"]
    assert ids(tree.children(FORKED)["b"]) == ["c", "d"]
    assert ids(tree.children([said("x", "gone")])[None]) == ["x"]
    assert tree.chain_to(FORKED, "gone") == []


def test_an_event_between_two_messages_does_not_make_a_leaf() -> None:
    timeline: list[tree.Entry] = [said("a"), Event(id="e", name="x", parent_id="a"), said("b", "e")]

    assert [leaf.id for leaf in tree.leaves(timeline)] == ["b"]


def test_the_newest_leaf_is_by_time_then_place_and_no_sidechain() -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    timeline = [
        said("a"),
        said("b", "a", at=late),
        said("c", "a", at=early),
        said("s", "a", at=late, sidechain=True),
    ]

    assert tree.newest_leaf(timeline) == "b"
    assert tree.newest_leaf([said("a"), said("b", "a"), said("c", "a")]) == "c"
    assert tree.newest_leaf([]) is None


def test_a_path_has_the_results_of_its_calls_wherever_they_hang() -> None:
    call = Message(
        id="call",
        role="assistant",
        parent_id="q",
        parts=[ToolCall(name="x", call_id="1"), ToolCall(name="y", call_id="2")],
    )
    first = Message(id="r1", role="user", parent_id="call", parts=[ToolResult(call_id="1", output="one")])
    second = Message(id="r2", role="user", parent_id="call", parts=[ToolResult(call_id="2", output="two")])
    timeline = [said("q"), call, first, second, said("end", "r2")]

    assert ids(tree.path_to(timeline, "end")) == ["q", "call", "r1", "r2", "end"]
    assert tree.results_by_call(timeline)["1"].output == "one"


def test_a_very_deep_chain() -> None:
    timeline = [said("0"), *(said(str(n), str(n - 1)) for n in range(1, 20_000))]

    assert len(tree.chain_to(timeline, "19999")) == 20_000
    placed, cut = tree.in_order(list(reversed(timeline)))
    assert ids(placed) == [str(n) for n in range(20_000)]
    assert not cut


def test_many_cycles_take_no_time_squared() -> None:
    pairs = [said(str(n), str(n ^ 1)) for n in range(60_000)]
    started = time.process_time()
    placed, cut = tree.in_order(pairs)

    assert [str(n) for n in range(0, 60_000, 2)] == [entry.id for entry in placed if entry.id in cut]
    assert time.process_time() - started < 5


graphs = st.lists(
    st.tuples(st.integers(0, 9), st.none() | st.integers(0, 12)), max_size=10, unique_by=lambda row: row[0]
)


@given(graphs)
def test_in_order_places_everything_once_with_parents_first(rows: list[tuple[int, int | None]]) -> None:
    entries: list[tree.Entry] = [said(str(n), None if p is None else str(p)) for n, p in rows]
    placed, cut = tree.in_order(entries)

    assert sorted(ids(placed)) == sorted(ids(entries))
    seen: set[str] = set()
    known = set(ids(entries))
    for entry in placed:
        assert entry.id in cut or entry.parent_id not in known or entry.parent_id in seen
        seen.add(entry.id)


def test_usage_of_a_split_response_counts_once_and_the_last_value_wins() -> None:
    timeline = [
        said("a", usage=Usage(key="r", output=5)),
        said("b", usage=Usage(key="r", output=87)),
        said("c", usage=Usage(output=1)),
        said("d", usage=Usage(output=2)),
    ]

    assert [usage.output for usage in tree.usages(timeline)] == [87, 1, 2]


@pytest.mark.parametrize(
    ("given_input", "expected"),
    [('{"a":1}', {"a": 1}), ("not json", "not json"), ({"a": 1}, {"a": 1}), ("[" * 100_000, "[" * 100_000)],
)
def test_arguments(given_input: object, expected: object) -> None:
    assert tree.arguments(ToolCall(name="x", input=given_input)) == expected


def talk() -> Conversation:
    thought = Message(id="b", role="assistant", parent_id="a", parts=[Reasoning(text="hm")])
    answer = Message(
        id="c",
        role="assistant",
        parent_id="b",
        parts=[Reasoning(text="hm"), Text(text="yes"), ToolCall(name="x")],
        native=[1],
    )
    other = said("d", "a")
    return Conversation(id="t", source="s", head_id="c", timeline=[said("a"), thought, answer, other])


def test_without_thinking_leaves_the_texts() -> None:
    got = transforms.without(talk(), ["thinking"])

    assert ids(got.timeline) == ["a", "c", "d"]
    answer = got.timeline[1]
    assert isinstance(answer, Message)
    assert answer.parent_id == "a"
    assert answer.parts == [Text(text="yes"), ToolCall(name="x")]
    assert answer.native is None


def test_without_tools_and_thinking() -> None:
    got = transforms.without(talk(), ["thinking", "tools"])

    assert [part for message in tree.messages(got) for part in message.parts] == [
        Text(text="a"),
        Text(text="yes"),
        Text(text="d"),
    ]
    assert transforms.without(talk(), []) == talk()


@pytest.mark.parametrize("what", transforms.WHAT)
def test_events_do_not_reveal_what_was_left_out(what: transforms.What) -> None:
    event = Event(id="e", name="say:reasoning", parent_id="c", at="2026-03-01T10:00:00Z", data={"text": "hm"})
    whole = replace(talk(), timeline=[*talk().timeline, event])

    assert transforms.without(whole, [what]).timeline[-1] == replace(event, data={})
    assert transforms.without(whole, []) == whole


def test_the_head_follows_when_its_message_goes() -> None:
    assert transforms.without(replace(talk(), head_id="b"), ["thinking"]).head_id == "a"


def test_without_thinking_requests_and_the_tools_that_were_offered_stay() -> None:
    """A line for training begins with what its request said first, and has the tools that it may call."""
    prompt = Message(id="s", role="system", parts=[Text(text="Be brief")])
    requests = [
        Request(
            id="r1", system=["s"], prompt_id="a", response_ids=["b", "c"], tools=[0], extra={"raw": "hm"}
        ),
        Request(id="r2", system=["s"], prompt_id="a", response_ids=["b"]),
        Request(id="r3", system=["s"], since_id="b", prompt_id="c", tools=[0]),
    ]
    whole = talk()
    asked = replace(
        whole, timeline=[prompt, *whole.timeline], requests=requests, tools=[Tool(name="x")], head_id="b"
    )
    first = Request(id="r1", system=["s"], prompt_id="a", response_ids=["c"], tools=[0])
    last = Request(id="r3", system=["s"], since_id="c", prompt_id="c", tools=[0])

    got = transforms.without(asked, ["thinking"])
    assert ([first, last], [Tool(name="x")]) == (got.requests, got.tools)
    got = transforms.without(asked, ["thinking", "tools"])
    assert ([replace(each, tools=[]) for each in (first, last)], []) == (got.requests, got.tools)


def test_an_answer_of_which_the_last_message_goes_has_its_counts() -> None:
    """Of the messages of one answer the last one tells all that was used: often that is a tool call."""
    timeline: list[Message | Event] = [
        said("a", usage=Usage(key="r", output=5)),
        Message(id="b", role="assistant", parts=[ToolCall(name="x")], usage=Usage(key="r", output=87)),
        said("c", usage=Usage(key="q", output=1)),
    ]
    got = transforms.without(Conversation(id="t", source="s", shape="list", timeline=timeline), ["tools"])

    assert ["a", "c"] == ids(got.timeline)
    assert [87, 1] == [usage.output for usage in tree.usages(got.timeline)]


@pytest.mark.parametrize("first", ["b", "a", "gone"])
def test_parents_that_go_round_and_go_are_none(first: str) -> None:
    def call(id_: str, parent: str) -> Message:
        return Message(id=id_, role="assistant", parent_id=parent, parts=[ToolCall(name="x")])

    whole = Conversation(
        id="t", source="s", timeline=[call("a", first), said("c", "b"), call("b", "a")], head_id="b"
    )
    got = transforms.without(whole, ["tools"])
    parent = "gone" if first == "gone" else None

    assert ([replace(said("c", "b"), parent_id=parent)], parent) == (got.timeline, got.head_id)


def test_a_branch_keeps_its_requests_and_what_they_say_before_the_dialogue() -> None:
    prompt = Message(id="s", role="system", parts=[Text(text="Be brief")])
    requests = [
        Request(id="r1", system=["s"], prompt_id="a", response_ids=["c"]),
        Request(id="r2", system=["s"], prompt_id="a", response_ids=["d"]),
    ]
    whole = talk()
    got = transforms.branch(replace(whole, timeline=[prompt, *whole.timeline], requests=requests), "d")

    assert ids(got.timeline) == ["s", "a", "d"]
    assert [request.id for request in got.requests] == ["r2"]


def test_branch() -> None:
    assert ids(transforms.branch(talk(), "head").timeline) == ["a", "b", "c"]
    assert ids(transforms.branch(talk(), "d").timeline) == ["a", "d"]
    assert transforms.branch(talk(), "all") == talk()
    assert ids(transforms.branch(replace(talk(), head_id=None), "head").timeline) == ["a", "d"]
    with pytest.raises(NoSuchMessage, match="No message has the id 'gone'"):
        transforms.branch(talk(), "gone")


def test_the_way_to_a_message_ends_with_it_also_where_nothing_branches() -> None:
    requests = [Request(id=name, prompt_id="a", response_ids=[name]) for name in ("b", "c")]
    whole = Conversation(
        id="t", source="s", shape="list", timeline=[said("a"), said("b"), said("c")], requests=requests
    )
    got = transforms.branch(whole, "b")

    assert ids(got.timeline) == ["a", "b"]
    assert [request.id for request in got.requests] == ["b"]
    assert transforms.branch(whole, "head") == whole
    with pytest.raises(NoSuchMessage, match="No message has the id 'gone'"):
        transforms.branch(whole, "gone")


@pytest.mark.parametrize("shape", ["list", "tree"])
def test_a_branch_has_no_summary_of_what_is_not_on_it(shape: Literal["list", "tree"]) -> None:
    chain = [said("a"), said("b", "a"), said("c", "b")]
    whole = Conversation(
        id="t",
        source="s",
        shape=shape,
        timeline=[replace(each, parent_id=None) for each in chain] if shape == "list" else [*chain],
        summaries=[Summary(text=name, message_id=name) for name in ("a", "c", "elsewhere")],
        feedback=[Feedback(text=name, message_id=name) for name in ("b", "c")],
    )
    got = transforms.branch(whole, "b")

    assert [each.text for each in got.summaries] == ["a", "elsewhere"]
    assert [each.text for each in got.feedback] == ["b"]
    assert transforms.branch(whole, "c").summaries == whole.summaries


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("<context>\nfolder: /tides\n</context>\n\nwhy is it late?\nPlease look.", "why is it late?"),
        ('<a-b c="d">1</a-b> <note>2</note>hello', "hello"),
        ("<task>only this</task>", "<task>only this</task>"),
        ("<one>1</one>\n<two>2</two>", "<one>1</one>"),
        ("<open> and never closed", "<open> and never closed"),
        ("<p>a page</p>" * 21 + "too many", f"{('<p>a page</p>' * 21)[:79]}…"),
        ("a < b", "a < b"),
        (" \n ", None),
    ],
)
def test_a_title_is_what_a_person_wrote_after_what_programs_put_before_it(
    text: str, title: str | None
) -> None:
    assert title == tree.title_from([text])
