"""Gemini in Portable AI Memory: each row of the field mappings and the critical notes, on written bundles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.inline import save_document
from tests.pam_bundle import Bundle, bundle_of

AT = "2024-02-17T22:05:10.123Z"
URL = "https://gemini.google.com/app/c/abc123"


def activity(time: str = AT, url: str = URL, **more: Any) -> dict[str, Any]:
    about = {"header": "Gemini", "title": "Used Gemini Apps", "titleUrl": url, "time": time}
    return about | {"products": ["Gemini Apps"]} | more


def details(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"details": [{"name": name, "value": value} for name, value in pairs]}


def asked(question: str = "Why?", answer: str = "Because.", **more: Any) -> dict[str, Any]:
    return activity(**more) | details(("Request", question), ("Response", answer))


def bundle(folder: Path, *entries: dict[str, Any]) -> Bundle:
    return bundle_of(save_document(folder, "MyActivity.json", [*entries]))


def test_conversation_id_title_time_and_name(tmp_path: Path) -> None:
    found = bundle(tmp_path, asked()).only

    assert found["provider"]["conversation_id"] == "abc123"
    assert found["provider"]["name"] == "gemini"
    assert found["title"] == "Why?"
    assert [AT, AT] == [message["created_at"] for message in found["messages"]]


def test_without_a_prompt_there_is_no_title(tmp_path: Path) -> None:
    assert bundle(tmp_path, activity() | details(("Response", "Because."))).only["title"] is None


@pytest.mark.parametrize(("name", "role"), [("Request", "user"), ("Response", "assistant")])
def test_variant_a(tmp_path: Path, name: str, role: str) -> None:
    (message,) = bundle(tmp_path, activity() | details((name, "Words"))).only["messages"]

    assert (message["role"], message["content"]) == (role, {"type": "text", "text": "Words"})


def test_variant_b(tmp_path: Path) -> None:
    interaction = {
        "endpoint": 2,
        "shown": False,
        "latencySeconds": 0.0,
        "request": json.dumps([{"text": "Why?"}]),
        "response": json.dumps([{"text": "Because."}]),
    }
    entry = activity() | {"userInteractions": [{"userInteraction": interaction}]}
    asking, answering = bundle(tmp_path, entry).only["messages"]

    assert (asking["role"], asking["content"]["text"]) == ("user", "Why?")
    assert (answering["role"], answering["content"]["text"]) == ("assistant", "Because.")


def test_what_is_not_json_in_variant_b_is_text(tmp_path: Path) -> None:
    entry = activity() | {"userInteractions": [{"userInteraction": {"request": "Why?", "response": "[no"}}]}

    assert ["Why?", "[no"] == [each["content"]["text"] for each in bundle(tmp_path, entry).only["messages"]]


def test_entries_are_grouped_by_conversation_and_sorted_by_time(tmp_path: Path) -> None:
    found = bundle(
        tmp_path,
        asked("Third?", time="2024-02-17T22:07:00Z"),
        asked("Other?", url="https://gemini.google.com/app/c/other"),
        asked("First?", time="2024-02-17T22:01:00Z"),
    )
    by_id = {each["provider"]["conversation_id"]: each for each in found.conversations}
    prompts = [each["content"]["text"] for each in by_id["abc123"]["messages"] if each["role"] == "user"]

    assert {"abc123", "other"} == by_id.keys()
    assert ["First?", "Third?"] == prompts
    assert by_id["abc123"]["title"] == "First?"


def test_each_entry_has_its_own_variant(tmp_path: Path) -> None:
    interaction = {"request": '[{"text": "B?"}]', "response": '[{"text": "B."}]'}
    later = activity("2024-02-17T22:06:00Z") | {"userInteractions": [{"userInteraction": interaction}]}
    found = bundle(tmp_path, asked(), later).only

    assert ["Why?", "Because.", "B?", "B."] == [each["content"]["text"] for each in found["messages"]]
