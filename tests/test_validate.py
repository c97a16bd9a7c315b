"""Checks of unified conversations: each rule of each level, and the command around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers, validate
from agent_journal.peek import Peek
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


def found(value: Any, level: validate.Level = "standard", required: tuple[str, ...] = ()) -> validate.Result:
    return validate.check(value, level, NOW, required)


@pytest.mark.parametrize("level", validate.LEVELS)
def test_a_good_document_passes_every_level(level: validate.Level) -> None:
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
def test_what_is_missing_is_told_once(more: Any, path: str, error: str) -> None:
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


def test_times_that_were_filled_in_are_told() -> None:
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
    for level in validate.LEVELS:
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


def test_damage_beside_good_ones_is_partly_done() -> None:
    done = aj("-", stdin=json.dumps(document()) + "\n{broken\n")

    assert done.returncode == 3
    assert "line 2" in done.stderr


def test_nothing_to_check_is_told_in_one_line(tmp_path: Path) -> None:
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

        assert validate.is_unified(record) is claimed
        assert claimed is (len(missing) < 2)
