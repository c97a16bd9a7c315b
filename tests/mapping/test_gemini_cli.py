"""Gemini CLI into the model and into agent records: each rule for its records is one check."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Link,
    Media,
    Message,
    Other,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import gemini_cli
from tests.inline import converted, read_one, save_document, save_lines
from tests.memory_source import Bytes

SESSION = "5b0c7f3a-1111-4222-8333-000000000021"
ROOT = "/home/ana/tea"
HASH = hashlib.sha256(ROOT.encode()).hexdigest()
AT = "2026-04-29T21:39:33.155Z"
HEAD: dict[str, Any] = {
    "sessionId": SESSION,
    "projectHash": HASH,
    "startTime": "2026-04-29T21:39:22.319Z",
    "lastUpdated": "2026-04-29T21:39:22.319Z",
    "kind": "main",
}
RESULT: list[dict[str, Any]] = [
    {"functionResponse": {"id": "call-1", "name": "read_file", "response": {"output": "80 degrees"}}}
]


def user(identity: str = "u-1", content: Any = "Hello.", **more: Any) -> dict[str, Any]:
    return {"id": identity, "timestamp": AT, "type": "user", "content": content, **more}


def answer(identity: str = "g-1", content: Any = "Hi.", **more: Any) -> dict[str, Any]:
    return {"id": identity, "timestamp": AT, "type": "gemini", "content": content, **more}


def call(**more: Any) -> dict[str, Any]:
    return {"id": "call-1", "name": "read_file", "args": {"file_path": "a.md"}, "timestamp": AT, **more}


def session(tmp_path: Path, *lines: Any) -> Conversation:
    return read_one(save_lines(tmp_path, "session.jsonl", [HEAD, *lines]))


def only_message(tmp_path: Path, record: dict[str, Any]) -> Message:
    (message,) = tree.messages(session(tmp_path, record))
    return message


def said(conversation: Conversation) -> list[str]:
    return [tree.plain_text(message) for message in tree.messages(conversation)]


def test_the_head_states_id_times_and_what_only_the_source_has(tmp_path: Path) -> None:
    read = session(tmp_path, user(), {"$set": {"lastUpdated": "2026-04-29T21:40:00.000Z"}})

    assert (read.id, read.made_id, read.source) == (SESSION, False, "gemini-cli")
    assert read.started_at == HEAD["startTime"]
    assert read.updated_at == "2026-04-29T21:40:00.000Z"
    assert read.extra == {"projectHash": HASH, "kind": "main"}
    assert read.shape == "list"
    assert [type(entry) for entry in read.timeline] == [Message]


def test_document_and_log_of_one_session_are_equal(tmp_path: Path) -> None:
    lines = [user(), answer(toolCalls=[call(result=RESULT, status="success")])]
    log = session(tmp_path, *lines)
    document = read_one(save_document(tmp_path, "document.json", {**HEAD, "messages": lines}))
    pretty = tmp_path / "pretty.jsonl"
    pretty.write_text(json.dumps({**HEAD, "messages": lines}, indent=2), encoding="utf-8")

    assert log.timeline == document.timeline == read_one(pretty).timeline
    assert log.extra == document.extra


@pytest.mark.parametrize(
    ("stated", "role", "extra"),
    [
        ("user", "user", {}),
        ("gemini", "assistant", {}),
        ("info", "system", {"type": "info"}),
        ("warning", "system", {"type": "warning"}),
        ("error", "system", {"type": "error"}),
        ("human", "user", {"type": "human"}),
        ("song", "system", {"type": "song"}),
    ],
)
def test_roles(tmp_path: Path, stated: str, role: str, extra: dict[str, str]) -> None:
    message = only_message(tmp_path, {**user(), "type": stated})

    assert (message.role, message.extra) == (role, extra)
    assert (message.id, message.at) == ("u-1", AT)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("Hello.", [Text(text="Hello.")]),
        ("", []),
        ({"text": "One."}, [Text(text="One.")]),
        (["Two.", {"text": "Three."}], [Text(text="Two."), Text(text="Three.")]),
        (
            [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
            [Media(kind="image", mime="image/png", data="aGk=")],
        ),
        (
            [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b"}}],
            [Media(kind="video", mime="video/mp4", ref="gs://a/b")],
        ),
        ([{"text": "Hm.", "thought": True}], [Reasoning(text="Hm.")]),
        (
            [{"executableCode": {"language": "PYTHON", "code": "1"}}],
            [Code(code="1", language="PYTHON")],
        ),
        ([{"functionCall": {"name": "glob", "args": {}}}], [ToolCall(name="glob", input={}, kind="search")]),
        ([{"new": 1}], [Other(data={"new": 1})]),
    ],
    ids=str,
)
def test_content(tmp_path: Path, content: Any, parts: list[Any]) -> None:
    message = only_message(tmp_path, user(content=content))

    assert message.parts == parts
    assert message.native == (None if content == "Hello." else content)


def test_thoughts_come_first_and_calls_last(tmp_path: Path) -> None:
    thought = {"subject": "Tea", "description": "I think of tea.", "timestamp": AT}
    message = only_message(
        tmp_path, answer(thoughts=[thought], toolCalls=[call(result=RESULT, status="success")])
    )

    assert message.parts == [
        Reasoning(text="I think of tea.", extra={"subject": "Tea", "timestamp": AT}),
        Text(text="Hi."),
        ToolCall(
            name="read_file",
            call_id="call-1",
            input={"file_path": "a.md"},
            kind="read",
            extra={"timestamp": AT},
        ),
        ToolResult(
            call_id="call-1",
            name="read_file",
            output="80 degrees",
            is_error=False,
            native=RESULT,
            extra={"status": "success", "timestamp": AT},
        ),
    ]


def test_a_call_without_a_result_keeps_its_status(tmp_path: Path) -> None:
    message = only_message(tmp_path, answer(toolCalls=[call(result=None, status="executing")]))

    assert [part.extra["status"] for part in message.parts if isinstance(part, ToolCall)] == ["executing"]
    assert not list(tree.results_in(message))


@pytest.mark.parametrize(
    ("status", "response", "is_error"),
    [
        ("success", {"output": "x"}, False),
        ("error", {"error": "x"}, True),
        ("cancelled", {"error": "x"}, True),
        ("cancelled", {"output": "x"}, None),
        (None, {"error": "x"}, True),
        (None, {"output": "x"}, None),
    ],
)
def test_errors(tmp_path: Path, status: str | None, response: Any, is_error: bool | None) -> None:
    result = [{"functionResponse": {"id": "call-1", "name": "read_file", "response": response}}]
    message = only_message(tmp_path, answer(toolCalls=[call(result=result, status=status)]))
    (told,) = tree.results_in(message)

    assert (told.output, told.is_error) == ("x", is_error)


@pytest.mark.parametrize(
    ("name", "output", "code"),
    [
        ("run_shell_command", "Output: a\nError: (none)\nExit Code: 127\nSignal: 0", 127),
        ("run_shell_command", "Output: Exit Code: 5\nExit Code: 0\nSignal: 0", 0),
        ("run_shell_command", "Output: a\nProcess Group PGID: 12", None),
        ("read_file", "Exit Code: 1", None),
    ],
)
def test_exit_codes(tmp_path: Path, name: str, output: str, code: int | None) -> None:
    result = [{"functionResponse": {"id": "call-1", "name": name, "response": {"output": output}}}]
    message = only_message(tmp_path, answer(toolCalls=[{**call(result=result), "name": name}]))
    (told,) = tree.results_in(message)

    assert told.extra.get("exit_code") == code


def test_usage_is_without_the_cache_and_with_reasoning(tmp_path: Path) -> None:
    tokens = {"input": 13283, "output": 21, "cached": 8147, "thoughts": 248, "tool": 7, "total": 13559}
    usage = only_message(tmp_path, answer(tokens=tokens)).usage

    assert usage == Usage(
        input=13283 - 8147 + 7, output=269, cache_read=8147, reasoning=248, total=13559, extra=tokens
    )
    assert usage.total == (usage.input or 0) + (usage.output or 0) + (usage.cache_read or 0)


@pytest.mark.parametrize("tokens", [None, 5, {}, {"input": -1}, {"input": "5", "output": 1}, {"sum": 5}])
def test_what_is_no_count_is_no_usage(tmp_path: Path, tokens: Any) -> None:
    message = only_message(tmp_path, answer(tokens=tokens))

    assert message.usage is None
    assert message.extra == ({} if tokens is None else {"tokens": tokens})


def test_a_message_that_is_written_again_is_replaced_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    first = answer(content="", toolCalls=[call(result=RESULT, status="executing", resultDisplay="old")])
    second = answer(content="Done.", toolCalls=[call(result=RESULT, status="success"), call(id="call-2")])
    read = session(tmp_path, user(), first, second, user("u-2"))
    _, message, _ = tree.messages(read)

    assert tree.plain_text(message) == "Done."
    assert [found.call_id for found in tree.calls_in(message)] == ["call-1", "call-2"]
    kept = {"id": "call-1", "status": "executing", "resultDisplay": "old"}
    assert message.extra == {"$replaced": [{"toolCalls": [kept]}]}


def test_a_message_that_only_grows_leaves_no_trace(tmp_path: Path) -> None:
    thought = {"subject": "a", "description": "b", "timestamp": AT}
    first = answer(content="", thoughts=[thought], tokens=None)
    second = answer(content="", thoughts=[thought, thought], tokens={"output": 1}, toolCalls=[call()])
    (message,) = tree.messages(session(tmp_path, first, second))

    assert message.extra == {}


def test_a_step_back_opens_a_branch(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        user("u-1", "one"),
        answer("g-1", "two"),
        user("u-2", "three"),
        {"$rewindTo": "u-2"},
        user("u-3", "four"),
    )

    assert (read.shape, read.head_id) == ("tree", "u-3")
    assert [
        tree.plain_text(entry) for entry in tree.chain_to(read.timeline, "u-3") if isinstance(entry, Message)
    ] == [
        "one",
        "two",
        "four",
    ]
    assert said(read) == ["one", "two", "three", "four"]


def test_a_step_back_to_nobody_starts_again(tmp_path: Path) -> None:
    notes = Notes()
    path = save_lines(tmp_path, "a.jsonl", [HEAD, user(), answer(), {"$rewindTo": "x"}, user("u-2")])
    (read,) = read_all([str(path)], notes)
    assert isinstance(read, Conversation)

    assert [entry.id for entry in tree.chain_to(read.timeline, "u-2")] == ["u-2"]
    assert [note.kind for note in notes.collected] == [Kind.DANGLING_PARENT.label]


def test_twenty_thousand_steps_back_are_no_matter(tmp_path: Path) -> None:
    lines = [line for n in range(10_000) for line in (user(f"u-{n}"), {"$rewindTo": f"u-{n}"})]
    read = session(tmp_path, *lines, user("last"))

    assert read.head_id == "last"
    assert len(read.timeline) == 20_001


def test_a_replaced_history_goes_on_after_what_was_there(tmp_path: Path) -> None:
    history = [user("s-1", "<state_snapshot>"), answer("g-1", [{"text": "Hi."}])]
    read = session(tmp_path, user(), answer(), {"$set": {"messages": history}}, user("u-2", "More."))

    assert said(read) == ["Hello.", "Hi.", "<state_snapshot>", "More."]
    assert read.shape == "list"
    (event,) = [entry for entry in read.timeline if isinstance(entry, Event)]
    assert (event.name, event.data) == ("$set", {"$set": {"messages": ["s-1", "g-1"]}})


def test_a_message_that_a_replaced_history_left_out_comes_back_as_itself(tmp_path: Path) -> None:
    summed_up = {"$set": {"messages": [user("s-1", "<state_snapshot>")]}}
    read = session(tmp_path, user(), answer(), summed_up, user("u-1", "Hello again."))

    assert [message.id for message in tree.messages(read)] == ["u-1", "g-1", "s-1"]
    assert said(read) == ["Hello again.", "Hi.", "<state_snapshot>"]


def test_an_empty_history_leaves_nothing_to_step_back_to(tmp_path: Path) -> None:
    read = session(tmp_path, user(), user("u-2"), {"$set": {"messages": []}}, {"$rewindTo": "u-2"}, answer())

    assert [entry.id for entry in tree.chain_to(read.timeline, "g-1")] == ["g-1"]


def test_a_long_history_is_replaced_in_no_time(tmp_path: Path) -> None:
    history = [user(f"u-{n}") for n in range(10_000)]
    started = time.process_time()
    read = session(tmp_path, *history, {"$set": {"messages": history}})

    assert time.process_time() - started < 5
    assert len(read.timeline) == 10_001


def test_a_step_back_after_a_replaced_history_goes_by_its_order(tmp_path: Path) -> None:
    history = [user("s-1", "Summary."), user("u-1", "Hello.")]
    read = session(
        tmp_path,
        user(),
        answer(),
        {"$set": {"messages": history}},
        {"$rewindTo": "s-1"},
        user("u-1", "An id of a message that was taken back."),
    )

    assert [message.made_id for message in tree.messages(read)] == [False, False, False, True]


def test_a_call_of_the_models_history_is_not_repeated(tmp_path: Path) -> None:
    content = [
        {
            "functionCall": {"id": "call-1", "name": "read_file", "args": {"file_path": "a.md"}},
            "thoughtSignature": "c2ln",
        }
    ]
    message = only_message(tmp_path, answer(content=content, toolCalls=[call()]))
    (told,) = tree.calls_in(message)

    assert told.extra == {"thoughtSignature": "c2ln", "timestamp": AT}
    assert message.native == content


@pytest.mark.parametrize(
    ("thought", "again"),
    [
        ({"subject": "Heat", "description": "Sixty."}, "**Heat** Sixty."),
        ({"subject": "", "description": "Sixty."}, "Sixty."),
        ({"description": "Sixty."}, "Sixty."),
    ],
)
def test_a_thought_of_a_resumed_session_is_recorded_once(
    tmp_path: Path, thought: dict[str, Any], again: str
) -> None:
    content = [
        {"text": again, "thought": True},
        {"text": "Else.", "thought": True},
        {"text": "Sixty degrees."},
    ]
    message = only_message(tmp_path, answer(content=content, thoughts=[thought]))

    texts = [part.text for part in message.parts if isinstance(part, Reasoning | Text)]
    assert texts == ["Sixty.", "Else.", "Sixty degrees."]
    assert message.native == content


def test_what_a_tool_gave_is_recorded_once(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        user(),
        answer(content="", toolCalls=[call(result=RESULT, status="success")]),
        user("u-2", content=RESULT),
        answer("g-2", content="80."),
    )

    assert [message.id for message in tree.messages(read)] == ["u-1", "g-1", "g-2"]
    event = read.timeline[2]
    assert isinstance(event, Event)
    assert (event.id, event.made_id, event.name, event.at) == ("u-2", False, "functionResponse", AT)
    assert event.data == {"type": "user", "content": ["call-1"]}


def test_what_tools_gave_at_once_is_recorded_once(tmp_path: Path) -> None:
    other = [{"functionResponse": {"id": "call-2", "name": "glob", "response": {"output": "b.md"}}}]
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    whole = [*RESULT, picture, *other]
    for one, two in (([*RESULT, picture], other), (whole, whole)):
        calls = [call(result=one), call(id="call-2", result=two)]
        read = session(tmp_path, answer(content="", toolCalls=calls), user(content=whole), user("u-2"))

        assert [message.id for message in tree.messages(read)] == ["g-1", "u-2"]


def test_output_of_a_tool_without_a_call_is_read(tmp_path: Path) -> None:
    read = session(tmp_path, answer(content="", toolCalls=[call(result=None)]), user(content=RESULT))

    assert [message.id for message in tree.messages(read)] == ["g-1", "u-1"]


def test_a_result_that_differs_from_its_calls_is_an_event_with_its_content(tmp_path: Path) -> None:
    masked = [{"functionResponse": {"id": "call-1", "name": "read_file", "response": {"output": "8…"}}}]
    read = session(tmp_path, answer(content="", toolCalls=[call(result=RESULT)]), user(content=masked))

    assert [message.id for message in tree.messages(read)] == ["g-1"]
    event = read.timeline[1]
    assert isinstance(event, Event)
    assert event.data == {"type": "user", "content": masked}


def test_a_result_next_to_text_is_not_doubled(tmp_path: Path) -> None:
    content = [*RESULT, {"text": "Go on."}]
    read = session(tmp_path, answer(content="", toolCalls=[call(result=RESULT)]), user(content=content))

    _, message = tree.messages(read)
    assert [type(part) for part in message.parts] == [Text]
    assert message.native == content


TOKENS = {"input": 30, "output": 5, "cached": 20, "thoughts": 2, "tool": 0, "total": 37}
LATER = "2026-04-30T08:00:00.000Z"


def resumed(*history: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": [{**record, "timestamp": LATER} for record in history]}}


def answered() -> dict[str, Any]:
    thoughts = [{"subject": "Tea", "description": "Which?", "timestamp": AT}]
    calls = [call(result=RESULT, status="success")]
    return answer(thoughts=thoughts, tokens=TOKENS, model="gemini-3-pro", toolCalls=calls)


def rebuilt(text: str = "Hi.") -> dict[str, Any]:
    asked = {"id": "call-1", "name": "read_file", "args": {"file_path": "a.md"}}
    return answer(
        content=[{"text": "**Tea** Which?", "thought": True}, {"text": text}, {"functionCall": asked}]
    )


def test_a_message_that_a_resume_lists_again_stays_as_it_was(tmp_path: Path) -> None:
    before = session(tmp_path, user(), answered())
    again = user("g-1_response", content=RESULT)
    read = session(tmp_path, user(), answered(), resumed(user(content="Hello."), rebuilt(), again))

    assert [*tree.messages(read)] == [*tree.messages(before)]
    usage = [*tree.messages(read)][1].usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read) == (10, 7, 20)
    event = read.timeline[-1]
    assert isinstance(event, Event)
    assert (event.id, event.data) == ("g-1_response", {"type": "user", "content": ["call-1"]})


def test_a_message_that_a_resume_left_out_first_stays_as_it_was(tmp_path: Path) -> None:
    read = session(
        tmp_path, user(), answered(), HEAD, resumed(user()), resumed(user(), rebuilt()), user("u-2")
    )

    assert [(message.id, message.at) for message in tree.messages(read)] == [
        ("u-1", AT),
        ("g-1", AT),
        ("u-2", AT),
    ]
    assert [*tree.messages(read)][1].model == "gemini-3-pro"


def test_a_listed_message_that_changed_has_its_new_text_and_keeps_what_it_cost(tmp_path: Path) -> None:
    _, message = tree.messages(session(tmp_path, user(), answered(), resumed(user(), rebuilt("Hello."))))

    assert tree.plain_text(message) == "Hello."
    assert [type(part) for part in message.parts] == [Reasoning, Text, ToolCall, ToolResult]
    assert message.usage is not None
    assert message.extra["$replaced"] == [{"content": "Hi."}]


def test_a_call_that_a_listed_message_has_no_longer_is_replaced(tmp_path: Path) -> None:
    (message,) = tree.messages(session(tmp_path, answered(), resumed(answer(content=[{"text": "Bye."}]))))

    assert [type(part) for part in message.parts] == [Reasoning, Text]
    assert message.extra["$replaced"][0]["toolCalls"] == [call(result=RESULT, status="success")]


def test_a_message_taken_back_before_a_resume_stays_taken_back(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        user(),
        answered(),
        user("u-2"),
        {"$rewindTo": "u-2"},
        resumed(user(), rebuilt()),
        user("u-3"),
    )

    path = [
        message.id
        for message in tree.path_to(read.timeline, read.head_id or "")
        if isinstance(message, Message)
    ]
    assert path == ["u-1", "g-1", "u-3"]


def test_an_odd_time_of_a_listed_message_stays_with_the_event(tmp_path: Path) -> None:
    read = session(tmp_path, user(), resumed(user()))

    event = read.timeline[-1]
    assert isinstance(event, Event)
    assert event.data == {"$set": {"messages": [{"id": "u-1", "timestamp": LATER}]}}


def test_a_session_that_ends_with_what_a_tool_gave_ends_with_its_call(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        user("u-0"),
        {"$rewindTo": "u-0"},
        user(),
        answer(content="", toolCalls=[call(result=RESULT)]),
        user("u-2", content=RESULT),
    )

    assert read.head_id == "g-1"


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nToday is Friday.\n</session_context>",
        "<hook_context>Be brief.</hook_context>",
        "Here is the user's editor context as a JSON object. This is for your information only.\n{}",
        "Here is a summary of changes in the user's editor context, in JSON format.\n{}",
        "System: Potential loop detected. Details: the same again.",
        "You have stopped calling tools without finishing. You have one final chance.",
    ],
)
def test_what_the_app_says_in_the_persons_name_is_hidden(tmp_path: Path, text: str) -> None:
    assert only_message(tmp_path, user(content=[{"text": text}])).hidden


def test_what_stands_for_a_history_is_a_summary(tmp_path: Path) -> None:
    snapshot = "<state_snapshot>\n<overall_goal>Tea.</overall_goal>\n</state_snapshot>"
    read = session(tmp_path, user(), {"$set": {"messages": [user("u-2", content=[{"text": snapshot}])]}})

    assert read.summaries == [Summary(text=snapshot, kind="system", at=AT, message_id="u-1")]
    assert [message.hidden for message in tree.messages(read)] == [False, True]


def test_title_and_summary(tmp_path: Path) -> None:
    read = session(tmp_path, user(), {"$set": {"summary": "Draft"}}, {"$set": {"summary": "About tea"}})

    assert read.title == "About tea"
    assert read.summaries == [Summary(text="About tea")]
    assert read.extra["$replaced"] == [{"summary": "Draft"}]


def test_the_model_is_the_first_that_answered(tmp_path: Path) -> None:
    read = session(
        tmp_path, user(), answer("a", model="gemini-2.5-pro"), answer("b", model="gemini-2.5-flash")
    )

    assert read.model == "gemini-2.5-pro"
    assert [message.model for message in tree.messages(read)] == [None, "gemini-2.5-pro", "gemini-2.5-flash"]


def in_project(tmp_path: Path, project: str, *below: str) -> Path:
    folder = tmp_path.joinpath(".gemini", "tmp", project, "chats", *below)
    folder.mkdir(parents=True)
    return folder


def test_the_folder_is_identified_by_a_file_of_the_project(tmp_path: Path) -> None:
    folder = in_project(tmp_path, "tea")
    (folder.parent / ".project_root").write_text(ROOT + "\n", encoding="utf-8")

    assert read_one(save_lines(folder, "session.jsonl", [HEAD, user()])).cwd == ROOT


@pytest.mark.parametrize("project", ["tea", HASH])
def test_the_folder_is_identified_by_the_list_of_projects(tmp_path: Path, project: str) -> None:
    folder = in_project(tmp_path, project)
    save_document(tmp_path / ".gemini", "projects.json", {"projects": {"/x": "x", ROOT: "tea"}})

    assert read_one(save_lines(folder, "session.jsonl", [HEAD, user()])).cwd == ROOT


@pytest.mark.parametrize(
    ("directories", "cwd"), [(["/x", ROOT], ROOT), (["/x"], None), ([5], None), (5, None)]
)
def test_the_folder_is_identified_by_its_hash(tmp_path: Path, directories: Any, cwd: str | None) -> None:
    assert session(tmp_path, user(), {"$set": {"directories": directories}}).cwd == cwd


def test_a_sub_agents_session_is_linked(tmp_path: Path) -> None:
    parent = "5b0c7f3a-1111-4222-8333-000000000099"
    folder = in_project(tmp_path, "tea", parent)
    (folder.parent.parent / ".project_root").write_text(ROOT, encoding="utf-8")
    read = read_one(save_lines(folder, f"{SESSION}.jsonl", [{**HEAD, "kind": "subagent"}, user()]))

    assert read.link == Link(conversation_id=parent, relation="subagent")
    assert (read.cwd, read.extra["kind"]) == (ROOT, "subagent")


def test_a_sub_agents_session_is_linked_to_the_call_that_started_it(tmp_path: Path) -> None:
    parent = "5b0c7f3a-1111-4222-8333-000000000099"
    folder = in_project(tmp_path, "tea", parent)
    lines = [{**HEAD, "sessionId": parent}, answer(toolCalls=[call(agentId=SESSION)])]
    save_lines(folder.parent, f"session-2026-04-29T21-39-{parent[:8]}.jsonl", lines)
    read = read_one(save_lines(folder, f"{SESSION}.jsonl", [HEAD, user()]))

    assert read.link == Link(conversation_id=parent, relation="subagent", message_id="g-1", call_id="call-1")


@pytest.mark.parametrize("path", ["/home/x/.gemini/tmp/y/{}", "C:\\x\\{}"])
@pytest.mark.parametrize(
    "words", ["Showing first 1 characters. For full output see:", "Full output available at:"]
)
def test_an_output_that_was_cut_is_made_whole(tmp_path: Path, words: str, path: str) -> None:
    folder = in_project(tmp_path, "tea")
    saved = folder.parent / "tool-outputs" / "session-1"
    saved.mkdir(parents=True)
    (saved / "a.txt").write_text("All of it.", encoding="utf-8")
    where = path.format("tool-outputs/session-1/a.txt")
    cut = f"Output too large. {words} {where}\nAll"
    result = [{"functionResponse": {"id": "call-1", "name": "read_file", "response": {"output": cut}}}]
    lines = [HEAD, answer(toolCalls=[call(result=result)])]
    (message,) = tree.messages(read_one(save_lines(folder, "session.jsonl", lines)))
    (told,) = tree.results_in(message)

    assert (told.output, told.extra["cut_output"], told.native) == ("All of it.", cut, result)


@pytest.mark.parametrize("path", ["/tool-outputs/s/none.txt", "/etc/passwd", "/tool-outputs/../secret.txt"])
def test_an_output_that_is_not_there_stays_cut(tmp_path: Path, path: str) -> None:
    folder = in_project(tmp_path, "tea")
    (folder.parent / "secret.txt").write_text("secret", encoding="utf-8")
    (folder.parent / "tool-outputs").mkdir()
    cut = f"Output too large. Full output available at: {path}"
    result = [{"functionResponse": {"id": "call-1", "name": "read_file", "response": {"output": cut}}}]
    lines = [HEAD, answer(toolCalls=[call(result=result)])]
    (message,) = tree.messages(read_one(save_lines(folder, "session.jsonl", lines)))

    assert [told.output for told in tree.results_in(message)] == [cut]


def test_a_document_that_went_on_as_a_log_is_read_there(tmp_path: Path) -> None:
    save_document(tmp_path, "session-a.json", {**HEAD, "messages": [user()]})
    save_lines(tmp_path, "session-a.jsonl", [HEAD, user(), user("u-2", "More.")])
    notes = Notes()
    (read,) = read_all([str(tmp_path)], notes)
    assert isinstance(read, Conversation)

    assert said(read) == ["Hello.", "More."]
    assert [note.kind for note in notes.collected] == [Kind.IGNORED_FILE.label]


def test_prompts_are_conversations_of_their_sessions(tmp_path: Path) -> None:
    prompts = [
        {"sessionId": name, "messageId": n, "type": "user", "message": f"{name}{n}", "timestamp": AT}
        for name, n in (("a", 0), ("b", 0), ("a", 1))
    ]
    first, second = read_all([str(save_document(tmp_path, "logs.json", prompts))], Notes())
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)

    assert [(first.id, said(first)), (second.id, said(second))] == [("a", ["a0", "a1"]), ("b", ["b0"])]


@pytest.mark.parametrize("is_bare", [True, False])
def test_saved_chats(tmp_path: Path, is_bare: bool) -> None:
    history = [{"role": "user", "parts": [{"text": "Tea?"}]}, {"role": "model", "parts": [{"text": "Yes."}]}]
    saved = history if is_bare else {"history": history, "authType": "oauth"}
    read = read_one(save_document(tmp_path, "checkpoint-green%20tea.json", saved))

    assert read.title == "green tea"
    assert [(message.role, tree.plain_text(message)) for message in tree.messages(read)] == [
        ("user", "Tea?"),
        ("assistant", "Yes."),
    ]
    assert read.extra == ({} if is_bare else {"authType": "oauth"})


# What a verifiable agent record takes from a session, rule by rule.


def record(tmp_path: Path, *lines: Any) -> dict[str, Any]:
    written = converted(save_lines(tmp_path, "session.jsonl", [HEAD, *lines]), "agent-record").only
    assert isinstance(written, dict)
    return written


def test_record_wrapper(tmp_path: Path) -> None:
    written = record(tmp_path, user(), answer(model="gemini-3-flash"))

    assert written["session"]["session-id"] == SESSION
    assert written["session"]["session-start"] == HEAD["startTime"]
    assert written["session"]["agent-meta"] == {
        "model-id": "gemini-3-flash",
        "model-provider": "google",
        "cli-name": "gemini-cli",
    }


@pytest.mark.parametrize("content", ["Hi.", "", [{"text": "Hi."}, {"text": "again"}]], ids=str)
def test_record_has_content_as_it_is(tmp_path: Path, content: Any) -> None:
    thought = {"subject": "Tea", "description": "Hm.", "timestamp": AT}
    written = record(tmp_path, answer(content=content, thoughts=[thought], toolCalls=[call()]))
    (entry,) = written["session"]["entries"]

    assert (entry["type"], entry["id"], entry["timestamp"]) == ("assistant", "g-1", AT)
    assert entry["content"] == content


def test_record_has_thoughts_then_calls_each_with_its_result(tmp_path: Path) -> None:
    thought = {"subject": "Tea", "description": "Hm.", "timestamp": AT}
    calls = [call(result=RESULT, status="success"), call(id="call-2", result=RESULT, status="error")]
    (entry,) = record(tmp_path, answer(thoughts=[thought], toolCalls=calls))["session"]["entries"]

    assert [(child["type"], child.get("call-id"), child.get("status")) for child in entry["children"]] == [
        ("reasoning", None, None),
        ("tool-call", "call-1", None),
        ("tool-result", "call-1", "success"),
        ("tool-call", "call-2", None),
        ("tool-result", "call-2", "error"),
    ]
    assert entry["children"][0]["content"] == "Hm."
    assert entry["children"][2]["output"] == RESULT
    assert entry["children"][1]["input"] == {"file_path": "a.md"}


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        ([HEAD], "log"),
        ([{name: HEAD[name] for name in ("sessionId", "startTime", "lastUpdated")}, user()], "log"),
        ([answer()], "log"),
        ([{"$set": {"lastUpdated": AT}}, user()], "log"),
        ([{**HEAD, "messages": [user()]}], "document"),
        ([{"lastUpdated": AT, "messages": [answer()]}], "document"),
        ([{**HEAD, "messages": [{**user(), "type": "qwen"}]}], None),
        ([HEAD, {**user(), "type": "qwen"}], None),
        ([{"sessionId": "s", "startTime": AT, "chatMessages": []}], None),
        (
            [{"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"parts": []}}],
            None,
        ),
        ([user()], None),
        ([{"$set": {"name": "x"}}], None),
        ([{"history": [{"message": {"role": "user"}}], "sessionId": "s"}], None),
    ],
)
def test_detection(lines: list[Any], version: str | None) -> None:
    data = "\n".join(map(json.dumps, lines)).encode()

    assert gemini_cli.sniff(Peek(Bytes(data))) == version
    claimed = [reader.INFO.name for reader, _ in readers.claims(Peek(Bytes(data)))]
    assert version is None or claimed == ["gemini-cli"]


def test_a_long_first_message_does_not_hide_what_it_is() -> None:
    document = {**HEAD, "messages": [user(content="x" * 200_000), answer()]}
    last = {"messages": [answer(content="x" * 100), user(content="x" * 200_000)], **HEAD}

    assert gemini_cli.sniff(Peek(Bytes(json.dumps(document).encode()))) == "document"
    assert gemini_cli.sniff(Peek(Bytes(json.dumps(last, indent=2).encode()))) == "document"


def test_the_good_part_of_a_broken_document_is_read(tmp_path: Path) -> None:
    whole = json.dumps({**HEAD, "messages": [user(f"u-{n}", "x" * 30_000) for n in range(5)]})
    path = tmp_path / "session.json"
    path.write_text(whole.replace('"id": "u-3", ', '"id": ', 1), encoding="utf-8")
    notes = Notes()
    (read,) = read_all([str(path)], notes)
    assert isinstance(read, Conversation)

    assert [entry.id for entry in read.timeline] == ["u-0", "u-1", "u-2", "u-4"]
    assert read.id == SESSION
    assert notes.damaged


def test_a_file_without_any_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"x":1}\n', encoding="utf-8")
    notes = Notes()
    assert not list(read_all([str(path)], notes, "gemini-cli"))

    assert [note.kind for note in notes.collected] == [
        Kind.UNKNOWN_TYPE.label,
        Kind.UNREADABLE_FILE.label,
    ]
