"""One test for all writers: the kitchen sink, nothing at all, and whatever Hypothesis can think of."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import writers
from agent_journal.archive import rows
from agent_journal.files import ZipBundle
from agent_journal.model import (
    Citation,
    Conversation,
    Event,
    Feedback,
    Item,
    Memory,
    Message,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.notes import Note, Notes
from agent_journal.redaction import REDACTIONS_KEY
from agent_journal.writers import PageWriter, Run
from tests import cddl, pam_bundle, training, unified_schema
from tests.cases import leaves
from tests.examples import examples
from tests.golden import assert_same_files, assert_same_json, named
from tests.mapping import test_session
from tests.models import items as any_items

HERE = Path(__file__).parent / "writers"
NAMES = sorted(writers.discover())
every_writer = pytest.mark.parametrize("name", NAMES)
OF_PAGES = [name for name in NAMES if writers.get(name).INFO.layout == "pages"]
every_writer_of_pages = pytest.mark.parametrize("name", OF_PAGES)


@cache
def kitchen_sink() -> list[Item]:
    data = (HERE / "kitchen_sink.json").read_bytes()
    return msgspec.json.decode(data, type=list[Conversation | Memory])


def written(name: str, items: Iterable[Item]) -> tuple[bytes, list[Note]]:
    """What a writer makes of items, in a run that is always the same one."""
    notes = Notes()
    return in_memory(name, items, a_run(notes)), notes.collected


def a_run(notes: Notes) -> Run:
    return Run(
        note=notes,
        started_at="2026-11-01T12:00:00Z",
        program="agent-journal/1.2.3",
        names={"kitchen": {"unified": "claude_code", "record": "kitchen-cli"}},
        titles={"kitchen": "The Kitchen", "pantry": "The Pantry"},
    )


def pages(name: str, items: Iterable[Item], run: Run | None = None) -> dict[str, bytes]:
    """The files that a writer of pages makes of items."""
    out = io.BytesIO()
    with closing(ZipBundle(out)) as bundle:
        cast("PageWriter", writers.get(name)).write_pages(items, bundle, run or a_run(Notes()))
    return pam_bundle.unzipped(out.getvalue())


def in_memory(name: str, items: Iterable[Item], run: Run) -> bytes:
    """What a writer makes of items; of a bundle, the zip of it."""
    out = io.BytesIO()
    writer = writers.get(name)
    if writer.INFO.layout != "bundle":
        writer.write(items, out, run)
    else:
        with closing(ZipBundle(out)) as bundle:
            writer.write(items, bundle, run)
    return out.getvalue()


def documents(data: bytes) -> list[Any]:
    """What was written in lines, decoded."""
    return [json.loads(line) for line in data.split(b"\n") if line]


def unified_errors(data: bytes) -> list[str]:
    return [error for document in documents(data) for error in unified_schema.check(document)]


def record_errors(data: bytes) -> list[str]:
    return [error for record in documents(data) for error in cddl.check(record)]


def json_errors(data: bytes) -> list[str]:
    """Each line must be an item of the model."""
    again(data)
    return []


def pam_errors(data: bytes) -> list[str]:
    return pam_bundle.errors(pam_bundle.unzipped(data))


def syntax_errors(data: bytes) -> list[str]:
    """The least that can be said of a target that is JSON and has no schema here."""
    try:
        json.loads(data) if data.strip() else None
    except ValueError as error:
        return [str(error)]
    return []


def bundle_errors(data: bytes) -> list[str]:
    """The least that can be said of a folder of JSON and lines of JSON."""
    files = pam_bundle.unzipped(data)
    documents = [
        document
        for path, content in files.items()
        if path.endswith((".json", ".jsonl"))
        for document in (content.splitlines() if path.endswith(".jsonl") else [content])
    ]
    return [error for document in documents for error in syntax_errors(document)]


def anthropic_errors(data: bytes) -> list[str]:
    """Sides take turns, and each call is answered by the next message, as the service demands."""
    errors: list[str] = []
    for document in documents(data):
        messages = document["messages"]
        errors += [
            f"two messages of the {one['role']} in a row"
            for one, other in pairwise(messages)
            if one["role"] == other["role"]
        ]
        for message, following in zip_longest(messages, messages[1:]):
            calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
            content = [] if following is None else following["content"]
            results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
            errors += [] if calls == results else [f"calls {calls}, results {results}"]
    return errors


def session_errors(data: bytes) -> list[str]:
    return [error for session in documents(data) for error in test_session.errors(session)]


def text_errors(data: bytes) -> list[str]:
    """What is for people is UTF-8."""
    data.decode()
    return []


ERRORS_OF: dict[str, Callable[[bytes], list[str]]] = {
    **dict.fromkeys(OF_PAGES, text_errors),
    "agent-record": record_errors,
    "agent-record-v3": record_errors,
    **dict.fromkeys([name for name in NAMES if writers.get(name).INFO.homes], bundle_errors),
    "anthropic-messages": anthropic_errors,
    "json": json_errors,
    "openai-messages": training.openai_errors,
    "pam": pam_errors,
    "parquet": training.parquet_errors,
    "session": session_errors,
    "sharegpt": training.sharegpt_errors,
    "unified": unified_errors,
}


def errors_of(name: str, data: bytes) -> list[str]:
    return ERRORS_OF.get(name, syntax_errors)(data)


@every_writer
def test_kitchen_sink(name: str, request: pytest.FixtureRequest) -> None:
    data, notes = written(name, kitchen_sink())
    assert [] == errors_of(name, data)
    noted = [str(note) for note in notes]
    info = writers.get(name).INFO
    is_bundle = info.layout == "bundle"
    data, suffix = (training.parquet_rows(data), ".jsonl") if name == "parquet" else (data, info.suffix)
    golden = HERE / name / ("expected" if is_bundle else f"expected{suffix}")
    golden_notes = HERE / name / "expected.notes.json"
    files = {path: legible(content) for path, content in files_in(data, is_bundle=is_bundle).items()}
    if request.config.getoption("--accept"):
        accept(files, golden)
        golden_notes.write_text(json.dumps(noted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    expected = pam_bundle.files_of(golden) if is_bundle else {"": golden.read_bytes()}
    assert_same_files(expected, files, named(golden))
    assert_same_json(json.loads(golden_notes.read_text(encoding="utf-8")), noted, named(golden_notes))


def files_in(data: bytes, *, is_bundle: bool) -> dict[str, bytes]:
    return pam_bundle.unzipped(data) if is_bundle else {"": data}


def legible(data: bytes) -> bytes:
    """A page without its style and script, which say nothing of what it shows; anything else as it is."""
    if not data.startswith(b"<!doctype html>"):
        return data
    data = re.sub(rb"(<style>|<script>).*?(</style>|</script>)", rb"\1\2", data, flags=re.DOTALL)
    return re.sub(rb"sha256-[\w+/=]{44}", b"sha256", data)


def accept(files: dict[str, bytes], golden: Path) -> None:
    shutil.rmtree(golden, ignore_errors=True)
    for path, content in files.items():
        (golden / path).parent.mkdir(parents=True, exist_ok=True)
        (golden / path).write_bytes(content)


@every_writer_of_pages
def test_pages_of_the_kitchen_sink(name: str, request: pytest.FixtureRequest) -> None:
    files = {path: legible(content) for path, content in pages(name, kitchen_sink()).items()}
    golden = HERE / name / "expected.pages"
    if request.config.getoption("--accept"):
        accept(files, golden)

    assert_same_files(pam_bundle.files_of(golden), files, named(golden))


def test_every_folder_has_a_writer() -> None:
    assert {folder.name for folder in HERE.iterdir() if folder.is_dir()} == set(NAMES)


@every_writer
def test_info_is_complete(name: str) -> None:
    info = writers.get(name).INFO

    assert info.name == name
    assert info.title
    assert info.suffix.startswith(".")
    assert info.evidence


@every_writer
def test_nothing_is_valid_too(name: str) -> None:
    data, notes = written(name, [])

    assert [] == errors_of(name, data)
    assert [] == notes


@every_writer
def test_a_conversation_with_nothing_in_it(name: str) -> None:
    data, notes = written(name, [Conversation(id="", source="")])

    reasons = ("1 × branch without a model message", "a conversation without messages")
    assert data or [note.detail for note in notes] in [[reason] for reason in reasons]
    assert [] == errors_of(name, data)


@every_writer
@pytest.mark.parametrize(
    "item",
    [
        Conversation(id="c", source="kitchen", extra={REDACTIONS_KEY: {"aws-access-key": 2}}),
        Memory(
            id="m", source="kitchen", kind="note", text="It.", extra={REDACTIONS_KEY: {"aws-access-key": 2}}
        ),
    ],
    ids=["conversation", "memory"],
)
def test_what_was_redacted_is_reported_or_noted(name: str, item: Item) -> None:
    message = Message(id="1", role="user", parts=[Text(text="It is here.")])
    items = [replace(item, timeline=[message]) if isinstance(item, Conversation) else item]
    data, notes = written(name, items)
    files = files_in(data, is_bundle=True).values() if data.startswith(b"PK") else [data]
    files = [training.parquet_rows(data)] if name == "parquet" else files
    is_told = any(b"aws-access-key" in file for file in files)
    is_left_out = isinstance(item, Memory) and any("a memory, as it" in note.detail for note in notes)

    assert is_told or is_left_out or any("2 × aws-access-key" in note.detail for note in notes)


@every_writer
def test_items_are_taken_one_by_one(name: str) -> None:
    """A writer of lines has written an item before it asks for the next one."""
    layout = writers.get(name).INFO.layout
    if layout == "document":
        pytest.skip("a document is written as a whole")
    out = io.BytesIO()
    sizes: list[int] = []
    asked = Message(id="q", role="user", parts=[Text(text="Is it?")])
    answered = Message(id="a", role="assistant", parent_id="q", parts=[Text(text="It is.")])

    def watched() -> Iterable[Item]:
        for number in range(3):
            sizes.append(out.tell())
            yield Conversation(id=f"c{number}", source="kitchen", timeline=[asked, answered])

    with closing(ZipBundle(out) if layout == "bundle" else out) as target:
        writers.get(name).write(watched(), target, Run(note=Notes(), started_at="", program="p/1"))

    assert 0 == sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_a_passage_that_is_cited_without_a_name_is_recorded_once(name: str) -> None:
    asked = Text(text="Why?", citations=[Citation(text="Onions make one cry.")])
    message = Message(id="1", role="user", parts=[asked])
    data, _ = written(name, [Conversation(id="1", source="kitchen", timeline=[message])])

    assert 1 == data.count(b"Onions make one cry.")


@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_pages_that_a_tool_found_are_named(name: str) -> None:
    page = Text(text="They make one cry.", citations=[Citation(title="Onions", url="https://onions.example")])
    call = ToolCall(name="search", call_id="1", input={"query": "onions"})
    timeline: list[Message | Event] = [
        Message(id="asked", role="assistant", parts=[call]),
        Message(id="found", role="tool", parent_id="asked", parts=[ToolResult(call_id="1", output=[page])]),
    ]
    data, _ = written(name, [Conversation(id="1", source="kitchen", timeline=timeline)])

    assert b"https://onions.example" in data
    assert b"Onions" in data


@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_what_has_no_text_is_not_written(name: str) -> None:
    timeline: list[Message | Event] = [
        Event(id="root", name="mere-root"),
        Message(id="rules", role="system", parent_id="root", hidden=True),
        Message(id="asked", role="user", parent_id="rules", parts=[Text(text="Is it?")]),
        Message(id="begun", role="assistant", parent_id="asked"),
        Message(id="answered", role="assistant", parent_id="begun", parts=[Text(text="It is.")]),
        Message(id="ended", role="assistant", parent_id="answered"),
        Message(id="again", role="user", parent_id="ended", parts=[Text(text="Is it?")]),
        Message(id="nothing", role="assistant", parent_id="again"),
    ]
    data, _ = written(name, [Conversation(id="1", source="kitchen", timeline=timeline)])

    assert 1 == data.count(b"(empty)")  # all that was answered
    assert b"idden" not in data.partition(b"Is it?")[0].rpartition(b"</style>")[2]
    assert b"mere-root" not in data


@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_the_subject_of_a_rating_is_written(name: str) -> None:
    timeline: list[Message | Event] = [
        Event(id="root", name="a-root", data={"it": "is said"}),
        Message(id="asked", role="user", parent_id="root", parts=[Text(text="Is it?")]),
        Message(id="begun", role="assistant", parent_id="asked"),
        Message(id="other", role="assistant", parent_id="begun", parts=[Text(text="It was.")]),
        Message(id="answered", role="assistant", parent_id="begun", parts=[Text(text="It is.")]),
        Message(id="rated", role="assistant", parent_id="answered"),
    ]
    rating = Feedback(rating="down", text="So short.", message_id="rated")
    made = Conversation(id="1", source="kitchen", timeline=timeline, feedback=[rating], head_id="rated")
    data, _ = written(name, [made])

    assert 2 == data.count(b"(empty)")  # one that a branch leaves, one that is rated
    assert b"a-root" in data


@every_writer
def test_writing_twice_is_equal(name: str) -> None:
    assert written(name, kitchen_sink()) == written(name, kitchen_sink())


@every_writer
def test_who_does_not_say_so_writes_nothing_as_the_source_had_it(name: str) -> None:
    """A journal gives content as the source had it only to writers that say that they write it."""
    in_rows = [without_native(item) for item in kitchen_sink()]

    if not writers.get(name).INFO.is_native:
        assert written(name, in_rows) == written(name, kitchen_sink())


def without_native(item: Item) -> Item:
    if isinstance(item, Memory):
        return item
    timeline = [rows.without_native(each) if isinstance(each, Message) else each for each in item.timeline]
    return replace(item, timeline=timeline)


@every_writer
def test_deeply_nested_values(name: str) -> None:
    """As deep as they can be read."""
    depth = 900
    nested = msgspec.json.decode(b"[" * depth + b"]" * depth)
    message = Message(id="1", role="user", parts=[Text(text="Is it?")], extra={"deep": nested}, native=nested)
    answered = Message(id="2", role="assistant", parent_id="1", parts=[Text(text="It is.")])
    data, _ = written(name, [Conversation(id="1", source="kitchen", timeline=[message, answered])])

    assert data


@every_writer
def test_long_chains(name: str) -> None:
    """A chain of messages is a chain, not a stack."""
    timeline: list[Message | Event] = [
        Message(id=str(number), role="user", parent_id=str(number - 1) if number else None)
        for number in range(20_000)
    ]
    data, _ = written(name, [Conversation(id="1", source="kitchen", timeline=timeline)])

    assert [] == errors_of(name, data)


@settings(
    max_examples=examples(80), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(items=st.lists(any_items, max_size=3))
def test_any_model_in_every_format(items: list[Item]) -> None:
    for name in NAMES:
        data, _ = written(name, items)

        assert [] == errors_of(name, data), name
        if name == "json":
            assert items == again(data)


def again(data: bytes) -> list[Item]:
    """The items that were written as lines of the model."""
    return [msgspec.json.decode(line, type=Conversation | Memory) for line in data.split(b"\n") if line]


def test_json_brings_the_kitchen_sink_back() -> None:
    data, notes = written("json", kitchen_sink())

    assert kitchen_sink() == again(data)
    assert [] == notes


# What the unified form has in other words: moments in milliseconds, and what is no fact of the source.
REWORDED = {"type", "role", "shape", "relation", "at", "started_at", "updated_at", "rating", "kind", "key"}


def test_unified_loses_no_text() -> None:
    for item in kitchen_sink():
        if isinstance(item, Memory):
            continue
        data, _ = written("unified", [item])
        texts = {text for _, text in leaves(documents(data))}
        model = json.loads(msgspec.json.encode(item))
        for entry in model.get("timeline", []):
            entry.pop("native", None)
        lost = [(key, text) for key, text in leaves(model) if key not in REWORDED and text not in texts]

        # Arguments that came as JSON text are an object; the name of the platform is the schema's.
        assert [] == [(key, text) for key, text in lost if not text.startswith('{"') and key != "source"]
