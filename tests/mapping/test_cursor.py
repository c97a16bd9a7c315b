"""Cursor into the model: what its stores say, which of them is read, and what must hold for large ones."""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import time
import tracemalloc
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import File
from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Media,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers.cursor import agent_messages, blobs
from agent_journal.readers.cursor.query import prompt_time, unwrap_prompt
from agent_journal.readers.cursor.values import path_of
from tests.inline import converted

READER = readers.get("cursor")
CHAT, OTHER = "c0de0000-0000-4000-8000-000000000001", "c0de0000-0000-4000-8000-000000000002"
KEY_VALUE = "(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
STAMPED = "<timestamp>Monday, Jun 29, 2026, 1:39 PM (UTC-7)</timestamp>\n"
TABS = "workbench.panel.aichat.view.aichat.chatdata"


def database(path: Path, *tables: str, **rows: dict[str, Any]) -> Path:
    """A database with key-value tables; values that are no text or bytes are stored as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as made:
        for table in dict.fromkeys((*tables, *rows)):
            made.execute(f"CREATE TABLE {table} {KEY_VALUE}")
        for table, held in rows.items():
            stored = [
                (key, value if value is None or isinstance(value, str | bytes) else json.dumps(value))
                for key, value in held.items()
            ]
            made.executemany(f"INSERT INTO {table} VALUES (?, ?)", stored)  # noqa: S608 (our names)
        made.commit()
    return path


def chat(*bubbles: dict[str, Any], chat_id: str = CHAT, **about: Any) -> dict[str, Any]:
    """The rows of one chat."""
    named = [{"bubbleId": f"b{number}", **bubble} for number, bubble in enumerate(bubbles)]
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble.get("type")} for bubble in named]
    record = {"_v": 16, "composerId": chat_id, "fullConversationHeadersOnly": headers, **about}
    return {
        f"composerData:{chat_id}": record,
        **{f"bubbleId:{chat_id}:{bubble['bubbleId']}": bubble for bubble in named},
    }


def read(path: Path) -> tuple[list[Conversation], Notes]:
    notes = Notes()
    return [item for item in read_all([str(path)], notes) if isinstance(item, Conversation)], notes


def read_chat(folder: Path, *bubbles: dict[str, Any], **about: Any) -> Conversation:
    path = database(folder / "state.vscdb", "ItemTable", cursorDiskKV=chat(*bubbles, **about))
    (found,) = read(path)[0]
    return found


def messages(conversation: Conversation) -> list[Message]:
    return [entry for entry in conversation.timeline if isinstance(entry, Message)]


def noted(notes: Notes, kind: Kind) -> list[str]:
    return [note.detail for note in notes.collected if note.kind == kind.label]


# Detection


@pytest.mark.parametrize(
    ("tables", "rows", "version"),
    [
        (["ItemTable", "cursorDiskKV"], {}, "ide"),
        (["ItemTable"], {TABS: {"tabs": []}}, "ide"),
        (["ItemTable"], {"composer.composerData": {"allComposers": []}}, "ide"),
        (["ItemTable"], {"aiService.prompts": []}, "ide"),
        # Visual Studio Code has the same file, with chats of its own.
        (["ItemTable"], {"interactive.sessions": [], "chat.ChatSessionStore.index": {}}, None),
        (["ItemTable"], {}, None),
        (["session", "message"], {}, None),
    ],
)
def test_state_is_detected_by_its_tables_and_keys(
    tmp_path: Path, tables: list[str], rows: dict[str, Any], version: str | None
) -> None:
    path = database(tmp_path / "state.vscdb", *tables, **({"ItemTable": rows} if rows else {}))

    assert READER.sniff(Peek(File(str(path)))) == version


def store(path: Path, head: Any, **stored: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        made.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        made.executemany("INSERT INTO blobs VALUES (?, ?)", stored.items())
        made.execute("INSERT INTO meta VALUES ('0', ?)", (head,))
        made.commit()
    return path


@pytest.mark.parametrize(
    ("head", "version"),
    [
        (json.dumps({"agentId": CHAT}).encode().hex(), "cli"),
        (json.dumps({"agentId": CHAT}), "cli"),
        (json.dumps({"name": "backup"}).encode().hex(), None),
        ("zz", None),
        (7, None),
    ],
)
def test_a_store_is_detected_by_its_metadata(tmp_path: Path, head: Any, version: str | None) -> None:
    assert READER.sniff(Peek(File(str(store(tmp_path / "store.db", head))))) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"role": "user", "message": {"content": []}}\n', "transcript"),
        ('{"type": "turn_ended"}\n{"role": "assistant", "message": {"content": "x"}}\n', "transcript"),
        ('{"role": "user", "message": {"role": "user", "content": "x"}}\n', None),
        ('{"role": "user", "content": "x"}\n', None),
        ('{"type": "user", "uuid": "u", "role": "user", "message": {"content": "x"}}\n', None),
        ('{"role": ["user"], "message": {"content": "x"}}\n', None),
        ("user:\n<user_query>\nhello\n</user_query>\n\nassistant:\nHello.\n", "transcript-text"),
        ("user:\nhello\n\nassistant:\n[Tool call] Shell\n", "transcript-text"),
        ("user:\nhello\n\nassistant:\nHello.\n", None),
        ("user: hello\n<user_query>\n", None),
        ("a letter to a friend\n", None),
    ],
)
def test_transcripts_are_detected_by_their_lines(tmp_path: Path, text: str, version: str | None) -> None:
    path = tmp_path / "log"
    path.write_text(text)

    assert READER.sniff(Peek(File(str(path)))) == version


@pytest.mark.parametrize(
    ("path", "is_companion"),
    [
        ("/home/ana/.config/Cursor/User/globalStorage/state.vscdb", False),
        ("/home/ana/.config/Cursor/User/globalStorage/state.vscdb-wal", True),
        ("/home/ana/.config/Cursor/User/globalStorage/state.vscdb.backup", True),
        ("/home/ana/.config/Cursor/User/workspaceStorage/1a/workspace.json", True),
        ("/home/ana/.cursor/chats/5d/x/store.db", False),
        ("/home/ana/.cursor/chats/5d/x/store.db-wal", True),
        ("/home/ana/.cursor/chats/5d/x/meta.json", True),
        ("/home/ana/.cursor/acp-sessions/x/store.db", False),
        ("/home/ana/.cursor/acp-sessions/x/meta.json", True),
        ("/home/ana/project/workspace.json", False),
    ],
)
def test_companions_of_stores_are_not_units(path: str, is_companion: bool) -> None:
    assert any(fnmatch(path, pattern) for pattern in READER.INFO.companions) is is_companion


def test_names_and_homes() -> None:
    info = READER.INFO

    assert (info.config_key, info.names["unified"], info.names["record"]) == ("cursor", "cursor", "cursor")
    assert "AJ_CURSOR_PATH" in info.env
    assert any(home.startswith("~/.cursor/conversations") for home in info.homes)
    assert "~/.cursor/acp-sessions/*/store.db" in info.homes
    for moved in ("%CURSOR_CONFIG_DIR%", "%CURSOR_DATA_DIR%"):
        assert f"{moved}/chats/*/*/store.db" in info.homes
        assert f"{moved}/projects/*/agent-transcripts/**/*.jsonl" in info.homes
    for system in ("~/.config/", "~/Library/", "%APPDATA%/"):
        assert f"{system}" in " ".join(info.homes)
    # The order of the forms is the order of how much they tell, for whoever has to choose between copies.
    assert info.versions == ("ide", "cli", "transcript", "transcript-text")


# Chats of the editor


def test_facts_of_a_chat(tmp_path: Path) -> None:
    got = read_chat(
        tmp_path,
        {"type": 1, "text": "Hi", "createdAt": "2026-06-21T00:00:05.000Z"},
        name="Greeting",
        createdAt=1782000000000,
        lastUpdatedAt=1782000000001,
        isArchived=True,
        modelConfig={"modelName": "gpt-5.1", "maxMode": True},
        workspaceIdentifier={"id": "w", "uri": {"fsPath": "/home/ana/app"}},
        gitWorktree={"branchName": "main", "commitHash": "abc"},
    )

    assert (got.id, got.title, got.model, got.cwd) == (CHAT, "Greeting", "gpt-5.1", "/home/ana/app")
    assert (got.git_branch, got.git_commit, got.archived, got.shape) == ("main", "abc", True, "list")
    assert (got.started_at, got.updated_at) == ("2026-06-21T00:00:00.000Z", "2026-06-21T00:00:05.000Z")
    assert got.extra["modelConfig"] == {"maxMode": True}


@pytest.mark.parametrize(("kind", "role"), [(1, "user"), (2, "assistant")])
def test_roles(tmp_path: Path, kind: int, role: str) -> None:
    (message,) = messages(read_chat(tmp_path, {"type": kind, "text": "x"}))

    assert (message.role, message.parts) == (role, [Text(text="x")])


@pytest.mark.parametrize(
    ("bubble", "at"),
    [
        ({"createdAt": "2026-06-21T00:00:05.100Z"}, "2026-06-21T00:00:05.100Z"),
        ({"createdAt": 1782000005100}, "2026-06-21T00:00:05.100Z"),
        ({"timingInfo": {"clientStartTime": 1782000005100.6}}, "2026-06-21T00:00:05.101Z"),
        # Counted from the start of the editor: the clocks behind it count from 1970.
        (
            {"timingInfo": {"clientStartTime": 4745.3, "clientEndTime": 1782000005100}},
            "2026-06-21T00:00:05.100Z",
        ),
        ({"timingInfo": {"clientStartTime": 4745.3}}, None),
        ({}, None),
    ],
)
def test_times(tmp_path: Path, bubble: dict[str, Any], at: str | None) -> None:
    (message,) = messages(read_chat(tmp_path, {"type": 2, "text": "x", **bubble}))

    assert message.at == at


def test_a_headers_time_stands_in(tmp_path: Path) -> None:
    rows = chat({"type": 1, "text": "x"})
    rows[f"composerData:{CHAT}"]["fullConversationHeadersOnly"][0]["createdAt"] = "2026-06-21T00:00:05Z"
    ((got,), _) = read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))

    assert messages(got)[0].at == "2026-06-21T00:00:05Z"


@pytest.mark.parametrize(
    ("data", "output", "is_error"),
    [
        ({"status": "completed", "result": '{"output": "a\\n", "exitCodeV2": 0}'}, "a\n", False),
        ({"status": "completed", "result": '{"contents": "text of a file"}'}, "text of a file", False),
        ({"status": "completed", "result": '{"files": []}'}, '{"files": []}', False),
        ({"status": "completed", "result": "plain"}, "plain", False),
        ({"status": "completed"}, "", False),
        ({"status": "error", "error": '{"clientVisibleErrorMessage": "no"}'}, "no", True),
        ({"status": "error", "error": "no"}, "no", True),
        ({"status": "cancelled"}, "", True),
        ({"result": "so far", "status": "running"}, "so far", None),
    ],
)
def test_results(tmp_path: Path, data: dict[str, Any], output: str, is_error: bool | None) -> None:
    used = {"tool": 15, "name": "run_terminal_cmd", "toolCallId": "t1", "rawArgs": "{}", **data}
    (message,) = messages(read_chat(tmp_path, {"type": 2, "toolFormerData": used}))
    call, result = message.parts

    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (call.call_id, call.kind, call.extra["status"]) == ("t1", "shell", data["status"])
    assert (result.call_id, result.output, result.is_error) == ("t1", output, is_error)


@pytest.mark.parametrize("status", ["loading", "pending", "running", None])
def test_a_tool_that_has_not_answered_has_no_result(tmp_path: Path, status: str | None) -> None:
    used = {"name": "grep", "status": status, "params": '{"pattern": "x"}'}
    (message,) = messages(read_chat(tmp_path, {"type": 2, "toolFormerData": used}))

    (call,) = message.parts
    assert isinstance(call, ToolCall)
    # Without an id of its own a call is known by its bubble.
    assert (call.call_id, call.input, call.kind) == ("b0", '{"pattern": "x"}', "search")


@pytest.mark.parametrize(
    ("raw", "params", "expected"),
    [
        ('{"a": 1}', '{"b": 2}', '{"a": 1}'),
        ("", '{"b": 2}', '{"b": 2}'),
        ('{"a": "cut off', '{"b": 2}', '{"b": 2}'),
        ('{"a": "cut off', None, '{"a": "cut off'),
        ({"a": 1}, None, {"a": 1}),
        (None, None, None),
    ],
)
def test_arguments_are_what_the_model_wrote(tmp_path: Path, raw: Any, params: Any, expected: Any) -> None:
    used = {"name": "grep", "rawArgs": raw, "params": params}
    (message,) = messages(read_chat(tmp_path, {"type": 2, "toolFormerData": used}))

    (call,) = message.parts
    assert isinstance(call, ToolCall)
    assert call.input == expected


@pytest.mark.parametrize(
    ("rich", "text"),
    [
        (json.dumps({"root": {"children": [{"type": "paragraph", "children": [{"text": "a"}]}]}}), "a"),
        ("just words", "just words"),
        (json.dumps({"root": {"children": [7, {"children": "x"}, {"text": ["x"]}, {"text": "b"}]}}), "b"),
    ],
)
def test_words_that_only_the_rich_text_has(tmp_path: Path, rich: str, text: str) -> None:
    (message,) = messages(read_chat(tmp_path, {"type": 1, "text": "", "richText": rich}))

    assert message.parts == [Text(text=text)]


def test_thoughts(tmp_path: Path) -> None:
    (message,) = messages(
        read_chat(tmp_path, {"type": 2, "text": "So.", "thinking": {"text": "Hm.", "signature": "s"}})
    )

    assert message.parts == [Reasoning(text="Hm.", signature="s"), Text(text="So.")]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"inputTokens": 900, "outputTokens": 12}, (900, 12)),
        ({"inputTokens": 0, "outputTokens": 12}, (None, 12)),
    ],
)
def test_tokens_that_were_counted(tmp_path: Path, counts: dict[str, int], expected: tuple[Any, Any]) -> None:
    (message,) = messages(read_chat(tmp_path, {"type": 2, "text": "x", "tokenCount": counts}))

    assert message.usage is not None
    assert (message.usage.input, message.usage.output) == expected
    assert message.usage.extra == counts


@pytest.mark.parametrize("counts", [{"inputTokens": 0, "outputTokens": 0}, {}, None])
def test_tokens_that_were_not_counted_are_no_zeros(tmp_path: Path, counts: Any) -> None:
    (message,) = messages(read_chat(tmp_path, {"type": 2, "text": "x", "tokenCount": counts}))

    assert message.usage is None
    assert "tokenCount" not in message.extra


def test_what_was_not_counted_is_noted_once(tmp_path: Path) -> None:
    counted = {"type": 2, "text": "x", "tokenCount": {"inputTokens": 5, "outputTokens": 5}}
    rows = chat(counted, {"type": 2, "text": "y"}) | chat(counted, {"type": 2, "text": "z"}, chat_id=OTHER)
    _, notes = read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))

    assert noted(notes, Kind.PARTIAL_USAGE) == ["answers without token counts: 2"]


def test_the_model_of_an_answer_is_its_own_or_that_of_the_question(tmp_path: Path) -> None:
    got = read_chat(
        tmp_path,
        {"type": 1, "text": "a", "modelInfo": {"modelName": "gpt-5.1"}},
        {"type": 2, "text": "b"},
        {"type": 2, "text": "c", "modelInfo": {"modelName": "o5"}},
        {"type": 1, "text": "d"},
        {"type": 2, "text": "e"},
    )

    assert [message.model for message in messages(got)] == [None, "gpt-5.1", "o5", None, None]


def test_what_is_sent_along(tmp_path: Path) -> None:
    context = {
        "fileSelections": [{"uri": {"fsPath": "/a/b.py"}}],
        "selections": [
            {"uri": "file:///a/c.py", "range": {"startLineNumber": 2, "endLineNumber": 3}, "text": "x"}
        ],
        "selectedImages": [{"path": "/a/d.png"}],
    }
    bubble = {"type": 1, "text": "?", "context": context, "images": [{"data": "aW1n"}]}
    (message,) = messages(read_chat(tmp_path, bubble))
    file, code, shown, inline = message.parts[1:]

    assert isinstance(file, Media)
    assert (file.kind, file.ref, file.name) == ("file", "/a/b.py", "b.py")
    assert isinstance(code, Code)
    assert (code.code, code.file, code.first_line, code.last_line) == ("x", "/a/c.py", 2, 3)
    assert isinstance(shown, Media)
    assert (shown.kind, shown.ref) == ("image", "/a/d.png")
    assert isinstance(inline, Media)
    assert (inline.kind, inline.data) == ("image", "aW1n")


def test_code_occurs_once(tmp_path: Path) -> None:
    block = {"content": "say('hi')", "languageId": "python"}
    written = {"name": "edit_file_v2", "params": json.dumps({"streamingContent": "say('hi')\n"})}
    got = read_chat(
        tmp_path,
        {"type": 2, "text": "```\nsay('hi')\n```", "codeBlocks": [block]},
        {"type": 2, "text": "", "toolFormerData": written, "codeBlocks": [block]},
        {"type": 2, "text": "Here.", "codeBlocks": [block]},
    )

    assert [[type(part).__name__ for part in message.parts] for message in messages(got)] == [
        ["Text"],
        ["ToolCall"],
        ["Text", "Code"],
    ]
    assert messages(got)[0].extra["codeBlocks"] == [block]


def test_a_block_without_code_is_none(tmp_path: Path) -> None:
    place = {"scheme": "file", "path": "/c:/egg.py"}
    mark, code = {"uri": place, "codeBlockIdx": 0}, {"uri": place, "content": "say('hi')"}
    got = read_chat(
        tmp_path,
        {"type": 2, "text": "```\nsay('ho')\n```", "codeBlocks": [mark, {**mark, "content": "", "code": ""}]},
        {"type": 2, "text": "Here.", "codeBlocks": [mark, code]},
    )
    first, second = messages(got)

    assert first.parts == [Text(text="```\nsay('ho')\n```")]
    assert first.extra["codeBlocks"] == [mark, {**mark, "content": "", "code": ""}]
    assert second.parts == [
        Text(text="Here."),
        Code(code="say('hi')", file="c:/egg.py", extra={"uri": place}),
    ]
    assert second.extra["codeBlocks"] == [mark]


def test_order_workspaces_and_retried_bubbles(tmp_path: Path) -> None:
    rows = chat({"type": 2, "text": "second", "bubbleId": "a"}, {"type": 2, "text": "", "bubbleId": "empty"})
    rows[f"composerData:{CHAT}"]["fullConversationHeadersOnly"].insert(0, {"bubbleId": "z", "type": 1})
    rows[f"bubbleId:{CHAT}:z"] = {"type": 1, "text": "first"}
    rows[f"bubbleId:{CHAT}:gone"] = {"type": 2, "text": "an earlier answer"}
    ((got,), _) = read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))

    assert [entry.id for entry in got.timeline] == ["z", "a", "empty", "gone"]
    assert isinstance(got.timeline[2], Event)
    assert [message.hidden for message in messages(got)] == [False, False, True]


def test_sub_agents_are_linked_by_either_side(tmp_path: Path) -> None:
    child = chat({"type": 1, "text": "go"}, chat_id=OTHER)
    told = chat(
        {"type": 1, "text": "go"},
        chat_id="c3",
        subagentInfo={"parentComposerId": CHAT, "toolCallId": "t1"},
    )
    rows = chat({"type": 1, "text": "start"}, subagentComposerIds=[OTHER, CHAT]) | child | told
    chats = {got.id: got.link for got in read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))[0]}

    assert chats[CHAT] is None
    assert (link := chats[OTHER]) is not None
    assert (link.conversation_id, link.relation, link.call_id) == (CHAT, "subagent", None)
    assert (link := chats["c3"]) is not None
    assert (link.conversation_id, link.call_id) == (CHAT, "t1")


def test_checkpoints_contexts_and_diffs_stay_with_the_chat(tmp_path: Path) -> None:
    rows = chat({"type": 1, "text": "x", "checkpointId": "k1"})
    rows |= {f"checkpointId:{CHAT}:k1": {"files": []}, f"checkpointId:{CHAT}:k2": {"files": [1]}}
    rows |= {f"codeBlockDiff:{CHAT}:d1": {"new": 1}, f"messageRequestContext:{CHAT}:b0": {"rules": ["tabs"]}}
    ((got,), _) = read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))

    assert [(entry.id, type(entry).__name__) for entry in got.timeline] == [
        ("b0", "Message"),
        ("k1", "Event"),
        ("k2", "Event"),
    ]
    assert messages(got)[0].extra["messageRequestContext"] == {"rules": ["tabs"]}
    assert got.extra["codeBlockDiff"] == {"d1": {"new": 1}}


LAID_OUT = '{"rootPath": "egg", "listDirV2Result": {"directoryTreeRoot": {"absPath": "/srv/egg"}}}'


@pytest.mark.parametrize(
    ("layouts", "state", "cwd", "branch"),
    [
        ([LAID_OUT], "On branch main\nYour branch is ahead", "/srv/egg", "main"),
        ([LAID_OUT, LAID_OUT], "HEAD detached at 1234567", None, None),
        (["{", 1], None, None, None),
        (["{"], 1, None, None),
        ([{"listDirV2Result": []}], "", None, None),
        ("x", None, None, None),
    ],
)
def test_folder_and_branch_that_went_along_with_a_prompt(
    tmp_path: Path, layouts: Any, state: Any, cwd: str | None, branch: str | None
) -> None:
    context = {"projectLayouts": layouts, "gitStatusRaw": state}
    rows = chat({"type": 1, "text": "x"}) | {f"messageRequestContext:{CHAT}:b0": context}
    ((got,), _) = read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))

    assert (got.cwd, got.git_branch) == (cwd, branch)


def test_secrets_are_not_taken_over(tmp_path: Path) -> None:
    got = read_chat(
        tmp_path, {"type": 1, "text": "x"}, blobEncryptionKey="k", speculativeSummarizationEncryptionKey="k"
    )

    assert not {"blobEncryptionKey", "speculativeSummarizationEncryptionKey"} & got.extra.keys()


# Where the rows are


def test_rows_in_the_wal_are_read_and_the_source_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "live" / "state.vscdb"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as live:
        live.executescript(f"PRAGMA journal_mode = WAL; CREATE TABLE cursorDiskKV {KEY_VALUE}")
        rows = [(key, json.dumps(value)) for key, value in chat({"type": 1, "text": "new"}).items()]
        live.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        live.commit()
        before = {
            file.name: file.read_bytes() for file in path.parent.iterdir() if file.suffix != ".vscdb-shm"
        }
        (got,) = read(path)[0]
        after = {
            file.name: file.read_bytes() for file in path.parent.iterdir() if file.suffix != ".vscdb-shm"
        }

    assert "state.vscdb-wal" in before
    assert messages(got)[0].parts == [Text(text="new")]
    assert before == after


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ana/a%20b", "/home/ana/a b"),
        ("file:///c%3A/Users/ana", "c:/Users/ana"),
        ("vscode-remote://wsl%2Bubuntu/home/ana", "/home/ana"),
        ({"fsPath": "C:\\x", "path": "/c:/x"}, "C:\\x"),
        ({"external": "file:///x"}, "/x"),
        ({}, None),
        (7, None),
        ("", None),
    ],
)
def test_places(uri: Any, path: str | None) -> None:
    assert path_of(uri) == path


def test_memory_stays_with_the_largest_chat(tmp_path: Path) -> None:
    """Sixty chats of half a megabyte each: what is held is one of them."""
    rows: dict[str, Any] = {}
    for number in range(60):
        bubbles = [{"type": 2, "text": f"{number} {place} " + "x" * 5_000} for place in range(100)]
        rows |= chat(*bubbles, chat_id=f"chat-{number:03d}")
    path = database(tmp_path / "state.vscdb", cursorDiskKV=rows)
    rows.clear()
    tracemalloc.start()
    count = sum(1 for _ in read_all([str(path)], Notes()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 60
    assert peak < 8_000_000


# Blobs


def named(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def reference(number: int, name: str) -> bytes:
    return bytes([number << 3 | 2, 32]) + bytes.fromhex(name)


@pytest.mark.parametrize(
    ("content", "mime", "data", "ref"),
    [
        ("aW1n", None, "aW1n", None),
        ("data:image/png;base64,aW1n", "image/png", "aW1n", None),
        ("https://example.org/a.png", None, None, "https://example.org/a.png"),
    ],
)
def test_pictures_of_the_command_line(content: str, mime: Any, data: Any, ref: Any) -> None:
    told = agent_messages.entry(
        {"role": "user", "content": [{"type": "image", "image": content}]}, "", CHAT, Notes()
    )

    assert isinstance(told, Message)
    assert told.parts == [Media(kind="image", mime=mime, data=data, ref=ref)]


def test_a_chain_of_many_blobs_does_not_end_the_process() -> None:
    held: dict[str, bytes] = {}
    node = b""
    for number in range(20_000):
        said = b'{"role":"user","content":"%d"}' % number
        node = (reference(1, named(node)) if node else b"") + bytes([4 << 3 | 2, len(said)]) + said
        held[named(node)] = node
    found = [blob.data for blob in blobs.messages(node, held.get)]

    assert len(found) == 20_000
    assert (found[0], found[-1]) == (b'{"role":"user","content":"0"}', b'{"role":"user","content":"19999"}')


def test_blobs_that_name_each_other_end() -> None:
    first, second = "11" * 32, "22" * 32
    held = {first: reference(1, second), second: reference(2, first) + reference(2, second)}

    assert [*blobs.messages(reference(1, first), held.get)] == []


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 50, b"\x0a\x20short", b"\x0b\x0c", b"\x08", b"\x0a\xff\xff\xff\xff\xff"]
)
def test_bytes_that_are_no_protobuf(data: bytes) -> None:
    assert [payload for _, payload in blobs.decode_fields(data) if len(payload) == 32] == []


def test_a_message_that_is_not_there_is_noted(tmp_path: Path) -> None:
    said = b'{"role":"user","content":[{"type":"text","text":"hi"}]}'
    root = reference(1, named(said)) + reference(1, "ab" * 32)
    head = json.dumps({"agentId": CHAT, "latestRootBlobId": named(root), "createdAt": 1782000000000})
    path = store(tmp_path / "store.db", head.encode().hex(), **{named(said): said, named(root): root})
    ((got,), notes) = read(path)

    assert (got.id, got.started_at) == (CHAT, "2026-06-21T00:00:00.000Z")
    assert [message.parts for message in messages(got)] == [[Text(text="hi")]]
    assert noted(notes, Kind.MISSING_FILE) == ["a message of the chat"]


def test_repeated_equal_messages_are_not_slow(tmp_path: Path) -> None:
    said = b'{"role":"user","content":"Go on."}'
    root = reference(1, named(said)) * 4000
    head = json.dumps({"agentId": CHAT, "latestRootBlobId": named(root)})
    path = store(tmp_path / "store.db", head, **{named(said): said, named(root): root})
    started = time.process_time()
    ((got,), _) = read(path)

    assert time.process_time() - started < 5
    assert len({message.id for message in messages(got)}) == 4000


@pytest.mark.parametrize(
    ("block", "output", "is_error"),
    [
        ({"result": "a"}, "a", None),
        ({"output": {"type": "text", "value": "a"}}, "a", None),
        ({"output": {"type": "error-text", "value": "a"}}, "a", True),
        ({"result": {"files": 2}, "isError": False}, [Other(data={"files": 2})], False),
    ],
)
def test_results_of_the_command_line(
    tmp_path: Path, block: dict[str, Any], output: Any, is_error: bool | None
) -> None:
    content = [{"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", **block}]
    said = json.dumps({"role": "tool", "content": content}).encode()
    root = reference(1, named(said))
    head = json.dumps({"agentId": CHAT, "latestRootBlobId": named(root)})
    ((got,), _) = read(store(tmp_path / "store.db", head, **{named(said): said, named(root): root}))
    (result,) = messages(got)[0].parts

    assert result == ToolResult(call_id="t1", name="Shell", output=output, is_error=is_error)


def test_the_agents_copy_stands_in_for_bubbles_that_are_lost(tmp_path: Path) -> None:
    system, said = b'{"role":"system","content":"Be brief."}', b'{"role":"user","content":"hi"}'
    root = reference(1, named(system)) + reference(1, named(said))
    state = "~" + base64.b64encode(root).decode()
    rows: dict[str, Any] = {f"agentKv:blob:{named(data)}": data for data in (system, said)}
    rows |= chat(chat_id=OTHER, conversationState=state) | chat(
        {"type": 1, "text": "hi"}, conversationState=state
    )
    chats = {got.id: got for got in read(database(tmp_path / "state.vscdb", cursorDiskKV=rows))[0]}

    assert [(m.role, m.hidden) for m in messages(chats[OTHER])] == [("system", True), ("user", False)]
    # Where the bubbles are, only what they do not tell is taken.
    assert [(m.role, m.id) for m in messages(chats[CHAT])] == [("system", named(system)), ("user", "b0")]


# One chat in several forms


LINE = '{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\\nhi\\n</user_query>"}]}}\n'


def transcript(home: Path, name: str = f"{CHAT}/{CHAT}.jsonl", text: str = LINE) -> Path:
    path = home / ".cursor" / "projects" / "home-ana" / "agent-transcripts" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("sent", "typed", "at"),
    [
        (f"{STAMPED}<user_query>\nhello\n</user_query>", "hello", "2026-06-29T13:39:00-07:00"),
        (f"{STAMPED}hello", "hello", "2026-06-29T13:39:00-07:00"),
        (f"<image_files>\na.png\n</image_files>\n{STAMPED}hello", "hello", "2026-06-29T13:39:00-07:00"),
        (f"<rules>\nx\n</rules>\n{STAMPED}<user_query>a</user_query>", "a", "2026-06-29T13:39:00-07:00"),
        (STAMPED.replace("1:39 PM (UTC-7)", "12:05 AM (UTC+5:30)") + "a", "a", "2026-06-29T00:05:00+05:30"),
        (STAMPED.replace("1:39 PM (UTC-7)", "12:05\u202fPM (UTC)") + "a", "a", "2026-06-29T12:05:00+00:00"),
        (STAMPED.replace("Jun 29", "Jun 39") + "hello", "hello", None),
        (STAMPED.replace("Jun", "Moo") + "hello", "hello", None),
        (f"hello {STAMPED}", f"hello {STAMPED}", None),
        (f"<user_query>see {STAMPED}.</user_query>", f"see {STAMPED}.", None),
        ("<timestamp>today</timestamp>\nhello", "<timestamp>today</timestamp>\nhello", None),
    ],
)
def test_when_prompts_were_typed(sent: str, typed: str, at: str | None) -> None:
    told = unwrap_prompt(sent)

    assert (told.text, prompt_time([told])) == (typed, at)


def test_long_prompts_are_looked_at_once() -> None:
    for text in ("<image_files>" * 200_000, "<timestamp>" * 200_000 + "<user_query>", STAMPED[:-5] * 50_000):
        began = time.perf_counter()
        prompt_time([unwrap_prompt(text)])
        assert time.perf_counter() - began < 1


def test_a_transcript_alone_is_read(tmp_path: Path) -> None:
    ((got,), notes) = read(transcript(tmp_path))

    assert (got.id, got.made_id) == (CHAT, False)
    assert [note.kind for note in notes.collected] == [Kind.MISSING_TIME.label]
    (message,) = messages(got)
    assert (message.made_id, message.at, message.model) == (True, None, None)
    # What was typed is the text; what was sent is kept.
    assert message.parts == [Text(text="hi", extra={"text": "<user_query>\nhi\n</user_query>"})]


@pytest.mark.parametrize("name", [f"{CHAT}/{CHAT}.jsonl", f"{CHAT}.jsonl"])
@pytest.mark.parametrize("system", [".config", "Library/Application Support", "AppData/Roaming"])
def test_a_transcript_of_a_chat_in_the_editor_is_left_out(tmp_path: Path, name: str, system: str) -> None:
    state = tmp_path / system / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    database(state, cursorDiskKV=chat({"type": 1, "text": "hi"}))
    chats, notes = read(transcript(tmp_path, name))

    assert chats == []
    assert noted(notes, Kind.IGNORED_FILE) == ["the same chat is in the editor's state.vscdb"]


def test_a_transcript_of_another_chat_is_read(tmp_path: Path) -> None:
    state = tmp_path / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    database(state, cursorDiskKV=chat({"type": 1, "text": "hi"}, chat_id=OTHER))

    assert [got.id for got in read(transcript(tmp_path))[0]] == [CHAT]


def test_a_transcript_of_a_chat_in_a_store_is_left_out(tmp_path: Path) -> None:
    store(tmp_path / ".cursor" / "chats" / "5d41" / CHAT / "store.db", "7b7d")
    chats, notes = read(transcript(tmp_path))

    assert chats == []
    assert noted(notes, Kind.IGNORED_FILE) == ["the same chat is in store.db"]


def test_a_sub_agents_transcript_is_linked(tmp_path: Path) -> None:
    ((got,), _) = read(transcript(tmp_path, f"{CHAT}/subagents/{OTHER}.jsonl"))

    assert got.id == OTHER
    assert got.link is not None
    assert (got.link.conversation_id, got.link.relation) == (CHAT, "subagent")


def test_a_transcript_that_was_renamed_gets_an_id(tmp_path: Path) -> None:
    path = tmp_path / "saved.jsonl"
    path.write_text(LINE)
    first, second = read(path)[0][0], read(path)[0][0]

    assert first.made_id
    assert first.id == second.id


# Targets


def test_unified(tmp_path: Path) -> None:
    used = {
        "name": "read_file",
        "toolCallId": "t1",
        "rawArgs": '{"path": "a"}',
        "status": "completed",
        "result": "b",
    }
    rows = chat(
        {"type": 1, "text": "Hi"}, {"type": 2, "text": "Yes", "toolFormerData": used}, createdAt=1782000000000
    )
    path = database(tmp_path / "state.vscdb", cursorDiskKV=rows)
    document = converted(path, "unified").only

    assert document["platform"]["name"] == "cursor"
    assert document["conversation_id"] == CHAT
    assert [message["role"] for message in document["messages"]][:2] == ["user", "assistant"]


def test_agent_record_has_the_content_as_it_was(tmp_path: Path) -> None:
    record = converted(transcript(tmp_path), "agent-record").only

    assert record["session"]["session-id"] == CHAT
    assert record["session"]["agent-meta"]["cli-name"] == "cursor"
    (entry,) = record["session"]["entries"]
    assert entry["content"] == json.loads(LINE)["message"]["content"]
