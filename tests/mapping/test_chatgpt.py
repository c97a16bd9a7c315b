"""ChatGPT into the model: each row of the field mappings, the critical notes, and what must hold at scale."""

from __future__ import annotations

import copy
import io
import json
import random
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import HEAD_BYTES, File, Stdin, open_input
from agent_journal.model import (
    Citation,
    Conversation,
    Event,
    Feedback,
    Item,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    timestamps,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers.chatgpt import export as export_files
from agent_journal.readers.chatgpt.assets import Assets
from agent_journal.readers.chatgpt.fastpath import SHAPE, CommonConversation, CommonNode
from agent_journal.readers.chatgpt.graph import in_order, parent_of
from agent_journal.readers.chatgpt.message import ReadingState, read_node
from agent_journal.readers.chatgpt.timeline import decoded_entry, raw_entry
from agent_journal.readers.chatgpt.values import epoch_seconds, format_times
from tests.cases import Case, all_cases, as_json, leaves, outcome
from tests.inline import save_document

SEEN_AT = 1700000000.123456
ID = "6a010000-0000-4000-8000-000000000001"
READER = readers.get("chatgpt")


def node(key: str, parent: str | None, message: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"id": key, "message": message, "parent": parent, "children": [*children]}


def said(key: str, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": SEEN_AT,
        "update_time": None,
        "content": {"content_type": "text", "parts": [*parts]},
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        **more,
    }


def chat(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "title": "Trip",
        "create_time": 1700000000.5,
        "update_time": 1700000300,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": nodes[-1]["id"],
        "conversation_id": ID,
        "id": ID,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
        **more,
    }


SMALL = (
    node("root", None, None, "q"),
    node("q", "root", said("q", "user", "Where is Pisa?"), "a"),
    node("a", "q", said("a", "assistant", "In Italy.", metadata={"model_slug": "gpt-5"})),
)


def read(folder: Path, document: Any, note: Notes | None = None) -> list[Item]:
    return [*read_all([str(save_document(folder, "conversations.json", document))], note or Notes())]


def only(folder: Path, *nodes: dict[str, Any], **more: Any) -> Conversation:
    (item,) = read(folder, [copy.deepcopy(chat(*nodes, **more))])
    assert isinstance(item, Conversation)
    return item


def message(conversation: Conversation, key: str) -> Message:
    return next(found for found in tree.messages(conversation) if found.id == key)


def first_message(folder: Path, raw: dict[str, Any]) -> Message:
    return message(only(folder, node("m", None, raw)), "m")


# The Unified Conversation Schema's table.


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("id", ID),
        ("source", "chatgpt"),
        ("model", "gpt-4o"),
        ("started_at", "2023-11-14T22:13:20.5Z"),
        ("updated_at", "2023-11-14T22:18:20Z"),
        ("title", "Trip"),
        ("archived", False),
        ("head_id", "a"),
        ("shape", "tree"),
        ("made_id", False),
    ],
)
def test_conversation_fields(tmp_path: Path, field: str, expected: Any) -> None:
    assert expected == getattr(only(tmp_path, *SMALL), field)


def test_targets_know_it_by_its_product_name() -> None:
    assert {"unified": "chatgpt", "pam": "chatgpt", "record": "chatgpt"} == READER.INFO.names


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_message_id_role_and_content(tmp_path: Path, role: str) -> None:
    got = first_message(tmp_path, said("m", role, "user message text"))

    assert (role, "m", [Text(text="user message text")]) == (got.role, got.id, got.parts)


def test_role_next_to_the_content_as_the_example_has_it(tmp_path: Path) -> None:
    got = first_message(
        tmp_path, {"role": "user", "content": {"content_type": "text", "parts": ["user message text"]}}
    )

    assert ("user", [Text(text="user message text")], {}) == (got.role, got.parts, got.extra)


def test_image_as_the_example_has_it(tmp_path: Path) -> None:
    pointer = {"asset_pointer": "file-service://...", "content_type": "image_asset_pointer"}
    content = {"content_type": "multimodal_text", "parts": [pointer, "Describe this image"]}
    got = first_message(tmp_path, {"role": "user", "content": content})

    assert [Media(kind="image", ref="file-service://..."), Text(text="Describe this image")] == got.parts
    assert got.extra == {"content": {"content_type": "multimodal_text"}}


# Portable AI Memory: the files of an export.


def export(folder: Path, **files: Any) -> list[Item]:
    for name, document in {"conversations": [chat(*SMALL)], **files}.items():
        save_document(folder, f"{name}.json", document)
    return [*read_all([str(folder)], Notes())]


def test_account_is_recorded_once_and_excluded_from_conversations(tmp_path: Path) -> None:
    user = {"id": "user-1", "email": "a@example.invalid", "phone_number": None, "chatgpt_plus_user": True}
    memory, conversation = export(tmp_path, user=user)

    assert isinstance(memory, Memory)
    assert isinstance(conversation, Conversation)
    assert ("identity", "id: user-1, email: a@example.invalid") == (memory.kind, memory.text)
    assert user == memory.extra
    assert conversation.account_id == "user-1"
    assert "a@example.invalid" not in json.dumps(as_json(conversation))


def test_feedback_goes_to_its_conversation(tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "conversation_id": ID,
            "rating": "thumbsDown",
            "content": '{"text": "no"}',
            "create_time": "2025-01-02T03:04:05Z",
        },
        {"id": "other", "conversation_id": ID, "rating": "thumbs_up", "content": None},
    ]
    (conversation,) = export(tmp_path, message_feedback=rows)

    assert isinstance(conversation, Conversation)
    assert [
        Feedback(
            rating="down",
            text="no",
            at="2025-01-02T03:04:05Z",
            message_id="a",
            extra={"content": '{"text": "no"}'},
        ),
        Feedback(rating="up", extra={"id": "other", "content": None}),
    ] == conversation.feedback


def test_shared_links_and_tool_messages_go_to_their_conversation(tmp_path: Path) -> None:
    shared = {"id": "share", "conversation_id": ID, "title": "Trip", "is_anonymous": True}
    tool = {"message_id": "a", "result": "ok"}
    (conversation,) = export(tmp_path, shared_conversations=[shared], tool_messages=[tool])

    assert {"shared": [shared], "tool_messages": [tool]} == conversation.extra


def test_every_file_is_read_or_named(tmp_path: Path) -> None:
    named = ["model_comparisons", "group_chats", "shopping", "sora", "user_settings"]
    for name in named:
        save_document(tmp_path, f"{name}.json", [])
    (tmp_path / "chat.html").write_text("<html>", encoding="utf-8")
    for number in range(2000):
        (tmp_path / f"{number:04d}.dat").write_bytes(b"")
    save_document(tmp_path, "conversations.json", [chat(*SMALL)])
    note = Notes()
    assert len([*read_all([str(tmp_path)], note)]) == 1

    said_of = {Path(found.file).name: found.detail for found in note.collected}
    assert {*said_of} == {"chat.html", "assets", *(f"{name}.json" for name in named)}
    assert said_of["assets"] == "2,000 files"
    assert {found.kind for found in note.collected} == {Kind.IGNORED_FILE.label}
    assert not note.damaged


TURN = {"id": "task_e_x~usertrn_e_x", "role": "user", "input_items": []}


def test_tasks_alone_are_read_too(tmp_path: Path) -> None:
    prompt = {"type": "message", "content": [{"content_type": "text", "text": "Oil it"}]}
    task = {"id": "task_e_1", "title": "Oil", "turns": [{**TURN, "input_items": [prompt]}]}
    (conversation,) = read_all([str(save_document(tmp_path, "codex.json", [task]))], Notes())

    assert isinstance(conversation, Conversation)
    assert (conversation.source, conversation.id, conversation.started_at) == ("chatgpt", "task_e_1", None)
    assert [message.parts for message in tree.messages(conversation)] == [[Text(text="Oil it")]]


@pytest.mark.parametrize("nothing", [[], {}])
def test_an_account_without_tasks_has_nothing_noted(tmp_path: Path, nothing: Any) -> None:
    note = Notes()
    save_document(tmp_path, "codex.json", nothing)
    save_document(tmp_path, "user.json", {"id": "u"})
    save_document(tmp_path, "conversations.json", [chat(*SMALL)])

    assert len([*read_all([str(tmp_path)], note)]) == 2
    assert note.collected == []


@pytest.mark.parametrize(
    "items",
    [
        [None, 3, "x", [], {}, {"type": 5}, {"type": "pr", "output_diff": 3}],
        [{"type": "message", "content": [None, "bare", {"content_type": "text", "text": 4}, {"text": "y"}]}],
        [
            {
                "type": "message",
                "content": [{"content_type": "text", "text": "more", "mood": "calm"}],
                "id": "i",
            }
        ],
        [{"type": "partial_repo_snapshot", "files": [None, {"line_range_contents": [{"content": 3}]}]}],
        [{"type": "partial_repo_snapshot", "files": [{"path": "a", "contents": "b"}], "more": "said"}],
    ],
)
def test_nothing_odd_in_a_task_is_lost(tmp_path: Path, items: list[Any]) -> None:
    """Whatever a turn holds ends nothing, and each of its words is told."""
    task = {"id": "task_e_1", "turns": [None, {**TURN, "input_items": copy.deepcopy(items)}, {"role": 7}]}
    (conversation,) = read_all([str(save_document(tmp_path, "codex.json", [task]))], Notes())

    told = {text for _, text in leaves(as_json(conversation))}
    assert {text for key, text in leaves(items) if key not in ("type", "content_type")} <= told


def test_a_shard_that_is_listed_and_missing_is_damage(tmp_path: Path) -> None:
    shards = [{"name": f"conversations-{number:03d}.json"} for number in range(3)]
    save_document(
        tmp_path,
        "export_manifest.json",
        {"version": 1, "files": [{"name": "conversations.json", "shards": shards}]},
    )
    for number in (0, 2):
        save_document(
            tmp_path, f"conversations-{number:03d}.json", [chat(*SMALL, conversation_id=f"c{number}")]
        )
    note = Notes()
    items = [*read_all([str(tmp_path)], note)]

    assert ["c0", "c2"] == [item.id for item in items]
    assert [("missing-file", "conversations-001.json")] == [
        (found.kind, Path(found.file).name) for found in note.collected
    ]
    assert note.damaged


def test_shards_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (2, 10, 1):
        save_document(tmp_path, f"conversations-{number}.json", [chat(*SMALL, conversation_id=f"c{number}")])

    assert ["c1", "c2", "c10"] == [item.id for item in read_all([str(tmp_path)], Notes())]


def test_a_file_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    save_document(tmp_path, "conversations-000.json", [chat(*SMALL)])
    (tmp_path / "conversations-001.json").symlink_to(tmp_path / "conversations-000.json")
    (tmp_path / "user.json").symlink_to(tmp_path / "conversations-000.json")
    note = Notes()

    assert [ID] == [item.id for item in READER.read(open_input(str(tmp_path)), "2026", note)]
    assert {Kind.UNREADABLE_FILE: 2} == note.counts


# Portable AI Memory: conversations and messages.


def test_message_fields(tmp_path: Path) -> None:
    got = message(only(tmp_path, *SMALL), "a")

    assert ("a", "q", "assistant") == (got.id, got.parent_id, got.role)
    assert got.at == "2023-11-14T22:13:20.123456Z"
    assert got.model == "gpt-5"
    assert got.extra["metadata"] == {"model_slug": "gpt-5"}


def test_node_id_counts_and_another_message_id_is_preserved(tmp_path: Path) -> None:
    got = message(only(tmp_path, node("node-id", None, said("message-id", "user", "x"))), "node-id")

    assert got.extra["id"] == "message-id"


def test_children_follow_from_parents(tmp_path: Path) -> None:
    timeline = only(tmp_path, *SMALL).timeline

    assert {None: ["root"], "root": ["q"], "q": ["a"]} == {
        parent: [entry.id for entry in entries] for parent, entries in tree.children(timeline).items()
    }


@pytest.mark.parametrize(
    ("word", "role"),
    [("user", "user"), ("assistant", "assistant"), ("system", "system"), ("tool", "tool")],
)
def test_roles(tmp_path: Path, word: str, role: str) -> None:
    assert role == first_message(tmp_path, said("m", word, "x")).role


def test_parts_are_separate_and_nulls_and_empty_ones_left_out(tmp_path: Path) -> None:
    got = first_message(tmp_path, said("m", "user", "One.", None, "", "Two."))

    assert [Text(text="One."), Text(text="Two.")] == got.parts


@pytest.mark.parametrize("value", [1700000000, 1700000000.5, 1700000000.123456, 1700000000.25])
def test_times_are_epoch_seconds(tmp_path: Path, value: float) -> None:
    got = first_message(tmp_path, said("m", "user", "x", create_time=value))

    assert got.at == timestamps.from_epoch(value)
    assert datetime.fromtimestamp(value, tz=UTC) == datetime.fromisoformat(got.at or "")


# Portable AI Memory: critical notes.


def test_the_graph_may_have_several_roots_and_orphans(tmp_path: Path) -> None:
    note = Notes()
    nodes = [
        node("one", None, said("one", "user", "A root.")),
        node("two", None, said("two", "user", "Another.", create_time=SEEN_AT - 5)),
        node("orphan", "gone", said("orphan", "assistant", "An orphan.", create_time=SEEN_AT + 5)),
    ]
    (conversation,) = read(tmp_path, [chat(*nodes)], note)

    assert isinstance(conversation, Conversation)
    assert ["two", "one", "orphan"] == [entry.id for entry in conversation.timeline]
    assert {Kind.DANGLING_PARENT: 1} == note.counts


def test_null_messages_are_no_messages_and_keep_their_place(tmp_path: Path) -> None:
    conversation = only(tmp_path, *SMALL)

    assert conversation.timeline[0] == Event(id="root", name="empty-node")
    assert ["q", "a"] == [found.id for found in tree.messages(conversation)]
    assert conversation.timeline[1].parent_id == "root"


@pytest.mark.parametrize("value", [0, 0.0, None])
def test_zero_and_null_are_no_times(tmp_path: Path, value: float | None) -> None:
    got = first_message(tmp_path, said("m", "user", "x", create_time=value))

    assert got.at is None
    assert "create_time" not in got.extra


def test_system_messages_are_hidden_and_preserved(tmp_path: Path) -> None:
    got = first_message(tmp_path, said("m", "system", "You are a model."))

    assert (True, [Text(text="You are a model.")]) == (got.hidden, got.parts)


def test_dalle_metadata_stays_linked_by_its_request_id(tmp_path: Path) -> None:
    made = {"dalle": {"gen_id": "g1", "prompt": "a fox"}}
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f", "metadata": made}
    picture = said(
        "p",
        "tool",
        metadata={"request_id": "r1"},
        content={"content_type": "multimodal_text", "parts": [pointer]},
    )
    picture["author"]["name"] = "dalle.text2im"
    call = said(
        "c", "assistant", '{"prompt":"a fox"}', recipient="dalle.text2im", metadata={"request_id": "r1"}
    )
    conversation = only(tmp_path, node("c", None, call), node("p", "c", picture))
    result = message(conversation, "p").parts[0]

    assert isinstance(result, ToolResult)
    assert ("c", "dalle.text2im") == (result.call_id, result.name)
    assert [Media(kind="image", ref="file-service://f", extra={"metadata": made})] == result.output
    assert ["r1", "r1"] == [found.extra["metadata"]["request_id"] for found in tree.messages(conversation)]


def test_memories_come_only_from_what_messages_show(tmp_path: Path) -> None:
    context = said(
        "m", "system", content={"content_type": "model_editable_context", "model_set_context": "Tea."}
    )
    told = said("b", "assistant", "Has a dog.", recipient="bio")
    twice = said("t", "assistant", "Tea.", recipient="bio")
    items = read(tmp_path, [chat(node("m", None, context), node("b", "m", told), node("t", "b", twice))])
    memories = [item for item in items if isinstance(item, Memory)]

    assert [("context", "Tea.", ID), ("context", "Has a dog.", ID)] == [
        (memory.kind, memory.text, memory.about) for memory in memories
    ]
    assert all(memory.made_id for memory in memories)
    assert [ToolCall(name="bio", call_id="b", input="Has a dog.", kind="memory")] == message(
        items[0],  # type: ignore[arg-type] # the conversation
        "b",
    ).parts


# What else is settled.


def test_reasoning_and_its_recap(tmp_path: Path) -> None:
    thoughts = [{"summary": "S", "content": "C", "finished": True}]
    got = only(
        tmp_path,
        node("t", None, said("t", "assistant", content={"content_type": "thoughts", "thoughts": thoughts})),
        node("r", "t", said("r", "assistant", content={"content_type": "reasoning_recap", "content": "12s"})),
    )

    assert [Reasoning(text="C", summary="S", extra={"finished": True})] == message(got, "t").parts
    assert [Reasoning(summary="12s")] == message(got, "r").parts


def test_a_page_with_little_text_is_preserved(tmp_path: Path) -> None:
    pages = [
        {"content_type": "tether_quote", "domain": "tides.example", "tether_id": "9"},
        {"content_type": "sonic_webpage", "text": "High water at noon.", "snippet": "noon"},
    ]
    nameless, untitled = first_message(tmp_path, said("a", "user", *pages)).parts

    assert Other(data=pages[0], name="tether_quote") == nameless
    assert isinstance(untitled, Text)
    assert [Citation(text="noon")] == untitled.citations


def test_a_result_belongs_to_the_nearest_call_of_its_turn(tmp_path: Path) -> None:
    note = Notes()
    nodes = [
        node("u", None, said("u", "user", "Go.")),
        node("c1", "u", said("c1", "assistant", "{}", recipient="web")),
        node("r1", "c1", said("r1", "tool", "one")),
        node("r2", "r1", said("r2", "tool", "two")),
        node("c2", "r2", said("c2", "assistant", "{}", recipient="python")),
        node("r3", "c2", said("r3", "tool", "three")),
        node("u2", "r3", said("u2", "user", "Again.")),
        node("r4", "u2", said("r4", "tool", "four")),
        node("r5", "r4", said("r5", "tool", "five")),
    ]
    (conversation,) = read(tmp_path, [chat(*nodes)], note)

    assert isinstance(conversation, Conversation)
    answers = {
        entry.id: result.call_id for entry in conversation.timeline for result in tree.results_in(entry)
    }
    assert {"r1": "c1", "r2": "c1", "r3": "c2", "r4": None, "r5": None} == answers
    assert {Kind.UNLINKED_RESULT: 2} == note.counts


def test_custom_instructions_are_context_too(tmp_path: Path) -> None:
    content = {
        "content_type": "user_editable_context",
        "user_profile": "I sail.",
        "user_instructions": "Be brief.",
    }
    conversation = only(tmp_path, node("m", None, said("m", "user", content=content)))
    got = message(conversation, "m")

    assert ("system", True) == (got.role, got.hidden)
    assert [Text(text="I sail."), Text(text="Be brief.")] == got.parts
    assert {"custom_instructions": "I sail.\n\nBe brief."} == conversation.context
    assert got.extra["author"]["role"] == "user"


def json_files(case: Case) -> list[Path]:
    files = [case.input] if case.input.is_file() else sorted(case.input.rglob("*"))
    return [file for file in files if file.suffix == ".json"]


def test_every_name_comes_through() -> None:
    """The manifest's file names are excused under this key; nothing else is."""
    for case in all_cases():
        if case.reader != "chatgpt" or "damaged" in case.name:
            continue
        files = json_files(case)
        texts = {text for _, text in leaves([as_json(item) for item in outcome(case.input).items])}
        for file in files:
            found = leaves(json.loads(file.read_text(encoding="utf-8")))
            if file.name != "export_manifest.json":
                assert {text for key, text in found if key == "name" and text} <= texts


# The fast way gives what the careful way gives.

PLAIN = node("k", "p", said("k", "assistant", "Hello.", channel=None), "child")
ODD: tuple[Any, ...] = (
    None,
    0,
    1,
    0.0,
    1.5e9,
    "",
    "x",
    "all",
    "k",
    "text",
    [],
    {},
    [""],
    ["x"],
    [None],
    True,
)
ODD += (
    {"x": 1},
    {"role": "user"},
    {"role": "tool"},
    ["child"],
    ["phantom"],
    [["x"]],
    {"parts": ["x"]},
    1e300,
)
PLACES: tuple[tuple[str, ...], ...] = (
    *((name,) for name in ("id", "message", "parent", "children", "new")),
    *(("message", name) for name in (*PLAIN["message"], "new")),
    *(("message", "author", name) for name in ("role", "name", "metadata", "new")),
    *(("message", "content", name) for name in ("content_type", "parts", "new")),
    *(
        ("message", "metadata", name)
        for name in ("model_slug", "finish_details", "citations", "attachments", "weight")
    ),
    ("message", "metadata", "is_visually_hidden_from_conversation"),
    ("message", "metadata", "is_user_system_message"),
    ("message", "metadata", "user_context_message_data"),
)
TOPS = (("id",), ("conversation_id",), ("title",), ("create_time",), ("update_time",), ("new",), ("new",))


def changed(value: Any, place: tuple[str, ...], new: Any, *, gone: bool) -> None:
    for name in place[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        if gone:
            value.pop(place[-1], None)
        else:
            value[place[-1]] = new


def entry_of_decoded(key: str, raw: Any, at: str | None, mapping: dict[str, Any]) -> Any:
    try:
        whole = msgspec.convert(raw, CommonNode)
    except msgspec.ValidationError:
        return None
    assert raw == whole.record()
    return decoded_entry(key, whole, at, mapping)


def test_the_fast_way_gives_what_the_careful_way_gives() -> None:
    chance = random.Random(7)  # noqa: S311 (the same every time)
    taken = decoded = 0
    for _ in range(20_000):
        raw = copy.deepcopy(PLAIN)
        raw["message"]["author"]["role"] = chance.choice(["user", "assistant", "system"])
        for place in chance.sample(PLACES, chance.choice([0, 1, 1, 1, 2, 3])):
            changed(raw, place, copy.deepcopy(chance.choice(ODD)), gone=chance.random() < 0.2)
        mapping = {"p": None, "child": None, "k": raw}
        given = raw.get("message")
        at = format_times([epoch_seconds(given.get("create_time")) if isinstance(given, dict) else None])[0]
        note = Notes()
        scene = ReadingState("", mapping, Assets(), note)
        careful = read_node("k", copy.deepcopy(raw), parent_of(raw), at, scene)
        untouched = copy.deepcopy(raw)
        faster = entry_of_decoded("k", raw, at, mapping)
        assert faster in (None, careful)
        decoded += faster is not None
        fast = raw_entry("k", raw, at, mapping)
        if fast is None:
            assert untouched == raw
        else:
            taken += 1
            assert careful == fast
            assert [] == [*note.collected, *scene.memories, *scene.instructions]

        if faster is not None:
            assert [] == [*note.collected, *scene.memories, *scene.instructions]

    assert taken > 2_000
    assert decoded > 2_000


def both_ways(path: Path, patch: pytest.MonkeyPatch) -> int:
    """Read with and without the fast decoding; return how many conversations it decoded."""
    found: list[Any] = []
    for shape in (SHAPE, json_stream.ANY):
        patch.setattr(export_files, "SHAPE", shape)
        note = Notes()
        found.append(([*READER.read(open_input(str(path)), "2023", note)], note.collected, note.counts))
    assert found[0] == found[1]
    if path.is_dir():
        return 0
    decoded = [value for _, value in json_stream.values(File(str(path)), Notes(), SHAPE)]
    return sum(isinstance(value, CommonConversation) for value in decoded)


@pytest.mark.parametrize("case", [case for case in all_cases() if case.reader == "chatgpt"], ids=str)
def test_every_case_is_read_alike_both_ways(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    both_ways(case.input, monkeypatch)


def test_odd_conversations_are_read_alike_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(17)  # noqa: S311 (the same every time)
    common_count = 0
    for _ in range(150):
        document = []
        for _ in range(chance.randrange(1, 6)):
            mapping = shuffled_tree(chance.randrange(1, 9), chance)
            for each in chance.sample([*mapping.values()], chance.randrange(2)):
                changed(each, chance.choice(PLACES), copy.deepcopy(chance.choice(ODD)), gone=False)
            document.append(chat(*SMALL, mapping=mapping, current_node=chance.choice([*mapping, None, "x"])))
            changed(document[-1], chance.choice(TOPS), chance.choice(ODD), gone=chance.random() < 0.5)
        common_count += both_ways(save_document(tmp_path, "conversations.json", document), monkeypatch)

    assert common_count > 100


def test_plain_messages_of_every_era_take_the_fast_way() -> None:
    whole = said("k", "user", "Hi.", author={"role": "user"})
    few = {key: whole[key] for key in ("id", "author", "create_time", "content", "metadata")}
    thin = {"id": "k", "parent": "p", "message": few}
    busy = said(
        "k", "assistant", "Hi.", metadata={"citations": [], "content_references": [], "model_slug": "x"}
    )

    for fast in (raw_entry, entry_of_decoded):
        assert fast("k", copy.deepcopy(thin), "2026-01-01T00:00:00Z", {}) is not None
        assert fast("k", node("k", None, copy.deepcopy(busy)), "2026-01-01T00:00:00Z", {}) is not None
        assert fast("k", node("k", None, None), None, {}) == Event(id="k", name="empty-node")


def every_place(value: Any) -> list[tuple[Any, Any]]:
    """Each container in a JSON value with each of its keys or positions."""
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        current = pending.pop()
        keys = (
            current if isinstance(current, dict) else range(len(current)) if isinstance(current, list) else ()
        )
        for key in keys:
            found.append((current, key))
            pending.append(current[key])
    return found


@pytest.mark.parametrize("case", [case for case in all_cases() if case.reader == "chatgpt"], ids=str)
def test_no_value_in_any_place_raises(case: Case, tmp_path: Path) -> None:
    """Each JSON file of each case with something odd in many places, read without being asked whose it is."""
    chance = random.Random(case.name)  # noqa: S311 (the same every time)
    files = json_files(case)
    for file in files if "damaged" not in case.name else ():
        for _ in range(60 if len(files) == 1 else 15):
            document = json.loads(file.read_text(encoding="utf-8"))
            for container, key in chance.sample(every_place(document) or [({}, "")], 1):
                container[key] = copy.deepcopy(chance.choice(ODD))
            if case.input.is_dir():
                shutil.copytree(case.input, tmp_path / "in", dirs_exist_ok=True)
                save_document(tmp_path / "in" / file.relative_to(case.input).parent, file.name, document)
            else:
                save_document(tmp_path, "in", document)
            for item in READER.read(open_input(str(tmp_path / "in")), "2023", Notes()):
                assert item == msgspec.json.decode(msgspec.json.encode(item), type=type(item))


# Order and size.


def shuffled_tree(size: int, chance: random.Random) -> dict[str, Any]:
    nodes = [node("0", None, None)]
    for number in range(1, size):
        parent = chance.randrange(number)
        written = said(
            str(number), "user", "x", create_time=chance.choice([None, 0, SEEN_AT + chance.random()])
        )
        nodes.append(node(str(number), str(parent), written))
    chance.shuffle(nodes)
    return {each["id"]: each for each in nodes}


def test_parents_come_first_and_siblings_by_time() -> None:
    chance = random.Random(11)  # noqa: S311 (the same every time)
    for size in (1, 2, 3, 5, 20, 100):
        for _ in range(20):
            mapping = shuffled_tree(size, chance)
            keys = in_order(mapping).keys
            place = {key: index for index, key in enumerate(keys)}
            entries = [Event(id=key, parent_id=parent_of(mapping[key]), name="") for key in keys]

            assert sorted(mapping) == sorted(keys)
            assert all(place[parent] < place[key] for key in keys if (parent := parent_of(mapping[key])))
            assert entries == tree.in_order(entries)[0]
            assert keys == in_order({key: mapping[key] for key in keys}).keys
            for siblings in tree.children(entries).values():
                timed = [
                    mapping[each.id]["message"]["create_time"]
                    for each in siblings
                    if mapping[each.id]["message"]
                ]
                known = [at for at in timed if at]
                assert sorted(known) == known


def test_every_node_of_any_graph_comes_once() -> None:
    chance = random.Random(13)  # noqa: S311 (the same every time)
    for _ in range(500):
        names = [str(number) for number in range(chance.randrange(1, 9))]
        mapping: dict[str, Any] = {}
        for name in names:
            mapping[name] = node(name, chance.choice([*names, None, None, "gone"]), None)
            mapping[name]["children"] = chance.sample([*names, "phantom"], chance.randrange(3))
        order = in_order(mapping)

        assert sorted(names) == sorted(order.keys)
        place = {key: index for index, key in enumerate(order.keys)}
        for key in names:
            parent = order.adopted.get(key) or parent_of(mapping[key])
            if key not in order.cut and parent in mapping:
                assert place[parent] < place[key]


@pytest.mark.parametrize("link", ["parent", "children"])
def test_a_chain_of_twenty_thousand(tmp_path: Path, link: str) -> None:
    nodes = []
    for number in range(20_000):
        raw = said(str(number), "tool" if number % 2 else "user", "x", create_time=None)
        parent = str(number - 1) if number and link == "parent" else None
        nodes.append(node(str(number), parent, raw, *([str(number + 1)] if link == "children" else [])))
    if link == "children":
        nodes[-1]["children"] = []
    nodes.reverse()
    (conversation,) = read(tmp_path, [chat(*nodes)])

    assert isinstance(conversation, Conversation)
    assert [str(number) for number in range(20_000)] == [entry.id for entry in conversation.timeline]
    assert conversation.timeline[-1].parent_id == "19998"


# Detection.


def claimed(folder: Path, document: Any, name: str = "conversations.json") -> str | None:
    return READER.sniff(Peek(File(str(save_document(folder, name, document)))))


def test_detection_by_structure(tmp_path: Path) -> None:
    thin = {key: value for key, value in SMALL[1].items() if key != "children"}

    assert claimed(tmp_path, [chat(*SMALL)], "anything.json") == "2023"
    assert claimed(tmp_path, chat(*SMALL)) == "2023"
    assert claimed(tmp_path, [chat(thin)]) == "2026"
    assert claimed(tmp_path, [chat(*SMALL, mapping={})]) == "2023"


@pytest.mark.parametrize(
    "other",
    [
        [{"uuid": "c", "name": "n", "chat_messages": []}],
        [{"id": "share", "conversation_id": "c", "title": "t", "is_anonymous": True}],
        {"type": "conversation", "id": "c", "source": "chatgpt", "timeline": []},
        [
            {
                "id": "d",
                "title": "t",
                "inserted_at": "2026-01-01T10:00:00+08:00",
                "mapping": {"1": node("1", None, {"role": "user"})},
            }
        ],
        [{"id": "d", "title": "t", "mapping": {"1": node("1", None, {"fragments": [{"type": "REQUEST"}]})}}],
        [{"mapping": {"a": 1}}],
        [{"mapping": ["a"]}],
        [],
        {},
    ],
)
def test_others_are_not_claimed(tmp_path: Path, other: Any) -> None:
    assert claimed(tmp_path, other) is None


@pytest.mark.parametrize("first", ["message", "parent"])
def test_a_first_message_larger_than_the_head_is_recognized(tmp_path: Path, first: str) -> None:
    raw = said("m", "user", "word " * HEAD_BYTES)
    whole = node("m", None, raw)
    if first == "parent":
        whole = {"parent": None, "id": "m", "message": raw, "children": []}

    assert claimed(tmp_path, [chat(whole)]) in {"2023", "2026"}
    assert claimed(tmp_path, chat(whole)) in {"2023", "2026"}


def test_standard_input(tmp_path: Path) -> None:
    text = json.dumps([chat(*SMALL)]).encode()
    source = Stdin(io.BytesIO(text))

    assert READER.sniff(Peek(source)) == "2023"
    assert [ID] == [item.id for item in READER.read(source, "2023", Notes())]
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "convert", "-", "-t", "json"],
        input=text,
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["id"] == ID


def test_an_export_one_folder_deeper_in_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("my export/conversations.json", json.dumps([chat(*SMALL)]))
        archive.writestr("my export/user.json", '{"id": "user-1"}')
        archive.writestr("my export/inner.zip", b"PK\x03\x04 an attachment")
        archive.writestr("__MACOSX/my export/._user.json", b"litter")
    note = Notes()
    items = [*read_all([str(path)], note)]

    assert [Memory, Conversation] == [type(item) for item in items]
    assert items[1].account_id == "user-1"
    assert [("ignored-file", "*.zip", "1 file")] == [
        (found.kind, Path(found.file).name, found.detail) for found in note.collected
    ]


def test_a_loose_file_does_not_claim_what_is_next_to_it(tmp_path: Path) -> None:
    save_document(tmp_path, "conversations.json", [chat(*SMALL)])
    save_document(
        tmp_path, "holiday.json", {"type": "conversation", "id": "c", "source": "x", "timeline": []}
    )

    assert [("chatgpt", ID), ("x", "c")] == [
        (item.source, item.id) for item in read_all([str(tmp_path)], Notes())
    ]
