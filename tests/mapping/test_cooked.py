"""Cooked traces: every table and example of the format, parents against their definition, other sources."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Media,
    Memory,
    Message,
    Origin,
    Other,
    Part,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from agent_journal.notes import Notes
from agent_journal.readers import api_trace
from agent_journal.writers import Run, cooked
from agent_journal.writers.cooked import parents as search
from agent_journal.writers.cooked.parents import RequestNode, parents_of
from tests.examples import examples
from tests.memory_source import Bytes

Raw = dict[str, Any]
USER = {"role": "user", "content": "Hello"}
LIST_SYSTEM = {"system": [{"type": "text", "text": "S"}]}


def written(items: Sequence[Item], notes: Notes | None = None) -> bytes:
    run = Run(note=Notes() if notes is None else notes, started_at="2026-11-01T12:00:00Z", program="test")
    out = io.BytesIO()
    cooked.write(items, out, run)
    return out.getvalue()


def cook(*items: Item) -> Raw:
    document: Raw = json.loads(written(items))
    return document


def cook_records(*records: Raw, dialect: str = "auto") -> Raw:
    source = Bytes(json.dumps(records).encode())
    return cook(*api_trace.read(source, dialect, Notes()))


def message(role: str, content: str, **more: Any) -> Raw:
    """A message without its id."""
    is_error = False if role == "tool_result" else None
    return {
        "role": role,
        "content": content,
        "tool_calls": None,
        "tool_use_id": None,
        "is_error": is_error,
        **more,
    }


def sent(request: Raw, dialect: str = "auto") -> list[Raw]:
    """What the messages of a request become."""
    document = cook_records({"id": "r", "request": request}, dialect=dialect)
    by_id = {found["id"]: found for found in document["messages"]}
    return [without_id(by_id[name]) for name in document["requests"][0]["request_messages"]]


def answered(response: Any, request: Raw | None = None, **more: Any) -> list[Raw]:
    """What a response becomes."""
    record = {"id": "r", "request": {"messages": [USER], **(request or {})}, "response": response, **more}
    document = cook_records(record)
    by_id = {found["id"]: found for found in document["messages"]}
    return [without_id(by_id[name]) for name in document["requests"][0]["response_messages"]]


def without_id(found: Raw) -> Raw:
    return {key: value for key, value in found.items() if key != "id"}


def openai_call(**more: Any) -> Raw:
    return {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}, **more}


def claude_call(**more: Any) -> Raw:
    return {"type": "tool_use", "name": "f", "input": {"a": 1}, **more}


CALL = {"name": "f", "arguments": {"a": 1}, "id": "c1"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


# Role mapping. Each row: the request, and the messages it becomes.

OPENAI_ROLES: dict[str, tuple[Raw, list[Raw]]] = {
    "system": ({"role": "system", "content": "x"}, [message("system", "x")]),
    "user": ({"role": "user", "content": "x"}, [message("user", "x")]),
    "assistant without calls": ({"role": "assistant", "content": "x"}, [message("assistant", "x")]),
    "assistant with null calls": (
        {"role": "assistant", "content": "x", "tool_calls": None},
        [message("assistant", "x")],
    ),
    "assistant with calls": (
        {"role": "assistant", "content": None, "tool_calls": [openai_call(id="c1")]},
        [message("tool_use", "", tool_calls=[CALL])],
    ),
    "assistant with text and calls": (
        {"role": "assistant", "content": "x", "tool_calls": [openai_call(id="c1")]},
        [message("tool_use", "x", tool_calls=[CALL])],
    ),
    "assistant with a list and calls": (
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "x"}],
            "tool_calls": [openai_call(id="c1")],
        },
        [message("assistant", "x"), message("tool_use", "", tool_calls=[CALL])],
    ),
    "tool": (
        {"role": "tool", "content": "x", "tool_call_id": "c1"},
        [message("tool_result", "x", tool_use_id="c1")],
    ),
    # The format has six roles; the reference lets these pass as they were sent.
    "tool with a list": (
        {"role": "tool", "content": [{"type": "text", "text": "x"}], "tool_call_id": "c1"},
        [message("tool_result", "x", tool_use_id="c1")],
    ),
    "developer": (
        {"role": "developer", "content": "x"},
        [message("system", "x")],
    ),
    "function": (
        {"role": "function", "name": "f", "content": "x"},
        [message("tool_result", "x")],
    ),
}


@pytest.mark.parametrize(("raw", "expected"), OPENAI_ROLES.values(), ids=OPENAI_ROLES.keys())
def test_roles_of_openai(raw: Raw, expected: list[Raw]) -> None:
    assert expected == sent({"messages": [raw]})


def result(content: Any, **more: Any) -> Raw:
    return {"type": "tool_result", "tool_use_id": "c1", "content": content, **more}


CLAUDE_CONTENT: dict[str, tuple[str, Any, list[Raw]]] = {
    "user, a string": ("user", "x", [message("user", "x")]),
    "user, text blocks": (
        "user",
        [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
        [message("user", "x"), message("user", "y")],
    ),
    "user, tool results": (
        "user",
        [result("x"), {"type": "text", "text": "y"}, result("z")],
        [
            message("tool_result", "x", tool_use_id="c1"),
            message("user", "y"),
            message("tool_result", "z", tool_use_id="c1"),
        ],
    ),
    "assistant, text blocks": (
        "assistant",
        [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
        [message("assistant", "x"), message("assistant", "y")],
    ),
    "assistant, calls follow together": (
        "assistant",
        [claude_call(id="c1"), {"type": "text", "text": "x"}, claude_call(id="c2")],
        [
            message("assistant", "x"),
            message("tool_use", "", tool_calls=[CALL, {**CALL, "id": "c2"}]),
        ],
    ),
    "assistant, thinking": (
        "assistant",
        [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "x"}],
        [message("thinking", "t"), message("assistant", "x")],
    ),
    "thinking of nothing": ("assistant", [{"type": "thinking", "thinking": ""}], []),
    "image": ("user", [IMAGE], [message("user", "[image]")]),
    "unknown block": (
        "user",
        [{"type": "document", "title": "é", "n": [1, 2.5, None]}],
        [message("user", '{"type": "document", "title": "é", "n": [1, 2.5, null]}')],
    ),
    "a string among blocks": ("user", ["x"], [message("user", "x")]),
    "result, a list": (
        "user",
        [result([{"type": "text", "text": "x"}, {"type": "text", "text": "y"}, "z"])],
        [message("tool_result", "x\ny\nz", tool_use_id="c1")],
    ),
    "result, not text": (
        "user",
        [result([{"type": "image", "n": None}])],
        [message("tool_result", "{'type': 'image', 'n': None}", tool_use_id="c1")],
    ),
    "result, nothing": ("user", [result(None)], [message("tool_result", "", tool_use_id="c1")]),
    "result, failed": (
        "user",
        [result("x", is_error=True)],
        [message("tool_result", "x", tool_use_id="c1", is_error=True)],
    ),
    "result, not failed": (
        "user",
        [result("x", is_error=False)],
        [message("tool_result", "x", tool_use_id="c1", is_error=False)],
    ),
}


@pytest.mark.parametrize(("role", "content", "expected"), CLAUDE_CONTENT.values(), ids=CLAUDE_CONTENT.keys())
def test_content_of_claude(role: str, content: Any, expected: list[Raw]) -> None:
    found = sent({"messages": [{"role": role, "content": content}]}, dialect="claude")

    assert expected == found


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["a", "b"]),
        ("a", ["a"]),
        ("", []),
        ([], []),
    ],
)
@pytest.mark.parametrize("dialect", ["openai", "claude"])
def test_system_field(system: Any, expected: list[str], dialect: str) -> None:
    found = sent({"system": system, "messages": [USER]}, dialect=dialect)

    assert [message("system", text) for text in expected] + [message("user", "Hello")] == found


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "text", "text": "x"}, "x"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}, "[image: base64 data]"),
        ({"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}, "[image: https://e.org/a.png]"),
        ({"type": "image_url", "image_url": "https://e.org/a.png"}, "[image: https://e.org/a.png]"),
        ({"type": "file", "file": {"file_id": "f"}}, '{"type": "file", "file": {"file_id": "f"}}'),
        ("x", "x"),
    ],
)
def test_items_of_openai(item: Any, expected: str) -> None:
    found = sent({"messages": [{"role": "user", "content": [item, {"type": "text", "text": "?"}]}]})

    assert [message("user", expected), message("user", "?")] == found


# Tools, calls, results.


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (
            {"type": "function", "function": {"name": "f", "description": "F", "parameters": {"a": 1}}},
            {"id": "t0", "name": "f", "description": "F", "parameters": {"a": 1}},
        ),
        (
            {"name": "f", "description": "F", "input_schema": {"a": 1}},
            {"id": "t0", "name": "f", "description": "F", "parameters": {"a": 1}},
        ),
        (
            {"type": "function", "function": {"name": "f"}},
            {"id": "t0", "name": "f", "description": "", "parameters": {}},
        ),
    ],
)
def test_tools(tool: Raw, expected: Raw) -> None:
    document = cook_records({"request": {"messages": [USER], "tools": [tool]}})

    assert [expected] == document["tools"]
    assert ["t0"] == document["requests"][0]["tools"]


def test_of_the_tools_of_openai_only_functions_count() -> None:
    notes = Notes()
    request = {"messages": [USER], "tools": [{"type": "web_search"}]}
    source = Bytes(json.dumps({"id": "r", "request": request}).encode())
    document = json.loads(written([*api_trace.read(source, "auto", Notes())], notes))

    assert [] == document["tools"] == document["requests"][0]["tools"]
    assert ["api-trace:r: not-expressed: tools other than functions: 1"] == [
        str(note) for note in notes.collected
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ("[1]", [1]),
        ('"x"', "x"),
        ("{broken", {"raw": "{broken"}),
        ("", {"raw": ""}),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_arguments_of_openai(arguments: Any, expected: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (found,) = sent({"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]})

    assert [{"name": "f", "arguments": expected, "id": "c1"}] == found["tool_calls"]


@pytest.mark.parametrize(
    "raw",
    [
        {"role": "assistant", "content": None, "tool_calls": [openai_call()]},
        {"role": "assistant", "content": None, "tool_calls": [openai_call(id=None)]},
        {"role": "assistant", "content": [claude_call()]},
    ],
)
def test_a_missing_call_id_is_left_out(raw: Raw) -> None:
    (found,) = sent({"messages": [raw]})

    assert [{"name": "f", "arguments": {"a": 1}}] == found["tool_calls"]


# Responses.


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            {"choices": [{"message": {"role": "assistant", "content": "x", "tool_calls": None}}]},
            [message("assistant", "x")],
        ),
        (
            {"choices": [{"message": {"content": "x", "tool_calls": [openai_call(id="c1")]}}]},
            [message("tool_use", "x", tool_calls=[CALL])],
        ),
        (
            {"choices": [{"message": {"content": "x"}}, {"message": {"content": "y"}}]},
            [message("assistant", "x")],
        ),
        # A request to Claude that might as well be OpenAI's; its answer is not lost.
        ({"content": [{"type": "text", "text": "x"}]}, [message("assistant", "x")]),
        ({"choices": []}, [message("assistant", "")]),
        ({"raw": "<html>"}, [message("assistant", "")]),
        ({}, [message("assistant", "")]),
        (None, [message("assistant", "")]),
    ],
)
def test_responses_of_openai(response: Any, expected: list[Raw]) -> None:
    assert expected == answered(response)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "x"}], [message("assistant", "x")]),
        (
            [
                {"type": "text", "text": " a "},
                claude_call(id="c1"),
                {"type": "thinking", "thinking": "t"},
                {"type": "text", "text": ""},
                {"type": "text", "text": "b"},
                {"type": "redacted_thinking", "data": "?"},
            ],
            [
                message("thinking", "t"),
                message("assistant", " a "),
                message("assistant", "b"),
                message("tool_use", "", tool_calls=[CALL]),
            ],
        ),
        ([], [message("assistant", "")]),
    ],
)
def test_responses_of_claude(content: Any, expected: list[Raw]) -> None:
    assert expected == answered({"content": content}, LIST_SYSTEM)


@pytest.mark.parametrize("request_body", [{}, LIST_SYSTEM])
def test_errors_and_missing_responses(request_body: Raw) -> None:
    record: Raw = {"id": "r", "request": {"messages": [USER], **request_body}}

    assert [] == cook_records(record)["requests"][0]["response_messages"]
    assert [message("assistant", "Error: boom")] == answered(None, request_body, error="boom")
    partly = {"choices": [{"message": {"content": "x"}}]}
    assert [message("assistant", "Error: boom")] == answered(partly, request_body, error="boom")


@pytest.mark.parametrize("request_body", [{}, LIST_SYSTEM])
def test_the_body_of_an_error_is_json(request_body: Raw) -> None:
    error = {"message": "it's too much", "code": None, "type": "overloaded", "retry": True, "in": ["é", 1.5]}
    expected = (
        'Error: {"message":"it\'s too much","code":null,"type":"overloaded","retry":true,"in":["é",1.5]}'
    )

    assert [message("assistant", expected)] == answered({"error": error}, request_body)
    assert [message("assistant", expected)] == answered(None, request_body, error=error)


def sse(*events: Raw) -> Raw:
    return {
        "stream": True,
        "sse_lines": [*(f"data: {json.dumps(event)}" for event in events), "data: [DONE]"],
    }


def test_stream_of_openai() -> None:
    def chunk(**delta: Any) -> Raw:
        return {"choices": [{"index": 0, "delta": delta}]}

    def call(index: int, arguments: str, **more: Any) -> Raw:
        return chunk(
            tool_calls=[{"index": index, "function": {"arguments": arguments, **more.pop("f", {})}, **more}]
        )

    response = sse(
        {"id": "chatcmpl-1", "model": "m", **chunk(role="assistant")},
        chunk(content="Hel"),
        chunk(content="lo"),
        call(0, "", id="c1", f={"name": "f"}),
        call(1, '{"b":', id="c2", f={"name": "g"}),
        call(0, '{"a": 1}'),
        call(1, "2}"),
    )

    calls = [CALL, {"name": "g", "arguments": {"b": 2}, "id": "c2"}]
    assert [message("tool_use", "Hello", tool_calls=calls)] == answered(response)


def test_stream_of_claude() -> None:
    def start(index: int, **block: Any) -> Raw:
        return {"type": "content_block_start", "index": index, "content_block": block}

    def delta(index: int, kind: str, **more: str) -> Raw:
        return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}

    response = sse(
        {"type": "message_start", "message": {"id": "msg_1", "model": "m"}},
        start(0, type="thinking", thinking=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "thinking_delta", thinking="m"),
        start(1, type="text", text=""),
        delta(1, "text_delta", text="Hel"),
        delta(1, "text_delta", text="lo"),
        start(2, type="tool_use", id="c1", name="f", input={}),
        delta(2, "input_json_delta", partial_json='{"a"'),
        delta(2, "input_json_delta", partial_json=": 1}"),
        start(3, type="tool_use", id="c2", name="g", input={}),
        delta(3, "input_json_delta", partial_json="{broken"),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )

    calls = [CALL, {"name": "g", "arguments": {"raw": "{broken"}, "id": "c2"}]
    assert [
        message("thinking", "hmm"),
        message("assistant", "Hello"),
        message("tool_use", "", tool_calls=calls),
    ] == answered(response)


# One id for what is the same.


def user(text: str) -> Raw:
    return {"role": "user", "content": text}


def test_equal_messages_and_tools_share_an_id() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"a": 1, "b": 2}}}
    turned = {"type": "function", "function": {"name": "f", "parameters": {"b": 2, "a": 1}}}
    document = cook_records(
        {"id": "a", "request": {"messages": [user("x"), user("y"), user("x")], "tools": [tool]}},
        {"id": "b", "request": {"messages": [user("y")], "tools": [turned, tool]}},
    )
    first, second = document["requests"]

    assert ["m0", "m1", "m0"] == first["request_messages"]
    assert ["m1"] == second["request_messages"]
    assert ["x", "y"] == [found["content"] for found in document["messages"]]
    assert (["t0"], ["t0", "t0"]) == (first["tools"], second["tools"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (user("x"), user("x"), True),
        (user("x"), {"role": "assistant", "content": "x"}, False),
        (user("x"), user("X"), False),
        (user("x"), {"role": "user", "content": [{"type": "text", "text": "x"}]}, True),
        (user("x"), {"role": "assistant", "content": [claude_call(id="c1")]}, False),
        ({"role": "user", "content": [result("x")]}, {"role": "user", "content": [result("x")]}, True),
        (
            {"role": "user", "content": [result("x")]},
            {"role": "user", "content": [result("x", is_error=False)]},
            True,
        ),
        (
            {"role": "user", "content": [result("x")]},
            {"role": "user", "content": [result("x", is_error=True)]},
            False,
        ),
        (
            {"role": "user", "content": [result("x")]},
            {"role": "user", "content": [{**result("x"), "tool_use_id": "c2"}]},
            False,
        ),
        (
            {"role": "assistant", "content": [{**claude_call(id="c1"), "input": {"a": 1, "b": 2}}]},
            {"role": "assistant", "content": [{**claude_call(id="c1"), "input": {"b": 2, "a": 1}}]},
            True,
        ),
        (
            {"role": "assistant", "content": [claude_call(id="c1")]},
            {"role": "assistant", "content": [claude_call(id="c2")]},
            False,
        ),
    ],
)
def test_what_makes_messages_equal(one: Raw, other: Raw, same: bool) -> None:
    document = cook_records({"request": {"messages": [one, other], **LIST_SYSTEM}})

    assert (2 if same else 3) == len(document["messages"])


def test_numbers_follow_the_file_and_requests_follow_time() -> None:
    def record(name: str, at: str, text: str) -> Raw:
        tool = {"type": "function", "function": {"name": name}}
        response = {"choices": [{"message": {"content": f"to {text}"}}]}
        request = {"model": "m", "messages": [user(text)], "tools": [tool]}
        return {"id": name, "timestamp": at, "duration_ms": 5, "request": request, "response": response}

    document = cook_records(
        record("late", "2026-02-20T10:00:02Z", "a"),
        record("early", "2026-02-20T10:00:01.5Z", "b"),
        record("also late", "2026-02-20T10:00:02Z", "c"),
        record("never", "yesterday", "d"),
    )

    contents = [text for letter in "abcd" for text in (letter, f"to {letter}")]
    assert contents == [found["content"] for found in document["messages"]]
    assert [f"m{number}" for number in range(8)] == [found["id"] for found in document["messages"]]
    assert ["late", "early", "also late", "never"] == [found["name"] for found in document["tools"]]
    assert [
        ("never", 0),
        ("early", 1771581601500),
        ("late", 1771581602000),
        ("also late", 1771581602000),
    ] == [(found["id"], found["timestamp"]) for found in document["requests"]]


def test_interleaved_dialogues_keep_the_order_of_the_file() -> None:
    def record(name: str, *texts: str) -> Raw:
        return {"id": name, "request": {"messages": [user(text) for text in texts]}}

    document = cook_records(
        record("a", "1"), record("b", "2"), record("a2", "1", "3"), record("b2", "2", "4")
    )

    assert ["1", "2", "3", "4"] == [found["content"] for found in document["messages"]]
    assert ["a", "b", "a2", "b2"] == [found["id"] for found in document["requests"]]


# The document.


def test_every_key_is_there() -> None:
    document = cook_records(
        {"request": {"messages": [USER], "tools": [{"type": "function", "function": {}}]}}
    )

    assert ["messages", "tools", "requests"] == list(document)
    assert {"id": "m0", **message("user", "Hello")} == document["messages"][0]
    assert [{"id": "t0", "name": "function", "description": "", "parameters": {}}] == document["tools"]
    assert [
        {
            "id": "",
            "parent_id": None,
            "timestamp": 0,
            "request_messages": ["m0"],
            "response_messages": [],
            "model": "",
            "tools": ["t0"],
            "duration_ms": 0,
        }
    ] == document["requests"]


def test_the_bytes_are_those_of_a_document_with_two_spaces() -> None:
    call = ToolCall(name="f", call_id="c", input={"ключ": [], "b": {}, "c": [1, {"d": "\n\u2028"}]})
    talk = Conversation(
        id="c",
        source="s",
        shape="list",
        timeline=[
            Message(id="1", role="user", parts=[Text(text="日本\n\t\x00\U0001f372")]),
            Message(id="2", role="assistant", parts=[call]),
        ],
    )
    for items in ([], [talk]):
        data = written(items)

        assert json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode() + b"\n" == data


OPENAI_EXAMPLE: Raw = {
    "request": {
        "messages": [
            {"role": "system", "content": "Be helpful"},
            {"role": "user", "content": "What's 2+2?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"type": "function", "function": {"name": "calc", "arguments": '{"expr":"2+2"}'}}
                ],
            },
            {"role": "tool", "content": "4"},
        ]
    }
}
CLAUDE_EXAMPLE: Raw = {
    "request": {
        "system": [{"type": "text", "text": "Be helpful"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What's 2+2?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Simple math question"},
                    {"type": "tool_use", "id": "call_1", "name": "calc", "input": {"expr": "2+2"}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "4"}],
            },
        ],
    }
}
SUM = {"name": "calc", "arguments": {"expr": "2+2"}}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(
            OPENAI_EXAMPLE,
            [
                {"id": "m0", **message("system", "Be helpful")},
                {"id": "m1", **message("user", "What's 2+2?")},
                # The format's own example shows an id that its input does not have.
                {"id": "m2", **message("tool_use", "", tool_calls=[SUM])},
                {"id": "m3", **message("tool_result", "4")},
            ],
            id="OpenAI",
        ),
        pytest.param(
            CLAUDE_EXAMPLE,
            [
                {"id": "m0", **message("system", "Be helpful")},
                {"id": "m1", **message("user", "What's 2+2?")},
                {"id": "m2", **message("thinking", "Simple math question")},
                {"id": "m3", **message("tool_use", "", tool_calls=[{**SUM, "id": "call_1"}])},
                {"id": "m4", **message("tool_result", "4", tool_use_id="call_1")},
            ],
            id="Claude",
        ),
    ],
)
def test_examples_on_the_command_line(record: Raw, expected: list[Raw], tmp_path: Path) -> None:
    trace, target = tmp_path / "trace.json", tmp_path / "cooked.json"
    trace.write_text(json.dumps(record), encoding="utf-8")
    command = [sys.executable, "-m", "agent_journal", "cook", str(trace), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)

    assert expected == json.loads(target.read_bytes())["messages"]


def test_a_dialect_can_be_asked_for_and_any_source_can_be_cooked(tmp_path: Path) -> None:
    def ran(name: str, content: Raw, *options: str) -> Raw:
        source = tmp_path / name
        source.write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, "-m", "agent_journal", "cook", str(source), *options]
        done = subprocess.run(command, check=True, capture_output=True)
        document: Raw = json.loads(done.stdout)
        return document

    record = {"request": {"messages": [{"role": "user", "content": [IMAGE]}]}}
    as_openai = json.dumps(IMAGE)
    assert as_openai == ran("trace.json", record)["messages"][0]["content"]
    assert as_openai == ran("trace.json", record, "--format", "openai")["messages"][0]["content"]
    assert "[image]" == ran("trace.json", record, "--format", "claude")["messages"][0]["content"]

    said = {"type": "message", "id": "1", "role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}
    talk = {"type": "conversation", "id": "c", "source": "s", "timeline": [said]}
    assert {"id": "m0", **message("assistant", "Hi")} == ran("talk.jsonl", talk)["messages"][0]


# Parents.


def by_definition(exchanges: Sequence[RequestNode]) -> Iterator[int | None]:
    """The best score wins, from the newest to the oldest, if it is good enough."""
    for place, current in enumerate(exchanges):
        best, found = float("-inf"), None
        for earlier in reversed(range(place)):
            candidate = exchanges[earlier]
            if candidate.model != current.model:
                continue
            edits = levenshtein([*candidate.request, *candidate.response], [*current.request])
            score = -edits - 0.5 * len(candidate.tools.symmetric_difference(current.tools))
            if score > best:
                best, found = score, earlier
        yield None if best < -0.5 * len(current.request) else found


def levenshtein(one: list[int], other: list[int]) -> int:
    row = list(range(len(other) + 1))
    for place, left in enumerate(one, 1):
        diagonal, row[0] = row[0], place
        for column, right in enumerate(other, 1):
            changed = diagonal + (left != right)
            diagonal = row[column]
            row[column] = min(changed, diagonal + 1, row[column - 1] + 1)
    return row[-1]


@st.composite
def traffic(draw: st.DrawFn) -> list[RequestNode]:
    """Requests of few different messages, many of which go on from an earlier one."""
    number = st.integers(0, draw(st.sampled_from([1, 3, 30])))
    exchanges: list[RequestNode] = []
    for _ in range(draw(st.integers(1, 12))):
        request = draw(st.lists(number, max_size=6))
        if len(exchanges) > 0 and draw(st.booleans()):
            before = draw(st.sampled_from(exchanges))
            request = [*before.request, *before.response, *request][draw(st.integers(0, 2)) :]
        exchanges.append(
            RequestNode(
                draw(st.sampled_from("ab")),
                request,
                draw(st.lists(number, max_size=2)),
                draw(st.frozensets(st.integers(0, 3), max_size=3)),
            )
        )
    return exchanges


@given(traffic(), st.sampled_from([0, 1, 3, 32]), st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_parents_are_those_of_the_definition(exchanges: list[RequestNode], few: int, as_text: bool) -> None:
    usual = search._MAX_LISTED_MEMBERS
    search._MAX_LISTED_MEMBERS = few
    try:
        found = [*parents_of(exchanges, 31 if as_text else search._MAX_CODE_POINTS + 1)]
    finally:
        search._MAX_LISTED_MEMBERS = usual

    assert [*by_definition(exchanges)] == found


NO_TOOLS: frozenset[int] = frozenset()


@pytest.mark.parametrize(
    ("earlier", "current", "expected"),
    [
        pytest.param([], RequestNode("m", [1], [], NO_TOOLS), None, id="the first"),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS), RequestNode("n", [1], [2], NO_TOOLS)],
            RequestNode("m", [1, 2, 3], [], NO_TOOLS),
            0,
            id="of the same model only",
        ),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS), RequestNode("m", [1], [2], NO_TOOLS)],
            RequestNode("m", [1, 2, 3], [], NO_TOOLS),
            1,
            id="the latest of equals",
        ),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS)],
            RequestNode("m", [1, 2, 3, 4], [], NO_TOOLS),
            0,
            id="just close enough",
        ),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS)],
            RequestNode("m", [1, 2, 3, 4, 5], [], NO_TOOLS),
            None,
            id="too far",
        ),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS)],
            RequestNode("m", [1, 2, 3, 4], [], frozenset({1})),
            None,
            id="too far with another tool",
        ),
        pytest.param(
            [RequestNode("m", [1], [2], NO_TOOLS), RequestNode("m", [1], [9], frozenset({1}))],
            RequestNode("m", [1, 2, 3], [], frozenset({1})),
            0,
            id="an edit costs more than a tool",
        ),
    ],
)
def test_parents(earlier: list[RequestNode], current: RequestNode, expected: int | None) -> None:
    assert expected == [*parents_of([*earlier, current], 10)][-1]


def test_parent_ids() -> None:
    def record(name: str, *texts: str) -> Raw:
        messages = [
            user(text) if place % 2 == 0 else {"role": "assistant", "content": text}
            for place, text in enumerate(texts)
        ]
        return {
            "id": name,
            "timestamp": f"2026-02-20T10:00:0{len(texts)}Z",
            "request": {"model": "m", "messages": messages},
            "response": {"choices": [{"message": {"role": "assistant", "content": f"to {texts[-1]}"}}]},
        }

    document = cook_records(
        record("a", "1"), record("b", "1", "to 1", "2"), record("c", "1", "to 1", "2", "to 2", "3")
    )

    assert [("a", None), ("b", "a"), ("c", "b")] == [
        (found["id"], found["parent_id"]) for found in document["requests"]
    ]


# Sources that tell of no requests.


def said(
    name: str,
    role: Any,
    *parts: Part,
    after: str | None = None,
    response: str | None = None,
    at: str | None = None,
) -> Message:
    return Message(
        id=name, role=role, parts=[*parts], parent_id=after, response_id=response, at=at, model=None
    )


def shown(document: Raw) -> list[tuple[str, list[str], list[str]]]:
    """Each request with the contents of what was sent and what came back."""
    content = {found["id"]: found["content"] or found["tool_calls"] for found in document["messages"]}
    return [
        (
            found["id"],
            [content[name] for name in found["request_messages"]],
            [content[name] for name in found["response_messages"]],
        )
        for found in document["requests"]
    ]


def test_each_response_makes_a_request() -> None:
    at = "2026-01-01T00:00:00Z"
    talk = Conversation(
        id="c",
        source="s",
        model="m",
        tools=[Tool(name="f")],
        timeline=[
            said("u1", "user", Text(text="one")),
            Event(id="e", name="pause", parent_id="u1"),
            said("a1", "assistant", Text(text="two"), after="e", response="r1", at=at),
            said("a2", "assistant", Text(text="three"), after="a1", response="r1"),
            said("u2", "user", Text(text="four"), after="a2"),
            said("a3", "assistant", Text(text="five"), after="u2", at="2026-01-01T00:00:01Z"),
            said("a4", "assistant", Text(text="six"), after="a3"),
            said("u3", "user", Text(text="seven"), after="a4"),
        ],
        updated_at="2026-01-01T01:00:00Z",
    )
    notes = Notes()
    document = json.loads(written([talk], notes))

    assert [
        ("r1", ["one"], ["two", "three"]),
        ("a3", ["one", "two", "three", "four"], ["five", "six"]),
        ("u3", ["one", "two", "three", "four", "five", "six", "seven"], []),
    ] == shown(document)
    first, second, third = document["requests"]
    assert third["parent_id"] == "a3"
    assert (1767225600000, "m", 0, ["t0"], None) == (
        first["timestamp"],
        first["model"],
        first["duration_ms"],
        first["tools"],
        first["parent_id"],
    )
    assert second["parent_id"] == "r1"
    assert ["s:c: not-expressed: events: 1"] == [str(note) for note in notes.collected]


def test_branches_and_results_next_to_the_chain() -> None:
    talk = Conversation(
        id="c",
        source="s",
        timeline=[
            said("u", "user", Text(text="go")),
            said("a1", "assistant", ToolCall(name="f", call_id="1"), after="u", response="r"),
            said("a2", "assistant", ToolCall(name="f", call_id="2"), after="a1", response="r"),
            said("t1", "user", ToolResult(call_id="1", output="first"), after="a1"),
            said("t2", "user", ToolResult(call_id="2", output="second"), after="a2"),
            said("a3", "assistant", Text(text="done"), after="t2"),
            said("u2", "user", Text(text="other way"), after="u"),
            said("a4", "assistant", Text(text="also done"), after="u2"),
        ],
    )
    calls = [[{"name": "f", "arguments": {}, "id": number}] for number in "12"]

    assert [
        ("r", ["go"], calls),
        ("a3", ["go", *calls, "first", "second"], ["done"]),
        ("a4", ["go", "other way"], ["also done"]),
    ] == shown(cook(talk))


def test_in_a_list_all_earlier_messages_were_in_view() -> None:
    timeline = [
        said("1", "user", Text(text="a")),
        said("2", "assistant", Text(text="b")),
        said("3", "user", Text(text="c")),
        said("4", "assistant", Text(text="d")),
    ]
    talk = Conversation(id="c", source="s", shape="list", timeline=[*timeline])

    assert [("2", ["a"], ["b"]), ("4", ["a", "b", "c"], ["d"])] == shown(cook(talk))


@pytest.mark.parametrize(
    ("role", "part", "expected"),
    [
        ("assistant", Text(text="x"), message("assistant", "x")),
        ("assistant", Reasoning(text="x"), message("thinking", "x")),
        ("assistant", Reasoning(summary="x", encrypted="?"), message("thinking", "x")),
        ("user", Media(kind="image", data="AA=="), message("user", "[image]")),
        ("user", Media(kind="document", name="a.pdf", ref="r"), message("user", "[document: a.pdf]")),
        ("user", Media(kind="audio", ref="r"), message("user", "[audio: r]")),
        ("user", Media(kind="file", data="AA=="), message("user", "[file]")),
        ("user", Other(data={"a": [1, "é"]}), message("user", '{"a": [1, "é"]}')),
        ("user", ToolResult(call_id="c", output="x"), message("tool_result", "x", tool_use_id="c")),
        (
            "tool",
            ToolResult(output=[Text(text="x"), Media(kind="image"), Other(data=1)], is_error=True),
            message("tool_result", "x\n[image]\n1", is_error=True),
        ),
        ("tool", Text(text="x"), message("tool_result", "x")),
        ("system", Text(text="x"), message("system", "x")),
        (
            "assistant",
            ToolCall(name="f", call_id="c", input="{bad"),
            message("tool_use", "", tool_calls=[{"name": "f", "arguments": {"raw": "{bad"}, "id": "c"}]),
        ),
        (
            "assistant",
            ToolCall(name="f", input='{"a": 1}'),
            message("tool_use", "", tool_calls=[{"name": "f", "arguments": {"a": 1}}]),
        ),
    ],
)
def test_parts(role: str, part: Part, expected: Raw) -> None:
    talk = Conversation(
        id="c",
        source="s",
        shape="list",
        timeline=[said("1", role, part), said("2", "user", Text(text="?")), said("3", "assistant")],
    )
    found = cook(talk)["messages"]

    assert expected == without_id(found[0])
    assert message("assistant", "") == without_id(found[-1])


def test_a_dialect_without_the_content_as_it_was_sent_is_cooked_from_the_parts() -> None:
    """As it comes from an archive, which keeps no `native`."""
    first = {"id": "a", "request": {"messages": [OPENAI_EXAMPLE["request"]["messages"][0], USER]}}
    image = {
        "role": "user",
        "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}],
    }
    for record in (OPENAI_EXAMPLE, CLAUDE_EXAMPLE, first, {"request": {"messages": [image]}}):
        source = Bytes(json.dumps(record).encode())
        found = [item for item in api_trace.read(source, "auto", Notes()) if isinstance(item, Conversation)]
        stored = [forgetful(conversation) for conversation in found]

        assert cook(*found) == cook(*stored)


def forgetful(conversation: Conversation) -> Conversation:
    timeline: list[Any] = [
        Message(**{**fields(entry), "native": None}) if isinstance(entry, Message) else entry
        for entry in conversation.timeline
    ]
    return Conversation(**{**fields(conversation), "timeline": timeline})


def fields(value: Any) -> Raw:
    return {name: getattr(value, name) for name in value.__struct_fields__}


# Several files, and what is told about them.


def test_files_follow_each_other_whatever_the_order_of_their_conversations() -> None:
    def talk(name: str, file: str, index: int) -> Conversation:
        return Conversation(
            id=name,
            source="s",
            timeline=[said(name, "user", Text(text=name))],
            requests=[Request(id=name, index=index, api="openai", prompt_id=name)],
            origin=Origin(reader="r", version="1", revision=1, file=file),
        )

    document = cook(talk("b1", "b", 1), talk("a5", "a", 5), talk("b0", "b", 0), talk("a2", "a", 2))

    assert ["b0", "b1", "a2", "a5"] == [found["content"] for found in document["messages"]]
    assert ["b0", "b1", "a2", "a5"] == [found["id"] for found in document["requests"]]


def test_what_cannot_be_expressed_is_noted_once_with_a_count() -> None:
    talk = Conversation(
        id="c",
        source="s",
        shape="list",
        timeline=[
            said("1", "user", Media(kind="image", data="AA=="), Media(kind="image", data="BB==")),
            said("2", "assistant", Reasoning(encrypted="?"), Text(text="x")),
        ],
    )
    notes = Notes()
    written([talk, Memory(id="m", source="s", kind="identity", text="x")], notes)

    assert [
        "s:c: not-expressed: media parts: 2",
        "s:c: not-expressed: encrypted reasoning parts: 1",
        "s:m: not-expressed: a memory, as it is no conversation",
    ] == [str(note) for note in notes.collected]


@pytest.mark.parametrize(
    ("request_body", "content", "expected"),
    [
        # Nothing in the request says that it is Claude's, but its answer has blocks.
        ({"messages": [user("Hi")]}, [{"type": "thinking", "thinking": "Hm."}], []),
        (
            {
                "system": [],
                "messages": [{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "?"}]}],
            },
            [{"type": "text", "text": "x"}],
            [],
        ),
        (
            {"system": [], "messages": [user("Hi")]},
            [{"type": "redacted_thinking", "data": "?"}, {"type": "text", "text": "x"}],
            ["not-expressed: response blocks without a role: 1"],
        ),
    ],
)
def test_thoughts_that_are_cooked_are_not_noted(request_body: Raw, content: Any, expected: list[str]) -> None:
    record = {"id": "r", "request": request_body, "response": {"content": content}}
    notes = Notes()
    written([*api_trace.read(Bytes(json.dumps([record]).encode()), "auto", Notes())], notes)

    assert [f"api-trace:r: {note}" for note in expected] == [str(note) for note in notes.collected]


@pytest.mark.parametrize(
    ("calls", "expected"), [([None], 1), ([None, None], 0), (["c"], 0), (["c", None], 1)]
)
def test_a_result_without_an_id_belongs_to_the_only_call_without_one(
    calls: list[str | None], expected: int
) -> None:
    talk = Conversation(
        id="c",
        source="s",
        shape="list",
        timeline=[
            said("1", "assistant", *(ToolCall(name="f", call_id=call) for call in calls)),
            said("2", "tool", ToolResult(output="x")),
            said("3", "assistant", Text(text="y")),
        ],
    )
    notes = Notes()
    found = json.loads(written([talk], notes))["messages"]

    assert {"id": "m1", **message("tool_result", "x")} == found[1]
    assert ["s:c: guessed-link: results of the only call without an id: 1"] * expected == [
        str(note) for note in notes.collected
    ]
