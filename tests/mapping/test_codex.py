"""Codex into the model: each rule for its lines, and what other documents show of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
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
from agent_journal.readers import codex
from tests.inline import converted, read_one, save_document, save_lines
from tests.memory_source import Bytes

SESSION = "01990000-1111-7222-8333-444444444405"
PARENT = "01990000-1111-7222-8333-444444444401"
NAME = f"rollout-2026-03-01T11-00-10-{SESSION}.jsonl"
AT = "2026-03-01T10:00:10.964Z"
META: dict[str, Any] = {
    "id": SESSION,
    "timestamp": "2026-03-01T10:00:10.931Z",
    "cwd": "/home/ana/app",
    "originator": "codex_exec",
    "cli_version": "0.98.0",
    "source": "exec",
    "model_provider": "openai",
    "git": {"commit_hash": "1a2b3c4d", "branch": "main", "repository_url": "https://example.org/app.git"},
}
TURN = {"cwd": "/home/ana/app", "model": "gpt-5.2-codex", "effort": "high"}


def line(kind: str, payload: Any, at: str = AT) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def item(**payload: Any) -> dict[str, Any]:
    return line("response_item", payload)


def event(**payload: Any) -> dict[str, Any]:
    return line("event_msg", payload)


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def counts(sent: int, cached: int, out: int, reasoning: int) -> dict[str, int]:
    return {
        "input_tokens": sent,
        "cached_input_tokens": cached,
        "output_tokens": out,
        "reasoning_output_tokens": reasoning,
        "total_tokens": sent + out,
    }


def count(total: tuple[int, int, int, int], last: tuple[int, int, int, int] | None) -> dict[str, Any]:
    info: dict[str, Any] = {"total_token_usage": counts(*total), "model_context_window": 272000}
    if last is not None:
        info["last_token_usage"] = counts(*last)
    return event(type="token_count", info=info, rate_limits=None)


def session(tmp_path: Path, *lines: Any, meta: dict[str, Any] | None = None) -> Conversation:
    return read_one(save_lines(tmp_path, NAME, [line("session_meta", {**META, **(meta or {})}), *lines]))


def messages(tmp_path: Path, *lines: Any) -> list[Message]:
    return list(tree.messages(session(tmp_path, line("turn_context", TURN), *lines)))


def only_part(tmp_path: Path, **payload: Any) -> Any:
    (message,) = messages(tmp_path, item(**payload))
    (part,) = message.parts
    return part


def test_session_meta_states_id_folder_version_and_branch(tmp_path: Path) -> None:
    read = session(tmp_path)

    assert read.id == SESSION
    assert not read.made_id
    assert read.cwd == "/home/ana/app"
    assert read.app_version == "0.98.0"
    assert (read.git_branch, read.git_commit) == ("main", "1a2b3c4d")
    assert read.started_at == "2026-03-01T10:00:10.931Z"
    assert read.extra["model_provider"] == "openai"
    assert read.extra["git"] == {"repository_url": "https://example.org/app.git"}
    assert read.shape == "list"


def test_models_are_those_of_the_turns_and_the_first_is_the_conversations(tmp_path: Path) -> None:
    other = line("turn_context", {**TURN, "model": "gpt-5.2"})
    read = session(
        tmp_path, line("turn_context", TURN), said("assistant", "a"), other, said("assistant", "b")
    )

    assert read.model == "gpt-5.2-codex"
    assert [message.model for message in tree.messages(read)] == ["gpt-5.2-codex", "gpt-5.2"]


@pytest.mark.parametrize(
    ("stated", "role", "hidden"),
    [("user", "user", False), ("assistant", "assistant", False), ("developer", "system", True)],
)
def test_roles(tmp_path: Path, stated: str, role: str, hidden: bool) -> None:
    (message,) = messages(tmp_path, said(stated, "Hello."))

    assert (message.role, message.hidden) == (role, hidden)
    assert message.at == AT
    assert message.made_id


def test_content_stays_the_array_it_was(tmp_path: Path) -> None:
    content = [
        {"type": "input_text", "text": "Look."},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ]
    (message,) = messages(tmp_path, item(type="message", role="user", content=content))

    assert message.native == content
    assert message.parts == [
        Text(text="Look."),
        Media(kind="image", mime="image/png", data="iVBORw0KGgo="),
    ]


def test_audio_is_separate(tmp_path: Path) -> None:
    (message,) = messages(
        tmp_path,
        item(
            type="message",
            role="user",
            content=[{"type": "input_audio", "audio_url": "data:audio/wav;base64,UklGRg=="}],
        ),
    )

    assert message.parts == [Media(kind="audio", mime="audio/wav", data="UklGRg==")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/home/ana</cwd>\n</environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /home/ana\n\nBe brief.",
        "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>",
        "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
        "<recommended_plugins>\n- Tea (tea)\n</recommended_plugins>",
        "<goal_context>\nGo on.\n</goal_context>",
        '<codex_internal_context source="goal">\nGo on.\n</codex_internal_context>',
        "<external_browser>a tab</external_browser>",
        '<hook_prompt hook_run_id="h1">Run the tests.</hook_prompt>',
        "Another language model started to solve this problem and produced a summary: Tea was made.",
    ],
)
def test_what_the_app_says_in_the_persons_name_is_hidden(tmp_path: Path, text: str) -> None:
    first, second = messages(tmp_path, said("user", text), said("user", "Real."))

    assert (first.role, first.hidden) == ("user", True)
    assert not second.hidden


def test_one_track_becomes_messages_and_the_other_events(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        said("user", "Hi."),
        event(type="user_message", message="Hi."),
        event(type="agent_reasoning", text="**Greeting**"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "**Greeting**"}]),
        event(type="agent_message", message="Hello."),
        said("assistant", "Hello."),
    )

    assert [message.role for message in tree.messages(read)] == ["user", "assistant", "assistant"]
    assert [entry.name for entry in read.timeline if isinstance(entry, Event)] == [
        "session_meta",
        "user_message",
        "agent_reasoning",
        "agent_message",
    ]


def test_what_only_the_second_track_states_becomes_a_message(tmp_path: Path) -> None:
    prompt, thought, answer = messages(
        tmp_path,
        event(type="user_message", message="Hi."),
        event(type="agent_reasoning", text="**Greeting**"),
        event(type="agent_message", message="Hello."),
    )

    assert (prompt.role, prompt.parts) == ("user", [Text(text="Hi.")])
    assert (thought.role, thought.parts) == ("assistant", [Reasoning(text="**Greeting**")])
    assert (answer.role, answer.parts, answer.model) == (
        "assistant",
        [Text(text="Hello.")],
        "gpt-5.2-codex",
    )


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["Tea it is.<oai-mem-citation>MEMORY.md:1-2|note=[tea]</oai-mem-citation>"], "Tea it is."),
        (["Tea it is.\n<oai-mem-citation>cut off"], "Tea it is."),
        (["Now:\n<proposed_plan>\n- boil\n</proposed_plan>\nAgreed?"], "Now:\nAgreed?"),
        (["Now:\n<proposed_plan>\n- boil"], "Now:\n"),
        (["Tea ", "it is."], "Tea it is."),
    ],
    ids=["memory", "memory-cut", "plan", "plan-cut", "pieces"],
)
def test_an_answer_that_is_shown_without_its_markup_is_recorded_once(
    tmp_path: Path, texts: list[str], shown: str
) -> None:
    content = [{"type": "output_text", "text": text} for text in texts]
    (answer,) = messages(
        tmp_path,
        event(type="agent_message", message=shown),
        item(type="message", role="assistant", content=content),
    )

    assert answer.parts == [Text(text=text) for text in texts]


def test_items_that_only_the_second_track_has_are_messages(tmp_path: Path) -> None:
    asked = {"type": "UserMessage", "id": "i1", "content": [{"type": "text", "text": "Tea?"}]}
    said_too = {"type": "AgentMessage", "id": "i2", "content": [{"type": "Text", "text": "Green."}]}
    alone = {"type": "AgentMessage", "id": "i3", "content": [{"type": "Text", "text": "Done."}]}
    plan = {"type": "Plan", "id": "i4", "text": "Boil."}
    prompt, answer, note = messages(
        tmp_path,
        event(type="item_completed", item=asked),
        event(type="item_completed", item=said_too),
        said("assistant", "Green."),
        event(type="item_completed", item={**alone, "delivery": "async"}),
        event(type="item_completed", item=plan),
        event(type="item_completed", item={"type": ["AgentMessage"]}),
    )

    assert (prompt.role, prompt.parts) == ("user", [Text(text="Tea?")])
    assert answer.parts == [Text(text="Green.")]
    assert (note.role, note.parts, note.model) == ("assistant", [Text(text="Done.")], "gpt-5.2-codex")
    left = {"type": "AgentMessage", "id": "i3", "delivery": "async"}
    assert note.extra["payload"] == {"type": "item_completed", "item": left}


def test_why_a_turn_failed(tmp_path: Path) -> None:
    error = {"message": "You have hit your limit.", "codex_error_info": "usage_limit_exceeded"}
    (told,) = messages(tmp_path, event(type="task_complete", last_agent_message=None, error=error))

    assert (told.role, told.hidden, told.parts) == ("system", False, [Text(text="You have hit your limit.")])
    assert told.extra["payload"]["error"] == {"codex_error_info": "usage_limit_exceeded"}


def test_a_prompt_in_pieces_is_recorded_once(tmp_path: Path) -> None:
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is "},
        {"type": "input_text", "text": "this?"},
    ]
    (prompt,) = messages(
        tmp_path,
        item(type="message", role="user", content=content),
        event(type="user_message", message="What is this?"),
    )

    assert prompt.native == content


def test_reasoning_that_repeats_a_text_is_still_reasoning(tmp_path: Path) -> None:
    _, thought = messages(
        tmp_path, said("user", "Run the tests, please."), event(type="agent_reasoning", text="Run the tests")
    )

    assert thought.parts == [Reasoning(text="Run the tests")]


def test_reasoning_is_its_summary_and_what_is_encrypted(tmp_path: Path) -> None:
    summary = [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]
    part = only_part(tmp_path, type="reasoning", summary=summary, content=None, encrypted_content="gAAA")

    assert part == Reasoning(summary="One.\nTwo.", encrypted="gAAA")


def test_reasoning_in_full_is_its_text(tmp_path: Path) -> None:
    content = [{"type": "reasoning_text", "text": "All of it."}]

    assert only_part(tmp_path, type="reasoning", summary=[], content=content) == Reasoning(text="All of it.")


@pytest.mark.parametrize(
    ("payload", "call"),
    [
        (
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": "c"},
            ToolCall(name="exec_command", call_id="c", input='{"cmd":"ls"}', kind="shell"),
        ),
        (
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c"},
            ToolCall(name="apply_patch", call_id="c", input="*** Begin", kind="edit"),
        ),
        (
            {"type": "web_search_call", "action": {"type": "search", "query": "q"}},
            ToolCall(name="web_search", input={"type": "search", "query": "q"}, kind="web"),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            ToolCall(name="local_shell", call_id="c", input={"command": ["ls"]}, kind="shell"),
        ),
        (
            {"type": "function_call", "name": "mcp__a__b", "arguments": "{}", "call_id": "c"},
            ToolCall(name="mcp__a__b", call_id="c", input="{}", kind="mcp"),
        ),
        (
            {
                "type": "function_call",
                "name": "read_file",
                "namespace": "mcp__a",
                "arguments": "{}",
                "call_id": "c",
            },
            ToolCall(name="read_file", call_id="c", input="{}", kind="mcp"),
        ),
        (
            {"type": "function_call", "name": "run", "namespace": "web", "arguments": "{}", "call_id": "c"},
            ToolCall(name="run", call_id="c", input="{}", kind="web"),
        ),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_calls(tmp_path: Path, payload: dict[str, Any], call: ToolCall) -> None:
    assert only_part(tmp_path, **payload) == call


@pytest.mark.parametrize(
    ("output", "is_error", "code"),
    [
        ("Wall time: 0.5 seconds\nProcess exited with code 1\nOutput:\n1 failed", True, 1),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\n", False, 0),
        ("Exit code: 127\nWall time: 0 seconds\nOutput:\nnot found", True, 127),
        ('{"output":"ok","metadata":{"exit_code":0,"duration_seconds":0.1}}', False, 0),
        ('{"output":"\\"exit_code\\": 5","metadata":{"exit_code":2,"duration_seconds":0.1}}', True, 2),
        ("Plan updated", None, None),
    ],
)
def test_outputs_stay_as_they_are_and_show_how_it_went(
    tmp_path: Path, output: str, is_error: bool | None, code: int | None
) -> None:
    call = item(type="function_call", name="shell", arguments="{}", call_id="c")
    _, answer = messages(tmp_path, call, item(type="function_call_output", call_id="c", output=output))

    assert answer.role == "tool"
    assert answer.parts == [
        ToolResult(
            call_id="c", output=output, is_error=is_error, extra={} if code is None else {"exit_code": code}
        )
    ]


def test_what_agents_wrote_to_each_other_is_read(tmp_path: Path) -> None:
    (message,) = messages(
        tmp_path,
        line(
            "inter_agent_communication",
            {"author": "/root", "recipient": "/root/tea", "content": "Boil water.", "trigger_turn": True},
        ),
    )

    assert (message.role, message.hidden, message.parts) == ("user", True, [Text(text="Boil water.")])
    assert message.extra["payload"]["recipient"] == "/root/tea"


def test_results_without_a_call_are_noted(tmp_path: Path) -> None:
    notes = Notes()
    lines = [line("session_meta", META), item(type="function_call_output", call_id="x", output="")]
    list(read_all([str(save_lines(tmp_path, NAME, lines))], notes))

    assert [(note.kind, note.where) for note in notes.collected] == [("unlinked-result", "line 2")]


def test_usage_is_the_last_responses_share_without_what_the_cache_gave(tmp_path: Path) -> None:
    thought, call = messages(
        tmp_path,
        item(type="reasoning", summary=[], encrypted_content="gAAA"),
        item(type="function_call", name="shell", arguments="{}", call_id="c"),
        count((9000, 8000, 120, 60), (4600, 4200, 70, 30)),
    )

    assert thought.usage is None
    assert thought.response_id == call.response_id is not None
    assert call.usage == Usage(
        key=f"{SESSION}:9000:8000:120:60:9120",
        input=400,
        output=70,
        cache_read=4200,
        reasoning=30,
        total=4670,
        extra=counts(4600, 4200, 70, 30),
    )


def test_what_was_written_to_the_cache_is_no_plain_input(tmp_path: Path) -> None:
    told = {**counts(100, 40, 10, 5), "cache_write_input_tokens": 60}
    (answer,) = messages(
        tmp_path,
        said("assistant", "a"),
        event(type="token_count", info={"total_token_usage": told, "last_token_usage": told}),
    )

    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.cache_read, answer.usage.cache_write) == (0, 40, 60)


def test_repeated_counts_are_not_counted_again(tmp_path: Path) -> None:
    same = count((100, 0, 5, 0), (100, 0, 5, 0))
    read = session(
        tmp_path,
        said("assistant", "a"),
        same,
        said("assistant", "b"),
        same,
        event(type="token_count", info=None, rate_limits={}),
        count((300, 50, 9, 0), None),
    )

    assert [(usage.input, usage.cache_read, usage.output) for usage in tree.usages(read.timeline)] == [
        (100, 0, 5),
        (150, 50, 4),
    ]
    assert [entry.name for entry in read.timeline if isinstance(entry, Event)].count("token-count") == 4


def recorded(
    share: tuple[int, int, int, int], total: tuple[int, int, int, int] | None, response: str = "resp_1"
) -> dict[str, Any]:
    sums = {} if total is None else {"thread_token_usage": counts(*total), "turn_token_usage": counts(*total)}
    return line("token_usage_record", {"response_id": response, "usage": counts(*share), **sums})


FIRST, SECOND, BOTH = (9, 0, 1, 0), (20, 5, 2, 1), (29, 5, 3, 1)


@pytest.mark.parametrize(
    "told",
    [
        [recorded(FIRST, FIRST)],
        [recorded(FIRST, FIRST), count(FIRST, FIRST)],
        [recorded(FIRST, FIRST), count(FIRST, FIRST), count(FIRST, FIRST)],
        [count(FIRST, FIRST), recorded(FIRST, FIRST)],
        # Sums of another thread, or none.
        [recorded(FIRST, FIRST), count((109, 50, 11, 0), FIRST)],
        [recorded(FIRST, None), count(FIRST, FIRST)],
        [recorded(FIRST, None)],
    ],
)
def test_a_response_that_is_recorded_and_counted_is_counted_once(tmp_path: Path, told: list[Any]) -> None:
    read = session(tmp_path, said("assistant", "Hello."), *told)

    assert [10] == [usage.total for usage in tree.usages(read.timeline)]


def test_each_recorded_response_has_its_own_messages(tmp_path: Path) -> None:
    answers = messages(
        tmp_path,
        said("assistant", "One."),
        recorded(FIRST, FIRST),
        count(FIRST, FIRST),
        said("assistant", "Two."),
        recorded(SECOND, BOTH, "resp_2"),
        count(BOTH, SECOND),
    )

    assert [("resp_1", 10), ("resp_2", 22)] == [
        (answer.response_id, answer.usage and answer.usage.total) for answer in answers
    ]


def test_a_record_of_a_response_is_known(tmp_path: Path) -> None:
    notes = Notes()
    lines = [line("session_meta", META), said("assistant", "Hello."), recorded(FIRST, FIRST)]
    list(read_all([str(save_lines(tmp_path, NAME, lines))], notes))

    assert [] == notes.collected


def test_a_count_without_a_message_is_counted_all_the_same(tmp_path: Path) -> None:
    (empty,) = messages(tmp_path, count((100, 0, 5, 0), (100, 0, 5, 0)))

    assert (empty.parts, empty.hidden) == ([], True)
    assert empty.usage is not None
    assert empty.usage.total == 105


def test_copies_of_a_parents_counts_have_the_parents_keys(tmp_path: Path) -> None:
    head = [said("user", "Hi."), said("assistant", "Hello."), count((100, 0, 5, 0), (100, 0, 5, 0))]
    own = [said("user", "More."), said("assistant", "Sure."), count((250, 90, 9, 0), (150, 90, 4, 0))]
    parent_meta = {**META, "id": PARENT}
    parent = read_one(save_lines(tmp_path, "parent.jsonl", [line("session_meta", parent_meta), *head]))
    later = "2026-02-11T08:00:00.000Z"
    copied = [{**copy, "timestamp": later} for copy in [line("session_meta", parent_meta), *head]]
    fork = session(tmp_path, *copied, *own, meta={"forked_from_id": PARENT})

    (theirs,) = tree.usages(parent.timeline)
    replayed, ours = tree.usages(fork.timeline)
    assert replayed.key == theirs.key
    assert ours.key != theirs.key
    both = tree.usages([*parent.timeline, *fork.timeline])
    assert sum(usage.total or 0 for usage in both) == 105 + 154
    assert fork.id == SESSION


def test_a_fork_that_names_its_parent_only_in_its_first_line_has_the_parents_keys(tmp_path: Path) -> None:
    fork = session(
        tmp_path, said("assistant", "a"), count((9, 0, 1, 0), (9, 0, 1, 0)), meta={"forked_from_id": PARENT}
    )

    assert [usage.key for usage in tree.usages(fork.timeline)] == [f"{PARENT}:9:0:1:0:10"]


def test_a_sub_agent_that_starts_again_has_keys_of_its_own(tmp_path: Path) -> None:
    spawned = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}}
    told = {**count((9, 0, 1, 0), (9, 0, 1, 0)), "timestamp": "2026-03-01T10:00:20.000Z"}
    agent = session(tmp_path, said("assistant", "a"), told, meta=spawned)

    assert [usage.key for usage in tree.usages(agent.timeline)] == [f"{SESSION}:9:0:1:0:10"]


def test_what_a_sub_agent_counts_at_once_was_copied_from_its_parent(tmp_path: Path) -> None:
    spawned = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}}
    agent = session(tmp_path, said("assistant", "a"), count((9, 0, 1, 0), (9, 0, 1, 0)), meta=spawned)

    assert [usage.key for usage in tree.usages(agent.timeline)] == [f"{PARENT}:9:0:1:0:10"]


@pytest.mark.parametrize(
    ("meta", "relation"),
    [
        ({"forked_from_id": PARENT}, "fork"),
        ({"history_base": {"thread_id": PARENT, "end_ordinal_exclusive": 4}}, "fork"),
        ({"parent_thread_id": PARENT}, "subagent"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}}, "subagent"),
        (
            {
                "forked_from_id": PARENT,
                "source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}},
            },
            "subagent",
        ),
    ],
)
def test_where_a_session_came_from(tmp_path: Path, meta: dict[str, Any], relation: Any) -> None:
    assert session(tmp_path, meta=meta).link == Link(conversation_id=PARENT, relation=relation)


AGENT = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}}
ITEM = {
    "type": "CollabAgentToolCall",
    "id": "call_1",
    "tool": "spawn_agent",
    "receiver_thread_ids": [SESSION],
}
ACTIVITY = {"agent_thread_id": SESSION, "agent_path": "/root/taster", "kind": "started"}
ANSWER = json.dumps({"agent_id": SESSION, "nickname": "Euler"})


@pytest.mark.parametrize(
    ("told", "call"),
    [
        (item(type="function_call_output", call_id="call_1", output=ANSWER), "call_1"),
        (
            item(
                type="function_call_output", call_id="call_1", output=[{"type": "input_text", "text": ANSWER}]
            ),
            "call_1",
        ),
        (event(type="collab_agent_spawn_end", call_id="call_1", new_thread_id=SESSION), "call_1"),
        (event(type="item_completed", item=ITEM), "call_1"),
        (
            event(type="item_completed", item={"type": "SubAgentActivity", "id": "call_1", **ACTIVITY}),
            "call_1",
        ),
        (event(type="sub_agent_activity", event_id="call_1", **ACTIVITY), "call_1"),
        # What is done with an agent later did not start it.
        (event(type="item_completed", item={**ITEM, "tool": "wait"}), None),
        (event(type="sub_agent_activity", event_id="call_1", **{**ACTIVITY, "kind": "interacted"}), None),
        (
            item(type="function_call_output", call_id="call_1", output=json.dumps({"status": {SESSION: 1}})),
            None,
        ),
        (item(type="function_call_output", call_id="call_1", output=f"{SESSION} is ready"), None),
        (item(type="function_call_output", call_id="call_1", output=None, agent=SESSION), None),
        ({"type": "event_msg", "note": SESSION}, None),
        ([SESSION], None),
    ],
)
def test_a_sub_agent_is_linked_to_the_call_that_started_it(
    tmp_path: Path, told: Any, call: str | None
) -> None:
    parent = [line("session_meta", {**META, "id": PARENT}), told]
    save_lines(tmp_path, NAME.replace(SESSION, PARENT), parent)
    agent = session(tmp_path, said("user", "Taste it."), meta={**META, **AGENT})

    assert Link(conversation_id=PARENT, relation="subagent", call_id=call) == agent.link


@pytest.mark.parametrize("folder", ["sessions/2026/04/07", "archived_sessions"])
def test_the_parent_of_a_sub_agent_is_found_in_another_folder(tmp_path: Path, folder: str) -> None:
    # Ids hold the time in UTC, names that of a place two hours ahead: 23:59:59.100 and 00:00:10.
    parent, child = "019d69f5-a37c-7000-8000-000000000001", "019d69f5-ce10-7000-8000-000000000002"
    answer = item(type="function_call_output", call_id="call_1", output=json.dumps({"agent_id": child}))
    first = line("session_meta", {**META, "id": child, "parent_thread_id": parent})
    today = tmp_path / "sessions" / "2026" / "04" / "08"
    for place in (tmp_path / folder, today):
        place.mkdir(parents=True)
    save_lines(tmp_path / folder, f"rollout-2026-04-07T23-59-59-{parent}.jsonl", [answer])
    path = save_lines(today, f"rollout-2026-04-08T00-00-10-{child}.jsonl", [first])
    (agent,) = read_all([str(path)], Notes())

    assert isinstance(agent, Conversation)
    assert Link(conversation_id=parent, relation="subagent", call_id="call_1") == agent.link


def test_a_thread_taken_back_goes_on_in_a_file_of_its_own(tmp_path: Path) -> None:
    base = {"thread_id": SESSION, "end_ordinal_exclusive": 3, "end_byte_offset": 700}
    name = NAME.replace(".jsonl", f"_{PARENT}.jsonl")
    before = session(tmp_path, said("user", "Oaks."), said("user", "Birches."))
    after = read_one(
        save_lines(
            tmp_path, name, [line("session_meta", {**META, "history_base": base}), said("user", "Willows.")]
        )
    )

    assert after.id == before.id == SESSION
    assert after.link is None
    assert not {entry.id for entry in before.timeline} & {entry.id for entry in after.timeline}


def test_a_copied_first_line_never_stands_in_for_a_lost_one(tmp_path: Path) -> None:
    path = save_lines(tmp_path, NAME, [line("session_meta", {**META, "id": PARENT}), said("user", "Hi.")])
    path.write_bytes(b'{"timestamp":}\n' + path.read_bytes())

    assert read_one(path).id == SESSION


def test_compaction_is_a_summary_of_what_came_before(tmp_path: Path) -> None:
    read = session(
        tmp_path, said("user", "Hi."), line("compacted", {"message": "They met.", "replacement_history": []})
    )
    (message,) = tree.messages(read)

    assert read.summaries == [Summary(text="They met.", kind="system", at=AT, message_id=message.id)]


def test_turns_taken_back_make_a_branch(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        said("user", "One?"),
        said("assistant", "One."),
        said("user", "Two?"),
        said("assistant", "Two."),
        event(type="thread_rolled_back", num_turns=1),
        said("user", "Three?"),
    )
    one, answer, two, second, three = tree.messages(read)

    assert read.shape == "tree"
    assert read.head_id == three.id
    assert (two.parent_id, three.parent_id) == (answer.id, answer.id)
    path = tree.path_to(read.timeline, three.id)
    assert {one.id, answer.id, three.id} <= {entry.id for entry in path}
    assert not {two.id, second.id} & {entry.id for entry in path}


def test_names_come_from_the_index_then_from_events(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "02" / "10"
    folder.mkdir(parents=True)
    named = event(type="thread_name_updated", thread_id=SESSION, thread_name="By event")
    path = save_lines(folder, NAME, [line("session_meta", META), named])
    assert read_one(path).title == "By event"

    entries = [{"id": SESSION, "thread_name": name} for name in ("First", "Last")]
    save_lines(tmp_path, "session_index.jsonl", [*entries, {"id": PARENT, "thread_name": "Other"}])
    assert read_one(path).title == "Last"


def test_the_index_is_no_conversation_and_an_archived_session_says_so(tmp_path: Path) -> None:
    (tmp_path / "archived_sessions").mkdir()
    save_lines(tmp_path / "archived_sessions", NAME, [line("session_meta", META)])
    save_lines(tmp_path, "session_index.jsonl", [{"id": SESSION, "thread_name": "Kept"}])
    notes = Notes()
    (read,) = read_all([str(tmp_path)], notes)

    assert isinstance(read, Conversation)
    assert (read.title, read.archived) == ("Kept", True)
    assert not notes.collected


def test_lines_without_an_envelope(tmp_path: Path) -> None:
    first = {"id": SESSION, "timestamp": AT, "instructions": None, "git": {"branch": "main"}}
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    read = read_one(save_lines(tmp_path, NAME, [first, {"record_type": "state"}, prompt]))

    assert read.origin is not None
    assert read.origin.version == "bare"
    assert (read.id, read.git_branch, read.started_at) == (SESSION, "main", AT)
    assert [message.parts for message in tree.messages(read)] == [[Text(text="Hi.")]]


def test_one_document_for_a_session(tmp_path: Path) -> None:
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    head = {"id": SESSION, "timestamp": AT, "instructions": ""}
    read = read_one(
        save_document(tmp_path, "rollout-2025-04-20-x.json", {"session": head, "items": [prompt]})
    )

    assert read.origin is not None
    assert read.origin.version == "document"
    assert (read.id, read.started_at) == (SESSION, AT)
    assert [message.parts for message in tree.messages(read)] == [[Text(text="Hi.")]]


def test_compressed_rollouts_are_read(tmp_path: Path) -> None:
    plain = save_lines(tmp_path, NAME, [line("session_meta", META)])
    packed = tmp_path / "cold" / f"{NAME}.zst"
    packed.parent.mkdir()
    packed.write_bytes(zstandard.compress(plain.read_bytes()))

    assert read_one(plain).timeline == read_one(packed).timeline
    assert read_one(plain).id == read_one(packed).id


def test_of_a_rollout_and_its_compressed_duplicate_the_plain_one_is_read(tmp_path: Path) -> None:
    save_lines(tmp_path, NAME, [line("session_meta", META)])
    (tmp_path / f"{NAME}.zst").write_bytes(zstandard.compress((tmp_path / NAME).read_bytes()))
    notes = Notes()
    (read,) = read_all([str(tmp_path)], notes)

    assert read.id == SESSION
    assert [note.kind for note in notes.collected] == ["ignored-file"]


@pytest.mark.parametrize(
    "record",
    [
        {"ts": AT, "dir": "meta", "kind": "session_start", "cwd": "/", "model": "gpt-oss:20b"},
        {"session_id": SESSION, "ts": 1767323045, "text": "a prompt", "role": "user"},
        {"session_id": SESSION, "ts": 1767323045.5, "text": "a prompt"},
        {"ts": 1767323045, "text": "a prompt"},
        {"timestamp": AT, "type": "world", "payload": {}},
        {"type": "session", "id": SESSION, "timestamp": AT, "instructions": ""},
    ],
)
def test_other_logs_are_not_claimed(record: dict[str, Any]) -> None:
    assert codex.sniff(Peek(Bytes(json.dumps(record).encode() + b"\n", "rollout-x.jsonl"))) is None


def test_unknown_kinds_are_preserved_and_noted_once(tmp_path: Path) -> None:
    notes = Notes()
    lines = [line("session_meta", META), item(type="new", a=1), item(type="new", a=2), line("omen", {"b": 3})]
    (read,) = read_all([str(save_lines(tmp_path, NAME, lines))], notes)

    assert isinstance(read, Conversation)
    kept = [entry for entry in read.timeline[1:] if isinstance(entry, Event)]
    assert [(entry.name, entry.data["payload"]) for entry in kept] == [
        ("new", {"type": "new", "a": 1}),
        ("new", {"type": "new", "a": 2}),
        ("omen", {"b": 3}),
    ]
    assert [note.where for note in notes.collected] == ["line 2", "line 4"]
    assert notes.counts[Kind.UNKNOWN_TYPE] == 2


def test_verifiable_records_name_the_tool_and_have_its_token_counts(tmp_path: Path) -> None:
    arguments = '{"cmd":"ls"}'
    lines = [
        line("session_meta", META),
        line("turn_context", TURN),
        said("user", "Hi."),
        item(type="function_call", name="exec_command", arguments=arguments, call_id="c"),
        item(type="function_call_output", call_id="c", output="Process exited with code 1\n"),
        count((9, 0, 1, 0), (9, 0, 1, 0)),
    ]
    record = converted(save_lines(tmp_path, NAME, lines), "agent-record").only
    prompt, asked, answered, counted = record["session"]["entries"]

    assert record["session"]["session-id"] == SESSION
    assert record["session"]["environment"] == {"working-dir": "/home/ana/app"}
    assert record["session"]["agent-meta"] == {
        "model-id": "gpt-5.2-codex",
        "model-provider": "openai",
        "cli-name": "codex",
        "cli-version": "0.98.0",
    }
    assert prompt == {
        "type": "user",
        "timestamp": AT,
        "content": [{"type": "input_text", "text": "Hi."}],
    }
    call = {"type": "tool-call", "name": "exec_command", "input": arguments, "call-id": "c"}
    assert asked == {"timestamp": AT, **call}
    output = "Process exited with code 1\n"
    assert answered == {"type": "tool-result", "call-id": "c", "timestamp": AT, "output": output}
    assert (counted["type"], counted["event-type"]) == ("system-event", "token-count")
    assert counted["token-usage"] == {"input": 9, "cached": 0, "output": 1, "reasoning": 0, "total": 10}


def test_unified_output_links_sub_agents_and_sums_tokens(tmp_path: Path) -> None:
    spawned = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}}
    lines = [
        line("session_meta", {**META, **spawned}),
        line("turn_context", TURN),
        said("assistant", "Hello."),
        count((9, 4, 1, 0), (9, 4, 1, 0)),
    ]
    document = converted(save_lines(tmp_path, NAME, lines), "unified").only

    assert document["session"]["parent_conversation_id"] == PARENT
    assert document["session"]["is_sidechain"]
    assert document["context"]["workspace"]["git_branch"] == "main"
    assert document["platform"]["model"] == "gpt-5.2-codex"
    (message,) = document["messages"]
    assert (message["role"], message["content"]) == ("assistant", [{"type": "text", "text": "Hello."}])


def test_info_says_where_it_lies_and_how_to_go_on() -> None:
    info = readers.get("codex").INFO

    assert "CODEX_HOME" in info.env
    assert "~/.codex/sessions/**/rollout-*.jsonl" in info.homes
    assert info.resume == "codex resume {id}"
    assert info.names == {"record": "codex"}
