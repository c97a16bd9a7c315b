"""Claude.ai into the model: each row of the field mappings, the critical notes, how an export may come."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import open_input
from agent_journal.model import (
    Citation,
    Conversation,
    Item,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Notes
from tests.cases import as_json

ROOT = "00000000-0000-4000-8000-000000000000"
AT, LATER = "2026-02-01T09:00:00.123456Z", "2026-02-01T09:30:00.654321Z"
READER = readers.get("claude-ai")
USER = {"uuid": "a1", "full_name": "Robin", "email_address": "r@example.org", "verified_phone_number": None}


def message(key: str, sender: str = "human", *blocks: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": key,
        "text": "",
        "content": [*blocks],
        "sender": sender,
        "created_at": AT,
        "updated_at": LATER,
        "attachments": [],
        "files": [],
        **more,
    }


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": "c1",
        "name": "Plan",
        "summary": "An overview",
        "created_at": AT,
        "updated_at": LATER,
        "account": {"uuid": "a1"},
        "chat_messages": [*messages],
        **more,
    }


def text(words: str, **more: Any) -> dict[str, Any]:
    return {
        "start_timestamp": AT,
        "stop_timestamp": LATER,
        "flags": None,
        "type": "text",
        "text": words,
        "citations": [],
        **more,
    }


def read(folder: Path, files: dict[str, Any], notes: Notes | None = None) -> list[Item]:
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
    location = folder if len(files) > 1 else folder / next(iter(files))
    return [*read_all([str(location)], Notes() if notes is None else notes)]


def read_one(folder: Path, *messages: Any, **more: Any) -> Conversation:
    (item,) = read(folder, {"conversations.json": [conversation(*messages, **more)]})
    assert isinstance(item, Conversation)
    return item


def parts_of(folder: Path, *blocks: Any, **more: Any) -> list[Any]:
    (entry,) = read_one(folder, message("m1", "assistant", *blocks, **more)).timeline
    assert isinstance(entry, Message)
    return entry.parts


def messages(item: Conversation) -> list[Message]:
    return [*tree.messages(item)]


# Conversations


def test_conversation_fields(tmp_path: Path) -> None:
    item = read_one(tmp_path)

    assert (item.id, item.title, item.started_at, item.updated_at) == ("c1", "Plan", AT, LATER)
    assert item.account_id == "a1"
    assert item.extra["summary"] == item.summaries[0].text == "An overview"
    assert (item.model, item.made_id, item.shape) == (None, False, "list")
    assert READER.INFO.names == {"pam": "claude", "record": "claude-ai"}


def test_empty_name_and_summary_are_absent(tmp_path: Path) -> None:
    item = read_one(tmp_path, name="", summary="")

    assert (item.title, item.summaries, item.extra) == (None, [], {})


def test_project_of_september_2026_is_preserved(tmp_path: Path) -> None:
    assert read_one(tmp_path, project_uuid="p1").extra["project_uuid"] == "p1"


# Messages


def test_message_fields(tmp_path: Path) -> None:
    (said,) = messages(read_one(tmp_path, message("m1", "human", text("Hi"), text="Hi")))

    assert (said.id, said.made_id, said.role, said.at) == ("m1", False, "user", AT)
    assert said.extra == {"updated_at": LATER}
    assert said.parts == [Text(text="Hi", extra={"start_timestamp": AT, "stop_timestamp": LATER})]


@pytest.mark.parametrize(("sender", "role"), [("human", "user"), ("assistant", "assistant")])
def test_senders(tmp_path: Path, sender: str, role: str) -> None:
    (said,) = messages(read_one(tmp_path, message("m1", sender, text("Hi"))))

    assert said.role == role
    assert "sender" not in said.extra


@pytest.mark.parametrize("blocks", [[], [None], [{"type": "token_budget", "remaining": None}]])
def test_text_stands_in_for_missing_content(tmp_path: Path, blocks: list[Any]) -> None:
    assert parts_of(tmp_path, *blocks, text="old") == [Text(text="old")]


@pytest.mark.parametrize("flat", ["one\ntwo", ""])
def test_text_that_repeats_the_content_is_not_written_twice(tmp_path: Path, flat: str) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "x", "input": {}}
    (said,) = messages(
        read_one(tmp_path, message("m1", "assistant", text("one"), tool, text("two"), text=flat))
    )

    assert [part.text for part in said.parts if isinstance(part, Text)] == ["one", "two"]
    assert "text" not in said.extra


@pytest.mark.parametrize(
    "flat",
    [
        "one\n\ntwo",
        "one two ",
        "one\n```\nThis block is not supported on your current device yet.\n```\n\ntwo",
    ],
)
def test_text_that_is_flattened_in_another_way_is_preserved(tmp_path: Path, flat: str) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "x", "input": {}}
    (said,) = messages(
        read_one(tmp_path, message("m1", "assistant", text("one"), tool, text("two"), text=flat))
    )

    assert [part.text for part in said.parts if isinstance(part, Text)] == ["one", "two"]
    assert said.extra["text"] == flat


@pytest.mark.parametrize(("content", "kept"), [({"content": []}, []), ({"content": None}, None), ({}, None)])
def test_that_there_are_no_blocks_is_preserved(tmp_path: Path, content: dict[str, Any], kept: Any) -> None:
    record = {name: value for name, value in message("m1", "human", text="Hi").items() if name != "content"}
    (said,) = messages(read_one(tmp_path, record | content))

    assert said.parts == [Text(text="Hi")]
    assert said.extra["content"] == kept


def test_text_that_says_something_else_is_preserved(tmp_path: Path) -> None:
    (said,) = messages(read_one(tmp_path, message("m1", "assistant", text("one"), text="other words")))

    assert said.extra["text"] == "other words"
    assert tree.plain_text(said) == "one"


def test_attachments_and_files_are_merged(tmp_path: Path) -> None:
    attached = {"file_name": "n.txt", "file_size": 3, "file_type": "txt", "extracted_content": "abc"}
    found = parts_of(tmp_path, attachments=[attached], files=[{"file_uuid": "f1", "file_name": "a.png"}])

    assert found == [
        Media(
            kind="document",
            name="n.txt",
            size=3,
            text="abc",
            extra={"file_type": "txt"},
        ),
        Media(kind="image", name="a.png", ref="f1"),
    ]


def test_pasted_text_is_part_of_the_prompt(tmp_path: Path) -> None:
    pasted = {"file_name": "", "file_size": 9, "file_type": "txt", "extracted_content": "long words"}
    (found,) = parts_of(tmp_path, attachments=[pasted])

    assert found == Text(
        text="long words",
        extra={"type": "attachment", "file_name": "", "file_size": 9, "file_type": "txt"},
    )


def test_without_parents_it_is_a_list(tmp_path: Path) -> None:
    item = read_one(tmp_path, message("m1"), message("m2", "assistant"))

    assert (item.shape, item.head_id) == ("list", None)
    assert [said.parent_id for said in messages(item)] == [None, None]


def test_parents_make_a_tree_whose_head_is_the_newest_leaf(tmp_path: Path) -> None:
    item = read_one(
        tmp_path,
        message("m1", parent_message_uuid=ROOT),
        message("m2", "assistant", parent_message_uuid="m1", created_at=LATER),
        message("m3", "assistant", parent_message_uuid="m1"),
    )

    assert (item.shape, item.head_id) == ("tree", "m2")
    assert [(said.id, said.parent_id) for said in messages(item)] == [
        ("m1", None),
        ("m2", "m1"),
        ("m3", "m1"),
    ]


def test_a_chain_of_many_messages_is_read_from_its_end(tmp_path: Path) -> None:
    chain = [message("m0", parent_message_uuid=ROOT)]
    chain += [message(f"m{n}", parent_message_uuid=f"m{n - 1}") for n in range(1, 20_000)]
    item = read_one(tmp_path, *reversed(chain))

    assert [said.id for said in messages(item)] == [said["uuid"] for said in chain]


# Content blocks


def test_citations_of_a_text(tmp_path: Path) -> None:
    cited = {
        "uuid": "z",
        "start_index": 0,
        "end_index": 6,
        "details": {"type": "web_search_citation", "url": "https://e.com"},
    }
    (part,) = parts_of(tmp_path, text("Answer", citations=[cited]))

    extra = {"uuid": "z", "details": {"type": "web_search_citation"}}
    assert part.citations == [Citation(url="https://e.com", start=0, end=6, extra=extra)]


def test_thinking(tmp_path: Path) -> None:
    block = {"type": "thinking", "thinking": "Hm", "summaries": [{"summary": "Pondering"}], "cut_off": False}
    (part,) = parts_of(tmp_path, block)

    assert part == Reasoning(
        text="Hm", summary="Pondering", extra={"summaries": [{"summary": "Pondering"}], "cut_off": False}
    )


def test_tool_use_and_result_as_the_mapping_shows_them(tmp_path: Path) -> None:
    use = {
        "type": "tool_use",
        "name": "web_search",
        "input": {"query": "…"},
        "id": None,
        "message": "Searching the web",
        "integration_name": None,
        "is_mcp_app": None,
    }
    page = {
        "type": "knowledge",
        "title": "Page Title",
        "url": "https://example.com",
        "metadata": {"type": "webpage_metadata", "site_domain": "example.com"},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": None,
        "name": "web_search",
        "content": [page],
        "is_error": False,
    }
    notes = Notes()
    files = {"conversations.json": [conversation(message("m1", "assistant", use, result))]}
    (item,) = read(tmp_path, files, notes)
    assert isinstance(item, Conversation)
    call, answer = messages(item)[0].parts

    assert isinstance(call, ToolCall)
    assert isinstance(answer, ToolResult)
    assert (call.name, call.input, call.kind) == ("web_search", {"query": "…"}, "web")
    assert call.extra == {"message": "Searching the web", "id": None}
    assert call.call_id == answer.call_id is not None
    assert (answer.name, answer.is_error) == ("web_search", False)
    assert isinstance(answer.output[0], Text)
    assert answer.output[0].citations == [Citation(title="Page Title", url="https://example.com")]
    assert [note.kind for note in notes.collected] == ["guessed-link"]


def test_calls_with_ids_keep_them(tmp_path: Path) -> None:
    call, answer = parts_of(
        tmp_path,
        {"type": "tool_use", "id": "toolu_1", "name": "bash_tool", "input": {"command": "ls"}},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "name": "bash_tool",
            "content": [],
            "is_error": True,
        },
    )

    assert call == ToolCall(name="bash_tool", call_id="toolu_1", input={"command": "ls"}, kind="shell")
    assert answer == ToolResult(name="bash_tool", call_id="toolu_1", is_error=True)


def test_token_budget_is_discarded_and_nothing_else(tmp_path: Path) -> None:
    notes = Notes()
    blocks = [{"type": "token_budget", "remaining": 5}, {"type": "prophecy", "of": "rain"}]
    (item,) = read(tmp_path, {"c.json": [conversation(message("m1", "assistant", *blocks))]}, notes)
    assert isinstance(item, Conversation)

    assert messages(item)[0].parts == [Other(name="prophecy", data={"type": "prophecy", "of": "rain"})]
    assert [str(note.detail) for note in notes.collected] == ["content block 'prophecy'"]


def test_an_unknown_block_is_noted_once(tmp_path: Path) -> None:
    notes = Notes()
    odd = [conversation(message("m1", "assistant", {"type": "odd"}, {"type": "odd"}))] * 2
    read(tmp_path, {"c.json": odd}, notes)

    assert [note.kind for note in notes.collected] == ["unknown-type"]


# Beside the conversations


def test_memories(tmp_path: Path) -> None:
    record = {
        "conversations_memory": "likes tea",
        "project_memories": {"p1": "**Purpose**"},
        "account_uuid": "a1",
    }
    general, project = read(tmp_path, {"memories.json": [record]})

    assert isinstance(general, Memory)
    assert isinstance(project, Memory)
    assert (general.kind, general.text, general.about) == ("context", "likes tea", "a1")
    assert (project.kind, project.text, project.about) == ("project", "**Purpose**", "p1")
    assert general.account_id == project.account_id == "a1"


def test_projects(tmp_path: Path) -> None:
    record = {
        "uuid": "p1",
        "name": "Garden",
        "description": "",
        "prompt_template": "Be brief.",
        "docs": [{"uuid": "d1", "filename": "a.md", "content": "peas", "created_at": AT}],
        "creator": {"uuid": "a1"},
    }
    found = [item for item in read(tmp_path, {"projects.json": [record]}) if isinstance(item, Memory)]

    assert [(memory.kind, memory.text, memory.about) for memory in found] == [
        ("project", "Garden", "p1"),
        ("instruction", "Be brief.", "p1"),
        ("project", "peas", "p1"),
    ]
    assert (found[2].id, found[2].at, found[2].extra) == ("d1", AT, {"filename": "a.md"})


def test_the_account_is_known_where_a_conversation_does_not_say(tmp_path: Path) -> None:
    lonely = conversation()
    del lonely["account"]
    identity, item = read(tmp_path, {"conversations.json": [lonely], "users.json": [USER]})

    assert isinstance(identity, Memory)
    assert (identity.kind, identity.about) == ("identity", "a1")
    assert "Robin" in identity.text
    assert isinstance(item, Conversation)
    assert item.account_id == "a1"


# Packaging


def test_zip_folder_and_file_are_the_same(tmp_path: Path) -> None:
    files = {"conversations.json": [conversation(message("m1", "human", text("Hi")))], "users.json": [USER]}
    from_folder = read(tmp_path / "export", files)
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    from_zip = [*read_all([str(tmp_path / "data.zip")], Notes())]
    alone = [*read_all([str(tmp_path / "export" / "conversations.json")], Notes())]

    assert comparable(from_folder) == comparable(from_zip)
    assert comparable(from_folder)[1:] == comparable(alone)


def comparable(items: list[Item]) -> list[Any]:
    return [{**as_json(item), "origin": None} for item in items]


def with_manifest(folder: Path) -> dict[str, Any]:
    rows = [
        {"category": "conversations", "filename": f"conversations-00{n}.zip", "export_url": "https://s3/x"}
        for n in (0, 1)
    ]
    for number, updated in ((0, LATER), (1, AT)):
        with zipfile.ZipFile(folder / f"conversations-00{number}.zip", "w") as archive:
            copy = conversation(message(f"m{number}"), updated_at=updated)
            archive.writestr("conversations.json", json.dumps([copy]))
    return {"version": "1.0", "data_files": rows}


def test_parts_of_a_manifest_are_one_export_with_each_conversation_once(tmp_path: Path) -> None:
    (tmp_path / "manifest-1.json").write_text(json.dumps(with_manifest(tmp_path)), encoding="utf-8")
    notes = Notes()
    (item,) = read_all([str(tmp_path)], notes)

    assert isinstance(item, Conversation)
    assert [said.id for said in messages(item)] == ["m0"]
    assert [note.kind for note in notes.collected] == ["repeated-record"]


def test_a_manifest_among_other_files_does_not_swallow_them(tmp_path: Path) -> None:
    (tmp_path / "manifest-1.json").write_text(json.dumps(with_manifest(tmp_path)), encoding="utf-8")
    (tmp_path / "other.txt").write_text("holiday", encoding="utf-8")
    notes = Notes()
    items = [*read_all([str(tmp_path)], notes)]

    assert [item.id for item in items] == ["c1", "c1"]
    assert sorted(note.kind for note in notes.collected) == ["unknown-file", "unknown-file"]


def test_a_missing_part_is_named_without_an_address(tmp_path: Path) -> None:
    (tmp_path / "manifest-1.json").write_text(json.dumps(with_manifest(tmp_path)), encoding="utf-8")
    (tmp_path / "conversations-001.zip").unlink()
    notes = Notes()
    items = [*read_all([str(tmp_path)], notes)]

    assert len(items) == 1
    assert [(note.kind, Path(note.file).name) for note in notes.collected] == [
        ("missing-file", "conversations-001.zip")
    ]
    assert "s3" not in str(notes.collected) + str(items)


def test_a_zip_within_a_zip_is_named(tmp_path: Path) -> None:
    manifest = json.dumps(with_manifest(tmp_path))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("manifest-1.json", manifest)
        for part in ("conversations-000.zip", "conversations-001.zip"):
            archive.write(tmp_path / part, part)
    notes = Notes()

    assert [*read_all([str(tmp_path / "all.zip")], notes)] == []
    assert [note.kind for note in notes.collected] == ["unreadable-file", "unreadable-file"]


# Detection


@pytest.mark.parametrize(
    ("value", "version"),
    [
        ([conversation()], "2024"),
        ([conversation(message("m1", parent_message_uuid=ROOT))], "2026"),
        (conversation(), "2024"),
        ([USER], "2026"),
        ([{"uuid": "c1", "mapping": {}, "chat_messages": []}], None),
        ([{"id": "x", "mapping": {"n": {"message": None, "parent": None, "children": []}}}], None),
        ([{"uuid": "c1", "messages": [{"role": "user", "content": "Hi"}], "project": "p"}], None),
        ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Hi"}}, None),
        ([{"chat_messages": "none", "uuid": "c1"}], None),
        ([{"chat_messages": [{"sender": "human", "text": "Hi"}]}], "2024"),
        ([{"chat_messages": []}], None),
        ([], None),
    ],
)
def test_what_is_claimed(tmp_path: Path, value: Any, version: str | None) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(value), encoding="utf-8")

    assert READER.sniff(Peek(open_input(str(path)))) == version


def test_an_export_of_another_product_is_not_claimed(tmp_path: Path) -> None:
    for name, value in {"conversations.json": [{"id": "x", "mapping": {}}], "users.json": [USER]}.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")

    assert READER.sniff(Peek(open_input(str(tmp_path)))) is None
