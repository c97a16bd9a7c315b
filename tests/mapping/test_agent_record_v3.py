"""Agent records with nothing left out, beside the reference's: each difference has a name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import agent_journal
from agent_journal import readers, writers
from agent_journal.conversion.output import new_run
from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Message,
    Reasoning,
    Text,
    ToolResult,
    Usage,
    timestamps,
)
from agent_journal.model.tree import messages
from agent_journal.notes import Notes
from agent_journal.records.forms import MIN_SHARED_CHARS, OWN_FIELDS, RecordForm
from tests import cddl
from tests.cases import Case, all_cases, outcome
from tests.examples import examples
from tests.inline import converted, save_document, save_lines, written
from tests.mapping.reference_parser import PARSERS, Entry, by_session
from tests.mapping.test_agent_record import ASSISTANT, BLOCKS, QUEUE, RESULT, RESULT_BLOCK, SESSION, USER
from tests.mapping.test_agent_record_agents import (
    AT,
    CODEX,
    COUNTED,
    CURSOR,
    GEMINI,
    INFO,
    OPENCODE,
    ROLLOUT,
    SHARED,
    tool,
)
from tests.memory_source import Bytes
from tests.models import conversations

Change: TypeAlias = Callable[[Entry], Entry]
TARGET = "agent-record-v3"


def record_of(path: Path) -> Any:
    found = converted(path, TARGET).only
    assert [] == cddl.check(found)
    return found


# What differs from the reference, and why: made equal in its entries and in ours.


def without(entry: Entry, *names: str) -> Entry:
    return {name: value for name, value in entry.items() if name not in names}


def no_operation(entry: Entry) -> Entry:
    """The reference leaves it out, as the plain profile does; here nothing is left out."""
    return without(entry, "operation") if entry.get("event-type") == "queue-operation" else entry


def places_told(entry: Entry) -> Entry:
    """A folder, branch or version that is not the record's, where a session changed it on the way."""
    return without(entry, "cwd", "gitBranch", "version", "sessionId")


def parallel_calls_joined(entry: Entry) -> Entry:
    """Results of parallel calls are on one chain; the source's own parent stays in `parentUuid`."""
    stated = entry.get("parentUuid")
    return without(entry, "parentUuid") | {"parent-id": stated} if stated else entry


def thoughts_counted(entry: Entry) -> Entry:
    """They are the draft's `reasoning`, which the reference does not see."""
    usage = entry.get("token-usage", {})
    if "thoughts" not in usage or usage.get("reasoning", usage["thoughts"]) != usage["thoughts"]:
        return entry
    return entry | {"token-usage": without(usage, "reasoning")}


def endings_told(entry: Entry) -> Entry:
    """How a call ended that gave nothing; the reference tells that of results only."""
    return without(entry, "status") if entry["type"] == "tool-call" else entry


def times_in_words(entry: Entry) -> Entry:
    """The draft asks new writers for RFC 3339; the reference passes milliseconds on."""
    return (
        entry | {"timestamp": timestamps.parse_timestamp(entry["timestamp"])}
        if "timestamp" in entry
        else entry
    )


def not_repeated(entry: Entry) -> Entry:
    """The session is the record's; a thought is one of the message behind it."""
    is_thought = entry["type"] == "reasoning"
    return without(entry, "sessionID", *(["messageID"] if is_thought else []))


def sealed_thoughts(entry: Entry) -> Entry:
    """The draft has a field for what a provider encrypted; the reference leaves it in the metadata."""
    metadata = entry.get("metadata")
    if entry["type"] != "reasoning" or not isinstance(metadata, dict):
        return entry
    sealed = [inside.get("reasoningEncryptedContent") for inside in metadata.values()]
    kept = {name: without(inside, "reasoningEncryptedContent") for name, inside in metadata.items()}
    kept = {name: inside for name, inside in kept.items() if inside}
    moved = {"encrypted": sealed[0]} if sealed and sealed[0] else {}
    return without(entry, "metadata") | ({"metadata": kept} if kept else {}) | moved


def is_envelope(entry: Entry) -> bool:
    return entry["type"] in ("user", "assistant") and "content" not in entry


def whole_messages(entry: Entry) -> Entry:
    """The reference takes a message's id, model, provider and end for the record alone, or not at all."""
    taken = ("id", "model-id", "model", "providerID", "time")
    return without(entry, *taken) if is_envelope(entry) else entry


def caches_counted(entry: Entry) -> Entry:
    """What a cache gave is the draft's `cached`; the source's own words for it stay too."""
    usage = entry.get("token-usage", {})
    if usage.get("cached") != usage.get("cache", {}).get("read"):
        return entry
    return entry | {"token-usage": without(usage, "cached")}


def failures_told(entry: Entry) -> Entry:
    """Why a call failed is what came back of it; the reference leaves that in the call."""
    if entry["type"] == "tool-result" and entry.get("status") == "error":
        return without(entry, "output")
    return without(entry, "error") if entry["type"] == "tool-call" else entry


def seen_by_the_app(entry: Entry) -> Entry:
    """Who spoke for the app, and which model answered; the reference takes the model for the record alone."""
    return without(entry, "model-id", *(["role"] if entry["type"] == "user" else []))


DIFFERENCES: dict[str, list[Change]] = {
    "claude-code": [no_operation, places_told, parallel_calls_joined],
    "codex": [seen_by_the_app],
    "gemini-cli": [thoughts_counted, endings_told],
    "opencode": [
        times_in_words,
        not_repeated,
        sealed_thoughts,
        whole_messages,
        caches_counted,
        failures_told,
    ],
    "cursor": [],
}


def as_ours(entries: list[Entry], changes: list[Change]) -> list[Entry]:
    """Entries without what is under our key, and where the named differences make none."""
    found = []
    for entry in entries:
        changed = without(entry, OWN_FIELDS)
        for change in changes:
            changed = change(changed)
        if "children" in changed:
            changed["children"] = as_ours(changed["children"], changes)
        found.append(changed)
    return found


# Small sessions of each agent: what the reference knows of is in them.

THINKING = {"type": "thinking", "thinking": "", "signature": "c2ln"}
FAILED = {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "no"}]}
MORE_CLAUDE: list[dict[str, Any]] = [
    {
        **ASSISTANT,
        "uuid": "a2",
        "message": {**ASSISTANT["message"], "content": [THINKING], "stop_reason": None},
    },
    {**RESULT, "uuid": "r2", "message": {"role": "user", "content": [FAILED | {"is_error": True}]}},
]
# Two calls of one response, each with its result below it.
CALLS: list[dict[str, Any]] = [
    {
        **ASSISTANT,
        "uuid": f"p{place}",
        "parentUuid": parent,
        "message": {
            **ASSISTANT["message"],
            "id": "msg_parallel",
            "content": [{"type": "tool_use", "id": f"toolu_p{place}", "name": "Bash", "input": {}}],
        },
    }
    for place, parent in ((1, RESULT["uuid"]), (2, "p1"))
]
RESULTS: list[dict[str, Any]] = [
    {
        **RESULT,
        "uuid": f"q{place}",
        "parentUuid": f"p{place}",
        "sourceToolAssistantUUID": f"p{place}",
        "message": {"role": "user", "content": [FAILED | {"tool_use_id": f"toolu_p{place}"}]},
    }
    for place in (1, 2)
]
FAILING = tool(
    "prt_65", "error", {"input": {"command": "sink"}, "error": "cold", "time": {"start": 1, "end": 2}}
)
CLAUDE = [QUEUE, USER | {"cwd": "/home/ana/tea"}, ASSISTANT, RESULT, *CALLS, *RESULTS, *MORE_CLAUDE]
STREAM = [*OPENCODE[:-1], FAILING, OPENCODE[-1]]


def save(folder: Path, agent: str) -> Path:
    match agent:
        case "claude-code":
            return save_lines(folder, f"{SESSION}.jsonl", CLAUDE)
        case "codex":
            return save_lines(folder, ROLLOUT, CODEX)
        case "gemini-cli":
            return save_document(folder, "session-2026-03-01T10-00-5d1f4c1e.json", GEMINI)
        case "opencode":
            return save_lines(folder, "stream.jsonl", STREAM)
    return save_lines(folder, "chat.jsonl", CURSOR)


def samples(agent: str) -> list[Path]:
    """Sessions of the draft's authors, where they lie beside a developer's checkout."""
    return sorted(SHARED.glob(f"fixtures/{agent}/xor-*/*.jsonl"))


def both(agent: str, path: Path, folder: Path) -> Iterator[tuple[list[Entry], list[Entry]]]:
    """What the reference makes of each session in a file, and what we do."""
    records = {record["session"]["session-id"]: record for record in converted(path, TARGET).documents}
    for record in records.values():
        assert [] == cddl.check(record)
    if agent != "opencode":
        (only,) = records.values()
        yield [*PARSERS[agent](path)], [*filter(is_known, only["session"]["entries"])]
        return
    for name, ordered in by_session(path, folder):
        yield [*PARSERS[agent](ordered)], records[name]["session"]["entries"]


def is_known(entry: Entry) -> bool:
    """Whether the reference has such an entry, too: what it knows no event for it leaves out."""
    return entry.get("event-type", "token-count") in ("token-count", "queue-operation")


@pytest.mark.parametrize("agent", PARSERS)
def test_entries_are_those_of_the_reference(agent: str, tmp_path: Path) -> None:
    changes = DIFFERENCES[agent]
    for theirs, ours in both(agent, save(tmp_path, agent), tmp_path):
        assert as_ours(theirs, changes) == as_ours(ours, changes)


@pytest.mark.parametrize("agent", PARSERS)
def test_real_sessions_give_the_entries_of_the_reference(agent: str, tmp_path: Path) -> None:
    if not samples(agent):
        pytest.skip("no samples here")
    changes = DIFFERENCES[agent]
    for path in samples(agent):
        for theirs, ours in both(agent, path, tmp_path):
            assert as_ours(theirs, changes) == as_ours(ours, changes)


@pytest.mark.parametrize(
    ("agent", "change"),
    [(agent, change) for agent, changes in DIFFERENCES.items() for change in changes],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_each_difference_is_one(agent: str, change: Change, tmp_path: Path) -> None:
    others = [other for other in DIFFERENCES[agent] if other is not change]
    ((theirs, ours),) = both(agent, save(tmp_path, agent), tmp_path)

    assert as_ours(theirs, others) != as_ours(ours, others)


# The whole, exactly.


def test_claude_code_is_exactly_this(tmp_path: Path) -> None:
    path = save_lines(tmp_path, f"{SESSION}.jsonl", [QUEUE, USER, ASSISTANT, RESULT])
    beside = {"isSidechain": False, "userType": "external"}
    record = record_of(path)

    assert {
        "version": "3.0.0-draft",
        "id": SESSION,
        "recording-agent": {"name": "agent-journal", "version": agent_journal.__version__},
        "created": QUEUE["timestamp"],
        "vcs": {"type": "git", "branch": "main"},
        "session": {
            "format": "interactive",
            "session-id": SESSION,
            "session-start": QUEUE["timestamp"],
            "session-end": RESULT["timestamp"],
            "agent-meta": {
                "model-id": "claude-opus-4-6",
                "model-provider": "anthropic",
                "cli-name": "claude-code",
                "cli-version": "2.1.34",
            },
            "environment": {"working-dir": USER["cwd"]},
            "entries": [
                {
                    "type": "system-event",
                    "event-type": "queue-operation",
                    "timestamp": QUEUE["timestamp"],
                    "operation": "dequeue",
                    OWN_FIELDS: record["session"]["entries"][0][OWN_FIELDS],
                },
                {
                    "type": "user",
                    "timestamp": USER["timestamp"],
                    "id": USER["uuid"],
                    "content": "Fix the bug in main.py",
                    "permissionMode": "bypassPermissions",
                    **beside,
                },
                {
                    "type": "assistant",
                    "timestamp": ASSISTANT["timestamp"],
                    "id": ASSISTANT["uuid"],
                    "parent-id": USER["uuid"],
                    "model-id": "claude-opus-4-6",
                    "content": BLOCKS,
                    "token-usage": {
                        "input": 3,
                        "output": 2,
                        "cached": 15360,
                        "cache_creation_input_tokens": 5559,
                    },
                    "children": [
                        {
                            "type": "tool-call",
                            "name": "Bash",
                            "input": {"command": "git log --oneline -20"},
                            "call-id": "toolu_01D3fj28UAco6kEdZJSNnKf7",
                            OWN_FIELDS: {"kind": "shell"},
                        },
                        {"type": "reasoning", "content": "Let me examine the code..."},
                    ],
                    "requestId": ASSISTANT["requestId"],
                    "slug": "brave-crash",
                    "stop_reason": "tool_use",
                    "stop_sequence": "STOP",
                    **beside,
                    OWN_FIELDS: {
                        "stop_reason": "tool_use",
                        "native": True,
                        "response_id": ASSISTANT["message"]["id"],
                        "inside": {"message": ["stop_reason", "stop_sequence"]},
                        "usage": {
                            "key": f"{ASSISTANT['message']['id']}:{ASSISTANT['requestId']}",
                            "cache_write": 5559,
                            "names": {
                                "input_tokens": "input",
                                "output_tokens": "output",
                                "cache_read_input_tokens": "cached",
                            },
                        },
                    },
                },
                {
                    "type": "user",
                    "timestamp": RESULT["timestamp"],
                    "id": RESULT["uuid"],
                    "parent-id": ASSISTANT["uuid"],
                    "content": [RESULT_BLOCK],
                    "children": [
                        {
                            "type": "tool-result",
                            "call-id": RESULT_BLOCK["tool_use_id"],
                            "output": RESULT_BLOCK["content"],
                            "status": "success",
                        }
                    ],
                    "toolUseResult": RESULT["toolUseResult"],
                    "sourceToolAssistantUUID": ASSISTANT["uuid"],
                    **beside,
                },
            ],
        },
        OWN_FIELDS: {"source": "claude-code", "head_id": RESULT["uuid"], "started_at": USER["timestamp"]},
    } == record


def test_what_is_not_the_source_s_is_under_one_key(tmp_path: Path) -> None:
    (event, *_) = record_of(save(tmp_path, "claude-code"))["session"]["entries"]
    (said, *_) = record_of(save(tmp_path, "cursor"))["session"]["entries"]

    assert "id" not in event
    assert {"id"} == event[OWN_FIELDS].keys()
    assert {"type", "content", OWN_FIELDS} == said.keys()


def test_a_made_id_that_is_referred_to_is_an_id() -> None:
    timeline: list[Message | Event] = [
        Message(id="made", made_id=True, role="user"),
        Message(id="b", role="assistant", parent_id="made"),
    ]
    first, second = entries_of(*timeline)

    assert {"type": "user", "id": "made", OWN_FIELDS: {"made_id": True}} == first
    assert {"type": "assistant", "id": "b", "parent-id": "made"} == second


def entries_of(*timeline: Message | Event) -> list[Entry]:
    record = record_with(timeline=list(timeline))
    found: list[Entry] = record["session"]["entries"]
    return found


def record_with(**values: Any) -> Any:
    record = written(TARGET, Conversation(id="c", source="made-up", **values)).only
    assert [] == cddl.check(record)
    return record


@pytest.mark.parametrize(
    ("branch", "commit", "vcs"),
    [
        ("main", None, {"type": "git", "branch": "main"}),
        (None, "f9e1", {"type": "git", "revision": "f9e1"}),
        ("main", "f9e1", {"type": "git", "branch": "main", "revision": "f9e1"}),
        (None, None, None),
    ],
)
def test_vcs(branch: str | None, commit: str | None, vcs: Any) -> None:
    assert vcs == record_with(git_branch=branch, git_commit=commit).get("vcs")


def test_start_and_end_are_the_first_and_the_last_moment() -> None:
    first, last = "2026-03-01T09:00:00Z", "2026-03-01T11:00:00Z"
    timeline = [Message(id="a", role="user", at=first), Message(id="b", role="user", at=last)]
    record = record_with(started_at=AT, updated_at=AT, timeline=timeline)

    assert (first, first, last) == (
        record["created"],
        record["session"]["session-start"],
        record["session"]["session-end"],
    )
    assert {"source": "made-up", "started_at": AT, "updated_at": AT} == record[OWN_FIELDS]


TOKENS: list[tuple[Usage, Any, Any]] = [
    (Usage(), {}, None),
    (
        Usage(key="k", input=3, output=5, cache_read=7, cache_write=11, reasoning=2, total=26, cost_usd=0.5),
        {"input": 3, "output": 5, "cached": 7, "reasoning": 2, "total": 26, "cost": 0.5},
        {"key": "k", "cache_write": 11},
    ),
    # The source's own count of the same name is what it says; ours is told beside it.
    (
        Usage(input=3, extra={"input": 10, "cached": 7, "tool": 0}),
        {"input": 10, "cached": 7, "tool": 0},
        {"input": 3, "cache_read": None, "names": {"input": "input", "cached": "cached"}},
    ),
    (Usage(input=-1, extra={"cost": "much"}), {}, {"input": -1, "extra": {"cost": "much"}}),
]


@pytest.mark.parametrize(("usage", "told", "ours"), TOKENS)
def test_token_usage(usage: Usage, told: Any, ours: Any) -> None:
    (entry,) = entries_of(Message(id="a", role="assistant", usage=usage))

    assert told == entry["token-usage"]
    assert ours == entry.get(OWN_FIELDS, {}).get("usage")


def test_tokens_of_other_agents(tmp_path: Path) -> None:
    entries = record_of(save(tmp_path, "gemini-cli"))["session"]["entries"]
    stream = record_of(save(tmp_path, "opencode"))["session"]["entries"]

    assert GEMINI["messages"][1]["tokens"] | {"reasoning": 3} == entries[1]["token-usage"]
    assert OPENCODE[-1]["tokens"] | {"cost": 0.1, "cached": 0} == stream[-1]["token-usage"]


def test_events_have_their_fields_with_them() -> None:
    data = {"files": 2, "id": 5, "timestamp": "noon", "type": "x", "data": 1, "children": [], "none": None}
    (entry,) = entries_of(Event(id="e", name="snapshot", at=AT, data=data))

    assert {
        "type": "system-event",
        "event-type": "snapshot",
        "id": "e",
        "timestamp": AT,
        "files": 2,
        OWN_FIELDS: {"extra": {name: value for name, value in data.items() if name != "files"}},
    } == entry


def test_messages_of_the_system_are_events_unless_records_of_the_source_say_otherwise(tmp_path: Path) -> None:
    (event,) = entries_of(Message(id="s", role="system", parts=[Text(text="Be brief.")]))
    *_, info = record_of(save(tmp_path, "gemini-cli"))["session"]["entries"]

    assert ("system-event", "system-message", {"content": "Be brief."}, {"role": "system"}) == (
        event["type"],
        event["event-type"],
        event["data"],
        event[OWN_FIELDS],
    )
    assert ("assistant", "system") == (info["type"], info[OWN_FIELDS]["role"])


@pytest.mark.parametrize(
    ("is_error", "own", "told", "ours"),
    [
        (True, None, "error", None),
        (False, None, "success", None),
        (None, None, "success", {"is_error": None}),
        (False, "completed", "completed", {"own_status": True}),
        (None, "running", "running", {"own_status": True}),
        (True, "completed", "completed", {"own_status": True, "is_error": True}),
    ],
)
def test_status(is_error: bool | None, own: str | None, told: str, ours: Any) -> None:
    extra = {} if own is None else {"status": own}
    result = ToolResult(call_id="1", output="x", is_error=is_error, extra=extra)
    (entry,) = entries_of(Message(id="a", role="user", parts=[result]))
    (child,) = entry["children"]

    assert told == child["status"]
    assert "is-error" not in child
    assert ours == child.get(OWN_FIELDS)


def test_tokens_are_recorded_once_where_an_event_states_them(tmp_path: Path) -> None:
    entries = record_of(save(tmp_path, "codex"))["session"]["entries"]

    assert [COUNTED | INFO] == [entry["token-usage"] for entry in entries if "token-usage" in entry]


def test_a_result_says_no_more_than_its_source(tmp_path: Path) -> None:
    entries = record_of(save(tmp_path, "codex"))["session"]["entries"]
    results = [entry for entry in entries if entry["type"] == "tool-result"]

    assert [{"type", "timestamp", "output", "call-id", OWN_FIELDS}] * 3 == [{*result} for result in results]


# What is under our key is not what the entry says anyway.

LONG = "The kettle is on, and the water is going to boil in a while."


def test_a_thought_that_is_summed_up_is_recorded_once() -> None:
    (entry,) = entries_of(
        Message(id="a", role="assistant", native="", parts=[Reasoning(summary="Hm."), Text(text="Yes.")])
    )

    assert [{"type": "reasoning", "content": "Hm.", OWN_FIELDS: {"content": "summary"}}] == entry["children"]


def test_a_long_text_is_identified_by_its_location() -> None:
    parts = [Text(text=LONG, extra={"words": 13}), Text(text=LONG[4:54])]
    (entry,) = entries_of(Message(id="a", role="user", native=f"<p>{LONG}</p>", parts=[*parts]))

    assert [
        [[OWN_FIELDS, "parts", 0, "text"], ["content"], 3, 63],
        [[OWN_FIELDS, "parts", 1, "text"], ["content"], 7, 57],
    ] == sorted(entry[OWN_FIELDS]["same"])
    assert {"type": "text", "text": None, "extra": {"words": 13}} == entry[OWN_FIELDS]["parts"][0]


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_no_long_text_is_repeated_under_our_key(case: Case, tmp_path: Path) -> None:
    out = io.BytesIO()
    writers.get(TARGET).write(outcome(case.location(tmp_path)).items, out, new_run(Notes()))
    for line in out.getvalue().splitlines():
        for entry in json.loads(line)["session"]["entries"]:
            told = "\0".join(texts_in(entry, without=OWN_FIELDS))
            ours = [
                text
                for own in (entry, *entry.get("children", []))
                for text in texts_in(own.get(OWN_FIELDS, {}))
            ]

            assert [] == [text for text in ours if len(text) >= MIN_SHARED_CHARS and text in told]


def texts_in(value: Any, without: str | None = None) -> Iterator[str]:
    pending = [value]
    while pending:
        match pending.pop():
            case str(text):
                yield text
            case dict(bag):
                pending += [inner for name, inner in bag.items() if name != without]
            case list(values):
                pending += values


BROKEN: list[Any] = [
    None,
    [1, [], [[]], [[], []], [["id"], ["nowhere"]], [["content", 5], ["content"]]],
    [[[OWN_FIELDS, "response_id"], ["content"], "a", "b"]],
]


@pytest.mark.parametrize("same", BROKEN)
def test_places_that_are_none_are_left_alone(same: Any) -> None:
    record = record_with(timeline=[Message(id="a", role="user", parts=[Text(text="Yes.")])])
    record["session"]["entries"][0][OWN_FIELDS] = {"same": same}
    (again,) = read_record(json.dumps(record).encode())

    assert isinstance(again, Conversation)
    assert [Text(text="Yes.")] == [part for said in messages(again) for part in said.parts]


# Every case of every reader, and whatever Hypothesis can think of: valid, and in the bytes that are signed.


@pytest.mark.parametrize("target", ["agent-record", TARGET])
@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_records_of_every_case_are_valid_and_canonical(case: Case, target: str, tmp_path: Path) -> None:
    assert_valid(outcome(case.location(tmp_path)).items, target)


def assert_valid(items: Iterable[Item], target: str) -> None:
    out = io.BytesIO()
    writers.get(target).write(items, out, new_run(Notes()))
    for line in out.getvalue().splitlines():
        record = json.loads(line)

        assert [] == cddl.check(record)
        assert line == as_signed(record)


def as_signed(record: Any) -> bytes:
    """What the reference's tool signs."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


# Names of sources whose records have a form of their own, and of one that nobody knows.
SOURCES = sorted(name for name, reader in readers.discover().items() if reader.INFO.record != RecordForm())


@settings(
    max_examples=examples(80), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(conversation=conversations, source=st.sampled_from([*SOURCES, "nobody"]))
def test_any_conversation_is_a_valid_record(conversation: Conversation, source: str) -> None:
    for target in ("agent-record", TARGET):
        assert_valid([replace(conversation, source=source)], target)


@settings(
    max_examples=examples(80), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(conversation=conversations, source=st.sampled_from([*SOURCES, "nobody"]))
def test_any_conversation_can_be_read_back(conversation: Conversation, source: str) -> None:
    """All of it, also what breaks the model's rules; only an id must be there."""
    item = replace(conversation, id=conversation.id or "c", source=source, origin=None)
    out = io.BytesIO()
    writers.get(TARGET).write([item], out, new_run(Notes()))
    (again,) = read_record(out.getvalue())

    assert item == replace(again, origin=None)


@pytest.mark.parametrize("native", [None, "Hm", [{"type": "thinking", "thinking": "Hm"}]])
@pytest.mark.parametrize("source", [*SOURCES, "nobody"])
@pytest.mark.parametrize("text", [None, ""])
def test_a_thought_that_is_only_summed_up_is_one_part(text: str | None, source: str, native: Any) -> None:
    """It is told in the content and beside it, under other names."""
    thought = Reasoning(text=text, summary="Hm", encrypted="gAAAA")
    for parts in ([thought], [thought, Text(text="Yes")]):
        said = Message(id="m", role="assistant", parts=[*parts], native=native)
        item = Conversation(id="c", source=source, timeline=[said])
        out = io.BytesIO()
        writers.get(TARGET).write([item], out, new_run(Notes()))

        assert [item] == [replace(again, origin=None) for again in read_record(out.getvalue())]


def read_record(data: bytes) -> list[Item]:
    return list(readers.get("agent-record").read(Bytes(data), "3.0.0-draft", Notes()))
