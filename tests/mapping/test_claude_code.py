"""Claude Code into the model: each row of the field mappings, and the lines that other documents show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import File
from agent_journal.model import (
    Conversation,
    Event,
    Link,
    Media,
    Message,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import claude_code
from agent_journal.readers.claude_code import fastpath
from agent_journal.text import describe
from tests.cases import Case, all_cases, outcome
from tests.inline import save_lines
from tests.memory_source import Bytes

SESSION = "0574c517-2408-4a20-8808-7626fd961640"
COMMON: dict[str, Any] = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/ana/app",
    "sessionId": SESSION,
    "version": "2.1.34",
    "gitBranch": "main",
}
USAGE: dict[str, Any] = {
    "input_tokens": 4,
    "output_tokens": 1,
    "cache_creation_input_tokens": 88240,
    "cache_read_input_tokens": 0,
    "cache_creation": {"ephemeral_5m_input_tokens": 88240, "ephemeral_1h_input_tokens": 0},
    "service_tier": "standard",
}
PROMPT: dict[str, Any] = {
    **COMMON,
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "timestamp": "2026-02-10T17:27:10.587Z",
    "message": {"role": "user", "content": "Fix the bug in main.py"},
    "permissionMode": "bypassPermissions",
}
ANSWER: dict[str, Any] = {
    **COMMON,
    "type": "assistant",
    "uuid": "a1",
    "parentUuid": "u1",
    "timestamp": "2026-02-10T17:27:14.496Z",
    "requestId": "req_1",
    "message": {
        "model": "claude-opus-4-6",
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I'll find the root cause."},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "git log"}},
            {"type": "thinking", "thinking": "Let me examine the code..."},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
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
                "tool_use_id": "toolu_1",
                "type": "tool_result",
                "content": "README.md\nsrc/\n",
                "is_error": False,
            }
        ],
    },
    "toolUseResult": {"stdout": "README.md\nsrc/\n", "stderr": "", "interrupted": False, "isImage": False},
    "sourceToolAssistantUUID": "a1",
}
QUEUE: dict[str, Any] = {
    "type": "queue-operation",
    "operation": "dequeue",
    "timestamp": "2026-02-10T17:27:10.484Z",
    "sessionId": SESSION,
}
SUMMARY: dict[str, Any] = {"type": "summary", "summary": "A crash in main.py", "leafUuid": "u2"}


def read(folder: Path, *lines: dict[str, Any], name: str = SESSION) -> tuple[Conversation, Notes]:
    notes = Notes()
    (item,) = read_all([str(save_lines(folder, f"{name}.jsonl", lines))], notes)
    assert isinstance(item, Conversation)
    return item, notes


def messages(conversation: Conversation) -> dict[str, Message]:
    return {message.id: message for message in tree.messages(conversation)}


def line(base: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {**base, **changed}


def answer(uuid: str, parent: str, output: int, **message: Any) -> dict[str, Any]:
    body = {**ANSWER["message"], "usage": {**USAGE, "output_tokens": output}, **message}
    return line(ANSWER, uuid=uuid, parentUuid=parent, message=body)


# The field mappings of the Unified Conversation Schema, row by row.


def test_conversation_and_session_id_are_the_session(tmp_path: Path) -> None:
    assert read(tmp_path, PROMPT)[0].id == SESSION


def test_without_a_uuid_for_its_name_a_file_is_called_as_its_lines_say(tmp_path: Path) -> None:
    assert read(tmp_path, line(PROMPT, sessionId="S1"), name="notes")[0].id == "S1"


def test_platform(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, PROMPT, ANSWER)
    info = readers.get(conversation.source).INFO

    assert info.names == {"unified": "claude_code", "pam": "claude", "record": "claude-code"}
    assert conversation.app_version == "2.1.34"
    assert conversation.model == "claude-opus-4-6"


def test_parents_are_messages_not_conversations(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, PROMPT, ANSWER)

    assert conversation.link is None
    assert messages(conversation)["a1"].parent_id == "u1"


@pytest.mark.parametrize("flag", [True, False])
def test_sidechains(tmp_path: Path, flag: bool) -> None:
    conversation, _ = read(tmp_path, line(PROMPT, isSidechain=flag))
    message = messages(conversation)["u1"]

    assert (message.sidechain, message.extra["isSidechain"]) == (flag, flag)


def test_workspace(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, PROMPT)

    assert (conversation.cwd, conversation.git_branch) == ("/home/ana/app", "main")


@pytest.mark.parametrize("branch", ["HEAD", "", None])
def test_no_branch_is_none(tmp_path: Path, branch: str | None) -> None:
    assert read(tmp_path, line(PROMPT, gitBranch=branch))[0].git_branch is None


def test_created_and_updated_are_the_earliest_and_latest_message(tmp_path: Path) -> None:
    early = line(PROMPT, uuid="u0", timestamp="2026-02-10T17:27:09Z")
    conversation, _ = read(tmp_path, QUEUE, PROMPT, RESULT, ANSWER, early)

    assert conversation.started_at == "2026-02-10T17:27:09Z"
    assert conversation.updated_at == "2026-02-10T17:27:24.950Z"


def test_message_fields(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, PROMPT, ANSWER, RESULT)
    found = [(m.id, m.parent_id, m.role, m.at) for m in tree.messages(conversation)]

    assert found == [
        ("u1", None, "user", PROMPT["timestamp"]),
        ("a1", "u1", "assistant", ANSWER["timestamp"]),
        ("u2", "a1", "user", RESULT["timestamp"]),
    ]
    assert messages(conversation)["u1"].extra["userType"] == "external"


def test_role_is_the_messages_not_the_lines(tmp_path: Path) -> None:
    odd = line(ANSWER, type="user")
    conversation, _ = read(tmp_path, PROMPT, odd)
    message = messages(conversation)["a1"]

    assert (message.role, message.extra["type"]) == ("assistant", "user")


def test_role_is_the_lines_only_where_the_message_has_none(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, line(PROMPT, message={"content": "hello"}))

    assert messages(conversation)["u1"].role == "user"


def test_content_blocks(tmp_path: Path) -> None:
    found = messages(read(tmp_path, PROMPT, ANSWER, RESULT)[0])

    assert found["u1"].parts == [Text(text="Fix the bug in main.py")]
    assert found["a1"].parts == [
        Text(text="I'll find the root cause."),
        ToolCall(name="Bash", call_id="toolu_1", input={"command": "git log"}, kind="shell"),
        Reasoning(text="Let me examine the code..."),
    ]
    assert found["u2"].parts == [ToolResult(call_id="toolu_1", output="README.md\nsrc/\n", is_error=False)]


def test_content_stays_as_it_was(tmp_path: Path) -> None:
    found = messages(read(tmp_path, PROMPT, ANSWER, RESULT)[0])

    assert found["a1"].native == ANSWER["message"]["content"]
    # A string, and one block of the usual form, are told exactly by the one part.
    assert (found["u1"].native, found["u1"].parts) == (None, [Text(text="Fix the bug in main.py")])
    assert (found["u2"].native, len(found["u2"].parts)) == (None, 1)


def test_tool_result_as_blocks(tmp_path: Path) -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "ok"}]}
    result = line(RESULT, message={"role": "user", "content": [block]})
    found = messages(read(tmp_path, PROMPT, ANSWER, result)[0])

    assert found["u2"].parts == [ToolResult(call_id="toolu_1", output=[Text(text="ok")], is_error=None)]


def test_token_usage(tmp_path: Path) -> None:
    assert messages(read(tmp_path, PROMPT, ANSWER)[0])["a1"].usage == Usage(
        key="msg_1:req_1",
        input=4,
        output=1,
        cache_read=0,
        cache_write=88240,
        cache_write_5m=88240,
        cache_write_1h=0,
        extra=USAGE,
    )


def test_how_many_tokens_were_thought(tmp_path: Path) -> None:
    counts = {**USAGE, "output_tokens": 40, "output_tokens_details": {"thinking_tokens": 36}}
    answer = line(ANSWER, message={**ANSWER["message"], "usage": counts})
    found = messages(read(tmp_path, PROMPT, answer)[0])["a1"].usage

    assert found is not None
    assert (found.output, found.reasoning) == (40, 36)


def test_summaries(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, SUMMARY, PROMPT, ANSWER, RESULT)

    assert conversation.summaries == [Summary(text="A crash in main.py", message_id="u2")]
    assert conversation.title == "A crash in main.py"


def test_a_title_is_not_made_up(tmp_path: Path) -> None:
    assert read(tmp_path, PROMPT, ANSWER)[0].title is None


# Usage: a response over several lines states its tokens on each of them.


def test_the_summary_of_a_compaction_is_hidden(tmp_path: Path) -> None:
    recap = line(PROMPT, isCompactSummary=True, message={"role": "user", "content": "This session is …"})
    conversation, _ = read(tmp_path, recap, line(PROMPT, uuid="u2", parentUuid="u1"))

    assert [message.hidden for message in tree.messages(conversation)] == [True, False]
    assert describe.title(conversation) == "Fix the bug in main.py"


@pytest.mark.parametrize("as_blocks", [False, True])
def test_a_summary_that_is_not_marked_is_hidden(tmp_path: Path, as_blocks: bool) -> None:
    text = "This session is being continued from a previous conversation that ran out of context. …"
    content = [{"type": "text", "text": text}] if as_blocks else text
    recap = line(PROMPT, message={"role": "user", "content": content})
    conversation, _ = read(tmp_path, recap, line(PROMPT, uuid="u2", parentUuid="u1"))

    assert [message.hidden for message in tree.messages(conversation)] == [True, False]
    assert describe.title(conversation) == "Fix the bug in main.py"


def test_tokens_count_once_and_the_last_value_wins(tmp_path: Path) -> None:
    lines = [answer("a1", "u1", 5), answer("a2", "a1", 5), RESULT, answer("a3", "u2", 87)]
    conversation, _ = read(tmp_path, PROMPT, *lines)
    counted = tree.usages(conversation.timeline)

    assert [(usage.key, usage.output, usage.cache_write) for usage in counted] == [("msg_1:req_1", 87, 88240)]


def test_equal_responses_of_different_requests_count_each(tmp_path: Path) -> None:
    again = line(answer("a2", "a1", 9), requestId="req_2")
    conversation, _ = read(tmp_path, PROMPT, answer("a1", "u1", 9), again)

    assert [usage.key for usage in tree.usages(conversation.timeline)] == ["msg_1:req_1", "msg_1:req_2"]


def test_what_the_app_says_itself_has_no_model_and_no_tokens(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, PROMPT, answer("a1", "u1", 0, model="<synthetic>"))
    message = messages(conversation)["a1"]

    assert (message.model, message.usage, conversation.model) == (None, None, None)
    assert message.extra["message"]["model"] == "<synthetic>"
    assert message.extra["message"]["usage"]["output_tokens"] == 0


def test_progress_of_sub_agents_is_not_counted(tmp_path: Path) -> None:
    told = line(PROMPT, type="progress", uuid="p1", data={"type": "agent_progress", "message": ANSWER})
    del told["message"]
    conversation, _ = read(tmp_path, PROMPT, told)

    assert tree.usages(conversation.timeline) == []


def test_counts_of_the_first_moment_are_noted_once(tmp_path: Path) -> None:
    low = {"stop_reason": None}
    lines = [
        answer("a1", "u1", 2, **low),
        answer("a2", "a1", 2, **low),
        answer("a3", "a2", 3, id="m2", **low),
    ]
    _, notes = read(tmp_path, PROMPT, *lines)

    assert notes.counts == {Kind.PARTIAL_USAGE: 1}


@pytest.mark.parametrize("last", [{"stop_reason": "end_turn"}, {"usage": {**USAGE, "output_tokens": 9}}])
def test_counts_that_are_made_good_later_are_not_noted(tmp_path: Path, last: dict[str, Any]) -> None:
    lines = [answer("a1", "u1", 2, stop_reason=None), answer("a2", "a1", 2, **{"stop_reason": None, **last})]
    _, notes = read(tmp_path, PROMPT, *lines)

    assert notes.counts == {}


# The native schema that the agent-record breakdown shows.


def test_a_queue_operation_is_an_event_with_all_it_says(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, QUEUE, PROMPT)
    event = conversation.timeline[0]

    assert isinstance(event, Event)
    assert (event.name, event.at, event.made_id) == ("queue-operation", QUEUE["timestamp"], True)
    assert event.data == {"operation": "dequeue"}


def test_what_a_lossless_writer_passes_on_has_its_native_name(tmp_path: Path) -> None:
    slugged = line(RESULT, slug="brisk-otter")
    found = messages(read(tmp_path, PROMPT, ANSWER, slugged)[0])

    assert found["u1"].extra == {
        "isSidechain": False,
        "userType": "external",
        "permissionMode": "bypassPermissions",
    }
    assert found["a1"].extra == {
        "isSidechain": False,
        "userType": "external",
        "requestId": "req_1",
        "message": {"stop_reason": "tool_use", "stop_sequence": None},
    }
    assert found["u2"].extra == {
        "isSidechain": False,
        "userType": "external",
        "toolUseResult": RESULT["toolUseResult"],
        "sourceToolAssistantUUID": "a1",
        "slug": "brisk-otter",
    }


def test_message_ids_and_stop_reasons(tmp_path: Path) -> None:
    message = messages(read(tmp_path, PROMPT, ANSWER)[0])["a1"]

    assert (message.response_id, message.stop_reason) == ("msg_1", "tool_use")


def test_nothing_is_noted_about_good_lines(tmp_path: Path) -> None:
    assert read(tmp_path, QUEUE, PROMPT, ANSWER, RESULT, SUMMARY)[1].collected == []


# The event types and shapes of the session format comparison.


@pytest.mark.parametrize(
    "record",
    [
        SUMMARY,
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"messageId": "u1"}},
        QUEUE,
        {"type": "ai-title", "aiTitle": "A title", "sessionId": SESSION},
        {"type": "permission-mode", "permissionMode": "plan", "sessionId": SESSION},
        line(COMMON, type="system", subtype="turn_duration", uuid="s1", durationMs=5),
    ],
    ids=lambda record: str(record["type"]),
)
def test_a_file_may_begin_with_lines_that_say_nothing(tmp_path: Path, record: dict[str, Any]) -> None:
    conversation, _ = read(tmp_path, *[record] * 3)

    assert {entry.__class__ for entry in conversation.timeline} == {Event}


def test_system_lines(tmp_path: Path) -> None:
    base = line(COMMON, type="system", parentUuid="u1", timestamp="2026-02-10T17:28:00.000Z")
    said = line(base, uuid="s1", subtype="local_command", content="done", isMeta=False)
    meta = line(base, uuid="s2", subtype="informational", content="for the app", isMeta=True)
    silent = line(base, uuid="s3", subtype="turn_duration", durationMs=12)
    conversation, _ = read(tmp_path, PROMPT, said, meta, silent)

    shown = [(m.id, m.role, m.hidden, tree.plain_text(m)) for m in tree.messages(conversation)][1:]
    assert shown == [("s1", "system", False, "done"), ("s2", "system", True, "for the app")]
    event = conversation.timeline[-1]
    assert isinstance(event, Event)
    assert (event.id, event.name, event.data["durationMs"]) == ("s3", "system", 12)


# Links between conversations.


def attachment(uuid: str = "f1", parent: str = "u1", **attached: Any) -> dict[str, Any]:
    line = {"type": "attachment", "uuid": uuid, "parentUuid": parent, "timestamp": PROMPT["timestamp"]}
    return {**COMMON, **line, "attachment": attached}


def file_attached(uuid: str = "f1", parent: str = "u1") -> dict[str, Any]:
    inside = {"filePath": "/home/ana/app/tea.md", "content": "80 degrees", "numLines": 1}
    content = {"type": "text", "file": inside}
    return attachment(
        uuid, parent, type="file", filename="/home/ana/app/tea.md", displayPath="tea.md", content=content
    )


def test_a_file_attached_to_a_prompt_is_read_with_its_text(tmp_path: Path) -> None:
    conversation, notes = read(tmp_path, PROMPT, file_attached(), {**ANSWER, "parentUuid": "f1"})
    message = conversation.timeline[1]

    assert isinstance(message, Message)
    assert (message.id, message.parent_id, message.role, message.hidden) == ("f1", "u1", "user", False)
    assert message.parts == [
        Media(kind="document", name="tea.md", ref="/home/ana/app/tea.md", text="80 degrees")
    ]
    assert message.extra["attachment"] == {
        "type": "file",
        "content": {"type": "text", "file": {"filePath": "/home/ana/app/tea.md", "numLines": 1}},
    }
    assert {note.kind for note in notes.collected} <= {Kind.PARTIAL_USAGE.label}


@pytest.mark.parametrize(
    ("attached", "part"),
    [
        (
            {"type": "directory", "path": "/home/ana", "content": "a\nb", "displayPath": "~"},
            Media(kind="document", name="~", ref="/home/ana", text="a\nb"),
        ),
        (
            {"type": "selected_lines_in_ide", "filename": "/a.py", "lineStart": 3, "content": "x = 1"},
            Media(kind="document", ref="/a.py", text="x = 1"),
        ),
        (
            {"type": "mcp_resource", "content": {"contents": [{"uri": "tea://1", "text": "Green."}]}},
            Media(kind="document", ref="tea://1", text="Green."),
        ),
        (
            {
                "type": "file",
                "filename": "/a.png",
                "content": {"type": "image", "file": {"base64": "iVBORw0KGgo=", "type": "image/png"}},
            },
            Media(kind="image", mime="image/png", ref="/a.png", data="iVBORw0KGgo="),
        ),
        (
            {
                "type": "file",
                "filename": "/a.pdf",
                "content": {"type": "pdf", "file": {"base64": "JVBERi0=", "originalSize": 5}},
            },
            Media(kind="document", mime="application/pdf", ref="/a.pdf", data="JVBERi0=", size=5),
        ),
        (
            {
                "type": "file",
                "filename": "/a.ipynb",
                "content": {"type": "notebook", "file": {"cells": [{"source": "1"}, {"source": "2"}]}},
            },
            Media(kind="document", ref="/a.ipynb", text="1\n\n2"),
        ),
    ],
    ids=["folder", "lines", "resource", "image", "pdf", "notebook"],
)
def test_what_else_is_attached_to_a_prompt(tmp_path: Path, attached: dict[str, Any], part: Media) -> None:
    conversation, _ = read(tmp_path, PROMPT, attachment(**attached))
    message = conversation.timeline[1]

    assert isinstance(message, Message)
    assert message.parts == [part]


@pytest.mark.parametrize(
    "attached",
    [
        {"type": "todo_reminder", "content": []},
        {"type": "edited_text_file", "filename": "/a.md", "snippet": "80 degrees"},
        {"type": "nested_memory", "path": "/CLAUDE.md", "content": {"content": "Be brief."}},
        {
            "type": "file",
            "filename": "/a.md",
            "content": {"type": "file_unchanged", "file": {"filePath": "/"}},
        },
        {"type": "file", "filename": "/a.md", "content": "80 degrees"},
        {"type": "directory", "path": "/a", "content": None},
        {"type": ["file"]},
    ],
)
def test_what_the_app_attaches_by_itself_is_an_event(tmp_path: Path, attached: dict[str, Any]) -> None:
    conversation, _ = read(tmp_path, PROMPT, attachment(**attached))
    event = conversation.timeline[1]

    assert isinstance(event, Event)
    assert event.data["attachment"] == attached


def test_files_that_the_app_puts_after_a_summary_are_hidden(tmp_path: Path) -> None:
    summary = {**PROMPT, "isCompactSummary": True}
    conversation, _ = read(tmp_path, summary, file_attached(), file_attached("f2", "f1"))

    assert [message.hidden for message in tree.messages(conversation)] == [True, True, True]


def test_sub_agent_in_a_file_of_its_own(tmp_path: Path) -> None:
    call = answer(
        "a1", "u1", 90, content=[{"type": "tool_use", "id": "toolu_T", "name": "Task", "input": {}}]
    )
    block = {"type": "tool_result", "tool_use_id": "toolu_T", "content": "done"}
    done = line(RESULT, message={"role": "user", "content": [block]}, toolUseResult={"agentId": "ab12"})
    save_lines(tmp_path, f"{SESSION}.jsonl", [PROMPT, call, done])
    agents = tmp_path / SESSION / "subagents"
    agents.mkdir(parents=True)
    conversation, _ = read(agents, line(PROMPT, isSidechain=True, agentId="ab12"), name="agent-ab12")

    assert conversation.id == f"{SESSION}/agent-ab12"
    assert conversation.link == Link(conversation_id=SESSION, relation="subagent", call_id="toolu_T")


def test_sub_agent_that_is_still_at_work(tmp_path: Path) -> None:
    told = line(COMMON, type="progress", uuid="p1", data={"agentId": "ab12"}, parentToolUseID="toolu_T")
    save_lines(tmp_path, f"{SESSION}.jsonl", [PROMPT, told])
    conversation, _ = read(tmp_path, line(PROMPT, isSidechain=True), name="agent-ab12")

    assert conversation.link == Link(conversation_id=SESSION, relation="subagent", call_id="toolu_T")


def test_sub_agent_whose_parent_is_gone(tmp_path: Path) -> None:
    conversation, _ = read(tmp_path, line(PROMPT, isSidechain=True), name="agent-ab12")

    assert conversation.link == Link(conversation_id=SESSION, relation="subagent")


def test_hostile_names_of_files_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", encoding="utf-8")
    project = tmp_path / "project"
    (project / SESSION / "tool-results").mkdir(parents=True)
    saved = f"<persisted-output>\nFull output saved to: x/tool-results/..{chr(92)}..{chr(92)}secret.txt\n"
    block = {"type": "tool_result", "tool_use_id": "../../../secret", "content": saved}
    result = line(RESULT, message={"role": "user", "content": [block]})
    conversation, notes = read(project, PROMPT, ANSWER, result)

    assert messages(conversation)["u2"].parts == [ToolResult(call_id="../../../secret", output=saved)]
    assert notes.counts == {Kind.MISSING_FILE: 1}


@pytest.mark.parametrize(
    "path",
    [
        f"p/{SESSION}/tool-results/toolu_1.txt",
        f"{SESSION}/tool-results/toolu_1.json",
        f"p/{SESSION}/subagents/agent-ab12.meta.json",
        f"p/{SESSION}/remote-agents/remote-agent-1.meta.json",
        f"p/{SESSION}/custom-title.json",
    ],
)
def test_files_next_to_a_session_are_no_units(path: str) -> None:
    assert readers.is_companion(path)


# What is not a session of this app.

RELATED: dict[str, dict[str, Any]] = {
    "prompt-without-a-place": {"display": "hi", "timestamp": 1, "sessionId": SESSION},
    "typed-prompt": {"type": "prompt", "display": "hi", "timestamp": 1, "project": "/x"},
    "gemini-parts": line(PROMPT, message={"role": "user", "parts": [{"text": "hi"}]}),
    "prefixed-session": line(PROMPT, sessionId=f"session-{SESSION}"),
    "typed-message": {
        "type": "message",
        "id": "1",
        "parentId": None,
        "timestamp": "t",
        "message": {"role": "user"},
    },
    "role-beside-message": {"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}},
    "codex": {"timestamp": "t", "type": "response_item", "payload": {"type": "message", "role": "user"}},
    "data-events": {
        "type": "user.message",
        "data": {"content": "hi"},
        "id": "1",
        "timestamp": "t",
        "parentId": None,
    },
    "plain-content": {"type": "user", "content": "hi", "timestamp": "t"},
    "stream-init": {"type": "system", "subtype": "init", "sessionId": "s", "cwd": "/x", "tools": []},
}


@pytest.mark.parametrize("record", RELATED.values(), ids=RELATED)
def test_files_of_relatives_are_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    path = save_lines(tmp_path, f"{SESSION}.jsonl", [record, record])

    assert readers.get("claude-code").sniff(Peek(File(str(path)))) is None


def test_a_first_line_that_is_larger_than_the_look_at_it(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 200_000}}
    message = {"role": "user", "content": [image]}
    first = {"parentUuid": None, "isSidechain": False, "type": "user", "message": message}
    rest = {name: value for name, value in PROMPT.items() if name not in first}
    conversation, _ = read(tmp_path, first | rest, ANSWER)

    assert [message.id for message in tree.messages(conversation)] == ["u1", "a1"]


@pytest.mark.parametrize(
    ("record", "version"),
    [(PROMPT, "2"), (line(PROMPT, version="1.0.98"), "1"), (line(ANSWER, version=None, costUSD=0.1), "1")],
)
def test_versions(tmp_path: Path, record: dict[str, Any], version: str) -> None:
    path = save_lines(tmp_path, f"{SESSION}.jsonl", [record])

    assert readers.get("claude-code").sniff(Peek(File(str(path)))) == version


@pytest.mark.parametrize("case", [case for case in all_cases() if case.reader == "claude-code"], ids=str)
def test_the_fast_way_through_a_line_makes_what_the_careful_way_makes(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = case.location(tmp_path)
    fast = outcome(location)
    monkeypatch.setattr(fastpath, "MAX_CONSECUTIVE_MISSES", 0)
    careful = outcome(location)

    assert careful.items == fast.items
    assert careful.notes.collected == fast.notes.collected


odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "x", 7, True, [], {}, "HEAD", "2026-03-01T10:00:00.000Z", "message", "user"]
)
body_names = ["id", "type", "model", "stop_reason", "stop_sequence", "usage", "container"]
line_names = [
    *("timestamp", "parentUuid", "sessionId", "cwd", "version", "gitBranch", "isSidechain", "userType"),
    *("requestId", "toolUseResult", "isMeta", "slug", "logicalParentUuid", "costUSD"),
]
bodies = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", None]),
        "content": odd | st.just([{"type": "text"}]),
    },
    optional=dict.fromkeys(body_names, odd),
)
session_lines = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant", "system"]),
        "uuid": st.sampled_from("abcde"),
        "message": bodies,
    },
    optional=dict.fromkeys(line_names, odd),
)


@given(st.lists(session_lines, min_size=1, max_size=5))
def test_the_fast_way_agrees_on_any_line(records: list[dict[str, Any]]) -> None:
    data = b"\n".join(json.dumps(record).encode() for record in records)
    found = []
    for tries in (fastpath.MAX_CONSECUTIVE_MISSES, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fastpath, "MAX_CONSECUTIVE_MISSES", tries)
            notes = Notes()
            found.append((list(claude_code.read(Bytes(data, "s.jsonl"), "2", notes)), notes.collected))

    assert found[1] == found[0]
