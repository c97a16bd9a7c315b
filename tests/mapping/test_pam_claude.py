"""Claude in Portable AI Memory: each row of the field mappings and the critical notes, on written bundles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent_journal.conversion.output import write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation, tree
from agent_journal.notes import Notes
from tests.inline import save_document
from tests.pam_bundle import Bundle, bundle_of

AT, LATER = "2026-02-01T10:00:00.123456Z", "2026-02-01T11:00:00.654321Z"
# As the requirement document has them.
TOOL_USE = {
    "type": "tool_use",
    "name": "web_search",
    "input": {"query": "..."},
    "id": None,
    "message": "Searching the web",
    "integration_name": None,
    "integration_icon_url": None,
    "is_mcp_app": None,
    "approval_options": None,
}
TOOL_RESULT = {
    "type": "tool_result",
    "tool_use_id": None,
    "name": "web_search",
    "content": [
        {
            "type": "knowledge",
            "title": "Page Title",
            "url": "https://example.com",
            "metadata": {"type": "webpage_metadata", "site_domain": "..."},
        }
    ],
    "is_error": False,
}


def said(key: str, sender: str, *blocks: dict[str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    about = {"uuid": key, "sender": sender, "text": text, "content": [*blocks], "created_at": AT}
    return about | {"updated_at": LATER, "attachments": [], "files": []} | more


def text(words: str, **more: Any) -> dict[str, Any]:
    stamps = {"start_timestamp": AT, "stop_timestamp": LATER, "flags": None}
    return {"type": "text", "text": words, "citations": [], **stamps, **more}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"uuid": "c1", "name": "Tea", "summary": "About tea", "created_at": AT, "updated_at": LATER}
    return about | {"account": {"uuid": "a1"}, "chat_messages": [*messages]} | more


def bundle(folder: Path, *messages: dict[str, Any], **more: Any) -> Bundle:
    return bundle_of(save_document(folder, "conversations.json", [chat(*messages, **more)]))


def one(folder: Path, *blocks: dict[str, Any], **more: Any) -> Any:
    return bundle(folder, said("m1", "assistant", *blocks, **more)).message("m1")


# Conversation-level mapping.


def test_conversation(tmp_path: Path) -> None:
    found = bundle(tmp_path, said("m1", "human", text("Hi"), text="Hi")).only

    assert found["provider"]["name"] == "claude"
    assert found["provider"]["conversation_id"] == "c1"
    assert found["provider"]["account_id"] == "a1"
    assert found["title"] == "Tea"
    assert found["raw_metadata"]["summary"] == "About tea"
    assert found["temporal"] == {"created_at": AT, "updated_at": LATER}


# Message-level mapping.


def test_message(tmp_path: Path) -> None:
    found = one(tmp_path, text("Hi"), text="Hi")

    assert (found["id"], found["provider_message_id"]) == ("m1", "m1")
    assert found["content"] == {"type": "multipart", "text": "Hi", "parts": [{"type": "text", "text": "Hi"}]}
    assert found["created_at"] == AT
    assert found["raw_metadata"]["updated_at"] == LATER
    assert (found["parent_id"], found["children_ids"]) == (None, [])


@pytest.mark.parametrize(("sender", "role"), [("human", "user"), ("assistant", "assistant")])
def test_senders(tmp_path: Path, sender: str, role: str) -> None:
    assert bundle(tmp_path, said("m1", sender, text("Hi"))).message("m1")["role"] == role


@pytest.mark.parametrize("content", [{"content": []}, {"content": None}, {}])
def test_text_alone_is_the_content_and_no_part(tmp_path: Path, content: dict[str, Any]) -> None:
    attachment = {"file_name": "a.txt", "file_size": 7, "file_type": "txt", "extracted_content": "words"}
    for files in ([], [attachment]):
        record = said("m1", "human", text="Hi \n\n there", attachments=files)
        del record["content"]
        found = bundle(tmp_path, record | content)

        assert found.message("m1")["content"] == {"type": "text", "text": "Hi \n\n there"}
        assert [each["name"] for each in found.message("m1").get("attachments", [])] == ["a.txt"] * len(files)
        assert_read_back(tmp_path, record | content)


PLACEHOLDER = "```\nThis block is not supported on your current device yet.\n```"


@pytest.mark.parametrize(
    ("blocks", "flat"),
    [
        ([text("one"), text("two")], "one\n\ntwo"),
        ([text("one"), text("two")], " one two\n"),
        ([text("one"), text("two")], "one\ntwo"),
        ([text("one"), TOOL_USE, text("two")], f"one\n{PLACEHOLDER}\n\ntwo"),
        ([{"type": "thinking", "thinking": "Hm."}, text("one"), text("two")], "one\n\n two"),
        ([text("one"), TOOL_USE, TOOL_RESULT, text("two")], f"one\n{PLACEHOLDER}\n{PLACEHOLDER}\ntwo"),
        ([TOOL_USE], PLACEHOLDER),
    ],
)
def test_text_is_the_content_literally(tmp_path: Path, blocks: list[dict[str, Any]], flat: str) -> None:
    found = one(tmp_path, *blocks, text=flat)
    texts = [{"type": "text", "text": block["text"]} for block in blocks if block["type"] == "text"]

    assert found["content"]["text"] == flat
    assert found["content"].get("parts", []) == texts
    assert json.dumps(flat) not in json.dumps(found["raw_metadata"]), "it is told once"
    assert_read_back(tmp_path, said("m1", "assistant", *blocks, text=flat))


def assert_read_back(folder: Path, *messages: dict[str, Any]) -> None:
    """What is read of a bundle is what was read of the export."""
    (read,) = read_all([str(save_document(folder, "conversations.json", [chat(*messages)]))], Notes())
    bundle = folder / "bundle.zip"
    write_items([read], "pam", str(bundle), Notes())
    (again,) = read_all([str(bundle)], Notes())

    assert isinstance(read, Conversation)
    assert isinstance(again, Conversation)
    assert [replace(each, native=None) for each in tree.messages(read)] == [*tree.messages(again)]


def test_attachments_and_files_are_merged(tmp_path: Path) -> None:
    attachment = {"file_name": "a.txt", "file_size": 7, "file_type": "txt", "extracted_content": "words"}
    found = one(tmp_path, text("Hi"), attachments=[attachment], files=[{"file_name": "b.png"}])

    assert found["attachments"] == [
        {"type": "document", "name": "a.txt", "size_bytes": 7},
        {"type": "image", "name": "b.png"},
    ]


def test_conversations_do_not_branch_unless_messages_name_their_parents(tmp_path: Path) -> None:
    linear = bundle(tmp_path, said("m1", "human", text("Hi")), said("m2", "assistant", text("Ho")))
    named = bundle(
        tmp_path,
        said("m1", "human", text("Hi"), parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        said("m2", "assistant", text("Ho"), parent_message_uuid="m1"),
    )

    assert [(None, []), (None, [])] == [
        (each["parent_id"], each["children_ids"]) for each in linear.only["messages"]
    ]
    assert named.message("m2")["parent_id"] == "m1"
    assert named.message("m1")["children_ids"] == ["m2"]


# Content type mapping.


def test_a_text_with_its_sources(tmp_path: Path) -> None:
    cited = {"url": "https://tea.example/a b", "title": "Tea"}
    found = one(tmp_path, text("Hi", citations=[{"uuid": "x", "details": {"type": "web"}, **cited}]))

    assert found["citations"] == [{"title": "Tea", "url": "https://tea.example/a%20b"}]
    assert found["content"]["parts"] == [{"type": "text", "text": "Hi"}]


def test_thinking_and_visible_text_are_two_messages(tmp_path: Path) -> None:
    thinking = {
        "type": "thinking",
        "thinking": "Hm",
        "summaries": [{"summary": "Hm in short"}],
        "cut_off": True,
        "start_timestamp": AT,
    }
    found = bundle(tmp_path, said("m1", "assistant", thinking, text("Hi"), text="Hi"))
    thought, answer = found.only["messages"]

    assert (thought["is_thought"], thought["content"], thought["role"]) == (
        True,
        {"type": "text", "text": "Hm"},
        "assistant",
    )
    assert thought["raw_metadata"]["summaries"] == [{"summary": "Hm in short"}]
    assert thought["raw_metadata"]["cut_off"] is True
    assert thought["raw_metadata"]["start_timestamp"] == AT
    assert thought["provider_message_id"] == answer["id"] == "m1"
    assert (answer.get("is_thought", False), answer["content"]["text"]) == (False, "Hi")


def test_thinking_alone_is_one_message(tmp_path: Path) -> None:
    found = one(tmp_path, {"type": "thinking", "thinking": "Hm", "cut_off": False})

    assert (found["is_thought"], found["content"]["text"], found["raw_metadata"]["cut_off"]) == (
        True,
        "Hm",
        False,
    )


def test_tool_use_as_the_document_shows_it(tmp_path: Path) -> None:
    (call,) = one(tmp_path, TOOL_USE)["tool_calls"]

    assert call == {"name": "web_search", "input": {"query": "..."}, "id": None}


def test_an_id_that_is_no_text_is_none_of_the_call(tmp_path: Path) -> None:
    (call,) = one(tmp_path, TOOL_USE | {"id": 7741})["tool_calls"]

    assert call["id"] is None


def test_tool_result_as_the_document_shows_it(tmp_path: Path) -> None:
    found = bundle(tmp_path, said("m1", "assistant", TOOL_USE, TOOL_RESULT, text("Found."), text="Found."))
    answer, tool = found.only["messages"]

    assert (answer["id"], answer["role"], answer["content"]["text"]) == ("m1", "assistant", "Found.")
    assert tool["role"] == "tool"
    assert tool["citations"] == [{"title": "Page Title", "url": "https://example.com"}]
    assert tool["tool_calls"] == [{"name": "web_search", "id": None}]
    assert answer["tool_calls"] == [{"name": "web_search", "input": {"query": "..."}, "id": None}]
    assert (tool["parent_id"], tool["children_ids"]) == (None, [])


def test_a_result_in_words_is_with_its_call_too(tmp_path: Path) -> None:
    use = TOOL_USE | {"id": "t1"}
    result = TOOL_RESULT | {"tool_use_id": "t1", "content": [{"type": "text", "text": "42"}]}
    answer, tool = bundle(tmp_path, said("m1", "assistant", use, result)).only["messages"]

    assert answer["tool_calls"] == [
        {"name": "web_search", "input": {"query": "..."}, "id": "t1", "output": "42"}
    ]
    assert (tool["content"], tool["tool_calls"]) == (
        {"type": "text", "text": "42"},
        [{"name": "web_search", "id": "t1"}],
    )


def test_token_budget_is_discarded(tmp_path: Path) -> None:
    found = bundle(tmp_path, said("m1", "assistant", {"type": "token_budget", "n": 7}, text("Hi")))

    assert "token_budget" not in json.dumps(found.conversations)


def test_timing_of_parts_is_preserved_in_raw_metadata(tmp_path: Path) -> None:
    raw = json.dumps(one(tmp_path, text("Hi"))["raw_metadata"])

    assert AT in raw
    assert "stop_timestamp" in raw


# Memories mapping.


def export(folder: Path, **files: Any) -> Bundle:
    for name, value in ({"conversations": [chat()]} | files).items():
        save_document(folder, f"{name}.json", value)
    return bundle_of(folder)


def test_memories(tmp_path: Path) -> None:
    record = {
        "conversations_memory": "Likes tea",
        "project_memories": {"p1": "Purpose"},
        "account_uuid": "a1",
    }
    found = bundle_of(save_document(tmp_path, "memories.json", [record]))
    general, project = found.store["memories"]

    assert (general["type"], general["content"]) == ("context", "Likes tea")
    assert (project["type"], project["content"]) == ("project", "Purpose")
    assert found.store["owner"] == {"id": "a1"}
    assert {"a1"} == {memory["provenance"]["platform_user_id"] for memory in (general, project)}
    assert {"claude"} == {memory["provenance"]["platform"] for memory in (general, project)}


def test_projects_and_users(tmp_path: Path) -> None:
    project = {
        "uuid": "p1",
        "name": "Garden",
        "description": "Beds",
        "prompt_template": "Be brief",
        "docs": [],
    }
    user = {"uuid": "a1", "full_name": "Ana", "email_address": "ana@example.org"}
    found = export(tmp_path, users=[user], projects=[project])

    assert found.store["owner"] == {"id": "a1"}
    assert ["identity", "project", "instruction"] == [memory["type"] for memory in found.store["memories"]]


def test_a_conversation_without_a_summary_has_none(tmp_path: Path) -> None:
    assert "summary" not in bundle(tmp_path, said("m1", "human", text("Hi")), summary="").only["raw_metadata"]
