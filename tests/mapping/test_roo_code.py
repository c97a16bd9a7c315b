"""Roo Code and its relatives into the model and the unified schema: each documented rule, and the field's."""

from __future__ import annotations

import copy
import json
import re
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.conversion.transforms import without
from agent_journal.decoding.fields import Fields
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import open_input
from agent_journal.model import (
    Conversation,
    Event,
    Link,
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import roo_code
from agent_journal.readers.roo_code import markup, request_costs, ui_messages
from agent_journal.readers.roo_code.fastpath import CommonMessage
from agent_journal.readers.roo_code.history import History
from tests import unified_schema
from tests.cases import Case, all_cases, as_json, input_files, leaves, outcome
from tests.inline import converted, save_document

TASK = "019c5c10-0000-7000-8000-000000000001"
T = 1771000000000
CASES = [case for case in all_cases() if case.reader == roo_code.INFO.name]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def say(ms: int, kind: str, said: Any = None, **more: Any) -> dict[str, Any]:
    told = said if isinstance(said, str) or said is None else json.dumps(said)
    return {"ts": T + ms, "type": "say", "say": kind, **({} if told is None else {"text": told}), **more}


def ask(ms: int, kind: str, said: Any = None, **more: Any) -> dict[str, Any]:
    record = say(ms, kind, said, **more)
    return {**{name: value for name, value in record.items() if name != "say"}, "type": "ask", "ask": kind}


def request(ms: int, **told: Any) -> dict[str, Any]:
    return say(ms, "api_req_started", told)


def user(ms: int | None, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*content], **({} if ms is None else {"ts": T + ms}), **more}


def answer(ms: int | None, *content: Any, **more: Any) -> dict[str, Any]:
    return {**user(ms, *content, **more), "role": "assistant"}


def task(
    folder: Path,
    api: list[Any] | None = None,
    ui: list[Any] | None = None,
    name: str = TASK,
    **files: Any,
) -> Path:
    """A folder of a task as an extension leaves it."""
    place = folder / "tasks" / name
    place.mkdir(parents=True, exist_ok=True)
    histories = {"api_conversation_history": api, "ui_messages": ui, **files}
    for stem, value in histories.items():
        if value is not None:
            save_document(place, f"{stem}.json", value)
    return place


def read(path: Path) -> tuple[Conversation, Notes]:
    notes = Notes()
    (item,) = read_all([str(path)], notes)
    assert isinstance(item, Conversation)
    return item, notes


def messages(conversation: Conversation) -> list[Message]:
    return list(tree.messages(conversation))


def events(conversation: Conversation) -> list[str]:
    return [entry.name for entry in conversation.timeline if isinstance(entry, Event)]


def noted(notes: Notes, kind: Kind) -> list[str]:
    return [note.detail for note in notes.collected if note.kind == kind.label]


def item(**more: Any) -> dict[str, Any]:
    return {
        "id": TASK,
        "number": 1,
        "ts": T,
        "task": "Boil an egg",
        "tokensIn": 12,
        "tokensOut": 4,
        "totalCost": 0.5,
        **more,
    }


BOIL = [user(100, text("<task>\nBoil an egg\n</task>")), answer(900, text("Boiled."))]
SHOWN = [say(0, "text", "Boil an egg"), request(50, tokensIn=10, tokensOut=2, cost=0.1)]

# The documented mapping, on what is written.

PROMPT = {
    "timestamp": T,
    "roleDefinition": "You are Roo.",
    "toolDescriptions": "## read_file",
    "customInstructions": "Be brief.",
    "mode": "architect",
    "capabilities": ["read", "plan"],
    "systemInfo": {"os": "Linux"},
}
DOCUMENTED = {
    "sessionId": TASK,
    "mode": "architect",
    "available_modes": ["architect", "code", "ask", "debug"],
    "mode_persistence": True,
    "customInstructions": "Be brief.",
    "modeCustomInstructions": {"architect": "Draw first."},
    "systemPrompt": PROMPT,
    "messages": [
        {"type": "User", "content": "A bridge", "timestamp": T + 1},
        {
            "type": "Assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "x", "input": {}}],
            "timestamp": T,
        },
        {
            "type": "Tool",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "y"}],
            "timestamp": T,
        },
        {"type": "System", "content": "It rains", "timestamp": T},
    ],
}


def unified(path: Path) -> Any:
    document = converted(path, "unified").only
    assert [] == unified_schema.check(document)
    return document


def documented(folder: Path, **changes: Any) -> Any:
    return unified(save_document(folder, "session.json", {**DOCUMENTED, **changes}))


def whole_task(folder: Path) -> Path:
    return task(folder, BOIL, SHOWN, history_item=item(mode="code", workspace="/home/ana/kitchen"))


def test_schema_version(tmp_path: Path) -> None:
    assert documented(tmp_path)["schema_version"] == "1.0.0"
    assert unified(whole_task(tmp_path))["schema_version"] == "1.0.0"


def test_conversation_id_is_the_session_id(tmp_path: Path) -> None:
    assert documented(tmp_path)["conversation_id"] == TASK
    document = unified(whole_task(tmp_path))
    assert (document["conversation_id"], document["session"]["session_id"]) == (TASK, TASK)


def test_conversation_id_is_generated_where_there_is_none(tmp_path: Path) -> None:
    path = save_document(
        tmp_path, "s.json", {key: DOCUMENTED[key] for key in DOCUMENTED if key != "sessionId"}
    )
    document = unified(path)

    assert uuid.UUID(document["conversation_id"]).version == 5
    assert document["conversation_id"] == unified(path)["conversation_id"]
    assert noted(read(path)[1], Kind.MISSING_ID)


def test_an_id_that_is_a_moment_becomes_a_uuid(tmp_path: Path) -> None:
    document = unified(task(tmp_path, BOIL, name="1771000000000"))

    assert uuid.UUID(document["conversation_id"]).version == 5
    assert document["session"]["session_id"] == "1771000000000"
    assert document["created_at"] == "2026-02-13T16:26:40.100Z"


def test_platform_name(tmp_path: Path) -> None:
    assert documented(tmp_path)["platform"]["name"] == "roo_code"
    assert unified(whole_task(tmp_path))["platform"]["name"] == "roo_code"


def test_platform_metadata_mode(tmp_path: Path) -> None:
    assert documented(tmp_path)["platform"]["metadata"]["mode"] == "architect"
    assert unified(whole_task(tmp_path))["platform"]["metadata"]["mode"] == "code"


def test_mode_tracking(tmp_path: Path) -> None:
    metadata = documented(tmp_path)["platform"]["metadata"]

    assert metadata["active_mode"] == "architect"
    assert metadata["available_modes"] == ["architect", "code", "ask", "debug"]
    assert metadata["mode_persistence"] is True


def test_the_active_mode_may_be_another_than_the_mode(tmp_path: Path) -> None:
    metadata = documented(tmp_path, activeMode="code", mode_persistence=False)["platform"]["metadata"]

    assert (metadata["mode"], metadata["active_mode"]) == ("architect", "code")
    assert metadata["mode_persistence"] is False


def test_custom_instructions_global_and_per_mode(tmp_path: Path) -> None:
    assert documented(tmp_path)["context"]["custom"]["custom_instructions"] == {
        "global": "Be brief.",
        "modes": {"architect": "Draw first."},
    }
    alone = documented(tmp_path, modeCustomInstructions=None)
    assert alone["context"]["custom"]["custom_instructions"] == "Be brief."


def test_roles_come_from_the_type_of_a_message(tmp_path: Path) -> None:
    roles = [message["role"] for message in documented(tmp_path)["messages"]]

    assert roles == ["system", "user", "assistant", "tool", "system"]


def test_system_prompt_is_one_message_of_its_parts(tmp_path: Path) -> None:
    prompt = documented(tmp_path)["messages"][0]

    assert prompt["role"] == "system"
    assert prompt["content"] == [text("You are Roo.\n\n## read_file\n\nBe brief.")]
    assert prompt["timestamp"] == "2026-02-13T16:26:40.000Z"
    assert prompt["metadata"]["mode"] == "architect"
    assert prompt["metadata"]["capabilities"] == ["read", "plan"]
    assert prompt["metadata"]["system_info"] == {"os": "Linux"}
    assert uuid.UUID(prompt["message_id"]).version == 5


def test_a_system_prompt_may_stand_among_the_messages(tmp_path: Path) -> None:
    document = documented(tmp_path, systemPrompt=None, messages=[PROMPT, *DOCUMENTED["messages"]])  # type: ignore[misc] # a list

    assert document["messages"][0]["content"][0]["text"].startswith("You are Roo.\n\n")
    assert len(document["messages"]) == 5


@pytest.mark.parametrize("path", roo_code.INFO.required)
def test_required_fields_are_there(tmp_path: Path, path: str) -> None:
    for document in (documented(tmp_path), unified(whole_task(tmp_path))):
        value: Any = document
        for step in path.partition("|")[0].split("."):
            value = value[step]
        assert value


def test_what_is_required() -> None:
    assert roo_code.INFO.required == (
        "conversation_id",
        "platform.metadata.mode|platform.metadata.active_mode",
        "messages",
    )


@pytest.mark.parametrize(
    ("stamp", "written"),
    [
        (1771000000, "2026-02-13T16:26:40.000Z"),
        (1771000000123, "2026-02-13T16:26:40.123Z"),
        ("2026-02-13T17:26:40+01:00", "2026-02-13T16:26:40.000Z"),
    ],
)
def test_timestamps_are_normalized(tmp_path: Path, stamp: Any, written: str) -> None:
    said = {"type": "User", "content": "now", "timestamp": stamp}

    assert documented(tmp_path, messages=[said])["messages"][-1]["timestamp"] == written


# How an input is told.


def version_of(path: Path) -> list[tuple[str, str]]:
    return [(reader.INFO.name, version) for reader, version in readers.claims(Peek(open_input(str(path))))]


def test_a_folder_and_each_of_its_files_are_claimed(tmp_path: Path) -> None:
    folder = task(tmp_path, BOIL, SHOWN, history_item=item(), task_metadata={"files_in_context": []})

    assert version_of(folder) == [("roo-code", "task")]
    for file in sorted(folder.iterdir()):
        assert version_of(file) == [("roo-code", "task")], file.name
        conversation, _ = read(file)
        assert (conversation.id, len(messages(conversation))) == (TASK, 2)


@pytest.mark.parametrize(
    "name",
    [
        "ui_messages.json",
        "api_conversation_history.json",
        "history_item.json",
        "task_metadata.json",
        "a.messages.json",
    ],
)
@pytest.mark.parametrize(
    "value", [[], {}, [1], [{"a": 1}], [{"role": "x"}], {"messages": []}, {"id": "x", "ts": 1}]
)
def test_a_name_alone_claims_nothing(tmp_path: Path, name: str, value: Any) -> None:
    save_document(tmp_path, name, value)

    assert version_of(tmp_path / name) == []
    assert version_of(tmp_path) == []


def test_histories_are_claimed_under_any_name(tmp_path: Path) -> None:
    assert version_of(save_document(tmp_path, "a.json", BOIL)) == [("roo-code", "task")]
    assert version_of(save_document(tmp_path, "b.json", SHOWN)) == [("roo-code", "task")]
    plain = [user(0, text("hi")), answer(1, text("ho"))]
    assert version_of(save_document(tmp_path, "c.json", plain)) == [("roo-code", "task")]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
        [{"role": "user", "content": "hi", "ts": 1771000000000, "channel": "x"}],
    ],
)
def test_messages_of_any_tool_are_not_claimed(tmp_path: Path, messages: list[Any]) -> None:
    assert version_of(save_document(tmp_path, "chat.json", messages)) == []


def test_a_folder_of_something_else_is_not_claimed(tmp_path: Path) -> None:
    save_document(tmp_path, "ui_messages.json", {"name": "left-pad"})
    assert version_of(tmp_path) == []


def session(folder: Path, *said: dict[str, Any], **beside: Any) -> Path:
    """A session of Cline's, with what lies beside its messages."""
    place = folder / "sessions" / "s_1"
    place.mkdir(parents=True)
    whole = {"version": 1, "agent": "lead", "sessionId": "s_1", "messages": said}
    save_document(place, "s_1.messages.json", whole)
    for suffix, value in beside.items():
        save_document(place, f"s_1.{suffix}.json", value)
    return place


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('<user_input mode="act">Go on</user_input>', "Go on"),
        ('<mode_notice>Now act.</mode_notice>\n<user_input mode="act">Go on</user_input>', "Go on"),
        ('<user_command slash="team">Go on</user_command>', "Go on"),
        ('<user_input mode="act">Say <b>a</b></user_input>', "Say <b>a</b>"),
        # Nothing is taken away of what only looks alike.
        ('<user_input mode="act">Go on', '<user_input mode="act">Go on'),
        ("Why <user_input>x</user_input>", "Why <user_input>x</user_input>"),
    ],
)
def test_an_envelope_is_not_part_of_the_user_text(tmp_path: Path, said: str, words: str) -> None:
    conversation, _ = read(session(tmp_path, {"role": "user", "content": said, "ts": T}))

    assert tree.plain_text(messages(conversation)[0]) == words
    assert conversation.title == words


def test_a_summary_among_the_messages_is_one(tmp_path: Path) -> None:
    summed = {"kind": "compaction_summary", "summary": "An egg is wanted."}
    said = {"role": "user", "content": "Context summary:\n\nAn egg is wanted.", "metadata": summed, "ts": T}
    conversation, _ = read(session(tmp_path, said))

    assert messages(conversation)[0].hidden
    assert [summary.text for summary in conversation.summaries] == ["Context summary:\n\nAn egg is wanted."]


@pytest.mark.parametrize(
    "compaction",
    [
        [],
        {"messages": 5, "source_message_count": "many"},
        {"messages": [None, {"metadata": {"kind": "compaction_summary", "summary": 3, "generatedAt": []}}]},
        {"messages": [{"metadata": {"kind": "compaction_summary"}}], "source_message_count": 99},
    ],
)
def test_an_odd_compaction_ends_nothing(tmp_path: Path, compaction: Any) -> None:
    place = session(tmp_path, {"role": "user", "content": "Boil", "ts": T}, compaction=compaction)

    assert len(messages(read(place)[0])) == 1


# Two histories.


def test_messages_in_both_histories_occur_once(tmp_path: Path) -> None:
    ui = [*SHOWN, say(500, "text", "Boiled."), say(800, "completion_result", "Boiled.")]
    conversation, notes = read(task(tmp_path, BOIL, ui))

    assert [(message.role, message.parts[0]) for message in messages(conversation)] == [
        ("user", Text(text="Boil an egg", extra={"tag": "task"})),
        ("assistant", Text(text="Boiled.")),
    ]
    assert events(conversation) == ["say:text", "say:api_req_started", "say:text", "say:completion_result"]
    assert notes.collected == []


def test_usage_and_cost_of_a_request_are_with_its_answer(tmp_path: Path) -> None:
    _, boiled = messages(read(task(tmp_path, BOIL, SHOWN))[0])

    assert boiled.usage == Usage(key=str(T + 50), input=10, output=2, cost_usd=0.1)


def test_requests_that_failed_are_paid_with_the_one_that_was_answered(tmp_path: Path) -> None:
    ui = [*SHOWN, ask(60, "api_req_failed", "overloaded"), request(70, tokensIn=5, tokensOut=1, cost=0.2)]
    *_, boiled = messages(read(task(tmp_path, BOIL, ui))[0])

    assert boiled.usage is not None
    assert (boiled.usage.input, boiled.usage.output) == (15, 3)
    assert boiled.usage.cost_usd == pytest.approx(0.3)


def test_a_request_without_an_answer_is_paid_with_the_last_one(tmp_path: Path) -> None:
    ui = [*SHOWN, request(2000, tokensIn=5, tokensOut=0, cost=0.2, cancelReason="user_cancelled")]
    *_, boiled = messages(read(task(tmp_path, BOIL, ui))[0])

    assert boiled.usage is not None
    assert boiled.usage.input == 15


@pytest.mark.parametrize(
    ("told", "fresh"),
    [
        ({"apiProtocol": "anthropic", "tokensIn": 100, "cacheReads": 70, "cacheWrites": 20}, 10),
        ({"apiProtocol": "openai", "tokensIn": 100, "cacheReads": 70}, 30),
        # Before the two were told apart, and in Cline, what is cached is no input.
        ({"tokensIn": 100, "cacheReads": 70}, 100),
        # A sum cannot be less than its parts.
        ({"apiProtocol": "anthropic", "tokensIn": 4, "cacheReads": 70}, 4),
    ],
)
def test_input_excludes_what_was_cached(tmp_path: Path, told: dict[str, Any], fresh: int) -> None:
    *_, boiled = messages(read(task(tmp_path, BOIL, [SHOWN[0], request(50, **told)]))[0])

    assert boiled.usage is not None
    assert boiled.usage.input == fresh


def test_until_october_2025_anthropics_input_excluded_the_cache(tmp_path: Path) -> None:
    told = {"apiProtocol": "anthropic", "tokensIn": 100, "cacheReads": 70}
    ui = [{**request(0, **told), "ts": 1750000000000}, {**say(0, "text", "x"), "ts": 1750000000001}]
    *_, said = messages(read(task(tmp_path, None, ui))[0])

    assert said.usage is not None
    assert said.usage.input == 100


def test_condensing_is_paid_too(tmp_path: Path) -> None:
    condensed = say(70, "condense_context", contextCondense={"cost": 0.4, "summary": "s"})
    *_, boiled = messages(read(task(tmp_path, BOIL, [*SHOWN, condensed]))[0])

    assert boiled.usage is not None
    assert boiled.usage.cost_usd == pytest.approx(0.5)


def test_sums_of_the_task_count_where_no_request_does(tmp_path: Path) -> None:
    *_, boiled = messages(read(task(tmp_path, BOIL, None, history_item=item()))[0])
    assert boiled.usage == Usage(key=f"{TASK}:total", input=12, output=4, cost_usd=0.5)

    *_, boiled = messages(read(task(tmp_path, BOIL, SHOWN, history_item=item()))[0])
    assert boiled.usage == Usage(key=str(T + 50), input=10, output=2, cost_usd=0.1)


def test_reasoning_only_in_ui_records_is_read(tmp_path: Path) -> None:
    ui = [*SHOWN, say(300, "reasoning", "Four minutes.")]
    _, thought, _ = messages(read(task(tmp_path, BOIL, ui))[0])
    assert (thought.role, thought.parts, thought.usage) == (
        "assistant",
        [Reasoning(text="Four minutes.")],
        None,
    )

    api = [BOIL[0], answer(900, {"type": "thinking", "thinking": "Four minutes.", "signature": "s"})]
    assert len(messages(read(task(tmp_path, api, ui))[0])) == 2


def test_feedback_that_was_never_sent_is_read(tmp_path: Path) -> None:
    conversation, _ = read(task(tmp_path, BOIL, [*SHOWN, say(2000, "user_feedback", "Softer!")]))

    assert messages(conversation)[-1].parts == [Text(text="Softer!")]
    assert messages(conversation)[-1].role == "user"


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c1", "name": name, "input": given}


def result(content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "c1", "content": content}


@pytest.mark.parametrize(
    ("asked", "said", "left"),
    [
        (call("attempt_completion", result="Boiled.", command="ls"), "Boiled.", {"command": "ls"}),
        (call("ask_followup_question", question="Soft?", follow_up=[]), "Soft?", {"follow_up": []}),
        (call("plan_mode_respond", response="Boil it."), "Boil it.", {}),
        (call("submit_and_exit", summary="Boiled.", verified=True), "Boiled.", {"verified": True}),
        (
            text("<attempt_completion>\n<result>\nBoiled.\n</result>\n</attempt_completion>"),
            "Boiled.",
            {},
        ),
    ],
)
def test_text_of_a_call_for_the_user_becomes_text(
    tmp_path: Path, asked: dict[str, Any], said: str, left: dict[str, Any]
) -> None:
    conversation, _ = read(task(tmp_path, [BOIL[0], answer(900, asked)]))
    *_, boiled = messages(conversation)

    told, called = boiled.parts
    assert isinstance(told, Text)
    assert isinstance(called, ToolCall)
    assert (told.text, called.input) == (said, left)
    assert boiled.native == [asked]
    *_, left_over = messages(without(conversation, ["tools"]))
    assert tree.plain_text(left_over) == said


@pytest.mark.parametrize(
    ("name", "kind"), [("mcp--pantry--count", "mcp"), ("execute_command", "shell"), ("x", None)]
)
def test_what_a_tool_does(tmp_path: Path, name: str, kind: ToolKind | None) -> None:
    *_, called = messages(read(task(tmp_path, [BOIL[0], answer(900, call(name))]))[0])

    assert called.parts == [ToolCall(name=name, call_id="c1", input={}, kind=kind)]


@pytest.mark.parametrize("given", [{"result": ["Boiled."]}, {"result": ""}, {}])
def test_a_call_without_text_for_the_user_is_unchanged(tmp_path: Path, given: dict[str, Any]) -> None:
    *_, boiled = messages(
        read(task(tmp_path, [BOIL[0], answer(900, call("attempt_completion", **given))]))[0]
    )

    assert boiled.parts == [ToolCall(name="attempt_completion", call_id="c1", input=given)]


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("<user_message>\nSofter!\n</user_message>", ""),
        ("They say:\n<feedback>\nSofter!\n</feedback>\n\nNow go on.", "They say:\nNow go on."),
        ([text("They say:\n<answer>Softer!</answer>")], [Text(text="They say:")]),
        ([text("<feedback>\nSofter!\n</feedback>"), text("More")], [Text(text="More")]),
    ],
)
def test_a_reply_to_a_call_is_user_text(tmp_path: Path, content: Any, left: Any) -> None:
    api = [BOIL[0], answer(900, call("attempt_completion", result="Boiled.")), user(1500, result(content))]
    ui = [*SHOWN, say(800, "completion_result", "Boiled."), say(1400, "user_feedback", "Softer!")]
    *_, reply = messages(read(task(tmp_path, api, ui))[0])

    told, said = reply.parts
    assert isinstance(told, ToolResult)
    assert (told.call_id, told.output) == ("c1", left)
    assert isinstance(said, Text)
    assert said.text == "Softer!"


@pytest.mark.parametrize(
    "refusal",
    [
        '{"status":"denied","feedback":"Softer!"}',
        "The user denied this operation and says:\n<feedback>\nSofter!\n</feedback>",
    ],
)
def test_a_reply_in_a_result_is_extracted(tmp_path: Path, refusal: str) -> None:
    api = [BOIL[0], answer(900, call("execute_command", command="boil")), user(1500, result(refusal))]
    ui = [*SHOWN, ask(1000, "command", "boil"), say(1400, "user_feedback", "Softer!")]
    *_, said, refused = messages(read(task(tmp_path, api, ui))[0])

    assert (said.role, said.parts) == ("user", [Text(text="Softer!")])
    assert refused.parts == [ToolResult(call_id="c1", output=refusal)]


def test_tags_in_what_another_tool_answered_are_no_reply(tmp_path: Path) -> None:
    page = "<answer>42</answer>"
    api = [BOIL[0], answer(900, call("read_file", path="a.xml")), user(1500, result(page))]
    *_, read_file = messages(read(task(tmp_path, api))[0])

    assert read_file.parts == [ToolResult(call_id="c1", output=page)]


def test_turns_only_in_ui_records(tmp_path: Path) -> None:
    ui = [*SHOWN, say(200, "text", "First try."), request(300, tokensIn=1), say(400, "text", "Boiled.")]
    conversation, _ = read(task(tmp_path, BOIL, ui))

    texts = [tree.plain_text(message) for message in messages(conversation)]
    assert texts == ["Boil an egg", "First try.", "Boiled."]


@pytest.mark.parametrize("is_placed", [True, False])
def test_histories_without_times_are_joined(tmp_path: Path, is_placed: bool) -> None:
    """By the place that Cline states, else by the count of requests; times come from what was shown."""
    api = [user(None, text("a")), answer(None, text("A")), user(None, text("b")), answer(None, text("B"))]
    ui = [say(0, "task", "a"), request(1), say(2, "text", "A"), request(3), say(4, "text", "B")]
    for record, place in zip(ui, [-1, -1, 0, 1, 2], strict=True):
        if is_placed:
            record["conversationHistoryIndex"] = place
    conversation, notes = read(task(tmp_path, api, ui))

    names = [
        entry.name if isinstance(entry, Event) else tree.plain_text(entry) for entry in conversation.timeline
    ]
    shown, begun = "say:text", "say:api_req_started"
    if is_placed:
        assert names == ["say:task", begun, "a", shown, "A", begun, "b", shown, "B"]
    else:
        assert names == ["say:task", begun, "a", "A", shown, begun, "b", "B", shown]
    assert all(message.at is not None for message in messages(conversation))
    assert len(noted(notes, Kind.MISSING_TIME)) == 1


def test_model_mode_and_folder_come_from_the_environment(tmp_path: Path) -> None:
    told = (
        "<environment_details>\n# Current Mode\n<slug>debug</slug>\n<name>D</name>\n<model>gpt-5</model>\n\n"
        "# Current Workspace Directory (/srv/egg) Files\na\n</environment_details>"
    )
    conversation, _ = read(task(tmp_path, [user(0, text("Go"), text(told)), answer(1, text("Gone"))]))

    asked, gone = messages(conversation)
    assert asked.parts == [Text(text="Go")]
    assert asked.extra["environment_details"].startswith("# Current Mode\n")
    assert gone.model == conversation.model == "gpt-5"
    assert conversation.cwd == "/srv/egg"
    assert conversation.platform["mode"] == conversation.platform["active_mode"] == "debug"
    assert conversation.platform["available_modes"] == ["debug"]
    assert "mode_persistence" not in conversation.platform


READ = "[read_file for 'a.md'] Result:\n\nBoil.\n[x] Result: y\n"
SEEN = "[execute_command for 'ls'] Result:\n\nCommand executed.\nOutput:\na.md\n"
FAILED = "[list_files for 'b'] Result:\nError: no such folder"
LATER = "\n\n\n# task_progress RECOMMENDED\n\nPlan.\n\n<environment_details>\n# Time\n</environment_details>"
ANSWERED = "[attempt_completion] Result: Done\n\n<feedback>\nMore\n</feedback>\n"


def results_shown(folder: Path, asked: str) -> tuple[list[Any], Notes]:
    """The results of a task whose calls were shown, and whose next request tells this."""
    ui = [
        say(0, "task", "Boil"),
        request(1, request="<task>\nBoil\n</task>"),
        say(2, "tool", {"tool": "readFile", "path": "a.md"}),
        say(3, "command", "ls"),
        say(4, "command_output", "a.md"),
        ask(5, "tool", {"tool": "listFilesTopLevel", "path": "b"}),
        request(6, request=asked),
        say(7, "text", "Boiled."),
        request(8, request=asked),
    ]
    conversation, notes = read(task(folder, None, ui))
    parts = [part for message in messages(conversation) for part in message.parts]
    found = [part for part in parts if isinstance(part, ToolResult)]
    return [(part.call_id, part.name, part.output, part.is_error) for part in found], notes


def test_results_come_from_the_next_request(tmp_path: Path) -> None:
    told, notes = results_shown(tmp_path, f"{READ}\n{SEEN}\n{FAILED}\n\n{ANSWERED}{LATER}")

    assert told == [
        (str(T + 3), "execute_command", "a.md", None),
        (str(T + 2), "readFile", "Boil.\n[x] Result: y", None),
        (str(T + 5), "listFilesTopLevel", "Error: no such folder", True),
    ]
    assert noted(notes, Kind.GUESSED_LINK) == ["results linked to calls by position: 3"]


@pytest.mark.parametrize("asked", ["", READ, f"{READ}\n{SEEN}\n{FAILED}\n{READ}", f"{READ}\n{ANSWERED}"])
def test_results_that_are_not_as_many_as_calls_stay_where_they_are(tmp_path: Path, asked: str) -> None:
    told, _ = results_shown(tmp_path, asked)

    assert [call_id for call_id, *_ in told] == [str(T + 3)]


def test_what_cline_adds_after_results_is_none_of_them() -> None:
    assert markup.tool_outputs(f"{READ}{LATER}") == ["Boil.\n[x] Result: y"]


def test_heads_that_never_end_take_no_longer() -> None:
    assert markup.tool_outputs("[read_file " * 200_000) == []  # twenty minutes, if each looked for its end


MODELS = [{"ts": T + 1, "model_id": "gpt-5"}, {"ts": T + 4, "model_id": "grok-4", "mode": "act"}]
TWICE = [
    say(0, "task", "Boil"),
    request(2),
    say(3, "text", "A"),
    say(4, "user_feedback", "On"),
    request(5),
    say(6, "text", "B"),
]


@pytest.mark.parametrize(
    "api", [None, [user(None), answer(None, text("A")), user(None), answer(None, text("B"))]]
)
def test_models_come_from_the_task_metadata(tmp_path: Path, api: list[Any] | None) -> None:
    path = task(tmp_path, api, TWICE, task_metadata={"model_usage": MODELS})
    conversation, _ = read(path)

    told = {tree.plain_text(message): message.model for message in messages(conversation)}
    assert (told["A"], told["B"]) == ("gpt-5", "grok-4")
    assert conversation.extra["task_metadata"] == {"model_usage": MODELS}


def test_one_model_that_was_written_down_is_the_tasks(tmp_path: Path) -> None:
    alone = [user(None, text("Boil")), answer(None, text("A"))]
    one, two = {"model_usage": MODELS[:1]}, {"model_usage": MODELS}

    assert read(task(tmp_path, alone, task_metadata=one))[0].model == "gpt-5"
    assert read(task(tmp_path, alone, task_metadata=two))[0].model is None


@pytest.mark.parametrize(
    "usage", [None, "x", [1, {}, {"ts": "x", "model_id": "m"}, {"ts": 1, "model_id": ""}]]
)
def test_models_that_are_none(tmp_path: Path, usage: Any) -> None:
    conversation, _ = read(task(tmp_path, None, TWICE, task_metadata={"model_usage": usage}))

    assert conversation.model is None


@pytest.mark.parametrize(
    ("line", "mode"), [("PLAN MODE", "plan"), ("ACT MODE", "act"), ("architect", "architect")]
)
def test_modes_on_a_line(line: str, mode: str) -> None:
    assert markup.Environment(f"# Current Mode\n{line}\nmore").mode == mode


def test_the_task_is_the_title_and_stays_where_it_is_longer(tmp_path: Path) -> None:
    conversation, _ = read(
        task(tmp_path, BOIL, SHOWN, history_item=item(task="Boil an egg\nfor four minutes"))
    )
    assert conversation.title == "Boil an egg"
    assert conversation.extra["history_item"]["task"] == "Boil an egg\nfor four minutes"

    assert read(task(tmp_path, BOIL, SHOWN, history_item=item(task="x" * 500)))[0].title == "x" * 79 + "…"


def test_parent_and_child(tmp_path: Path) -> None:
    child = "019c5c10-0000-7000-8000-000000000002"
    call = {"type": "tool_use", "id": "toolu_1", "name": "new_task", "input": {"message": "m"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"Delegated to child task {child}"}
    task(tmp_path, [BOIL[0], answer(1, call), user(2, result)])
    path = task(tmp_path, BOIL, None, child, history_item=item(id=child, parentTaskId=TASK, rootTaskId=TASK))
    conversation, _ = read(path)

    assert conversation.link == Link(conversation_id=TASK, relation="subagent", call_id="toolu_1")
    assert unified(path)["session"]["parent_conversation_id"] == TASK
    assert unified(path)["session"]["is_sidechain"] is True


def test_a_child_that_no_result_names_is_found_by_its_task(tmp_path: Path) -> None:
    child = "019c5c10-0000-7000-8000-000000000002"
    calls = [
        {"type": "tool_use", "id": f"toolu_{place}", "name": "new_task", "input": {"message": message}}
        for place, message in enumerate(("Boil water", "Boil an egg\n"))
    ]
    task(tmp_path, [BOIL[0], answer(1, *calls, id="msg_1")])
    path = task(tmp_path, BOIL, None, child, history_item=item(id=child, parentTaskId=TASK))

    assert read(path)[0].link == Link(
        conversation_id=TASK, relation="subagent", message_id="msg_1", call_id="toolu_1"
    )


def agents(folder: Path, *tasks: tuple[str, str, Any]) -> Link | None:
    """The link of an agent that was asked to count, where calls have these ids, tasks and results."""
    place = folder / "sessions" / "1784094124598_ab12c"
    place.mkdir(parents=True)
    calls = [
        {"type": "tool_use", "id": call, "name": "spawn_agent", "input": {"systemPrompt": "s", "task": asked}}
        for call, asked, _ in tasks
    ]
    results = [{"type": "tool_result", "tool_use_id": call, "content": given} for call, _, given in tasks]
    lead = [answer(1, *calls, id="m1"), user(2, *results, id="m2")]
    agent = [
        user(1, {"type": "text", "text": "Count"}, id="a1"),
        answer(2, {"type": "text", "text": "Four."}),
    ]
    for name, session_id, messages in (
        ("1784094124598_ab12c", "1784094124598_ab12c", lead),
        ("agent_7f", "1784094124598_ab12c__agent_7f", agent),
    ):
        whole = {"version": 1, "agent": "lead", "sessionId": session_id, "messages": messages}
        save_document(place, f"{name}.messages.json", whole)
    read_items = read_all([str(place)], Notes())
    return next(one.link for one in read_items if isinstance(one, Conversation) and "__" in one.id)


@pytest.mark.parametrize(
    ("tasks", "call"),
    [
        ([("c1", "Sort", {"text": "Done."}), ("c2", "Count", {"text": "Four."})], "c2"),
        ([("c1", "Count", {"text": "Five."}), ("c2", "Count", {"text": "Four."})], "c2"),
        ([("c1", "Count", '{"text":"Five."}'), ("c2", "Count", '{"text":"Four."}')], "c2"),
        ([("c1", "Count", "Five."), ("c2", "Count", [{"type": "text", "text": "Four."}])], "c2"),
        # Nothing tells these apart.
        ([("c1", "Count", "Four."), ("c2", "Count", "Four.")], None),
        ([("c1", "Sort", "Four.")], None),
    ],
)
def test_an_agent_belongs_to_the_call_with_its_task(
    tmp_path: Path, tasks: list[Any], call: str | None
) -> None:
    assert agents(tmp_path, *tasks) == Link(
        conversation_id="1784094124598_ab12c",
        relation="subagent",
        message_id=None if call is None else "m1",
        call_id=call,
    )


@pytest.mark.parametrize(
    ("folder", "extension"),
    [
        ("rooveterinaryinc.roo-cline", "roo-code"),
        ("RooVeterinaryInc.roo-cline", "roo-code"),
        ("saoudrizwan.claude-dev", "cline"),
        ("kilocode.kilo-code", "kilo-code"),
        ("backup", None),
    ],
)
def test_the_folder_implies_the_extension(tmp_path: Path, folder: str, extension: str | None) -> None:
    conversation, _ = read(task(tmp_path / folder, BOIL, SHOWN))

    assert conversation.platform.get("extension") == extension


@pytest.mark.parametrize(
    ("files", "extension"),
    [
        ({"history_item": item()}, "roo-code"),
        ({"task_metadata": {"files_in_context": [{"cline_read_date": 1}]}}, "cline"),
        ({"ui": [say(0, "task", "Boil an egg")]}, "cline"),
        ({"ui": [*SHOWN, say(9, "text", "x", metadata={"kiloCode": {}})]}, "kilo-code"),
    ],
)
def test_structure_implies_the_extension(tmp_path: Path, files: dict[str, Any], extension: str) -> None:
    assert read(task(tmp_path, BOIL, **files))[0].platform["extension"] == extension


def test_homes_are_of_every_system_and_extension() -> None:
    homes = "\n".join(roo_code.INFO.homes)
    for start in ("~/.config/*", "~/Library/Application Support/*", "%APPDATA%/*", "~/.*/data"):
        for extension in ("rooveterinaryinc.roo-*", "saoudrizwan.claude-dev", "kilocode.kilo-code"):
            assert f"{start}/User/globalStorage/{extension}/tasks/*" in homes


def test_custom_modes_of_the_settings(tmp_path: Path) -> None:
    path = task(tmp_path, BOIL, SHOWN, history_item=item(mode="cook"))
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "custom_modes.yaml").write_text(
        "customModes:\n  - slug: cook\n    customInstructions: Salt.\n  - slug: taste\n", encoding="utf-8"
    )
    document = unified(path)

    metadata = document["platform"]["metadata"]
    assert (metadata["mode"], metadata["active_mode"], metadata["mode_persistence"]) == ("cook", "cook", True)
    assert metadata["available_modes"] == ["cook", "taste"]
    assert document["context"]["custom"]["custom_instructions"] == {"modes": {"cook": "Salt."}}


def test_modes_are_in_json_before_they_are_in_yaml(tmp_path: Path) -> None:
    path = task(tmp_path, BOIL, SHOWN, history_item=item())
    modes = {"customModes": [{"slug": "cook", "customInstructions": "Salt."}, "odd", {"slug": 1}]}
    (tmp_path / "settings").mkdir()
    save_document(tmp_path / "settings", "cline_custom_modes.json", modes)

    assert unified(path)["context"]["custom"]["custom_instructions"] == {"modes": {"cook": "Salt."}}


def state_of_an_editor(storage: Path, value: Any, key: str = "RooVeterinaryInc.roo-cline") -> None:
    with closing(sqlite3.connect(storage / "state.vscdb")) as editor, editor:
        editor.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        editor.execute("INSERT INTO ItemTable VALUES (?, ?)", (key, value))


SET_MODES = [{"slug": "cook", "customInstructions": "Salt."}]
SET = {
    "customInstructions": "Be brief.",
    "customModePrompts": {
        "ask": {"customInstructions": "Be kind."},
        "code": {"customInstructions": ""},
        "cook": {"customInstructions": "Pepper."},
        "odd": [1],
    },
    "taskHistory": [{"id": TASK}],
}


def test_custom_instructions_of_the_editor_global_and_per_mode(tmp_path: Path) -> None:
    extension = tmp_path / "rooveterinaryinc.roo-cline"
    path = task(extension, BOIL, SHOWN, history_item=item())
    (extension / "settings").mkdir()
    save_document(extension / "settings", "custom_modes.yaml", {"customModes": SET_MODES})
    state_of_an_editor(tmp_path, json.dumps(SET))
    told = {"global": "Be brief.", "modes": {"ask": "Be kind.", "cook": "Salt."}}

    assert unified(path)["context"]["custom"]["custom_instructions"] == told
    assert read(path / "ui_messages.json")[0].context["custom_instructions"] == told


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (json.dumps(SET), "another.extension"),
        ("[1]", "RooVeterinaryInc.roo-cline"),
        ("{", "RooVeterinaryInc.roo-cline"),
        (b"\xff", "RooVeterinaryInc.roo-cline"),
        (None, "RooVeterinaryInc.roo-cline"),
        (json.dumps({"customInstructions": 1, "customModePrompts": 2}), "RooVeterinaryInc.roo-cline"),
    ],
)
def test_other_states_of_an_editor_say_nothing(tmp_path: Path, value: Any, key: str) -> None:
    path = task(tmp_path / "rooveterinaryinc.roo-cline", BOIL, SHOWN, history_item=item())
    state_of_an_editor(tmp_path, value, key)

    assert "custom_instructions" not in read(path)[0].context


def test_a_damaged_state_of_an_editor_is_noted_and_the_task_read(tmp_path: Path) -> None:
    path = task(tmp_path / "rooveterinaryinc.roo-cline", BOIL, SHOWN, history_item=item())
    (tmp_path / "state.vscdb").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    conversation, notes = read(path)

    assert conversation.timeline
    assert len(noted(notes, Kind.UNREADABLE_FILE)) == 1


def test_an_index_describes_a_task_without_an_item_file(tmp_path: Path) -> None:
    path = task(tmp_path, BOIL)
    save_document(
        tmp_path / "tasks", "_index.json", {"version": 1, "entries": [{"id": "x"}, item(task="Egg")]}
    )
    conversation, _ = read(path)

    assert conversation.title == "Egg"


# Tools.


def xml(said: str) -> list[Any]:
    return list(markup.split_markup(said))


def test_a_call_in_xml_is_a_part_and_the_prose_around_it_stays(tmp_path: Path) -> None:
    said = "Look:\n<read_file>\n<path>a.py</path>\n</read_file>\nDone."
    result = "[read_file for 'a.py'] Result:"
    api = [
        BOIL[0],
        answer(1, text(said)),
        user(2, text(result), text("1 | x"), text("<feedback>\nnice\n</feedback>")),
    ]
    conversation, notes = read(task(tmp_path, api))

    _, asked, told = messages(conversation)
    before, call, after = asked.parts
    assert (before, after) == (Text(text="Look:"), Text(text="Done."))
    assert isinstance(call, ToolCall)
    assert (call.name, call.input, call.kind, call.extra) == ("read_file", {"path": "a.py"}, "read", {})
    output, words = told.parts
    assert isinstance(output, ToolResult)
    assert (output.call_id, output.name, output.output) == (call.call_id, "read_file", "1 | x")
    assert words == Text(text="nice", extra={"tag": "feedback"})
    assert asked.native == [text(said)]
    assert len(noted(notes, Kind.GUESSED_LINK)) == 1


def test_content_ends_with_its_last_tag() -> None:
    (call,) = xml("<write_to_file><path>a</path><content>\n  x </content> y\n</content></write_to_file>")

    assert call == markup.Call("write_to_file", {"path": "a", "content": "  x </content> y"}, None)


@pytest.mark.parametrize(
    "said",
    [
        "<read_file><path>a</path>",
        "<read_file><path>a</read_file>",
        "a < b </i> c",
        "</read_file>",
        "<unknown_tool><path>a</path></unknown_tool>",
        "",
    ],
)
def test_what_is_no_call_stays_text(said: str) -> None:
    assert xml(said) == [said]


def test_unusual_xml_of_a_call_is_preserved() -> None:
    said = "<read_file>please <path>a</path><path>b</path></read_file>"

    assert xml(said) == [markup.Call("read_file", {"path": "b"}, said)]


def test_xml_is_only_text_once_tools_are_called_natively(tmp_path: Path) -> None:
    said = "I would write <read_file><path>a</path></read_file>."
    call = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}
    *_, last = messages(read(task(tmp_path, [BOIL[0], answer(1, call), answer(2, text(said))]))[0])

    assert last.parts == [Text(text=said)]


def test_many_tags_that_nothing_closes_take_no_time() -> None:
    assert xml("<read_file><path></read_file></x>" * 20_000)
    assert xml("<thinking>" * 100_000 + "</")
    assert xml("<write_to_file><content></content>" * 20_000)


def test_calls_of_one_name_are_answered_in_their_order(tmp_path: Path) -> None:
    calls = text("".join(f"<read_file><path>{name}</path></read_file>" for name in "ab"))
    results = [text(f"[read_file for '{name}'] Result:\n{name}") for name in "ab"]
    *_, asked, told = messages(read(task(tmp_path, [BOIL[0], answer(1, calls), user(2, *results)]))[0])

    assert [part.call_id for part in tree.calls_in(asked)] == [part.call_id for part in tree.results_in(told)]


def test_a_failed_result_is_an_error(tmp_path: Path) -> None:
    failed = "The tool execution failed with the following error:\n<error>\nno\n</error>"
    call = text("<list_files><path>.</path></list_files>")
    api = [BOIL[0], answer(1, call), user(2, text(f"[list_files for '.'] Result:\n{failed}"))]
    *_, told = messages(read(task(tmp_path, api))[0])

    assert isinstance(told.parts[0], ToolResult)
    assert told.parts[0].is_error is True


def test_ui_records_become_messages(tmp_path: Path) -> None:
    picture = "data:image/png;base64,AAAA"
    ui = [
        say(0, "text", "Boil an egg", images=[picture]),
        request(1, tokensIn=3),
        ask(2, "tool", {"tool": "readFile", "path": "egg"}),
        ask(3, "command", "boil"),
        say(4, "command_output", "hot"),
        ask(5, "followup", {"question": "Salt?", "suggest": []}),
        say(6, "user_feedback", "Yes"),
        say(7, "completion_result", "Done."),
    ]
    said = messages(read(task(tmp_path, None, ui))[0])

    assert [message.role for message in said] == [
        *("user", "assistant", "assistant", "tool", "assistant", "user", "assistant"),
    ]
    assert said[0].parts == [Text(text="Boil an egg"), Media(kind="image", mime="image/png", data="AAAA")]
    assert said[1].parts == [
        ToolCall(name="readFile", call_id=str(T + 2), input={"path": "egg"}, kind="read")
    ]
    assert said[2].parts == [
        ToolCall(name="execute_command", call_id=str(T + 3), input={"command": "boil"}, kind="shell")
    ]
    assert said[3].parts == [ToolResult(call_id=str(T + 3), name="execute_command", output="hot")]
    assert said[4].parts == [Text(text="Salt?", extra={"suggest": []})]


def test_summaries(tmp_path: Path) -> None:
    summary = user(500, text("## Summary\nEgg is on."), isSummary=True, condenseId="c")
    shown = say(501, "condense_context", contextCondense={"summary": "Egg is on.", "cost": 0})
    other = say(502, "condense_context", contextCondense={"summary": "Egg is off.", "cost": 0})
    conversation, _ = read(task(tmp_path, [BOIL[0], summary, BOIL[1]], [*SHOWN, shown, other]))

    assert [one.text for one in conversation.summaries] == ["## Summary\nEgg is on.", "Egg is off."]
    first = messages(conversation)[0]
    assert {one.message_id for one in conversation.summaries} == {first.id}
    assert messages(conversation)[1].hidden


def test_errors_and_checkpoints_are_events(tmp_path: Path) -> None:
    ui = [
        *SHOWN,
        say(2, "error", "no gas"),
        say(3, "checkpoint_saved", "c0ffee", checkpoint={"to": "c0ffee"}),
    ]
    conversation, _ = read(task(tmp_path, BOIL, ui))

    by_name = {entry.name: entry.data for entry in conversation.timeline if isinstance(entry, Event)}
    assert by_name["say:error"] == {"text": "no gas"}
    assert by_name["say:checkpoint_saved"] == {"text": "c0ffee", "checkpoint": {"to": "c0ffee"}}


# Nothing is lost.


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_paths_read_equal_messages(case: Case) -> None:
    for file in input_files(case.input):
        if file.name != "api_conversation_history.json" or "damaged" in case.name:
            continue
        records = json.loads(file.read_text(encoding="utf-8"))
        fast, general = History("t", Notes()), History("t", Notes())
        for index, record in enumerate(records):
            try:
                common: Any = msgspec.convert(copy.deepcopy(record), CommonMessage)
            except msgspec.ValidationError:
                common = copy.deepcopy(record)
            assert fast.parse(common, index) == general.parse(copy.deepcopy(record), index)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_paths_read_equal_records(case: Case) -> None:
    for file in input_files(case.input):
        if file.name != "ui_messages.json" or "damaged" in case.name:
            continue
        for place, record in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            if (
                isinstance(record, dict)
                and (fast := ui_messages.parse_common(copy.deepcopy(record), place)) is not None
            ):
                assert fast.event() == ui_messages.parse_any(copy.deepcopy(record), place, Notes()).event()


@given(
    stated=st.fixed_dictionaries(
        {"tokensIn": st.integers(-5, 10**6), "tokensOut": st.integers(-5, 10**6)},
        optional={
            "apiProtocol": st.sampled_from(["anthropic", "openai", None]),
            "cacheWrites": st.none() | st.integers(-5, 10**6),
            "cacheReads": st.none() | st.integers(-5, 10**6),
            "cost": st.none() | st.floats(0, 10) | st.integers(-1, 3),
        },
    ),
    ts=st.sampled_from([None, 1750000000000, T]),
)
def test_both_paths_read_equal_usage(stated: dict[str, Any], ts: int | None) -> None:
    fast = request_costs.fast_usage(json.dumps(stated), "k", ts)

    assert fast is None or fast == request_costs.request_usage(Fields(stated, Notes(), ""), "k", ts)


def words(said: str) -> set[str]:
    """The words of a text, without tags."""
    return set(re.findall(r"[\w.#/=+'-]+", re.sub(r"</?\w+>", " ", said)))


def keys(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            yield from current
        pending.extend(
            current.values() if isinstance(current, dict) else current if isinstance(current, list) else ()
        )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_text_is_preserved(case: Case, tmp_path: Path) -> None:
    """Texts with markup are taken apart; each word of them must be somewhere."""
    if "damaged" in case.name:
        pytest.skip("damaged input loses what is damaged")
    items = [as_json(item) for item in outcome(case.location(tmp_path)).items]
    for one in items:
        for entry in one.get("timeline", ()):
            entry.pop("native", None)
    told = set(keys(items)).union(*(words(said) for _, said in leaves(items)))
    said = [
        leaf
        for file in input_files(case.input)
        if file.suffix == ".json"
        for key, leaf in leaves(json.loads(file.read_text(encoding="utf-8")))
        if key not in {"type", "role", "say", "ask"}
    ]

    # Of a URI of a picture the media type and the data are told; two names of what is told as a part, and the
    # head that Cline puts above a summary.
    assert set().union(*map(words, said)) - told <= {"data", "base64", "question", "screenshot", "Context"}
