"""GitHub Copilot CLI into the model: each rule of the documented mapping, and what lies on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import File
from agent_journal.model import (
    Citation,
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
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import copilot_cli
from agent_journal.readers.dialects.copilot_events import events, workspace
from tests.cases import Case, all_cases
from tests.inline import converted, save_document, save_lines

SESSION = "7c0e5a52-0d5c-4a3b-9a51-2f6f8a1b0c01"
START: dict[str, Any] = {
    "sessionId": SESSION,
    "version": 1,
    "producer": "copilot-agent",
    "copilotVersion": "0.0.382",
    "startTime": "2026-01-16T10:00:00.000Z",
}
CASES = [case for case in all_cases() if case.reader == copilot_cli.INFO.name]


def chained(*said: tuple[str, dict[str, Any]], **envelope: Any) -> list[dict[str, Any]]:
    """Events as the documented interface has them, each the child of the one before."""
    return [
        {
            "id": f"e{place}",
            "type": kind,
            "timestamp": f"2026-01-16T10:00:{place:02d}.000Z",
            "parentId": f"e{place - 1}" if place else None,
            "data": data,
            **envelope,
        }
        for place, (kind, data) in enumerate([("session.start", dict(START)), *said])
    ]


def read(path: Path) -> tuple[Conversation, Notes]:
    notes = Notes()
    (item,) = read_all([str(path)], notes)
    assert isinstance(item, Conversation)
    return item, notes


def session(folder: Path, *said: tuple[str, dict[str, Any]]) -> tuple[Conversation, Notes]:
    return read(save_lines(folder, "events.jsonl", chained(*said)))


def noted(notes: Notes, kind: Kind) -> list[str]:
    return [note.detail for note in notes.collected if note.kind == kind.label]


def messages(conversation: Conversation) -> list[Message]:
    return list(tree.messages(conversation))


def request(call_id: str, name: str = "bash", **more: Any) -> dict[str, Any]:
    return {"toolCallId": call_id, "name": name, "arguments": {"command": "ls"}, **more}


# The documented mapping.


def test_session_id_version_and_times(tmp_path: Path) -> None:
    conversation, notes = session(tmp_path, ("user.message", {"content": "hi"}))

    assert conversation.id == SESSION
    assert conversation.source == "copilot-cli"
    assert conversation.app_version == "0.0.382"
    assert conversation.started_at == "2026-01-16T10:00:00.000Z"
    assert conversation.updated_at == "2026-01-16T10:00:01.000Z"
    assert notes.collected == []


def test_content_is_the_text_and_the_transformed_content_is_preserved(tmp_path: Path) -> None:
    prompt = {"content": "hi", "transformedContent": "<now/> hi", "attachments": []}
    conversation, _ = session(tmp_path, ("user.message", prompt))

    (message,) = messages(conversation)
    assert (message.role, message.parts) == ("user", [Text(text="hi")])
    assert message.extra == {"transformedContent": "<now/> hi"}
    assert (message.id, message.parent_id, message.at) == ("e1", "e0", "2026-01-16T10:00:01.000Z")


def test_answers_and_requested_tools(tmp_path: Path) -> None:
    answer = {
        "messageId": "m1",
        "content": "Looking.",
        "toolRequests": [request("t1"), request("t2", "view")],
    }
    conversation, _ = session(tmp_path, ("assistant.message", answer))

    (message,) = messages(conversation)
    assert message.role == "assistant"
    assert message.response_id == "m1"
    assert message.parts == [
        Text(text="Looking."),
        ToolCall(name="bash", call_id="t1", input={"command": "ls"}, kind="shell"),
        ToolCall(name="view", call_id="t2", input={"command": "ls"}, kind="read"),
    ]


@pytest.mark.parametrize(("success", "is_error"), [(True, False), (False, True), (None, None)])
def test_results_are_linked_and_success_says_whether_they_are_errors(
    tmp_path: Path, success: bool | None, is_error: bool | None
) -> None:
    done = {"toolCallId": "t1", "success": success, "result": {"content": "a.txt"}, "toolTelemetry": {"n": 1}}
    conversation, notes = session(
        tmp_path,
        ("assistant.message", {"content": "", "toolRequests": [request("t1")]}),
        ("tool.execution_complete", done),
    )

    _, result = messages(conversation)
    assert result.role == "tool"
    assert result.parts == [ToolResult(call_id="t1", output="a.txt", is_error=is_error, name="bash")]
    assert result.extra == {"toolTelemetry": {"n": 1}}
    assert tree.results_by_call(conversation.timeline)["t1"].output == "a.txt"
    assert noted(notes, Kind.UNLINKED_RESULT) == []


def test_a_result_may_stand_before_its_request(tmp_path: Path) -> None:
    _, notes = session(
        tmp_path,
        ("tool.execution_complete", {"toolCallId": "t1", "success": True, "result": {"content": "x"}}),
        ("assistant.message", {"content": "", "toolRequests": [request("t1")]}),
        ("tool.execution_complete", {"toolCallId": "t2", "success": True, "result": {"content": "x"}}),
    )

    assert noted(notes, Kind.UNLINKED_RESULT) == ["t2"]


@pytest.mark.parametrize(
    "kind",
    [
        "session.info",
        "session.truncation",
        "assistant.turn_start",
        "assistant.turn_end",
        "tool.execution_start",
    ],
)
def test_what_nobody_wrote_is_an_event(tmp_path: Path, kind: str) -> None:
    conversation, notes = session(tmp_path, (kind, {"turnId": "0"}))

    start, event = conversation.timeline
    assert isinstance(start, Event)
    assert start.data == START
    assert event == Event(
        id="e1", name=kind, parent_id="e0", at="2026-01-16T10:00:01.000Z", data={"turnId": "0"}
    )
    assert notes.collected == []


def test_the_chain_decides_where_the_file_disagrees(tmp_path: Path) -> None:
    lines = chained(("user.message", {"content": "one"}), ("assistant.message", {"content": "two"}))
    lines += [lines.pop(1)]
    conversation, notes = read(save_lines(tmp_path, "events.jsonl", lines))

    assert [entry.id for entry in conversation.timeline] == ["e0", "e1", "e2"]
    assert conversation.head_id == "e2"
    assert len(noted(notes, Kind.REORDERED)) == 1


def test_a_chain_of_many_events_does_not_end_the_process(tmp_path: Path) -> None:
    lines = chained(*[("user.message", {"content": str(place)}) for place in range(20_000)])
    for line in lines:
        line["timestamp"] = "2026-01-16T10:00:00.000Z"
    conversation, _ = read(save_lines(tmp_path, "events.jsonl", reversed(lines)))

    assert [message.id for message in messages(conversation)] == [f"e{n}" for n in range(1, 20_001)]


def test_unified(tmp_path: Path) -> None:
    path = save_lines(
        tmp_path,
        "events.jsonl",
        chained(
            ("user.message", {"content": "list", "transformedContent": "list now"}),
            ("assistant.turn_start", {}),
            ("assistant.message", {"messageId": "m", "content": "", "toolRequests": [request("t1")]}),
            ("tool.execution_complete", {"toolCallId": "t1", "success": False, "result": {"content": "no"}}),
        ),
    )
    document = converted(path, "unified").only

    assert document["conversation_id"] == SESSION
    assert document["platform"]["name"] == "github_copilot"
    assert document["platform"]["version"] == "0.0.382"
    prompt, call, result = document["messages"]
    assert prompt["content"] == [{"type": "text", "text": "list"}]
    assert prompt["metadata"]["transformed_content"] == "list now"
    assert call["parent_message_id"] == prompt["message_id"]
    (use,) = call["content"]
    assert use == {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    (block,) = result["content"]
    assert (block["tool_use_id"], block["content"], block["is_error"]) == ("t1", "no", True)
    assert {event["name"] for event in document["events"]} == {"session.start", "assistant.turn_start"}


# What lies on disk.


def test_homes_and_names() -> None:
    info = copilot_cli.INFO

    assert info.env == ("AJ_COPILOT_PATH", "COPILOT_HOME")
    assert info.config_key == "copilot_cli"
    assert {
        "~/.copilot/session-state/*/events.jsonl",
        "~/.copilot/session-state/*.jsonl",
        "~/.copilot/history-session-state/*.json",
        "~/.copilot-cli/sessions/*/events.jsonl",
        "~/.local/state/.copilot/session-state/*/events.jsonl",
        "~/.config/.copilot/session-state/*/events.jsonl",
    } <= set(info.homes)


@pytest.mark.parametrize(
    ("path", "is_companion"),
    [
        (f"session-state/{SESSION}/workspace.yaml", True),
        (f"{SESSION}/plan.md", True),
        (f"{SESSION}/checkpoints/001-a.md", True),
        (f"{SESSION}/files/deep/notes.txt", True),
        (f"{SESSION}/session.db-wal", True),
        ("session-store.db", True),
        (f"{SESSION}/events.jsonl", False),
        ("notes/files/other.jsonl", False),
        ("plan.md", False),
    ],
)
def test_files_of_a_session_are_no_units(path: str, is_companion: bool) -> None:
    assert readers.is_companion(path) is is_companion


def test_context_states_folder_branch_and_commit(tmp_path: Path) -> None:
    lines = chained(
        ("session.resume", {"context": {"cwd": "/other", "branch": "other"}}),
        ("user.message", {"content": "x"}),
    )
    lines[0]["data"]["context"] = {"cwd": "/home/ana/app", "headCommit": "c0ffee"}
    conversation, _ = read(save_lines(tmp_path, "events.jsonl", lines))

    assert conversation.cwd == "/home/ana/app"
    assert conversation.git_branch == "other"
    assert conversation.git_commit == "c0ffee"


def test_models_follow_the_changes(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        ("session.model_change", {"newModel": "auto"}),
        ("assistant.message", {"content": "1"}),
        ("session.auto_mode_resolved", {"chosenModel": "gpt-5-mini"}),
        ("assistant.message", {"content": "2"}),
        ("assistant.message", {"content": "3", "model": "gpt-5"}),
        ("session.model_change", {"newModel": "claude-sonnet-4.5"}),
        ("assistant.message", {"content": "4"}),
        ("assistant.message", {"content": "5", "parentToolCallId": "t"}),
    )

    models = [message.model for message in messages(conversation)]
    assert models == [None, "gpt-5-mini", "gpt-5", "claude-sonnet-4.5", None]
    assert conversation.model == "gpt-5-mini"


@pytest.mark.parametrize(("mark", "is_aside"), [("parentToolCallId", True), ("parentAgentTaskId", False)])
def test_what_marks_a_subagent(tmp_path: Path, mark: str, is_aside: bool) -> None:
    conversation, _ = session(tmp_path, ("user.message", {"content": "x", mark: "a"}))

    (message,) = messages(conversation)
    assert message.sidechain is is_aside
    assert message.extra == {mark: "a"}


def test_an_agents_id_makes_a_side_chain(tmp_path: Path) -> None:
    lines = chained(
        ("user.message", {"content": "x"}), ("subagent.started", {"toolCallId": "t"}), agentId="a1"
    )
    conversation, _ = read(save_lines(tmp_path, "events.jsonl", lines))

    (message,) = messages(conversation)
    started = conversation.timeline[-1]
    assert message.sidechain
    assert message.extra == {"agentId": "a1"}
    assert isinstance(started, Event)
    assert started.data == {"toolCallId": "t", "agentId": "a1"}


def test_what_an_answer_refers_to(tmp_path: Path) -> None:
    source = {"id": "s1", "provider": "web", "title": "Tea", "url": "https://example.org/tea"}
    spans = [
        {"startIndex": 0, "endIndex": 3, "references": [{"sourceId": "s1", "citedText": "80 degrees"}]},
        {"startIndex": 4, "endIndex": 6, "references": [{"sourceId": "s2"}]},
    ]
    cited = {"sources": [source], "spans": spans}
    conversation, _ = session(
        tmp_path, ("assistant.message", {"messageId": "m", "content": "Hot tea.", "citations": cited})
    )

    (message,) = messages(conversation)
    assert message.parts == [
        Text(
            text="Hot tea.",
            citations=[
                Citation(title="Tea", url="https://example.org/tea", text="80 degrees", start=0, end=3),
                Citation(start=4, end=6),
            ],
        )
    ]
    assert message.extra["citations"] == cited


@pytest.mark.parametrize("cited", [None, [], {"spans": 1}, {"spans": [1]}, {"spans": [{"references": [1]}]}])
def test_references_that_are_none(tmp_path: Path, cited: Any) -> None:
    conversation, _ = session(
        tmp_path, ("assistant.message", {"messageId": "m", "content": "Hot.", "citations": cited})
    )

    assert messages(conversation)[0].parts == [Text(text="Hot.")]


@pytest.mark.parametrize(
    "facts",
    [
        {"source": "skill-pdf"},
        {"source": "agent-1"},
        {"source": "system"},
        {"isAutopilotContinuation": True},
    ],
)
def test_what_the_app_says_in_the_persons_name_is_hidden(tmp_path: Path, facts: dict[str, Any]) -> None:
    conversation, _ = session(
        tmp_path, ("user.message", {"content": "Go on.", **facts}), ("user.message", {"content": "Tea?"})
    )

    assert [message.hidden for message in messages(conversation)] == [True, False]


def test_a_session_that_goes_on_with_another(tmp_path: Path) -> None:
    conversation, _ = read(
        save_lines(
            tmp_path,
            "events.jsonl",
            [{**chained()[0], "data": {**START, "detachedFromSpawningParentSessionId": "p1"}}],
        )
    )

    assert conversation.link == Link(conversation_id="p1", relation="continues")


def test_thinking(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        ("assistant.reasoning", {"reasoningId": "r1", "content": "alone"}),
        ("assistant.reasoning", {"reasoningId": "r2", "content": "twice"}),
        ("assistant.message", {"content": "", "reasoningText": "twice", "reasoningOpaque": "b"}),
        ("assistant.message", {"content": "", "encryptedContent": "c"}),
        ("assistant.message", {"content": "", "reasoningOpaque": "d", "encryptedContent": "e"}),
    )

    parts = [part for message in messages(conversation) for part in message.parts]
    assert parts == [
        Reasoning(text="alone"),
        Reasoning(text="twice", encrypted="b"),
        Reasoning(encrypted="c"),
        Reasoning(encrypted="d"),
    ]
    assert messages(conversation)[-1].extra == {"encryptedContent": "e"}
    assert conversation.timeline[2].id == "e2"
    assert isinstance(conversation.timeline[2], Event)


def metric(given: int, out: int, read_: int, written: int) -> dict[str, Any]:
    counts = {
        "inputTokens": given,
        "outputTokens": out,
        "cacheReadTokens": read_,
        "cacheWriteTokens": written,
    }
    return {"requests": {"count": 1, "cost": 1}, "usage": counts}


def totals(conversation: Conversation) -> tuple[int, int, int, int]:
    used = tree.usages(conversation.timeline)
    return (
        sum(usage.input or 0 for usage in used),
        sum(usage.output or 0 for usage in used),
        sum(usage.cache_read or 0 for usage in used),
        sum(usage.cache_write or 0 for usage in used),
    )


def test_usage_at_shutdown_counts_once_for_all_messages_of_a_model(tmp_path: Path) -> None:
    answers: list[tuple[str, dict[str, Any]]] = [
        ("assistant.message", {"content": text, "model": model, "outputTokens": tokens})
        for text, model, tokens in (("a", "gpt-5", 10), ("b", "haiku", 20), ("c", "gpt-5", 30))
    ]
    shutdown = {"modelMetrics": {"gpt-5": metric(1000, 40, 700, 100), "haiku": metric(50, 20, 0, 0)}}
    later: list[tuple[str, dict[str, Any]]] = [
        ("session.resume", {}),
        ("assistant.message", {"content": "d", "model": "gpt-5", "outputTokens": 5}),
        ("session.shutdown", {"modelMetrics": {"gpt-5": metric(10, 5, 0, 0)}}),
    ]
    conversation, notes = session(tmp_path, *answers, ("session.shutdown", shutdown), *later)

    assert totals(conversation) == (200 + 50 + 10, 65, 700, 100)
    first, _, third, _ = [message.usage for message in messages(conversation)]
    assert first is not None
    assert third is not None
    assert (first.output, third.output, third.extra) == (10, 40, {"outputTokens": 30, "shutdown": "e4"})
    assert noted(notes, Kind.PARTIAL_USAGE) == []


def test_without_a_shutdown_each_message_counts_what_came_out(tmp_path: Path) -> None:
    conversation, notes = session(
        tmp_path,
        ("assistant.message", {"content": "a", "outputTokens": 10}),
        ("assistant.message", {"content": "b", "outputTokens": 20}),
    )

    assert totals(conversation) == (0, 30, 0, 0)
    assert noted(notes, Kind.PARTIAL_USAGE) == ["messages whose input is not counted: 2"]


def test_pieces_of_one_response_count_once(tmp_path: Path) -> None:
    piece = {"content": "a", "apiCallId": "api", "chunkCount": 2, "outputTokens": 10}
    conversation, _ = session(tmp_path, ("assistant.message", piece), ("assistant.message", piece))

    assert {message.response_id for message in messages(conversation)} == {"api"}
    assert totals(conversation)[1] == 10


def test_tokens_of_a_model_without_messages_are_counted(tmp_path: Path) -> None:
    conversation, notes = session(
        tmp_path,
        ("assistant.message", {"content": "a", "model": "gpt-5", "outputTokens": 4}),
        ("session.shutdown", {"modelMetrics": {"gpt-5": metric(3, 4, 0, 0), "nano": metric(1, 2, 0, 0)}}),
        ("session.resume", {}),
    )

    assert totals(conversation) == (4, 6, 0, 0)
    answer, other = messages(conversation)
    assert (other.model, other.hidden, other.parts, other.parent_id) == ("nano", True, [], answer.id)
    assert [entry.parent_id for entry in conversation.timeline[2:]] == [answer.id, other.id, "e2"]
    assert conversation.head_id == other.id
    assert noted(notes, Kind.PARTIAL_USAGE) == []


def record(
    call: str, given: int, out: int, read: int, sequence: int = 0, **more: Any
) -> tuple[str, dict[str, Any]]:
    usage = {
        "model": "gpt-5",
        "inputTokens": given,
        "outputTokens": out,
        "cacheReadTokens": read,
        "apiCallId": call,
        "cacheWriteTokens": 0,
        **more,
    }
    if sequence:
        usage["accounting"] = {"sourceSessionId": SESSION, "sequence": sequence, "usageId": call}
    return "session.usage_record", {"usage": usage}


def answer(call: str | None = None, **more: Any) -> tuple[str, dict[str, Any]]:
    named = {} if call is None else {"apiCallId": call}
    return "assistant.message", {"messageId": f"m-{call}", "content": "x", "model": "gpt-5", **named, **more}


def shutdown(given: int, out: int, read: int, *, of_session: bool = False) -> tuple[str, dict[str, Any]]:
    marks = {"usageAccountingWatermarks": {SESSION: 1}} if of_session else {}
    metrics = {"gpt-5": metric(given, out, read, 0)}
    return "session.shutdown", {"modelMetrics": metrics, "currentModel": "gpt-5", **marks}


RESUME: tuple[str, dict[str, Any]] = ("session.resume", {})
FIRST, SECOND = record("r1", 110, 10, 100, 1), record("r2", 230, 20, 200, 2)
# What each session used: input that no cache had, output, and what a cache had.
USED: dict[str, tuple[list[tuple[str, dict[str, Any]]], tuple[int, int, int]]] = {
    "records and one shutdown": (
        [FIRST, answer("r1"), SECOND, answer("r2"), shutdown(340, 30, 300)],
        (40, 30, 300),
    ),
    "records and sums of the session, resumed": (
        [
            FIRST,
            answer("r1"),
            shutdown(110, 10, 100, of_session=True),
            RESUME,
            SECOND,
            answer("r2"),
            shutdown(340, 30, 300, of_session=True),
        ],
        (40, 30, 300),
    ),
    "records behind their messages": ([answer("r1"), FIRST, answer("r2"), SECOND], (40, 30, 300)),
    "records without a shutdown": ([FIRST, answer("r1"), RESUME, SECOND, answer("r2")], (40, 30, 300)),
    "a record twice": ([FIRST, answer("r1"), FIRST], (10, 10, 100)),
    "a record and the same as usage": (
        [FIRST, ("assistant.usage", FIRST[1]["usage"]), answer("r1")],
        (10, 10, 100),
    ),
    "ids that a server uses again": (
        [FIRST, answer("r1"), record("r1", 230, 20, 200, 2), answer("r1")],
        (40, 30, 300),
    ),
    "a response in pieces": (
        [FIRST, answer("r1", chunkCount=2, outputTokens=10), answer("r1", chunkCount=2, outputTokens=10)],
        (10, 10, 100),
    ),
    "a record without a message": ([FIRST, answer("r1"), SECOND, shutdown(340, 30, 300)], (40, 30, 300)),
    "messages without the response's id": (
        [FIRST, answer(outputTokens=10), answer(outputTokens=20), SECOND, shutdown(340, 30, 300)],
        (40, 30, 300),
    ),
    "a record that is missing": (
        [FIRST, answer("r1"), answer("r2"), shutdown(340, 30, 300, of_session=True)],
        (40, 30, 300),
    ),
    "sums of each process": (
        [
            answer(outputTokens=10),
            shutdown(110, 10, 100),
            RESUME,
            answer(outputTokens=20),
            shutdown(230, 20, 200),
        ],
        (40, 30, 300),
    ),
    "sums of the session": (
        [
            answer(),
            shutdown(110, 10, 100, of_session=True),
            RESUME,
            answer(),
            shutdown(340, 30, 300, of_session=True),
        ],
        (40, 30, 300),
    ),
    "sums of the session that do not say so": (
        [
            answer(outputTokens=10),
            shutdown(110, 10, 100),
            RESUME,
            answer(outputTokens=20),
            shutdown(340, 30, 300),
        ],
        (40, 30, 300),
    ),
    "resumed for nothing": (
        [answer(outputTokens=10), shutdown(110, 10, 100), RESUME, shutdown(110, 10, 100)],
        (10, 10, 100),
    ),
    "sums of a process, then records": (
        [
            answer(outputTokens=10),
            shutdown(110, 10, 100),
            RESUME,
            SECOND,
            answer("r2"),
            shutdown(340, 30, 300, of_session=True),
        ],
        (40, 30, 300),
    ),
    "broken off, then resumed": (
        [answer(outputTokens=10), RESUME, answer(outputTokens=20), shutdown(230, 20, 200)],
        (30, 30, 200),
    ),
    "a checkpoint, then broken off": (
        [answer(), ("session.usage_checkpoint", {"accountingSnapshot": shutdown(340, 30, 300)[1]})],
        (40, 30, 300),
    ),
    "a checkpoint by provider, then the end": (
        [
            answer(),
            (
                "session.usage_checkpoint",
                {
                    "providerModelMetrics": [
                        {"modelId": "gpt-5", "metrics": metric(110, 10, 100, 0)},
                        {"modelId": "gpt-5", "metrics": None},
                    ]
                },
            ),
            answer(),
            shutdown(340, 30, 300),
        ],
        (40, 30, 300),
    ),
    "a model of another name": (
        [answer(outputTokens=30, model="gpt-5-2026"), shutdown(340, 30, 300)],
        (40, 30, 300),
    ),
    "a compaction, then broken off": (
        [
            answer(outputTokens=20),
            (
                "session.compaction_complete",
                {"compactionTokensUsed": {"inputTokens": 110, "outputTokens": 10, "cacheReadTokens": 100}},
            ),
        ],
        (10, 30, 100),
    ),
    "a compaction that nothing else has": (
        [
            FIRST,
            answer("r1"),
            (
                "session.compaction_complete",
                {
                    "compactionTokensUsed": {
                        "inputTokens": 230,
                        "outputTokens": 20,
                        "cacheReadTokens": 200,
                        "model": "gpt-5",
                    }
                },
            ),
            shutdown(110, 10, 100, of_session=True),
        ],
        (40, 30, 300),
    ),
    "a compaction that sums have": (
        [
            answer(outputTokens=20),
            (
                "session.compaction_complete",
                {"compactionTokensUsed": {"inputTokens": 110, "outputTokens": 10, "cacheReadTokens": 100}},
            ),
            shutdown(340, 30, 300),
        ],
        (40, 30, 300),
    ),
    "a compaction that a record has": (
        [
            SECOND,
            answer("r2"),
            FIRST,
            (
                "session.compaction_complete",
                {"compactionTokensUsed": {"inputTokens": 110, "outputTokens": 10, "cacheReadTokens": 100}},
            ),
        ],
        (40, 30, 300),
    ),
}


@pytest.mark.parametrize("name", USED)
def test_each_response_is_counted_once(tmp_path: Path, name: str) -> None:
    said, (fresh, out, read_from_cache) = USED[name]
    conversation, _ = session(tmp_path, *said)

    assert totals(conversation)[:3] == (fresh, out, read_from_cache)


def test_a_message_has_what_its_response_used(tmp_path: Path) -> None:
    conversation, notes = session(tmp_path, FIRST, answer("r1"), SECOND, answer("r2"), shutdown(340, 30, 300))

    used = [message.usage for message in messages(conversation)]
    assert [(usage.input, usage.output, usage.cache_read, usage.key) for usage in used if usage] == [
        (10, 10, 100, f"{SESSION}:1:r1"),
        (30, 20, 200, f"{SESSION}:2:r2"),
    ]
    assert noted(notes, Kind.PARTIAL_USAGE) == []


def test_summaries_of_compactions_and_tasks(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        ("user.message", {"content": "x"}),
        ("session.compaction_complete", {"success": True, "summaryContent": "So far."}),
        ("session.task_complete", {"summary": "Done."}),
    )

    assert conversation.summaries == [
        Summary(text="So far.", kind="system", at="2026-01-16T10:00:02.000Z", message_id="e1"),
        Summary(text="Done.", at="2026-01-16T10:00:03.000Z", message_id="e1"),
    ]


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"content": "x\n<exited with exit code 3>"}, 3),
        ({"content": "x", "contents": [{"type": "terminal", "text": "x", "exitCode": 4}]}, 4),
        ({"content": "<exited with exit code 3> is what it says at the end" + " " * 80 + "."}, None),
    ],
)
def test_exit_codes(tmp_path: Path, result: dict[str, Any], code: int | None) -> None:
    done = {"toolCallId": "t", "success": True, "result": result}
    conversation, _ = session(tmp_path, ("tool.execution_complete", done))

    ((part,),) = [message.parts for message in messages(conversation)]
    assert isinstance(part, ToolResult)
    assert part.extra == ({} if code is None else {"exit_code": code})


PICTURE = "iVBORw0KGgo="
ASSET = {"assetId": "sha256:1", "data": PICTURE, "mimeType": "image/png", "byteLength": 8, "type": "image"}


def test_images_in_events_of_their_own(tmp_path: Path) -> None:
    named = {"assetId": "sha256:1", "byteLength": 8, "mimeType": "image/png"}
    gone = {"byteLength": 9, "mimeType": "image/png", "omittedReason": "too_large", "type": "image"}
    conversation, notes = session(
        tmp_path,
        ("session.binary_asset", dict(ASSET)),
        (
            "user.message",
            {
                "content": "Look.",
                "attachments": [
                    {"type": "blob", **named},
                    {"type": "file", "path": "/a.png", "displayName": "a.png", **named},
                    {"type": "blob", "assetId": "sha256:2", "mimeType": "image/png"},
                ],
            },
        ),
        ("assistant.message", {"messageId": "m", "content": "", "toolRequests": [request("t")]}),
        (
            "tool.execution_complete",
            {
                "toolCallId": "t",
                "success": True,
                "result": {"content": "Seen.", "binaryResultsForLlm": [{"type": "image", **named}, gone]},
            },
        ),
    )
    asked, _, answered = messages(conversation)
    left = {"byteLength": 8, "assetId": "sha256:1"}
    picture = Media(kind="image", mime="image/png", data=PICTURE, extra=left)

    assert asked.parts == [
        Text(text="Look."),
        picture,
        Media(kind="image", mime="image/png", ref="/a.png", name="a.png", data=PICTURE, extra=left),
        Media(kind="image", mime="image/png", ref="sha256:2"),
    ]
    (result,) = answered.parts
    assert isinstance(result, ToolResult)
    assert result.output == [Text(text="Seen."), picture]
    assert answered.extra["result"] == {"binaryResultsForLlm": [gone]}
    asset = conversation.timeline[1]
    assert isinstance(asset, Event)
    assert "data" not in asset.data
    assert not notes.collected


def test_a_picture_that_nothing_shows_stays_where_it_is(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path, ("session.binary_asset", dict(ASSET)), ("session.binary_asset", {**ASSET, "data": "AAAA"})
    )

    assert [entry.data.get("data") for entry in conversation.timeline if isinstance(entry, Event)] == [
        None,
        PICTURE,
        "AAAA",
    ]


def test_why_a_tool_failed(tmp_path: Path) -> None:
    done = {"toolCallId": "t", "success": False, "error": {"message": "denied", "code": "denied"}}
    conversation, _ = session(tmp_path, ("tool.execution_complete", done))

    (message,) = messages(conversation)
    assert message.parts == [ToolResult(call_id="t", output="denied", is_error=True)]
    assert message.extra == {"error": {"code": "denied"}}


def test_a_long_import_as_the_first_line(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "x" * 200} for _ in range(600)]
    legacy = {
        "sessionId": SESSION,
        "startTime": "2025-10-02T08:00:00.000Z",
        "chatMessages": said,
        "timeline": [],
    }
    event = {
        "type": "session.import_legacy",
        "data": {"legacySession": legacy, "sourceFile": "old.json"},
        "id": "e0",
        "timestamp": "2025-11-02T08:00:00.000Z",
        "parentId": None,
    }
    conversation, notes = read(save_lines(tmp_path, "events.jsonl", [event]))

    assert (conversation.id, conversation.started_at) == (SESSION, "2025-10-02T08:00:00.000Z")
    assert len(messages(conversation)) == 600
    assert notes.collected == []


def test_history_file(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    whole = {
        "sessionId": SESSION,
        "startTime": "2025-10-02T08:00:00.000Z",
        "chatMessages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ],
        "timeline": [{"type": "user", "text": "hi"}],
        "selectedModel": "gpt-5",
    }
    conversation, _ = read(save_document(tmp_path, "session_1.json", whole))

    assert (conversation.id, conversation.model, conversation.shape) == (SESSION, "gpt-5", "list")
    assert [message.role for message in messages(conversation)] == ["user", "assistant", "tool"]
    assert messages(conversation)[1].parts == [ToolCall(name="bash", call_id="c", input="{}", kind="shell")]
    assert conversation.extra == {"timeline": [{"type": "user", "text": "hi"}]}


# What lies beside the events.


def test_workspace_states_what_the_events_do_not(tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").write_text(
        "cwd: /home/ana/app\nbranch: main\nname: A name\nsummary: A summary\nuser_named: true\n",
        encoding="utf-8",
    )
    conversation, _ = session(tmp_path, ("user.message", {"content": "x"}))

    assert (conversation.cwd, conversation.git_branch, conversation.title) == (
        "/home/ana/app",
        "main",
        "A name",
    )
    assert conversation.summaries == [Summary(text="A summary")]
    assert conversation.extra["workspace"]["user_named"] is True
    assert "workspace.yaml" not in conversation.extra


def test_a_file_without_a_folder_of_its_own_has_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").write_text("cwd: /of/another\n", encoding="utf-8")
    lines = chained(("user.message", {"content": "x"}))
    conversation, _ = read(save_lines(tmp_path, f"{SESSION}.jsonl", lines))

    assert conversation.cwd is None


@pytest.mark.parametrize(
    ("text", "values", "is_whole"),
    [
        ("a: b\nc: d e\n", {"a": "b", "c": "d e"}, True),
        ("a: 'it''s'\nb: \"x\\ty\"\n", {"a": "it's", "b": "x\ty"}, True),
        ("a:\nb: null\nc: ~\nd: -5\ne: true\n", {"d": -5, "e": True}, True),
        ("a: C:\\x\nb: http://x/y\n", {"a": "C:\\x", "b": "http://x/y"}, True),
        (
            "a: 2026-05-01T09:00:00.000Z\nb: 2026-05-01\n",
            {"a": "2026-05-01T09:00:00.000Z", "b": "2026-05-01"},
            True,
        ),
        ("a: |\n  x\n  y\nb: z\n", {"a": "x\ny\n", "b": "z"}, True),
        ("a: x\n  goes on\nb: z\n", {"a": "x goes on", "b": "z"}, True),
        ("a:\n- x\n- y\nb: z\n", {"a": ["x", "y"], "b": "z"}, True),
        ("a: [x]\nb: {c: d}\n", {"a": ["x"], "b": {"c": "d"}}, True),
        ("a: x # remark\nb: z\n", {"a": "x", "b": "z"}, False),
        ("a: x\na: y\n", {"a": "y"}, False),
        ("---\na: b\n", {"a": "b"}, True),
        ("  indented: x\n", {"indented": "x"}, False),
        ("no colon\n", {}, False),
        ("", {}, True),
    ],
)
def test_values_of_yaml(text: str, values: dict[str, Any], is_whole: bool) -> None:
    notes = Notes()

    assert workspace.parsed(text, notes, "workspace.yaml") == (values, is_whole)
    assert notes.collected == []


@pytest.mark.parametrize(
    "text", ["e: &f g\nh: *f\n", "i: !!js x\n", "a: 'open\nb: z\n", "a: b: c\nd: e\n", "a: [" * 200]
)
def test_yaml_that_cannot_be_parsed_is_noted_and_preserved_as_text(text: str) -> None:
    notes = Notes()

    assert workspace.parsed(text, notes, "workspace.yaml") == ({}, False)
    assert [note.kind for note in notes.collected] == [Kind.BAD_RECORD.label]


# Whose file it is.


def claimed(folder: Path, lines: list[dict[str, Any]]) -> list[str]:
    peek = Peek(File(str(save_lines(folder, "a.jsonl", lines))))
    return [reader.INFO.name for reader, _ in readers.claims(peek)]


def test_an_editors_transcript_is_not_claimed(tmp_path: Path) -> None:
    lines = chained(("user.message", {"content": "x"}))
    assert claimed(tmp_path, lines) == ["copilot-cli"]

    lines[0]["data"]["vscodeVersion"] = "1.110.0"
    assert "copilot-cli" not in claimed(tmp_path, lines)


@pytest.mark.parametrize(
    "line",
    [
        {"kind": 0, "v": {"version": 3, "sessionId": "x", "requests": []}},
        {"type": "session", "id": "x", "timestamp": "2026-01-16T10:00:00.000Z", "version": 3, "data": {}},
        {"type": "session_start", "id": "x", "timestamp": "2026-01-16T10:00:00.000Z", "data": {}},
        {"type": "user.message", "content": "x", "id": "x", "timestamp": "2026-01-16T10:00:00.000Z"},
        {"type": "user.message", "data": "x", "id": "x", "timestamp": "2026-01-16T10:00:00.000Z"},
        {"type": "user.message", "data": {}},
        {"sessionId": "x", "chatMessages": "none"},
    ],
)
def test_lines_of_others_are_not_claimed(tmp_path: Path, line: dict[str, Any]) -> None:
    assert "copilot-cli" not in claimed(tmp_path, [line])


# One way to read fast, and one with care.


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_paths_give_the_same(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_everything() -> tuple[list[Any], list[str]]:
        notes = Notes()
        return list(read_all([str(case.location(tmp_path))], notes)), [str(note) for note in notes.collected]

    with_fast_path = read_everything()
    monkeypatch.setattr(events.Events, "common_entry", lambda *_: None)

    assert read_everything() == with_fast_path


def test_common_events_take_the_fast_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events.Events, "entry", None)
    conversation, _ = session(tmp_path, ("user.message", {"content": "x"}), ("abort", {"reason": "y"}))

    assert len(conversation.timeline) == 3


def test_a_record_of_every_line_is_in_the_timeline() -> None:
    for case in CASES:
        for path in sorted(case.folder.rglob("events.jsonl")):
            if "damaged" in case.name:
                continue
            known = {json.loads(line).get("id") for line in path.read_text().splitlines() if line[0] == "{"}
            conversation, _ = read(path)
            assert known - {None} <= {entry.id for entry in conversation.timeline}, case


def test_the_system_prompt_is_hidden_and_notifications_are_not(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        ("system.message", {"role": "system", "content": "You are the GitHub Copilot CLI."}),
        ("system.notification", {"content": "The shell has finished."}),
    )

    prompt, notification = messages(conversation)
    assert (prompt.role, prompt.hidden, prompt.parts) == (
        "system",
        True,
        [Text(text="You are the GitHub Copilot CLI.")],
    )
    assert (notification.role, notification.hidden) == ("system", False)


def test_events_of_1_0_102_are_known(tmp_path: Path) -> None:
    configured = {"model": "gpt-5-mini", "reasoningEffort": "low", "multiTurn": True}
    stated = {"usage": {"model": "gpt-5", "inputTokens": 0}}
    conversation, notes = session(
        tmp_path, ("subagent.configured", configured), ("session.usage_record", stated)
    )

    assert [entry.data for entry in conversation.timeline if isinstance(entry, Event)][1:] == [
        configured,
        stated,
    ]
    assert noted(notes, Kind.UNKNOWN_TYPE) == []


def test_the_calls_of_a_compaction_are_known(tmp_path: Path) -> None:
    kinds = ("turn_started", "model_call_started", "model_call_success", "message", "response", "turn_ended")
    lines = [(f"model.{kind}", {"kind": kind, "turn": 0}) for kind in (*kinds, "messages_snapshot")]
    conversation, notes = session(tmp_path, *lines)

    assert not list(tree.messages(conversation))
    assert noted(notes, Kind.UNKNOWN_TYPE) == []


def test_a_subagents_model_is_not_the_sessions(tmp_path: Path) -> None:
    lines = chained(
        ("session.model_change", {"newModel": "gpt-5"}),
        ("subagent.started", {"toolCallId": "t", "model": "haiku"}),
        ("session.model_change", {"newModel": "gpt-5-mini"}),
        ("assistant.message", {"content": "inside"}),
        ("assistant.message", {"content": "outside"}),
    )
    for line in lines[2:5]:
        line["agentId"] = "a1"
    conversation, _ = read(save_lines(tmp_path, "events.jsonl", lines))

    assert [message.model for message in messages(conversation)] == ["gpt-5-mini", "gpt-5"]
    assert conversation.model == "gpt-5"


@pytest.mark.parametrize("root", ["", ".copilot", f".copilot/session-state/{SESSION}"])
def test_files_next_to_a_session_are_not_read_for_themselves(tmp_path: Path, root: str) -> None:
    folder = tmp_path / ".copilot"
    state = folder / "session-state"
    for path in (
        state / SESSION / ".workspace-fork.lock",
        state / SESSION / "inuse.42.lock",
        state / SESSION / "rewind-file-snapshots/tracking.json",
        state / SESSION / "checkpoints/index.md",
        state / SESSION / "research/tea.md",
        state / f".session-operation-locks/{SESSION}.lock",
        folder / "logs/process-1-2.log",
        folder / "logs/.copilot-log.lock",
        folder / "config.json",
        folder / "settings.json.lock",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"schema":1}', encoding="utf-8")
    save_lines(state / SESSION, "events.jsonl", chained(("user.message", {"content": "x"})))

    _, notes = read(tmp_path / root)
    assert [str(note) for note in notes.collected] == []


def test_a_folder_that_is_asked_for_is_read_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "tool-results"
    folder.mkdir()
    save_lines(folder, "events.jsonl", chained(("user.message", {"content": "x"})))

    assert len(messages(read(folder)[0])) == 1


def test_an_answer_that_names_no_model_is_of_the_one_that_is_counted(tmp_path: Path) -> None:
    recorded = session(tmp_path, answer("r1", model=None), FIRST)[0]
    summed = session(tmp_path, answer("r1", model=None), shutdown(110, 10, 100))[0]

    assert [message.model for message in messages(recorded)] == ["gpt-5"]
    assert [message.model for message in messages(summed)] == ["gpt-5"]


def test_of_several_models_that_are_counted_none_is_guessed(tmp_path: Path) -> None:
    metrics = {"gpt-5": metric(110, 10, 100, 0), "gpt-5-mini": metric(5, 5, 0, 0)}
    conversation, _ = session(
        tmp_path, answer("r1", model=None), ("session.shutdown", {"modelMetrics": metrics})
    )

    assert messages(conversation)[0].model is None
