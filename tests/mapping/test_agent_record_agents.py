"""Agents but Claude Code to agent records: the entries that the draft's reference parser makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_journal.model import timestamps
from tests import cddl
from tests.inline import converted, save_document, save_lines
from tests.mapping.reference_parser import by_session, concatenated

SHARED = Path(__file__).parents[3] / "shared"
EXAMPLES = SHARED / "targets" / "examples" / "verifiable-agent-record" / "expected"
AT, LATER = "2026-03-01T10:00:00.000Z", "2026-03-01T10:00:05.000Z"
MS = 1_772_359_200_000  # AT


def record_of(path: Path) -> Any:
    found = converted(path, "agent-record").only
    assert [] == cddl.check(found)
    return found


def entries_of(path: Path) -> list[Any]:
    entries: list[Any] = record_of(path)["session"]["entries"]
    return entries


# Gemini CLI: one document; thoughts and calls are children, in this order.

RESULT = [{"functionResponse": {"id": "read-1", "name": "read_file", "response": {"output": "leaves"}}}]
GEMINI: dict[str, Any] = {
    "sessionId": "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10",
    "projectHash": "ab" * 32,
    "startTime": AT,
    "lastUpdated": LATER,
    "messages": [
        {"id": "m1", "timestamp": AT, "type": "user", "content": "What is in the pot?"},
        {
            "id": "m2",
            "timestamp": LATER,
            "type": "gemini",
            "content": "Leaves.",
            "model": "gemini-3-pro-preview",
            "thoughts": [
                {"subject": "The pot", "description": "I look into it.", "timestamp": AT},
                {"subject": "The lid", "description": "It is off.", "timestamp": AT},
            ],
            "tokens": {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 0, "total": 15},
            "toolCalls": [
                {
                    "id": "read-1",
                    "name": "read_file",
                    "args": {"file_path": "pot.txt"},
                    "result": RESULT,
                    "status": "success",
                    "timestamp": AT,
                    "displayName": "ReadFile",
                },
                {"id": "read-2", "name": "read_file", "args": {}, "status": "cancelled"},
                {"id": "sh-1", "name": "run_shell_command", "args": {}, "result": RESULT, "status": "error"},
            ],
        },
        {"id": "m3", "timestamp": LATER, "type": "info", "content": "Request cancelled."},
    ],
}


def test_gemini(tmp_path: Path) -> None:
    path = save_document(tmp_path, "session-2026-03-01T10-00-5d1f4c1e.json", GEMINI)

    assert [
        {"type": "user", "timestamp": AT, "id": "m1", "content": "What is in the pot?"},
        {
            "type": "assistant",
            "timestamp": LATER,
            "id": "m2",
            "content": "Leaves.",
            "model-id": "gemini-3-pro-preview",
            "children": [
                {"type": "reasoning", "content": "I look into it.", "subject": "The pot"},
                {"type": "reasoning", "content": "It is off.", "subject": "The lid"},
                {
                    "type": "tool-call",
                    "timestamp": AT,
                    "name": "read_file",
                    "input": {"file_path": "pot.txt"},
                    "call-id": "read-1",
                },
                {
                    "type": "tool-result",
                    "timestamp": AT,
                    "output": RESULT,
                    "status": "success",
                    "call-id": "read-1",
                },
                {
                    "type": "tool-call",
                    "timestamp": LATER,
                    "name": "read_file",
                    "input": {},
                    "call-id": "read-2",
                },
                {
                    "type": "tool-call",
                    "timestamp": LATER,
                    "name": "run_shell_command",
                    "input": {},
                    "call-id": "sh-1",
                },
                {
                    "type": "tool-result",
                    "timestamp": LATER,
                    "output": RESULT,
                    "status": "error",
                    "call-id": "sh-1",
                },
            ],
        },
        {"type": "assistant", "timestamp": LATER, "id": "m3", "content": "Request cancelled."},
    ] == entries_of(path)


def test_gemini_as_a_whole(tmp_path: Path) -> None:
    path = save_document(tmp_path, "session-2026-03-01T10-00-5d1f4c1e.json", GEMINI)
    session = record_of(path)["session"]

    assert GEMINI["sessionId"] == session["session-id"]
    assert AT == session["session-start"]
    assert {
        "model-id": "gemini-3-pro-preview",
        "model-provider": "google",
        "cli-name": "gemini-cli",
    } == session["agent-meta"]


# OpenCode: a stream of records, in which parts stand beside their messages.


def named(identity: str, message: str, kind: str) -> dict[str, Any]:
    return {"id": identity, "sessionID": "ses_1", "messageID": message, "type": kind}


def tool(identity: str, status: str, state: dict[str, Any]) -> dict[str, Any]:
    about = {"callID": f"call_{identity}", "tool": "bash", "state": {"status": status, **state}}
    return named(identity, "msg_2", "tool") | about


OPENCODE: list[dict[str, Any]] = [
    {"id": "ses_1", "projectID": "p", "directory": "/tea", "title": "Tea", "time": {"created": MS}},
    named("prt_1", "msg_1", "text") | {"text": "Boil water."},
    {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": MS}},
    named("prt_2", "msg_2", "step-start") | {"snapshot": "f9"},
    named("prt_3", "msg_2", "reasoning")
    | {"text": "", "metadata": {"openai": {"reasoningEncryptedContent": "gAAA"}}},
    named("prt_4", "msg_2", "text") | {"text": "I do.", "time": {"start": MS, "end": MS}},
    tool(
        "prt_5",
        "completed",
        {
            "input": {"command": "boil"},
            "output": "hot",
            "title": "Boils",
            "metadata": {"exit": 0},
            "time": {"start": MS, "end": MS + 5000},
        },
    ),
    tool("prt_6", "running", {"input": {"command": "wait"}, "time": {"start": MS}}),
    named("prt_7", "msg_2", "step-finish") | {"reason": "stop", "cost": 0.1},
    named("prt_8", "msg_2", "patch") | {"hash": "f9", "files": ["/tea/pot"]},
    {
        "id": "msg_2",
        "sessionID": "ses_1",
        "role": "assistant",
        "time": {"created": MS, "completed": MS + 5000},
        "parentID": "msg_1",
        "modelID": "kettle-1",
        "providerID": "teapot",
        "cost": 0.1,
        "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}},
    },
]


def test_opencode(tmp_path: Path) -> None:
    called = {"type": "tool-call", "name": "bash", "timestamp": AT}

    assert [
        {"type": "user", "content": "Boil water.", "id": "prt_1"},
        {"type": "user", "timestamp": AT},
        {"type": "system-event", "event-type": "step-start"},
        {"type": "reasoning", "content": "", "id": "prt_3"},
        {"type": "assistant", "content": "I do.", "id": "prt_4"},
        called | {"input": {"command": "boil"}, "id": "prt_5", "call-id": "call_prt_5"},
        {
            "type": "tool-result",
            "timestamp": LATER,
            "output": "hot",
            "status": "completed",
            "call-id": "call_prt_5",
        },
        called | {"input": {"command": "wait"}, "id": "prt_6", "call-id": "call_prt_6"},
        {"type": "tool-result", "output": "", "status": "running", "call-id": "call_prt_6"},
        {"type": "system-event", "event-type": "step-finish"},
        {"type": "tool-result", "id": "prt_8", "output": "", "status": "success"},
        {"type": "assistant", "timestamp": AT},
    ] == entries_of(save_lines(tmp_path, "stream.jsonl", OPENCODE))


def test_opencode_as_a_whole(tmp_path: Path) -> None:
    session = record_of(save_lines(tmp_path, "stream.jsonl", OPENCODE))["session"]

    assert ("ses_1", AT) == (session["session-id"], session["session-start"])
    assert {"working-dir": "/tea"} == session["environment"]
    assert {"model-id": "kettle-1", "model-provider": "teapot", "cli-name": "opencode"} == session[
        "agent-meta"
    ]


# Cursor: speakers and their content, and nothing else.

CURSOR: list[dict[str, Any]] = [
    {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nBoil water.\n</user_query>"}]},
    },
    {
        "role": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "I do."},
                {"type": "tool_use", "name": "Shell", "input": {"command": "boil"}},
            ]
        },
    },
    {"role": "system", "message": {"content": [{"type": "text", "text": "The pot is hot."}]}},
]


def test_cursor(tmp_path: Path) -> None:
    contents = [line["message"]["content"] for line in CURSOR]
    speakers = ["user", "assistant", "assistant"]

    assert [
        {"type": speaker, "content": content} for speaker, content in zip(speakers, contents, strict=True)
    ] == entries_of(save_lines(tmp_path, "chat.jsonl", CURSOR))


def test_cursor_as_a_whole(tmp_path: Path) -> None:
    record = record_of(save_lines(tmp_path, "chat.jsonl", CURSOR))

    assert "created" not in record
    assert {"model-id": "unknown", "model-provider": "unknown", "cli-name": "cursor"} == record["session"][
        "agent-meta"
    ]


# Codex: items and, once more, what the app showed of them; each is a line of its own.

ROLLOUT = "rollout-2026-03-01T10-00-00-01990000-aaaa-7222-8333-4444444444a1.jsonl"
SPOKEN = [{"type": "input_text", "text": "Boil water and look into the pot."}]
PICTURE = [
    {"type": "input_text", "text": "a pot"},
    {"type": "input_image", "image_url": "https://x.example/p"},
]
COUNTS = {
    "input_tokens": 900,
    "cached_input_tokens": 800,
    "output_tokens": 70,
    "reasoning_output_tokens": 30,
    "total_tokens": 970,
}
COUNTED = {"input": 900, "cached": 800, "output": 70, "reasoning": 30, "total": 970}
INFO = {"total_token_usage": COUNTS, "last_token_usage": COUNTS, "model_context_window": 1000}


def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **fields})


def shown(kind: str, **fields: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **fields})


CODEX: list[dict[str, Any]] = [
    line(
        "session_meta",
        {
            "id": "01990000-aaaa-7222-8333-4444444444a1",
            "timestamp": AT,
            "cwd": "/tea",
            "cli_version": "0.98.0",
            "model_provider": "openai",
        },
    ),
    line("turn_context", {"cwd": "/tea", "model": "gpt-5.2"}),
    item("message", role="developer", content=[{"type": "input_text", "text": "Be brief."}]),
    item("message", role="user", content=SPOKEN),
    shown("user_message", message=SPOKEN[0]["text"], images=[]),
    shown("agent_reasoning", text="**Kettle**"),
    item(
        "reasoning",
        summary=[{"type": "summary_text", "text": "**Kettle**"}],
        content=None,
        encrypted_content="gAAA",
    ),
    item("function_call", name="exec_command", arguments='{"cmd":"boil"}', call_id="call_1"),
    item("function_call", name="view_image", arguments="{}", call_id="call_2", namespace="tea"),
    shown("token_count", info=None, rate_limits={"primary": None}),
    shown("token_count", info=INFO, rate_limits={"primary": None}),
    item("function_call_output", call_id="call_1", output="Process exited with code 1\nOutput:\ncold"),
    item("function_call_output", call_id="call_2", output=PICTURE),
    item(
        "custom_tool_call", status="completed", call_id="call_3", name="apply_patch", input="*** Begin Patch"
    ),
    item("custom_tool_call_output", call_id="call_3", output='{"output":"ok","metadata":{"exit_code":0}}'),
    item("web_search_call", status="completed", action={"type": "search", "query": "tea"}),
    shown("agent_message", message="It is hot."),
    item("message", role="assistant", content=[{"type": "output_text", "text": "It is hot."}]),
]


def test_codex(tmp_path: Path) -> None:
    at = {"timestamp": AT}
    words = CODEX[-1]["payload"]["content"]

    assert [
        {"type": "user", "content": CODEX[2]["payload"]["content"], **at},
        {"type": "user", "content": SPOKEN, **at},
        {"type": "user", "content": SPOKEN[0]["text"], **at},
        {"type": "reasoning", "content": "**Kettle**", **at},
        {"type": "reasoning", "content": "**Kettle**", "encrypted": "gAAA", **at},
        {"type": "tool-call", "name": "exec_command", "input": '{"cmd":"boil"}', "call-id": "call_1", **at},
        {"type": "tool-call", "name": "view_image", "input": "{}", "call-id": "call_2", **at},
        {"type": "system-event", "event-type": "token-count", **at},
        {"type": "system-event", "event-type": "token-count", "token-usage": COUNTED, **at},
        {
            "type": "tool-result",
            "output": "Process exited with code 1\nOutput:\ncold",
            "call-id": "call_1",
            **at,
        },
        {"type": "tool-result", "output": PICTURE, "call-id": "call_2", **at},
        {"type": "tool-call", "name": "apply_patch", "input": "*** Begin Patch", "call-id": "call_3", **at},
        {"type": "tool-result", "output": CODEX[14]["payload"]["output"], "call-id": "call_3", **at},
        {"type": "tool-call", "name": "web_search", "input": CODEX[15]["payload"]["action"], **at},
        {"type": "assistant", "content": "It is hot.", **at},
        {"type": "assistant", "content": words, **at},
    ] == entries_of(save_lines(tmp_path, ROLLOUT, CODEX))


def test_a_picture_that_was_made_is_a_call_and_a_result(tmp_path: Path) -> None:
    made = item("image_generation_call", id="ig_1", revised_prompt="a pot", result="iVBO", status="completed")
    *_, call, result = entries_of(save_lines(tmp_path, ROLLOUT, [*CODEX[:2], made]))

    assert ("tool-call", "image_generation", "ig_1") == (call["type"], call["name"], call["call-id"])
    assert ("tool-result", "ig_1") == (result["type"], result["call-id"])


# Beside a developer's checkout lie samples; the reference's rules are written down once more.


def without_nulls(**values: Any) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in values.items() if value is not None}


def reference_gemini(path: Path) -> Iterator[dict[str, Any]]:
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        is_user = message["type"] in ("user", "human")
        entry = without_nulls(
            type="user" if is_user else "assistant",
            timestamp=message.get("timestamp"),
            content=message.get("content", ""),
            id=message.get("id"),
            model_id=None if is_user else message.get("model"),
        )
        children = [] if is_user else [*reference_children(message)]
        yield entry | ({"children": children} if children else {})


def reference_children(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for thought in message.get("thoughts", []):
        yield without_nulls(
            type="reasoning", content=thought.get("description", ""), subject=thought.get("subject")
        )
    for call in message.get("toolCalls", []):
        at = call.get("timestamp", message.get("timestamp"))
        yield without_nulls(
            type="tool-call", timestamp=at, name=call["name"], input=call.get("args", {}), call_id=call["id"]
        )
        if call.get("result") is not None:
            yield without_nulls(
                type="tool-result",
                timestamp=at,
                output=call["result"],
                status=call.get("status"),
                call_id=call["id"],
            )


def reference_opencode(path: Path) -> Iterator[dict[str, Any]]:
    records = [*concatenated(path)]
    roles = {record["id"]: record["role"] for record in records if "role" in record}
    for record in records:
        match record.get("type"):
            case None if "role" in record:
                yield without_nulls(type=record["role"], timestamp=moment(record["time"], "created"))
            case "text":
                speaker = roles.get(record["messageID"], "assistant")
                yield {"type": speaker, "content": record["text"], "id": record["id"]}
            case "tool":
                yield from reference_tool(record, record["state"])
            case "patch":
                output = record.get("diff", "")
                yield {"type": "tool-result", "id": record["id"], "output": output, "status": "success"}
            case "reasoning":
                yield {"type": "reasoning", "content": record["text"], "id": record["id"]}
            case "step-start" | "step-finish" as step:
                yield {"type": "system-event", "event-type": step}


def reference_tool(record: dict[str, Any], state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    time = state.get("time", {})
    yield without_nulls(
        type="tool-call",
        timestamp=moment(time, "start"),
        name=record["tool"],
        input=state.get("input", {}),
        id=record["id"],
        call_id=record["callID"],
    )
    # Where a call failed, the reference leaves out why.
    output = state.get("error") if state.get("status") == "error" else state.get("output")
    yield without_nulls(
        type="tool-result",
        timestamp=moment(time, "end"),
        output=output or "",
        status=state.get("status"),
        call_id=record["callID"],
    )


def moment(time: dict[str, Any], name: str) -> str | None:
    """The reference passes milliseconds on; the draft asks new writers for RFC 3339."""
    return timestamps.parse_timestamp(time.get(name))


def reference_cursor(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            record = json.loads(line)
            speaker = "user" if record["role"] == "user" else "assistant"
            yield {"type": speaker, "content": record["message"]["content"]}


@pytest.mark.parametrize(
    ("agent", "reference"), [("gemini-cli", reference_gemini), ("cursor", reference_cursor)]
)
def test_real_sessions_give_the_entries_of_the_reference(
    agent: str, reference: Callable[[Path], Iterator[dict[str, Any]]]
) -> None:
    samples = [*SHARED.glob(f"fixtures/{agent}/xor-*/*.jsonl")]
    if not samples:
        pytest.skip("no samples here")
    for path in samples:
        expected = [*reference(path)]

        assert len(expected) > 5
        assert expected == entries_of(path)


def test_real_streams_give_the_entries_of_the_reference_session_by_session(tmp_path: Path) -> None:
    samples = [*SHARED.glob("fixtures/opencode/xor-*/*.jsonl")]
    if not samples:
        pytest.skip("no samples here")
    for path in samples:
        expected = {name: [*reference_opencode(one)] for name, one in by_session(path, tmp_path)}
        found = [record["session"] for record in converted(path, "agent-record").documents]

        assert len(expected) > 5
        assert expected == {session["session-id"]: session["entries"] for session in found}


def test_a_real_record_holds_all_that_ours_does() -> None:
    """The reference's own output for a session of Gemini CLI, without what the plain profile leaves out."""
    stem = "gemini-gemini-3-pro-preview"
    samples = [*SHARED.glob(f"fixtures/gemini-cli/xor-*/{stem}.jsonl")]
    if not samples:
        pytest.skip("no samples here")
    expected = json.loads((EXAMPLES / f"{stem}.spec.json").read_text(encoding="utf-8"))["session"]
    found = record_of(samples[0])["session"]

    assert expected["agent-meta"] == found["agent-meta"]
    assert expected["session-start"] == found["session-start"]
    for theirs, ours in zip(expected["entries"], found["entries"], strict=True):
        pairs = zip(theirs.pop("children", ()), ours.pop("children", ()), strict=True)
        for their_entry, our_entry in [(theirs, ours), *pairs]:
            assert {name: their_entry.get(name) for name in our_entry} == our_entry
