"""GitHub Copilot's chats in VS Code into the model: the documented mapping, and what lies on disk."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import File
from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Feedback,
    Media,
    Message,
    Other,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers import vscode_copilot
from agent_journal.readers.vscode_copilot import locations
from agent_journal.readers.vscode_copilot.names import MODEL_TOOL_NAMES
from tests.inline import converted, save_document, save_lines

SESSION = "5f0d3c9a-8e51-4b7e-9d0a-2c6f1e7b4a11"
T = 1_771_000_000_000


def read(path: Path) -> tuple[Conversation, Notes]:
    notes = Notes()
    (item,) = read_all([str(path)], notes)
    assert isinstance(item, Conversation)
    return item, notes


def request(**fields: Any) -> dict[str, Any]:
    return {
        "requestId": "request_1",
        "timestamp": T,
        "message": {"text": "hi"},
        "responseId": "response_1",
        **fields,
    }


def state(*requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "version": 3,
        "sessionId": SESSION,
        "creationDate": T,
        "responderUsername": "GitHub Copilot",
        "initialLocation": "panel",
        "requests": [*requests],
        **fields,
    }


def session(folder: Path, *requests: dict[str, Any], **fields: Any) -> tuple[Conversation, Notes]:
    return read(save_document(folder, "session.json", state(*requests, **fields)))


def messages(conversation: Conversation) -> list[Message]:
    return list(tree.messages(conversation))


def answer(folder: Path, *parts: Any, **fields: Any) -> Message:
    """The last of the answers to one prompt."""
    conversation, _ = session(folder, request(response=[*parts], **fields))
    return [message for message in messages(conversation) if message.role == "assistant"][-1]


def noted(notes: Notes, kind: Kind) -> list[str]:
    return [note.detail for note in notes.collected if note.kind == kind.label]


def uri(path: str) -> dict[str, Any]:
    return {"$mid": 1, "path": path, "scheme": "file"}


def shown(tool: str, call_id: str = "shown", **more: Any) -> dict[str, Any]:
    return {"kind": "toolInvocationSerialized", "toolId": tool, "toolCallId": call_id, **more}


def called(*calls: tuple[str, str], text: str = "", **more: Any) -> dict[str, Any]:
    """A round with calls, each a name and an id."""
    made = [{"name": name, "id": call_id, "arguments": '{"n": 1}'} for name, call_id in calls]
    return {"response": text, "toolCalls": made, "id": f"round-{text}", **more}


def rounds(*found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"metadata": {"toolCallRounds": [*found], **more}}


# The documented table, as far as it speaks of more than completions.


def test_a_chat_is_a_unified_document_too(tmp_path: Path) -> None:
    agent = {"extensionVersion": "0.37.2", "id": "agent"}
    chat = state(
        request(
            response=[{"value": "Hello."}],
            agent=agent,
            modelId="copilot/gpt-5",
            result={"metadata": {"promptTokens": 10, "outputTokens": 2}},
            modelState={"value": 1, "completedAt": T + 1000},
        )
    )
    document = converted(save_document(tmp_path, "chat.json", chat), "unified").only

    assert document["schema_version"] == "1.0.0"
    assert document["conversation_id"] == SESSION
    assert document["platform"]["name"] == "github_copilot"
    assert (document["platform"]["version"], document["platform"]["model"]) == ("0.37.2", "gpt-5")
    assert document["context"]["environment"]["editor"] == "vscode"
    asked, said = document["messages"]
    assert (asked["role"], said["role"]) == ("user", "assistant")
    assert (asked["content"], said["content"][0]["text"]) == ([{"type": "text", "text": "hi"}], "Hello.")
    assert (asked["timestamp"], said["timestamp"]) == ("2026-02-13T16:26:40.000Z", "2026-02-13T16:26:41.000Z")
    assert (said["tokens"]["input_tokens"], said["tokens"]["output_tokens"]) == (10, 2)
    assert document["metrics"]["total_tokens"] == {"input": 10, "output": 2}


def test_required_fields() -> None:
    assert vscode_copilot.INFO.required == ("messages[].timestamp", "messages[].content")


def test_targets_call_it_by_the_names_they_have() -> None:
    assert vscode_copilot.INFO.names == {
        "unified": "github_copilot",
        "pam": "copilot",
        "record": "vscode-copilot",
    }


# Where it lies.


@pytest.mark.parametrize(
    "home",
    [
        "~/.config/Code/User/workspaceStorage/*/chatSessions/*.jsonl",
        "~/Library/Application Support/Code - Insiders/User/workspaceStorage/*/chatSessions/*.json",
        "%APPDATA%/VSCodium/User/globalStorage/emptyWindowChatSessions/*.jsonl",
        "%APPDATA%/Code/User/globalStorage/transferredChatSessions/*.json",
        "~/.config/Windsurf/User/workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl",
        "~/.vscode-server/data/User/workspaceStorage/*/chatSessions/*.jsonl",
        "~/.config/Code/User/workspaceStorage/*/state.vscdb",
    ],
)
def test_homes(home: str) -> None:
    assert home in vscode_copilot.INFO.homes


@pytest.mark.parametrize(
    ("path", "is_companion"),
    [
        ("workspaceStorage/ab/workspace.json", True),
        ("workspaceStorage/ab/chatEditingSessions/x/state.json", True),
        ("workspaceStorage/ab/chatSessions/x.json", False),
        ("workspaceStorage/ab/state.vscdb", False),
    ],
)
def test_what_is_no_unit(path: str, is_companion: bool) -> None:
    assert readers.is_companion(path) is is_companion


# Whose file it is.


def claimed(path: Path) -> list[tuple[str, str]]:
    return [(reader.INFO.name, version) for reader, version in readers.claims(Peek(File(str(path))))]


@pytest.mark.parametrize(
    ("document", "version"),
    [
        (state(), "3"),
        (state() | {"version": 2}, "2"),
        ({"sessionId": "x", "requests": [], "responderUsername": "GitHub Copilot", "creationDate": 1}, "1"),
        ({"requests": [], "responderUsername": "GitHub Copilot", "initialLocation": "panel"}, "export"),
        ({"requests": [{"requestId": "r", "response": []}]}, "export"),
        ({"kind": 0, "v": state()}, "log"),
        ({"kind": 2, "k": ["requests"], "v": []}, "log"),
    ],
)
def test_versions_are_detected_by_structure(tmp_path: Path, document: dict[str, Any], version: str) -> None:
    assert claimed(save_lines(tmp_path, "any", [document])) == [("vscode-copilot", version)]


@pytest.mark.parametrize(
    "document",
    [
        {"requests": []},
        {"requests": "none", "responderUsername": "x"},
        {"requests": [{"id": 1}]},
        {"kind": 0, "v": {"a": 1}},
        {"kind": False, "v": state()},
        {"kind": 1, "k": [["requests"]], "v": 1},
        {"kind": "x", "data": {}},
        {"type": "session.start", "data": {"sessionId": "x"}, "id": "e", "timestamp": "2026-01-01T00:00:00Z"},
        {"completion": "x", "timestamp": 1, "file": "f", "promptContext": "y", "accepted": True},
    ],
)
def test_others_files_are_not_claimed(tmp_path: Path, document: dict[str, Any]) -> None:
    assert "vscode-copilot" not in [name for name, _ in claimed(save_lines(tmp_path, "a.jsonl", [document]))]


def transcript(**data: Any) -> list[dict[str, Any]]:
    def event(place: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        at = f"2026-02-13T16:30:0{place}.000Z"
        return {"type": kind, "data": data, "id": f"e{place}", "timestamp": at, "parentId": f"e{place - 1}"}

    start = {"sessionId": SESSION, "version": 1, "producer": "copilot-agent", "copilotVersion": "0.38.0"}
    call = {"toolCallId": "c", "name": "read_file", "arguments": "{}", "type": "function"}
    return [
        event(0, "session.start", start | data) | {"parentId": None},
        event(1, "user.message", {"content": "hi", "attachments": []}),
        event(2, "assistant.message", {"messageId": "m", "content": "Hm.", "toolRequests": [call]}),
        event(3, "tool.execution_complete", {"toolCallId": "c", "success": True, "result": {"content": "x"}}),
    ]


def test_a_transcript_is_distinguished_from_cli_events(tmp_path: Path) -> None:
    ours = save_lines(tmp_path, "ours.jsonl", transcript(vscodeVersion="1.111.0"))
    theirs = save_lines(tmp_path, "theirs.jsonl", transcript())

    assert claimed(ours) == [("vscode-copilot", "transcript")]
    assert [name for name, _ in claimed(theirs)] == ["copilot-cli"]


def test_a_transcript_by_itself(tmp_path: Path) -> None:
    conversation, _ = read(save_lines(tmp_path, "a.jsonl", transcript(vscodeVersion="1.111.0")))

    assert (conversation.id, conversation.source) == (SESSION, "vscode-copilot")
    assert (conversation.editor, conversation.app_version) == ("vscode", "0.38.0")
    _, said, result = messages(conversation)
    assert said.parts[1] == ToolCall(name="read_file", call_id="c", input="{}", kind="read")
    assert isinstance(result.parts[0], ToolResult)


def database(folder: Path, **values: Any) -> Path:
    path = folder / "state.vscdb"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
        for key, value in values.items():
            made.execute("INSERT INTO ItemTable VALUES (?, ?)", (key.replace("__", "."), json.dumps(value)))
        made.commit()
    return path


INDEX = {"version": 1, "entries": {SESSION: {"sessionId": SESSION, "title": "From the index"}}}


def test_a_store_of_sessions(tmp_path: Path) -> None:
    first, second = (
        state(request(response=[{"value": "1"}])),
        state(request(response=["2"]), sessionId="other"),
    )
    path = database(tmp_path, interactive__sessions=[first, second])
    found = list(read_all([str(path)], Notes()))

    assert claimed(path) == [("vscode-copilot", "state")]
    assert [item.id for item in found] == [SESSION, "other"]


def test_a_store_that_only_lists_sessions_is_no_unknown_file(tmp_path: Path) -> None:
    path = database(tmp_path, chat__ChatSessionStore__index=INDEX)
    notes = Notes()

    assert list(read_all([str(path)], notes)) == []
    assert [note.kind for note in notes.collected] == ["ignored-file"]


@pytest.mark.parametrize(
    "key",
    ["composer__composerData", "workbench__panel__aichat__view__aichat__chatdata", "aiService__prompts"],
)
def test_a_store_of_a_fork_with_chats_of_its_own_is_not_claimed(tmp_path: Path, key: str) -> None:
    path = database(tmp_path, interactive__sessions=[state()], **{key: []})

    assert "vscode-copilot" not in [name for name, _ in claimed(path)]


# What lies beside a session.


def stored(folder: Path, name: str, content: Any, place: str = "chatSessions") -> Path:
    home = folder / "workspaceStorage" / "ab12" / place
    home.mkdir(parents=True, exist_ok=True)
    return save_lines(home, name, content if isinstance(content, list) else [content])


def test_the_index_has_the_best_title(tmp_path: Path) -> None:
    path = stored(tmp_path, f"{SESSION}.json", state(customTitle="Own", computedTitle="Computed"))
    titles = [read(path)[0].title]
    database(tmp_path / "workspaceStorage" / "ab12", chat__ChatSessionStore__index=INDEX)
    conversation, _ = read(path)
    titles.append(conversation.title)

    assert titles == ["Own", "From the index"]
    assert conversation.context["index"] == INDEX["entries"][SESSION]  # type: ignore[index]
    assert (conversation.extra["customTitle"], conversation.extra["computedTitle"]) == ("Own", "Computed")


def test_a_computed_title_comes_last(tmp_path: Path) -> None:
    assert session(tmp_path, computedTitle="Computed")[0].title == "Computed"
    assert session(tmp_path)[0].title is None


@pytest.mark.parametrize(
    ("workspace", "cwd"),
    [
        ({"folder": "file:///home/ana/bakery%20shop"}, "/home/ana/bakery shop"),
        ({"folder": "file:///c%3A/Users/ana"}, "c:\\Users\\ana"),
        ({"folder": "vscode-remote://wsl%2Bubuntu/home/ana"}, "/home/ana"),
        ({"workspace": "file:///home/ana/all.code-workspace"}, "/home/ana/all.code-workspace"),
        ({"folder": 5}, None),
        ([], None),
    ],
)
def test_the_folder_is_the_workspaces(tmp_path: Path, workspace: Any, cwd: str | None) -> None:
    path = stored(tmp_path, f"{SESSION}.json", state())
    save_document(path.parent.parent, "workspace.json", workspace)

    assert read(path)[0].cwd == cwd


def test_an_export_elsewhere_has_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    save_document(tmp_path, "workspace.json", {"folder": "file:///of/another"})
    conversation, _ = read(save_document(tmp_path / "exports", "chat.json", state()))

    assert conversation.cwd is None


def test_a_session_of_its_own_folder(tmp_path: Path) -> None:
    conversation, _ = session(tmp_path, workingDirectory="file:///srv/market")

    assert conversation.cwd == "/srv/market"


def test_a_damaged_store_loses_only_the_title(tmp_path: Path) -> None:
    path = stored(tmp_path, f"{SESSION}.json", state(customTitle="Own"))
    (path.parent.parent / "state.vscdb").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    conversation, notes = read(path)

    assert conversation.title == "Own"
    assert [note.kind for note in notes.collected] == ["unreadable-file"]


def test_a_session_is_named_by_its_file_if_it_does_not_say(tmp_path: Path) -> None:
    bare = {name: value for name, value in state().items() if name != "sessionId"}

    assert read(stored(tmp_path, f"{SESSION}.json", bare))[0].id == SESSION
    made, notes = read(save_document(tmp_path, f"{SESSION}.json", bare))
    assert (made.id != SESSION, made.made_id) == (True, True)
    assert len(noted(notes, Kind.MISSING_ID)) == 1


def test_an_exports_id_stays_when_it_is_exported_again(tmp_path: Path) -> None:
    export = {"responderUsername": "x", "requests": [request()]}
    first, _ = read(save_document(tmp_path, "chat.json", export))
    again, _ = read(
        save_document(tmp_path, "chat (1).json", export | {"requests": [request(), request(requestId="r2")]})
    )

    assert first.id == again.id
    assert ids.is_uuid(first.id)


def test_a_session_is_read_once(tmp_path: Path) -> None:
    log = stored(tmp_path, f"{SESSION}.jsonl", {"kind": 0, "v": state()})
    before = stored(tmp_path, f"{SESSION}.json", state())
    view = stored(
        tmp_path, f"{SESSION}.jsonl", transcript(vscodeVersion="1.111.0"), "GitHub.copilot-chat/transcripts"
    )
    notes = Notes()
    found = list(read_all([str(log), str(before), str(view)], notes))

    assert [(item.id, item.origin and item.origin.version) for item in found] == [(SESSION, "log")]
    assert noted(notes, Kind.IGNORED_FILE) == [f"chatSessions/{SESSION}.jsonl has the same session"] * 2


@pytest.mark.parametrize("log", [b"", b"\n", b'{"kind":0,"v":{"version":3,"sessionId":"5f', b'{"kind":7}\n'])
def test_a_log_without_a_session_hides_no_file_that_has_it(tmp_path: Path, log: bytes) -> None:
    path = stored(tmp_path, f"{SESSION}.json", state(request()))
    path.with_suffix(".jsonl").write_bytes(log)
    view = stored(
        tmp_path, f"{SESSION}.jsonl", transcript(vscodeVersion="1.111.0"), "GitHub.copilot-chat/transcripts"
    )
    found = list(read_all([str(path), str(view)], Notes()))

    assert [(item.id, item.origin and item.origin.version) for item in found] == [(SESSION, "3")]


# The session and its versions.


def test_the_log_is_replayed(tmp_path: Path) -> None:
    operations = [
        {"kind": 0, "v": {"version": 3, "sessionId": "replaced", "requests": []}},
        {"kind": 0, "v": state()},
        {"kind": 2, "k": ["requests"], "v": [request(response=[])]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "It "}, {"value": "loads"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": [{"value": "loaded"}, {"value": "!"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 2},
        {"kind": 1, "k": ["customTitle"], "v": "Gone"},
        {"kind": 3, "k": ["customTitle"]},
        {"kind": 1, "k": ["requests", 0, "message", "text"], "v": "changed"},
        {"kind": 2, "k": ["requests", 0, "followups"], "v": [1]},
        {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"value": 1, "completedAt": T + 4000}},
    ]
    conversation, notes = read(save_lines(tmp_path, "a.jsonl", operations))
    asked, said = messages(conversation)

    assert (conversation.id, conversation.title) == (SESSION, None)
    assert (asked.parts, said.parts) == ([Text(text="changed")], [Text(text="It loaded")])
    assert said.at == "2026-02-13T16:26:44.000Z"
    assert said.extra["followups"] == [1]
    assert notes.collected == []


def test_requests_that_were_taken_back_stay_hidden(tmp_path: Path) -> None:
    operations = [
        {"kind": 0, "v": state(request(), request(requestId="r2", responseId="a2"), request(requestId="r3"))},
        {"kind": 2, "k": ["requests"], "i": 1, "v": [request(requestId="r3"), request(requestId="r4")]},
    ]
    conversation, _ = read(save_lines(tmp_path, "a.jsonl", operations))
    asked = [(message.id, message.hidden) for message in messages(conversation) if message.role == "user"]

    assert asked == [("request_1", False), ("r2", True), ("r3", False), ("r4", False)]


@pytest.mark.parametrize(
    "operation",
    [
        {"kind": 1, "k": ["requests", 7, "x"], "v": 1},
        {"kind": 1, "k": ["requests", True], "v": 1},
        {"kind": 1, "k": ["requests", -1], "v": 1},
        {"kind": 1, "k": [{"a": 1}], "v": 1},
        {"kind": 1, "k": [], "v": 1},
        {"kind": 1, "v": 1},
        {"kind": 2, "k": ["sessionId"], "v": [1]},
        {"kind": 2, "k": ["requests"], "v": {"a": 1}},
        {"kind": 4, "k": ["requests"]},
        {"kind": [1], "k": ["requests"]},
        {"kind": 0},
    ],
)
def test_operations_that_lead_nowhere_are_noted(tmp_path: Path, operation: dict[str, Any]) -> None:
    lines = [{"kind": 0, "v": state(request())}, operation]
    conversation, notes = read(save_lines(tmp_path, "a.jsonl", lines))

    assert [message.id for message in messages(conversation)] == ["request_1", "response_1"]
    assert [(note.kind, note.where) for note in notes.collected] == [("bad-record", "line 2")]


def test_a_log_may_cut_less_than_it_says(tmp_path: Path) -> None:
    lines = [{"kind": 0, "v": state()}, {"kind": 2, "k": ["requests"], "i": 10**15, "v": [request()]}]

    assert len(messages(read(save_lines(tmp_path, "a.jsonl", lines))[0])) == 2


def test_facts_about_the_session(tmp_path: Path) -> None:
    repository = {"localBranch": "rye", "localHeadCommit": "c0ffee", "workspaceType": "local-git"}
    conversation, _ = session(
        tmp_path, request(), requesterUsername="ana", lastMessageDate=T + 9000, repoData=repository
    )

    assert (conversation.started_at, conversation.updated_at) == (
        "2026-02-13T16:26:40.000Z",
        "2026-02-13T16:26:49.000Z",
    )
    assert (conversation.git_branch, conversation.git_commit) == ("rye", "c0ffee")
    assert (conversation.account_id, conversation.shape) == ("ana", "list")
    assert conversation.extra["repoData"] == repository


def test_words_around_the_prompt_state_what_nothing_else_does(tmp_path: Path) -> None:
    around = (
        "<environment_info>\nThe user's current OS is: Linux\nThe user's default shell is: \"zsh\". When …\n"
        "</environment_info>\n<workspace_info>\nI am working in a workspace with the following folders:\n"
        "- /home/ana/bakery \n- /other\n</workspace_info>\n<repoContext>\nCurrent branch: rye\n</repoContext>"
    )
    result = {"metadata": {"renderedUserMessage": [{"type": 1, "text": around}]}}
    conversation, _ = session(tmp_path, request(result=result))

    assert (conversation.os, conversation.shell) == ("Linux", "zsh")
    assert (conversation.cwd, conversation.git_branch) == ("/home/ana/bakery", "rye")


def test_user_text_states_nothing_about_the_machine(tmp_path: Path) -> None:
    said = "<userRequest>\nCurrent branch: mine\nThe user's current OS is: Mine\n</userRequest>"
    result = {"metadata": {"renderedUserMessage": [{"type": 1, "text": said}]}}
    conversation, _ = session(tmp_path, request(result=result))

    assert (conversation.git_branch, conversation.os) == (None, None)


# The prompt.


@pytest.mark.parametrize(
    "message",
    ["hi", {"text": "hi"}, {"parts": [{"kind": "text", "text": "h"}, {"kind": "text", "text": "i"}]}],
)
def test_prompts_of_all_versions(tmp_path: Path, message: Any) -> None:
    conversation, _ = session(tmp_path, request(message=message))

    assert messages(conversation)[0].parts == [Text(text="hi")]


@pytest.mark.parametrize("name", ["isHidden", "hiddenFromTranscript", "shouldBeRemovedOnSend"])
def test_hidden_requests(tmp_path: Path, name: str) -> None:
    conversation, _ = session(tmp_path, request(**{name: {"requestId": "x"}}, response=["a"]))

    assert [message.hidden for message in messages(conversation)] == [True, True]


def test_a_prompt_alone_may_be_hidden(tmp_path: Path) -> None:
    conversation, _ = session(tmp_path, request(requestHiddenFromTranscript=True, response=["a"]))

    assert [message.hidden for message in messages(conversation)] == [True, False]


@pytest.mark.parametrize(
    ("variable", "part"),
    [
        ({"kind": "file", "name": "a", "value": uri("/a.py")}, Media(kind="file", name="a", ref="/a.py")),
        (
            {"kind": "file", "name": "a", "value": {"uri": uri("/a.py"), "range": {}}},
            Media(kind="file", name="a", ref="/a.py"),
        ),
        (
            {"kind": "image", "name": "i", "mimeType": "image/png", "value": {"$base64": "aGk="}},
            Media(kind="image", name="i", mime="image/png", data="aGk="),
        ),
        ({"kind": "image", "value": {"0": 104, "1": 105}}, Media(kind="image", data="aGk=")),
        (
            {"kind": "image", "value": {"type": "Buffer", "data": [104, 105]}},
            Media(kind="image", data="aGk="),
        ),
        (
            {"kind": "paste", "code": "x = 1", "language": "python", "fileName": "a.py"},
            Code(code="x = 1", language="python", file="a.py"),
        ),
        ({"kind": "tool", "id": "t"}, Other(data={"kind": "tool", "id": "t"}, name="tool")),
        ({"id": "t", "value": ["x"]}, Other(data={"id": "t", "value": ["x"]}, name="variable")),
        (
            {"kind": "workspace", "name": "app", "value": "It has 3 files."},
            Media(kind="document", name="app", text="It has 3 files."),
        ),
    ],
)
def test_attachments(tmp_path: Path, variable: dict[str, Any], part: Any) -> None:
    conversation, _ = session(tmp_path, request(variableData={"variables": [variable]}))
    attached = messages(conversation)[0].parts[1]

    if isinstance(attached, Media):
        assert msgspec.structs.replace(attached, extra={}) == part
    else:
        assert attached == part


# The answer.


def test_text_is_joined_without_separators_and_references_stand_in_it(tmp_path: Path) -> None:
    message = answer(
        tmp_path,
        {"value": "See "},
        {"kind": "inlineReference", "inlineReference": uri("/home/ana/oven.py")},
        {"value": " and "},
        {"kind": "inlineReference", "inlineReference": {"name": "heat", "location": {"uri": uri("/b.py")}}},
        {"kind": "undoStop", "id": "u"},
        {"kind": "markdownContent", "content": {"value": "."}},
    )
    (part,) = message.parts

    assert isinstance(part, Text)
    assert part.text == "See oven.py and `heat`."
    assert [(cited.url, part.text[cited.start : cited.end]) for cited in part.citations] == [
        ("/home/ana/oven.py", "oven.py"),
        ("/b.py", "`heat`"),
    ]
    assert message.extra["response"] == [{"kind": "undoStop", "id": "u"}]


def test_calls_get_arguments_and_results_from_the_rounds(tmp_path: Path) -> None:
    results = {"c1__vscode-1": {"$mid": 20, "content": [{"$mid": 21, "value": "text"}]}}
    conversation, notes = session(
        tmp_path,
        request(
            response=[{"value": "Look."}, shown("copilot_readFile"), {"value": "Done."}],
            result=rounds(
                called(("read_file", "c1__vscode-1"), text="Look."),
                called(text="Done."),
                toolCallResults=results,
            ),
        ),
    )
    _, first, result, last = messages(conversation)

    call = ToolCall(
        name="read_file",
        call_id="c1__vscode-1",
        input='{"n": 1}',
        kind="read",
        extra={"toolId": "copilot_readFile", "toolCallId": "shown"},
    )
    assert first.parts == [Text(text="Look."), call]
    assert result.role == "tool"
    assert result.parts == [ToolResult(call_id="c1__vscode-1", output="text", name="read_file")]
    assert last.parts == [Text(text="Done.")]
    assert (first.id, first.made_id, last.made_id) == ("response_1", False, True)
    assert last.extra["result"]["metadata"]["toolCallRounds"] == [
        {"id": "round-Look."},
        {"toolCalls": [], "id": "round-Done."},
    ]
    assert notes.collected == []


def test_rounds_separate_messages_without_text_between_calls(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        request(
            response=[shown("copilot_readFile"), {"value": "\n"}, shown("copilot_readFile")],
            result=rounds(called(("read_file", "a")), called(("read_file", "b"))),
        ),
    )

    assert [[call.call_id for call in tree.calls_in(message)] for message in messages(conversation)] == [
        [],
        ["a"],
        ["b"],
    ]


def test_calls_are_found_by_id_then_name_then_place(tmp_path: Path) -> None:
    message = answer(
        tmp_path,
        shown("ext_x", "c3"),
        shown("copilot_findTextInFiles"),
        shown("ext_y"),
        result=rounds(called(("first", "c1__vscode-1"), ("grep_search", "c2"), ("third", "c3__vscode-9"))),
    )

    assert [(call.call_id, call.extra["toolId"]) for call in tree.calls_in(message)] == [
        ("c3__vscode-9", "ext_x"),
        ("c2", "copilot_findTextInFiles"),
        ("c1__vscode-1", "ext_y"),
    ]


@pytest.mark.parametrize(
    ("tool", "given", "shown_of"),
    [
        (
            "run_in_terminal",
            {"command": "make tea"},
            {"toolSpecificData": {"commandLine": {"original": "make tea"}}},
        ),
        ("run_in_terminal", {"command": "make tea"}, {"toolSpecificData": {"command": "make tea"}}),
        (
            "copilot_readFile",
            {"filePath": "/my tea.py"},
            {"pastTenseMessage": {"value": "Read [](file:///my%20tea.py)"}},
        ),
        ("copilot_runVscodeCommand", {"name": "Open", "a": 1}, {"invocationMessage": "Running `Open`"}),
    ],
)
def test_an_invocation_belongs_to_its_call(
    tmp_path: Path, tool: str, given: dict[str, Any], shown_of: dict[str, Any]
) -> None:
    name = MODEL_TOOL_NAMES.get(tool, tool)
    odd = ['{"bad', "[" * 100_000, '{"a": "\ud800"}', '{"command": "x", "n": 1}']
    arguments = [*odd, json.dumps(given), json.dumps(given)]
    calls = [{"name": name, "id": f"c{number}", "arguments": text} for number, text in enumerate(arguments)]
    message = answer(
        tmp_path, shown(tool, **shown_of), result=rounds({"response": "", "toolCalls": calls, "id": "r"})
    )

    told = [call.call_id for call in tree.calls_in(message) if "toolId" in call.extra]
    assert told == ["c4"]


def test_what_is_shown_of_no_call_is_of_the_first_of_its_tool(tmp_path: Path) -> None:
    message = answer(
        tmp_path,
        shown("copilot_readFile", pastTenseMessage="Read it"),
        result=rounds(called(("read_file", "c1"), ("read_file", "c2"))),
    )

    assert [call.call_id for call in tree.calls_in(message) if "toolId" in call.extra] == ["c1"]


def test_calls_that_were_not_shown_stand_where_they_were_made(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        request(
            response=[{"value": "One."}, shown("copilot_readFile"), {"value": "Two."}],
            result=rounds(
                called(("hidden", "h1")),
                called(("read_file", "r"), ("hidden", "h2"), text="One."),
                called(("hidden", "h3")),
                called(text="Two."),
            ),
        ),
    )

    said = [
        [part.text if isinstance(part, Text) else getattr(part, "call_id", None) for part in message.parts]
        for message in messages(conversation)[1:]
    ]
    assert said == [["h1"], ["One.", "r", "h2"], ["h3"], ["Two."]]


def test_a_tool_that_a_tool_used_is_no_call(tmp_path: Path) -> None:
    message = answer(
        tmp_path,
        shown("copilot_fetchWebPage"),
        shown("vscode_fetchWebPage_internal"),
        result=rounds(called(("fetch_webpage", "c"))),
    )

    assert [type(part) for part in message.parts] == [ToolCall, Other]


def test_reasoning_occurs_once(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        request(
            response=[
                {"kind": "thinking", "value": ["Hm", "m."], "id": "t"},
                {"value": "A."},
                shown("x"),
                {"value": "B."},
            ],
            result=rounds(
                called(("x", "c"), text="A.", thinking={"id": "t", "text": "Hmm.", "tokens": 3}),
                called(text="B.", thinking={"id": "u", "text": "Aha.", "encrypted": "opaque"}),
            ),
        ),
    )
    _, first, last = messages(conversation)

    assert first.parts[:2] == [Reasoning(text="Hmm.", extra={"id": "t"}), Text(text="A.")]
    assert last.parts == [Reasoning(text="Aha.", encrypted="opaque", extra={"id": "u"}), Text(text="B.")]
    assert last.extra["result"]["metadata"]["toolCallRounds"][0]["thinking"] == {"id": "t", "tokens": 3}


def test_an_answer_that_was_not_shown_comes_from_its_rounds(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path, request(result=rounds(called(("x", "c"), text="One."), called(text="Two.")))
    )

    assert [tree.plain_text(message) for message in messages(conversation)] == ["hi", "One.", "Two."]


def test_results_that_are_trees_become_text(tmp_path: Path) -> None:
    leaf = {"type": 2, "text": "second", "lineBreakBefore": True}
    node = {
        "type": 1,
        "children": [{"type": 2, "text": "first"}, {"type": 1, "children": [leaf, {"text": "!"}]}],
    }
    content = [{"$mid": 23, "value": {"node": node}}]
    conversation, _ = session(
        tmp_path, request(result=rounds(called(("x", "c")), toolCallResults={"c": {"content": content}}))
    )
    (result,) = messages(conversation)[-1].parts

    assert isinstance(result, ToolResult)
    assert (result.output, result.native) == ("first\nsecond!", content)


def test_a_deep_tree_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    depth = 400
    tree_text = '{"children":[' * depth + '{"text":"deep"}' + "]}" * depth
    chat = json.dumps(
        state(request(result=rounds(called(("x", "c")), toolCallResults={"c": {"content": ["@"]}})))
    )
    path.write_text(chat.replace('"@"', f'{{"value":{{"node":{tree_text}}}}}'), encoding="utf-8")
    (result,) = messages(read(path)[0])[-1].parts

    assert isinstance(result, ToolResult)
    assert result.output == "deep"


@pytest.mark.parametrize(
    ("invocation", "call_input", "output", "is_error"),
    [
        (
            {
                "resultDetails": {
                    "input": '{"a": 1}',
                    "output": [{"isText": True, "value": "no"}],
                    "isError": True,
                }
            },
            '{"a": 1}',
            "no",
            True,
        ),
        ({"toolSpecificData": {"kind": "input", "rawInput": {"a": 1}}}, {"a": 1}, None, None),
        (
            {
                "toolSpecificData": {
                    "kind": "terminal",
                    "commandLine": {"original": "ls"},
                    "terminalCommandOutput": {"text": "a.py"},
                }
            },
            {"commandLine": {"original": "ls"}},
            "a.py",
            None,
        ),
        (
            {"toolSpecificData": {"kind": "subagent", "prompt": "Go", "result": "Gone"}},
            {"prompt": "Go"},
            "Gone",
            None,
        ),
        ({"resultDetails": [uri("/a.py")]}, None, "/a.py", None),
        ({"resultDetails": [1, {"no": "place"}]}, None, None, None),
        ({"invocationMessage": "Reading", "isComplete": False}, None, None, None),
        ({"pastTenseMessage": " "}, None, None, None),
        ({"pastTenseMessage": "Ran it"}, None, "Ran it", None),
        (
            {"pastTenseMessage": {"value": "Read [](file:///c%3A/my%20tea.md#3-9), [b](file:///b), [](x)"}},
            None,
            "Read c:\\my tea.md, [b](file:///b), [](x)",
            None,
        ),
        (
            {
                "pastTenseMessage": {"value": "Searched for `tea`, 2 results"},
                "resultDetails": [
                    {"uri": uri("/a.py"), "range": {"startLineNumber": 3, "endLineNumber": 4}},
                    uri("/b.py"),
                ],
            },
            None,
            "Searched for `tea`, 2 results\n/a.py:3\n/b.py",
            None,
        ),
        (
            {"toolSpecificData": {"kind": "simpleToolInvocation", "input": "Go", "output": "Gone"}},
            "Go",
            "Gone",
            None,
        ),
        ({"resultError": "No such tool."}, None, "No such tool.", True),
        (
            {
                "resultDetails": {
                    "output": {"type": "data", "mimeType": "image/png", "base64Data": "iVBORw0KGgo="}
                }
            },
            None,
            [Media(kind="image", mime="image/png", data="iVBORw0KGgo=")],
            None,
        ),
    ],
)
def test_calls_of_which_only_what_was_shown_is_known(
    tmp_path: Path, invocation: dict[str, Any], call_input: Any, output: Any, is_error: bool | None
) -> None:
    conversation, _ = session(tmp_path, request(response=[shown("some_tool", "c", **invocation)]))
    call = next(tree.calls_in(messages(conversation)[1]))
    found = tree.results_by_call(conversation.timeline).get("c")

    assert (call.name, call.input) == ("some_tool", call_input)
    assert (found and found.output, found and found.is_error) == (output, is_error)


def test_exit_codes_and_kinds_of_tools(tmp_path: Path) -> None:
    ended = {
        "kind": "terminal",
        "terminalCommandOutput": {"text": "x"},
        "terminalCommandState": {"exitCode": 3},
    }
    conversation, _ = session(
        tmp_path,
        request(
            response=[
                shown("run_in_terminal", "c", toolSpecificData=ended),
                shown("copilot_applyPatch"),
                shown("mcp_scale_weigh"),
                shown("weigh", source={"type": "mcp"}),
                shown("unheard_of"),
            ]
        ),
    )
    _, said, result = messages(conversation)

    assert [call.kind for call in tree.calls_in(said)] == ["shell", "edit", "mcp", "mcp", None]
    assert [part.extra for part in result.parts if isinstance(part, ToolResult)] == [{"exit_code": 3}]


def test_sub_agents_are_side_chains(tmp_path: Path) -> None:
    conversation, _ = session(
        tmp_path,
        request(
            response=[
                shown("runSubagent", "main"),
                shown("copilot_readFile", "inner", subAgentInvocationId="main"),
                {"value": "Done."},
            ],
            result=rounds(called(("runSubagent", "main__vscode-1"))),
        ),
    )

    told = [
        (message.sidechain, [call.call_id for call in tree.calls_in(message)])
        for message in messages(conversation)[1:]
    ]
    assert told == [(False, ["main__vscode-1"]), (True, ["inner"]), (False, [])]


@pytest.mark.parametrize("kind", ["warning", "info", "systemNotification"])
@pytest.mark.parametrize("content", ["Low on credits.", {"value": "Low on credits."}])
def test_what_the_editor_says_itself_is_text(tmp_path: Path, kind: str, content: Any) -> None:
    conversation, notes = session(
        tmp_path, request(response=[{"value": "Hi."}, {"kind": kind, "content": content}, {"value": "Bye."}])
    )

    assert messages(conversation)[1].parts == [
        Text(text="Hi."),
        Text(text="Low on credits.", extra={"kind": kind}),
        Text(text="Bye."),
    ]
    assert not notes.collected


@pytest.mark.parametrize("kind", ["confirmation", "elicitation", "elicitationSerialized"])
def test_what_the_editor_asks_is_text(tmp_path: Path, kind: str) -> None:
    message = {"value": "It has been a while.", "isTrusted": False}
    asked = {"kind": kind, "title": "Go on?", "message": message, "buttons": ["Yes"]}

    assert answer(tmp_path, asked).parts == [
        Text(
            text="Go on?\n\nIt has been a while.",
            extra={"kind": kind, "message": {"isTrusted": False}, "buttons": ["Yes"]},
        )
    ]


def test_a_question_without_text_is_preserved(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"kind": "confirmation", "title": None, "message": {}, "buttons": ["Yes"]}

    assert answer(tmp_path, asked).parts == [Other(data=asked, name="confirmation")]


def test_a_plan_that_was_shown_is_text(tmp_path: Path) -> None:
    plan = {"kind": "planReview", "title": "Tea", "content": "1. Boil.", "data": {"rejected": False}}

    assert answer(tmp_path, plan).parts == [
        Text(text="1. Boil.", extra={"kind": "planReview", "title": "Tea", "data": {"rejected": False}})
    ]


def test_edits_by_other_programs_are_known(tmp_path: Path) -> None:
    edit = {"kind": "externalEdit", "uri": uri("/a.py"), "editKind": "edit"}
    conversation, notes = session(tmp_path, request(response=[edit]))

    assert messages(conversation)[1].parts == [Other(data=edit, name="externalEdit")]
    assert not notes.collected


def test_edits_are_code_in_their_file(tmp_path: Path) -> None:
    place = {"startLineNumber": 3, "startColumn": 1, "endLineNumber": 4, "endColumn": 1}
    group = {
        "kind": "textEditGroup",
        "uri": uri("/oven.py"),
        "edits": [[{"range": place, "text": "HEAT = 1"}], []],
    }
    (edit,) = answer(tmp_path, group).parts

    assert isinstance(edit, Code)
    assert (edit.code, edit.file, edit.first_line, edit.last_line) == ("HEAT = 1", "/oven.py", 3, 4)


def edit(line: int, text: str, end: int = 1, column: int = 1, last: int | None = None) -> dict[str, Any]:
    place = {"startLineNumber": line, "startColumn": column, "endLineNumber": last or line, "endColumn": end}
    return {"range": place, "text": text}


def codes(folder: Path, *edits: dict[str, Any]) -> list[tuple[str, int | None, int | None]]:
    group = {"kind": "textEditGroup", "uri": uri("/tea.md"), "edits": [[one] for one in edits]}
    found = [part for part in answer(folder, group).parts if isinstance(part, Code)]
    return [(code.code, code.first_line, code.last_line) for code in found]


def test_a_file_that_was_written_line_by_line_is_one_edit(tmp_path: Path) -> None:
    lines = [edit(1, "# Tea"), edit(2, "\n"), edit(3, "\nBoil 🫖"), edit(4, "\nPour.")]

    assert codes(tmp_path, *lines) == [("# Tea\n\nBoil 🫖\nPour.", 1, 4)]


@pytest.mark.parametrize(("written", "column"), [("Pour 🫖", 8), ("\nPour.", 6)])
def test_a_file_that_was_rewritten_line_by_line_is_one_edit(
    tmp_path: Path, written: str, column: int
) -> None:
    lines = [edit(3, "# Tea", end=9), edit(4, ""), edit(5, written), edit(5, "", column=column, last=9)]

    assert codes(tmp_path, *lines) == [("# Tea\n\n" + written.strip(), 3, 9)]


def test_ranges_of_replaced_lines_are_preserved(tmp_path: Path) -> None:
    lines = [edit(1, "# Tea", end=9), edit(2, "\nBoil."), edit(2, "", column=6, last=7)]
    group = {"kind": "textEditGroup", "uri": uri("/tea.md"), "edits": [[one] for one in lines], "done": True}
    (code,) = answer(tmp_path, group).parts

    assert isinstance(code, Code)
    assert code.extra == {
        "edits": [{"range": lines[0]["range"]}, {"range": lines[2]["range"]}],
        "kind": "textEditGroup",
        "uri": uri("/tea.md"),
        "done": True,
    }


@pytest.mark.parametrize(
    "behind",
    [
        edit(3, "Pour."),
        edit(2, "Pour.\nSip."),
        edit(2, "\nPour.\nSip."),
        edit(2, "\nPour.", end=4),
        edit(2, "Pour.", column=2),
        edit(2, "Pour.", last=3),
        edit(1, "", column=2),
        {**edit(2, "Pour."), "eol": 1},
        {"range": {"startLineNumber": 2}, "text": "Pour."},
        {"range": None, "text": "Pour."},
    ],
)
def test_other_edits_stay_apart(tmp_path: Path, behind: dict[str, Any]) -> None:
    assert [code for code, _, _ in codes(tmp_path, edit(1, "# Tea"), behind)] == ["# Tea", behind["text"]]


def test_what_the_answer_refers_to(tmp_path: Path) -> None:
    reference = {"kind": "reference", "reference": uri("/manual.md")}
    code = {"kind": "codeCitation", "value": uri("/x"), "license": "MIT", "snippet": "s"}
    message = answer(tmp_path, {"value": "A."}, contentReferences=[reference], codeCitations=[code])
    (part,) = message.parts

    assert isinstance(part, Text)
    assert [(cited.url, cited.text) for cited in part.citations] == [("/manual.md", None), ("/x", "s")]
    assert part.citations[1].extra["license"] == "MIT"


@pytest.mark.parametrize(
    ("fields", "stop_reason"),
    [
        ({"modelState": {"value": 1}}, None),
        ({"modelState": {"value": 2}}, "cancelled"),
        ({"modelState": {"value": 3}}, "failed"),
        ({"modelState": {"value": 0}}, None),
        ({"isCanceled": True}, "cancelled"),
        ({"isCanceled": False}, None),
    ],
)
def test_how_an_answer_ended(tmp_path: Path, fields: dict[str, Any], stop_reason: str | None) -> None:
    assert answer(tmp_path, {"value": "Part of"}, **fields).stop_reason == stop_reason


def test_why_an_answer_failed(tmp_path: Path) -> None:
    message = answer(tmp_path, result={"errorDetails": {"message": "Off.", "code": "off"}})

    assert message.parts == [Text(text="Off.", extra={"kind": "errorDetails"})]
    assert message.extra["result"]["errorDetails"] == {"code": "off"}


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        (
            {"modelState": {"value": 1, "completedAt": T + 2000}, "result": {"timings": {"totalElapsed": 1}}},
            "42.000",
        ),
        ({"result": {"timings": {"totalElapsed": 1500}}}, "41.500"),
        ({"result": {"timings": {"totalElapsed": "long"}}}, "40.000"),
        ({}, "40.000"),
    ],
)
def test_when_an_answer_was_whole(tmp_path: Path, fields: dict[str, Any], at: str) -> None:
    assert answer(tmp_path, {"value": "A."}, **fields).at == f"2026-02-13T16:26:{at}Z"


def test_a_prompt_without_an_answer(tmp_path: Path) -> None:
    alone = {"requestId": "r", "message": {"text": "hi"}, "response": []}

    assert [message.role for message in messages(session(tmp_path, alone)[0])] == ["user"]


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"modelId": "copilot/gpt-5"}, "gpt-5"),
        ({"modelId": "ollama/llama3"}, "ollama/llama3"),
        ({"modelId": "copilot/auto"}, None),
        ({"modelId": "copilot/auto", "result": {"metadata": {"resolvedModel": "gpt-5-mini"}}}, "gpt-5-mini"),
        (
            {"modelId": "copilot/auto", "result": {"details": "Raptor mini (Preview) • 0.9x"}},
            "Raptor mini (Preview)",
        ),
        ({"modelId": "copilot/auto", "result": {"details": "GPT-5 mini"}}, None),
        ({"modelId": "copilot/gpt-5", "result": {"details": "GPT-5 • 1x"}}, "gpt-5"),
    ],
)
def test_models(tmp_path: Path, fields: dict[str, Any], model: str | None) -> None:
    message = answer(tmp_path, {"value": "A."}, **fields)

    assert message.model == model
    assert message.extra["modelId"] == fields["modelId"]


@pytest.mark.parametrize(
    ("parts", "fields"),
    [
        ([{"kind": "autoModeResolution", "resolved": {"id": "copilot/gpt-5-mini", "name": "GPT"}}], {}),
        ([], {"modelTotals": [{"model": "gpt-5-mini", "inputTokens": 1, "outputTokens": 1}]}),
    ],
)
def test_a_model_that_was_chosen_for_the_person(
    tmp_path: Path, parts: list[Any], fields: dict[str, Any]
) -> None:
    message = answer(tmp_path, *parts, {"value": "A."}, modelId="copilot/auto", **fields)

    assert message.model == "gpt-5-mini"


def test_tokens_of_all_rounds(tmp_path: Path) -> None:
    totals = [
        {"model": "gpt-5", "inputTokens": 100, "cachedTokens": 60, "outputTokens": 7},
        {"model": "gpt-5-mini", "inputTokens": 10, "cachedTokens": 0, "outputTokens": 3},
    ]
    result = rounds(called(("x", "a")), called(text="C"))
    asked = request(result=result, promptTokens=9, completionTokens=10, modelTotals=totals)
    conversation, notes = session(tmp_path, asked)
    (usage,) = tree.usages(conversation.timeline)

    assert (usage.input, usage.cache_read, usage.output) == (50, 60, 10)
    assert usage.extra["modelTotals"] == totals
    assert not noted(notes, Kind.PARTIAL_USAGE)


@pytest.mark.parametrize("totals", [[], [{"model": "m"}], ["m"], {"inputTokens": 1}])
def test_totals_that_are_none(tmp_path: Path, totals: Any) -> None:
    found = answer(tmp_path, {"value": "A."}, promptTokens=9, completionTokens=2, modelTotals=totals).usage

    assert found is not None
    assert (found.input, found.output, found.cache_read) == (9, 2, None)


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        ({"result": {"metadata": {"promptTokens": 9, "outputTokens": 2}}}, (9, 2)),
        ({"result": {"promptTokens": 9, "outputTokens": 2}}, (9, 2)),
        ({"result": {"usage": {"promptTokens": 9, "completionTokens": 2}}}, (9, 2)),
        ({"promptTokens": 9, "completionTokens": 5, "result": {"metadata": {"outputTokens": 2}}}, (9, 5)),
        ({"promptTokens": 0}, (0, None)),
    ],
)
def test_tokens(tmp_path: Path, fields: dict[str, Any], usage: tuple[int, int]) -> None:
    found = answer(tmp_path, {"value": "A."}, **fields).usage

    assert isinstance(found, Usage)
    assert (found.input, found.output, found.cache_read) == (*usage, None)


def test_prompts_before_the_last_are_not_counted(tmp_path: Path) -> None:
    result = rounds(called(("x", "a")), called(("x", "b")), called(text="C"), promptTokens=9)
    _, notes = session(tmp_path, request(result=result), request(requestId="r2", result=rounds(called())))

    assert noted(notes, Kind.PARTIAL_USAGE) == ["prompts without token counts: 2"]


@pytest.mark.parametrize(("vote", "rating"), [(1, "up"), (0, "down")])
def test_votes(tmp_path: Path, vote: int, rating: Any) -> None:
    conversation, _ = session(tmp_path, request(vote=vote, voteDownReason="other", response=["a"]))

    assert conversation.feedback == [Feedback(rating=rating, text="other", message_id="response_1")]


def test_summaries_that_the_model_went_on_with(tmp_path: Path) -> None:
    result = rounds(
        called(("x", "a"), text="A"),
        called(text="B", summary="Later."),
        summary={"toolCallRoundId": "round-A", "text": "So far."},
    )
    conversation, _ = session(tmp_path, request(result=result))

    assert conversation.summaries == [
        Summary(text="So far.", kind="system", at="2026-02-13T16:26:40.000Z", message_id="response_1"),
        Summary(text="Later.", kind="system", at="2026-02-13T16:26:40.000Z"),
    ]


def test_a_result_that_is_no_object_stays(tmp_path: Path) -> None:
    conversation, notes = session(
        tmp_path, request(result=rounds(called(("x", "c")), toolCallResults={"c": "[truncated]"}))
    )

    assert noted(notes, Kind.UNLINKED_RESULT) == ["c"]
    assert messages(conversation)[-1].extra["result"]["metadata"]["toolCallResults"] == {"c": "[truncated]"}


def test_results_without_a_call_are_preserved_and_noted(tmp_path: Path) -> None:
    conversation, notes = session(
        tmp_path, request(response=["a"], result=rounds(toolCallResults={"lost": {"content": []}}))
    )

    assert noted(notes, Kind.UNLINKED_RESULT) == ["lost"]
    assert messages(conversation)[-1].extra["result"]["metadata"]["toolCallResults"] == {
        "lost": {"content": []}
    }


def test_ids_are_given_once(tmp_path: Path) -> None:
    conversation, notes = session(tmp_path, request(response=["a"]), request(response=["b"]))

    assert len({entry.id for entry in conversation.timeline}) == 4
    assert noted(notes, Kind.DUPLICATE_ID) == ["request_1", "response_1"]


def test_values_that_are_not_requests_are_preserved(tmp_path: Path) -> None:
    path = save_document(tmp_path, "a.json", state() | {"requests": ["odd", request()]})
    conversation, notes = read(path)

    assert isinstance(conversation.timeline[0], Event)
    assert conversation.timeline[0].data == {"value": "odd"}
    assert noted(notes, Kind.UNKNOWN_TYPE) == ["a request is str"]


# Places.


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("file:///home/ana/a%20b", "/home/ana/a b"),
        ("file://server/share/x", "//server/share/x"),
        ("https://example.org/a?b", "https://example.org/a?b"),
        ("no uri", None),
        ("://x", None),
        (uri("/a"), "/a"),
        ({"scheme": "file", "path": "/c:/x", "fsPath": "c:\\x"}, "c:\\x"),
        ({"scheme": "file", "path": "/c:/x"}, "c:\\x"),
        (
            {"scheme": "https", "authority": "example.org", "path": "/a", "query": "b"},
            "https://example.org/a?b",
        ),
        ({"uri": "file:///a", "range": {}}, "/a"),
        ({"uri": {"uri": {"uri": 1}}}, None),
        ({"scheme": "file"}, None),
        (7, None),
        (None, None),
    ],
)
def test_places(place: Any, path: str | None) -> None:
    assert locations.path_of(place) == path
