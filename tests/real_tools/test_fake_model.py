"""The fake model and the comparison, without any tool."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_journal.model import Conversation, Link, Message, Reasoning, Text, ToolCall, ToolResult, Usage
from tests.real_tools.compare import Truth, differences
from tests.real_tools.fake_model.exchange import Exchange, Tokens
from tests.real_tools.fake_model.server import FakeModel
from tests.real_tools.history import History
from tests.real_tools.runs import Outcome, not_played, recorded_after_all
from tests.real_tools.tool import Scenario, Tool, Unrecorded
from tests.real_tools.tools import TOOLS

PROMPT = "Look. <<shell: ls>> <<end: QUOKKA>>"
SHELL_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@pytest.fixture
def model() -> Iterator[FakeModel]:
    server = FakeModel()
    yield server
    server.close()


def post(model: FakeModel, path: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(model.url + path, json.dumps(body).encode())  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
        raw: bytes = response.read()
    return raw


ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages",
        {
            "model": "m",
            "thinking": {"type": "enabled"},
            "messages": [{"role": "user", "content": PROMPT}],
            "tools": [{"name": "Bash", "input_schema": SHELL_SCHEMA}],
        },
    ),
    "chat": (
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": [{"role": "user", "content": PROMPT}],
            "tools": [{"type": "function", "function": {"name": "Bash", "parameters": SHELL_SCHEMA}}],
        },
    ),
    "responses": (
        "/v1/responses",
        {
            "model": "m",
            "reasoning": {"effort": "low"},
            "input": PROMPT,
            "tools": [{"type": "function", "name": "Bash", "parameters": SHELL_SCHEMA}],
        },
    ),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {
            "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
            "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
            "tools": [{"functionDeclarations": [{"name": "Bash", "parameters": SHELL_SCHEMA}]}],
        },
    ),
}


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("is_stream", [False, True])
def test_each_api_calls_the_tool_that_the_prompt_names(model: FakeModel, api: str, is_stream: bool) -> None:
    path, body = ASKED[api]
    if is_stream and api == "gemini":
        path = path.replace("generate", "streamGenerate")
    raw = post(model, path, body | {"stream": is_stream})

    [exchange] = model.exchanges
    assert exchange.model == "m"
    assert exchange.purpose == "calls"
    assert [(call.name, call.arguments) for call in exchange.calls] == [("Bash", {"command": "ls"})]
    assert exchange.thinking
    assert (exchange.tokens.input, exchange.tokens.output, exchange.tokens.cache_read) == (101, 51, 2000)
    assert raw.startswith((b"data: ", b"event: ")) == is_stream


def test_a_result_is_followed_by_the_answer(model: FakeModel) -> None:
    path, body = ASKED["chat"]
    post(model, path, body)
    [call] = model.exchanges[0].calls
    result = {"role": "tool", "tool_call_id": call.call_id, "content": "README.md"}
    post(model, path, body | {"messages": [*body["messages"], {"role": "assistant"}, result]})

    assert "QUOKKA" in model.exchanges[1].text
    assert model.exchanges[1].results == {call.call_id: "README.md"}


def exchanges() -> list[Exchange]:
    server = FakeModel()
    path, body = ASKED["anthropic"]
    post(server, path, body)
    [call] = server.exchanges[0].calls
    result = {"type": "tool_result", "tool_use_id": call.call_id, "content": "README.md"}
    more = [{"role": "assistant", "content": "…"}, {"role": "user", "content": [result]}]
    post(server, path, body | {"messages": [*body["messages"], *more]})
    server.close()
    return server.exchanges


def recorded(asked: list[Exchange]) -> list[Message]:
    """What a tool that records everything writes."""
    first, second = asked
    [call] = first.calls
    at = "2026-11-18T10:00:0{}Z".format
    called = ToolCall(name=call.name, call_id=call.call_id, input=call.arguments)
    result = ToolResult(call_id=call.call_id, output="README.md")
    thoughts = [Reasoning(text=exchange.thinking) for exchange in asked]
    usage = [Usage(input=exchange.tokens.input) for exchange in asked]
    return [
        Message(id="1", role="user", at=at(1), parts=[Text(text=PROMPT)]),
        Message(
            id="2",
            role="assistant",
            at=at(2),
            model="m",
            parts=[thoughts[0], Text(text=first.text), called],
            usage=usage[0],
        ),
        Message(id="3", role="user", at=at(3), parts=[result]),
        Message(
            id="4",
            role="assistant",
            at=at(4),
            model="m",
            parts=[thoughts[1], Text(text=second.text)],
            usage=usage[1],
        ),
    ]


def compared(asked: list[Exchange], timeline: list[Message], **changes: Any) -> set[str]:
    """The facts that differ."""
    about: dict[str, Any] = {"title": "Look.", "cwd": "/work", "tokens": None, "link": None, **changes}
    tool = replace(TOOLS["claude-code"], unrecorded=())
    conversation = Conversation(
        id="c",
        source="s",
        shape="list",
        cwd=about["cwd"],
        timeline=list(timeline),
        link=about["link"],
    )
    total = sum((exchange.tokens for exchange in asked), Tokens())
    history = History(
        conversations=[conversation],
        listed=[{"title": about["title"]}],
        tokens=about["tokens"] or total,
        notes=[],
    )
    return {fact for fact, found in _differences(tool, asked, history).items() if found}


def _differences(tool: Tool, asked: list[Exchange], history: History) -> dict[Any, list[str]]:
    return dict(differences(tool, truth_of(asked), history))


def truth_of(asked: list[Exchange], scenario: Scenario = "fresh") -> Truth:
    began = 1_794_000_000.0  # in 2026, before the times of `recorded`
    return Truth(
        scenario=scenario,
        prompts=[PROMPT],
        exchanges=asked,
        work=Path("/work"),
        began=began,
        ended=began + 10**7,
    )


def test_a_history_with_everything_has_no_difference() -> None:
    asked = exchanges()
    assert compared(asked, recorded(asked)) == set()


def test_what_is_missing_doubled_or_wrong_is_named() -> None:
    asked = exchanges()
    whole = recorded(asked)
    assert "prompts" in compared(asked, whole[1:])
    assert "prompts" in compared(asked, [whole[0], *whole])
    assert {"calls", "texts", "thinking", "results"} <= compared(asked, [whole[0], *whole[2:]])
    assert compared(asked, [*whole[:2], whole[3]]) == {"results"}
    assert compared(asked, whole, tokens=Tokens(input=1)) == {"tokens"}
    assert compared(asked, whole, cwd="/") == {"folder"}
    assert compared(asked, whole, title="This session is being continued") == {"title"}
    assert compared(asked, whole, link=Link(conversation_id="x", relation="fork")) == {"parent"}
    assert compared([replace(each, model="n") for each in asked], whole) == {"model"}
    assert compared(asked, [whole[3], *whole[:3]]) == {"order"}


def test_a_scenario_that_the_model_never_saw_is_not_good() -> None:
    asked = exchanges()
    assert not_played(truth_of(asked)) is None
    assert "QUOKKA" in str(not_played(truth_of(asked[:1])))
    assert "any" in str(not_played(replace(truth_of(asked), prompts=[])))
    for scenario in ("compacted", "subagent", "parallel", "interrupted"):
        assert scenario in str(not_played(truth_of(asked, scenario)))


def test_what_a_tool_is_excused_for_but_writes_is_named() -> None:
    gap = Unrecorded(fact="order", reason="no message has a time")
    tool = replace(TOOLS["claude-code"], unrecorded=(gap,))
    outcome = Outcome(tool=tool, scenario="fresh")
    assert recorded_after_all([outcome]) == [gap]
    assert recorded_after_all([outcome, replace(outcome, needed=frozenset({gap}))]) == []


def test_a_request_for_a_summary_is_known_by_its_system_prompt(model: FakeModel) -> None:
    path, body = ASKED["anthropic"]
    post(model, path, body | {"tools": [], "system": "You are a context summarization agent."})
    assert model.exchanges[0].purpose == "summary"


def test_a_request_for_a_summary_is_known_although_the_system_prompt_speaks_of_titles(
    model: FakeModel,
) -> None:
    path, body = ASKED["anthropic"]
    last = {"role": "user", "content": "You are performing a CONTEXT CHECKPOINT COMPACTION."}
    asked = {"tools": [], "system": "Use a short title.", "messages": [*body["messages"], last]}
    post(model, path, body | asked)
    assert model.exchanges[0].purpose == "summary"


def test_every_tool_says_why_it_cannot_play_a_scenario() -> None:
    for tool in TOOLS.values():
        can = {"forked": tool.fork, "compacted": tool.compact, "image": tool.ask_with_image}
        assert not [name for name, function in can.items() if (function is None) != (name in tool.absent)]
