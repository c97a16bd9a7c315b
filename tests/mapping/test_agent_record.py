"""Claude Code to agent records: each rule of the translation is one check, on the lines that define it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Memory,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.notes import Kind
from tests import cddl
from tests.inline import Written, converted, save_lines, written

SESSION = "0574c517-2408-4a20-8808-7626fd961640"
COMMON: dict[str, Any] = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/tmp/v9azOZts",  # noqa: S108 (a value in a record)
    "sessionId": SESSION,
    "version": "2.1.34",
    "gitBranch": "main",
}
QUEUE: dict[str, Any] = {
    "type": "queue-operation",
    "operation": "dequeue",
    "timestamp": "2026-02-10T17:27:10.484Z",
    "sessionId": SESSION,
}
USER: dict[str, Any] = {
    **COMMON,
    "parentUuid": None,
    "type": "user",
    "message": {"role": "user", "content": "Fix the bug in main.py"},
    "uuid": "7e6c5e25-5eb4-4a75-99e3-6b8498f5ee0a",
    "timestamp": "2026-02-10T17:27:10.587Z",
    "permissionMode": "bypassPermissions",
}
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "I'll analyze this crash and find the root cause."},
    {
        "type": "tool_use",
        "id": "toolu_01D3fj28UAco6kEdZJSNnKf7",
        "name": "Bash",
        "input": {"command": "git log --oneline -20"},
    },
    {"type": "thinking", "thinking": "Let me examine the code..."},
]
ASSISTANT: dict[str, Any] = {
    **COMMON,
    "parentUuid": "7e6c5e25-5eb4-4a75-99e3-6b8498f5ee0a",
    "message": {
        "model": "claude-opus-4-6",
        "id": "msg_01K9HuWngewdT879ZLkzYDkf",
        "type": "message",
        "role": "assistant",
        "content": BLOCKS,
        "stop_reason": "tool_use",
        "stop_sequence": "STOP",
        "usage": {
            "input_tokens": 3,
            "cache_creation_input_tokens": 5559,
            "cache_read_input_tokens": 15360,
            "output_tokens": 2,
        },
    },
    "requestId": "req_011CXznGJUhydqGc2YJRagGV",
    "slug": "brave-crash",
    "type": "assistant",
    "uuid": "ad554ee9-4bf4-4373-95a3-1cef1ac70b76",
    "timestamp": "2026-02-10T17:27:14.496Z",
}
RESULT_BLOCK: dict[str, Any] = {
    "tool_use_id": "toolu_01D3fj28UAco6kEdZJSNnKf7",
    "type": "tool_result",
    "content": "README.md\nsrc/\ntests/\n",
    "is_error": False,
}
RESULT: dict[str, Any] = {
    **COMMON,
    "parentUuid": "ad554ee9-4bf4-4373-95a3-1cef1ac70b76",
    "type": "user",
    "message": {"role": "user", "content": [RESULT_BLOCK]},
    "uuid": "d6ac1129-0c22-402e-aebb-6ed1b74747ab",
    "timestamp": "2026-02-10T17:27:24.950Z",
    "toolUseResult": {"stdout": "README.md\nsrc/\ntests/\n", "stderr": "", "interrupted": False},
    "sourceToolAssistantUUID": "ad554ee9-4bf4-4373-95a3-1cef1ac70b76",
}
DROPPED = [
    "parentUuid", "isSidechain", "userType", "slug", "permissionMode", "requestId", "usage", "stop_reason",
    "stop_sequence", "toolUseResult", "sourceToolAssistantUUID", "operation", "gitBranch", "sessionId", "cwd",
    "version", "uuid", "message", "parent-id", "token-usage",
]  # fmt: skip
SHARED = Path(__file__).parents[3] / "shared"
EXAMPLES = SHARED / "targets" / "examples" / "verifiable-agent-record"


def record_of(folder: Path, *lines: dict[str, Any]) -> Any:
    found = converted(save_lines(folder, f"{SESSION}.jsonl", lines), "agent-record").only
    assert [] == cddl.check(found)
    return found


def entries_of(folder: Path, *lines: dict[str, Any]) -> list[Any]:
    entries: list[Any] = record_of(folder, *lines)["session"]["entries"]
    return entries


@pytest.fixture
def record(tmp_path: Path) -> Any:
    return record_of(tmp_path, QUEUE, USER, ASSISTANT, RESULT)


@pytest.fixture
def entries(record: Any) -> list[Any]:
    found: list[Any] = record["session"]["entries"]
    return found


# The whole, as the reference parser and its wrapper make it of these lines.


def test_entries_are_exactly_these(entries: list[Any]) -> None:
    assert [
        {"type": "system-event", "event-type": "queue-operation", "timestamp": QUEUE["timestamp"]},
        {
            "type": "user",
            "timestamp": USER["timestamp"],
            "id": USER["uuid"],
            "content": "Fix the bug in main.py",
        },
        {
            "type": "assistant",
            "timestamp": ASSISTANT["timestamp"],
            "id": ASSISTANT["uuid"],
            "content": BLOCKS,
            "children": [
                {
                    "type": "tool-call",
                    "name": "Bash",
                    "input": {"command": "git log --oneline -20"},
                    "call-id": "toolu_01D3fj28UAco6kEdZJSNnKf7",
                },
                {"type": "reasoning", "content": "Let me examine the code..."},
            ],
        },
        {
            "type": "user",
            "timestamp": RESULT["timestamp"],
            "id": RESULT["uuid"],
            "content": [RESULT_BLOCK],
            "children": [
                {
                    "type": "tool-result",
                    "call-id": "toolu_01D3fj28UAco6kEdZJSNnKf7",
                    "output": "README.md\nsrc/\ntests/\n",
                    "status": "success",
                }
            ],
        },
    ] == entries


def test_wrapper_is_exactly_this(record: Any) -> None:
    recording = record.pop("recording-agent")
    record["session"].pop("entries")

    assert {
        "version": "3.0.0-draft",
        "id": SESSION,
        "created": QUEUE["timestamp"],
        "session": {
            "format": "interactive",
            "session-id": SESSION,
            "session-start": QUEUE["timestamp"],
            "agent-meta": {
                "model-id": "claude-opus-4-6",
                "model-provider": "anthropic",
                "cli-name": "claude-code",
                "cli-version": "2.1.34",
            },
            "environment": {"working-dir": "/tmp/v9azOZts"},  # noqa: S108
        },
    } == record
    assert recording["name"] == "agent-journal"
    assert recording["version"]


# Direct matches.


def test_timestamp(entries: list[Any]) -> None:
    stated = [line["timestamp"] for line in (QUEUE, USER, ASSISTANT, RESULT)]

    assert stated == [entry["timestamp"] for entry in entries]


# Renames.


def test_uuid_is_id(entries: list[Any]) -> None:
    assert [line["uuid"] for line in (USER, ASSISTANT, RESULT)] == [entry["id"] for entry in entries[1:]]


def test_message_content_is_content(entries: list[Any]) -> None:
    stated = [line["message"]["content"] for line in (USER, ASSISTANT, RESULT)]

    assert stated == [entry["content"] for entry in entries[1:]]


def test_message_role_is_type_and_not_the_type_of_the_line(tmp_path: Path) -> None:
    odd = USER | {"message": {"role": "assistant", "content": "I spoke."}}

    assert ["assistant"] == [entry["type"] for entry in entries_of(tmp_path, odd)]


# Structural extraction.


def test_queue_operation_is_a_system_event(entries: list[Any]) -> None:
    assert "system-event" == entries[0]["type"]
    assert "queue-operation" == entries[0]["event-type"]


def test_content_stays_native_next_to_the_children(tmp_path: Path) -> None:
    block = {**BLOCKS[1], "cache_control": {"type": "ephemeral"}, "unheard_of": [1, None]}
    line = ASSISTANT | {"message": ASSISTANT["message"] | {"content": [block]}}
    (entry,) = entries_of(tmp_path, line)

    assert [block] == entry["content"]
    assert ["tool-call"] == [child["type"] for child in entry["children"]]


def test_tool_use_is_tool_call(entries: list[Any]) -> None:
    call = entries[2]["children"][0]

    assert (BLOCKS[1]["id"], BLOCKS[1]["name"], BLOCKS[1]["input"]) == (
        call["call-id"],
        call["name"],
        call["input"],
    )


def test_tool_result_is_tool_result(entries: list[Any]) -> None:
    result = entries[3]["children"][0]

    assert (RESULT_BLOCK["tool_use_id"], RESULT_BLOCK["content"]) == (result["call-id"], result["output"])


@pytest.mark.parametrize(("is_error", "status"), [(True, "error"), (False, "success"), (None, "success")])
def test_is_error_is_status(is_error: Any, status: str, tmp_path: Path) -> None:
    block = {key: value for key, value in RESULT_BLOCK.items() if key != "is_error"}
    if is_error is not None:
        block["is_error"] = is_error
    (entry,) = entries_of(tmp_path, RESULT | {"message": {"role": "user", "content": [block]}})

    assert status == entry["children"][0]["status"]
    assert "is-error" not in entry["children"][0]


def test_output_is_the_blocks_content_verbatim(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "one", "odd": 1},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    ]
    block = RESULT_BLOCK | {"content": content}
    (entry,) = entries_of(tmp_path, RESULT | {"message": {"role": "user", "content": [block]}})

    assert content == entry["children"][0]["output"]


def test_result_without_content_has_an_empty_output(tmp_path: Path) -> None:
    block = {key: value for key, value in RESULT_BLOCK.items() if key != "content"}
    (entry,) = entries_of(tmp_path, RESULT | {"message": {"role": "user", "content": [block]}})

    assert "" == entry["children"][0]["output"]


def test_thinking_is_reasoning(entries: list[Any]) -> None:
    assert {"type": "reasoning", "content": BLOCKS[2]["thinking"]} == entries[2]["children"][1]


def test_text_makes_no_child(entries: list[Any]) -> None:
    assert "children" not in entries[1]
    assert 2 == len(entries[2]["children"])


# Dropped.


@pytest.mark.parametrize("name", DROPPED)
def test_dropped_from_entries(name: str, entries: list[Any]) -> None:
    for entry in entries:
        assert name not in entry
        assert name not in entry.get("data", {})


def test_message_id_is_dropped(record: Any) -> None:
    assert ASSISTANT["message"]["id"] not in json.dumps(record)


def test_branch_is_not_emitted(record: Any) -> None:
    assert '"main"' not in json.dumps(record)
    assert "vcs" not in record


def test_model_is_in_agent_meta_only(record: Any, entries: list[Any]) -> None:
    assert "claude-opus-4-6" == record["session"]["agent-meta"]["model-id"]
    assert "claude-opus-4-6" not in json.dumps(entries)


def test_lines_without_a_role_make_no_entry_and_are_noted(tmp_path: Path) -> None:
    summary = {"type": "summary", "summary": "A crash", "leafUuid": USER["uuid"]}
    progress = {**COMMON, "type": "progress", "uuid": "p1", "data": {"type": "hook_progress"}}
    path = save_lines(tmp_path, f"{SESSION}.jsonl", [summary, USER, progress])
    found = converted(path, "agent-record")

    assert ["user"] == [entry["type"] for entry in found.only["session"]["entries"]]
    assert ["1 × event progress", "1 × event summary"] == found.noted(Kind.NOT_EXPRESSED)


# Fabricated.


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-opus-4-6", "anthropic"),
        ("gemini-3-pro", "google"),
        ("gpt-5.2", "openai"),
        ("o3-mini", "openai"),
        ("o4-mini", "openai"),
        ("llama-4", "unknown"),
        ("not-claude", "unknown"),
    ],
)
def test_provider_by_the_beginning_of_the_model(model: str, provider: str) -> None:
    found = written("agent-record", Conversation(id="c", source="x", model=model)).only

    assert provider == found["session"]["agent-meta"]["model-provider"]


def test_cli_name(record: Any) -> None:
    assert "claude-code" == record["session"]["agent-meta"]["cli-name"]


def test_models_only_if_there_are_several(tmp_path: Path, record: Any) -> None:
    other = ASSISTANT | {
        "uuid": "a2",
        "message": ASSISTANT["message"] | {"model": "claude-haiku-4-5", "id": "msg_2"},
    }
    both = record_of(tmp_path, USER, ASSISTANT, other)["session"]["agent-meta"]

    assert "models" not in record["session"]["agent-meta"]
    assert ["claude-haiku-4-5", "claude-opus-4-6"] == both["models"]
    assert "claude-haiku-4-5" == both["model-id"]


# What other sources bring.


def only_entries(found: Written) -> list[Any]:
    assert [] == cddl.check(found.only)
    entries: list[Any] = found.only["session"]["entries"]
    return entries


def test_nothing_known_is_nothing_shown() -> None:
    found = written("agent-record", Conversation(id="c", source="x")).only

    assert ["id", "recording-agent", "session", "version"] == list(found)
    assert ["agent-meta", "entries", "format", "session-id"] == list(found["session"])
    assert {"model-id": "unknown", "model-provider": "unknown", "cli-name": "x"} == found["session"][
        "agent-meta"
    ]


def test_made_ids_missing_times_and_tokens_are_left_out() -> None:
    message = Message(
        id="m", made_id=True, role="user", parent_id="p", parts=[Text(text="hi")], usage=Usage(input=1)
    )
    event = Event(id="e", made_id=True, name="token-count")
    found = written("agent-record", Conversation(id="c", source="x", timeline=[message, event]))

    assert [
        {"type": "user", "content": "hi"},
        {"type": "system-event", "event-type": "token-count"},
    ] == only_entries(found)


@pytest.mark.parametrize("name", ["queue-operation", "token-count", "step-start", "step-finish"])
def test_events_that_are_named(name: str) -> None:
    event = Event(id="e", name=name, at="2026-01-01T00:00:00Z", data={"operation": "dequeue"})
    found = written("agent-record", Conversation(id="c", source="x", timeline=[event]))

    assert [
        {"type": "system-event", "event-type": name, "timestamp": "2026-01-01T00:00:00Z", "id": "e"}
    ] == only_entries(found)
    assert [] == found.noted(Kind.NOT_EXPRESSED)


def test_what_has_no_entry_is_noted_once_with_a_count() -> None:
    timeline: list[Message | Event] = [
        Event(id="1", name="snapshot"),
        Event(id="2", name="snapshot"),
        Message(id="3", role="system", parts=[Text(text="be brief")]),
    ]
    found = written(
        "agent-record",
        Conversation(id="c", source="x", timeline=timeline),
        Memory(id="m", source="x", kind="identity", text="Ana"),
    )

    assert [] == only_entries(found)
    assert ["2 × event snapshot", "1 × system message", "a memory, as it is no conversation"] == found.noted(
        Kind.NOT_EXPRESSED
    )


def test_content_without_a_native_form() -> None:
    several: list[Part] = [Text(text="look"), Media(kind="image", ref="https://example.org/a.png")]
    timeline: list[Message | Event] = [
        Message(id="1", role="user", parts=several),
        Message(id="2", role="assistant"),
        Message(id="3", role="assistant", native="", parts=[ToolCall(name="ls", input=None)]),
        Message(id="4", role="assistant", parts=[Reasoning(summary="hm", encrypted="xyz")]),
    ]
    found = only_entries(written("agent-record", Conversation(id="c", source="x", timeline=timeline)))

    assert [
        {"type": "text", "text": "look"},
        {"type": "media", "kind": "image", "ref": "https://example.org/a.png"},
    ] == found[0]["content"]
    assert {"type": "assistant", "id": "2"} == found[1]
    assert "" == found[2]["content"]
    assert [{"type": "tool-call", "name": "ls", "input": {}}] == found[2]["children"]
    assert [{"type": "reasoning", "content": "hm", "encrypted": "xyz"}] == found[3]["children"]


def test_a_call_is_shown_as_it_was_made() -> None:
    """Where words of a call are told as what was said, a record does not contradict its own content."""
    made = {"type": "tool_use", "id": "1", "name": "finish", "input": {"result": "Done.", "checked": True}}
    parts: list[Part] = [
        Text(text="Done."),
        ToolCall(name="finish", call_id="1", input={"checked": True}),
        ToolCall(name="look", call_id="2", input={"path": "a"}),
    ]
    message = Message(id="m", role="assistant", parts=parts, native=[made])
    record = written("agent-record", Conversation(id="c", source="x", timeline=[message])).only
    (entry,) = record["session"]["entries"]

    assert [made["input"], {"path": "a"}] == [child["input"] for child in entry["children"]]


def test_messages_of_tools_are_results_of_their_own() -> None:
    at = "2026-01-01T00:00:00Z"
    one = Message(id="1", role="tool", at=at, parts=[ToolResult(call_id="a", output="x", is_error=True)])
    plain = Message(id="2", role="tool", at=at, parts=[Text(text="said")])
    mixed = Message(id="3", role="tool", at=at, parts=[ToolResult(output="y"), Text(text="and")])
    native = Message(id="4", role="tool", at=at, parts=[Text(text="z")], native={"z": 1})
    silent = Message(id="5", role="tool")
    found = written(
        "agent-record", Conversation(id="c", source="x", timeline=[one, plain, mixed, native, silent])
    )

    assert [
        {
            "type": "tool-result",
            "call-id": "a",
            "output": "x",
            "status": "error",
            "timestamp": at,
            "id": "1",
        },
        {"type": "tool-result", "output": "said", "timestamp": at, "id": "2"},
        {"type": "tool-result", "output": "y", "status": "success", "timestamp": at},
        {"type": "tool-result", "output": "and", "timestamp": at},
        {"type": "tool-result", "output": {"z": 1}, "timestamp": at, "id": "4"},
        {"type": "tool-result", "output": "", "id": "5"},
    ] == only_entries(found)


# Beside a developer's checkout lie samples and what the reference makes of them.


def reference_entries(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The reference's rules for lines of a session, written down once more."""
    for line in lines:
        message = line.get("message") or {}
        if line.get("type") == "queue-operation":
            yield {"type": "system-event", "event-type": "queue-operation", "timestamp": line["timestamp"]}
        elif message.get("role") in {"user", "assistant"}:
            content = message["content"]
            blocks = content if isinstance(content, list) else []
            children = [child for block in blocks if (child := reference_child(block))]
            yield {
                "type": message["role"],
                "timestamp": line["timestamp"],
                "id": line["uuid"],
                "content": content,
                **({"children": children} if children else {}),
            }


def reference_child(block: dict[str, Any]) -> dict[str, Any] | None:
    match block["type"]:
        case "tool_use":
            return {
                "type": "tool-call",
                "name": block["name"],
                "input": block["input"],
                "call-id": block["id"],
            }
        case "tool_result":
            return {
                "type": "tool-result",
                "call-id": block["tool_use_id"],
                "output": block.get("content", ""),
                "status": "error" if block.get("is_error") else "success",
            }
        case "thinking":
            return {"type": "reasoning", "content": block["thinking"]}
    return None


def test_a_real_session_gives_the_entries_of_the_reference() -> None:
    (path, *_) = [*SHARED.glob("fixtures/claude-code/xor-*/*.jsonl"), None]
    if path is None:
        pytest.skip("no samples here")
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
    expected = [*reference_entries(lines)]
    found = converted(path, "agent-record").only

    assert len(expected) > 100
    assert expected == found["session"]["entries"]
    assert [] == cddl.check(found)


def test_examples_of_the_draft_are_valid() -> None:
    paths = [*EXAMPLES.rglob("*.json")]
    if not paths:
        pytest.skip("no examples here")
    for path in paths:
        assert [] == cddl.check(json.loads(path.read_text(encoding="utf-8"))), path
