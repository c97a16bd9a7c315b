"""The Unified Conversation Schema: each row of its mapping tables is one check, on what was written."""

from __future__ import annotations

import copy
import hashlib
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_journal import validation
from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Feedback,
    Link,
    Media,
    Memory,
    Message,
    Other,
    Part,
    Reasoning,
    Request,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    roles,
    timestamps,
)
from agent_journal.notes import Kind
from agent_journal.readers.unified.content import normalize_content
from agent_journal.writers.unified.own_fields import snake_case
from tests import unified_schema
from tests.inline import Written, converted, save_document, save_lines, written

SHARED = Path(__file__).parents[3] / "shared"


def valid(found: Written) -> Any:
    """The one document, which is valid."""
    assert [] == unified_schema.check(found.only)
    return found.only


def unified(*timeline: Message | Event) -> Any:
    """A small conversation, written."""
    return valid(written("unified", Conversation(id="c", source="x", timeline=[*timeline])))


def test_a_role_that_the_source_calls_function_stays_so() -> None:
    result = ToolResult(call_id="c", output="42")
    called = Message(id="0", role="assistant", parts=[ToolCall(name="f", call_id="c", input={})])
    named = Message(id="1", role="tool", parts=[result], extra={"role": "function"})
    other = Message(id="2", role="tool", parts=[result])

    said = unified(called, named, other)["messages"]
    assert [message["role"] for message in said] == ["assistant", "function", "tool"]


def test_a_function_of_an_api_is_written_and_read_back(tmp_path: Path) -> None:
    asked = [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
    ]
    body = {"choices": [{"message": {"role": "assistant", "content": "42."}}]}
    trace = {
        "request": {"model": "m", "messages": asked},
        "response": body,
        "timestamp": "2026-01-05T10:00:00Z",
    }
    document = converted(save_lines(tmp_path, "trace.jsonl", [trace]), "unified").only
    again = converted(save_document(tmp_path, "again.json", document), "unified").only

    roles_written = ["user", "assistant", "function", "assistant"]
    assert [said["role"] for said in document["messages"]] == roles_written
    assert again["messages"] == document["messages"]
    # Without what we add, it is read as anybody's.
    del document["agent_journal"]
    foreign = converted(save_document(tmp_path, "foreign.json", document), "unified").only
    assert [said["role"] for said in foreign["messages"]] == roles_written


def blocks(*parts: Part) -> list[Any]:
    (message,) = unified(Message(id="1", role="assistant", parts=[*parts]))["messages"]
    found: list[Any] = message["content"]
    return found


# Claude Code: field mappings.

SESSION = "0574c517-2408-4a20-8808-7626fd961640"
USAGE = {
    "input_tokens": 4,
    "output_tokens": 1,
    "cache_creation_input_tokens": 88240,
    "cache_read_input_tokens": 0,
    "cache_creation": {"ephemeral_5m_input_tokens": 88240, "ephemeral_1h_input_tokens": 0},
    "service_tier": "standard",
}
COMMON: dict[str, Any] = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/ana/app",
    "sessionId": SESSION,
    "version": "2.1.34",
    "gitBranch": "feature/soup",
}
QUESTION: dict[str, Any] = {
    **COMMON,
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "timestamp": "2026-02-10T17:27:10.587Z",
    "message": {"role": "user", "content": "Fix the bug"},
    "permissionMode": "plan",
}
ANSWER: dict[str, Any] = {
    **COMMON,
    "type": "assistant",
    "uuid": "a1",
    "parentUuid": "u1",
    "timestamp": "2026-02-10T17:27:14.496Z",
    "requestId": "req_1",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": [
            {"type": "text", "text": "On it."},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
        ],
        "stop_reason": "tool_use",
        "usage": USAGE,
    },
}
RESULT: dict[str, Any] = {
    **COMMON,
    "type": "user",
    "uuid": "u2",
    "parentUuid": "a1",
    "timestamp": "2026-02-10T17:27:24.950Z",
    "message": {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [{"type": "text", "text": "README.md"}],
            }
        ],
    },
}
SUMMARY = {"type": "summary", "summary": "A bug was fixed", "leafUuid": "u2"}


def from_claude_code(folder: Path, *lines: dict[str, Any]) -> Any:
    return valid(converted(save_lines(folder, f"{SESSION}.jsonl", lines), "unified"))


@pytest.fixture
def session(tmp_path: Path) -> Any:
    return from_claude_code(tmp_path, QUESTION, ANSWER, RESULT, SUMMARY)


def at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document[int(step) if step.isdigit() else step]
    return document


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", "1.0.0"),
        ("conversation_id", SESSION),
        ("platform.name", "claude_code"),
        ("platform.version", "2.1.34"),
        ("platform.model", "claude-opus-4-6"),
        ("session.session_id", SESSION),
        ("session.is_sidechain", False),
        ("context.workspace.path", "/home/ana/app"),
        ("context.workspace.git_branch", "feature/soup"),
        ("created_at", "2026-02-10T17:27:10.587Z"),
        ("updated_at", "2026-02-10T17:27:24.950Z"),
        ("messages.0.message_id", "u1"),
        ("messages.0.parent_message_id", None),
        ("messages.1.parent_message_id", "u1"),
        ("messages.0.role", "user"),
        ("messages.1.role", "assistant"),
        ("messages.1.timestamp", "2026-02-10T17:27:14.496Z"),
        ("messages.0.content", [{"type": "text", "text": "Fix the bug"}]),
        ("messages.1.tokens", USAGE),
        ("messages.0.metadata.user_type", "external"),
        ("messages.0.metadata.permission_mode", "plan"),
        ("messages.1.metadata.request_id", "req_1"),
        ("messages.1.metadata.model_override", "claude-opus-4-6"),
        ("messages.1.metadata.stop_reason", "tool_use"),
        ("messages.1.metadata.response_id", "msg_1"),
        ("summaries.0.text", "A bug was fixed"),
        ("summaries.0.type", "automatic"),
        ("summaries.0.covers_messages", ["u2"]),
        ("metrics.total_messages", 3),
        ("metrics.tool_calls", 1),
        ("metrics.total_tokens", {"input": 4, "output": 1, "cache_read": 0, "cache_write": 88240}),
    ],
)
def test_claude_code_field(field: str, value: Any, session: Any) -> None:
    assert value == at(session, field)


def test_parent_uuid_is_no_parent_of_a_conversation(session: Any) -> None:
    """It links messages; a conversation's parent is another session."""
    assert "parent_conversation_id" not in session["session"]


def test_claude_code_times_are_the_earliest_and_the_latest(tmp_path: Path) -> None:
    found = from_claude_code(tmp_path, RESULT, QUESTION)

    assert QUESTION["timestamp"] == found["created_at"]
    assert RESULT["timestamp"] == found["updated_at"]


def test_claude_code_session_of_sidechains(tmp_path: Path) -> None:
    found = from_claude_code(tmp_path, QUESTION | {"isSidechain": True}, ANSWER | {"isSidechain": True})

    assert found["session"]["is_sidechain"] is True


def test_claude_code_blocks_map_directly(session: Any) -> None:
    assert ANSWER["message"]["content"] == session["messages"][1]["content"]
    assert [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [{"type": "text", "text": "README.md"}],
            "is_error": False,
        }
    ] == session["messages"][2]["content"]


@pytest.mark.parametrize("content", ["plain", [{"type": "text", "text": "block"}]])
def test_claude_code_tool_results_are_text_or_blocks(content: Any, tmp_path: Path) -> None:
    line = copy.deepcopy(RESULT)
    line["message"]["content"][0] |= {"content": content, "is_error": True}
    (message,) = from_claude_code(tmp_path, line)["messages"]

    assert content == message["content"][0]["content"]
    assert message["content"][0]["is_error"] is True


def test_claude_code_example_transformation(tmp_path: Path) -> None:
    """`transformClaudeCodeMessage`, and what the source says beside it."""
    found = from_claude_code(tmp_path, QUESTION, ANSWER)["messages"][1]

    assert {
        "message_id": ANSWER["uuid"],
        "parent_message_id": ANSWER["parentUuid"],
        "role": ANSWER["message"]["role"],
        "timestamp": ANSWER["timestamp"],
        "content": ANSWER["message"]["content"],
        "tokens": ANSWER["message"]["usage"],
    } == {key: value for key, value in found.items() if key != "metadata"}
    assert ANSWER["userType"] == found["metadata"]["user_type"]
    assert ANSWER["message"]["model"] == found["metadata"]["model_override"]


@pytest.mark.parametrize("missing", ["cwd", "version", "gitBranch", "userType", "parentUuid", "requestId"])
def test_claude_code_needs_no_more_than_session_time_role_and_content(missing: str, tmp_path: Path) -> None:
    line = {key: value for key, value in ANSWER.items() if key != missing}

    assert 1 == len(from_claude_code(tmp_path, line)["messages"])


# ChatGPT: field mappings.

CHAT: dict[str, Any] = {
    "title": "Tower",
    "create_time": 1770000000.0,
    "update_time": 1770000100.5,
    "conversation_id": "6980a1b2-0000-4000-8000-00000000abcd",
    "id": "6980a1b2-0000-4000-8000-00000000abcd",
    "default_model_slug": "gpt-5-2",
    "current_node": "n3",
    "is_archived": False,
}


def node(name: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": [], "message": message}


def chat_message(name: str, role: str, content: dict[str, Any], created: float | None) -> dict[str, Any]:
    return {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": created,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {"model_slug": "gpt-5-2-thinking"} if role == "assistant" else {},
    }


PICTURE = {
    "content_type": "multimodal_text",
    "parts": [
        {"asset_pointer": "file-service://file-abc", "content_type": "image_asset_pointer"},
        "Describe this image",
    ],
}
MAPPING = {
    "root": node("root", None, None),
    "n1": node("n1", "root", chat_message("n1", "user", PICTURE, 1770000000.25)),
    "n2": node(
        "n2",
        "n1",
        chat_message("n2", "assistant", {"content_type": "text", "parts": ["A tower."]}, None),
    ),
    "n3": node(
        "n3",
        "n2",
        chat_message("n3", "user", {"content_type": "text", "parts": ["user message text"]}, 1770000050),
    ),
}


def from_chatgpt(folder: Path, chat: dict[str, Any]) -> Written:
    return converted(save_document(folder, "conversations.json", [chat]), "unified")


@pytest.fixture
def chat(tmp_path: Path) -> Any:
    return valid(from_chatgpt(tmp_path, CHAT | {"mapping": MAPPING}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", "1.0.0"),
        ("conversation_id", CHAT["conversation_id"]),
        ("platform.name", "chatgpt"),
        ("platform.version", "unknown"),
        ("platform.model", "gpt-5-2"),
        ("platform.metadata.title", "Tower"),
        ("created_at", "2026-02-02T02:40:00.000Z"),
        ("updated_at", "2026-02-02T02:41:40.500Z"),
        ("messages.0.message_id", "n1"),
        ("messages.0.parent_message_id", None),
        ("messages.1.parent_message_id", "n1"),
        ("messages.0.role", "user"),
        ("messages.1.role", "assistant"),
        ("messages.0.timestamp", "2026-02-02T02:40:00.250Z"),
        ("messages.2.timestamp", "2026-02-02T02:40:50.000Z"),
        ("messages.2.content", [{"type": "text", "text": "user message text"}]),
        (
            "messages.0.content",
            [
                {"type": "image", "source": {"type": "url", "data": "file-service://file-abc"}},
                {"type": "text", "text": "Describe this image"},
            ],
        ),
        ("messages.1.metadata.model_override", "gpt-5-2-thinking"),
    ],
)
def test_chatgpt_field(field: str, value: Any, chat: Any) -> None:
    assert value == at(chat, field)


def test_chatgpt_message_without_a_time_has_the_conversations(tmp_path: Path) -> None:
    found = from_chatgpt(tmp_path, CHAT | {"mapping": MAPPING})

    assert "2026-02-02T02:40:00.000Z" == found.only["messages"][1]["timestamp"]
    assert found.only["messages"][1]["metadata"]["timestamp_inferred"] is True
    assert "timestamp_inferred" not in found.only["messages"][0]["metadata"]
    assert ["1 × message"] == found.noted(Kind.MISSING_TIME)


def test_chatgpt_empty_node_is_an_event(chat: Any) -> None:
    assert ["root"] == [event["event_id"] for event in chat["events"]]


def test_chatgpt_archived(tmp_path: Path, chat: Any) -> None:
    archived = from_chatgpt(tmp_path, CHAT | {"is_archived": True, "mapping": MAPPING})

    assert "archived" == archived.only["status"]
    assert "status" not in chat


# Content, from the model.


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (Text(text="hi"), {"type": "text", "text": "hi"}),
        (Code(code="x = 1"), {"type": "code", "code": "x = 1"}),
        (
            Code(code="x", language="python", file="a.py", first_line=3, last_line=4),
            {
                "type": "code",
                "code": "x",
                "language": "python",
                "file_path": "a.py",
                "line_range": {"start": 3, "end": 4},
            },
        ),
        (
            Code(code="x", first_line=0),
            {"type": "code", "code": "x", "metadata": {"line_range": {"start": 0}}},
        ),
        (Reasoning(text="hm"), {"type": "thinking", "thinking": "hm"}),
        (
            Reasoning(text="hm", signature="s", summary="t", encrypted="e"),
            {
                "type": "thinking",
                "thinking": "hm",
                "signature": "s",
                "metadata": {"summary": "t", "encrypted": "e"},
            },
        ),
        (Reasoning(summary="in short"), {"type": "thinking", "thinking": "in short"}),
        (
            ToolCall(name="ls", call_id="c", input={"a": 1}),
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}},
        ),
        (
            ToolCall(name="ls", call_id="c", input='{"a": 1}'),
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}},
        ),
        (
            ToolCall(name="ls", call_id="c", input="a"),
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"raw": "a"}},
        ),
        (
            ToolCall(name="ls", call_id="c", input="[1]"),
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"raw": [1]}},
        ),
        (ToolCall(name="ls", call_id="c"), {"type": "tool_use", "id": "c", "name": "ls", "input": {}}),
        (
            ToolResult(call_id="c", output="out", is_error=True, extra={"exitCode": 2, "duration_ms": 1}),
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": "out",
                "is_error": True,
                "metadata": {"exit_code": 2, "duration_ms": 1},
            },
        ),
        (
            ToolResult(call_id="c", output=[Text(text="a"), Media(kind="image", ref="https://e.org/x")]),
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "source": {"type": "url", "data": "https://e.org/x"}},
                ],
                "is_error": False,
            },
        ),
        (
            Media(kind="image", mime="image/png", data="AAAA", name="a cat", ref="cat.png"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                "alt_text": "a cat",
                "metadata": {"ref": "cat.png"},
            },
        ),
        (Media(kind="image"), {"type": "image"}),
    ],
)
def test_block(part: Part, block: dict[str, Any]) -> None:
    assert [block] == blocks(part)


@pytest.mark.parametrize(
    ("part", "words", "value"),
    [
        (
            Media(kind="audio", name="a.wav", data="AAAA"),
            "[audio: a.wav]",
            {"type": "media", "kind": "audio", "name": "a.wav", "data": "AAAA"},
        ),
        (
            Media(kind="document", ref="file-1"),
            "[document: file-1]",
            {"type": "media", "kind": "document", "ref": "file-1"},
        ),
        (Media(kind="file"), "[file]", {"type": "media", "kind": "file"}),
        (
            Other(name="poll", data={"q": [1]}),
            "[poll]",
            {"type": "other", "name": "poll", "data": {"q": [1]}},
        ),
        (Other(data=7), "[unknown content]", {"type": "other", "data": 7}),
        (Reasoning(encrypted="xyz"), "[encrypted reasoning]", {"type": "reasoning", "encrypted": "xyz"}),
    ],
)
def test_what_has_no_block_is_a_text_with_the_value_next_to_it(part: Part, words: str, value: Any) -> None:
    message = Message(id="1", role="user", at="2026-01-01T00:00:00Z", parts=[part, part])
    found = written("unified", Conversation(id=SESSION, source="x", timeline=[message]))

    assert [{"type": "text", "text": words, "metadata": value}] * 2 == valid(found)["messages"][0]["content"]
    kind = words.strip("[]").partition(":")[0]
    assert [f"2 × {kind}: replaced by a text block with the value as its metadata"] == found.noted(
        Kind.NOT_EXPRESSED
    )


def test_every_block_matches_one_kind_only() -> None:
    """Keys of other kinds of blocks beside the type make no difference."""
    extra = {"type": "code", "code": "x", "thinking": "y", "tool_use_id": "z"}

    assert extra == blocks(Text(text="t", extra=extra))[0]["metadata"]


def test_a_message_without_content_has_an_empty_text() -> None:
    """The rules refuse a message whose content has no blocks."""
    assert [{"type": "text", "text": ""}] == blocks()


def test_calls_and_results_without_ids() -> None:
    call = Message(id="1", role="assistant", parts=[ToolCall(name="ls")])
    result = Message(id="2", role="user", parts=[ToolResult(output="x")])
    stray = Message(id="3", role="user", parts=[ToolResult(output="y")])
    found = written("unified", Conversation(id=SESSION, source="x", timeline=[call, result, stray]))
    used, answered, other = (message["content"][0] for message in valid(found)["messages"])

    assert ids.is_uuid(used["id"])
    assert used["id"] == answered["tool_use_id"] != other["tool_use_id"]
    assert ["2 × tool call or result"] == found.noted(Kind.MISSING_ID)
    assert ["1 × tool result"] == found.noted(Kind.GUESSED_LINK)


# Tokens and cost.


def test_tokens_of_an_unknown_tier_are_in_the_metadata() -> None:
    usage = Usage(input=1, extra={"service_tier": "batch", "speed": "fast", "input_tokens": 1})
    (message,) = unified(Message(id="1", role="assistant", usage=usage))["messages"]

    assert {"input_tokens": 1, "speed": "fast"} == message["tokens"]
    assert "batch" == message["metadata"]["service_tier"]


def test_cache_shares_only_where_they_are_stated() -> None:
    usage = Usage(cache_write=10, cache_read=0)
    (message,) = unified(Message(id="1", role="assistant", usage=usage))["messages"]

    assert {"cache_creation_input_tokens": 10, "cache_read_input_tokens": 0} == message["tokens"]


def test_counts_that_include_the_cache_stay_in_extra() -> None:
    usage = Usage(input=20, cache_read=64, extra={"input_tokens": 84, "prompt_tokens": 84})
    (message,) = unified(Message(id="1", role="assistant", usage=usage))["messages"]

    assert {"input_tokens": 20, "cache_read_input_tokens": 64, "prompt_tokens": 84} == message["tokens"]
    assert {"input_tokens": 84} == message["metadata"]["usage"]


def test_cost_only_where_it_is_stated() -> None:
    free, priced = unified(
        Message(id="1", role="assistant", usage=Usage(input=5)),
        Message(id="2", role="assistant", usage=Usage(cost_usd=0.12345678)),
    )["messages"]

    assert "cost" not in free
    assert {"amount": 0.123457, "currency": "USD"} == priced["cost"]


def test_metrics_count_a_response_once_and_the_last_value_wins() -> None:
    metrics = unified(
        Message(id="1", role="assistant", usage=Usage(key="r", input=5, output=1, cost_usd=0.5)),
        Message(id="2", role="assistant", usage=Usage(key="r", input=5, output=9, cost_usd=0.5)),
        Message(id="3", role="assistant", usage=Usage(output=2), parts=[ToolCall(name="ls", call_id="c")]),
    )["metrics"]

    assert {
        "total_messages": 3,
        "total_tokens": {"input": 5, "output": 11},
        "total_cost": {"amount": 0.5, "currency": "USD"},
        "tool_calls": 1,
    } == metrics


def test_duration_is_that_of_the_requests() -> None:
    requests = [Request(duration_ms=1500), Request(duration_ms=0.4), Request()]
    found = valid(written("unified", Conversation(id="c", source="x", requests=requests)))

    assert 1500 == found["metrics"]["duration_ms"]


# The envelope.


def test_id_that_is_no_uuid() -> None:
    found = written("unified", Conversation(id="req-1", source="some-tool"))
    expected = str(uuid.uuid5(uuid.NAMESPACE_DNS, "some-tool-req-1"))

    assert expected == valid(found)["conversation_id"]
    assert "req-1" == found.only["session"]["session_id"]
    assert "req-1" == found.only["platform"]["metadata"]["conversation_id"]
    assert f"not a UUID: replaced by {expected}" in found.noted(Kind.CHANGED)


def test_parent_conversation_is_that_of_the_link_by_the_same_rule() -> None:
    link = Link(conversation_id="req-1", relation="fork", message_id="m", call_id="c")
    parent = written("unified", Conversation(id="req-1", source="t")).only["conversation_id"]
    found = valid(written("unified", Conversation(id="req-2", source="t", link=link)))

    assert {
        "session_id": "req-2",
        "parent_conversation_id": parent,
        "fork_point": "m",
        "is_sidechain": False,
    } == found["session"]
    assert {
        "conversation_id": "req-1",
        "relation": "fork",
        "message_id": "m",
        "call_id": "c",
    } == found["platform"]["metadata"]["link"]


def test_a_subagent_is_a_sidechain() -> None:
    link = Link(conversation_id=SESSION, relation="subagent")
    session = valid(written("unified", Conversation(id="a", source="t", link=link)))["session"]

    assert session["is_sidechain"] is True
    assert SESSION == session["parent_conversation_id"]


def test_platform_that_the_schema_does_not_list() -> None:
    platform = valid(written("unified", Conversation(id=SESSION, source="some-tool")))["platform"]

    assert {"name": "other", "version": "unknown", "metadata": {"name": "some-tool"}} == platform


def test_model_is_the_one_used_most() -> None:
    timeline: list[Message | Event] = [
        Message(id=str(place), role="assistant", model=model) for place, model in enumerate("abbc")
    ]

    assert "b" == unified(*timeline)["platform"]["model"]


def test_every_time_is_utc_with_milliseconds() -> None:
    conversation = Conversation(
        id="c",
        source="x",
        started_at="2026-01-01T01:00:00+01:00",
        updated_at="2026-01-01T00:00:00.123999Z",
        timeline=[Message(id="1", role="user", at="2026-01-01T00:00:59Z")],
    )
    found = valid(written("unified", conversation))

    assert "2026-01-01T00:00:00.000Z" == found["created_at"]
    assert "2026-01-01T00:00:00.123Z" == found["updated_at"]
    assert "2026-01-01T00:00:59.000Z" == found["messages"][0]["timestamp"]


def test_times_of_a_conversation_that_states_none() -> None:
    late, early = "2026-01-02T00:00:00.000Z", "2026-01-01T00:00:00.000Z"
    found = unified(
        Event(id="e", name="start", at="2025-01-01T00:00:00Z"),
        Message(id="1", role="user", at=late),
        Message(id="2", role="user", at=early),
    )

    assert (early, late) == (found["created_at"], found["updated_at"])


def test_no_time_at_all_is_noted() -> None:
    found = written("unified", Conversation(id=SESSION, source="x"))

    assert "1970-01-01T00:00:00.000Z" == valid(found)["created_at"]
    assert "updated_at" not in found.only
    assert ["no known time: 1970-01-01T00:00:00.000Z"] == found.noted(Kind.CHANGED)


def test_everything_else_the_schema_has_a_field_for() -> None:
    conversation = Conversation(  # noqa: S604 (the name of a shell)
        id=SESSION,
        source="x",
        cwd="/w",
        git_branch="b",
        git_commit="abc",
        os="linux",
        shell="zsh",
        editor="vim",
        archived=True,
        tags=["a"],
        context={"framework": "nextjs"},
        platform={"mode": "architect"},
        feedback=[Feedback(rating="down", message_id="1"), Feedback(rating="up", text="good")],
        summaries=[Summary(text="s", kind="system", at="2026-01-01T00:00:00Z", extra={"by": "hand"})],
        tools=[Tool(name="ls")],
    )
    found = valid(written("unified", conversation))

    assert {
        "workspace": {"path": "/w", "git_branch": "b", "git_commit": "abc"},
        "environment": {"os": "linux", "shell": "zsh", "editor": "vim"},
        "custom": {"framework": "nextjs"},
    } == found["context"]
    assert "archived" == found["status"]
    assert ["a"] == found["tags"]
    assert {"score": 5, "feedback": "good"} == found["rating"]
    assert [{"rating": "down", "message_id": "1"}, {"rating": "up", "text": "good"}] == found["platform"][
        "metadata"
    ]["feedback"]
    assert "architect" == found["platform"]["metadata"]["mode"]
    assert [{"name": "ls"}] == found["tools"]
    summary = found["summaries"][0]
    assert ids.is_uuid(summary.pop("summary_id"))
    assert {
        "type": "system",
        "text": "s",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "metadata": {"by": "hand"},
    } == summary


@pytest.mark.parametrize(
    ("feedback", "rating"),
    [
        ([Feedback(rating="up", message_id="1"), Feedback(rating="down", message_id="2")], {"score": 0}),
        (
            [Feedback(text="meh", at="2026-01-01T00:00:00Z")],
            {"feedback": "meh", "rated_at": "2026-01-01T00:00:00.000Z"},
        ),
    ],
)
def test_rating(feedback: list[Feedback], rating: dict[str, Any]) -> None:
    found = valid(written("unified", Conversation(id=SESSION, source="x", feedback=feedback)))

    assert rating == found["rating"]


def test_events_are_preserved_and_are_nobodys_parent() -> None:
    found = unified(
        Message(id="1", role="user"),
        Event(id="e1", name="snapshot", parent_id="1", data={"files": 3}),
        Event(id="e2", name="progress", parent_id="e1"),
        Message(id="2", role="assistant", parent_id="e2"),
        Message(id="3", role="user", parent_id="gone"),
    )

    assert [None, "1", "gone"] == [message["parent_message_id"] for message in found["messages"]]
    assert [
        {"event_id": "e1", "name": "snapshot", "parent_id": "1", "data": {"files": 3}},
        {"event_id": "e2", "name": "progress", "parent_id": "e1"},
    ] == found["events"]


def test_memories_are_noted() -> None:
    found = written("unified", Memory(id="m", source="x", kind="identity", text="Ana"))

    assert [] == found.documents
    assert ["a memory, as it is no conversation"] == found.noted(Kind.NOT_EXPRESSED)


# Metadata.


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("userType", "user_type"),
        ("requestId", "request_id"),
        ("sourceToolAssistantUUID", "source_tool_assistant_uuid"),
        ("isHTMLBlock", "is_html_block"),
        ("costUSD", "cost_usd"),
        ("user-type", "user_type"),
        ("already_snake", "already_snake"),
        ("https://Example.org/A", "https://Example.org/A"),
        ("größeX", "größeX"),
        ("", ""),
    ],
)
def test_snake_case(name: str, expected: str) -> None:
    assert expected == snake_case(name)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"userType": "external"}, {"user_type": "external"}),
        ({"userType": "a", "user_type": "b"}, {"user_type": "a", "user_type_": "b"}),
        ({"user_type": "a", "userType": "b"}, {"user_type": "a", "userType": "b"}),
        ({"user_type": "a", "userType": "a"}, {"user_type": "a"}),
        ({"userType": 7}, {"userType": 7}),
        ({"edit_count": "many"}, {"edit_count_": "many"}),
        ({"nested": {"camelCase": None}}, {"nested": {"camelCase": None}}),
    ],
)
def test_metadata_loses_nothing(extra: dict[str, Any], expected: dict[str, Any]) -> None:
    message = Message(id="1", role="user", at="2026-01-01T00:00:00Z", extra=extra)

    assert expected == unified(message)["messages"][0]["metadata"]


# Common patterns.


def test_deterministic_uuid() -> None:
    """Of `<platform>-<timestamp>-<user>` in the namespace of the requirement."""
    name = "cursor-2026-01-01T00:00:00Z-ana"
    namespace = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")

    assert str(uuid.uuid5(namespace, name)) == ids.uuid5(name)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1770000000, "2026-02-02T02:40:00.000Z"),
        (1770000000.25, "2026-02-02T02:40:00.250Z"),
        (1770000000250, "2026-02-02T02:40:00.250Z"),
        (9999999999, "2286-11-20T17:46:39.000Z"),
        (10000000000, "1970-04-26T17:46:40.000Z"),
        ("2026-02-02T02:40:00Z", "2026-02-02T02:40:00.000Z"),
        ("2026-02-02T03:40:00+01:00", "2026-02-02T02:40:00.000Z"),
    ],
)
def test_timestamp_normalization(given: Any, expected: str) -> None:
    assert expected == timestamps.iso_ms(timestamps.parse_timestamp(given))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}]),
        ([], []),
        ("a", [{"type": "text", "text": "a"}]),
        ("", [{"type": "text", "text": ""}]),
        ({"content": "a"}, [{"type": "text", "text": "a"}]),
        ({"role": "user", "content": {"content": ["x"]}}, ["x"]),
        ({"type": "message", "content": "a"}, [{"type": "text", "text": "a"}]),
        ({"type": "image"}, [{"type": "image"}]),
        ({"type": "poll", "content": None}, [{"type": "poll", "content": None}]),
        (
            {"type": "tool_result", "tool_use_id": "c", "content": "a"},
            [{"type": "tool_result", "tool_use_id": "c", "content": "a"}],
        ),
    ],
)
def test_content_standardization(content: Any, expected: list[Any]) -> None:
    assert expected == normalize_content(content)


@pytest.mark.parametrize("content", [None, 7, {}, {"content": ""}, {"text": "a"}])
def test_content_that_is_none(content: Any) -> None:
    with pytest.raises(ValueError, match="neither text nor blocks"):
        normalize_content(content)


A_MESSAGE: dict[str, Any] = {
    "role": "user",
    "content": [{"type": "text", "text": "hé"}],
    "timestamp": "2026-01-01T00:00:00.000Z",
}


def test_message_hash_is_that_of_compact_json() -> None:
    message = A_MESSAGE
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(text.encode()).hexdigest()

    assert expected == ids.message_hash(message["role"], message["content"], message["timestamp"])


@pytest.mark.parametrize(
    ("other", "is_duplicate"),
    [
        (A_MESSAGE, True),
        (A_MESSAGE | {"timestamp": "2026-01-01T00:00:05.000Z"}, True),
        (A_MESSAGE | {"timestamp": "2025-12-31T23:59:55.000Z"}, True),
        (A_MESSAGE | {"timestamp": "2026-01-01T00:00:05.001Z"}, False),
        (A_MESSAGE | {"timestamp": "2026-01-01T01:00:00.000+01:00"}, True),
        (A_MESSAGE | {"timestamp": "then"}, False),
        (A_MESSAGE | {"timestamp": None}, False),
        (A_MESSAGE | {"role": "assistant"}, False),
        (A_MESSAGE | {"content": []}, False),
    ],
)
def test_duplicates_within_five_seconds(other: dict[str, Any], is_duplicate: bool) -> None:
    assert is_duplicate is ids.is_duplicate(A_MESSAGE, other)


def test_the_window_can_be_another() -> None:
    other = A_MESSAGE | {"timestamp": "2026-01-01T00:01:00.000Z"}

    assert not ids.is_duplicate(A_MESSAGE, other)
    assert ids.is_duplicate(A_MESSAGE, other, window_ms=60_000)


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("user", ["user", "human", "Human", "Request", "USER"]),
        ("assistant", ["assistant", "ASSISTANT", "ai", "AI", "agent", "bot", "model", "Response"]),
        ("system", ["system", "System", "developer"]),
        ("tool", ["tool", "function", "function_call", "Tool"]),
        (None, ["grok-3", "", None, 7, ["user"]]),
    ],
)
def test_roles(role: str | None, words: list[Any]) -> None:
    assert [role] * len(words) == [roles.role(word) for word in words]


# Extension points.

EXTENSIONS: list[tuple[str, Callable[[Any], Conversation], str]] = [
    (
        "platform.metadata",
        lambda value: Conversation(id=SESSION, source="x", platform={"integration_id": value}),
        "platform.metadata.integration_id",
    ),
    (
        "context.custom",
        lambda value: Conversation(id=SESSION, source="x", context={"dependencies": value}),
        "context.custom.dependencies",
    ),
    (
        "message.metadata",
        lambda value: Conversation(
            id=SESSION, source="x", timeline=[Message(id="1", role="user", extra={"customField": value})]
        ),
        "messages.0.metadata.custom_field",
    ),
    (
        "additionalProperties",
        lambda value: Conversation(
            id=SESSION, source="x", timeline=[Event(id="1", name="e", data={"x": value})]
        ),
        "events.0.data.x",
    ),
]


@pytest.mark.parametrize(("point", "conversation", "place"), EXTENSIONS)
def test_extension_point(point: str, conversation: Callable[[Any], Conversation], place: str) -> None:
    value = ["react", {"nested": {"camelCase": point}}, None]

    assert value == at(valid(written("unified", conversation(value))), place)


# The schema.


def test_our_schema_has_the_constraints_of_the_published_one() -> None:
    published = SHARED / "targets" / "schemas" / "unified-conversation-schema.json"
    if not published.exists():
        pytest.skip("the published schema is not here")
    ours = Path(validation.__file__).parent / "schemas" / "unified-1.0.0.schema.json"

    assert constraints(json.loads(published.read_text())) == constraints(json.loads(ours.read_text()))


def constraints(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without what only explains it."""
    words = {"title", "description", "examples", "version", "$comment"}
    named = {"properties", "definitions"}
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in named:
            found[key] = {name: constraints(inner) for name, inner in value.items()}
        elif isinstance(value, dict):
            found[key] = constraints(value)
        elif key == "oneOf":
            found[key] = [constraints(inner) for inner in value]
        elif key not in words:
            found[key] = value
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema_version", "1"),
        ("conversation_id", "not-a-uuid"),
        ("platform.name", "someone_else"),
        ("platform.version", None),
        ("created_at", "yesterday"),
        ("status", "done"),
        ("messages.0.role", "human"),
        ("messages.0.timestamp", 1770000000),
        ("messages.0.content", "text"),
        ("messages.0.content.0.type", "poll"),
        ("messages.1.content.1.input", "ls"),
        ("messages.1.tokens.service_tier", "batch"),
        ("messages.1.tokens.input_tokens", -1),
        ("metrics.total_messages", 0.5),
        ("summaries.0.type", "other"),
    ],
)
def test_the_schema_refuses(path: str, value: Any, session: Any) -> None:
    where, _, last = path.rpartition(".")
    parent = at(session, where) if where else session
    parent[int(last) if last.isdigit() else last] = value

    assert unified_schema.check(session)
