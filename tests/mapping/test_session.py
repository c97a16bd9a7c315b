"""The session model: every field, each mapping rule of its document, and what holds for every source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Link,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.notes import Kind
from tests.inline import converted, save_lines, written

SESSION = "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"
AT = "2026-01-16T10:00:00.000Z"
FIELDS = {
    "Id": str,
    "AgentType": str,
    "ProjectPath": (str, type(None)),
    "GitBranch": (str, type(None)),
    "AgentVersion": (str, type(None)),
    "StartedAt": (str, type(None)),
    "EndedAt": (str, type(None)),
    "Summary": (str, type(None)),
    "Messages": list,
}
MESSAGE_FIELDS = {
    "Id": str,
    "SessionId": str,
    "Role": str,
    "Content": str,
    "RawContent": str,
    "Timestamp": (str, type(None)),
    "ParentId": (str, type(None)),
    "Model": (str, type(None)),
    "ToolCalls": list,
}
CALL_FIELDS = {
    "Id": (str, type(None)),
    "MessageId": str,
    "Name": str,
    "Arguments": object,
    "Result": (str, type(None)),
    "Success": (bool, type(None)),
}


def errors(session: dict[str, Any]) -> list[str]:
    """What is wrong with the form of a session."""
    found = _fields(session, FIELDS, "session")
    for message in session["Messages"]:
        found += _fields(message, MESSAGE_FIELDS, "message")
        found += [] if message["Role"] in {"User", "Assistant", "System", "Tool"} else [message["Role"]]
        found += [] if message["SessionId"] == session["Id"] else ["SessionId"]
        for call in message["ToolCalls"]:
            found += _fields(call, CALL_FIELDS, "call")
            found += [] if call["MessageId"] == message["Id"] else ["MessageId"]
    return found


def _fields(value: dict[str, Any], expected: dict[str, Any], what: str) -> list[str]:
    if value.keys() != expected.keys():
        return [f"{what}: {sorted(value.keys() ^ expected.keys())}"]
    return [f"{what}.{name}" for name, kind in expected.items() if not isinstance(value[name], kind)]


def claude(kind: str, uuid: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": AT,
        "cwd": "/home/ana/recipes",
        "version": "2.1.90",
        "gitBranch": "main",
        "isSidechain": False,
        "message": message,
        **more,
    }


@pytest.fixture
def claude_session(tmp_path: Path) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    thought = {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"}
    blocks = [thought, {"type": "text", "text": "One."}, {"type": "text", "text": "Two."}, call]
    answer = {"role": "assistant", "id": "msg_1", "model": "claude-sonnet-4-5-20250929", "content": blocks}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "README.md"}
    lines = [
        {"type": "summary", "summary": "A list of files", "leafUuid": "u3"},
        claude("user", "u1", {"role": "user", "content": "List the files."}),
        claude("assistant", "u2", answer, parentUuid="u1"),
        claude("user", "u3", {"role": "user", "content": [result]}, parentUuid="u2"),
    ]
    found: dict[str, Any] = converted(save_lines(tmp_path, f"{SESSION}.jsonl", lines), "session").only
    return found


# Claude Code, each rule.


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Id", SESSION),
        ("AgentType", "claude-code"),
        ("AgentVersion", "2.1.90"),
        ("ProjectPath", "/home/ana/recipes"),
        ("GitBranch", "main"),
        ("Summary", "A list of files"),
        ("StartedAt", AT),
    ],
)
def test_claude_code_session(claude_session: dict[str, Any], field: str, value: str) -> None:
    assert value == claude_session[field]


def test_claude_code_messages(claude_session: dict[str, Any]) -> None:
    prompt, answer, output = claude_session["Messages"]

    assert ("u1", "User", "List the files.", None) == tuple(
        prompt[name] for name in ("Id", "Role", "Content", "ParentId")
    )
    assert "List the files." == prompt["RawContent"]
    assert ("u2", "Assistant", "One.\n\nTwo.", "u1") == tuple(
        answer[name] for name in ("Id", "Role", "Content", "ParentId")
    )
    assert "claude-sonnet-4-5-20250929" == answer["Model"]
    assert AT == answer["Timestamp"]
    assert ["thinking", "text", "text", "tool_use"] == [
        block["type"] for block in json.loads(answer["RawContent"])
    ]
    assert ("User", "") == (output["Role"], output["Content"])
    assert "README.md" == json.loads(output["RawContent"])[0]["content"]


def test_claude_code_calls_have_their_results(claude_session: dict[str, Any]) -> None:
    (call,) = claude_session["Messages"][1]["ToolCalls"]

    assert {
        "Id": "toolu_1",
        "MessageId": "u2",
        "Name": "Bash",
        "Arguments": {"command": "ls"},
        "Result": "README.md",
        "Success": True,
    } == call
    assert [] == errors(claude_session)


# Copilot CLI, each rule.


def copilot_events(*data: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"e{place}",
            "type": kind,
            "timestamp": AT,
            "parentId": f"e{place - 1}" if place else None,
            "data": each,
        }
        for place, (kind, each) in enumerate(data)
    ]


@pytest.fixture
def copilot_session(tmp_path: Path) -> dict[str, Any]:
    start = {
        "sessionId": SESSION,
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": "0.0.382",
        "startTime": AT,
    }
    asked = {"toolCallId": "t1", "name": "bash", "arguments": {"command": "false"}}
    said: list[tuple[str, dict[str, Any]]] = [
        ("session.start", start),
        (
            "user.message",
            {"content": "Try it.", "transformedContent": "<now>10:00</now> Try it.", "attachments": []},
        ),
        ("assistant.turn_start", {"turnId": "0"}),
        ("assistant.message", {"messageId": "m1", "content": "I will.", "toolRequests": [asked]}),
        ("tool.execution_start", {"toolCallId": "t1", "toolName": "bash", "arguments": {"command": "false"}}),
        (
            "tool.execution_complete",
            {"toolCallId": "t1", "success": False, "result": {"content": "exit 1"}, "toolTelemetry": {}},
        ),
        ("assistant.turn_end", {"turnId": "0"}),
    ]
    lines = copilot_events(*said)
    found: dict[str, Any] = converted(save_lines(tmp_path, "events.jsonl", lines), "session").only
    return found


def test_copilot_cli_session(copilot_session: dict[str, Any]) -> None:
    assert (SESSION, "copilot-cli", "0.0.382", AT) == tuple(
        copilot_session[name] for name in ("Id", "AgentType", "AgentVersion", "StartedAt")
    )
    assert [] == errors(copilot_session)


def test_copilot_cli_messages_and_calls(copilot_session: dict[str, Any]) -> None:
    prompt, answer = copilot_session["Messages"][:2]

    assert ("User", "Try it.", "<now>10:00</now> Try it.") == (
        prompt["Role"],
        prompt["Content"],
        prompt["RawContent"],
    )
    assert ("Assistant", "I will.", prompt["Id"]) == (answer["Role"], answer["Content"], answer["ParentId"])
    (call,) = answer["ToolCalls"]
    assert ("t1", "bash", {"command": "false"}, "exit 1", False) == tuple(
        call[name] for name in ("Id", "Name", "Arguments", "Result", "Success")
    )


def test_copilot_cli_attachments(tmp_path: Path) -> None:
    """`Content` is what was typed; `RawContent` is what the model was given, and what came with it."""
    attachments = [
        {"type": "file", "path": "/w/tea.py", "displayName": "tea.py"},
        {"type": "selection", "filePath": "/w/cup.py", "displayName": "cup.py", "text": "cups = 2"},
        {"type": "github_reference", "number": 7, "title": "Too hot"},
    ]
    data = {"content": "Look.", "transformedContent": "<now>10:00</now> Look.", "attachments": attachments}
    start = {"sessionId": SESSION, "version": 1, "producer": "copilot-agent", "startTime": AT}
    lines = copilot_events(("session.start", start), ("user.message", data))

    (prompt,) = converted(save_lines(tmp_path, "events.jsonl", lines), "session").only["Messages"]

    assert "Look." == prompt["Content"]
    assert [
        {"type": "text", "text": "<now>10:00</now> Look."},
        {"type": "media", "kind": "file", "name": "tea.py", "ref": "/w/tea.py"},
        {"type": "code", "code": "cups = 2", "file": "/w/cup.py", "extra": {"displayName": "cup.py"}},
        {"type": "other", "name": "github_reference", "data": attachments[2]},
    ] == json.loads(prompt["RawContent"])


# What holds for every source.


def conversation(*timeline: Message | Event, **more: Any) -> Conversation:
    return Conversation(id="c", source="x", timeline=[*timeline], **more)


def test_nothing_known_is_null() -> None:
    found = written("session", conversation()).only

    assert [] == errors(found)
    assert {"Id": "c", "AgentType": "x", "Messages": []} == {
        name: value for name, value in found.items() if value is not None
    }


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"summaries": [Summary(text="one"), Summary(text="two")], "title": "T"}, "two"),
        ({"title": "T"}, "T"),
        ({}, "First line"),
    ],
)
def test_a_summary_is_the_source_s_else_the_title_else_the_first_line(more: Any, expected: str) -> None:
    hidden = Message(id="0", role="user", hidden=True, parts=[Text(text="instructions")])
    empty = Message(id="1", role="user", parts=[Text(text="  ")])
    prompt = Message(id="2", role="user", parts=[Text(text=" First line \nand more")])

    assert expected == written("session", conversation(hidden, empty, prompt, **more)).only["Summary"]


def test_a_message_after_an_event_follows_the_message_before_it() -> None:
    timeline = (
        Message(id="1", role="user"),
        Event(id="e", name="turn", parent_id="1"),
        Event(id="f", name="turn", parent_id="e"),
        Message(id="2", role="assistant", parent_id="f"),
    )
    found = written("session", conversation(*timeline))

    assert ["1"] == [message["ParentId"] for message in found.only["Messages"] if message["Id"] == "2"]
    assert ["2 × event"] == found.noted(Kind.NOT_EXPRESSED)


def test_times_fall_back_to_the_conversation_s_and_are_noted() -> None:
    found = written("session", conversation(Message(id="1", role="user"), started_at=AT))

    assert AT == found.only["Messages"][0]["Timestamp"]
    assert ["1 × message"] == found.noted(Kind.MISSING_TIME)


def test_the_end_is_the_last_time_in_it() -> None:
    later = "2026-01-16T12:00:00+01:00"
    found = written(
        "session",
        conversation(
            Message(id="1", role="user", at="2026-01-16T11:30:00Z"), Message(id="2", role="user", at=later)
        ),
    ).only

    assert (later, "2026-01-16T11:30:00Z") == (found["StartedAt"], found["EndedAt"])


@pytest.mark.parametrize(
    ("native", "raw"),
    [
        ("Yes.", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]),
        ("", [{"type": "thinking", "thinking": "hm"}]),
        ([{"text": "Yes."}], [{"type": "thinking", "thinking": "hm"}, {"text": "Yes."}]),
        ({"text": "Yes."}, [{"type": "thinking", "thinking": "hm"}, {"text": "Yes."}]),
        ([{"thought": "hm"}, {"text": "Yes."}], [{"thought": "hm"}, {"text": "Yes."}]),
    ],
)
def test_raw_content_has_reasoning_that_a_source_stores_next_to_it(native: Any, raw: Any) -> None:
    thought, said = Reasoning(text="hm"), Text(text="Yes.")
    answer = Message(id="m", role="assistant", at=AT, parts=[thought, said], native=native)
    made = written("session", Conversation(id="c", source="x", timeline=[answer]))

    assert raw == json.loads(made.only["Messages"][0]["RawContent"])


def test_content_is_the_text_and_raw_content_everything() -> None:
    message = Message(
        id="1",
        role="assistant",
        parts=[
            Reasoning(text="Hm."),
            Text(text="Here:"),
            Code(code="x = 1"),
            Media(kind="image", name="a.png"),
        ],
    )
    (found,) = written("session", conversation(message)).only["Messages"]

    assert "Here:\n\nx = 1" == found["Content"]
    for text in ("Hm.", "Here:", "x = 1", "a.png"):
        assert text in found["RawContent"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        (
            [Text(text="a"), Media(kind="image", ref="b.png"), Other(data={"c": 1})],
            'a\n\n[image b.png]\n\n{"type":"other","data":{"c":1}}',
        ),
        ([], ""),
    ],
)
def test_results_are_text(output: Any, text: str) -> None:
    call = Message(id="1", role="assistant", parts=[ToolCall(name="t", call_id="k", input='{"a": 1}')])
    result = Message(id="2", role="tool", parts=[ToolResult(call_id="k", output=output, is_error=True)])
    asked, answered = written("session", conversation(call, result)).only["Messages"]

    assert (text, False, {"a": 1}) == tuple(
        asked["ToolCalls"][0][name] for name in ("Result", "Success", "Arguments")
    )
    assert ("Tool", text) == (answered["Role"], answered["Content"])


def test_a_call_without_a_result_has_neither_result_nor_success() -> None:
    message = Message(id="1", role="assistant", parts=[ToolCall(name="t"), ToolCall(name="u", call_id="k")])
    (found,) = written("session", conversation(message)).only["Messages"]

    assert [(None, None, None), ("k", None, None)] == [
        (call["Id"], call["Result"], call["Success"]) for call in found["ToolCalls"]
    ]


def test_what_has_no_place_is_noted() -> None:
    message = Message(id="1", role="user", at=AT, usage=Usage(input=1))
    link = Link(conversation_id="p", relation="subagent")
    found = written(
        "session", conversation(message, link=link), Memory(id="m", source="x", kind="context", text="t")
    )

    assert 1 == len(found.documents)
    assert [
        "1 × message with token counts",
        "the link to another conversation (subagent)",
        "a memory, as it is no session",
    ] == found.noted(Kind.NOT_EXPRESSED)
