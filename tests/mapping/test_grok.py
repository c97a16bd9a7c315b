"""Grok into the model: each row of the field mappings, the critical notes, and what must hold at scale."""

from __future__ import annotations

import copy
import json
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import HEAD_BYTES, File
from agent_journal.model import (
    Citation,
    Conversation,
    Event,
    Item,
    Media,
    Memory,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Kind, Notes
from tests.inline import converted, save_document

READER = readers.get("grok")
MS = 1781573451575
AT = "2026-06-16T01:30:51.575Z"
CARD = (
    "<xai:tool_usage_card><xai:tool_usage_card_id>{}</xai:tool_usage_card_id><xai:tool_name>{}</xai:tool_name>"
    "<xai:tool_args><![CDATA[{}]]></xai:tool_args></xai:tool_usage_card>"
)
MARK = (
    '<grok:render card_id="{}" card_type="citation_card" type="render_inline_citation">'
    '<argument name="citation_id">{}</argument></grok:render>'
)


def bson(milliseconds: int) -> dict[str, Any]:
    return {"$date": {"$numberLong": str(milliseconds)}}


def response(key: str, sender: Any, text: Any = "Hi", **more: Any) -> dict[str, Any]:
    inner = {"_id": key, "conversation_id": "c1", "message": text, "sender": sender, "create_time": bson(MS)}
    return {"response": {**inner, "model": "", **more}, "share_link": None}


def chat(*responses: Any, **more: Any) -> dict[str, Any]:
    about = {
        "id": "c1",
        "user_id": "u1",
        "create_time": "2026-06-16T01:30:51.533788Z",
        "modify_time": "2026-06-16T01:31:16.699241Z",
        "title": "Trip",
        "leaf_response_id": None,
        "starred": True,
        "system_prompt_name": "concise",
        **more,
    }
    return {"conversation": about, "responses": [*responses]}


def export(*conversations: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": [*conversations], "projects": [], "tasks": [], "media_posts": [], **more}


def read(folder: Path, document: Any, note: Notes | None = None) -> list[Item]:
    path = save_document(folder, "prod-grok-backend.json", copy.deepcopy(document))
    return [*read_all([str(path)], note or Notes())]


def only(folder: Path, *responses: Any, note: Notes | None = None, **more: Any) -> Conversation:
    (item,) = read(folder, export(chat(*responses, **more)), note)
    assert isinstance(item, Conversation)
    return item


def message(folder: Path, sender: Any = "assistant", text: Any = "Hi", **more: Any) -> Message:
    (got,) = only(folder, response("r1", sender, text, **more)).timeline
    assert isinstance(got, Message)
    return got


def kinds(notes: Notes) -> list[str]:
    return [note.kind for note in notes.collected]


# Conversations.


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("id", "c1"),
        ("source", "grok"),
        ("title", "Trip"),
        ("started_at", "2026-06-16T01:30:51.533788Z"),
        ("updated_at", "2026-06-16T01:31:16.699241Z"),
        ("account_id", "u1"),
        ("tags", ["starred"]),
        ("made_id", False),
    ],
)
def test_conversation_fields(tmp_path: Path, field: str, expected: Any) -> None:
    assert expected == getattr(only(tmp_path, response("r1", "human")), field)


@pytest.mark.parametrize(("field", "value"), [("starred", True), ("system_prompt_name", "concise")])
def test_conversation_fields_that_are_preserved(tmp_path: Path, field: str, value: Any) -> None:
    assert value == only(tmp_path, response("r1", "human")).extra[field]


def test_targets_know_it_by_its_product_name() -> None:
    assert {"pam": "grok", "record": "grok"} == READER.INFO.names


def test_a_summary_is_one_only_if_it_says_something(tmp_path: Path) -> None:
    assert ["About a trip."] == [each.text for each in only(tmp_path, summary="About a trip.").summaries]
    assert [] == only(tmp_path, summary="").summaries


# Messages.


@pytest.mark.parametrize(
    ("sender", "role"),
    [
        ("human", "user"),
        ("HUMAN", "user"),
        ("Human", "user"),
        ("assistant", "assistant"),
        ("ASSISTANT", "assistant"),
        ("grok-3", "assistant"),
        ("model", "assistant"),
        ("system", "assistant"),
        ("user", "assistant"),
    ],
)
def test_any_sender_but_a_human_is_the_assistant_and_the_word_is_preserved(
    tmp_path: Path, sender: str, role: str
) -> None:
    got = message(tmp_path, sender)

    assert role == got.role
    assert sender == got.extra["sender"]


def test_message_fields(tmp_path: Path) -> None:
    conversation = only(
        tmp_path,
        response("r1", "human", "Where?"),
        response("r2", "assistant", "There.", parent_response_id="r1", model="grok-4-auto"),
    )
    first, second = tree.messages(conversation)

    assert ("r1", "r2") == (first.id, second.id)
    assert (None, "r1") == (first.parent_id, second.parent_id)
    assert ([Text(text="Where?")], [Text(text="There.")]) == (first.parts, second.parts)
    assert (None, "grok-4-auto") == (first.model, second.model)
    assert "grok-4-auto" == conversation.model


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (bson(MS), AT),
        ({"$date": MS}, AT),
        ({"$date": str(MS)}, AT),
        ({"$date": "2026-06-16T01:30:51.575Z"}, AT),
        ("2025-06-21T19:28:21.194663Z", "2025-06-21T19:28:21.194663Z"),
        (bson(0), "1970-01-01T00:00:00.000Z"),
        (None, None),
    ],
)
def test_times_are_bson_or_iso(tmp_path: Path, time: Any, expected: str | None) -> None:
    assert expected == message(tmp_path, create_time=time).at


def test_thinking_times_are_put_into_form_and_stay(tmp_path: Path) -> None:
    got = message(tmp_path, thinking_start_time=bson(MS), thinking_end_time=bson(MS + 1000))

    assert AT == got.extra["thinking_start_time"]
    assert "2026-06-16T01:30:52.575Z" == got.extra["thinking_end_time"]


PRESERVED = {
    "web_search_results": [{"url": "https://a.example", "title": "A", "preview": "…"}],
    "thinking_trace": "I think.",
    "agent_thinking_traces": [{"agent_id": "a", "thinking_trace": "We think."}],
    "steps": [{"tagged_text": {"summary": "Looked."}, "tag_order": ["summary"]}],
    "query": "a red fox",
    "query_type": "imagine",
    "xpost_ids": ["1800"],
    "webpage_urls": ["https://b.example"],
    "card_attachments_json": ['{"id":"6a"}'],
    "error": "Failed to respond.",
    "metadata": {"ui_layout": {"x": 1}, "llm_info": None, "request_metadata": {}},
}


@pytest.mark.parametrize("field", PRESERVED)
def test_response_fields_that_are_preserved(tmp_path: Path, field: str) -> None:
    assert PRESERVED[field] == message(tmp_path, **PRESERVED).extra[field]


def test_citations(tmp_path: Path) -> None:
    cited = [{"url": "https://a.example", "title": "A", "preview": "About A", "site": "S"}]
    got = message(tmp_path, text="See.", cited_web_search_results=cited)

    citation = Citation(url="https://a.example", title="A", text="About A", extra={"site": "S"})
    assert [Text(text="See.", citations=[citation])] == got.parts


def test_marks_say_where_a_page_is_cited_and_are_not_in_the_text(tmp_path: Path) -> None:
    text = f"One{MARK.format('6a', 31)} two{MARK.format('6b', 2)} three{MARK.format('6z', 1)}"
    got = message(
        tmp_path,
        text=text,
        cited_web_search_results=[{"url": "https://a.example", "title": "A", "preview": "p"}],
        card_attachments_json=[
            json.dumps({"id": "6a", "url": "https://a.example"}),
            json.dumps({"id": "6b", "url": "https://b.example"}),
        ],
    )
    (part,) = got.parts
    assert isinstance(part, Text)

    assert ("One two three", text) == (part.text, got.extra["message"])
    assert ["https://a.example", "https://b.example"] == [each.url for each in part.citations]
    places = [text[each.start : each.end] for each in part.citations]
    assert [MARK.format("6a", 31), MARK.format("6b", 2)] == places


def test_a_mark_without_any_card_counts_the_cited_pages_from_one(tmp_path: Path) -> None:
    text = f"One{MARK.format('6a', 2)} and {MARK.format('6a', 9)}"
    cited = [{"url": "https://a.example"}, {"url": "https://b.example"}]
    (part,) = message(tmp_path, text=text, cited_web_search_results=cited).parts
    assert isinstance(part, Text)

    assert [None, 3] == [each.start for each in part.citations]


def test_generated_images_and_attachments_are_media(tmp_path: Path) -> None:
    got = message(
        tmp_path, text="", generated_image_urls=["https://i.example/1.jpg"], file_attachments=["asset-1"]
    )

    assert [
        Media(kind="image", ref="https://i.example/1.jpg"),
        Media(kind="file", ref="asset-1"),
    ] == got.parts


def test_an_empty_message_has_no_text(tmp_path: Path) -> None:
    assert [] == message(tmp_path, text="").parts


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ({"model": "grok-4-mini-thinking-tahoe"}, "grok-4-mini-thinking-tahoe"),
        ({"model": "", "metadata": {"requestModelDetails": {"modelId": "grok-3"}}}, "grok-3"),
        ({"metadata": {"request_metadata": {"resolved_model": "grok-4"}}}, "grok-4"),
        ({"sender": "grok-3"}, "grok-3"),
        ({}, None),
    ],
)
def test_model_of_an_answer(tmp_path: Path, more: dict[str, Any], model: str | None) -> None:
    assert model == message(tmp_path, **{"sender": "assistant", **more}).model


def test_a_share_link_stays(tmp_path: Path) -> None:
    shared = response("r1", "human")
    shared["share_link"] = {"share_link_id": "s"}
    (got,) = only(tmp_path, shared).timeline

    assert isinstance(got, Message)
    assert {"share_link_id": "s"} == got.extra["share_link"]


# The order of responses.


def test_branches_by_parents_and_the_newest_leaf(tmp_path: Path) -> None:
    conversation = only(
        tmp_path,
        response("r1", "human"),
        response("r2", "assistant", parent_response_id="r1", create_time=bson(MS + 9000)),
        response("r3", "assistant", parent_response_id="r1", create_time=bson(MS + 5000)),
        leaf_response_id="gone",
    )

    assert "tree" == conversation.shape
    assert ["r2", "r3"] == [entry.id for entry in tree.children(conversation.timeline)["r1"]]
    assert "r2" == conversation.head_id
    assert "gone" == conversation.extra["leaf_response_id"]


def test_a_leaf_that_is_there_is_the_head(tmp_path: Path) -> None:
    conversation = only(
        tmp_path,
        response("r1", "human"),
        response("r2", "assistant", parent_response_id="r1"),
        response("r3", "assistant", parent_response_id="r1"),
        leaf_response_id="r2",
    )

    assert "r2" == conversation.head_id


def test_without_any_parent_it_is_a_list(tmp_path: Path) -> None:
    conversation = only(tmp_path, response("r1", "human"), response("r2", "assistant"))

    assert ("list", None) == (conversation.shape, conversation.head_id)
    assert ["r1", "r2"] == [entry.id for entry in conversation.timeline]


def test_parents_come_first_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    notes = Notes()
    conversation = only(
        tmp_path,
        response("r2", "assistant", parent_response_id="r1"),
        response("r1", "human"),
        response("r9", "assistant", parent_response_id="gone"),
        note=notes,
    )

    assert ["r1", "r2", "r9"] == [entry.id for entry in conversation.timeline]
    assert [Kind.DANGLING_PARENT.label] == kinds(notes)


def test_a_chain_of_twenty_thousand_is_a_chain(tmp_path: Path) -> None:
    count = 20_000
    made = [response(f"r{n}", "human", parent_response_id=f"r{n + 1}") for n in range(count)]
    conversation = only(tmp_path, *made)

    assert f"r{count - 1}" == conversation.timeline[0].id
    assert "r0" == conversation.head_id


# Thinking and tools.


def test_a_thinking_trace_is_preserved_raw_and_is_reasoning(tmp_path: Path) -> None:
    trace = f"First look.\n{CARD.format('k1', 'web_search', '{}')}\nThen think."
    got = message(tmp_path, thinking_trace=trace)

    assert trace == got.extra["thinking_trace"]
    assert [
        Reasoning(text="First look."),
        ToolCall(name="web_search", call_id="k1", input="{}", kind="web"),
        Reasoning(text="Then think."),
        Text(text="Hi"),
    ] == got.parts


def test_both_kinds_of_traces_may_be_there(tmp_path: Path) -> None:
    got = message(
        tmp_path,
        thinking_trace="Mine.",
        agent_thinking_traces=[{"agent_id": "a2", "thinking_trace": "Yours."}],
    )

    assert [
        Reasoning(text="Mine."),
        Reasoning(text="Yours.", extra={"agent_id": "a2"}),
        Text(text="Hi"),
    ] == got.parts


def test_a_step_does_not_repeat_the_reasoning_of_the_trace_around_its_calls(tmp_path: Path) -> None:
    card = CARD.format("k1", "web_search", '{"query":"tides"}')
    steps = [{"tagged_text": f"I search. {card} And wait."}, {"tagged_text": f"More. {card}"}]
    got = message(tmp_path, thinking_trace=f"I search. {card} And wait.", steps=steps)

    thoughts = [part.text for part in got.parts if isinstance(part, Reasoning)]
    assert ["I search.", "And wait.", "More."] == thoughts


def test_steps_are_calls_with_their_results(tmp_path: Path) -> None:
    steps = [
        {
            "tagged_text": {"tool_usage_card": CARD.format("k1", "code_execution", '{"code":"1"}')},
            "tag_order": ["tool_usage_card"],
            "tool_usage_results": [{"tool_usage_card_id": "k1", "result": "1"}],
        },
        {
            "tagged_text": {"header": "Search", "tool_usage_card": CARD.format("k2", "web_search", "{}")},
            "tag_order": ["header", "tool_usage_card"],
            "web_search_results": [{"url": "https://a.example", "title": "A", "preview": "p"}],
        },
    ]
    got = message(tmp_path, steps=steps, thinking_trace=CARD.format("k1", "code_execution", '{"code":"1"}'))
    page = Citation(url="https://a.example", title="A", text="p")

    assert [
        ToolCall(name="code_execution", call_id="k1", input='{"code":"1"}', kind="shell"),
        ToolResult(call_id="k1", name="code_execution", output="1"),
        Reasoning(text="Search", extra={"tag": "header"}),
        ToolCall(name="web_search", call_id="k2", input="{}", kind="web"),
        ToolResult(call_id="k2", name="web_search", output=[Text(text="p", citations=[page])]),
        Text(text="Hi"),
    ] == got.parts
    assert steps == got.extra["steps"]


@pytest.mark.parametrize(
    "opening", ["<xai:tool_usage_card>", "<xai:tool_usage_card><xai:tool_name>", "<grok:render "]
)
def test_text_in_which_nothing_is_closed_takes_no_longer(tmp_path: Path, opening: str) -> None:
    text = opening * 50_000 + "</xai:tool_usage_card>"
    started = time.process_time()
    message(tmp_path, text=text, thinking_trace=text)

    assert time.process_time() - started < 5


def test_a_call_without_an_id_is_recorded_once(tmp_path: Path) -> None:
    card = "<xai:tool_usage_card><xai:tool_name>web_search</xai:tool_name></xai:tool_usage_card>"
    got = message(tmp_path, thinking_trace=card, steps=[{"tagged_text": {"tool_usage_card": card}}])

    assert [ToolCall(name="web_search", kind="web"), Text(text="Hi")] == got.parts


# Wrappers and versions.


def test_the_older_variant_has_other_ids(tmp_path: Path) -> None:
    old = {"response": {"response_id": "r1", "sender": "human", "message": "Hi", "create_time": AT}}
    document = {"conversations": [{"conversation": {"conversation_id": "c9"}, "responses": [old]}]}
    (item,) = read(tmp_path, document)

    assert isinstance(item, Conversation)
    assert ("c9", "r1") == (item.id, item.timeline[0].id)
    assert "2025" == READER.sniff(Peek(File(str(tmp_path / "prod-grok-backend.json"))))


def test_what_is_no_response_is_an_event(tmp_path: Path) -> None:
    notes = Notes()
    (entry,) = only(tmp_path, {"tombstone": "gone"}, note=notes).timeline

    assert isinstance(entry, Event)
    assert {"tombstone": "gone"} == entry.data
    assert [Kind.UNKNOWN_TYPE.label] == kinds(notes)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"conversations": []},
        {"conversations": [{"mapping": {}, "title": "x"}]},
        {"conversations": [{"uuid": "x", "chat_messages": []}]},
        {"conversations": [{"entries": []}]},
        {"conversations": [{"conversation": {"id": 1}}]},
        {"projects": [], "tasks": []},
        {"conversation": {}, "responses": []},
    ],
)
def test_other_formats_are_not_claimed(tmp_path: Path, document: Any) -> None:
    assert READER.sniff(Peek(File(str(save_document(tmp_path, "x.json", document))))) is None


def test_a_first_conversation_larger_than_the_head_is_recognized(tmp_path: Path) -> None:
    document = export(chat(response("r1", "human", "long " * HEAD_BYTES)))

    assert "2026" == READER.sniff(Peek(File(str(save_document(tmp_path, "x.json", document)))))
    document["conversations"][0] = dict(reversed(document["conversations"][0].items()))
    assert "2026" == READER.sniff(Peek(File(str(save_document(tmp_path, "y.json", document)))))


# What else an export holds.


def test_a_project_is_a_project_and_an_instruction(tmp_path: Path) -> None:
    project = {
        "id": "p1",
        "name": "Garden",
        "custom_personality": "Be green.",
        "preferred_model": "grok-4",
        "conversation_starters": ["What grows?"],
    }
    instruction, garden = read(tmp_path, export(projects=[project]))
    assert isinstance(instruction, Memory)
    assert isinstance(garden, Memory)

    assert ("instruction", "Be green.", "p1") == (instruction.kind, instruction.text, instruction.about)
    assert ("project", "Garden", "p1") == (garden.kind, garden.text, garden.id)
    assert {
        "preferred_model": "grok-4",
        "conversation_starters": ["What grows?"],
    }.items() <= garden.extra.items()


@pytest.mark.parametrize(("word", "kind"), [("image", "image"), ("video", "video"), ("hologram", "file")])
def test_a_media_post_is_a_small_conversation(tmp_path: Path, word: str, kind: str) -> None:
    post = {"id": "m1", "original_prompt": "a fox", "media_type": word, "link": "https://i.example/f"}
    (item,) = read(tmp_path, export(media_posts=[post]))
    assert isinstance(item, Conversation)
    prompt, made = tree.messages(item)

    assert ("m1", made.id) == (item.id, item.head_id)
    assert ("user", [Text(text="a fox")]) == (prompt.role, prompt.parts)
    assert ("assistant", prompt.id) == (made.role, made.parent_id)
    (media,) = made.parts
    assert isinstance(media, Media)
    assert (kind, "https://i.example/f") == (media.kind, media.ref)


def test_a_task_is_preserved_as_it_is(tmp_path: Path) -> None:
    task = {"task_id": "t1", "title": "News", "cadence": "daily"}
    (item,) = read(tmp_path, export(tasks=[task]))
    assert isinstance(item, Memory)

    assert ("task", "t1", "News") == (item.kind, item.id, item.text)
    assert "daily" == item.extra["cadence"]


def test_the_profile_is_an_identity_and_names_the_person(tmp_path: Path) -> None:
    user = {"email": "a@tea.example", "givenName": "Ada", "familyName": "Leaf", "birthDate": "1990-01-02"}
    save_document(tmp_path, "prod-mc-auth-mgmt-api.json", {"user": user, "sessions": [{"id": "s"}]})
    save_document(tmp_path, "prod-mc-billing.json", {"credits": 3})
    save_document(tmp_path, "prod-grok-backend.json", export())
    (item,) = read_all([str(tmp_path)], Notes())
    assert isinstance(item, Memory)

    assert "identity" == item.kind
    assert all(value in item.text for value in user.values())
    assert {"user": user, "sessions": [{"id": "s"}], "prod-mc-billing.json": {"credits": 3}} == item.extra


def test_assets_are_found_in_a_zip_also_after_doubled_slashes(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    home = "ttl/30d/export_data/u1"
    document = export(chat(response("r1", "human", file_attachments=["a1"])))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{home}/prod-grok-backend.json", json.dumps(document))
        archive.writestr(f"{home}/prod-mc-asset-server//a1/content", b"\x89PNG\r\n\x1a\n")
    (item,) = read_all([str(path)], Notes())
    assert isinstance(item, Conversation)
    media = next(tree.messages(item)).parts[1]

    where = {"file": "prod-mc-asset-server/a1/content"}
    assert Media(kind="image", mime="image/png", ref="a1", extra=where) == media


@pytest.mark.parametrize(
    ("content", "text"), [(b"Moss\n" * 200, "Moss\n" * 200), (b"Moss" * 200 + b"\0", None), (b"Mo\xdf", None)]
)
def test_an_asset_that_is_text_says_so(tmp_path: Path, content: bytes, text: str | None) -> None:
    asset = tmp_path / "prod-mc-asset-server" / "a1"
    asset.mkdir(parents=True)
    (asset / "content").write_bytes(content)
    save_document(
        tmp_path, "prod-grok-backend.json", export(chat(response("r1", "human", file_attachments=["a1"])))
    )
    (item,) = read_all([str(tmp_path)], Notes())
    assert isinstance(item, Conversation)
    media = next(tree.messages(item)).parts[1]

    assert isinstance(media, Media)
    assert (media.kind, media.mime, media.text) == ("document", "text/plain", text)


# The archive of X.


def said(chat_id: str, at: str, sender: str, text: str) -> dict[str, Any]:
    who = {"value": "1", "name": sender.title(), "originalName": sender}
    item = {"accountId": "42", "chatId": chat_id, "createdAt": at, "sender": who, "message": text}
    return {"grokChatItem": item}


def test_chats_in_an_archive_of_x(tmp_path: Path) -> None:
    path = tmp_path / "grok-chat-item.js"
    items = [
        said("1", AT, "AGENT", "a = b"),
        said("2", AT, "USER", "Other chat"),
        said("1", AT, "USER", "Say a = b"),
        said("1", "2026-06-16T01:30:50Z", "USER", "Hello"),
    ]
    path.write_text(f"window.YTD.grok_chat_item.part0 = {json.dumps(items)}", encoding="utf-8")
    first, second = read_all([str(path)], Notes())
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)

    assert ("1", "42", "list", None) == (first.id, first.account_id, first.shape, first.title)
    assert "2" == second.id
    assert [("user", "Hello"), ("user", "Say a = b"), ("assistant", "a = b")] == [
        (each.role, tree.plain_text(each)) for each in tree.messages(first)
    ]


# Targets, and size.


def test_it_can_be_written_in_the_unified_schema(tmp_path: Path) -> None:
    path = save_document(
        tmp_path,
        "x.json",
        export(chat(response("r1", "human", "Q"), response("r2", "grok-3", "A", parent_response_id="r1"))),
    )
    got = converted(path, "unified").only

    assert ["user", "assistant"] == [each["role"] for each in got["messages"]]
    assert AT == got["messages"][0]["timestamp"]


def test_memory_is_bounded_by_a_conversation_not_by_the_file(tmp_path: Path) -> None:
    count = 200
    text = "word " * 20_000
    document = export(
        *(chat(response("r1", "human", text), id=f"c{n}") for n in range(count)), projects=[{"id": "p"}]
    )
    path = save_document(tmp_path, "prod-grok-backend.json", document)
    tracemalloc.start()
    try:
        found = sum(1 for _ in READER.read(File(str(path)), "2026", Notes()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert count + 1 == found
    assert peak < path.stat().st_size / 2
