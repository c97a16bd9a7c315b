"""Checks of unified conversations: each rule of each level, and the command around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.detection.peek import Peek
from agent_journal.validation import unified
from tests.cases import Case, all_cases, outcome
from tests.inline import written
from tests.memory_source import Bytes

NOW = "2026-06-01T00:00:00Z"
EXAMPLES = Path(__file__).parents[1] / "examples"


def document(**more: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.0.0",
        "conversation_id": "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10",
        "platform": {"name": "claude_code", "version": "2.1.90"},
        "session": {"session_id": "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"},
        "created_at": "2026-03-01T10:00:00.000Z",
        "messages": [message("user", 0), message("assistant", 5)],
        **more,
    }


def message(role: Any, second: int, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "message_id": f"m{second}",
        "role": role,
        "timestamp": f"2026-03-01T10:00:{second:02d}.000Z",
        "content": [*blocks] or [{"type": "text", "text": "Hello there."}],
        **more,
    }


def found(value: Any, level: unified.Level = "standard", required: tuple[str, ...] = ()) -> unified.Result:
    return unified.check(value, level, NOW, required)


@pytest.mark.parametrize("level", unified.LEVELS)
def test_a_good_document_passes_every_level(level: unified.Level) -> None:
    result = found(document(), level)

    assert (True, [], [], "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10") == (
        result.valid,
        result.errors,
        result.warnings,
        result.conversation,
    )


# The checks of the mapping document, with its words.


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"conversation_id": ""}, "Missing conversation_id"),
        ({"platform": {"version": "1"}}, "Missing platform name"),
        ({"platform": None}, "Missing platform name"),
        ({"messages": []}, "No messages found"),
        ({"messages": None}, "No messages found"),
        ({"messages": [message("user", 0) | {"timestamp": None}]}, "Message 0 missing timestamp"),
        (
            {"messages": [message("user", 0), message("user", 1) | {"content": []}]},
            "Message 1 has empty content",
        ),
        ({"messages": [message("robot", 0)]}, "Message 0 has invalid role: robot"),
        ({"messages": [message(None, 0)]}, "Message 0 has invalid role: null"),
        ({"messages": [{"timestamp": NOW, "content": [1]}]}, "Message 0 has invalid role: undefined"),
        ({"messages": ["x", message("robot", 0)]}, "Message 1 has invalid role: robot"),
        ({"messages": ["x"]}, "Message 0 missing timestamp"),
        ({"messages": [message("user", 0) | {"content": {"a": 1}}]}, "Message 0 has empty content"),
        ({"messages": [message("user", 0) | {"content": 7}]}, "Message 0 has empty content"),
    ],
)
def test_data_quality(more: Any, error: str) -> None:
    result = found(document(**more))

    assert not result.valid
    assert error in result.errors


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool", "function"])
def test_roles(role: str) -> None:
    assert found(document(messages=[message(role, 0)])).valid


def test_the_future_is_a_warning_that_only_strict_refuses() -> None:
    future = document(
        messages=[message("user", 0), message("assistant", 5, timestamp="2027-01-01T00:00:00Z")]
    )

    assert (True, ["Message 1 has future timestamp"]) == (found(future).valid, found(future).warnings)
    assert not found(future, "strict").valid


@pytest.mark.parametrize(
    ("path", "has"),
    [
        ("platform.version", True),
        ("platform.metadata.mode", False),
        ("messages[].role", True),
        ("messages[].tokens", False),
        ("session.parent_conversation_id", False),
    ],
)
def test_required_fields(path: str, *, has: bool) -> None:
    assert ([] if has else [f"Missing {path}"]) == found(document(), required=(path,)).errors


@pytest.mark.parametrize(
    ("more", "path", "error"),
    [
        ({"conversation_id": None}, "conversation_id", "Missing conversation_id"),
        ({"platform": {}}, "platform.name", "Missing platform name"),
        ({"messages": []}, "messages", "No messages found"),
    ],
)
def test_what_is_missing_is_reported_once(more: Any, path: str, error: str) -> None:
    errors = found(document(**more), required=(path,)).errors

    assert [error] == [each for each in errors if not each.startswith("schema: ")]


# A document says what it had to fill in because its source does not state it.
UNSTATED = {"agent_journal": {"conversation": {"started_at": None, "made_id": True}}}
UNDATED = {"messages": [message("user", 0), message("assistant", 5, metadata={"timestamp_inferred": True})]}


@pytest.mark.parametrize(
    ("more", "path"),
    [
        (UNSTATED, "created_at"),
        (UNSTATED, "conversation_id"),
        (UNSTATED, "session.session_id"),
        (UNDATED, "messages[].timestamp"),
    ],
)
def test_what_was_filled_in_is_missing(more: Any, path: str) -> None:
    assert [f"Missing {path}: the source does not state it"] == found(
        document(**more), required=(path,)
    ).errors
    assert not found(document(**more), "lenient", required=(path,)).errors


def test_times_that_were_filled_in_are_reported() -> None:
    result = found(document(**UNDATED))

    assert (True, ["1 of 2 messages has no timestamp of its own"]) == (result.valid, result.warnings)


def test_what_is_stated_is_not_missing() -> None:
    stated = {"agent_journal": {"conversation": {"started_at": "2026-03-01T10:00:00Z"}}}

    assert not found(document(**stated), required=("created_at", "session.session_id")).errors


def test_every_platform_of_the_document_has_required_fields() -> None:
    wanted = {"claude_code", "github_copilot", "chatgpt", "continue_dev", "roo_code", "azure_openai"}
    known = {
        reader.INFO.names.get("unified") for reader in readers.discover().values() if reader.INFO.required
    }

    assert wanted <= known


# The schema.


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"conversation_id": "no-uuid"}, "conversation_id"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"schema_version": "1"}, "schema_version"),
        ({"platform": {"name": "netscape", "version": "1"}}, "platform.name"),
        ({"messages": [message("user", 0, {"type": "text"})]}, "messages[0].content[0]"),
        ({"status": "gone"}, "status"),
    ],
)
def test_the_schema_is_asked_at_every_level(more: Any, place: str) -> None:
    for level in unified.LEVELS:
        result = found(document(**more), level)
        assert not result.valid
        assert any(error.startswith(f"schema: {place}:") for error in result.errors), result.errors


def test_lenient_asks_nothing_else() -> None:
    assert found(document(messages=[]), "lenient").valid
    assert not found(document(messages=[]), "standard").valid


@pytest.mark.parametrize("value", [None, [], "text", 7])
def test_what_is_no_object_is_not_valid(value: Any) -> None:
    assert ["it is no JSON object"] == found(value).errors


def test_wrong_types_everywhere_are_errors_never_exceptions() -> None:
    odd: Any
    for name in document().keys() - {"session"}:
        for odd in (
            None,
            7,
            "x",
            [],
            [7],
            {},
            {"a": [None]},
            [[{}]],
            [{"role": [], "content": {}, "timestamp": {}}],
        ):
            assert not found(document(**{name: odd}), "strict").valid


# The further rules.

CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (
            {"messages": [message("user", 9), message("assistant", 5)]},
            "Message 1 is older than the one before it",
        ),
        ({"messages": [message("system", 0), message("assistant", 5)]}, "No user message"),
        (
            {"messages": [message("user", 0), message("user", 1, RESULT)]},
            "Message 1 has the result of no known tool call",
        ),
        ({"messages": [message("user", 0, {"type": "text", "text": " \n"})]}, "Message 0 has a blank text"),
        (
            {"messages": [message("user", 0, {"type": "text", "text": "api_key = abcdefgh12345"})]},
            "Message 0 seems to hold a secret",
        ),
        (
            {"messages": [message("user", 0, {"type": "text", "text": "-----BEGIN RSA PRIVATE KEY-----"})]},
            "Message 0 seems to hold a secret",
        ),
        (
            {"messages": [message("user", 0, tokens={"input_tokens": -1}), message("assistant", 1)]},
            "Message 0 has a negative number of tokens",
        ),
        (
            {"platform": {"name": "claude_code", "version": "2", "metadata": {"isSidechain": True}}},
            "A sidechain names no parent conversation",
        ),
    ],
)
def test_strict_errors(more: Any, error: str) -> None:
    assert error in found(document(**more), "strict").errors
    assert error not in found(document(**more), "standard").errors


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({"created_at": "2019-12-31T00:00:00Z"}, "Created before 2020"),
        ({"created_at": "2027-01-01T00:00:00Z"}, "Created in the future"),
        ({"metrics": {"total_cost": {"amount": 101}}}, "It cost more than 100 USD"),
        ({"metrics": {"total_tokens": {"input": 3, "output": 4}}}, "Fewer than 10 tokens"),
        ({"messages": [message("user", 0)]}, "Fewer than 2 messages"),
        (
            {"messages": [message("assistant", 0), message("user", 1)]},
            "Message 0: nobody asked before the assistant answered",
        ),
        (
            {"messages": [message("user", 0), message("assistant", 1, CALL)]},
            "Message 1 has a tool call without a result",
        ),
        (
            {"messages": [message("user", 0), message("assistant", 1, timestamp="2026-03-01T12:00:00Z")]},
            "Message 1 follows more than an hour after the one before it",
        ),
    ],
)
def test_strict_warnings_fail(more: Any, warning: str) -> None:
    result = found(document(**more), "strict")

    assert [warning] == result.warnings
    assert not result.valid
    assert found(document(**more), "standard").valid


@pytest.mark.parametrize(
    "block",
    [
        CALL | {"input": {"command": "export API_KEY=abcdefgh12345"}},
        CALL | {"input": {"headers": [{"api_key": "abcdefgh12345"}]}},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "text", "text": "secret=abcdefgh1"}],
        },
    ],
)
def test_secrets_are_looked_for_in_calls_and_results_too(block: dict[str, Any]) -> None:
    result = found(document(messages=[message("user", 0), message("assistant", 1, block)]), "strict")

    assert "Message 1 seems to hold a secret" in result.errors


def test_a_call_with_its_result_is_fine() -> None:
    chain = [message("user", 0), message("assistant", 1, CALL), message("user", 2, RESULT)]

    assert found(document(messages=chain), "strict").valid


@pytest.mark.parametrize(
    "text", ["token: $TOKEN", "the password is secret", "api_key=<yours>", "max_tokens = 100"]
)
def test_words_are_no_secrets(text: str) -> None:
    block = {"type": "text", "text": text}

    assert (
        [] == found(document(messages=[message("user", 0, block), message("assistant", 1)]), "strict").errors
    )


# Every source.


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_case_is_valid_by_the_schema_when_it_is_written(case: Case, tmp_path: Path) -> None:
    items = outcome(case.location(tmp_path)).items

    for each in written("unified", *items).documents:
        assert [] == found(each, "lenient").errors


# The command.


def aj(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", "validate", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1780272000"},
    )


def test_any_source_is_checked_as_what_it_becomes() -> None:
    done = aj(str(EXAMPLES), "--json")

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (0, 5) == (done.returncode, len(rows))
    assert all({"file", "conversation", "valid", "errors", "warnings"} == row.keys() for row in rows)


def test_unified_json_is_checked_as_it_is() -> None:
    done = aj("-", stdin=json.dumps(document(messages=[])) + "\n" + json.dumps(document()) + "\n")

    assert done.returncode == 1
    assert "NOT VALID" in done.stdout
    assert "  error: No messages found" in done.stdout
    assert done.stdout.endswith("1 of 2 valid (standard)\n")


def test_damage_next_to_good_files_is_partial_success() -> None:
    done = aj("-", stdin=json.dumps(document()) + "\n{broken\n")

    assert done.returncode == 3
    assert "line 2" in done.stderr


def test_nothing_to_check_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello", encoding="utf-8")
    done = aj(str(tmp_path / "x.txt"))

    assert (1, 1) == (done.returncode, done.stderr.count("\n"))


def test_a_folder_of_documents_is_checked_as_it_is(tmp_path: Path) -> None:
    for name, value in (("good", document()), ("empty", document(messages=[])), ("other", document(x=1))):
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    done = aj(str(tmp_path), "--json")

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [False, True, True] == [row["valid"] for row in rows]
    assert "No messages found" in rows[0]["errors"]


def test_the_reader_claims_what_is_taken_for_a_document() -> None:
    sniff = readers.get("unified").sniff
    whole = document()
    signs = ["schema_version", "conversation_id", "platform", "messages"]
    for missing in (set(), *({sign} for sign in signs), set(signs[:2]), set(signs[1:3])):
        record = {name: value for name, value in whole.items() if name not in missing}
        claimed = sniff(Peek(Bytes(json.dumps(record).encode()))) is not None

        assert unified.is_unified(record) is claimed
        assert claimed is (len(missing) < 2)


# What the source says counts, not what we make of it.


def claude_line(number: int, body: dict[str, Any], kind: str = "user") -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10",
        "timestamp": f"2026-03-01T10:00:{number:02d}.000Z",
        "cwd": "/work",
        "version": "2.1.90",
        "message": body,
    }


def errors_of(tmp_path: Path, name: str, *records: Any, level: str = "standard") -> list[str]:
    """What `aj validate` says against a file of these records."""
    place = tmp_path / name
    place.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    done = aj(str(place), "--json", "--level", level)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    errors = [error for row in rows for error in row["errors"]]
    assert rows, done.stderr
    assert done.returncode == (1 if errors else 0)
    return errors


@pytest.mark.parametrize("kind", ["user", "assistant"])
@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"content": "Hello."}, []),
        ({"content": []}, ["Message 1 has empty content"]),
        ({"content": None}, ["Message 1 has empty content"]),
        ({}, ["Message 1 has empty content"]),
        ({"content": ""}, ["line 2: Missing message.content: the source does not state it"]),
        ({"content": 5}, ["Message 1 has an unsupported content format"]),
        ({"content": {}}, ["Message 1 has an unsupported content format"]),
    ],
)
def test_content_that_is_filled_in_is_empty(
    tmp_path: Path, kind: str, content: dict[str, Any], error: list[str]
) -> None:
    first = claude_line(1, {"role": "user", "content": "Hi"})
    second = claude_line(2, {"role": kind, **content}, kind)

    assert error == errors_of(tmp_path, "s.jsonl", first, second)
    assert [] == errors_of(tmp_path, "s.jsonl", first, second, level="lenient")


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("Hello.", []),
        ("", ["Message 1 has empty content"]),
        ([], ["Message 1 has empty content"]),
        (None, ["Message 1 has empty content"]),
        (5, ["Message 1 has an unsupported content format"]),
    ],
)
def test_content_of_a_task_that_is_empty(
    tmp_path: Path, content: Any, error: list[str], *, with_ids: bool
) -> None:
    history = [
        {"role": "user", "content": "<task>Brew tea</task>", "ts": 1794989365586},
        {"role": "assistant", "content": content, "ts": 1794989366586},
    ]
    task = tmp_path / "tasks" / "1794989365586"
    task.mkdir(parents=True)
    if with_ids:
        history = [{**record, "id": f"m{place}"} for place, record in enumerate(history)]
    (task / "history_item.json").write_text(
        json.dumps({"id": task.name, "ts": 1794989366586, "task": "Brew tea", "mode": "code"}),
        encoding="utf-8",
    )

    found_errors = errors_of(task, "api_conversation_history.json", history)

    assert error == found_errors


def test_content_that_was_filled_in_is_empty_in_the_document_too() -> None:
    filled = message("user", 1, {"type": "text", "text": ""}, agent_journal={"empty": True})

    assert ["Message 1 has empty content"] == found(document(messages=[message("user", 0), filled])).errors


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"content": {"content_type": "text", "parts": ["Hi"]}}, []),
        ({"content": {"content_type": "text", "parts": [""]}}, []),
        ({"content": {"content_type": "text", "parts": []}}, ["[0] b: Missing content"]),
        ({"content": None}, ["[0] b: Missing content"]),
        ({}, ["[0] b: Missing content"]),
    ],
)
def test_an_empty_text_is_content_where_a_source_writes_it_on_purpose(
    tmp_path: Path, content: dict[str, Any], error: list[str]
) -> None:
    def node(name: str, parent: str | None, children: list[str], role: str, **more: Any) -> dict[str, Any]:
        said = {"id": name, "author": {"role": role}, "create_time": 1767261601.5, "metadata": {}, **more}
        return {"id": name, "parent": parent, "children": children, "message": said}

    opening = node("a", None, ["b"], "system", content={"content_type": "text", "parts": [""]})
    mapping = {"a": opening, "b": node("b", "a", [], "user", **content)}
    conversation = {
        "conversation_id": "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
        "title": "Tea",
        "create_time": 1767261600.5,
        "update_time": 1767261700.0,
        "current_node": "b",
        "mapping": mapping,
    }
    suffix = ": the source does not state it"

    assert [each + suffix for each in error] == errors_of(tmp_path, "conversations.json", [conversation])


@pytest.mark.parametrize(
    ("role", "error"),
    [
        ({}, "line 2: Missing message.role: the source does not state it"),
        ({"role": None}, "line 2: Missing message.role: the source does not state it"),
        ({"role": "robot"}, "line 2: Invalid role 'robot'"),
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_a_role_that_was_inferred_is_missing(
    tmp_path: Path, role: dict[str, Any], error: str, kind: str
) -> None:
    first = claude_line(1, {"role": "user", "content": "Hi"})
    second = claude_line(2, {**role, "content": [{"type": "text", "text": "Hello."}]}, kind)

    assert [error] == errors_of(tmp_path, "s.jsonl", first, second)


def copilot_event(**more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-01-05T08:00:00Z",
        "file": "tea.py",
        "language": "python",
        "extensionVersion": "1.250.0",
        "editor": "vscode",
        "promptContext": "def brew(",
        "accepted": True,
        **more,
    }


@pytest.mark.parametrize("completion", [{}, {"completion": None}, {"completion": ""}])
def test_an_event_without_a_completion(tmp_path: Path, completion: dict[str, Any]) -> None:
    later = {"timestamp": "2026-01-05T08:01:00Z", "promptContext": "def pour("}
    whole = copilot_event(completion="leaves):")

    assert [] == errors_of(tmp_path, "events.jsonl", whole)
    assert ["line 2: Missing completion: the source does not state it"] == errors_of(
        tmp_path, "events.jsonl", whole, copilot_event(**later, **completion)
    )


def test_an_event_that_only_prompts_needs_a_completion_after_it(tmp_path: Path) -> None:
    prompt = copilot_event(type="prompt")
    answer = {
        "type": "completion",
        "timestamp": "2026-01-05T08:00:01Z",
        "file": "tea.py",
        "completion": "leaves):",
    }

    assert [] == errors_of(tmp_path, "events.json", [prompt, answer])
    assert ["[0]: Missing completion: the source does not state it"] == errors_of(
        tmp_path, "events.json", [prompt]
    )


AZURE_URL = "https://tea.example/openai/{}?api-version=2024-02-15-preview"


@pytest.mark.parametrize(
    ("more", "asked", "is_missing"),
    [
        ({"deploymentName": "tea-prod"}, {}, False),
        ({"url": AZURE_URL.format("deployments/tea-prod/chat/completions")}, {}, False),
        ({"url": AZURE_URL.format("v1/chat/completions")}, {"model": "tea-prod"}, False),
        ({}, {}, True),
        ({"deploymentName": ""}, {}, True),
        ({}, {"model": "gpt-4"}, True),
    ],
)
def test_a_call_without_a_deployment(
    tmp_path: Path, more: dict[str, Any], asked: dict[str, Any], *, is_missing: bool
) -> None:
    call = {
        "requestId": "7c1f1f0e-1111-4222-8333-444455556666",
        "apiVersion": "2024-02-15-preview",
        "timestamp": "2026-01-05T08:00:00Z",
        "durationMs": 2500,
        "requestBody": {"messages": [{"role": "user", "content": "Which tea?"}], **asked},
        "responseBody": {
            "id": "c",
            "object": "chat.completion",
            "model": "gpt-4-0613",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Sencha."}}],
        },
        **more,
    }
    where = "7c1f1f0e-1111-4222-8333-444455556666"
    error = f"{where}: Missing deployment: the source does not state it"

    assert ([error] if is_missing else []) == errors_of(tmp_path, "calls.jsonl", call)


@pytest.mark.parametrize(
    "platform",
    [
        {"name": "continue_dev", "version": "1.2.0", "model": "gpt-4"},
        {"name": "roo_code", "version": "3.52", "metadata": {"mode": "architect"}},
        {"name": "roo_code", "version": "3.52", "metadata": {"active_mode": "architect"}},
    ],
)
def test_a_document_as_the_tables_show_it(tmp_path: Path, platform: dict[str, Any]) -> None:
    """They map the session's id to `conversation_id`, and have no `session`."""
    made = {name: value for name, value in document(platform=platform).items() if name != "session"}

    assert [] == errors_of(tmp_path, "made.json", made)


@pytest.mark.parametrize(
    ("platform", "error"),
    [
        ({"name": "continue_dev", "version": "1.2.0"}, "Missing platform.model"),
        (
            {"name": "roo_code", "version": "3.52", "metadata": {}},
            "Missing platform.metadata.mode or platform.metadata.active_mode",
        ),
    ],
)
def test_what_the_tables_demand_is_still_demanded(
    tmp_path: Path, platform: dict[str, Any], error: str
) -> None:
    assert [error] == errors_of(tmp_path, "made.json", document(platform=platform))
