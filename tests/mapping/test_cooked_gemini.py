"""Cooked traces: Gemini's requests, and dialogues of which only a part is sent."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from agent_journal.notes import Notes
from agent_journal.readers import api_trace
from agent_journal.writers import Run, cooked
from tests.memory_source import Bytes

Raw = dict[str, Any]
USER = {"role": "user", "parts": [{"text": "Hello"}]}


def cook(*records: Raw) -> Raw:
    items = list(api_trace.read(Bytes(json.dumps(records).encode()), "auto", Notes()))
    out = io.BytesIO()
    cooked.write(items, out, Run(note=Notes(), started_at="2026-11-01T12:00:00Z", program="test"))
    document: Raw = json.loads(out.getvalue())
    return document


def named(document: Raw, request: Raw, which: str) -> list[Raw]:
    by_id = {found["id"]: found for found in document["messages"]}
    return [{key: value for key, value in by_id[name].items() if key != "id"} for name in request[which]]


def message(role: str, content: str, **more: Any) -> Raw:
    is_error = False if role == "tool_result" else None
    return {
        "role": role,
        "content": content,
        "tool_calls": None,
        "tool_use_id": None,
        "is_error": is_error,
        **more,
    }


CALL = {"name": "f", "arguments": {"a": 1}}
CONTENTS: dict[str, tuple[Any, list[Raw]]] = {
    "user": (USER, [message("user", "Hello")]),
    "nobody": ({"parts": [{"text": "x"}]}, [message("user", "x")]),
    "model": ({"role": "model", "parts": [{"text": "x"}]}, [message("assistant", "x")]),
    "texts are one": (
        {"role": "user", "parts": [{"text": "x"}, {"text": ""}, {"text": "y"}]},
        [message("user", "xy")],
    ),
    "calls follow the text": (
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"text": "x"}]},
        [message("assistant", "x"), message("tool_use", "", tool_calls=[CALL])],
    ),
    "snake case, an id": (
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}}]},
        [message("tool_use", "", tool_calls=[{**CALL, "id": "c1"}])],
    ),
    "no arguments": (
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        [message("tool_use", "", tool_calls=[{"name": "f", "arguments": {}}])],
    ),
    "a result is known by the name": (
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": "é", "b": 1}}}]},
        [message("tool_result", '{"a": "é", "b": 1}', tool_use_id="f")],
    ),
    "a result with an id and content": (
        {"parts": [{"function_response": {"id": "c1", "name": "f", "response": {"content": "x"}}}]},
        [message("tool_result", "x", tool_use_id="c1")],
    ),
    "results come before the text": (
        {"role": "user", "parts": [{"text": "x"}, {"functionResponse": {"name": "f", "response": {}}}]},
        [message("tool_result", "{}", tool_use_id="f"), message("user", "x")],
    ),
    "thoughts come first": (
        {"role": "model", "parts": [{"text": "x", "thoughtSignature": "s"}, {"text": "t", "thought": True}]},
        [message("thinking", "t"), message("assistant", "x")],
    ),
    "media": (
        {
            "role": "user",
            "parts": [
                {"text": "x"},
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"file_data": {"mime_type": "application/pdf", "file_uri": "https://e.org/a"}},
            ],
        },
        [message("user", "[image]"), message("user", "[file]"), message("user", "x")],
    ),
    "what is not known": (
        {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}]},
        [message("assistant", '{"executableCode": {"language": "PYTHON", "code": "1"}}')],
    ),
}


@pytest.mark.parametrize(("content", "expected"), CONTENTS.values(), ids=CONTENTS.keys())
def test_contents(content: Any, expected: list[Raw]) -> None:
    document = cook({"id": "r", "request": {"contents": [content]}})

    assert expected == named(document, document["requests"][0], "request_messages")


@pytest.mark.parametrize("name", ["systemInstruction", "system_instruction"])
def test_each_part_of_the_system_prompt_is_a_message(name: str) -> None:
    document = cook({"request": {"contents": [USER], name: {"parts": [{"text": "a"}, {"text": "b"}]}}})

    assert [message("system", "a"), message("system", "b"), message("user", "Hello")] == named(
        document, document["requests"][0], "request_messages"
    )


@pytest.mark.parametrize(
    ("response", "expected", "model"),
    [
        (
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}], "modelVersion": "g-2"},
            [message("assistant", "x")],
            "g-2",
        ),
        (
            {
                "candidates": [
                    {"content": {"parts": [{"text": "x"}]}},
                    {"content": {"parts": [{"text": "y"}]}},
                ]
            },
            [message("assistant", "x")],
            "g-1",
        ),
        ({"candidates": []}, [message("assistant", "")], "g-1"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, [message("assistant", "")], "g-1"),
        (
            [{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in "xy"],
            [message("assistant", "xy")],
            "g-1",
        ),
        (None, [message("assistant", "")], "g-1"),
    ],
)
def test_responses(response: Any, expected: list[Raw], model: str) -> None:
    document = cook({"id": "r", "request": {"model": "g-1", "contents": [USER]}, "response": response})

    assert expected == named(document, document["requests"][0], "response_messages")
    assert model == document["requests"][0]["model"]


def test_tools() -> None:
    functions = [{"name": "f", "description": "F", "parameters": {"a": 1}}, {"name": "g"}]
    tools = [{"functionDeclarations": functions}, {"googleSearch": {}}, {"codeExecution": {"b": 2}}]
    document = cook({"request": {"contents": [USER], "tools": tools}})

    assert [
        {"id": "t0", "name": "f", "description": "F", "parameters": {"a": 1}},
        {"id": "t1", "name": "g", "description": "", "parameters": {}},
        {"id": "t2", "name": "googleSearch", "description": "", "parameters": {}},
        {"id": "t3", "name": "codeExecution", "description": "", "parameters": {"b": 2}},
    ] == document["tools"]


def test_a_dialogue_chains() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}
    document = cook(
        {
            "id": "1",
            "timestamp": "2026-02-20T10:00:00Z",
            "request": {"contents": [USER]},
            "response": {"candidates": [{"content": call}]},
        },
        {"id": "2", "timestamp": "2026-02-20T10:00:01Z", "request": {"contents": [USER, call, result]}},
    )

    assert [None, "1"] == [request["parent_id"] for request in document["requests"]]
    assert ["m0", "m1", "m2"] == document["requests"][1]["request_messages"]


def test_items_of_the_responses_api_chain_too() -> None:
    call = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    user = {"role": "user", "content": "Hello"}
    document = cook(
        {
            "id": "1",
            "request": {"input": [user]},
            "response": {"object": "response", "output": [{"type": "reasoning", "summary": []}, call]},
        },
        {"id": "2", "request": {"input": [user, call, output]}},
    )

    assert [
        message("user", "Hello"),
        message("tool_use", "", tool_calls=[{**CALL, "id": "c1"}]),
        message("tool_result", "x", tool_use_id="c1"),
    ] == named(document, document["requests"][1], "request_messages")
    assert "1" == document["requests"][1]["parent_id"]


def test_what_a_client_left_out_is_not_sent() -> None:
    messages = [{"role": "user", "content": f"{number}"} for number in range(12)]
    document = cook(
        {"id": "1", "request": {"messages": messages}},
        {"id": "2", "request": {"messages": [{"role": "system", "content": "s"}, *messages[4:]]}},
        {"id": "3", "request": {"messages": messages}},
    )

    assert [str(number) for number in range(12)] == [
        found["content"] for found in named(document, document["requests"][2], "request_messages")
    ]
    assert ["s", *(str(number) for number in range(4, 12))] == [
        found["content"] for found in named(document, document["requests"][1], "request_messages")
    ]


def test_a_call_is_named_as_its_result_names_it() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": 1}}}
    echo = {"functionCall": {**call["functionCall"], "id": "made"}}
    given = {"functionResponse": {"id": "made", "name": "f", "response": {"content": "4"}}}
    response = {"candidates": [{"content": {"role": "model", "parts": [call]}}], "modelVersion": "g"}
    contents = [USER, {"role": "model", "parts": [echo]}, {"role": "user", "parts": [given]}]
    first = {"id": "1", "timestamp": "2026-11-01T12:00:00Z", "request": {"contents": [USER]}}
    document = cook({**first, "response": response}, {**first, "id": "2", "request": {"contents": contents}})

    used = message("tool_use", "", tool_calls=[{**CALL, "id": "made"}])
    assert named(document, document["requests"][1], "request_messages") == [
        message("user", "Hello"),
        used,
        message("tool_result", "4", tool_use_id="made"),
    ]
    assert named(document, document["requests"][0], "response_messages") == [used]
