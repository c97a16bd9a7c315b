"""Unified documents as a source: ours come back as they were, those of others as their schema says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agent_journal.conversion.pipeline import read_all
from agent_journal.decoding import json_text
from agent_journal.model import (
    Code,
    Conversation,
    Feedback,
    Link,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers.unified.own_documents import SHAPE
from agent_journal.readers.unified.restored import restored
from tests.examples import examples
from tests.inline import read_one, save_document, written
from tests.models import conversations
from tests.read_back.unified import LOSSES
from tests.test_read_back import after, as_texts

ID = "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"
OTHER_ID = "6d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"
CASES = Path(__file__).parents[1] / "readers" / "unified"
AT = "2026-03-01T10:00:00.000Z"


# Ours.


@settings(
    max_examples=examples(150), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(conversation=conversations)
def test_any_model_comes_back(conversation: Conversation) -> None:
    (line,) = written("unified", conversation).documents
    again = restored(SHAPE.one(json.dumps(line).encode()))
    losses = LOSSES.values()

    assert as_texts(after([conversation], losses)) == as_texts(after([again], losses))


@pytest.mark.parametrize(
    "given",
    [
        '{"a":"ü"}',
        '{"a": "ü"}',
        '{"a": "\\u00fc"}',
        '{ "a" : 1}',
        '{"raw":1}',
        "[1]",
        "7",
        "null",
        '"x"',
        "no JSON",
        {"raw": "x"},
        {},
        [1],
        7,
        None,
    ],
)
def test_inputs_come_back_as_they_were_stated(given: Any) -> None:
    said = Message(id="1", role="assistant", parts=[ToolCall(name="ls", call_id="c", input=given)])
    (document,) = written("unified", Conversation(id=ID, source="x", timeline=[said])).documents
    (again,) = restored(SHAPE.one(json.dumps(document).encode())).timeline

    assert isinstance(again, Message)
    assert said.parts == again.parts


def test_a_text_is_not_stated_twice() -> None:
    """Inputs that are JSON text are told by their form, names of fields once for all."""
    text = json.dumps({"command": "x" * 1000})
    calls = [ToolCall(name="ls", call_id=str(number), input=text, kind="shell") for number in range(50)]
    said = [
        Message(id=call.call_id or "", role="user", parts=[call], extra={"permissionMode": "plan"})
        for call in calls
    ]
    (found,) = written("unified", Conversation(id=ID, source="x", shape="list", timeline=[*said])).documents

    assert {
        "source": "x",
        "names": {"permission_mode": "permissionMode"},
        "kinds": {"ls": "shell"},
        "inputs": "spaced",
        "conversation": {"started_at": None},
    } == found["agent_journal"]
    assert not any("agent_journal" in message for message in found["messages"])


def test_added_fields_stay(tmp_path: Path) -> None:
    (document,) = written("unified", Conversation(id="no uuid", source="x", extra={"stars": 3})).documents
    read = read_one(save_document(tmp_path, "a.json", document | {"stars": 4, "reviewed": True}))

    assert ("no uuid", "x", {"stars": 3, "stars_": 4, "reviewed": True}) == (read.id, read.source, read.extra)


def test_a_changed_document_is_read_as_any_other(tmp_path: Path) -> None:
    said = Message(id="1", role="user", parts=[ToolCall(name="a", input="x"), Text(text="hello")])
    (document,) = written("unified", Conversation(id="no uuid", source="x", timeline=[said])).documents
    del document["messages"][0]["content"][0]  # what is known of the parts no longer fits
    read = read_one(save_document(tmp_path, "a.json", document))
    (message,) = read.timeline

    assert ("no uuid", "x") == (read.id, read.source)
    assert isinstance(message, Message)
    assert [Text(text="hello")] == message.parts


@pytest.mark.parametrize("parts", [[], [Text(text="")]], ids=["none", "an empty text"])
def test_an_empty_message_comes_back(parts: list[Part], tmp_path: Path) -> None:
    said = Message(id="1", role="user", parts=parts)
    (document,) = written("unified", Conversation(id="no uuid", source="x", timeline=[said])).documents
    (message,) = read_one(save_document(tmp_path, "a.json", document)).timeline

    assert isinstance(message, Message)
    assert parts == message.parts


def test_what_was_put_into_an_empty_message_is_read(tmp_path: Path) -> None:
    said = Message(id="1", role="user")
    (document,) = written("unified", Conversation(id="no uuid", source="x", timeline=[said])).documents
    document["messages"][0]["content"] = [{"type": "text", "text": "hello"}]
    (message,) = read_one(save_document(tmp_path, "a.json", document)).timeline

    assert isinstance(message, Message)
    assert [Text(text="hello")] == message.parts


@pytest.mark.parametrize("form", ["compact", "spaced", "ascii"])
def test_forms_of_texts(form: str) -> None:
    text = json_text.text_of({"a": ["ü", 1.5]}, form)

    assert text is not None
    assert form == json_text.form_of(text, {"a": ["ü", 1.5]})


def test_no_form_of_a_text() -> None:
    assert json_text.form_of('{"a":1 }', {"a": 1}) is None
    assert json_text.text_of({"a": 1}, "verse") is None


# Those of others.


def document(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.0.0",
        "conversation_id": ID,
        "platform": {"name": "cursor", "version": "1.0"},
        "created_at": AT,
        "messages": [
            {"message_id": str(place), "role": "user", "timestamp": AT, "content": []} | message
            for place, message in enumerate(messages)
        ],
        **more,
    }


def read(folder: Path, *messages: dict[str, Any], **more: Any) -> Conversation:
    return read_one(save_document(folder, "document.json", document(*messages, **more)))


def message(folder: Path, **fields: Any) -> Message:
    (found,) = read(folder, fields).timeline
    assert isinstance(found, Message)
    return found


@pytest.mark.parametrize(
    ("platform", "source"),
    [
        ({"name": "claude_code"}, "claude-code"),
        ({"name": "chatgpt"}, "chatgpt"),
        ({"name": "continue_dev"}, "continue"),
        ({"name": "roo_code"}, "roo-code"),
        ({"name": "azure_openai"}, "azure-openai"),
        ({"name": "cursor"}, "cursor"),
        ({"name": "aider"}, "aider"),
        ({"name": "windsurf"}, "windsurf"),
        ({"name": "github_copilot"}, "github-copilot"),
        ({"name": "other"}, "other"),
        ({"name": "other", "metadata": {"name": "tea-talk"}}, "tea-talk"),
        ({}, "other"),
    ],
)
def test_platform(platform: dict[str, Any], source: str, tmp_path: Path) -> None:
    found = read(tmp_path, platform=platform | {"version": "unknown"})
    again = written("unified", found).only["platform"]

    assert (source, None) == (found.source, found.app_version)
    assert platform.get("name", "other") == again["name"]
    assert "unknown" == again["version"]


@pytest.mark.parametrize(
    ("more", "field", "value"),
    [
        ({"platform": {"name": "cursor", "version": "1.0"}}, "app_version", "1.0"),
        ({"platform": {"name": "cursor", "version": "1", "model": "m"}}, "model", "m"),
        ({"platform": {"name": "cursor", "metadata": {"title": "T", "a": 1}}}, "title", "T"),
        ({"platform": {"name": "cursor", "metadata": {"title": "T", "a": 1}}}, "platform", {"a": 1}),
        ({}, "started_at", AT),
        ({"updated_at": 1770000000}, "updated_at", "2026-02-02T02:40:00Z"),
        ({"status": "archived"}, "archived", True),
        ({"status": "error"}, "extra", {"status": "error"}),
        ({"tags": ["a", "b"]}, "tags", ["a", "b"]),
        ({"context": {"workspace": {"path": "/w"}}}, "cwd", "/w"),
        ({"context": {"workspace": {"git_branch": "b"}}}, "git_branch", "b"),
        ({"context": {"workspace": {"git_commit": "c"}}}, "git_commit", "c"),
        ({"context": {"environment": {"os": "o"}}}, "os", "o"),
        ({"context": {"environment": {"shell": "s"}}}, "shell", "s"),
        ({"context": {"environment": {"editor": "e"}}}, "editor", "e"),
        (
            {"context": {"environment": {"language": "l"}}},
            "extra",
            {"context": {"environment": {"language": "l"}}},
        ),
        ({"context": {"custom": {"project_type": "t"}}}, "context", {"project_type": "t"}),
        ({"metrics": {"duration_ms": 5}}, "extra", {"metrics": {"duration_ms": 5}}),
        ({"anything": {"else": 1}}, "extra", {"anything": {"else": 1}}),
        ({"schema_version": "1.1.0"}, "extra", {"schema_version": "1.1.0"}),
        ({"rating": {"score": 5}}, "feedback", [Feedback(rating="up")]),
        (
            {"rating": {"score": 3, "feedback": "ok", "rated_at": AT}},
            "feedback",
            [Feedback(text="ok", at=AT, extra={"score": 3})],
        ),
        (
            {"summaries": [{"summary_id": "s", "type": "system", "text": "t", "timestamp": AT}]},
            "summaries",
            [Summary(text="t", kind="system", at=AT, extra={"summary_id": "s"})],
        ),
        (
            {"session": {"parent_conversation_id": OTHER_ID}},
            "link",
            Link(conversation_id=OTHER_ID, relation="continues"),
        ),
        (
            {"session": {"parent_conversation_id": OTHER_ID, "fork_point": "m"}},
            "link",
            Link(conversation_id=OTHER_ID, relation="fork", message_id="m"),
        ),
        (
            {"session": {"parent_conversation_id": OTHER_ID, "is_sidechain": True}},
            "link",
            Link(conversation_id=OTHER_ID, relation="subagent"),
        ),
        ({"session": {"parent_conversation_id": None, "is_sidechain": False}}, "link", None),
        ({"session": {"session_id": ID}}, "extra", {}),
        ({"session": {"session_id": "s"}}, "extra", {"session": {"session_id": "s"}}),
        ({"session": {"session_id": "s"}, "conversation_id": None}, "id", "s"),
    ],
)
def test_field(more: dict[str, Any], field: str, value: Any, tmp_path: Path) -> None:
    assert value == getattr(read(tmp_path, **more), field)


def test_the_id_that_a_uuid_was_made_of(tmp_path: Path) -> None:
    made = written("unified", Conversation(id="req-1", source="cursor")).only["conversation_id"]
    found = read(tmp_path, conversation_id=made, session={"session_id": "req-1"})

    assert ("req-1", {}) == (found.id, found.extra)


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("a", Text(text="a")),
        ({"type": "text", "text": "a"}, Text(text="a")),
        ({"type": "text", "text": "a", "metadata": {"b": 1}, "c": 2}, Text(text="a", extra={"b": 1, "c": 2})),
        (
            {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
            ToolCall(name="n", call_id="t", input={"a": 1}),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": True},
            ToolResult(call_id="t", output="out", is_error=True),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}]},
            ToolResult(call_id="t", output=[Text(text="a")]),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "", "metadata": {"exit_code": 1}},
            ToolResult(call_id="t", extra={"exit_code": 1}),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            Media(kind="image", mime="image/png", data="AA=="),
        ),
        (
            {"type": "image", "source": {"type": "url", "data": "https://e.org"}, "alt_text": "x"},
            Media(kind="image", ref="https://e.org", name="x"),
        ),
        (
            {"type": "code", "code": "x", "language": "py", "file_path": "f", "line_range": {"start": 1}},
            Code(code="x", language="py", file="f", first_line=1),
        ),
        ({"type": "thinking", "thinking": "hm"}, Reasoning(text="hm")),
        ({"type": "poll", "q": 1}, Other(name="poll", data={"type": "poll", "q": 1})),
        (7, Other(data=7)),
    ],
)
def test_block(block: Any, part: Part, tmp_path: Path) -> None:
    assert [part] == message(tmp_path, content=[block]).parts


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"message_id": "m"}, "id", "m"),
        ({"role": "assistant"}, "role", "assistant"),
        ({"content": {"content": []}}, "parts", []),
        ({"content": {"content": [], "tone": "stern"}}, "extra", {"content": {"tone": "stern"}}),
        ({"role": "function"}, "role", "tool"),
        ({"role": "function"}, "extra", {"role": "function"}),
        ({"timestamp": 1770000000000}, "at", "2026-02-02T02:40:00.000Z"),
        ({"metadata": {"timestamp_inferred": True}}, "at", None),
        ({"metadata": {"model_override": "m"}}, "model", "m"),
        (
            {"metadata": {"user_type": "external", "edit_count": 1}},
            "extra",
            {"user_type": "external", "edit_count": 1},
        ),
        ({"metadata": {"a": 1}, "a": 2}, "extra", {"a": 1, "a_": 2}),
        (
            {
                "tokens": {
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "cache_creation": {"ephemeral_5m_input_tokens": 3},
                }
            },
            "usage",
            Usage(
                input=1,
                output=2,
                cache_write_5m=3,
                extra={
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "cache_creation": {"ephemeral_5m_input_tokens": 3},
                },
            ),
        ),
        (
            {"tokens": {"prompt_tokens": 4, "completion_tokens": 2}},
            "usage",
            Usage(input=4, output=2, extra={"prompt_tokens": 4, "completion_tokens": 2}),
        ),
        ({"cost": {"amount": 0.5}}, "usage", Usage(cost_usd=0.5)),
        ({"cost": {"amount": 0.5, "currency": "EUR"}}, "usage", None),
    ],
)
def test_message_field(fields: dict[str, Any], field: str, value: Any, tmp_path: Path) -> None:
    assert value == getattr(message(tmp_path, **fields), field)


def test_parents_make_a_tree(tmp_path: Path) -> None:
    found = read(tmp_path, {"parent_message_id": "1"}, {"message_id": "1"})

    assert ("tree", ["1", "0"], "0") == (found.shape, [entry.id for entry in found.timeline], found.head_id)
    assert "list" == read(tmp_path, {}, {}).shape


def test_a_sidechain_of_nothing_known(tmp_path: Path) -> None:
    (only,) = read(tmp_path, {}, session={"is_sidechain": True}).timeline

    assert isinstance(only, Message)
    assert only.sidechain


def test_a_long_chain(tmp_path: Path) -> None:
    chain = ({"parent_message_id": str(place - 1) if place else None} for place in range(20_000))

    assert 20_000 == len(read(tmp_path, *chain).timeline)


# Whatever there is in place of what should be.

ODD: list[Any] = [None, True, 7, -1.5, "", "x", [], [7], [[]], {}, {"a": None}, {"type": "text"}, "\ud800"]


def test_odd_values_anywhere_are_no_exceptions(tmp_path: Path) -> None:
    whole = json.loads((CASES / "ours" / "written.jsonl").read_text(encoding="utf-8").split("\n")[0])
    changes = [(path, odd) for path in paths(whole) for odd in ODD]
    for path, odd in changes[::7]:  # as many as there is time for
        changed = copy.deepcopy(whole)
        place = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = odd
        assert_read(tmp_path, changed)


def assert_read(folder: Path, value: Any) -> None:
    """It is read, or noted, and whatever is read can be written."""
    notes = Notes()
    items = list(read_all([str(save_document(folder, "odd.json", value))], notes, "unified"))

    assert items or notes.counts[Kind.BAD_RECORD]
    written("unified", *items)


def paths(value: Any) -> list[list[Any]]:
    """The place of each value within a value."""
    found: list[list[Any]] = []
    pending: list[tuple[list[Any], Any]] = [([], value)]
    while pending:
        path, current = pending.pop()
        steps = (
            current.items()
            if isinstance(current, dict)
            else enumerate(current)
            if isinstance(current, list)
            else ()
        )
        for step, inner in steps:
            found.append([*path, step])
            pending.append(([*path, step], inner))
    return found
