"""Content in each of its forms: a text, blocks, one block, or an object that holds content (000, L545)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation, Other, Text, tree
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Notes
from tests.cases import as_json, leaves
from tests.inline import save_document, save_lines
from tests.test_readers import without_native

BLOCK = {"type": "text", "text": "Tea?"}
FORMS: dict[str, Any] = {
    "text": "Tea?",
    "blocks": [BLOCK],
    "block": BLOCK,
    "text held": {"content": "Tea?"},
    "blocks held": {"content": [BLOCK]},
    "block held": {"content": BLOCK},
    "held twice": {"content": {"content": [BLOCK]}},
}
ID = "5b0c7f3a-1111-4222-8333-000000000031"
AT = "2026-01-05T10:00:00.000Z"
MS = 1767600000000
USER = {"role": "user", "content": "Hello."}


def claude_code(folder: Path, content: Any) -> Path:
    line = {"type": "user", "uuid": ID, "parentUuid": None, "sessionId": ID, "timestamp": AT, "cwd": "/a"}
    return save_lines(folder, f"{ID}.jsonl", [{**line, "message": {"role": "user", "content": content}}])


def claude_code_answer(folder: Path, content: Any) -> Path:
    line = {
        "type": "assistant",
        "uuid": ID,
        "parentUuid": None,
        "sessionId": ID,
        "timestamp": AT,
        "cwd": "/a",
    }
    said = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return save_lines(folder, f"{ID}.jsonl", [{**line, "message": said}])


def codex(folder: Path, content: Any) -> Path:
    meta = {"id": ID, "timestamp": AT, "cwd": "/a", "originator": "codex_cli_rs", "cli_version": "0.50.0"}
    item = {"type": "message", "role": "assistant", "content": content}
    return save_lines(
        folder,
        f"rollout-2026-01-05T10-00-00-{ID}.jsonl",
        [
            {"timestamp": AT, "type": "session_meta", "payload": meta},
            {"timestamp": AT, "type": "response_item", "payload": item},
        ],
    )


def continue_session(folder: Path, content: Any) -> Path:
    history = [{"message": {"role": "user", "content": content}, "contextItems": []}]
    document = {"sessionId": ID, "title": "t", "workspaceDirectory": "/a", "history": history}
    return save_document(folder, f"{ID}.json", document)


def continue_documented(folder: Path, content: Any) -> Path:
    models = [{"model": "m", "provider": "p"}]
    said = [USER, {"role": "assistant", "content": content}]
    return save_document(folder, "a.json", {"session_id": "s", "models": models, "messages": said})


def roo_code(folder: Path, content: Any) -> Path:
    place = folder / "tasks" / ID
    place.mkdir(parents=True)
    said = {"role": "assistant", "content": content, "ts": MS}
    save_document(place, "api_conversation_history.json", [{**USER, "ts": MS}, said])
    return place


def roo_code_prompt(folder: Path, content: Any) -> Path:
    place = folder / "tasks" / ID
    place.mkdir(parents=True)
    save_document(place, "api_conversation_history.json", [{"role": "user", "content": content, "ts": MS}])
    return place


def cline_session(folder: Path, content: Any) -> Path:
    place = folder / "sessions" / "s_1"
    place.mkdir(parents=True)
    said = [{"id": "m1", "role": "user", "content": content, "ts": MS}]
    whole = {"version": 1, "agent": "lead", "sessionId": "s_1", "messages": said}
    save_document(place, "s_1.messages.json", whole)
    return place


def openai_request(folder: Path, content: Any) -> Path:
    request = {"model": "gpt-4", "messages": [USER, {"role": "user", "content": content}]}
    answer = {"choices": [{"message": {"role": "assistant", "content": "x"}}]}
    return save_lines(folder, "trace.jsonl", [{"request": request, "response": answer}])


def openai_answer(folder: Path, content: Any) -> Path:
    request = {"model": "gpt-4", "messages": [USER]}
    answer = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return save_lines(folder, "trace.jsonl", [{"request": request, "response": answer}])


def claude_request(folder: Path, content: Any) -> Path:
    request = {
        "model": "claude-opus-4",
        "max_tokens": 5,
        "system": "s",
        "messages": [USER, {"role": "user", "content": content}],
    }
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "x"}],
        "model": "c",
    }
    return save_lines(folder, "trace.jsonl", [{"request": request, "response": answer}])


def claude_answer(folder: Path, content: Any) -> Path:
    request = {"model": "claude-opus-4", "max_tokens": 5, "system": "s", "messages": [USER]}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": content,
        "model": "c",
        "stop_reason": "end_turn",
    }
    return save_lines(folder, "trace.jsonl", [{"request": request, "response": answer}])


def azure(folder: Path, content: Any) -> Path:
    row = {
        "TimeGenerated": AT,
        "OperationName": "ChatCompletions_Create",
        "CorrelationId": ID,
        "ModelDeploymentName": "d",
        "RequestBody": json.dumps({"messages": [{"role": "user", "content": content}]}),
        "ResponseBody": json.dumps({"choices": [{"message": {"role": "assistant", "content": "x"}}]}),
    }
    return save_lines(folder, "rows.jsonl", [row])


def claude_ai(folder: Path, content: Any) -> Path:
    said = {"uuid": ID, "sender": "human", "text": "", "content": content, "created_at": AT, "updated_at": AT}
    chat = {"uuid": ID, "name": "n", "created_at": AT, "updated_at": AT, "chat_messages": [said]}
    return save_document(folder, "conversations.json", [chat])


def unified(folder: Path, content: Any) -> Path:
    document = {
        "schema_version": "1.0.0",
        "conversation_id": ID,
        "platform": {"name": "chatgpt", "version": "1"},
        "created_at": AT,
        "messages": [{"message_id": "m", "role": "user", "timestamp": AT, "content": content}],
    }
    return save_document(folder, "u.json", document)


def cursor(folder: Path, content: Any) -> Path:
    place = folder / "projects" / "a" / "agent-transcripts" / ID
    place.mkdir(parents=True)
    return save_lines(place, f"{ID}.jsonl", [{"role": "user", "message": {"content": content}}])


def gemini_cli(folder: Path, content: Any) -> Path:
    head = {"sessionId": ID, "projectHash": "0", "startTime": AT, "lastUpdated": AT, "kind": "main"}
    said = {"id": "u", "timestamp": AT, "type": "user", "content": content}
    return save_lines(folder, "session.jsonl", [head, said])


def chatgpt(folder: Path, content: Any) -> Path:
    said = {"id": "a", "author": {"role": "user"}, "create_time": 1767261601.0, "content": content}
    chat = {
        "conversation_id": ID,
        "title": "t",
        "create_time": 1767261600.0,
        "update_time": 1767261601.0,
        "current_node": "a",
        "mapping": {"a": {"id": "a", "parent": None, "children": [], "message": {**said, "metadata": {}}}},
    }
    return save_document(folder, "conversations.json", [chat])


def copilot_cli(folder: Path, content: Any) -> Path:
    return copilot_events(folder, "user.message", {"content": content, "attachments": []})


def copilot_cli_answer(folder: Path, content: Any) -> Path:
    return copilot_events(folder, "assistant.message", {"messageId": "m", "content": content})


def copilot_events(folder: Path, kind: str, data: dict[str, Any]) -> Path:
    start = {"sessionId": ID, "version": 1, "producer": "copilot-agent", "startTime": AT}
    lines = [
        {"id": "e0", "type": "session.start", "timestamp": AT, "parentId": None, "data": start},
        {"id": "e1", "type": kind, "timestamp": AT, "parentId": "e0", "data": data},
    ]
    return save_lines(folder, "events.jsonl", lines)


WRITTEN = [
    claude_code,
    claude_code_answer,
    codex,
    continue_session,
    continue_documented,
    roo_code,
    roo_code_prompt,
    cline_session,
    openai_request,
    openai_answer,
    claude_request,
    claude_answer,
    azure,
    claude_ai,
    unified,
    cursor,
    gemini_cli,
    chatgpt,
    copilot_cli,
    copilot_cli_answer,
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("written", WRITTEN)
def test_content_is_read_in_each_form(
    tmp_path: Path, written: Callable[[Path, Any], Path], form: str
) -> None:
    (item,) = read_all([str(written(tmp_path, FORMS[form]))], Notes())

    assert isinstance(item, Conversation)
    parts = [part for said in tree.messages(item) for part in said.parts]
    assert [part.text for part in parts if isinstance(part, Text)].count("Tea?") == 1
    assert not [part for part in parts if isinstance(part, Other)]


@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_next_to_held_content_stays(tmp_path: Path, written: Callable[[Path, Any], Path]) -> None:
    held = {"mood": "calm", "content": {"pot": "clay", "content": "Tea?"}}
    (item,) = read_all([str(written(tmp_path, held))], Notes())

    texts = {text for _, text in leaves(without_native(as_json(item)))}
    assert {"Tea?", "calm", "clay"} <= texts


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a", ("a", {})),
        (None, (None, {})),
        (7, (7, {})),
        ({}, ({}, {})),
        ({"text": "a"}, ({"text": "a"}, {})),
        ({"content": ""}, ({"content": ""}, {})),
        ({"content": {"a": 1}}, ({"content": {"a": 1}}, {})),
        ({"content": "a", "x": 1}, ("a", {"x": 1})),
        ({"type": "message", "content": ["a"]}, (["a"], {"type": "message"})),
        ({"type": "tool_result", "content": "a"}, ([{"type": "tool_result", "content": "a"}], {})),
        ({"type": "mcp_tool_result", "content": "a"}, ([{"type": "mcp_tool_result", "content": "a"}], {})),
        ({"type": "poll"}, ([{"type": "poll"}], {})),
        ({"content": {"content": "a", "y": 2}, "x": 1}, ("a", {"x": 1, "content": {"y": 2}})),
    ],
)
def test_unwrapping(content: Any, expected: tuple[Any, Any]) -> None:
    assert unwrap(content) == expected


def test_deeply_held_content_is_unwrapped() -> None:
    content: Any = "Tea?"
    for _ in range(50_000):
        content = {"content": content}

    assert unwrap(content) == ("Tea?", {})
