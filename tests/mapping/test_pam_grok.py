"""Grok in Portable AI Memory: each row of the field mappings and the critical notes, on written bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.inline import save_document
from tests.mapping.test_grok import AT, MS, bson, chat, export, response
from tests.pam_bundle import Bundle, bundle_of


def bundle(folder: Path, *responses: Any, **more: Any) -> Bundle:
    return bundle_of(save_document(folder, "prod-grok-backend.json", export(chat(*responses, **more))))


def one(folder: Path, **more: Any) -> Any:
    return bundle(folder, response("r1", "assistant", **more)).message("r1")


# Conversation-level mapping.


def test_conversation(tmp_path: Path) -> None:
    found = bundle(tmp_path, response("r1", "human")).only

    assert found["provider"]["name"] == "grok"
    assert found["provider"]["conversation_id"] == "c1"
    assert found["provider"]["account_id"] == "u1"
    assert found["title"] == "Trip"
    assert found["temporal"] == {
        "created_at": "2026-06-16T01:30:51.533788Z",
        "updated_at": "2026-06-16T01:31:16.699241Z",
    }
    assert found["raw_metadata"]["starred"] is True
    assert found["raw_metadata"]["system_prompt_name"] == "concise"


# Message-level mapping.


def test_message(tmp_path: Path) -> None:
    found = one(tmp_path, text="Rome.", model="grok-4")

    assert (found["id"], found["provider_message_id"]) == ("r1", "r1")
    assert found["content"] == {"type": "text", "text": "Rome."}
    assert (found["created_at"], found["model"]) == (AT, "grok-4")


def test_parents_and_inverted_children(tmp_path: Path) -> None:
    found = bundle(
        tmp_path,
        response("r1", "human"),
        response("r2", "assistant", parent_response_id="r1", thinking_trace="Hm"),
        response("r3", "assistant", parent_response_id="r1"),
        response("r4", "human", parent_response_id="r2"),
    )

    assert found.message("r1")["children_ids"] == ["r2", "r3"]
    assert [None, "r1", "r1", "r2"] == [found.message(f"r{number}")["parent_id"] for number in (1, 2, 3, 4)]
    assert found.message("r2")["children_ids"][0] == "r4"


@pytest.mark.parametrize(
    ("sender", "role"),
    [
        ("human", "user"),
        ("assistant", "assistant"),
        ("ASSISTANT", "assistant"),
        ("grok-3", "assistant"),
        ("anything", "assistant"),
    ],
)
def test_senders(tmp_path: Path, sender: str, role: str) -> None:
    assert bundle(tmp_path, response("r1", sender)).message("r1")["role"] == role


PRESERVED: dict[str, Any] = {
    "web_search_results": [{"url": "https://rome.example", "title": "Rome"}],
    "thinking_trace": "First <xai:tool_usage_card>x</xai:tool_usage_card>",
    "agent_thinking_traces": [{"agent_id": "a", "thinking_trace": "Second"}],
    "steps": [{"tagged_text": {"header": "Look"}, "tag_order": ["header"]}],
    "query": "a cup",
    "query_type": "imagine",
    "xpost_ids": ["17"],
    "webpage_urls": ["https://rome.example"],
    "card_attachments_json": ['{"id": "1"}'],
    "error": "Failed to respond.",
}


@pytest.mark.parametrize("field", PRESERVED)
def test_what_is_preserved_in_raw_metadata(tmp_path: Path, field: str) -> None:
    assert one(tmp_path, **{field: PRESERVED[field]})["raw_metadata"][field] == PRESERVED[field]


def test_metadata_are_called_by_whose_they_are(tmp_path: Path) -> None:
    metadata = {"ui_layout": {"a": 1}, "llm_info": None, "request_metadata": {}}
    found = one(tmp_path, metadata=metadata)["raw_metadata"]

    assert found["grok_metadata"] == metadata
    assert "metadata" not in found


@pytest.mark.parametrize("field", ["thinking_start_time", "thinking_end_time"])
def test_thinking_times_are_iso(tmp_path: Path, field: str) -> None:
    assert one(tmp_path, **{field: bson(MS)})["raw_metadata"][field] == AT


def test_cited_pages_are_citations(tmp_path: Path) -> None:
    page = {"url": "https://rome.example/", "title": "Rome", "preview": "A city"}

    assert one(tmp_path, cited_web_search_results=[page])["citations"] == [
        {"title": "Rome", "url": "https://rome.example/", "snippet": "A city"}
    ]


def test_generated_images_and_files_are_attachments(tmp_path: Path) -> None:
    asset = "0f0e0d0c-0000-4000-8000-000000000001"
    found = one(tmp_path, text="", generated_image_urls=["https://img.example/1"], file_attachments=[asset])

    assert found["attachments"] == [
        {"type": "image", "ref": "https://img.example/1"},
        {"type": "file", "ref": asset, "provider_id": asset},
    ]
    assert "text" not in found["content"]


def test_a_trace_is_a_thought_message_too(tmp_path: Path) -> None:
    thought, answer = bundle(tmp_path, response("r1", "assistant", "Rome.", thinking_trace="Hm")).only[
        "messages"
    ]

    assert (thought["is_thought"], thought["content"]["text"], thought["parent_id"]) == (True, "Hm", "r1")
    assert (answer["id"], answer["content"]["text"]) == ("r1", "Rome.")
    assert answer["raw_metadata"]["thinking_trace"] == "Hm"


def test_a_share_link_is_preserved(tmp_path: Path) -> None:
    wrapped = response("r1", "assistant") | {"share_link": {"url": "s"}}

    assert bundle(tmp_path, wrapped).message("r1")["raw_metadata"]["share_link"] == {"url": "s"}


# Additional data sources.


def test_projects_profile_and_posts(tmp_path: Path) -> None:
    project = {"id": "p1", "name": "Garden", "custom_personality": "Be brief"}
    post = {"id": "post", "original_prompt": "A cup", "media_type": "image", "link": "https://img.example/2"}
    save_document(tmp_path, "prod-grok-backend.json", export(chat(), projects=[project], media_posts=[post]))
    profile = {"user": {"userId": "u1", "email": "ana@example.org", "givenName": "Ana"}}
    save_document(tmp_path, "prod-mc-auth-mgmt-api.json", profile)
    found = bundle_of(tmp_path)
    shown = found.conversations[1]

    assert ["identity", "instruction", "project"] == [memory["type"] for memory in found.store["memories"]]
    assert found.store["owner"] == {"id": "u1"}
    assert shown["messages"][1]["attachments"] == [{"type": "image", "ref": "https://img.example/2"}]


def test_a_task_is_a_memory_of_a_kind_of_its_own(tmp_path: Path) -> None:
    document = export(tasks=[{"id": "t1", "title": "Water"}])
    (memory,) = bundle_of(save_document(tmp_path, "prod-grok-backend.json", document)).store["memories"]

    assert (memory["type"], memory["custom_type"], memory["content"]) == ("custom", "task", "Water")
