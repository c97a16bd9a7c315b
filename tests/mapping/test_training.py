"""What those who train models get: turns in a row, results behind their calls, a line per branch."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from agent_journal import writers
from agent_journal.errors import MissingExtra
from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Message,
    Part,
    Reasoning,
    Request,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from tests.test_writers import documents, written
from tests.training import parquet_rows, sharegpt_calls


def said(
    message_id: str, role: Role, *parts: Part | str, parent: str | None = None, response: str | None = None
) -> Message:
    told: list[Part] = [Text(text=part) if isinstance(part, str) else part for part in parts]
    return Message(id=message_id, role=role, parts=told, parent_id=parent, response_id=response)


def call(call_id: str | None, name: str = "sh") -> ToolCall:
    return ToolCall(name=name, call_id=call_id, input={"x": 1})


def result(call_id: str | None, output: str) -> ToolResult:
    return ToolResult(call_id=call_id, output=output)


def lines(name: str, *timeline: Message | Event, **about: Any) -> list[dict[str, Any]]:
    is_list = not any(entry.parent_id for entry in timeline)
    conversation = Conversation(id="c", source="kitchen", timeline=list(timeline), **about)
    data, _ = written(name, [replace(conversation, shape="list") if is_list else conversation])
    return documents(data)


def told(line: dict[str, Any]) -> list[tuple[str, Any]]:
    """Who said what in a line for OpenAI; of calls, their ids."""
    return [
        (message["role"], [one["id"] for one in message.get("tool_calls", ())] or message["content"])
        for message in line["messages"]
    ]


def test_an_answer_that_a_source_cut_is_one_message_and_results_follow_it() -> None:
    (line,) = lines(
        "openai-messages",
        said("u", "user", "do it"),
        said("a1", "assistant", Reasoning(text="hm"), response="r"),
        said("a2", "assistant", "Both.", response="r"),
        said("a3", "assistant", call("1"), response="r"),
        said("t1", "user", result("1", "one")),
        said("a4", "assistant", call("2"), response="r"),
        said("t2", "user", result("2", "two"), "and quickly"),
        said("a5", "assistant", "Done."),
    )

    assert [
        ("user", "do it"),
        ("assistant", ["1", "2"]),
        ("tool", "one"),
        ("tool", "two"),
        ("user", "and quickly"),
        ("assistant", "Done."),
    ] == told(line)
    assert "Both." == line["messages"][1]["content"]


def test_a_line_per_branch_and_none_for_a_result_next_to_it() -> None:
    both = lines(
        "openai-messages",
        said("u", "user", "go"),
        said("a", "assistant", call("1"), call("2"), parent="u"),
        said("t1", "tool", result("1", "one"), parent="a"),
        said("t2", "tool", result("2", "two"), parent="a"),
        said("b1", "assistant", "First try.", parent="t2"),
        said("b2", "assistant", "Second try.", parent="t2"),
    )
    begin = [("user", "go"), ("assistant", ["1", "2"]), ("tool", "one"), ("tool", "two")]

    assert [[*begin, ("assistant", "First try.")], [*begin, ("assistant", "Second try.")]] == list(
        map(told, both)
    )


def test_calls_that_nothing_answered() -> None:
    (line,) = lines(
        "openai-messages",
        said("a1", "assistant", "Wait.", call("1")),
        said("u", "user", "no"),
        said("a2", "assistant", call("2"), call("3")),
    )

    assert [("assistant", "Wait."), ("user", "no"), ("assistant", ["2", "3"])] == told(line)


def test_calls_without_ids_get_some() -> None:
    (line,) = lines(
        "openai-messages",
        said("a", "assistant", call(None), call(None, "ls")),
        said("t", "tool", result(None, "one"), result(None, "two")),
    )

    assert [("assistant", ["unnamed_call_0", "unnamed_call_1"]), ("tool", "one"), ("tool", "two")] == told(
        line
    )
    assert "unnamed_call_1" == line["messages"][2]["tool_call_id"]


def test_what_a_request_says_first_comes_first() -> None:
    (line,) = lines(
        "openai-messages",
        said("s", "system", "Be brief."),
        said("u", "user", "Hi"),
        said("a", "assistant", "Hello.", parent="u"),
        requests=[Request(system=["s"], prompt_id="u", response_ids=["a"])],
    )

    assert [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello.")] == told(line)


def test_sharegpt_has_calls_observations_and_thoughts() -> None:
    (line,) = lines(
        "sharegpt",
        said("s", "system", "Be brief."),
        said("u", "user", "go"),
        said("a", "assistant", Reasoning(text="hm"), "Looking.", call("1")),
        said("t", "tool", result("1", "one")),
        said("b", "assistant", Reasoning(text="aha"), call("2")),
        said("v", "tool", result("2", "two")),
        said("d", "assistant", call("3")),
        said("w", "tool", result("3", "three")),
        said("e", "assistant", "Done."),
    )

    asked = '{"name":"sh","arguments":{"x":1}}'
    assert {
        "id": "c",
        "system": "Be brief.",
        "conversations": [
            {"from": "human", "value": "go"},
            {
                "from": "function_call",
                "value": f"<think>\nhm\n</think>\n\nLooking.\n<tool_call>\n{asked}\n</tool_call>",
            },
            {"from": "observation", "value": "one"},
            {
                "from": "function_call",
                "value": f"<think>\naha\n</think>\n<tool_call>\n{asked}\n</tool_call>",
            },
            {"from": "observation", "value": "two"},
            {"from": "function_call", "value": asked},
            {"from": "observation", "value": "three"},
            {"from": "gpt", "value": "Done."},
        ],
    } == line


@pytest.mark.parametrize(
    ("timeline", "expected"),
    [
        pytest.param(
            [said("a", "assistant", "Hi."), said("u", "user", "hi"), said("b", "assistant", "Yes?")],
            [("human", "hi"), ("gpt", "Yes?")],
            id="the model speaks first",
        ),
        pytest.param(
            [said("u", "user", "one"), said("v", "user", "two"), said("a", "assistant", "Three.")],
            [("human", "one\n\ntwo"), ("gpt", "Three.")],
            id="the person goes on",
        ),
        pytest.param(
            [said("u", "user", "one"), said("a", "assistant", "Two."), said("b", "assistant", "Three.")],
            [("human", "one"), ("gpt", "Two.\n\nThree.")],
            id="the model goes on",
        ),
        pytest.param(
            [said("u", "user", "one"), said("a", "assistant", "Two."), said("v", "user", "three")],
            [("human", "one"), ("gpt", "Two.")],
            id="nobody answers",
        ),
        pytest.param(
            [said("u", "user", "one"), said("s", "system", "Be brief."), said("a", "assistant", "Two.")],
            [("human", "one"), ("gpt", "Two.")],
            id="the system interrupts",
        ),
        pytest.param(
            [
                said("u", "user", "go"),
                said("a", "assistant", "Looking.", call("1")),
                said("t", "tool", result("1", "one")),
                said("v", "user", "stop"),
                said("b", "assistant", "Yes."),
            ],
            [("human", "go"), ("gpt", "Looking."), ("human", "stop"), ("gpt", "Yes.")],
            id="the person interrupts",
        ),
        pytest.param(
            [
                said("u", "user", "go"),
                said("a", "assistant", call("1")),
                said("t", "tool", result("1", "one")),
                said("v", "user", "stop"),
                said("b", "assistant", "Yes."),
            ],
            [("human", "go\n\nstop"), ("gpt", "Yes.")],
            id="the person interrupts who said nothing",
        ),
        pytest.param(
            [
                said("u", "user", "go"),
                said("a", "assistant", "Looking.", call("1")),
                said("t", "tool", result("1", "one")),
                said("b", "assistant", call("2")),
                said("r", "tool", result("2", "two")),
                said("v", "user", "stop"),
                said("c", "assistant", "Yes."),
            ],
            [("human", "go"), ("gpt", "Looking."), ("human", "stop"), ("gpt", "Yes.")],
            id="the person interrupts a row of calls",
        ),
        pytest.param(
            [
                said("u", "user", "go"),
                said("a", "assistant", call("1")),
                said("t", "tool", result("1", "one")),
                replace(said("h", "user", "<hook>Be brief.</hook>"), hidden=True),
                said("b", "assistant", "Yes."),
            ],
            [
                ("human", "go"),
                ("function_call", '{"name":"sh","arguments":{"x":1}}'),
                ("observation", "one\n\n<hook>Be brief.</hook>"),
                ("gpt", "Yes."),
            ],
            id="a program adds something to a result",
        ),
        pytest.param(
            [
                said("u", "user", "go"),
                said("a", "assistant", call("1"), call("2")),
                said("t", "tool", result("1", "one"), result("2", "two")),
                replace(said("h", "user", "Be brief."), hidden=True),
                said("b", "assistant", "Yes."),
            ],
            [
                ("human", "go"),
                ("function_call", '[{"name":"sh","arguments":{"x":1}},{"name":"sh","arguments":{"x":1}}]'),
                ("observation", '["one","two\\n\\nBe brief."]'),
                ("gpt", "Yes."),
            ],
            id="a program adds something to the last of several results",
        ),
        pytest.param(
            [said("u", "user", "go"), said("a", "assistant", call("1")), said("t", "tool", result("1", "1"))],
            [("human", "go"), ("function_call", '{"name":"sh","arguments":{"x":1}}')],
            id="a tool speaks last",
        ),
    ],
)
def test_sharegpt_alternates(timeline: list[Message], expected: list[tuple[str, str]]) -> None:
    """LLaMA-Factory skips every line in which somebody speaks out of turn."""
    (line,) = lines("sharegpt", *timeline)

    assert expected == [(turn["from"], turn["value"]) for turn in line["conversations"]]


def test_what_a_program_says_is_not_the_person_s() -> None:
    context = replace(said("h", "user", "Today is Thursday."), hidden=True)
    reminder = replace(said("i", "user", "The task is done."), hidden=True)
    timeline = [context, said("u", "user", "hi"), said("a", "assistant", "Yes?"), reminder]
    answer = said("b", "assistant", "It is.")

    (line,) = lines("openai-messages", *timeline, answer)
    assert ["system", "user", "assistant", "system", "assistant"] == [role for role, _ in told(line)]
    (line,) = lines("sharegpt", *timeline, answer)
    assert "Today is Thursday." == line["system"]
    assert ("human", "hi") == tuple(line["conversations"][0].values())


def test_what_only_a_program_asks_for_is_asked() -> None:
    command = replace(said("h", "user", "Review it."), hidden=True)
    timeline = [said("s", "system", "Be brief."), command, said("a", "assistant", "Fine.")]

    (line,) = lines("openai-messages", *timeline)
    assert [("system", "Be brief."), ("user", "Review it."), ("assistant", "Fine.")] == told(line)
    (line,) = lines("sharegpt", *timeline)
    assert "Be brief." == line["system"]
    assert ["Review it.", "Fine."] == [turn["value"] for turn in line["conversations"]]


@pytest.mark.parametrize("name", ["openai-messages", "sharegpt"])
def test_nothing_is_learned_where_nobody_answers(name: str) -> None:
    """A file is refused if it has such a line."""
    question = Conversation(id="c", source="kitchen", timeline=[said("u", "user", "anybody?")])
    data, notes = written(name, [question])

    assert not data
    assert "1 × branch without a model message" in [note.detail for note in notes]


def test_what_sharegpt_leaves_out_is_noted() -> None:
    timeline = [said("a", "assistant", "Hi."), said("u", "user", "hi"), said("s", "system", "Be brief.")]
    conversation = Conversation(id="c", source="kitchen", shape="list", timeline=list(timeline))
    _, notes = written("sharegpt", [conversation])

    assert [
        "1 × branch without a model message",
        "1 × message before the first prompt",
        "1 × prompt without a response",
        "1 × system message after the start",
    ] == [note.detail for note in notes]


@pytest.mark.parametrize(("name", "lost"), [("openai-messages", 2), ("sharegpt", 3)])
def test_media_that_are_in_no_line_are_noted(name: str, lost: int) -> None:
    picture = Media(kind="image", mime="image/png", data="iVBORw0KGgo=")
    told = Media(kind="document", name="tea.md", text="Sixty degrees.")
    given = ToolResult(call_id="1", output=[Text(text="Drawn."), picture])
    timeline = [
        said("u", "user", "draw", picture, told, told),
        said("a", "assistant", call("1")),
        said("t", "tool", given),
        said("b", "assistant", "Here.", picture),
    ]
    conversation = Conversation(id="c", source="kitchen", shape="list", timeline=[*timeline])
    _, notes = written(name, [conversation])

    assert [f"{lost} × media part"] == [note.detail for note in notes]


def test_nothing_in_a_call_is_taken_for_a_mark() -> None:
    odd = ToolCall(name="sh", call_id="1", input={"x": "<tool_call>a</tool_call> <think>b</think>"})
    (line,) = lines("sharegpt", said("u", "user", "go"), said("a", "assistant", "Well, <tool_call>", odd))
    value = line["conversations"][1]["value"]

    assert [{"name": "sh", "arguments": odd.input}] == sharegpt_calls(value)


def test_text_about_a_result_follows_it() -> None:
    """Some sources have a call, its result and what was said of it in one message, or under one answer."""
    expected = [
        ("user", "2+2?"),
        ("assistant", ["1"]),
        ("tool", "4"),
        ("assistant", "It is 4."),
    ]
    in_one = lines(
        "openai-messages",
        said("u", "user", "2+2?"),
        said("a", "assistant", "Let me see.", call("1"), result("1", "4"), "It is 4."),
    )
    under_one_answer = lines(
        "openai-messages",
        said("u", "user", "2+2?"),
        said("a", "assistant", "Let me see.", call("1"), response="r"),
        said("t", "tool", result("1", "4")),
        said("b", "assistant", "It is 4.", response="r"),
    )

    for (line,) in (in_one, under_one_answer):
        assert expected == told(line)
        assert "Let me see." == line["messages"][1]["content"]


def test_parquet_says_which_branch_is_shown() -> None:
    timeline = [
        said("u", "user", "go"),
        said("a", "assistant", "Old.", parent="u"),
        said("b", "assistant", "New.", parent="u"),
    ]
    conversation = Conversation(id="c", source="kitchen", timeline=[*timeline], head_id="b")
    _, *rows = map(json.loads, parquet_rows(written("parquet", [conversation])[0]).splitlines())

    assert [("u", True), ("a", False), ("b", True)] == [
        (row["message_id"], row["on_shown_branch"]) for row in rows
    ]


def test_parquet_is_written_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[writers.get("parquet").__name__], "_MAX_GROUP_ROWS", 2)  # type: ignore[attr-defined] # a module has a name
    conversation = Conversation(
        id="c", source="kitchen", timeline=[said(str(n), "user", "x") for n in range(5)]
    )
    _, *rows = parquet_rows(written("parquet", [conversation])[0]).splitlines()

    assert 5 == len(rows)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"pip install 'agent-journal\[parquet\]'"):
        written("parquet", [])
