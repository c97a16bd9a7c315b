"""Continue into the model: each row of the documented mapping, what lies on disk, and detection."""

from __future__ import annotations

import copy
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.errors import AgentJournalError
from agent_journal.inputs.input import File, Folder
from agent_journal.model import (
    Conversation,
    Event,
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
from agent_journal.readers import continue_dev
from agent_journal.readers.continue_dev.config import Models
from agent_journal.readers.continue_dev.history import History
from agent_journal.readers.continue_dev.session_logs import SessionLogs
from tests.cases import all_cases
from tests.inline import converted, save_document, save_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION = "0b6f7c1e-5a10-4c1e-9d70-1f2a3b4c5d01"
OTHER = "0b6f7c1e-5a10-4c1e-9d70-1f2a3b4c5d02"
AGENT = "vscode/1.104.0 (Continue/1.2.11)"
CHATML = "<|im_start|>user\nHow are you<|im_end|>\n<|im_start|>assistant\nI am doing well!<|im_end|>"
CALL = {"id": "t1", "type": "function", "function": {"name": "read_file", "arguments": '{"filepath":"a.py"}'}}


def item(role: Any, content: Any, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, **(message or {})}, "contextItems": [], **more}


def session(*items: Any, **more: Any) -> dict[str, Any]:
    return {
        "sessionId": SESSION,
        "title": "Fix",
        "workspaceDirectory": "/home/robin/app",
        "history": [*items],
        **more,
    }


def home(
    folder: Path,
    document: dict[str, Any] | None = None,
    *,
    index: Any = None,
    config: str | None = None,
    **logs: list[dict[str, Any]],
) -> Path:
    """A folder as the application has it."""
    (folder / "sessions").mkdir()
    (folder / "dev_data" / "0.2.0").mkdir(parents=True)
    if document is not None:
        save_document(folder / "sessions", f"{SESSION}.json", document)
    stated = [
        {"sessionId": SESSION, "title": "Fix", "dateCreated": "1762770000000", "workspaceDirectory": ""}
    ]
    save_document(folder / "sessions", "sessions.json", stated if index is None else index)
    if config is not None:
        (folder / "config.yaml").write_text(config, encoding="utf-8")
    for name, events in logs.items():
        save_lines(folder / "dev_data" / "0.2.0", f"{name}.jsonl", events)
    return folder


def event(name: str, at: str = "2025-11-10T10:20:03.000Z", **more: Any) -> dict[str, Any]:
    base = {"eventName": name, "schema": "0.2.0", "timestamp": at, "userAgent": AGENT, "userId": ""}
    return {**base, "sessionId": SESSION, "modelName": "Sonnet", "modelTitle": "Sonnet", **more}


def read_items(path: Path) -> tuple[list[Conversation], Notes]:
    notes = Notes()
    return [found for found in read_all([str(path)], notes) if isinstance(found, Conversation)], notes


def read(path: Path) -> tuple[Conversation, Notes]:
    (found,), notes = read_items(path)
    return found, notes


def of(folder: Path, *items: Any, **more: Any) -> tuple[Conversation, Notes]:
    return read(save_document(folder, f"{SESSION}.json", session(*items, **more)))


def messages(conversation: Conversation) -> list[Message]:
    return list(tree.messages(conversation))


def noted(notes: Notes, kind: Kind) -> list[str]:
    return [note.detail for note in notes.collected if note.kind == kind.label]


# The rows of the documented mapping, on written output.

CONFIG = "models:\n  - name: Sonnet\n    provider: anthropic\n    model: claude-sonnet-4-5\n"


@pytest.fixture
def unified(tmp_path: Path) -> Any:
    asked = item("user", "hi")
    answer = item("assistant", "ho", promptLogs=[{"modelTitle": "Sonnet", "prompt": "p", "completion": "c"}])
    log = [event("chatInteraction", prompt="p", completion="c")]
    return converted(
        home(tmp_path, session(asked, answer), config=CONFIG, chatInteraction=log), "unified"
    ).only


def test_schema_version(unified: Any) -> None:
    assert unified["schema_version"] == "1.0.0"


def test_conversation_id_is_that_of_the_session(unified: Any) -> None:
    assert unified["conversation_id"] == unified["session"]["session_id"] == SESSION


def test_platform_name(unified: Any) -> None:
    assert unified["platform"]["name"] == "continue_dev"


def test_platform_version_is_that_of_the_extension(unified: Any) -> None:
    assert unified["platform"]["version"] == "1.2.11"


def test_platform_model_is_the_configured_one(unified: Any) -> None:
    assert unified["platform"]["model"] == "claude-sonnet-4-5"
    assert unified["platform"]["metadata"]["models"] == [
        {"name": "Sonnet", "provider": "anthropic", "model": "claude-sonnet-4-5"}
    ]


def test_editor(unified: Any) -> None:
    assert unified["context"]["environment"]["editor"] == "vscode"


def test_a_function_keeps_its_role(tmp_path: Path) -> None:
    answered = item("function", "sunny", {"name": "weather"})
    path = save_document(tmp_path, f"{SESSION}.json", session(item("user", "How is it?"), answered))

    (conversation,) = read_all([str(path)], Notes())
    assert isinstance(conversation, Conversation)
    assert [message.role for message in tree.messages(conversation)] == ["user", "tool"]
    roles = [message["role"] for message in converted(path, "unified").only["messages"]]
    assert roles == ["user", "function"]


def test_roles_and_times_of_messages(unified: Any) -> None:
    assert [(message["role"], message["timestamp"]) for message in unified["messages"]] == [
        ("user", "2025-11-10T10:20:00.000Z"),
        ("assistant", "2025-11-10T10:20:03.000Z"),
    ]
    assert unified["created_at"] == "2025-11-10T10:20:00.000Z"
    assert unified["updated_at"] == "2025-11-10T10:20:03.000Z"


def test_required_fields(unified: Any) -> None:
    assert continue_dev.INFO.required == ("conversation_id", "messages", "platform.model")
    assert unified["conversation_id"]
    assert unified["messages"]
    assert unified["platform"]["model"]


@pytest.mark.parametrize("name", ["prompt", "messages"])
def test_a_chat_template_becomes_messages(tmp_path: Path, name: str) -> None:
    document = {"sessionId": SESSION, "models": [{"provider": "ollama", "model": "qwen"}], name: CHATML}
    written = converted(save_document(tmp_path, "a.json", document), "unified").only

    assert [(message["role"], message["content"]) for message in written["messages"]] == [
        ("user", [{"type": "text", "text": "How are you"}]),
        ("assistant", [{"type": "text", "text": "I am doing well!"}]),
    ]
    assert all(len(message["message_id"]) == 36 for message in written["messages"])


def test_context_providers_and_codebase(tmp_path: Path) -> None:
    document = {
        "sessionId": SESSION,
        "context": {
            "workspaceDir": "/home/robin/app",
            "gitBranch": "main",
            "providers": [{"name": "file", "query": "a.py"}],
            "codebaseContext": "three files",
        },
        "messages": [{"role": "user", "content": "hi"}],
    }
    written = converted(save_document(tmp_path, "a.json", document), "unified").only

    assert written["context"] == {
        "workspace": {"path": "/home/robin/app", "git_branch": "main"},
        "custom": {
            "context_providers": [{"name": "file", "query": "a.py"}],
            "codebase_context": "three files",
        },
    }


def test_a_documented_conversation(tmp_path: Path) -> None:
    document = {
        "thread_id": "t-1",
        "version": "1.0.1",
        "ide": "jetbrains",
        "config": {"models": [{"model": "gpt-4o", "provider": "openai"}]},
        "messages": [{"role": role, "content": role} for role in ("system", "user", "assistant")],
    }
    conversation, notes = read(save_document(tmp_path, "a.json", document))

    assert (conversation.id, conversation.app_version, conversation.editor) == ("t-1", "1.0.1", "jetbrains")
    assert conversation.model == "gpt-4o"
    assert [message.role for message in messages(conversation)] == ["system", "user", "assistant"]
    assert [note.kind for note in notes.collected] == [Kind.MISSING_TIME.label]


def test_times_and_ids_of_documented_messages(tmp_path: Path) -> None:
    said = {"id": "m1", "role": "user", "content": "hi", "timestamp": 1762770000}
    document = {"session_id": "s", "models": [{"model": "m", "provider": "p"}], "messages": [said]}
    (message,) = messages(read(save_document(tmp_path, "a.json", document))[0])

    assert (message.id, message.made_id, message.at) == ("m1", False, "2025-11-10T10:20:00Z")


def test_documented_messages_with_one_id_get_unique_ids(tmp_path: Path) -> None:
    said = [{"id": "m1", "role": "user", "content": word} for word in ("hi", "ho")]
    document = {"session_id": "s", "models": [{"model": "m", "provider": "p"}], "messages": said}
    conversation, notes = read(save_document(tmp_path, "a.json", document))
    first, second = messages(conversation)

    assert (first.id, second.made_id, second.extra) == ("m1", True, {"id": "m1"})
    assert first.id != second.id
    assert noted(notes, Kind.DUPLICATE_ID) == ["m1"]


# Sessions as they lie on disk.


def test_calls_without_a_word_take_no_longer_one_after_the_other(tmp_path: Path) -> None:
    calls = [item("assistant", "", {"toolCalls": [{**CALL, "id": f"t{number}"}]}) for number in range(4000)]
    started = time.process_time()
    found = messages(of(tmp_path, *calls)[0])

    assert time.process_time() - started < 5
    assert len({message.id for message in found}) == len(calls)


def test_the_index_gives_the_date_and_stands_in_for_the_title(tmp_path: Path) -> None:
    index = [{"sessionId": SESSION, "title": "Named", "dateCreated": "1762770000000", "messageCount": 1}]
    conversation, _ = read(home(tmp_path, {**session(item("user", "hi")), "title": ""}, index=index))

    assert conversation.title == "Named"
    assert conversation.started_at == "2025-11-10T10:20:00.000Z"
    assert conversation.extra["index"] == {"messageCount": 1}


@pytest.mark.parametrize("title", ["Untitled Session", "New Session"])
def test_a_title_that_stands_for_none_is_none(tmp_path: Path, title: str) -> None:
    index = [{"sessionId": SESSION, "title": title, "dateCreated": "1762770000000"}]
    conversation, _ = read(home(tmp_path, {**session(item("user", "hi")), "title": title}, index=index))

    assert conversation.title is None
    assert conversation.extra["title"] == title


def test_the_index_is_found_from_one_file_too(tmp_path: Path) -> None:
    home(tmp_path, session(item("user", "hi")), config=CONFIG)
    conversation, _ = read(tmp_path / "sessions" / f"{SESSION}.json")

    assert conversation.started_at == "2025-11-10T10:20:00.000Z"
    assert conversation.model == "claude-sonnet-4-5"


def test_a_session_that_only_the_index_knows(tmp_path: Path) -> None:
    (conversation,), notes = read_items(home(tmp_path))

    assert (conversation.id, conversation.title, conversation.timeline) == (SESSION, "Fix", [])
    assert noted(notes, Kind.MISSING_FILE) == [f"{SESSION}.json, a session in the index"]


def test_a_session_that_the_index_does_not_know(tmp_path: Path) -> None:
    index = [{"sessionId": OTHER, "title": "x", "dateCreated": "1762770000000"}]
    conversations, _ = read_items(home(tmp_path, session(item("user", "hi")), index=index))

    assert [conversation.id for conversation in conversations] == [SESSION, OTHER]


def test_a_damaged_index_costs_no_session(tmp_path: Path) -> None:
    folder = home(tmp_path, session(item("user", "hi")))
    (folder / "sessions" / "sessions.json").write_text("[{", encoding="utf-8")

    assert read(folder / "sessions")[0].id == SESSION


def test_the_file_time_is_used_without_another_time(tmp_path: Path) -> None:
    path = save_document(tmp_path, f"{SESSION}.json", session(item("user", "hi")))
    os.utime(path, (1762770000, 1762770000))
    conversation, notes = read(path)

    assert (conversation.started_at, conversation.updated_at) == (None, "2025-11-10T10:20:00Z")
    assert noted(notes, Kind.MISSING_TIME) == ["the time of the file stands in"]


@pytest.mark.parametrize(
    ("stated", "cwd", "kept"),
    [
        ("/home/robin/app", "/home/robin/app", None),
        ("file:///home/robin/my%20app", "/home/robin/my app", "file:///home/robin/my%20app"),
        ("file:///c%3A/Users/robin", "c:/Users/robin", "file:///c%3A/Users/robin"),
        ("vscode-remote://ssh/home", "vscode-remote://ssh/home", None),
        ("", None, None),
    ],
)
def test_the_folder_is_a_path_or_an_address(
    tmp_path: Path, stated: str, cwd: str | None, kept: str | None
) -> None:
    conversation, _ = of(tmp_path, item("user", "hi"), workspaceDirectory=stated)

    assert conversation.cwd == cwd
    assert conversation.extra.get("workspaceDirectory") == kept


def test_a_call_its_state_and_its_result_occur_once(tmp_path: Path) -> None:
    state = {
        "toolCallId": "t1",
        "toolCall": CALL,
        "status": "done",
        "parsedArgs": {"filepath": "a.py"},
        "output": [{"name": "a.py", "description": "", "content": "x=1"}],
    }
    conversation, notes = of(
        tmp_path,
        item("assistant", "Let me look.", {"toolCalls": [CALL]}, toolCallStates=[state]),
        item("tool", "x=1", {"toolCallId": "t1"}),
    )

    asked, answered = messages(conversation)
    assert asked.parts == [
        Text(text="Let me look."),
        ToolCall(
            name="read_file", call_id="t1", input='{"filepath":"a.py"}', kind="read", extra={"status": "done"}
        ),
    ]
    assert answered.role == "tool"
    assert answered.parts == [
        ToolResult(
            call_id="t1",
            name="read_file",
            output="x=1",
            is_error=False,
            extra={"output": [{"name": "a.py", "description": ""}]},
        )
    ]
    assert noted(notes, Kind.UNLINKED_RESULT) == []


@pytest.mark.parametrize(
    ("status", "is_error"),
    [("done", False), ("errored", True), ("canceled", True), ("calling", None), ("generated", None)],
)
@pytest.mark.parametrize("name", ["toolCallStates", "toolCallState"])
def test_the_state_says_whether_a_call_failed(
    tmp_path: Path, status: str, is_error: bool | None, name: str
) -> None:
    state = {"toolCallId": "t1", "toolCall": CALL, "status": status, "output": [{"content": "x"}]}
    given: Any = [state] if name.endswith("s") else state
    conversation, _ = of(tmp_path, item("assistant", "", **{name: given}))

    (message,) = messages(conversation)
    call, result = message.parts
    assert isinstance(call, ToolCall)
    assert call.extra["status"] == status
    assert result == ToolResult(call_id="t1", name="read_file", output="x", is_error=is_error)


def test_a_canceled_call_without_output_failed(tmp_path: Path) -> None:
    state = {"toolCallId": "t1", "toolCall": CALL, "status": "canceled"}
    running = {"toolCallId": "t2", "toolCall": {**CALL, "id": "t2"}, "status": "generating"}
    conversation, _ = of(tmp_path, item("assistant", "", toolCallStates=[state, running]))

    results = [part for part in messages(conversation)[0].parts if isinstance(part, ToolResult)]
    assert results == [ToolResult(call_id="t1", name="read_file", is_error=True)]


def test_an_output_that_differs_from_the_message_is_preserved(tmp_path: Path) -> None:
    state = {"toolCallId": "t1", "toolCall": CALL, "status": "done", "output": [{"content": "whole"}]}
    conversation, _ = of(
        tmp_path,
        item("assistant", "", {"toolCalls": [CALL]}, toolCallStates=[state]),
        item("tool", "cut", {"toolCallId": "t1"}),
    )

    (result,) = messages(conversation)[1].parts
    assert isinstance(result, ToolResult)
    assert (result.output, result.extra) == ("cut", {"output": [{"content": "whole"}]})


def test_thoughts(tmp_path: Path) -> None:
    conversation, _ = of(
        tmp_path,
        item("thinking", "hm", {"signature": "s", "redactedThinking": "e"}),
        item("assistant", "so", reasoning={"active": False, "text": "well", "startAt": 1762770000000}),
    )

    first, second = messages(conversation)
    assert (first.role, first.extra["role"]) == ("assistant", "thinking")
    assert first.parts == [Reasoning(text="hm", signature="s", encrypted="e")]
    assert second.parts == [
        Reasoning(text="well", extra={"active": False, "startAt": 1762770000000}),
        Text(text="so"),
    ]
    assert second.at == "2025-11-10T10:20:00.000Z"


def test_context_items_are_attachments_and_state_the_providers(tmp_path: Path) -> None:
    uri = {"type": "file", "value": "file:///a.py"}
    given = {
        "name": "a.py",
        "content": "x=1",
        "uri": uri,
        "id": {"providerTitle": "file", "itemId": "file:///a.py"},
    }
    found = {"name": "b.py", "content": "y", "id": {"providerTitle": "codebase", "itemId": "1"}}
    mention = {"type": "mention", "attrs": {"id": "search", "itemType": "contextProvider", "query": "TODO"}}
    asked = item("user", "hi", editorState={"content": [{"type": "paragraph", "content": [mention]}]})
    conversation, _ = of(tmp_path, {**asked, "contextItems": [given, found]})

    _, first, second = messages(conversation)[0].parts
    assert first == Media(
        kind="document",
        name="a.py",
        ref="file:///a.py",
        text="x=1",
        extra={"uri": uri, "id": given["id"]},
    )
    assert isinstance(second, Media)
    assert conversation.context == {
        "context_providers": [
            {"name": "search", "query": "TODO"},
            {"name": "file", "query": "file:///a.py"},
            {"name": "codebase"},
        ],
        "codebase_context": [{"name": "b.py"}],
    }


def test_images(tmp_path: Path) -> None:
    inline = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,AAAA"}}
    conversation, _ = of(tmp_path, item("user", [{"type": "text", "text": "see"}, inline]))

    assert messages(conversation)[0].parts == [
        Text(text="see"),
        Media(kind="image", mime="image/png", data="AAAA"),
    ]


def test_a_compaction_is_a_summary_up_to_its_message(tmp_path: Path) -> None:
    conversation, _ = of(
        tmp_path, item("user", "a"), item("assistant", "b", {"id": "m2"}, conversationSummary="ab")
    )

    assert conversation.summaries == [Summary(text="ab", kind="system", message_id="m2")]


@pytest.mark.parametrize(
    ("title", "chosen", "config", "model"),
    [
        ("Sonnet", "Other", CONFIG, "claude-sonnet-4-5"),
        ("Unknown", "Sonnet", CONFIG, "Unknown"),
        (None, "Sonnet", CONFIG, "claude-sonnet-4-5"),
        (None, "Nobody", CONFIG, "Nobody"),
        (None, None, CONFIG, "claude-sonnet-4-5"),
        (None, None, "models: []", None),
    ],
)
def test_the_model(
    tmp_path: Path, title: str | None, chosen: str | None, config: str, model: str | None
) -> None:
    logs = [{"modelTitle": title, "prompt": "p", "completion": "c"}] if title else []
    document = session(item("assistant", "x", promptLogs=logs), chatModelTitle=chosen)
    conversation, _ = read(home(tmp_path, document, config=config))

    assert conversation.model == model


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // which models\n  "models": [{"title": "GPT", "provider": "openai", "model": "gpt-4o"}]\n}\n',
        '{"models": [{"title": "GPT", // mine\n  "url": "http://a/*b\\" // c", "model": "gpt-4o"}] /*\n*/}',
        '{"models": [{"title": "GPT", "model": "gpt-4o"}]} // the end',
    ],
)
def test_models_of_the_old_configuration(tmp_path: Path, text: str) -> None:
    folder = home(tmp_path, session(item("user", "hi"), chatModelTitle="GPT"))
    (folder / "config.json").write_text(text, encoding="utf-8")
    conversation, notes = read(folder)

    assert conversation.model == "gpt-4o"
    assert Kind.BAD_RECORD not in notes.counts


def test_nothing_but_models_is_taken_from_the_configuration(tmp_path: Path) -> None:
    config = CONFIG + "    apiKey: a-secret\nrules:\n  - be brief\n"
    conversation, _ = read(home(tmp_path, session(item("user", "hi")), config=config))

    assert "a-secret" not in json.dumps(conversation.platform)


# Tokens.


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        (
            {"promptTokens": 1200, "completionTokens": 80, "promptTokensDetails": {"cachedTokens": 1000}},
            (200, 80, 1000, None, None, None),
        ),
        ({"promptTokens": 5, "completionTokens": 0}, (5, 0, None, None, None, None)),
        # What was cached cannot be part of a prompt that is smaller.
        (
            {
                "prompt_tokens": 12,
                "completion_tokens": 40,
                "prompt_tokens_details": {"cache_read_tokens": 9000, "cache_write_tokens": 300},
                "cost_cents": 2,
            },
            # Cents are rounded: most answers cost less than one.
            (12, 40, 9000, 300, None, None),
        ),
        (
            {"promptTokens": 1, "completionTokens": 9, "completionTokensDetails": {"reasoningTokens": 4}},
            (1, 9, None, None, 4, None),
        ),
    ],
)
def test_tokens_of_an_answer(tmp_path: Path, raw: dict[str, Any], counts: tuple[Any, ...]) -> None:
    conversation, _ = of(tmp_path, item("assistant", "x", {"usage": raw}))

    usage = messages(conversation)[0].usage
    assert usage is not None
    assert (
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.reasoning,
        usage.cost_usd,
    ) == counts
    assert usage.extra == raw


def test_the_sum_of_a_session_counts_once_where_no_answer_states_its_own(tmp_path: Path) -> None:
    whole = {"promptTokens": 100, "completionTokens": 20, "totalCost": 0.5}
    conversation, notes = of(tmp_path, item("assistant", "a"), item("assistant", "b"), usage=whole)

    (usage,) = tree.usages(conversation.timeline)
    assert (usage.input, usage.output, usage.cost_usd) == (100, 20, 0.5)
    assert messages(conversation)[0].usage is None
    assert conversation.extra["usage"] == whole
    assert noted(notes, Kind.PARTIAL_USAGE) == []


def test_what_a_session_counts_beyond_its_answers_is_counted(tmp_path: Path) -> None:
    own = {"promptTokens": 60, "completionTokens": 5}
    whole = {"promptTokens": 100, "completionTokens": 20, "totalCost": 0.5}
    conversation, notes = of(tmp_path, item("assistant", "a", {"usage": own}), usage=whole)

    counted = [(usage.input, usage.output) for usage in tree.usages(conversation.timeline)]
    assert counted == [(60, 5), (40, 15)]
    assert messages(conversation)[-1].hidden
    assert noted(notes, Kind.PARTIAL_USAGE) == []


def test_a_sum_that_does_not_fit_the_answers_is_noted(tmp_path: Path) -> None:
    own = {"promptTokens": 160, "completionTokens": 5}
    whole = {"promptTokens": 100, "completionTokens": 20, "totalCost": 0.5}
    conversation, notes = of(tmp_path, item("assistant", "a", {"usage": own}), usage=whole)

    assert [usage.output for usage in tree.usages(conversation.timeline)] == [5]
    assert noted(notes, Kind.PARTIAL_USAGE) == ["the session counts 20 output tokens, its messages 5"]


def test_the_only_answer_costs_what_the_session_does(tmp_path: Path) -> None:
    own = {"prompt_tokens": 60, "completion_tokens": 5, "cost_cents": 0}
    whole = {"promptTokens": 60, "completionTokens": 5, "totalCost": 0.000_315}
    conversation, _ = of(tmp_path, item("assistant", "a", {"usage": own}), usage=whole)

    (usage,) = tree.usages(conversation.timeline)
    assert (usage.input, usage.output, usage.cost_usd, usage.extra) == (60, 5, 0.000_315, own)


def test_of_several_answers_none_costs_what_the_session_does(tmp_path: Path) -> None:
    own = {"prompt_tokens": 60, "completion_tokens": 5, "cost_cents": 0}
    whole = {"promptTokens": 120, "completionTokens": 10, "totalCost": 0.000_63}
    answers = [item("assistant", text, {"usage": {**own}}) for text in "ab"]
    conversation, _ = of(tmp_path, *answers, usage=whole)

    assert [usage.cost_usd for usage in tree.usages(conversation.timeline)] == [None, None]
    assert conversation.extra["usage"] == whole


def test_a_session_that_counted_nothing_has_no_tokens(tmp_path: Path) -> None:
    nothing = {"promptTokens": 0, "completionTokens": 0, "totalCost": 0}

    assert messages(of(tmp_path, item("assistant", "a"), usage=nothing)[0])[0].usage is None


# Logs of events.


def asked_and_answered(*pairs: tuple[str, str]) -> dict[str, Any]:
    return session(
        *(
            item("assistant", answer, promptLogs=[{"prompt": prompt, "completion": answer}])
            for prompt, answer in pairs
        )
    )


def test_logs_state_when_answers_came_and_keep_those_that_were_replaced(tmp_path: Path) -> None:
    log = [
        event("chatInteraction", "2025-11-10T10:20:01Z", prompt="p", completion="first try"),
        event("chatInteraction", "2025-11-10T10:20:02Z", prompt="p", completion="b", tools=["ls"]),
        event("chatInteraction", "2025-11-10T10:20:03Z", prompt="x", completion="y", sessionId=OTHER),
    ]
    folder = home(tmp_path, asked_and_answered(("p", "b")), chatInteraction=log)
    for path in (folder, folder / "sessions", folder / "sessions" / f"{SESSION}.json"):
        conversation = read_items(path)[0][0]
        answer, left = conversation.timeline
        assert isinstance(answer, Message)
        assert answer.at == "2025-11-10T10:20:02Z"
        assert answer.extra["chatInteraction"]["tools"] == ["ls"]
        assert isinstance(left, Event)
        assert (left.at, left.data["completion"]) == ("2025-11-10T10:20:01Z", "first try")


def test_logs_without_text_match_by_position(tmp_path: Path) -> None:
    log = [event("chatInteraction", f"2025-11-10T10:20:0{second}Z") for second in (1, 2)]
    conversation, _ = read(home(tmp_path, asked_and_answered(("p", "a"), ("q", "b")), chatInteraction=log))

    assert [entry.at for entry in conversation.timeline] == ["2025-11-10T10:20:01Z", "2025-11-10T10:20:02Z"]


def test_feedback(tmp_path: Path) -> None:
    document = asked_and_answered(("p", "a"))
    log = [event("chatFeedback", prompt="p", completion="a", feedback=False)]
    conversation, _ = read(home(tmp_path, document, chatFeedback=log))

    (opinion,) = conversation.feedback
    assert (opinion.rating, opinion.message_id) == ("down", messages(conversation)[0].id)
    assert opinion.at == "2025-11-10T10:20:03.000Z"


def test_a_tool_use_event_has_the_time_of_its_result(tmp_path: Path) -> None:
    used = event("toolUsage", toolCallId="t1", functionName="read_file", accepted=True, succeeded=True)
    state = {"toolCallId": "t1", "toolCall": CALL, "status": "done"}
    document = session(
        item("assistant", "", {"toolCalls": [CALL]}, toolCallStates=[state]),
        item("tool", "x", {"toolCallId": "t1"}),
    )
    conversation, _ = read(home(tmp_path, document, toolUsage=[used]))

    assert [message.at for message in messages(conversation)] == [None, "2025-11-10T10:20:03.000Z"]


def test_a_deleted_session_is_read_from_its_log(tmp_path: Path) -> None:
    asked = "<system>\nBe brief.\n\n<user>\nName a fruit.\n\n"
    log = [
        event("chatInteraction", prompt=asked, completion="<assistant>\nAp\n\n<assistant>\nple.\n\n"),
        event(
            "chatInteraction",
            "2025-11-10T10:20:09.000Z",
            prompt=f"{asked}<assistant>\nApple.\n\n<user>\nAnother.\n\n",
            completion="<assistant>\nPear.\n\n",
        ),
    ]
    conversation, _ = read(save_lines(tmp_path, "chatInteraction.jsonl", log))

    assert [(message.role, tree.plain_text(message)) for message in messages(conversation)] == [
        ("system", "Be brief."),
        ("user", "Name a fruit."),
        ("assistant", "Apple."),
        ("user", "Another."),
        ("assistant", "Pear."),
    ]
    assert [request.at for request in conversation.requests] == [
        "2025-11-10T10:20:03.000Z",
        "2025-11-10T10:20:09.000Z",
    ]
    assert (conversation.editor, conversation.app_version) == ("vscode", "1.2.11")
    path = tree.path_to(conversation.timeline, conversation.head_id or "")
    assert len(path) == 4


def test_a_session_with_a_file_is_not_read_from_its_log(tmp_path: Path) -> None:
    log = [event("chatInteraction", prompt="p", completion="a")]
    folder = home(tmp_path, asked_and_answered(("p", "a")), chatInteraction=log)

    assert [found.id for found in read_items(folder)[0]] == [SESSION]
    assert read_items(folder / "dev_data" / "0.2.0" / "chatInteraction.jsonl")[0] == []


# Detection.

DERIVED = {"kiro"}  # its sessions have the form of Continue's and more


def version(path: Path) -> str | None:
    look = Peek(Folder(str(path)) if path.is_dir() else File(str(path)))
    claims = [(reader.INFO.name, seen) for reader, seen in readers.claims(look)]
    assert all(name in {"continue", *DERIVED} for name, _ in claims)
    return dict(claims).get("continue")


@pytest.mark.parametrize(
    ("document", "seen"),
    [
        (session(item("user", "hi")), "session"),
        ({"history": [item("user", "hi")], "title": "x"}, "session"),
        (session(), "session"),
        ({**session(item("user", "hi")), "workspacePath": "/", "selectedModel": "m"}, None),
        ({"sessionId": SESSION, "history": [{"message": {"role": "user", "content": "hi"}}]}, None),
        ({"history": [{"message": {"role": "user"}}]}, None),
        ({"history": [], "title": "x"}, None),
        ({"history": "none", "sessionId": SESSION}, None),
        ([{"sessionId": SESSION, "dateCreated": "1", "title": "x"}], "index"),
        ([{"session_id": SESSION, "date_created": "1"}], "index"),
        ([{"sessionId": SESSION, "title": "x"}], None),
        (event("chatInteraction"), "dev-data"),
        (event("somethingElse"), None),
        ({"model": "m", "provider": "p", "promptTokens": 1, "generatedTokens": 1}, "dev-data"),
        ({"prompt": "a", "completion": "b", "sessionId": SESSION, "feedback": True}, "dev-data"),
        ({"prompt": "a", "completion": "b"}, None),
        ({"session_state": {"history": []}, "title": "x"}, "steps"),
        ({"sessionId": "s", "messages": [{"role": "user", "content": "x"}]}, None),
        ({"sessionId": "s", "messages": [], "context": {"providers": []}}, "document"),
        ({"messages": [], "models": [{"model": "m", "provider": "p"}]}, None),
    ],
)
def test_what_is_claimed(tmp_path: Path, document: Any, seen: str | None) -> None:
    assert version(save_document(tmp_path, "some-name.json", document)) == seen


def test_a_long_first_message_does_not_hide_a_session(tmp_path: Path) -> None:
    document = session(item("user", "x" * 200_000), item("assistant", "y"))
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")

    assert version(path) == "session"
    assert len(read(path)[0].timeline) == 2


def test_folders(tmp_path: Path) -> None:
    folder = home(tmp_path, session(item("user", "hi")))

    assert version(folder) == version(folder / "sessions") == "session"
    assert version(folder / "dev_data") is None


# Bad input.


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [[]], {"a": [1]}, True])
@pytest.mark.parametrize(
    "name", ["history", "title", "workspaceDirectory", "usage", "chatModelTitle", "mode"]
)
def test_fields_of_other_types_never_raise(tmp_path: Path, name: str, odd: Any) -> None:
    document = {**session(item("user", "hi"), item("assistant", "x")), name: odd}
    path = save_document(tmp_path, f"{SESSION}.json", document)
    notes = Notes()
    (found,) = read_all([str(path)], notes, "continue")

    assert found.id == SESSION


def test_a_file_of_nothing_is_refused(tmp_path: Path) -> None:
    path = save_document(tmp_path, "a.json", [])
    notes = Notes()

    assert list(read_all([str(path)], notes, "continue@session")) == []
    assert noted(notes, Kind.UNREADABLE_FILE) == ["it contains nothing of a session"]
    with pytest.raises(AgentJournalError):
        list(read_all([str(path)], notes))


def test_every_version_has_a_case() -> None:
    seen = {
        version
        for case in all_cases()
        if case.reader == "continue"
        for version in [json.loads((case.folder / "expected.json").read_text(encoding="utf-8"))["version"]]
    }

    assert seen == set(continue_dev.INFO.versions)


# Both ways of taking an item apart.

ODDITIES: list[Any] = [None, "", "x", 0, [], {}, [{}], {"a": 1}]


def _usual_items() -> list[dict[str, Any]]:
    state = {
        "toolCallId": "t1",
        "toolCall": copy.deepcopy(CALL),
        "status": "done",
        "parsedArgs": {"filepath": "a.py"},
    }
    tool = {"type": "function", "uri": "mcp://x", "function": {"name": "read_file", "parameters": {}}}
    output = [{"name": "a.py", "description": "", "content": "x=1"}]
    usage = {"promptTokens": 9, "completionTokens": 2, "model": "m"}
    return [
        item("assistant", "Hm.", {"id": "a", "usage": usage}),
        item(
            "assistant",
            "",
            {"id": "b", "toolCalls": [copy.deepcopy(CALL)]},
            toolCallStates=[{**state, "output": output, "tool": tool}],
        ),
        item("tool", "x=1", {"id": "c", "toolCallId": "t1"}),
        item("assistant", "Done.", {"id": "d"}),
    ]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a value where something stands: what holds it, and the key or index there."""
    pending = [value]
    while pending:
        holder = pending.pop()
        names = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
        yield from ((holder, name) for name in names)
        pending += [holder[name] for name in names if isinstance(holder[name], dict | list)]


def _both_ways(items: list[Any]) -> None:
    told: list[Any] = []
    for is_empty in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SessionLogs, "is_empty", is_empty)
            notes, mine = Notes(), json.loads(json.dumps(items))
            history = History("s", mine, Models([]), SessionLogs(None, "s", mine), notes)
            told.append((history.timeline, history.tools.offered, notes.collected))
    assert told[0] == told[1]


def test_both_paths_read_equal_items() -> None:
    _both_ways(_usual_items())
    _both_ways([*_usual_items(), *_usual_items()])


@pytest.mark.parametrize("place", range(len([*_places(_usual_items())])))
def test_both_paths_read_equal_unusual_items(place: int) -> None:
    for odd in ODDITIES:
        items = _usual_items()
        holder, name = [*_places(items)][place]
        holder[name] = copy.deepcopy(odd)
        _both_ways(items)
        if isinstance(holder, dict):
            del holder[name]
            holder["more"] = copy.deepcopy(odd)
            _both_ways(items)
