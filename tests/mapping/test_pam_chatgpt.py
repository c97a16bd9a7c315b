"""ChatGPT in Portable AI Memory: each row of the field mappings and the notes on them, on written bundles."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.inline import save_document
from tests.pam_bundle import Bundle, bundle_of

AT = 1700000000.5
ISO = "2023-11-14T22:13:20.5Z"


def said(key: str, role: str, *parts: Any, kind: str = "text", **more: Any) -> dict[str, Any]:
    message = {"id": key, "author": {"role": role}, "content": {"content_type": kind, "parts": [*parts]}}
    return message | {"create_time": AT, "metadata": {}} | more


def node(key: str, message: Any, parent: str | None = None, *children: str) -> dict[str, Any]:
    return {"id": key, "message": message, "parent": parent, "children": [*children]}


def chat(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"id": "c1", "title": "Tea", "create_time": 1699999999.25, "update_time": 1700000100.0}
    return about | {"mapping": {each["id"]: each for each in nodes}, "current_node": nodes[-1]["id"]} | more


def bundle(folder: Path, *nodes: dict[str, Any], **more: Any) -> Bundle:
    return bundle_of(save_document(folder, "conversations.json", [chat(*nodes, **more)]))


def one(folder: Path, message: dict[str, Any], **more: Any) -> Any:
    return bundle(folder, node(message["id"], message), **more).message(message["id"])


# Conversation-level mapping.


def test_conversation(tmp_path: Path) -> None:
    found = bundle(tmp_path, node("n1", said("n1", "user", "Hi"))).only

    assert found["provider"]["conversation_id"] == "c1"
    assert found["provider"]["name"] == "chatgpt"
    assert found["title"] == "Tea"
    assert found["temporal"] == {
        "created_at": "2023-11-14T22:13:19.25Z",
        "updated_at": "2023-11-14T22:15:00Z",
    }


# Message-level mapping.


def test_ids_and_branches(tmp_path: Path) -> None:
    found = bundle(
        tmp_path,
        node("root", None, None, "n1"),
        node("n1", said("n1", "user", "Hi"), "root", "n2", "n3"),
        node("n2", said("n2", "assistant", "A"), "n1"),
        node("n3", said("n3", "assistant", "B"), "n1"),
    )
    first, second = found.message("n1"), found.message("n2")

    assert ["n1", "n2", "n3"] == [each["provider_message_id"] for each in found.only["messages"]]
    assert (first["parent_id"], first["children_ids"]) == (None, ["n2", "n3"])
    assert (second["parent_id"], second["children_ids"]) == ("n1", [])


def test_children_are_in_the_order_of_the_source(tmp_path: Path) -> None:
    times = {"n2": AT + 3, "n3": AT + 1, "n4": AT + 2, "n5": AT + 4}
    for order in (["n3", "e", "n2"], ["n2", "e", "n3"], ["e", "n3", "n2"]):
        found = bundle(
            tmp_path,
            node("root", None, None, "n1"),
            node("n1", said("n1", "user", "Hi"), "root", *order),
            node("n2", said("n2", "assistant", "A", create_time=times["n2"]), "n1"),
            node("n3", said("n3", "assistant", "B", create_time=times["n3"]), "n1"),
            node("e", None, "n1", "n4", "n5"),
            node("n4", said("n4", "assistant", "C", create_time=times["n4"]), "e"),
            node("n5", said("n5", "assistant", "D", create_time=times["n5"]), "e"),
        )
        expected = [child for name in order for child in (["n4", "n5"] if name == "e" else [name])]

        assert expected == found.message("n1")["children_ids"]


def test_a_message_is_called_as_its_place_in_the_mapping(tmp_path: Path) -> None:
    found = bundle(tmp_path, node("n1", said("another", "user", "Hi"))).only["messages"][0]

    assert (found["id"], found["provider_message_id"]) == ("n1", "n1")
    assert found["raw_metadata"]["id"] == "another"


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_roles(tmp_path: Path, role: str) -> None:
    assert one(tmp_path, said("n1", role, "Hi"))["role"] == role


def test_a_text_is_text_and_its_parts_are_joined(tmp_path: Path) -> None:
    assert one(tmp_path, said("n1", "user", "Hi"))["content"] == {"type": "text", "text": "Hi"}
    assert one(tmp_path, said("n1", "user", "Hi", None, "you"))["content"] == {
        "type": "text",
        "text": "Hi\nyou",
    }


def test_a_multimodal_text_is_multipart_and_its_parts_are_split(tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-A", "size_bytes": 9}
    found = one(tmp_path, said("n1", "user", image, "What is it?", kind="multimodal_text"))
    alone = one(tmp_path, said("n1", "user", "Only text", kind="multimodal_text"))

    assert found["content"] == {
        "type": "multipart",
        "text": "What is it?",
        "parts": [{"type": "image", "ref": "file-service://file-A"}, {"type": "text", "text": "What is it?"}],
    }
    assert [{"type": "image", "size_bytes": 9, "ref": "file-service://file-A"}] == found["attachments"]
    assert alone["content"]["type"] == "multipart"


def test_time_and_model(tmp_path: Path) -> None:
    found = one(tmp_path, said("n1", "assistant", "Hi", metadata={"model_slug": "gpt-5"}))

    assert (found["created_at"], found["model"]) == (ISO, "gpt-5")


# Critical notes.


def test_several_roots_and_orphans_come_through(tmp_path: Path) -> None:
    found = bundle(
        tmp_path,
        node("n1", said("n1", "user", "One")),
        node("n2", said("n2", "user", "Two")),
        node("n3", said("n3", "assistant", "Three"), "gone"),
    )

    assert [None, None, None] == [each["parent_id"] for each in found.only["messages"]]


def test_nodes_without_a_message_are_skipped_and_what_is_below_goes_up(tmp_path: Path) -> None:
    found = bundle(
        tmp_path,
        node("n1", said("n1", "user", "One"), None, "gap"),
        node("gap", None, "n1", "n2"),
        node("n2", said("n2", "assistant", "Two"), "gap"),
    )

    assert ["n1", "n2"] == [each["id"] for each in found.only["messages"]]
    assert found.message("n2")["parent_id"] == "n1"
    assert found.message("n1")["children_ids"] == ["n2"]


@pytest.mark.parametrize("time", [0, None])
def test_a_missing_time_is_that_of_the_conversation(tmp_path: Path, time: Any) -> None:
    found = one(tmp_path, said("n1", "user", "Hi", create_time=time))

    assert found["created_at"] == "2023-11-14T22:13:19.25Z"


def test_what_generated_an_image_is_preserved(tmp_path: Path) -> None:
    metadata = {"request_id": "r-7", "dalle": {"prompt": "a cup"}}

    assert (
        one(tmp_path, said("n1", "tool", "Done", metadata=metadata))["raw_metadata"]["chatgpt_metadata"]
        == metadata
    )


def test_a_call_and_its_answer(tmp_path: Path) -> None:
    call = said("n1", "assistant", recipient="python", content={"content_type": "code", "text": "1+1"})
    answer = said("n2", "tool", content={"content_type": "execution_output", "text": "2"})
    answer["author"] = {"role": "tool", "name": "python"}
    found = bundle(tmp_path, node("n1", call, None, "n2"), node("n2", answer, "n1"))

    assert found.message("n1")["tool_calls"] == [
        {"name": "python", "input": "1+1", "id": "n1", "output": "2"}
    ]
    assert found.message("n2")["content"] == {"type": "text", "text": "2"}
    assert found.message("n2")["tool_calls"] == [{"name": "python", "id": "n1"}]


def test_thoughts_are_thoughts(tmp_path: Path) -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Cups", "content": "Think of cups."}]}
    found = one(tmp_path, said("n1", "assistant", content=thoughts))

    assert (found["is_thought"], found["content"]["text"]) == (True, "Think of cups.")


# Other files of the export.


def export(folder: Path, **files: Any) -> Bundle:
    path = folder / "export.zip"
    conversation = chat(
        node("n1", said("n1", "user", "Hi"), None, "n2"),
        node("n2", said("n2", "assistant", "I like tea", recipient="bio"), "n1"),
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        for name, value in files.items():
            archive.writestr(f"{name}.json", json.dumps(value))
    return bundle_of(path)


def test_the_account_is_the_owner(tmp_path: Path) -> None:
    found = export(tmp_path, user={"id": "user-1", "email": "ana@example.org"})
    identity = found.store["memories"][0]

    assert found.store["owner"] == {"id": "user-1"}
    assert found.only["provider"]["account_id"] == "user-1"
    assert (identity["type"], identity["provenance"]["platform_user_id"]) == ("identity", "user-1")


def test_what_the_memory_tool_stored_is_a_memory_of_the_conversation(tmp_path: Path) -> None:
    found = export(tmp_path, user={"id": "user-1"})
    memory = found.store["memories"][1]
    (entry,) = found.store["conversations_index"]

    assert (memory["type"], memory["content"]) == ("context", "I like tea")
    assert memory["provenance"]["conversation_ref"] == entry["id"] == "c1"
    assert entry["derived_memories"] == [memory["id"]]


def test_ratings_are_with_their_message(tmp_path: Path) -> None:
    rating = {"id": "n2", "conversation_id": "c1", "rating": "thumbs_up", "tags": ["kind"]}
    found = export(tmp_path, message_feedback=[rating])

    assert found.message("n2")["raw_metadata"]["feedback"] == {"rating": "up", "tags": ["kind"]}


def test_instructions_of_the_person(tmp_path: Path) -> None:
    content = {
        "content_type": "user_editable_context",
        "user_profile": "A baker",
        "user_instructions": "Be brief",
    }
    found = bundle(tmp_path, node("n1", said("n1", "user", content=content)))

    assert found.only["system_instruction"] == "A baker\n\nBe brief"


def test_an_archived_conversation(tmp_path: Path) -> None:
    found = bundle(
        tmp_path, node("n1", said("n1", "user", "Hi")), is_archived=True, default_model_slug="gpt-5"
    )

    assert (found.only["is_archived"], found.only["model"]) == (True, "gpt-5")
