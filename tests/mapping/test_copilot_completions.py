"""The table and rules of the unified schema's mapping that concern GitHub Copilot's telemetry, one by one."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal import readers, writers
from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind, Notes
from agent_journal.readers import copilot_completions
from agent_journal.readers.copilot_completions import completions
from agent_journal.readers.copilot_completions.fastpath import SHAPE, CommonEvent
from agent_journal.validation import unified as validate
from tests.inline import Written, converted, save_document, save_lines
from tests.memory_source import Bytes
from tests.unified_schema import check

Raw = dict[str, Any]
AT = "2026-03-01T10:00:00Z"


def event(**more: Any) -> Raw:
    """An event as the mapping's `transformCopilotCompletion` takes it."""
    return {
        "timestamp": AT,
        "file": "src/tea.py",
        "extensionVersion": "1.250.0",
        "editor": "vscode",
        "language": "python",
        "promptContext": "def steep():",
        "completion": "    return 3",
        "accepted": True,
        "completionIndex": 0,
    } | more


def unified(folder: Path, *events: Any) -> Written:
    return converted(save_lines(folder, "events.jsonl", events), "unified")


def only(folder: Path, **more: Any) -> Any:
    return unified(folder, event(**more)).only


# The field mappings, each row.


def test_schema_version_is_static(tmp_path: Path) -> None:
    assert "1.0.0" == only(tmp_path)["schema_version"]


def test_conversation_id_is_made_of_time_and_file(tmp_path: Path) -> None:
    made = only(tmp_path)["conversation_id"]

    assert ids.uuid5(f"github_copilot-{AT}-src/tea.py") == made
    assert made == only(tmp_path, completion="other", language="go")["conversation_id"]
    assert made != only(tmp_path, file="src/leaf.py")["conversation_id"]
    assert made != only(tmp_path, timestamp="2026-03-01T10:00:01Z")["conversation_id"]


def test_platform_name_is_static(tmp_path: Path) -> None:
    assert "github_copilot" == only(tmp_path)["platform"]["name"]


def test_platform_version_is_that_of_the_extension(tmp_path: Path) -> None:
    assert "1.250.0" == only(tmp_path)["platform"]["version"]


def test_platform_model_is_static(tmp_path: Path) -> None:
    assert "copilot-codex" == only(tmp_path)["platform"]["model"]


@pytest.mark.parametrize("editor", ["vscode", "jetbrains", "neovim"])
@pytest.mark.parametrize("name", ["editor", "ide"])
def test_editor(name: str, editor: str, tmp_path: Path) -> None:
    document = only(tmp_path, **({"editor": None} | {name: editor}))

    assert editor == document["context"]["environment"]["editor"]


def test_roles_are_inferred(tmp_path: Path) -> None:
    assert ["user", "assistant"] == [message["role"] for message in only(tmp_path)["messages"]]


@pytest.mark.parametrize(
    ("kind", "role"),
    [("prompt", "user"), ("completion.request", "user"), ("completion", "assistant"), ("shown", "assistant")],
)
def test_the_type_of_an_event_with_one_text_states_the_role(kind: str, role: str, tmp_path: Path) -> None:
    alone = {"timestamp": AT, "file": "a", "extensionVersion": "1", "type": kind, "text": "said"}
    document = unified(tmp_path, event(), alone | {"file": "src/tea.py"}).only

    assert role == document["messages"][-1]["role"]
    assert "said" == document["messages"][-1]["content"][0]["code"]


def test_content_is_code(tmp_path: Path) -> None:
    prompt, completion = only(tmp_path)["messages"]

    assert [
        {"type": "code", "code": "def steep():", "language": "python", "file_path": "src/tea.py"}
    ] == prompt["content"]
    assert [{"type": "code", "code": "    return 3", "language": "python"}] == completion["content"]


def test_tokens_are_estimated_and_say_so(tmp_path: Path) -> None:
    document = only(tmp_path, promptContext="x" * 41, completion="y" * 8)
    tokens = document["messages"][1]["tokens"]

    assert {"input_tokens": 11, "output_tokens": 2, "total_tokens": 13, "estimated": True} == tokens
    assert {"input": 11, "output": 2} == document["metrics"]["total_tokens"]
    assert "tokens" not in document["messages"][0]


def test_tokens_that_are_stated_are_no_estimate(tmp_path: Path) -> None:
    tokens = only(tmp_path, promptTokens=7, completionTokens=3)["messages"][1]["tokens"]

    assert {"input_tokens": 7, "output_tokens": 3} == tokens


# The mapping's function as a whole.


def test_ids_times_and_metadata_of_the_messages(tmp_path: Path) -> None:
    document = only(tmp_path, accepted=False, completionIndex=2)
    prompt, completion = document["messages"]

    assert ids.uuid5(f"github_copilot-{AT}-prompt") == prompt["message_id"]
    assert ids.uuid5(f"github_copilot-{AT}-completion") == completion["message_id"]
    assert prompt["message_id"] == completion["parent_message_id"]
    assert ["2026-03-01T10:00:00.000Z"] * 3 == [
        document["created_at"],
        prompt["timestamp"],
        completion["timestamp"],
    ]
    assert {"accepted": False, "completion_index": 2} == completion["metadata"]
    assert [] == check(document)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        (1772359200, "2026-03-01T10:00:00.000Z"),
        (1772359200123, "2026-03-01T10:00:00.123Z"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00.000Z"),
    ],
)
def test_times_are_normalized(written: Any, at: str, tmp_path: Path) -> None:
    assert at == only(tmp_path, timestamp=written)["created_at"]


def test_names_may_be_in_snake_case(tmp_path: Path) -> None:
    record = {
        "timestamp": AT,
        "file_path": "a.py",
        "prompt_context": "p",
        "completion_text": "c",
        "completion_index": 1,
        "extension_version": "2",
    }
    document = unified(tmp_path, record).only

    assert ["p", "c"] == [message["content"][0]["code"] for message in document["messages"]]
    assert "a.py" == document["messages"][0]["content"][0]["file_path"]
    assert ("2", 1) == (
        document["platform"]["version"],
        document["messages"][1]["metadata"]["completion_index"],
    )


# The strategy: threads by file and time.


def test_events_are_grouped_by_file(tmp_path: Path) -> None:
    later = event(timestamp="2026-03-01T10:10:00Z", promptContext="two")
    found = unified(tmp_path, event(), event(file="b.py"), later).documents

    assert [4, 2] == [len(document["messages"]) for document in found]


@pytest.mark.parametrize(("at", "count"), [("10:30:00", 1), ("10:30:00.001", 2), ("11:00:00", 2)])
def test_a_pause_of_more_than_thirty_minutes_ends_a_thread(at: str, count: int, tmp_path: Path) -> None:
    later = event(timestamp=f"2026-03-01T{at}Z", promptContext="two")

    assert count == len(unified(tmp_path, later, event()).documents)


def test_the_window_is_counted_from_the_last_event(tmp_path: Path) -> None:
    events = [
        event(timestamp=f"2026-03-01T1{hour}:{minute}:00Z")
        for hour in (0, 1)
        for minute in ("00", "20", "40")
    ]

    assert 12 == len(unified(tmp_path, *events).only["messages"])


def test_suggestions_for_one_prompt_stand_next_to_each_other(tmp_path: Path) -> None:
    events = [event(completionIndex=place, completion=str(place), accepted=place == 1) for place in range(3)]
    later = event(timestamp="2026-03-01T10:01:00Z")
    prompt, *suggested, next_prompt, _ = unified(tmp_path, *events, later).only["messages"]

    assert ["0", "1", "2"] == [message["content"][0]["code"] for message in suggested]
    assert [prompt["message_id"]] * 3 == [message["parent_message_id"] for message in suggested]
    assert suggested[1]["message_id"] == next_prompt["parent_message_id"]
    assert [3, None, None] == [message["tokens"].get("input_tokens") for message in suggested]


# Required fields: timestamp, completion text, file path.


def test_events_of_one_moment_take_no_longer_one_after_the_other() -> None:
    events = [event(promptContext=f"def steep_{number}():") for number in range(4000)]
    started = time.process_time()
    (thread,), _ = read_events(events)

    assert time.process_time() - started < 5
    assert len({entry.id for entry in thread.timeline}) == 2 * len(events)


def test_required_fields(tmp_path: Path) -> None:
    required = readers.get("copilot-completions").INFO.required
    now = "2027-01-01T00:00:00.000Z"

    assert ("messages[].timestamp", "messages[].content[].code", "context.custom.file") == required
    assert [] == validate.check(only(tmp_path), "standard", now, required).errors
    without_file = validate.check(only(tmp_path, file=None), "standard", now, required)
    assert ["Missing context.custom.file"] == without_file.errors


@pytest.mark.parametrize("name", ["timestamp", "completion", "file"])
def test_an_event_without_a_required_field_is_preserved(name: str, tmp_path: Path) -> None:
    documents = unified(tmp_path, event(file="b.py"), event(**{name: None})).documents
    codes = [
        block["code"] for one in documents for message in one["messages"] for block in message["content"]
    ]

    assert 2 == codes.count("def steep():")
    assert (1 if name == "completion" else 2) == codes.count("    return 3")


def test_an_event_without_text_is_no_message(tmp_path: Path) -> None:
    silent = {"timestamp": "2026-03-01T10:01:00Z", "file": "src/tea.py", "accepted": True, "type": "accepted"}
    document = unified(tmp_path, event(), silent).only

    assert 2 == len(document["messages"])
    assert ["accepted"] == [each["name"] for each in document["events"]]


# Metrics are counts, never messages.

METRICS = {
    "date": "2024-11-04",
    "total_active_users": 5,
    "copilot_ide_code_completions": {
        "editors": [
            {
                "name": "vscode",
                "models": [{"name": "default", "languages": [{"name": "go", "total_code_suggestions": 9}]}],
            }
        ]
    },
}
USAGE = {
    "day": "2024-03-30",
    "total_suggestions_count": 6,
    "breakdown": [{"language": "go", "editor": "vim", "suggestions_count": 1}],
}
COUNTS = {"user_initiated_interaction_count": 1, "code_generation_activity_count": 2}
BY_IDE = {"totals_by_ide": [{"ide": "vscode", "loc_added_sum": 3}]}
USER = {"day": "2026-02-04", "user_id": 7, "user_login": "teapot", **COUNTS, **BY_IDE}
WRAPPED = {
    "report_start_day": "2026-02-04",
    "report_end_day": "2026-03-03",
    "day_totals": [{"day": "2026-02-04", **COUNTS, **BY_IDE}],
}


@pytest.mark.parametrize(
    ("record", "name", "row"),
    [
        (
            METRICS,
            "metrics.copilot_ide_code_completions.editors.models.languages",
            {
                "date": "2024-11-04",
                "editor": "vscode",
                "model": "default",
                "language": "go",
                "total_code_suggestions": 9,
            },
        ),
        (
            USAGE,
            "usage.breakdown",
            {"day": "2024-03-30", "language": "go", "editor": "vim", "suggestions_count": 1},
        ),
        (
            USER,
            "report.totals_by_ide",
            {"day": "2026-02-04", "user_id": 7, "user_login": "teapot", "ide": "vscode", "loc_added_sum": 3},
        ),
        (WRAPPED, "report.totals_by_ide", {"day": "2026-02-04", "ide": "vscode", "loc_added_sum": 3}),
    ],
    ids=["metrics", "usage", "report by user", "wrapped report"],
)
@pytest.mark.parametrize("form", ["array", "lines"])
def test_counts_are_rows_with_their_keys(record: Raw, name: str, row: Raw, form: str, tmp_path: Path) -> None:
    path = (
        save_document(tmp_path, "a.json", [record])
        if form == "array"
        else save_lines(tmp_path, "a.ndjson", [record])
    )
    document = converted(path, "unified").only

    assert [] == document["messages"]
    assert (name, row) in [(each["name"], each["data"]) for each in document["events"]]
    assert (
        f"{record.get('date') or record.get('day') or '2026-02-04'}T00:00:00.000Z" == document["created_at"]
    )
    assert [] == check(document)


def test_the_parts_of_a_report_are_of_one_conversation_with_distinct_events(tmp_path: Path) -> None:
    whose = {"organization_id": "1", "day": "2026-02-04"}
    first = unified(tmp_path, USER | whose).only
    second = unified(tmp_path, USER | whose | {"user_id": 8, "user_login": "kettle"}).only

    assert first["conversation_id"] == second["conversation_id"]
    assert {each["event_id"] for each in first["events"]}.isdisjoint(
        each["event_id"] for each in second["events"]
    )


# Detection.


@pytest.mark.parametrize(
    ("value", "version"),
    [
        (event(), "events"),
        ([event()], "events"),
        ({"events": [event()]}, "events"),
        ({"timestamp": 1, "file": "a", "completion": "b", "accepted": True}, "events"),
        # The fewest fields that the mapping document demands.
        ({"timestamp": 1, "file": "a", "completion": "b"}, "events"),
        ([METRICS], "metrics"),
        ([{"date": "2024-11-04", "copilot_dotcom_chat": None}], "metrics"),
        ([USAGE], "usage"),
        (USER, "report"),
        (WRAPPED, "report"),
        ({"report_day": "2026-02-04", "user_totals": []}, "report"),
        ({"report_day": "2026-02-04", "download_links": []}, "report"),
        # Training data, and what other tools log.
        ({"prompt": "a", "completion": "b"}, None),
        ({"timestamp": 1, "file": "a", "prompt": "b", "completion": "c"}, None),
        ({"timestamp": 1, "completion": "b", "accepted": True}, None),
        ({"events": [{"type": "user"}]}, None),
        ({"events": 3}, None),
        ({"date": "2024-11-04", "total_active_users": 1}, None),
        ({"day_totals": []}, None),
        ({"total_seats": 1, "seats": []}, None),
    ],
)
def test_detection(value: Any, version: str | None) -> None:
    assert version == copilot_completions.sniff(Peek(Bytes(json.dumps(value).encode())))


# Bad input.


@pytest.mark.parametrize("name", list(event()))
@pytest.mark.parametrize("value", [None, 7, 1.5, True, "", [], {}, [[]], {"a": [1]}])
def test_a_value_of_any_type_breaks_nothing(name: str, value: Any) -> None:
    data = json.dumps([event(), event(**{name: value})]).encode()
    found = [*copilot_completions.read(Bytes(data), "events", Notes())]

    assert found
    assert all(isinstance(item, Conversation) for item in found)


@pytest.mark.parametrize("value", [None, 7, "x", [1], [[]], [{"a": []}], {"a": {"b": 1}}])
@pytest.mark.parametrize("name", ["date", "copilot_ide_code_completions", "editors"])
def test_counts_of_any_type_are_preserved(name: str, value: Any) -> None:
    (found,) = copilot_completions.read(
        Bytes(json.dumps([METRICS | {name: value}]).encode()), "metrics", Notes()
    )

    assert isinstance(found, Conversation)
    assert all(isinstance(entry, Event) for entry in found.timeline)


def test_every_writer_takes_a_conversation_without_messages(tmp_path: Path) -> None:
    path = save_document(tmp_path, "a.json", [METRICS])
    for name, writer in writers.discover().items():
        if writer.INFO.layout == "lines":
            written = converted(path, name)
            # Nothing can be learnt from a line in which nobody says anything; who writes none notes it.
            assert written.documents or any(
                note.kind == Kind.NOT_EXPRESSED.label for note in written.notes.collected
            )


def test_what_became_of_a_suggestion_is_preserved_with_it() -> None:
    offered = {name: value for name, value in event().items() if name not in ("completion", "accepted")}
    turned_down = offered | {"type": "completion_rejected", "reason": "typed over"}
    data = "\n".join(map(json.dumps, [event(accepted=False), turned_down])).encode()
    (found,) = copilot_completions.read(Bytes(data), "events", Notes())

    assert isinstance(found, Conversation)
    *_, last = found.timeline
    assert isinstance(last, Event)
    assert "completion_rejected" == last.name
    assert "typed over" == last.data["reason"]
    assert "python" == last.data["language"]


# Usual events are decoded into their fields; what must come of that is what comes of reading them with care.

ODD: st.SearchStrategy[Any] = st.sampled_from([None, "", "x", 0, 1.0, True, [], {"a": 1}])
VALUES = {
    "timestamp": st.sampled_from(
        [AT, "2026-03-01T10:00:07Z", "2026-03-01T11:00:00+01:00", "never", 1772359200]
    ),
    "file": st.sampled_from(["a.py", "b.py"]),
    "promptContext": st.sampled_from(["def", "if"]),
    "completion": st.sampled_from([" x", " y"]),
    "language": st.sampled_from(["python", ""]),
    "extensionVersion": st.sampled_from(["1", "2", ""]),
    "editor": st.sampled_from(["vscode", "vim"]),
    "accepted": st.booleans(),
    "completionIndex": st.integers(0, 3),
}
FIELDS = {name: st.one_of(value, value, value, ODD) for name, value in VALUES.items()}
EVENTS = st.lists(
    st.fixed_dictionaries(VALUES) | st.fixed_dictionaries({}, optional=FIELDS | {"model": ODD}),
    max_size=6,
)


def read_events(events: list[Raw]) -> Any:
    notes = Notes()
    data = "\n".join(map(json.dumps, events)).encode()
    return list(copilot_completions.read(Bytes(data), "events", notes)), notes.collected


@given(EVENTS)
@settings(deadline=None)
def test_both_paths_give_the_same_messages(events: list[Raw]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completions, "SHAPE", json_stream.ANY)
        with_care = read_events(events)

    assert with_care == read_events(events)


def test_the_event_of_the_mapping_takes_the_fast_path() -> None:
    assert isinstance(SHAPE.one(json.dumps(event()).encode()), CommonEvent)
