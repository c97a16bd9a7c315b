"""API traces: how a record's dialect is told, how calls become dialogues, that nothing breaks the reading."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal.detection.peek import Peek
from agent_journal.model import (
    Citation,
    Conversation,
    Media,
    Message,
    Other,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import api_trace
from agent_journal.readers.dialects import openai_messages
from agent_journal.readers.dialects.api_calls import answer, stitching
from agent_journal.readers.dialects.api_calls.dialogue import Dialogue
from agent_journal.readers.dialects.api_calls.meanings import Meanings
from tests.memory_source import Bytes

Raw = dict[str, Any]
USER = {"role": "user", "content": "Hello"}
MARK = {"cache_control": {"type": "ephemeral"}}


def read(records: Iterable[Any], version: str = "auto", notes: Notes | None = None) -> list[Conversation]:
    data = json.dumps([*records]).encode()
    found = list(api_trace.read(Bytes(data), version, Notes() if notes is None else notes))
    return [item for item in found if isinstance(item, Conversation)]


def only(record: Raw, version: str = "auto", notes: Notes | None = None) -> Conversation:
    (conversation,) = read([record], version, notes)
    return conversation


def reply_of(response: Any, messages: list[Raw] | None = None) -> Message:
    conversation = only({"id": "r", "request": {"messages": messages or [USER]}, "response": response})
    by_id = {message.id: message for message in tree.messages(conversation)}
    return by_id[conversation.requests[0].response_ids[0]]


def sse(*events: Any) -> Raw:
    return {"stream": True, "sse_lines": [f"data: {json.dumps(event)}" for event in events]}


def chunk(delta: Raw, **more: Any) -> Raw:
    return {"choices": [{"index": 0, "delta": delta}], **more}


# Which dialect a record speaks.

TOOL_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CLAUDE_TOOL = {"name": "f", "input_schema": {}}
OPENAI_TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


def blocks(*kinds: Any) -> list[Raw]:
    return [{"role": "user", "content": [{"type": kind} for kind in kinds]}]


CLAUDE: dict[str, tuple[Raw, Any]] = {
    "stream message_start": ({}, sse({"type": "message_start", "message": {}})),
    "stream content_block_start": ({}, sse({"type": "content_block_start"})),
    "stream content_block_delta": ({}, sse({"type": "content_block_delta"})),
    "stream message_delta": ({}, sse({"type": "message_delta"})),
    "stream message_stop": ({}, sse({"type": "message_stop"})),
    "stream after ping": ({}, sse({"type": "ping"}, {"type": "message_start", "message": {}})),
    "stream without a blank": ({}, {"stream": True, "sse_lines": ['data:{"type":"message_stop"}']}),
    "stream after bad lines": (
        {},
        {"stream": True, "sse_lines": ["data: {", 'data: {"type":"message_stop"}']},
    ),
    "system list": ({"system": [{"type": "text", "text": "x"}]}, None),
    "system empty list": ({"system": []}, None),
    "first tool input_schema": ({"tools": [CLAUDE_TOOL, OPENAI_TOOL]}, None),
    "block tool_use": ({"messages": blocks("tool_use")}, None),
    "block tool_result": ({"messages": blocks("text", "tool_result")}, None),
    "block thinking": ({"messages": [USER, *blocks("thinking")]}, None),
    "undecided stream, system list": ({"system": []}, sse({"type": "ping"})),
    "undecided stream, tool": ({"tools": [CLAUDE_TOOL]}, sse({"error": {}})),
    # Any condition is enough, also where the stream is the other API's.
    "stream of choices, system list": ({"system": []}, sse(chunk({"content": "x"}))),
}
OPENAI: dict[str, tuple[Raw, Any]] = {
    "nothing else": ({}, None),
    "no messages": ({"messages": None}, None),
    "string system": ({"system": "x"}, None),
    "stream of choices": ({}, sse(chunk({"content": "x"}))),
    "choices before a Claude event": ({}, sse(chunk({}), {"type": "message_stop"})),
    "event line alone": ({}, {"stream": True, "sse_lines": ["event: message_start", "data: [DONE]"]}),
    "type of another event": ({}, sse({"type": "response.created"})),
    "type of no text": ({}, sse({"type": ["message_start"]})),
    "lines in one text": ({}, {"stream": True, "sse_lines": 'data: {"type": "message_start"}'}),
    "second tool input_schema": ({"tools": [OPENAI_TOOL, CLAUDE_TOOL]}, None),
    "empty tools": ({"tools": []}, None),
    "tools of no objects": ({"tools": ["input_schema"]}, None),
    "blocks of other types": ({"messages": blocks("text", "image", "image_url", ["thinking"], None)}, None),
    "tool calls": ({"messages": [{"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}]}, None),
    "the word in a text": ({"messages": [{"role": "user", "content": "tool_use"}]}, None),
    "Claude's response": ({}, {"type": "message", "content": [{"type": "thinking", "thinking": "x"}]}),
}


@pytest.mark.parametrize(
    ("api", "request_body", "response"),
    [
        pytest.param(api, *rule, id=f"{api}: {name}")
        for api, rules in (("claude", CLAUDE), ("openai", OPENAI))
        for name, rule in rules.items()
    ],
)
def test_dialect_of_a_record(api: str, request_body: Raw, response: Any) -> None:
    record = {"request": {"messages": [USER], **request_body}, "response": response}

    assert api == only(record).requests[0].api


INPUT, CONTENTS = {"input": "Hello"}, {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
NEWER: dict[str, tuple[str, Raw, Any]] = {
    "input": ("responses", INPUT, None),
    "items": ("responses", {"input": [USER]}, None),
    "instructions": ("responses", {"instructions": "x"}, None),
    "a response before it": ("responses", {"previous_response_id": "resp_1"}, None),
    "input, tools of Claude": ("responses", {**INPUT, "tools": [CLAUDE_TOOL]}, None),
    "contents": ("gemini", CONTENTS, None),
    "snake case": ("gemini", {"system_instruction": {"parts": []}}, None),
    "camel case": ("gemini", {"systemInstruction": {"parts": []}}, None),
    "nothing asked, a response": ("responses", {}, {"object": "response", "output": []}),
    "nothing asked, events": ("responses", {}, sse({"type": "response.created", "response": {}})),
    "nothing asked, candidates": ("gemini", {}, {"candidates": []}),
    "nothing asked, chunks": ("gemini", {}, sse({"candidates": []})),
    "nothing asked, a list": ("gemini", {}, [{"candidates": []}]),
    "nothing asked, a message": ("claude", {}, {"type": "message", "content": []}),
    "nothing asked, choices": ("openai", {}, {"choices": []}),
    "messages and input": ("openai", {"messages": [USER], **INPUT}, None),
    "messages and contents": ("openai", {"messages": [USER], **CONTENTS}, None),
}


@pytest.mark.parametrize(("api", "request_body", "response"), NEWER.values(), ids=NEWER.keys())
def test_dialect_of_a_record_of_the_newer_apis(api: str, request_body: Raw, response: Any) -> None:
    assert api == only({"request": request_body, "response": response}).requests[0].api


@pytest.mark.parametrize("version", ["openai", "claude", "responses", "gemini", "converse"])
def test_a_dialect_that_was_asked_for_is_every_record_s(version: str) -> None:
    records = [
        {"request": {"messages": [USER], **body}, "response": answer} for body, answer in CLAUDE.values()
    ]

    assert {version} == {r.api for c in read(records, version) for r in c.requests}


@pytest.mark.parametrize(
    "source",
    [
        {"type": "text", "media_type": "text/plain", "data": "Moss"},
        {"type": "content", "content": "Moss"},
    ],
)
def test_a_document_that_is_text_says_it(source: Raw) -> None:
    block = {"type": "document", "source": source, "title": "moss.txt"}
    asked = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]}
    (media,) = next(tree.messages(only({"id": "r", "request": asked}, "claude"))).parts

    assert isinstance(media, Media)
    assert (media.name, media.text, media.data) == ("moss.txt", "Moss", None)


def test_a_spoken_answer_says_its_words() -> None:
    audio = {"id": "a1", "data": "QUJD", "transcript": "Moss.", "expires_at": 9}
    answer = reply_of({"choices": [{"message": {"role": "assistant", "content": None, "audio": audio}}]})

    assert [Media(kind="audio", ref="a1", data="QUJD", text="Moss.", extra={"expires_at": 9})] == answer.parts


def test_detection_looks_at_each_record_alone() -> None:
    found = read(
        [
            {"id": "1", "request": {"messages": [USER]}},
            {"id": "2", "request": {"messages": [USER], "system": []}},
            {"id": "3", "request": {"messages": [USER]}},
        ]
    )

    assert [["openai", "claude", "openai"]] == [[request.api for request in c.requests] for c in found]


# Which files are traces.

TRACE = {"id": "x", "request": {"messages": [USER]}, "response": None}


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(TRACE),
        json.dumps(TRACE, indent=2),
        json.dumps([TRACE]),
        json.dumps([TRACE], indent=2),
        f"{json.dumps(TRACE)}\n{json.dumps(TRACE)}\n",
        f"// a comment\n{json.dumps(TRACE, indent=2)}",
        json.dumps({"request": {"messages": []}}),
        json.dumps({"request": {}, "response": {"stream": True, "sse_lines": []}}),
        json.dumps({"id": "bad"}) + "\n" + json.dumps(TRACE),
        json.dumps({"request": {"model": "x", "tools": [CLAUDE_TOOL] * 3000, "messages": [USER]}}),
        json.dumps([{"request": {"system": "x" * 70_000, "messages": [USER]}}]),
        json.dumps({"request": {"tools": [{"input_schema": "x" * 70_000}], "messages": [USER]}}, indent=1),
        # The rules' own examples are indented so that their last messages look like records.
        '{\n  "request": {\n    "messages": [\n      {"role": "tool", "content": "4"}\n    ]\n  }\n}',
    ],
)
def test_traces_are_claimed(data: str) -> None:
    assert api_trace.sniff(Peek(Bytes(data.encode()))) == "auto"


@pytest.mark.parametrize(
    "record",
    [
        {"request": "text"},
        {"request": {"input": "Hello"}},
        {"request": {"contents": []}},
        {"messages": [USER]},
        {"request": {"messages": {"role": "user"}}},
        {"request": {"body": {"messages": [USER]}}},
        {"request": {"headers": {}, "padding": "x" * 70_000, "messages": [USER]}},
        {"request": {"input": "x", "padding": "x" * 70_000}},
        {"title": "x", "request": {"model": "x", "padding": "x" * 70_000}},
        {"log": {"entries": [TRACE]}},
        {"interactions": [TRACE]},
        {**TRACE, "call_type": "completion", "custom_llm_provider": "openai"},
        {**TRACE, "CorrelationId": "1"},
        {**TRACE, "custom_id": "1"},
        {"requests": [TRACE], "responderUsername": "x"},
        {"custom_id": "1", "body": {"messages": [USER]}},
    ],
)
def test_other_files_are_not_claimed(record: Raw) -> None:
    assert api_trace.sniff(Peek(Bytes(json.dumps(record).encode()))) is None


def body_of(api: str) -> Raw:
    """A whole answer, by each API."""
    bodies: dict[str, Raw] = {
        "openai": {"id": "c", "object": "chat.completion", "choices": [{"message": {"content": "x"}}]},
        "claude": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": None},
        "responses": {"id": "resp_1", "object": "response", "output": []},
        "gemini": {"candidates": [{"content": {"parts": [{"text": "x"}]}}], "usageMetadata": {}},
    }
    return bodies[api]


def event_of(api: str) -> Raw:
    """An event or chunk of an answer, by each API."""
    bodies: dict[str, Raw] = {
        "openai": {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "x"}}]},
        "claude": {"type": "message_start", "message": {"id": "msg_1"}},
        "responses": {"type": "response.created", "response": {"id": "resp_1"}},
        "gemini": {"candidates": [{"content": {"parts": [{"text": "x"}]}}], "modelVersion": "gemini-3"},
    }
    return bodies[api]


def request_of(api: str) -> Raw:
    """A request, by each API, with something that only a request says."""
    bodies: dict[str, Raw] = {
        "openai": {"model": "gpt-5", "messages": [USER], "temperature": 0},
        "claude": {"model": "claude", "max_tokens": 9, "messages": [USER], "system": "x"},
        "responses": {"model": "gpt-5", "input": "Hello", "store": False},
        "gemini": {**CONTENTS, "generationConfig": {}},
    }
    return bodies[api]


APIS = ["openai", "claude", "responses", "gemini"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("make", [body_of, event_of, request_of])
def test_bare_bodies_are_claimed_and_distinguished(api: str, make: Callable[[str], Raw]) -> None:
    body = make(api)
    for data in (
        json.dumps(body),
        json.dumps(body, indent=1),
        json.dumps([body]),
        json.dumps(body) + "\n" * 2,
    ):
        source = Bytes(data.encode())
        assert api_trace.sniff(Peek(source)) == "auto"
        (conversation,) = api_trace.read(source, "auto", Notes())
        assert isinstance(conversation, Conversation)
        # Of a plain request nothing tells whether it is Claude's, as the rules of the format have it.
        told = "openai" if (api, make) == ("claude", request_of) else api
        assert [told] == [request.api for request in conversation.requests]


@pytest.mark.parametrize("api", APIS)
def test_the_text_of_a_stream_is_claimed(api: str) -> None:
    for text in ("data: {}\n\n", "data:{}\r\n\r\n", ": hello\n\nevent: x\ndata: {}\n\ndata: [DONE]\n"):
        source = Bytes(text.replace("{}", json.dumps(event_of(api))).encode(), "a.sse")
        assert api_trace.sniff(Peek(source)) == "auto"
        assert len(list(api_trace.read(source, "auto", Notes()))) == 1


ORDERED = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [USER]}}
LOOKALIKES: dict[str, Any] = {
    "examples to train with": {"messages": [USER, {"role": "assistant", "content": "x"}]},
    "examples with tools": {"messages": [USER], "tools": [OPENAI_TOOL], "parallel_tool_calls": False},
    "a chat that an app has kept": {"model": "gpt-5", "messages": [USER]},
    "a chat with a title": {"model": "gpt-5", "messages": [USER], "temperature": 1, "title": "x"},
    "a chat with a time": {"model": "gpt-5", "messages": [USER], "temperature": 1, "created_at": 1},
    "choices to prefer": {"messages": [USER], "chosen": "x", "rejected": "y", "temperature": 1},
    "messages of no roles": {"model": "x", "temperature": 1, "messages": ["x"]},
    "contents to train with": {**CONTENTS, "systemInstruction": {"parts": []}},
    "contents that the model ends": {
        "contents": [*CONTENTS["contents"], {"role": "model", "parts": [{"text": "x"}]}],
        "generationConfig": {},
    },
    "a text to embed": {"model": "x", "input": "x", "encoding_format": "float"},
    "a text to judge": {"model": "x", "input": "x"},
    "a text to speak": {"model": "x", "input": "x", "voice": "y", "speed": 1, "instructions": "z"},
    "an order of embeddings": {**ORDERED, "url": "/v1/embeddings"},
    "an order of another kind": {"custom_id": "1", "body": {"messages": [USER]}},
    "a list of models": {"object": "list", "data": []},
    "a batch itself": {"id": "batch_1", "object": "batch", "status": "completed"},
    "an error": {"error": {"message": "x", "type": "invalid_request_error"}},
    "a session's line": {"type": "message", "id": "1", "message": {"role": "user", "content": "x"}},
    "a session's message": {"type": "message", "role": "user", "content": [{"type": "input_text"}]},
    "another event": {"type": "response_item", "payload": {}},
    "elections": {"candidates": [{"name": "x"}], "usageMetadata": {}},
    "completions of text": {"object": "text_completion", "choices": [{"text": "x"}]},
}


@pytest.mark.parametrize("value", LOOKALIKES.values(), ids=LOOKALIKES.keys())
def test_lookalikes_are_not_claimed(value: Any) -> None:
    for data in (json.dumps(value), json.dumps([value, value]), f"data: {json.dumps(value)}\n\n"):
        assert api_trace.sniff(Peek(Bytes(data.encode()))) is None


def test_what_is_not_claimed_can_be_read_if_it_is_asked_for() -> None:
    (conversation,) = read([{"messages": [USER, {"role": "assistant", "content": "x"}]}])

    assert ["user", "assistant"] == [message.role for message in tree.messages(conversation)]


@pytest.mark.parametrize(
    "line",
    [
        ORDERED,
        {**ORDERED, "url": "/v1/responses", "body": INPUT},
        {"id": "r", "custom_id": "1", "response": {"status_code": 200, "body": {}}, "error": None},
        {"id": "r", "custom_id": "1", "response": None, "error": {"code": "batch_expired"}},
        {"custom_id": "1", "params": {"messages": [USER]}},
        {"custom_id": "1", "result": {"type": "succeeded", "message": {}}},
        {"key": "1", "request": CONTENTS},
        {"key": "1", "response": {"candidates": []}},
    ],
)
def test_lines_of_batches_are_claimed(line: Raw) -> None:
    assert api_trace.sniff(Peek(Bytes(json.dumps(line).encode()))) == "auto"


def test_calls_of_a_batch_that_are_no_chats_are_named() -> None:
    notes = Notes()
    found = read([ORDERED, {**ORDERED, "custom_id": "2", "url": "/v1/embeddings"}], notes=notes)

    assert ["1"] == [conversation.id for conversation in found]
    assert ["[1]: bad-record: a call of /v1/embeddings, which is no chat"] == [
        str(note) for note in notes.collected
    ]


@given(st.permutations(range(6)))
def test_a_batch_is_joined_in_any_order(order: list[int]) -> None:
    orders = [
        {**ORDERED, "custom_id": f"{n}", "body": {"messages": [{"role": "user", "content": f"{n}?"}]}}
        for n in range(3)
    ]
    results = [
        {
            "custom_id": f"{n}",
            "response": {"status_code": 200, "body": {"choices": [{"message": {"content": f"{n}!"}}]}},
        }
        for n in range(3)
    ]
    found = read([*orders, *results][place] for place in order)

    assert {(f"{n}", f"{n}?", f"{n}!") for n in range(3)} == {
        (conversation.id, *(tree.plain_text(message) for message in tree.messages(conversation)))
        for conversation in found
    }


def test_bodies_that_take_turns_belong_together() -> None:
    answer = {"choices": [{"message": {"content": "x"}}]}
    request = {"messages": [USER]}
    turns = [request, answer, {"messages": [{"role": "user", "content": "y"}]}, answer]

    assert [2, 2] == [len(conversation.timeline) for conversation in read(turns)]
    # Two in a row: nothing tells which belong together, also not later.
    assert [1, 1, 1] == [len(c.timeline) for c in read([request, turns[2], answer])]
    assert [1, 1, 1, 1] == [len(c.timeline) for c in read([answer, answer, turns[2], answer])]


# How calls become dialogues.


def told(message: Message) -> Any:
    """Who says what in a message of the model."""
    role = message.extra.get("role", message.role)
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    calls = [(part.call_id, part.name, part.input) for part in message.parts if isinstance(part, ToolCall)]
    results = [(part.call_id, part.output) for part in message.parts if isinstance(part, ToolResult)]
    return role, texts, thoughts, calls, results


def sent(raw: Raw) -> Any:
    """Who says what in a message as it was sent."""
    if "parts" in raw:
        return sent_to_gemini(raw["role"], raw["parts"])
    if "type" in raw:
        return sent_as_item(raw)
    content = raw.get("content")
    if raw["role"] == "tool":
        return "tool", [], [], [], [(raw["tool_call_id"], content)]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    texts = [part["text"] for part in parts if part["type"] == "text" and part["text"]]
    thoughts = [part["thinking"] for part in parts if part["type"] == "thinking"]
    calls = [(part["id"], part["name"], part["input"]) for part in parts if part["type"] == "tool_use"]
    calls += [
        (c["id"], c["function"]["name"], c["function"]["arguments"]) for c in raw.get("tool_calls") or []
    ]
    results = [(part["tool_use_id"], part["content"]) for part in parts if part["type"] == "tool_result"]
    return raw["role"], texts, thoughts, calls, results


def sent_to_gemini(role: str, parts: list[Raw]) -> Any:
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    thoughts = [part["text"] for part in parts if part.get("thought")]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return (
        "assistant" if role == "model" else role,
        texts,
        thoughts,
        [(call["id"], call["name"], call["args"]) for call in calls],
        [(result["id"], result["response"]["output"]) for result in results],
    )


def sent_as_item(raw: Raw) -> Any:
    match raw["type"]:
        case "message":
            content = raw["content"]
            texts = [content] if isinstance(content, str) else [part["text"] for part in content]
            return raw["role"], texts, [], [], []
        case "reasoning":
            return "assistant", [], [None], [], []
        case "function_call":
            return "assistant", [], [], [(raw["call_id"], raw["name"], raw["arguments"])], []
    return "tool", [], [], [], [(raw["call_id"], raw["output"])]


def chain_of(conversation: Conversation, request: Request) -> list[tree.Entry]:
    """The path that a request sent: from its first message on."""
    chain = tree.chain_to(conversation.timeline, request.prompt_id or "")
    places = [place for place, entry in enumerate(chain) if entry.id == request.since_id]
    assert request.since_id is None or places
    return chain[places[0] :] if places else chain


def requests_by_id(found: list[Conversation]) -> dict[str | None, list[Any]]:
    """What each request sent, as the model has it."""
    return {
        request.id: [
            told(message)
            for message in (
                *(tree.chain_to(conversation.timeline, system)[-1] for system in request.system),
                *chain_of(conversation, request),
            )
            if isinstance(message, Message)
        ]
        for conversation in found
        for request in conversation.requests
    }


def assert_sound(conversation: Conversation) -> None:
    """Ids are unique, parents come first, everything a request refers to is there."""
    ids = [entry.id for entry in conversation.timeline]
    seen: set[str] = set()
    for entry in conversation.timeline:
        assert entry.parent_id is None or entry.parent_id in seen
        seen.add(entry.id)
    assert len(ids) == len(seen)
    assert conversation.head_id is None or conversation.head_id in seen
    for request in conversation.requests:
        assert seen >= {*request.system, *request.response_ids}
        assert request.prompt_id is None or request.prompt_id in seen
        assert all(0 <= place < len(conversation.tools) for place in request.tools)


class OpenAI:
    """Messages of one dialogue in the chat dialect; the echo of an answer may look a little different."""

    @staticmethod
    def answer(text: str, *, calls: bool) -> Raw:
        call = {"id": text, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        if calls:
            return {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
        return {"role": "assistant", "content": text, "annotations": []}

    @staticmethod
    def echo(answer: Raw, *, plain: bool) -> Raw:
        if not plain:
            return answer
        kept = {key: value for key, value in answer.items() if key in {"role", "content", "tool_calls"}}
        return dict(reversed({**kept, "content": kept["content"] or ""}.items()))

    @staticmethod
    def next(answer: Raw, text: str) -> Raw:
        calls = answer.get("tool_calls")
        if calls:
            return {"role": "tool", "tool_call_id": calls[0]["id"], "content": text}
        return {"role": "user", "content": text}

    @staticmethod
    def body(system: str | None, messages: list[Raw]) -> Raw:
        return {"messages": [*([{"role": "system", "content": system}] if system else []), *messages]}

    @staticmethod
    def response(answer: Raw) -> Raw:
        return {"choices": [{"message": answer}]}


class Claude:
    """The same in blocks; cache marks move, and one text may be a string."""

    @staticmethod
    def answer(text: str, *, calls: bool) -> Raw:
        call = {"type": "tool_use", "id": text, "name": "f", "input": {}}
        return {"role": "assistant", "content": [call] if calls else [{"type": "text", "text": text}]}

    @staticmethod
    def echo(answer: Raw, *, plain: bool) -> Raw:
        block = answer["content"][0]
        if plain and block["type"] == "text":
            return {"role": "assistant", "content": block["text"]}
        return {"role": "assistant", "content": [{**block, **MARK}]} if plain else answer

    @staticmethod
    def next(answer: Raw, text: str) -> Raw:
        block = answer["content"][0]
        if block["type"] == "tool_use":
            return {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": block["id"], "content": text}],
            }
        return {"role": "user", "content": text}

    @staticmethod
    def body(system: str | None, messages: list[Raw]) -> Raw:
        return {"messages": messages, "system": [{"type": "text", "text": system}] if system else []}

    @staticmethod
    def response(answer: Raw) -> Raw:
        return {"content": answer["content"]}


class Responses:
    """The same in items; ids and states, and the parts of a text, may be left out."""

    @staticmethod
    def answer(text: str, *, calls: bool) -> Raw:
        if calls:
            return {"type": "function_call", "id": "fc", "call_id": text, "name": "f", "arguments": "{}"}
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return {
            "type": "message",
            "id": "msg",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }

    @staticmethod
    def echo(answer: Raw, *, plain: bool) -> Raw:
        if not plain:
            return answer
        kept = {key: value for key, value in answer.items() if key not in {"id", "status"}}
        return kept if "content" not in kept else {**kept, "content": kept["content"][0]["text"]}

    @staticmethod
    def next(answer: Raw, text: str) -> Raw:
        if answer["type"] == "function_call":
            return {"type": "function_call_output", "call_id": answer["call_id"], "output": text}
        return {"type": "message", "role": "user", "content": text}

    @staticmethod
    def body(system: str | None, messages: list[Raw]) -> Raw:
        return {"input": messages, "instructions": system}

    @staticmethod
    def response(answer: Raw) -> Raw:
        return {"object": "response", "output": [answer]}


class Gemini:
    """The same in parts; signatures come and go."""

    @staticmethod
    def answer(text: str, *, calls: bool) -> Raw:
        call = {"functionCall": {"id": text, "name": "f", "args": {"a": 1}}, "thoughtSignature": "s"}
        return {"role": "model", "parts": [call] if calls else [{"text": text}]}

    @staticmethod
    def echo(answer: Raw, *, plain: bool) -> Raw:
        part = answer["parts"][0]
        if not plain:
            return answer
        if "text" in part:
            return {"role": "model", "parts": [{**part, "thoughtSignature": "t"}]}
        return {"role": "model", "parts": [{"functionCall": part["functionCall"]}]}

    @staticmethod
    def next(answer: Raw, text: str) -> Raw:
        call = answer["parts"][0].get("functionCall")
        if call is None:
            return {"role": "user", "parts": [{"text": text}]}
        result = {"id": call["id"], "name": "f", "response": {"output": text}}
        return {"role": "user", "parts": [{"functionResponse": result}]}

    @staticmethod
    def body(system: str | None, messages: list[Raw]) -> Raw:
        return {
            "contents": messages,
            **({"systemInstruction": {"parts": [{"text": system}]}} if system else {}),
        }

    @staticmethod
    def response(answer: Raw) -> Raw:
        return {"candidates": [{"content": answer}]}


FIRST: dict[Any, Callable[[str], Raw]] = {
    OpenAI: lambda text: {"role": "user", "content": text},
    Claude: lambda text: {"role": "user", "content": text},
    Responses: lambda text: {"type": "message", "role": "user", "content": text},
    Gemini: lambda text: {"role": "user", "parts": [{"text": text}]},
}


@st.composite
def dialogues(draw: st.DrawFn) -> list[list[Raw]]:
    """The records of a few dialogues; each request repeats what was said before it."""
    found: list[list[Raw]] = []
    for number in range(draw(st.integers(1, 4))):
        dialect: Any = draw(st.sampled_from([OpenAI, Claude, Responses, Gemini]))
        system = draw(st.sampled_from([None, "Be kind.", "Be brief."]))
        messages: list[Raw] = [FIRST[dialect](f"dialogue {number}")]
        records: list[Raw] = []
        for turn in range(draw(st.integers(1, 5))):
            answer = dialect.answer(f"{turn}", calls=draw(st.booleans()))
            record = {"id": f"{number}-{turn}", "request": dialect.body(system, [*messages])}
            if draw(st.booleans()):
                record["response"] = dialect.response(answer)
            records.append(record)
            messages += [
                dialect.echo(answer, plain=draw(st.booleans())),
                dialect.next(answer, f"then {turn}"),
            ]
        found.append(records)
    return found


@given(dialogues(), st.randoms(use_true_random=False))
def test_interleaved_dialogues_come_apart_again(dialogues: list[list[Raw]], random: Any) -> None:
    waiting = [[*records] for records in dialogues]
    records: list[Raw] = []
    while any(waiting):
        records.append(random.choice([left for left in waiting if left]).pop(0))
    found = read(records)

    assert {frozenset(record["id"] for record in records) for records in dialogues} == {
        frozenset(request.id for request in conversation.requests) for conversation in found
    }
    assert len(dialogues) == len(found)
    for conversation in found:
        assert_sound(conversation)
    assert expected_requests(records) == requests_by_id(found)


def expected_requests(records: list[Raw]) -> dict[str | None, list[Any]]:
    def all_of(body: Raw) -> list[Raw]:
        system = body.get("system") or body.get("instructions")
        told = [{"role": "system", "content": system}] if system else []
        if "systemInstruction" in body:
            told = [{"role": "system", **body["systemInstruction"]}]
        return [*told, *(body.get("messages") or body.get("input") or body.get("contents") or [])]

    return {record["id"]: [sent(raw) for raw in all_of(record["request"])] for record in records}


@given(dialogues())
def test_each_message_is_stored_once(dialogues: list[list[Raw]]) -> None:
    """One user or tool message per request, one answer per turn that has one (or is repeated later)."""
    for conversation, records in zip(read([r for d in dialogues for r in d]), dialogues, strict=True):
        answers = sum("response" in record for record in records[:-1]) + ("response" in records[-1])
        repeated = sum("response" not in record for record in records[:-1])
        systems = len({tuple(request.system) for request in conversation.requests if request.system})
        assert systems + len(records) + answers + repeated == len(conversation.timeline)


def naive(records: list[Raw]) -> list[list[int]]:
    """The rule in plain words: the longest whole earlier prompt that a prompt begins with, the latest."""
    homes: list[int] = []
    prompts = [record["request"]["messages"] for record in records]
    count = 0
    for place, prompt in enumerate(prompts):
        begins = [
            (len(earlier), before)
            for before, earlier in enumerate(prompts[:place])
            if earlier and prompt[: len(earlier)] == earlier
        ]
        homes.append(homes[max(begins)[1]] if begins else count)
        count += not begins
    return [[place for place, home in enumerate(homes) if home == one] for one in range(count)]


few = st.sampled_from("abc").map(lambda text: {"role": "user", "content": text})
prompts = st.lists(few, max_size=4)


@given(st.lists(st.tuples(prompts, st.none() | st.sampled_from("abc")), max_size=12))
def test_stitching_is_what_its_rule_says(calls: list[tuple[list[Raw], str | None]]) -> None:
    records: list[Raw] = [
        {
            "id": f"{place}",
            "request": {"messages": prompt},
            # An answer may look like what a user says, so that places collide as often as they can.
            **(
                {}
                if reply is None
                else {"response": {"choices": [{"message": {"role": "user", "content": reply}}]}}
            ),
        }
        for place, (prompt, reply) in enumerate(calls)
    ]
    found = read(records)

    assert naive(records) == [[request.index for request in c.requests] for c in found]
    assert expected_requests(records) == requests_by_id(found)
    assert [place for place, (_, reply) in enumerate(calls) if reply] == sorted(
        request.index for c in found for request in c.requests if request.response_ids
    )
    for conversation in found:
        assert_sound(conversation)


def windows(size: int, turns: int, answered: list[bool]) -> list[Raw]:
    """The records of a client that sends no more than so many messages."""
    messages: list[Raw] = []
    records: list[Raw] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"question {turn}"})
        answer = {"role": "assistant", "content": f"answer {turn}"}
        record: Raw = {"id": f"{turn}", "request": {"messages": messages[-size:]}}
        if answered[turn]:
            record["response"] = OpenAI.response(answer)
        records.append(record)
        messages.append(answer)
    return records


@given(
    st.integers(8, 14), st.lists(st.booleans(), min_size=1, max_size=20), st.randoms(use_true_random=False)
)
def test_a_client_may_leave_out_the_oldest_messages(size: int, answered: list[bool], random: Any) -> None:
    records = windows(size, len(answered), answered)
    waiting = [
        records,
        [{**record, "id": f"b{record['id']}"} for record in dialogue_of("other", len(answered))],
    ]
    mixed: list[Raw] = []
    left = [[*some] for some in waiting]
    while any(left):
        mixed.append(random.choice([some for some in left if some]).pop(0))
    found = read(mixed)

    assert {frozenset(record["id"] for record in some) for some in waiting} == {
        frozenset(request.id for request in conversation.requests) for conversation in found
    }
    assert expected_requests(mixed) == requests_by_id(found)
    for conversation in found:
        assert_sound(conversation)
        texts = [tree.plain_text(message) for message in tree.messages(conversation)]
        assert len(texts) == len(set(texts))


def dialogue_of(name: str, turns: int) -> list[Raw]:
    messages: list[Raw] = []
    records: list[Raw] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{name} {turn}"})
        records.append({"id": f"{turn}", "request": {"messages": [*messages]}})
        messages.append({"role": "assistant", "content": f"{name} answer {turn}"})
    return records


LONG: list[Raw] = [{"role": "user", "content": f"{number}"} for number in range(12)]


@pytest.mark.parametrize(
    ("again", "dialogues"),
    [
        pytest.param(LONG[3:], 1, id="only what is left"),
        pytest.param([*LONG[3:], USER], 1, id="and more"),
        pytest.param([*LONG[6:], *LONG[:6]], 1, id="half of it"),
        pytest.param([*LONG[7:], USER], 2, id="too little to know it by"),
        pytest.param([*LONG[3:11], USER], 2, id="not up to the end"),
        pytest.param([*LONG[3:6], USER, *LONG[7:]], 2, id="another message"),
        pytest.param([*LONG[6:], *LONG[:6], USER], 2, id="less than half"),
        pytest.param([USER, *LONG[3:]], 2, id="a message before it"),
    ],
)
def test_the_end_of_a_dialogue_is_known_if_nothing_else_can_be_meant(
    again: list[Raw], dialogues: int
) -> None:
    records = [
        {"id": f"{place}", "request": {"messages": messages}} for place, messages in enumerate([LONG, again])
    ]
    found = read(records)

    assert dialogues == len(found)
    assert expected_requests(records) == requests_by_id(found)


def test_work_grows_with_the_number_of_messages() -> None:
    """A thousand calls of one dialogue: two thousand messages, not a million."""
    messages: list[Raw] = []
    records: list[Raw] = []
    for turn in range(300):
        messages.append({"role": "user", "content": f"question {turn}"})
        answer = {"role": "assistant", "content": f"answer {turn}"}
        records.append(
            {"id": f"{turn}", "request": {"messages": [*messages]}, "response": OpenAI.response(answer)}
        )
        messages.append(answer)
    (conversation,) = read(records)

    assert len(conversation.timeline) == 600
    assert len(tree.chain_to(conversation.timeline, conversation.requests[-1].prompt_id or "")) == 599


SAME = [
    pytest.param({"content": None}, {"content": ""}, id="null and empty"),
    pytest.param({}, {"content": None}, id="absent and null"),
    pytest.param({"content": "x"}, {"content": "x", "refusal": None, "annotations": []}, id="empty fields"),
    pytest.param({"content": "x"}, {"content": [{"type": "text", "text": "x"}]}, id="one text"),
    pytest.param({"content": "x", "reasoning_content": "hm"}, {"content": "x"}, id="reasoning dropped"),
    pytest.param(
        {"tool_calls": [TOOL_CALL]}, {"tool_calls": [{**TOOL_CALL, "index": 0}]}, id="index of a call"
    ),
    pytest.param(
        {"tool_calls": [TOOL_CALL]}, {"tool_calls": [dict(reversed(TOOL_CALL.items()))]}, id="key order"
    ),
]
DIFFERENT = [
    pytest.param({"content": "x"}, {"content": "y"}, id="text"),
    pytest.param({"content": "x"}, {"content": "x", "name": "ada"}, id="name"),
    pytest.param({"content": "x"}, {"content": "x", "refusal": "no"}, id="refusal"),
    pytest.param({"content": "x"}, {"content": "x", "tool_calls": [TOOL_CALL]}, id="calls"),
    pytest.param({"content": ""}, {"content": []}, id="no text and no part"),
    pytest.param(
        {"content": "x", "role": "tool"},
        {"content": [{"type": "text", "text": "x"}], "role": "tool"},
        id="result",
    ),
    pytest.param({"tool_calls": [TOOL_CALL]}, {"tool_calls": [{**TOOL_CALL, "id": "d"}]}, id="id of a call"),
    pytest.param({"content": "x", "role": "system"}, {"content": "x", "role": "developer"}, id="role"),
]


def second(first: Raw, again: Raw) -> tuple[Conversation, Message, Message]:
    """The second message of a request, and what the next request has in its place."""
    answers = [{"role": "assistant", **first}, {"role": "assistant", **again}]
    prompts = [[USER], *([USER, answer, {"role": "user", "content": "end"}] for answer in answers)]
    (found,) = read(
        {"id": f"{place}", "request": {"messages": prompt}} for place, prompt in enumerate(prompts)
    )
    one, other = (tree.chain_to(found.timeline, request.prompt_id or "")[1] for request in found.requests[1:])
    assert isinstance(one, Message)
    assert isinstance(other, Message)
    return found, one, other


CONVERSED_WITH = {
    "modelId": "some.model",
    "system": [{"text": "Be kind."}],
    "inferenceConfig": {"maxTokens": 9},
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "tide", "inputSchema": {"json": {"type": "object"}}}}],
        "toolChoice": {"auto": {}},
    },
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "When?"},
                {"document": {"format": "txt", "name": "notes", "source": {"text": "Lyme"}}},
                {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
                {"cachePoint": {"type": "default"}},
            ],
        }
    ],
}
CONVERSED = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
                {"text": "I look."},
                {"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"port": "Lyme"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12},
    "metrics": {"latencyMs": 3},
}
CONVERSED_AS_EVENTS = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "H"}}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "m."}}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"signature": "s"}}, "contentBlockIndex": 0}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"text": "I "}, "contentBlockIndex": 1}},
    {"contentBlockDelta": {"delta": {"text": "look."}, "contentBlockIndex": 1}},
    {
        "contentBlockStart": {
            "start": {"toolUse": {"toolUseId": "t1", "name": "tide"}},
            "contentBlockIndex": 2,
        }
    },
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"port":'}}, "contentBlockIndex": 2}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '"Lyme"}'}}, "contentBlockIndex": 2}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": CONVERSED["usage"], "metrics": CONVERSED["metrics"]}},
]
ANSWERED = {
    "toolResult": {"toolUseId": "t1", "content": [{"text": "At noon."}], "status": "error"},
}


@pytest.mark.parametrize(
    "delta",
    [{"text": "a", "b": 1}, {"reasoningContent": {"text": "a", "b": 1}}],
)
def test_a_piece_of_a_converse_stream_that_says_more_is_preserved(delta: Raw) -> None:
    odd = {"contentBlockDelta": {"delta": delta, "contentBlockIndex": 1}}
    events = [*CONVERSED_AS_EVENTS[:1], odd, *CONVERSED_AS_EVENTS[1:]]
    data = json.dumps({"id": "a", "request": CONVERSED_WITH, "response": events}).encode()
    (item,) = api_trace.read(Bytes(data), "auto", Notes())
    assert json.dumps(odd) in json.dumps(msgspec.to_builtins(item))


def going_on() -> Raw:
    """The next request: what is marked for the cache has moved."""
    asked = CONVERSED_WITH["messages"][0]["content"][:-1]  # type: ignore[index]
    answer = CONVERSED["output"]["message"]  # type: ignore[index]
    messages = [{"role": "user", "content": asked}, answer, {"role": "user", "content": [ANSWERED]}]
    return {**CONVERSED_WITH, "messages": messages}


@pytest.mark.parametrize(
    "records",
    [
        [
            {"id": "a", "request": CONVERSED_WITH, "response": CONVERSED},
            {"id": "b", "request": going_on(), "response": CONVERSED},
        ],
        [
            {"id": "a", "request": CONVERSED_WITH, "response": CONVERSED_AS_EVENTS},
            {"id": "b", "request": going_on(), "response": CONVERSED_AS_EVENTS},
        ],
        [CONVERSED_WITH, CONVERSED, going_on(), CONVERSED],
        [CONVERSED_WITH, *CONVERSED_AS_EVENTS, going_on(), *CONVERSED_AS_EVENTS],
    ],
)
def test_calls_of_the_converse_api(records: list[Raw]) -> None:
    data = "\n".join(map(json.dumps, records)).encode()
    assert api_trace.sniff(Peek(Bytes(data))) == "auto"
    notes = Notes()
    (item,) = api_trace.read(Bytes(data), "auto", notes)
    assert isinstance(item, Conversation)
    system, asked, reply, result, last = tree.messages(item)

    assert [Text(text="Be kind.")] == system.parts
    assert [
        Text(text="When?"),
        Media(kind="document", mime="text/plain", name="notes", text="Lyme", extra={"format": "txt"}),
        Media(kind="image", mime="image/png", data="AAAA", extra={"format": "png"}),
        Other(data={"cachePoint": {"type": "default"}}, name="cachePoint"),
    ] == asked.parts
    assert (
        [
            Reasoning(text="Hm.", signature="s"),
            Text(text="I look."),
            ToolCall(name="tide", call_id="t1", input={"port": "Lyme"}),
        ]
        == reply.parts
        == last.parts
    )
    failed = ToolResult(call_id="t1", output="At noon.", is_error=True, extra={"status": "error"})
    assert [failed] == result.parts
    assert (reply.stop_reason, reply.model) == ("tool_use", "some.model")
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output, reply.usage.total) == (5, 7, 12)
    assert [Tool(name="tide", parameters={"type": "object"})] == item.tools
    first = item.requests[0]
    assert (first.api, first.model, first.tools) == ("converse", "some.model", [0])
    rest = {"inferenceConfig": {"maxTokens": 9}, "toolConfig": {"toolChoice": {"auto": {}}}}
    assert {"request": rest, "response": {"metrics": {"latencyMs": 3}}} == first.extra
    assert {Kind.GUESSED_LINK.label, Kind.MISSING_ID.label} >= {note.kind for note in notes.collected}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {
                "citationsContent": {
                    "content": [{"text": "At "}, {"text": "noon."}],
                    "citations": [{"title": "Almanac", "sourceContent": [{"text": "12:00"}], "location": {}}],
                }
            },
            Text(
                text="At noon.",
                citations=[Citation(title="Almanac", text="12:00", extra={"location": {}})],
            ),
        ),
        (
            {"guardContent": {"text": {"text": "Hi", "qualifiers": ["query"]}}},
            Text(text="Hi", extra={"guardContent": {"text": {"qualifiers": ["query"]}}}),
        ),
        ({"citationsContent": {"content": [1]}}, None),
        ({"guardContent": {"image": {}}}, None),
        ({"toolUse": {"name": "a"}, "more": 1}, None),
        ({"reasoningContent": {"redactedContent": "AA"}}, Reasoning(encrypted="AA")),
    ],
)
def test_blocks_of_the_converse_api(block: Raw, part: Any) -> None:
    asked = {**CONVERSED_WITH, "messages": [{"role": "user", "content": [block]}]}
    *_, message = tree.messages(only({"id": "r", "request": asked}))

    assert [part or Other(data=block, name=next(iter(block)))] == message.parts
    assert [block] == message.native


def test_a_converse_stream_that_fails_states_why() -> None:
    fault = {"throttlingException": {"message": "Too many."}}
    events = [*CONVERSED_AS_EVENTS[:2], fault]
    conversation = only({"id": "r", "request": CONVERSED_WITH, "response": events})
    *_, reply = tree.messages(conversation)

    assert [Reasoning(text="H")] == reply.parts
    assert conversation.requests[0].error == fault


def test_blocks_with_types_are_not_those_of_the_converse_api() -> None:
    asked = {"modelId": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}

    assert only({"id": "r", "request": asked}).requests[0].api == "openai"


def local(*, done: bool = False, **said: Any) -> Raw:
    about = {"model": "llama3", "created_at": "2026-01-02T03:04:05.5Z", "done": done}
    return {**about, "message": {"role": "assistant", **said}}


LOCAL = [
    local(content="", thinking="H"),
    local(content="", thinking="m."),
    local(content="At "),
    local(content="noon."),
    local(content="", tool_calls=[{"function": {"name": "tide", "arguments": {"port": "Lyme"}}}]),
    local(content="", tool_calls=[{"function": {"name": "wind", "arguments": {}}}]),
    {**local(done=True, content=""), "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 7},
]
LOCALLY_ASKED = {"model": "llama3", "messages": [USER], "options": {"num_ctx": 9}}


@pytest.mark.parametrize(
    "records",
    [
        [{"id": "r", "request": LOCALLY_ASKED, "response": {"sse_lines": [*map(json.dumps, LOCAL), "\n"]}}],
        [{"id": "r", "request": LOCALLY_ASKED, "response": LOCAL}],
        [LOCALLY_ASKED, *LOCAL],
    ],
)
def test_an_answer_that_a_model_on_this_machine_streams(records: list[Raw]) -> None:
    data = "\n".join(map(json.dumps, records)).encode()
    assert api_trace.sniff(Peek(Bytes(data))) == "auto"
    notes = Notes()
    (item,) = api_trace.read(Bytes(data), "auto", notes)
    assert isinstance(item, Conversation)
    asked, reply = tree.messages(item)

    assert [Text(text="Hello")] == asked.parts
    assert [
        Reasoning(text="Hm."),
        Text(text="At noon."),
        ToolCall(name="tide", input={"port": "Lyme"}),
        ToolCall(name="wind", input={}),
    ] == reply.parts
    assert reply.usage is not None
    assert (reply.stop_reason, reply.usage.input, reply.usage.output) == ("stop", 5, 7)
    assert {Kind.GUESSED_LINK.label, Kind.MISSING_ID.label} >= {note.kind for note in notes.collected}


def test_a_stream_on_this_machine_that_breaks_off_states_why() -> None:
    lines = [json.dumps(LOCAL[2]), "{", json.dumps({"error": "out of memory"})]
    notes = Notes()
    asked = {"id": "r", "request": LOCALLY_ASKED, "response": {"sse_lines": lines}}
    conversation = only(asked, notes=notes)
    *_, reply = tree.messages(conversation)

    assert [Text(text="At ")] == reply.parts
    assert conversation.requests[0].error == "out of memory"
    assert [Kind.BAD_RECORD.label] == [note.kind for note in notes.collected]


def test_an_answer_of_a_model_on_this_machine() -> None:
    call = {"function": {"name": "tide", "arguments": {"port": "Lyme"}}}
    message = {"role": "assistant", "content": "At noon.", "thinking": "Hm.", "tool_calls": [call]}
    counts = {"prompt_eval_count": 5, "eval_count": 7}
    about = {"model": "llama3", "done": True, "done_reason": "stop", "total_duration": 9}
    notes = Notes()
    conversation = only(
        {"id": "r", "request": {"messages": [USER]}, "response": {"message": message, **about, **counts}},
        notes=notes,
    )
    reply = conversation.timeline[-1]

    assert isinstance(reply, Message)
    assert [
        Reasoning(text="Hm."),
        Text(text="At noon."),
        ToolCall(name="tide", input={"port": "Lyme"}),
    ] == reply.parts
    assert ("llama3", "stop") == (reply.model, reply.stop_reason)
    assert Usage(key="r", input=5, output=7, extra=counts) == reply.usage
    assert {"done": True, "total_duration": 9} == conversation.requests[0].extra["response"]
    assert [] == notes.collected


@pytest.mark.parametrize(
    ("delta", "count"),
    [
        ({"audio": {"data": "QUJD" * 500}}, 20_000),
        ({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Tides. " * 200}]}, 20_000),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Tides."}]}]}, 80_000),
    ],
)
def test_an_answer_that_comes_in_many_pieces_takes_no_time_squared(delta: Raw, count: int) -> None:
    record = {"request": {"messages": []}, "response": sse(*[chunk(delta)] * count)}
    started = time.process_time()
    read([record])

    assert time.process_time() - started < 5


@pytest.mark.parametrize(("first", "again"), SAME)
def test_messages_that_say_the_same_are_one(first: Raw, again: Raw) -> None:
    conversation, one, other = second(first, again)

    assert one.id == other.id
    assert conversation.requests[-1].extra == {}


@pytest.mark.parametrize(("first", "again"), DIFFERENT)
def test_messages_that_differ_are_two(first: Raw, again: Raw) -> None:
    _, one, other = second(first, again)

    assert one.id != other.id
    assert one.parent_id == other.parent_id


def test_what_only_one_request_says_of_a_message_stays_with_it() -> None:
    marked = [{"type": "text", "text": "x", **MARK}]
    conversation, one, other = second(
        {"content": "x"}, {"content": marked, "prefix": True, "reasoning": "hm"}
    )

    assert one.id == other.id
    assert {"messages": {"1": {"prefix": True, "reasoning": "hm", "content": {"0": MARK}}}} == (
        conversation.requests[-1].extra["request"]
    )


# What is counted.


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}, (10, 3, None, None, 13)),
        (
            {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
            (2, 3, 8, None, None),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            (10, 9, None, 5, None),
        ),
        # xAI counts reasoning beside the completion.
        (
            {
                "prompt_tokens": 12,
                "completion_tokens": 1,
                "total_tokens": 303,
                "completion_tokens_details": {"reasoning_tokens": 290},
            },
            (12, 291, None, 290, 303),
        ),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, (6, None, 4, None, None)),
        ({"prompt_tokens": "many", "completion_tokens": -1, "prompt_tokens_details": None}, (None,) * 5),
    ],
)
def test_usage_of_chat_completions(usage: Raw, expected: tuple[int | None, ...]) -> None:
    counted = reply_of({"id": "chatcmpl-1", "choices": [{"message": {"content": "x"}}], "usage": usage}).usage

    assert counted is not None
    assert expected == (counted.input, counted.output, counted.cache_read, counted.reasoning, counted.total)
    assert counted.key == "chatcmpl-1"
    assert counted.extra == usage


@pytest.mark.parametrize(
    "response",
    [
        {
            "choices": [{"message": {"content": "x"}}],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        },
        {
            "object": "response",
            "output": [],
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 5},
                "output_tokens": 3,
                "output_tokens_details": {"reasoning_tokens": 2},
            },
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "x"}],
            "usage": {
                "input_tokens": 1,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 5,
                "output_tokens": 3,
                "output_tokens_details": {"thinking_tokens": 2},
            },
        },
    ],
    ids=["chat", "responses", "claude"],
)
def test_what_was_written_to_the_cache_and_thought_is_counted_apart(response: Raw) -> None:
    request = {"input": "x"} if "object" in response else {"messages": [USER]}
    (counted,) = tree.usages(only({"id": "r", "request": request, "response": response}).timeline)

    assert (counted.input, counted.cache_read, counted.cache_write) == (1, 4, 5)
    assert (counted.output, counted.reasoning) == (3, 2)


@pytest.mark.parametrize(
    "thought",
    [
        # vLLM, mlx-vlm
        {"reasoning": "hm", "reasoning_content": "hm"},
        # LiteLLM, of what OpenRouter answers
        {"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [{"text": "hm"}]},
    ],
)
def test_a_thought_under_two_names_is_one(thought: Raw) -> None:
    reply = reply_of({"choices": [{"message": {"content": "x", **thought}}]})

    assert [part.text for part in reply.parts if isinstance(part, Reasoning)] == ["hm"]
    assert reply.extra == {}


def test_different_reasoning_is_read_twice() -> None:
    reply = reply_of({"choices": [{"message": {"reasoning": "one", "reasoning_content": "two"}}]})

    assert [part.text for part in reply.parts if isinstance(part, Reasoning)] == ["two", "one"]


DRAWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_images_next_to_the_content_are_parts() -> None:
    """What a model drew as OpenRouter gives it, whole and in a stream; what it was shown as Ollama does."""
    drawn = Media(kind="image", mime="image/png", data="iVBORw0KGgo=")
    whole = {"choices": [{"message": {"role": "assistant", "content": "A cat.", "images": [DRAWN]}}]}
    pieces = [
        {"choices": [{"index": 0, "delta": delta}]} for delta in ({"content": "A cat."}, {"images": [DRAWN]})
    ]

    assert reply_of(whole).parts == [Text(text="A cat."), drawn]
    assert reply_of(sse(*pieces)).parts == [Text(text="A cat."), drawn]

    shown = {"role": "user", "content": "What is it?", "images": ["iVBORw0KGgo="]}
    asked, *_ = tree.messages(only({"request": {"messages": [shown]}, "response": whole}))
    assert asked.parts == [Text(text="What is it?"), Media(kind="image", data="iVBORw0KGgo=")]


@pytest.mark.parametrize("odd", [["x", 3], [{"type": "image_url"}, None], "x", [""], [{"url": "x"}]])
def test_odd_pictures_stay(odd: Any) -> None:
    assert reply_of({"choices": [{"message": {"content": "x", "images": odd}}]}).extra == {"images": odd}


@pytest.mark.parametrize("more", [{}, {"action": None}])
def test_a_computer_gets_several_actions_at_once(more: Raw) -> None:
    actions = [{"type": "click", "x": 1, "y": 2}, {"type": "type", "text": "tea"}]
    called = {"type": "computer_call", "call_id": "c", "actions": actions, **more}
    answer = {"id": "resp_1", "object": "response", "output": [called]}
    conversation = only({"id": "r", "request": {"input": "x"}, "response": answer})
    *_, reply = tree.messages(conversation)

    assert reply.parts == [ToolCall(name="computer", call_id="c", input=actions)]


def test_usage_is_known_by_the_request_if_the_response_has_no_id() -> None:
    counted = reply_of({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1}}).usage

    assert counted is not None
    assert counted.key == "r"


def test_usage_of_several_choices_is_counted_once() -> None:
    response = {
        "choices": [{"message": {"content": "x"}}, {"message": {"content": "y"}}],
        "usage": {"prompt_tokens": 1},
    }
    conversation = only({"id": "r", "request": {"messages": [USER]}, "response": response})

    assert len(tree.usages(conversation.timeline)) == 1


def test_usage_of_a_stream_is_the_last_one_stated() -> None:
    start = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 7}
    reply = reply_of(
        sse(
            {"type": "message_start", "message": {"id": "msg", "usage": start}},
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9, "input_tokens": None}},
        )
    )

    assert reply.usage is not None
    assert (5, 9, 7, "msg") == (
        reply.usage.input,
        reply.usage.output,
        reply.usage.cache_read,
        reply.usage.key,
    )


# Streams fold into what the API gives without streaming.


def test_a_stream_of_chunks_is_the_completion() -> None:
    whole = {"role": "assistant", "content": "Hello", "tool_calls": [TOOL_CALL]}
    streamed = sse(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({"tool_calls": [{**TOOL_CALL, "index": 0, "function": {"name": "f", "arguments": "{"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    )

    assert reply_of({"choices": [{"message": whole, "finish_reason": "tool_calls"}]}) == reply_of(streamed)


def test_a_stream_of_events_is_the_message() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}},
    ]
    deltas = [
        [
            ("thinking_delta", "thinking", "H"),
            ("thinking_delta", "thinking", "m."),
            ("signature_delta", "signature", "s"),
        ],
        [("text_delta", "text", "Hel"), ("text_delta", "text", "lo")],
        [("input_json_delta", "partial_json", '{"a"'), ("input_json_delta", "partial_json", ": [1]}")],
    ]
    begun = [
        {"type": "thinking", "thinking": ""},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    ]
    events: list[Raw] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for place, block in enumerate(begun):
        events.append({"type": "content_block_start", "index": place, "content_block": block})
        for kind, field, value in deltas[place]:
            delta = {"type": kind, field: value}
            events.append({"type": "content_block_delta", "index": place, "delta": delta})
        events.append({"type": "content_block_stop", "index": place})
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})

    assert reply_of({"id": "m", "content": content, "stop_reason": "tool_use"}) == reply_of(sse(*events))


# Whatever is in a record, reading goes on.

scalars = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "{}", "data: {}", "tool"])
)
words = st.sampled_from(
    [
        *(
            "role",
            "content",
            "type",
            "text",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "id",
            "index",
            "usage",
        ),
        *("choices", "message", "delta", "error", "input", "system", "messages", "tools", "content_block"),
        *("sse_lines", "thinking", "annotations", "reasoning_details", "audio", "image_url", "cache_control"),
    ]
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)
odd_records = st.fixed_dictionaries(
    {
        "request": st.dictionaries(words, anything, max_size=4)
        | st.fixed_dictionaries({"messages": st.lists(anything)})
    },
    optional={
        "id": anything,
        "timestamp": anything,
        "duration_ms": anything,
        "error": anything,
        "response": anything,
    },
)
events = st.dictionaries(words, anything, max_size=3).flatmap(
    lambda event: st.sampled_from(
        ["message_start", "content_block_start", "content_block_delta", "message_delta", "error", "ping", "?"]
    ).map(lambda kind: {**event, "type": kind})
)
chunks = st.dictionaries(words, anything, max_size=2).flatmap(
    lambda event: st.lists(anything | st.fixed_dictionaries({"delta": anything}), max_size=2).map(
        lambda choices: {**event, "choices": choices}
    )
)


@given(st.lists(odd_records | anything, max_size=4), st.sampled_from(["auto", "openai", "claude"]))
def test_no_record_breaks_the_reading(records: list[Any], version: str) -> None:
    usable = [
        record for record in records if isinstance(record, dict) and isinstance(record.get("request"), dict)
    ]
    found = read(records, version)

    indexes = sorted(request.index for c in found for request in c.requests)

    # What has no request may still look like a body.
    assert list(range(len(indexes))) == indexes
    assert len(usable) <= len(indexes) <= len(records)
    assert len(found) == len({conversation.id for conversation in found})
    for conversation in found:
        assert_sound(conversation)


@given(st.lists(events, max_size=6) | st.lists(chunks, max_size=6))
def test_no_stream_breaks_the_reading(streamed: list[Raw]) -> None:
    assert_sound(only({"id": "r", "request": {"messages": [USER]}, "response": sse(*streamed)}))


# Plain messages and choices are known at a glance; what must come of that is what comes of reading with care.

ODD = st.sampled_from([None, "", "x", 0, 1.0, True, [], {"a": 1}, [{"type": "text", "text": "a"}]])
ROLES = st.sampled_from(["user", "assistant", "system", "developer", "tool", "User", "", 5])
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES, "content": st.sampled_from(["a", "b", ""]) | ODD},
    optional={"name": ODD, "refusal": ODD, "annotations": ODD, "tool_calls": ODD},
) | st.fixed_dictionaries({"role": ROLES, "content": st.sampled_from(["a", "b", ""])})
CHOICES = st.fixed_dictionaries(
    {"message": MESSAGES}, optional={"index": ODD, "finish_reason": ODD, "logprobs": ODD, "more": ODD}
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"request": st.fixed_dictionaries({"messages": st.lists(MESSAGES, max_size=4)})},
        optional={
            "id": st.sampled_from(["1", "2"]),
            "response": st.fixed_dictionaries(
                {"choices": st.lists(CHOICES, max_size=2)},
                optional={
                    "id": st.just("a") | ODD,
                    "model": st.just("m") | ODD,
                    "usage": st.just({"total_tokens": 1}) | ODD,
                    "error": ODD,
                },
            ),
        },
    ),
    max_size=5,
)


@given(RECORDS, st.sampled_from(["openai", "claude", "responses", "gemini", "converse"]))
@settings(deadline=None)
def test_plain_messages_read_as_with_care(records: list[Raw], version: str) -> None:
    notes, noted = Notes(), Notes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_messages, "parse_plain_message", lambda _: None)
        patch.setattr(answer, "_parse_common_body", lambda _: None)
        patch.setattr(Meanings, "of_plain", lambda *_: None)
        with_care = read(records, version, notes)

    assert with_care == read(records, version, noted)
    assert notes.collected == noted.collected


# Of a large log most dialogues lie in a file; what must come of that is what comes of holding them all.

TALKS = st.lists(
    st.fixed_dictionaries(
        {"request": st.fixed_dictionaries({"messages": st.lists(MESSAGES, min_size=1, max_size=4)})},
        optional={
            "id": st.sampled_from(["1", "2", "3"]),
            "timestamp": st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00+01:00", "never"]),
            "duration_ms": st.sampled_from([5, 1.5]),
            "huge": st.just(2**70),
            "response": st.fixed_dictionaries({"choices": st.lists(CHOICES, max_size=2)}),
        },
    ),
    min_size=2,
    max_size=8,
)


@given(TALKS, st.sampled_from(["openai", "claude", "responses"]), st.sampled_from([0, 4000]))
@settings(deadline=None)
def test_a_large_log_is_read_like_a_small_one(records: list[Raw], version: str, held: int) -> None:
    notes, noted = Notes(), Notes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stitching, "_MAX_MEMORY_BYTES", held)
        large = read(records, version, notes)

    assert read(records, version, noted) == large
    assert noted.collected == notes.collected


def test_dialogues_are_moved_to_a_file_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    away: list[bool] = []
    fetch = Dialogue.load

    def fetched(dialogue: Dialogue) -> bool:
        away.append(fetch(dialogue))
        return away[-1]

    monkeypatch.setattr(stitching, "_MAX_MEMORY_BYTES", 0)
    monkeypatch.setattr(Dialogue, "load", fetched)
    talks = [[{"role": "user", "content": name}] for name in ("a", "b" * 99, "a")]
    talks[2] += [{"role": "assistant", "content": "A"}, {"role": "user", "content": "c"}]
    found = read([{"id": str(place), "request": {"messages": talk}} for place, talk in enumerate(talks)])

    assert [3, 1] == [len(each.timeline) for each in found]
    # When the third call came, and when all were given out.
    assert away == [False, False, True, False, True]
