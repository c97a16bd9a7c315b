"""Answers that the next request repeats: one message, in whatever form clients send it back."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.model import Conversation, ToolCall, ToolResult, tree
from tests.mapping.test_api_trace import Raw, read

END = {"role": "user", "content": "end"}


def chat(message: Raw) -> Raw:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def claude(content: list[Raw]) -> Raw:
    return {"type": "message", "role": "assistant", "content": content}


def converse(content: list[Raw]) -> Raw:
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": "tool_use"}


def items(*listed: Raw) -> Raw:
    return {"object": "response", "id": "resp_1", "status": "completed", "output": [*listed]}


CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"at":"Lyme","day":1}'}}
ANEW = {**CALL, "function": {"name": "tide", "arguments": '{"day": 1, "at": "Lyme"}'}}
USE = {"type": "tool_use", "id": "t1", "name": "tide", "input": {"at": "Lyme"}}
CALLER = {"caller": {"type": "direct"}}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tide"}}
CITED = {"type": "text", "text": "Noon.", "citations": [{"type": "char_location", "cited_text": "noon"}]}
PAGE = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "noon"}}


def fetched(page: Raw) -> Raw:
    found = {"type": "web_fetch_result", "url": "https://example.com", "content": page}
    return {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": found}


DRAWN = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}
CALLED = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "tide", "arguments": '{"a":1}'}
NO_WORDS = {"refusal": "", "function_call": {"name": "", "arguments": ""}, "audio": {"id": "", "data": ""}}

ECHOES = {
    "arguments written anew": (chat({"content": None, "tool_calls": [CALL]}), {"tool_calls": [ANEW]}),
    "no parts beside calls": (
        chat({"content": "", "tool_calls": [CALL]}),
        {"content": [], "tool_calls": [CALL]},
    ),
    "every field filled in, with nothing": (
        chat({"content": "Hi", **NO_WORDS, "tool_calls": [{**CALL, "custom": {"name": "", "input": ""}}]}),
        {"content": "Hi", "tool_calls": [CALL]},
    ),
    "who calls a tool": (claude([{**USE, **CALLER}]), {"content": [USE]}),
    "who calls the service's tool": (claude([{**SEARCH, **CALLER}]), {"content": [SEARCH]}),
    "without citations": (claude([USE, CITED]), {"content": [USE, {"type": "text", "text": "Noon."}]}),
    "nulls in a page": (
        claude([SEARCH, fetched(PAGE)]),
        {"content": [SEARCH, fetched({**PAGE, "citations": None, "title": None})]},
    ),
}


def dialogue(prompt: str, begun: Any, response: Raw, echo: list[Any], end: Any, **more: Any) -> Conversation:
    asked = [[begun], [begun, *echo, end]]
    records = [{"id": f"{n}", "request": {prompt: sent, **more}} for n, sent in enumerate(asked)]
    (found,) = read([{**records[0], "response": response}, records[1]])
    return found


def chain(found: Conversation) -> list[str]:
    return [each.id for each in tree.chain_to(found.timeline, found.requests[1].prompt_id or "")]


@pytest.mark.parametrize(("response", "echo"), ECHOES.values(), ids=ECHOES)
def test_an_answer_that_is_repeated_is_one_message(response: Raw, echo: Raw) -> None:
    begun = {"role": "user", "content": "When?"}
    found = dialogue("messages", begun, response, [{"role": "assistant", **echo}], END)

    assert chain(found) == ["0-0", "0-response", "1-2"]
    assert len(found.timeline) == 3


def test_an_answer_of_the_converse_api_that_is_repeated_is_one_message() -> None:
    call = {"toolUseId": "t1", "name": "tide", "input": {}}
    echo = {"role": "assistant", "content": [{"toolUse": call}, {"cachePoint": {"type": "default"}}]}
    begun, end = ({"role": "user", "content": [{"text": text}]} for text in ("When?", "end"))
    response = converse([{"toolUse": {**call, "type": "tool_use"}}])
    found = dialogue("messages", begun, response, [echo], end, modelId="some.model")

    assert chain(found) == ["0-0", "0-response", "1-2"]


@pytest.mark.parametrize(
    ("item", "echo"),
    [
        pytest.param(DRAWN, {"type": "image_generation_call", "id": "ig_1"}, id="what was drawn is left out"),
        pytest.param(CALLED, {**CALLED, "id": None, "arguments": '{ "a": 1 }'}, id="arguments written anew"),
        pytest.param(CALLED, {**CALLED, "namespace": "tides"}, id="a namespace"),
    ],
)
def test_an_item_that_is_repeated_is_one_message(item: Raw, echo: Raw) -> None:
    found = dialogue("input", {"role": "user", "content": "When?"}, items(item), [echo], END)

    assert chain(found) == ["0-0", "0-response", "1-2"]


def test_items_with_other_ids_are_two() -> None:
    found = dialogue("input", {"role": "user", "content": "?"}, items(DRAWN), [{**DRAWN, "id": "ig_2"}], END)

    assert chain(found) == ["0-0", "1-1", "1-2"]


def content(role: str, *parts: Raw) -> Raw:
    return {"role": role, "parts": [*parts]}


def functions(*ids: str | None) -> list[Raw]:
    named = [{} if each is None else {"id": each} for each in ids]
    return [{"functionCall": {"name": "tide", "args": {"day": n}, **each}} for n, each in enumerate(named)]


def test_ids_that_a_client_gives_to_calls_are_theirs() -> None:
    begun = content("user", {"text": "When?"})
    response = {"candidates": [{"content": content("model", *functions(None, None))}], "modelVersion": "g"}
    echo = content("model", *functions("made-1", "made-2"))
    given = {"functionResponse": {"id": "made-2", "name": "tide", "response": {"output": "noon"}}}
    found = dialogue("contents", begun, response, [echo], content("user", given))

    assert chain(found) == ["0-0", "0-response", "1-2"]
    parts = [part for message in tree.messages(found) for part in message.parts]
    assert [part.call_id for part in parts if isinstance(part, ToolCall)] == ["made-1", "made-2"]
    assert [part.call_id for part in parts if isinstance(part, ToolResult)] == ["made-2"]


def test_calls_with_ids_of_the_service_stay_apart() -> None:
    begun = content("user", {"text": "When?"})
    response = {"candidates": [{"content": content("model", *functions("one"))}], "modelVersion": "g"}
    found = dialogue("contents", begun, response, [content("model", *functions("other"))], begun)

    assert chain(found) == ["0-0", "1-1", "1-2"]


def test_an_empty_id_of_a_call_is_none() -> None:
    begun = {"role": "user", "content": "When?"}
    response = chat({"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": ""}]})
    echo = {"role": "assistant", "tool_calls": [{**CALL, "id": "made"}]}
    found = dialogue("messages", begun, response, [echo], {"role": "tool", "tool_call_id": "made"})

    assert chain(found) == ["0-0", "0-response", "1-2"]
    (call,) = (call for message in tree.messages(found) for call in tree.calls_in(message))
    assert call.call_id == "made"
