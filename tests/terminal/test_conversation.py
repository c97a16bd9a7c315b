"""How a conversation is shown to people; each folder in `shown` is one, with what is printed of it.

The first line of each text file is what was asked for. The zone is two hours east of Greenwich.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import terminal
from agent_journal.errors import NoSuchMessage
from agent_journal.model import (
    Citation,
    Conversation,
    Event,
    Message,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.terminal.conversation import show_conversation
from agent_journal.terminal.view import View
from agent_journal.text import sanitize
from tests import models

SHOWN = sorted((Path(__file__).parent / "shown").rglob("*.txt"))
DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
STYLE = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture(autouse=True)
def _two_hours_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EAST-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def shown(conversation: Conversation, view: View, *, width: int | None = None, color: bool = False) -> str:
    out = io.StringIO()
    sink = terminal.Sink(out, color=color, width=width)
    children = [("agent-1", "Look for sleeps", "subagent"), ("agent-2", None, "subagent")]
    told = children if conversation.tags == ["work"] else []
    show_conversation(conversation, sink, view, source_title="The Kitchen", children=told)
    return out.getvalue()


def asked(line: str) -> tuple[View, int | None]:
    """`--tools --branch all, 60 columns` as what it means."""
    words, _, columns = line.partition(", ")
    options = words.split()
    values = {"--branch": "head", "--message": None} | dict(pairwise(options))
    view = View(
        branch=values["--branch"] or "",
        thinking="--thinking" in options,
        tools="--tools" in options,
        everything="--all" in options,
        message=values["--message"],
        context=int(values.get("--context") or 3),
    )
    return view, int(columns.split()[0]) if columns else None


@pytest.mark.parametrize("place", SHOWN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_conversation_is_shown_as_the_golden_says(place: Path, request: pytest.FixtureRequest) -> None:
    conversation = msgspec.json.decode((place.parent / "conversation.json").read_bytes(), type=Conversation)
    line, _, expected = place.read_text(encoding="utf-8").partition("\n")
    view, width = asked(line)
    got = shown(conversation, view, width=width)
    if request.config.getoption("--accept"):
        place.write_text(f"{line}\n{got}", encoding="utf-8")
        return

    assert expected == got


@given(
    models.conversations,
    st.builds(
        View,
        branch=st.sampled_from(["head", "all"]),
        thinking=st.booleans(),
        tools=st.booleans(),
        everything=st.booleans(),
    ),
    st.sampled_from([None, 1, 40, 100]),
    st.booleans(),
)
def test_nothing_that_is_shown_does_anything(
    conversation: Conversation, view: View, width: int | None, color: bool
) -> None:
    got = shown(conversation, view, width=width, color=color)

    assert not DANGEROUS.search(got)
    assert "\x1b" not in STYLE.sub("", got)
    assert color or "\x1b" not in got


@given(models.conversations, st.sampled_from([None, 1, 40, 100]))
def test_all_texts_are_shown_on_any_width(conversation: Conversation, width: int | None) -> None:
    view = View(branch="all", thinking=True, tools=True, everything=True)
    plain = "".join(shown(conversation, view, width=width).split())

    for text in said_in(conversation):
        assert "".join(sanitize.safe(text.replace("\r\n", "\n")).split()) in plain


@pytest.mark.parametrize("shape", ["list", "tree"])
def test_a_list_has_no_branches(shape: Literal["list", "tree"]) -> None:
    said: list[Message | Event] = [
        Message(id=name, role="user", parts=[Text(text=name)]) for name in ("one", "two", "two")
    ]
    got = shown(Conversation(id="c", source="x", shape=shape, timeline=said), View(branch="all"))

    assert ("another first message" in got) == (shape == "tree")
    assert 2 == got.count("    two\n")


def said_in(conversation: Conversation) -> Iterator[str]:
    for entry in conversation.timeline:
        for part in entry.parts if isinstance(entry, Message) else ():
            if isinstance(part, Text):
                yield part.text
            elif isinstance(part, Reasoning):
                yield part.text or part.summary or ""
            elif isinstance(part, ToolResult) and isinstance(part.output, str):
                yield part.output


def chain(length: int) -> Conversation:
    timeline: list[Message | Event] = [
        Message(
            id=f"m{number}",
            role="assistant" if number % 2 else "user",
            parent_id=f"m{number - 1}" if number else None,
            parts=[Text(text=f"word {number}")],
        )
        for number in range(length)
    ]
    return Conversation(id="deep", source="x", timeline=timeline)


@pytest.mark.parametrize("view", [View(), View(branch="all"), View(message="m19998")])
def test_a_chain_of_any_length_is_shown(view: View) -> None:
    got = shown(chain(20_000), view)

    assert "    word 19999\n" in got
    assert (got.count("    word ") == 20_000) == (view.message is None)


def test_branches_that_are_chains_are_found() -> None:
    deep = chain(5000)
    again = [
        msgspec.structs.replace(entry, id=f"n{entry.id}", parent_id=f"n{entry.parent_id}" if place else "m0")
        for place, entry in enumerate(deep.timeline)
    ]
    got = shown(msgspec.structs.replace(deep, timeline=[*deep.timeline, *again], head_id="m4999"), View())

    assert "  (1 other branch from here: --branch nm4999)\n" in got


def test_what_is_printed_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are sent as they are made."""
    longest = 0
    message = Message(id="m", role="user", parts=[Text(text="x" * 1000)])
    timeline: list[Message | Event] = [msgspec.structs.replace(message, id=f"{n}") for n in range(100)]
    out = io.StringIO()

    def write(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return len(text)

    monkeypatch.setattr(out, "write", write)
    conversation = Conversation(id="c", source="x", shape="list", timeline=timeline)
    show_conversation(conversation, terminal.Sink(out), View())

    assert 1000 < longest < 1100


def test_without_branches_the_path_to_a_message_is_known_from_what_follows_it() -> None:
    timeline: list[Message | Event] = [
        Message(id=each, role="user", parts=[Text(text=f"said {each}")]) for each in "abc"
    ]
    whole = Conversation(id="c", source="x", shape="list", timeline=timeline)

    until = shown(whole, View(branch="b"))
    assert "said b" in until
    assert "said c" not in until
    assert "Messages:  3, 1 of them after that (--branch all)" in until
    assert "said c" in shown(whole, View(message="b"))


def test_a_message_is_called_by_the_beginning_of_its_id() -> None:
    tree = msgspec.json.decode(
        (SHOWN[0].parent.parent / "tree/conversation.json").read_bytes(), type=Conversation
    )

    assert "> User · 12:05\n    Begin again.\n" in shown(tree, View(message="d"))
    assert shown(tree, View(branch="c3")) == shown(tree, View(branch="c3"))
    for unclear in ("b", "", "nobody"):
        with pytest.raises(NoSuchMessage):
            shown(tree, View(message=unclear))
        with pytest.raises(NoSuchMessage):
            shown(tree, View(branch=unclear))
    with pytest.raises(NoSuchMessage, match="'b' is ambiguous: it could be b1, "):
        shown(tree, View(message="b"))


@pytest.mark.parametrize(
    ("arguments", "telling"),
    [
        ({"description": "d", "command": "ls -l\n| wc"}, "ls -l | wc"),
        ({"command": ["bash", "-lc", "make"]}, "bash -lc make"),
        ({"other": 1, "some": "text"}, "text"),
        ({"other": 1}, '{"other":1}'),
        ({"command": ""}, '{"command":""}'),
        ('{"query": "cats"}', "cats"),
        (
            "*** Begin Patch\n*** Update File: a.md\n@@\n+b\n*** Add File: c.md\n+d\n*** End Patch",
            "a.md, c.md",
        ),
        ({"input": "*** Begin Patch\n*** Delete File: a.md\n*** End Patch"}, "a.md"),
        ("*** Begin Patch\n", "*** Begin Patch"),
        ("plain", "plain"),
        ([1, 2], "[1,2]"),
        (7, "7"),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_distinctive_argument(arguments: object, telling: str) -> None:
    call = Message(id="m", role="assistant", parts=[ToolCall(name="do", input=arguments)])
    got = shown(Conversation(id="c", source="x", timeline=[call]), View())

    assert f"  → do{' ' + telling if telling else ''}  no result" == got.rstrip("\n").split("\n")[-1]


def test_what_says_nothing_is_not_shown() -> None:
    timeline: list[Message | Event] = [
        Message(id="rules", role="system", hidden=True),
        Message(id="asked", role="user", parent_id="rules", parts=[Text(text="Is it?")]),
        Message(id="begun", role="assistant", parent_id="asked"),
        Message(id="answered", role="assistant", parent_id="begun", parts=[Text(text="It is.")]),
        Message(id="again", role="user", parent_id="answered", parts=[Text(text="Is it?")]),
        Message(id="nothing", role="assistant", parent_id="again"),
    ]
    conversation = Conversation(id="c", source="x", timeline=timeline)

    assert 1 == shown(conversation, View()).count("(empty)")  # all that was answered
    assert "hidden" not in shown(conversation, View())
    assert 2 == shown(conversation, View(message="begun")).count("(empty)")
    assert 3 == shown(conversation, View(everything=True)).count("(empty)")


def test_a_fork_is_no_subagent() -> None:
    out = io.StringIO()
    sink = terminal.Sink(out, color=False, width=None)
    children = [("c-2", "Again", "fork"), ("c-3", None, "continues"), ("c-4", None, None)]
    show_conversation(Conversation(id="c", source="x"), sink, View(), source_title="X", children=children)

    told = [line for line in out.getvalue().splitlines() if "c-" in line]
    assert ["Continued: c-3", "Forks:     Again (c-2)"] == told


def test_a_subagents_own_history_is_not_folded() -> None:
    said = Message(id="m", role="user", sidechain=True, parts=[Text(text="Find it.")])

    assert "User\n    Find it.\n" in shown(Conversation(id="c", source="x", timeline=[said]), View())


def test_pages_that_a_tool_found_are_named() -> None:
    page = Text(text="They make one cry.", citations=[Citation(title="Onions", url="https://onions.example")])
    call = Message(id="m", role="assistant", parts=[ToolCall(name="search", call_id="1")])
    found = Message(id="n", role="tool", parent_id="m", parts=[ToolResult(call_id="1", output=[page])])

    got = shown(Conversation(id="c", source="x", timeline=[call, found]), View(tools=True))
    assert "[cites Onions https://onions.example]" in got


def test_a_failed_request_is_shown_after_its_prompt() -> None:
    asked = Message(id="m", role="user", parts=[Text(text="Is it late?")])
    failed = Request(prompt_id="m", error={"code": "429", "message": "Slow\ndown\x1b[31m"})
    conversation = Conversation(id="c", source="x", timeline=[asked], requests=[failed])

    got = shown(conversation, View()).rstrip("\n").split("\n")
    assert ["User", "    Is it late?", r"  (request failed: Slow\ndown\x1b[31m (429))"] == got[-3:]


def test_deep_values_do_not_end_it() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    call = Message(id="m", role="assistant", parts=[ToolCall(name="do", input={"a": deep})])
    conversation = Conversation(id="c", source="x", timeline=[call])

    for view in (View(), View(tools=True)):
        assert "nested too deeply" in shown(conversation, view)
