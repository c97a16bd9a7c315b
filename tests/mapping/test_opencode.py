"""OpenCode into the model and into agent records: each rule for its records is one check."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import open_input
from agent_journal.model import (
    Conversation,
    Event,
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
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import opencode
from tests.inline import converted, read_one, save_document, save_lines
from tests.memory_source import Bytes

SESSION = "ses_01"
NOW = 1771000000000
AT = "2026-02-13T16:26:40.000Z"
INFO: dict[str, Any] = {
    "id": SESSION,
    "slug": "calm-kettle",
    "version": "1.1.53",
    "projectID": "prj_1",
    "directory": "/home/ana/tea",
    "title": "Tea",
    "time": {"created": NOW, "updated": NOW + 9000},
}
TOKENS = {"input": 12, "output": 50, "reasoning": 30, "cache": {"read": 9000, "write": 200}}
TABLES = """
CREATE TABLE session (id text, project_id text, parent_id text, fork_session_id text, fork_message_id text,
  directory text, title text, version text, share_url text, revert text, model text,
  time_created integer, time_updated integer, time_archived integer);
CREATE TABLE message (id text, session_id text, time_created integer, data text);
CREATE TABLE part (id text, message_id text, session_id text, data text);
CREATE TABLE session_message (id text, session_id text, type text, seq integer, time_created integer,
  data text);
CREATE TABLE session_input (id text, session_id text, prompt text, delivery text, admitted_seq integer,
  promoted_seq integer, time_created integer);
CREATE TABLE todo (session_id text, content text, status text, position integer);
"""


def user(identity: str = "msg_1", **more: Any) -> dict[str, Any]:
    return {"id": identity, "sessionID": SESSION, "role": "user", "time": {"created": NOW}, **more}


def answer(identity: str = "msg_2", **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "sessionID": SESSION,
        "role": "assistant",
        "time": {"created": NOW, "completed": NOW + 5},
        "parentID": "msg_1",
        "modelID": "claude-opus-4-6",
        "providerID": "anthropic",
        "path": {"cwd": "/home/ana/tea", "root": "/home/ana"},
        **more,
    }


def part(kind: str, message: str = "msg_2", identity: str = "prt_1", **more: Any) -> dict[str, Any]:
    return {"id": identity, "sessionID": SESSION, "messageID": message, "type": kind, **more}


def tool(**state: Any) -> dict[str, Any]:
    return part("tool", callID="call_1", tool="bash", state=state)


def exported(tmp_path: Path, *messages: tuple[dict[str, Any], list[Any]], **info: Any) -> Conversation:
    found = [{"info": message, "parts": parts} for message, parts in messages]
    return read_one(save_document(tmp_path, "export.json", {"info": {**INFO, **info}, "messages": found}))


def entries_of(tmp_path: Path, *parts: Any) -> list[Message | Event]:
    return exported(tmp_path, (answer(), list(parts))).timeline


def parts_of(tmp_path: Path, *parts: Any) -> list[Part]:
    (message,) = [entry for entry in entries_of(tmp_path, *parts) if isinstance(entry, Message)]
    return message.parts


def made(path: Path, **tables: list[dict[str, Any]]) -> Path:
    """A database with these rows; columns that are no text or number are JSON."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        for table, rows in tables.items():
            for row in rows:
                values = [
                    json.dumps(value) if isinstance(value, dict | list) else value for value in row.values()
                ]
                marks = ", ".join("?" * len(row))
                database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", values)  # noqa: S608
        database.commit()
    return path


def session_row(identity: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "project_id": "prj_1",
        "directory": "/home/ana/tea",
        "title": "Tea",
        "version": "1.1.53",
        "time_created": NOW,
        "time_updated": NOW + 9000,
        **more,
    }


def newer_row(kind: str, session: str = SESSION, seq: int = 1, **data: Any) -> dict[str, Any]:
    stored = {"time": {"created": NOW}, **data}
    return {
        "id": f"msg_{seq}",
        "session_id": session,
        "type": kind,
        "seq": seq,
        "time_created": NOW,
        "data": stored,
    }


def newer(tmp_path: Path, kind: str, **data: Any) -> Message | Event:
    rows = {"session": [session_row()], "session_message": [newer_row(kind, **data)]}
    (entry,) = read_one(made(tmp_path / "opencode.db", **rows)).timeline
    return entry


def test_a_session_has_id_title_folder_version_and_times(tmp_path: Path) -> None:
    read = exported(tmp_path, (user(), []))

    assert (read.id, read.source, read.title) == (SESSION, "opencode", "Tea")
    assert (read.cwd, read.app_version) == ("/home/ana/tea", "1.1.53")
    assert (read.started_at, read.updated_at) == (AT, "2026-02-13T16:26:49.000Z")
    assert read.extra == {"slug": "calm-kettle", "projectID": "prj_1"}
    assert read.shape == "list"


def test_the_secret_of_a_shared_session_is_dropped(tmp_path: Path) -> None:
    share = {"url": "https://opncd.ai/share/x", "secret": "s"}

    assert exported(tmp_path, (user(), []), share=share).extra["share"] == {"url": "https://opncd.ai/share/x"}


def test_an_archived_session_is_one(tmp_path: Path) -> None:
    assert exported(tmp_path, (user(), []), time={"created": NOW, "archived": NOW}).archived is True


def test_a_message_has_role_time_and_model(tmp_path: Path) -> None:
    read = exported(tmp_path, (user(model={"modelID": "x"}), []), (answer(finish="stop"), []))
    asked, answered = tree.messages(read)

    assert (asked.id, asked.role, asked.at, asked.model) == ("msg_1", "user", AT, None)
    assert (answered.role, answered.model, answered.stop_reason) == ("assistant", "claude-opus-4-6", "stop")
    assert asked.extra == {"model": {"modelID": "x"}}
    assert answered.extra["parentID"] == "msg_1"
    assert answered.extra["time"] == {"completed": NOW + 5}
    assert read.model == "claude-opus-4-6"


def test_usage_has_reasoning_in_its_output_and_no_cache_in_its_input(tmp_path: Path) -> None:
    (message,) = tree.messages(exported(tmp_path, (answer(tokens=TOKENS, cost=0.0125), [])))

    assert message.usage == Usage(
        key="2026-02-13T16:26:40.000Z:claude-opus-4-6:12:50:30:9000:200",  # a fork has other ids
        input=12,
        output=80,
        cache_read=9000,
        cache_write=200,
        reasoning=30,
        cost_usd=0.0125,
        extra=TOKENS,
    )


def test_steps_repeat_the_counts_and_are_not_counted(tmp_path: Path) -> None:
    finish = part("step-finish", reason="stop", cost=0.0125, tokens=TOKENS)
    read = exported(tmp_path, (answer(tokens=TOKENS, cost=0.0125), [finish]))

    assert [usage.output for usage in tree.usages(read.timeline)] == [80]


@pytest.mark.parametrize("tokens", [5, {"input": -1}, {"cache": 5}, {"output": "5"}, {"input": 0.5}])
def test_what_is_no_count_is_no_usage(tmp_path: Path, tokens: Any) -> None:
    (message,) = tree.messages(exported(tmp_path, (answer(tokens=tokens), [])))

    assert message.usage is None
    assert message.extra["tokens"] == tokens


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (part("text", text="Hi."), Text(text="Hi.", extra={"id": "prt_1"})),
        (
            part("text", text="Hi.", synthetic=True),
            Text(text="Hi.", extra={"id": "prt_1", "synthetic": True}),
        ),
        (
            part("reasoning", text="Hm.", metadata={"anthropic": {"signature": "c2ln"}}),
            Reasoning(text="Hm.", signature="c2ln", extra={"id": "prt_1"}),
        ),
        (
            part(
                "reasoning", text="", metadata={"openai": {"reasoningEncryptedContent": "gAA", "itemId": "r"}}
            ),
            Reasoning(encrypted="gAA", extra={"id": "prt_1", "metadata": {"openai": {"itemId": "r"}}}),
        ),
        (
            part("file", mime="image/png", filename="a.png", url="data:image/png;base64,aGk="),
            Media(kind="image", mime="image/png", name="a.png", data="aGk=", extra={"id": "prt_1"}),
        ),
        (
            part("file", mime="text/plain", url="file:///a.txt"),
            Media(kind="file", mime="text/plain", ref="file:///a.txt", extra={"id": "prt_1"}),
        ),
        (part("agent", name="plan"), Other(data={"id": "prt_1", "name": "plan"}, name="agent")),
        (
            part("subtask", prompt="Go.", agent="a"),
            Text(text="Go.", extra={"id": "prt_1", "type": "subtask", "agent": "a"}),
        ),
        (
            part("tomorrow", x=1),
            Other(data={"id": "prt_1", "type": "tomorrow", "x": 1}, name="tomorrow"),
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_parts(tmp_path: Path, raw: dict[str, Any], expected: Part) -> None:
    assert parts_of(tmp_path, raw) == [expected]


@pytest.mark.parametrize("kind", ["step-start", "step-finish", "snapshot", "patch", "retry", "compaction"])
def test_what_happened_is_an_event(tmp_path: Path, kind: str) -> None:
    first, second = entries_of(tmp_path, part(kind, snapshot="5aa"))

    assert first == Event(id="prt_1", name=kind, data={"messageID": "msg_2", "snapshot": "5aa"})
    assert isinstance(second, Message)


def test_events_come_before_and_after_content(tmp_path: Path) -> None:
    found = entries_of(
        tmp_path, part("step-start"), part("text", text="Hi."), part("step-finish", identity="prt_2")
    )

    assert [entry.id for entry in found] == ["prt_1", "msg_2", "prt_2"]


@pytest.mark.parametrize(
    ("state", "output", "is_error", "code"),
    [
        ({"status": "completed", "output": "a", "metadata": {"exit": 0}}, "a", False, 0),
        ({"status": "completed", "output": "a", "metadata": {"exit": 2}}, "a", False, 2),
        ({"status": "error", "error": "no"}, "no", True, None),
        ({"status": "success", "output": "a"}, "a", False, None),
    ],
    ids=str,
)
def test_results(tmp_path: Path, state: Any, output: str, is_error: bool, code: int | None) -> None:
    call, result = parts_of(tmp_path, tool(input={"command": "ls"}, **state))

    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (call.name, call.call_id, call.input, call.kind) == ("bash", "call_1", {"command": "ls"}, "shell")
    assert (result.call_id, result.output, result.is_error) == ("call_1", output, is_error)
    assert result.extra.get("exit_code") == code
    assert result.extra["status"] == state["status"]


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_call_that_runs_has_no_result(tmp_path: Path, status: str) -> None:
    (call,) = parts_of(tmp_path, tool(status=status, input={}))

    assert isinstance(call, ToolCall)
    assert call.extra["state"] == {"status": status}


def test_attachments_of_a_result_are_part_of_it(tmp_path: Path) -> None:
    attached = {"mime": "image/png", "url": "data:image/png;base64,aGk="}
    _, result = parts_of(tmp_path, tool(status="completed", input={}, output="Read.", attachments=[attached]))

    assert isinstance(result, ToolResult)
    assert result.output == [Text(text="Read."), Media(kind="image", mime="image/png", data="aGk=")]


@pytest.mark.parametrize(
    "error",
    [
        {"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}},
        {"type": "provider", "message": "Overloaded"},
    ],
)
def test_the_error_of_a_failed_answer_is_read(tmp_path: Path, error: dict[str, Any]) -> None:
    item = exported(tmp_path, (user(), []), (answer(error=error), []))
    said = item.timeline[-1]

    assert isinstance(said, Message)
    assert [Text(text="Overloaded", extra={"type": "error"})] == said.parts


def test_an_abort_by_the_user_is_not_an_error(tmp_path: Path) -> None:
    aborted = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
    item = exported(tmp_path, (user(), []), (answer(error=aborted), []))
    said = item.timeline[-1]

    assert isinstance(said, Message)
    assert [] == said.parts
    assert aborted == said.extra["error"]


def test_what_the_app_says_in_the_persons_name_is_hidden(tmp_path: Path) -> None:
    injected, typed = tree.messages(
        exported(
            tmp_path,
            (user("msg_1"), [part("text", "msg_1", text="Go on.", synthetic=True)]),
            (
                user("msg_2"),
                [part("text", text="Mine."), part("text", identity="prt_2", text="x", synthetic=True)],
            ),
        )
    )

    assert (injected.hidden, typed.hidden) == (True, False)
    assert tree.plain_text(typed) == "Mine."
    assert [part.injected for part in typed.parts if isinstance(part, Text)] == [False, True]


def test_a_summary_takes_the_place_of_what_came_before(tmp_path: Path) -> None:
    read = exported(tmp_path, (user(), []), (answer(summary=True), [part("text", text="All of it.")]))

    assert read.summaries == [Summary(text="All of it.", kind="system", at=AT, message_id="msg_1")]


def test_what_was_taken_back_is_on_another_branch(tmp_path: Path) -> None:
    read = exported(
        tmp_path,
        (user("msg_1"), []),
        (answer("msg_2"), []),
        (user("msg_3"), []),
        revert={"messageID": "msg_2"},
    )

    assert (read.shape, read.head_id) == ("tree", "msg_1")
    assert [entry.parent_id for entry in read.timeline] == [None, "msg_1", "msg_2"]


def test_a_message_of_which_only_parts_were_taken_back_is_seen(tmp_path: Path) -> None:
    read = exported(
        tmp_path, (user("msg_1"), []), (answer("msg_2"), []), revert={"messageID": "msg_2", "partID": "prt_1"}
    )

    assert read.head_id == "msg_2"


def test_duplicate_ids_become_unique(tmp_path: Path) -> None:
    first, second = tree.messages(exported(tmp_path, (answer(), []), (answer(), [])))

    assert (first.id, second.made_id, second.extra["id"]) == ("msg_2", True, "msg_2")


# The database.


def test_rows_of_the_first_store(tmp_path: Path) -> None:
    path = made(
        tmp_path / "any.name",
        session=[session_row(share_url="https://opncd.ai/share/x", time_archived=NOW)],
        message=[
            {"id": "msg_2", "session_id": SESSION, "time_created": NOW + 1, "data": {"role": "assistant"}},
            {"id": "msg_1", "session_id": SESSION, "time_created": NOW, "data": {"role": "user"}},
        ],
        part=[
            {
                "id": f"prt_{n}",
                "message_id": "msg_2",
                "session_id": SESSION,
                "data": {"type": "text", "text": text},
            }
            for n, text in ((2, "second"), (1, "first"))
        ],
        todo=[{"session_id": SESSION, "content": "Steep", "status": "pending", "position": 0}],
    )
    read = read_one(path)
    asked, answered = tree.messages(read)

    assert (asked.id, asked.at, answered.id) == ("msg_1", AT, "msg_2")
    assert tree.plain_text(answered) == "first\nsecond"
    assert (read.cwd, read.archived, read.started_at) == ("/home/ana/tea", True, AT)
    assert read.extra["share_url"] == "https://opncd.ai/share/x"
    assert read.extra["todo"] == [{"content": "Steep", "status": "pending", "position": 0}]


def test_a_child_is_linked_to_the_call_that_started_it(tmp_path: Path) -> None:
    state = {"status": "completed", "input": {}, "output": "", "metadata": {"sessionId": "ses_02"}}
    child = session_row("ses_02", parent_id=SESSION, time_created=NOW + 1)
    path = made(
        tmp_path / "opencode.db",
        session=[child, session_row()],
        message=[{"id": "msg_1", "session_id": SESSION, "time_created": NOW, "data": {"role": "assistant"}}],
        part=[
            {
                "id": "prt_1",
                "message_id": "msg_1",
                "session_id": SESSION,
                "data": {"type": "tool", "tool": "task", "callID": "call_9", "state": state},
            }
        ],
    )
    _, read = read_all([str(path)], Notes())
    assert isinstance(read, Conversation)

    assert read.link == Link(
        conversation_id=SESSION, relation="subagent", message_id="msg_1", call_id="call_9"
    )


def test_a_fork_is_linked_to_where_it_was_forked(tmp_path: Path) -> None:
    row = session_row(fork_session_id="ses_00", fork_message_id="msg_0")

    assert read_one(made(tmp_path / "opencode.db", session=[row])).link == Link(
        conversation_id="ses_00", relation="fork", message_id="msg_0"
    )


@pytest.mark.parametrize(
    ("kind", "role", "hidden"),
    [
        ("user", "user", False),
        ("synthetic", "user", True),
        ("system", "system", False),
        ("skill", "system", False),
    ],
)
def test_newer_texts(tmp_path: Path, kind: str, role: str, hidden: bool) -> None:
    entry = newer(tmp_path, kind, text="Hi.")

    assert isinstance(entry, Message)
    assert (entry.role, entry.hidden, entry.parts, entry.at) == (role, hidden, [Text(text="Hi.")], AT)


def test_waiting_prompts_are_read(tmp_path: Path) -> None:
    def waiting(identity: str, seq: int, promoted: int | None, prompt: Any) -> dict[str, Any]:
        row = {"id": identity, "session_id": SESSION, "prompt": prompt, "delivery": "queue"}
        return {**row, "admitted_seq": seq, "promoted_seq": promoted, "time_created": NOW + seq}

    rows = {
        "session": [session_row()],
        "session_message": [newer_row("user", text="Hi.")],
        "session_input": [
            waiting("msg_1", 0, 1, {"text": "Hi."}),
            waiting("msg_9", 3, None, {"text": "And milk?"}),
            waiting("msg_8", 2, None, {"text": "Which tea?"}),
            waiting("msg_7", 4, None, "no prompt"),
        ],
    }
    read = read_one(made(tmp_path / "opencode.db", **rows))

    said = [(message.id, message.role, tree.plain_text(message)) for message in tree.messages(read)]
    assert said == [("msg_1", "user", "Hi."), ("msg_8", "user", "Which tea?"), ("msg_9", "user", "And milk?")]
    assert read.timeline[-1].extra == {"delivery": "queue"}  # type: ignore[union-attr] # a message


@pytest.mark.parametrize(
    ("metadata", "thought"),
    [
        ({"anthropic": {"signature": "c2ln"}}, Reasoning(text="Hm.", signature="c2ln")),
        ({"openai": {"reasoningEncryptedContent": "gAA"}}, Reasoning(text="Hm.", encrypted="gAA")),
    ],
)
def test_newer_thoughts(tmp_path: Path, metadata: dict[str, Any], thought: Reasoning) -> None:
    content = [{"type": "reasoning", "text": "Hm.", "providerMetadata": metadata}]
    entry = newer(tmp_path, "assistant", content=content)

    assert isinstance(entry, Message)
    assert entry.parts == [thought]


def test_newer_answers(tmp_path: Path) -> None:
    state = {"status": "completed", "input": {"a": 1}, "content": [{"type": "text", "text": "out"}]}
    entry = newer(
        tmp_path,
        "assistant",
        model={"id": "m-1", "providerID": "p"},
        finish="stop",
        cost=1,
        tokens=TOKENS,
        content=[
            {"type": "reasoning", "text": "Hm."},
            {"type": "text", "text": "Hi."},
            {"type": "tool", "id": "c", "name": "grep", "state": state},
            {
                "type": "tool",
                "id": "d",
                "name": "bash",
                "state": {"status": "error", "error": {"message": "no"}},
            },
        ],
    )

    assert isinstance(entry, Message)
    assert (entry.model, entry.stop_reason) == ("m-1", "stop")
    assert entry.usage is not None
    assert (entry.usage.output, entry.usage.cost_usd) == (80, 1.0)
    assert entry.parts == [
        Reasoning(text="Hm."),
        Text(text="Hi."),
        ToolCall(name="grep", call_id="c", input={"a": 1}, kind="search"),
        ToolResult(call_id="c", name="grep", output="out", is_error=False, extra={"status": "completed"}),
        ToolCall(name="bash", call_id="d", kind="shell"),
        ToolResult(call_id="d", name="bash", output="no", is_error=True, extra={"status": "error"}),
    ]


def test_a_command_of_the_person_is_hers(tmp_path: Path) -> None:
    entry = newer(tmp_path, "shell", shellID="s", command="ls", exit=2, output="no")

    assert isinstance(entry, Message)
    assert entry.role == "user"
    assert entry.parts == [
        ToolCall(name="shell", call_id="s", input={"command": "ls"}, kind="shell"),
        ToolResult(call_id="s", name="shell", output="no", is_error=True, extra={"exit_code": 2}),
    ]


@pytest.mark.parametrize("kind", ["agent-switched", "model-switched", "location-switched", "idle"])
def test_newer_events(tmp_path: Path, kind: str) -> None:
    assert newer(tmp_path, kind, x=1) == Event(id="msg_1", name=kind, at=AT, data={"x": 1})


def test_newer_compactions_are_summaries(tmp_path: Path) -> None:
    rows = [
        newer_row("user", text="Hi."),
        newer_row("compaction", seq=2, summary="All of it.", reason="auto"),
    ]
    read = read_one(made(tmp_path / "opencode.db", session=[session_row()], session_message=rows))

    assert read.summaries == [Summary(text="All of it.", kind="system", at=AT, message_id="msg_1")]


@pytest.mark.parametrize(("later", "said"), [(0, "older"), (1, "newer")])
def test_of_two_stores_the_one_that_goes_further_is_read(tmp_path: Path, later: int, said: str) -> None:
    path = made(
        tmp_path / "opencode.db",
        session=[session_row()],
        message=[{"id": "m", "session_id": SESSION, "time_created": NOW, "data": {"role": "user"}}],
        part=[
            {"id": "p", "message_id": "m", "session_id": SESSION, "data": {"type": "text", "text": "older"}}
        ],
        session_message=[{**newer_row("user", text="newer"), "time_created": NOW + later}],
    )
    notes = Notes()
    (read,) = read_all([str(path)], notes)
    assert isinstance(read, Conversation)

    assert [tree.plain_text(message) for message in tree.messages(read)] == [said]
    assert [note.kind for note in notes.collected] == [Kind.REPEATED_RECORD.label]


def test_what_the_first_store_has_from_before_the_second_began_is_read_too(tmp_path: Path) -> None:
    said = {"m_1": ("user", "Tea?"), "m_2": ("assistant", "Gladly."), "m_3": ("user", "Sugar?")}
    path = made(
        tmp_path / "opencode.db",
        session=[session_row()],
        message=[
            {"id": name, "session_id": SESSION, "time_created": NOW - 3 + place, "data": {"role": role}}
            for place, (name, (role, _)) in enumerate(said.items())
        ],
        part=[
            {
                "id": f"p{name}",
                "message_id": name,
                "session_id": SESSION,
                "data": {"type": "text", "text": text},
            }
            for name, (_, text) in said.items()
        ],
        session_message=[
            {**newer_row("user", text="Sugar?"), "id": "m_3"},
            newer_row("model-switched", seq=2),
        ],
    )
    read = read_one(path)

    assert [entry.id for entry in read.timeline] == ["m_1", "m_2", "m_3", "msg_2"]
    assert [tree.plain_text(message) for message in tree.messages(read)] == ["Tea?", "Gladly.", "Sugar?"]


def test_the_rows_of_the_write_ahead_log_are_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    made(path, session=[session_row()])
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("PRAGMA journal_mode=WAL")
        writing.execute("INSERT INTO session (id, directory, time_created) VALUES ('ses_02', '/x', 1)")
        writing.commit()
        read = list(read_all([str(path)], Notes()))

    assert [item.id for item in read] == ["ses_02", SESSION]


# Files, exports, streams.


def storage(tmp_path: Path, *records: dict[str, Any]) -> Path:
    root = tmp_path / "storage"
    for record in records:
        if "messageID" in record:
            folder = root / "part" / record["messageID"]
        elif "role" in record:
            folder = root / "message" / record["sessionID"]
        else:
            folder = root / "session" / record["projectID"]
        folder.mkdir(parents=True, exist_ok=True)
        save_document(folder, f"{record['id']}.json", record)
    return root


RECORDS = (INFO, user(), part("text", "msg_1", text="Hi."), answer(), part("step-start"))


def test_files_streams_and_exports_of_one_session_are_equal(tmp_path: Path) -> None:
    files = read_one(storage(tmp_path, *RECORDS))
    lines = read_one(save_lines(tmp_path, "lines.jsonl", reversed(RECORDS)))
    indented = tmp_path / "indented.json"
    indented.write_text("".join(json.dumps(record, indent=2) for record in RECORDS), encoding="utf-8")
    export = exported(tmp_path, (RECORDS[1], [RECORDS[2]]), (RECORDS[3], [RECORDS[4]]))

    assert files.timeline == lines.timeline == export.timeline == read_one(indented).timeline
    assert files.extra == lines.extra == export.extra


def test_files_that_are_in_the_database_too_are_read_there(tmp_path: Path) -> None:
    storage(tmp_path, *RECORDS)
    made(tmp_path / "opencode.db", session=[session_row()])
    notes = Notes()
    (read,) = read_all([str(tmp_path)], notes)
    assert isinstance(read, Conversation)

    assert read.timeline == []
    assert [note.kind for note in notes.collected] == [Kind.IGNORED_FILE.label]


def test_events_of_a_run_state_what_a_message_would(tmp_path: Path) -> None:
    finish = part("step-finish", identity="prt_2", reason="stop", cost=0.5, tokens=TOKENS)
    events = [
        {"type": kind, "timestamp": NOW, "sessionID": SESSION, "part": raw}
        for kind, raw in (("text", part("text", text="Hi.")), ("step_finish", finish))
    ]
    (message,) = tree.messages(read_one(save_lines(tmp_path, "run.jsonl", events)))

    assert (message.id, message.at, message.stop_reason) == ("msg_2", AT, "stop")
    assert message.usage is not None
    assert (message.usage.output, message.usage.cost_usd) == (80, 0.5)


def test_a_record_that_came_again_is_the_newer_one(tmp_path: Path) -> None:
    records = [*RECORDS, part("text", "msg_1", text="Hello.")]
    message, _ = tree.messages(read_one(save_lines(tmp_path, "lines.jsonl", records)))
    (said,) = message.parts

    assert isinstance(said, Text)
    assert (said.text, said.extra["$replaced"]) == ("Hello.", [part("text", "msg_1", text="Hi.")])


# What a verifiable agent record takes from a session.


def test_record(tmp_path: Path) -> None:
    finish = part("step-finish", identity="prt_3", reason="stop")
    lines = [*RECORDS[:4], part("step-start"), part("text", identity="prt_2", text="Yes."), finish]
    written = converted(save_lines(tmp_path, "lines.jsonl", lines), "agent-record").only
    session = written["session"]

    assert session["session-id"] == SESSION
    assert session["session-start"] == AT
    assert session["environment"] == {"working-dir": "/home/ana/tea"}
    assert session["agent-meta"] == {
        "model-id": "claude-opus-4-6",
        "model-provider": "anthropic",
        "cli-name": "opencode",
        "cli-version": "1.1.53",
    }
    assert session["entries"] == [
        {"type": "user", "content": "Hi.", "id": "prt_1"},
        {"type": "user", "timestamp": AT},
        {"type": "system-event", "event-type": "step-start"},
        {"type": "assistant", "content": "Yes.", "id": "prt_2"},
        {"type": "system-event", "event-type": "step-finish"},
        {"type": "assistant", "timestamp": AT},
    ]


def test_record_has_calls_with_their_results(tmp_path: Path) -> None:
    lines = [*RECORDS[:4], tool(status="error", input={"command": "ls"}, error="no")]
    written = converted(save_lines(tmp_path, "lines.jsonl", lines), "agent-record").only

    assert written["session"]["entries"][2:4] == [
        {
            "type": "tool-call",
            "name": "bash",
            "input": {"command": "ls"},
            "id": "prt_1",
            "call-id": "call_1",
        },
        {"type": "tool-result", "call-id": "call_1", "output": "no", "status": "error"},
    ]


# How it is told from others.


@pytest.mark.parametrize(
    ("records", "version"),
    [
        (RECORDS, "stream"),
        (RECORDS[1:], "stream"),
        ([{"id": "x", "secret": "s", "url": "u"}, *RECORDS], "stream"),
        ([{"id": "x", "worktree": "/", "time": {}}, *RECORDS], "stream"),
        ([{"info": INFO, "messages": []}], "export"),
        ([{"info": INFO, "messages": [{"info": user(), "parts": []}]}], "export"),
        ([user()], None),
        ([part("text", text="alone")], None),
        ([INFO], None),
        ([{"info": {"id": "x"}, "messages": [{"role": "user"}]}], None),
        ([{"info": {}, "messages": []}], None),
        ([{"sessionID": "a"}, {"sessionID": "b"}], None),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_detection(records: list[Any], version: str | None, indent: int | None) -> None:
    data = "\n".join(json.dumps(record, indent=indent) for record in records).encode()

    assert opencode.sniff(Peek(Bytes(data))) == version
    claimed = [reader.INFO.name for reader, _ in readers.claims(Peek(Bytes(data)))]
    assert version is None or claimed == ["opencode"]


def test_databases_of_other_programs_are_not_claimed(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE session (id); CREATE TABLE message (id); CREATE TABLE part (id);"
        )

    assert opencode.sniff(Peek(open_input(str(path)))) is None


def test_folders_that_only_have_the_names_are_not_claimed(tmp_path: Path) -> None:
    for name in ("session", "message", "part"):
        (tmp_path / name).mkdir()
        save_document(tmp_path / name, "a.json", {"name": name})

    assert opencode.sniff(Peek(open_input(str(tmp_path)))) is None


def test_a_session_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    messages = [
        {"id": f"msg_{n}", "session_id": f"ses_0{n}", "time_created": NOW, "data": data}
        for n, data in ((1, '{"role":"us'), (2, {"role": "user"}))
    ]
    path = made(
        tmp_path / "opencode.db", session=[session_row("ses_01"), session_row("ses_02")], message=messages
    )
    notes = Notes()
    read = list(read_all([str(path)], notes))

    assert [item.id for item in read] == ["ses_01", "ses_02"]
    assert [(note.kind, note.where) for note in notes.collected if note.kind == Kind.BAD_RECORD.label] == [
        (Kind.BAD_RECORD.label, "message msg_1")
    ]


@pytest.mark.parametrize("root", ["", "opencode"])
def test_files_next_to_the_database_are_not_read_separately(tmp_path: Path, root: str) -> None:
    folder = tmp_path / "opencode"
    commit = "0f1e15f4c12361d37c2dea7150c72ad340d4fe70"
    for name in ("storage/migration", "storage/session_diff/ses_1.json", "log/opencode.log", "auth.json",
                 f"snapshot/{commit}/HEAD"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("2", encoding="utf-8")
    made(folder / "opencode.db", session=[session_row()], message=[], part=[])

    notes = Notes()
    assert len(list(read_all([str(tmp_path / root)], notes))) == 1
    assert [str(note) for note in notes.collected] == []
