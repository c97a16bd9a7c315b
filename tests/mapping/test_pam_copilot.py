"""Microsoft Copilot in Portable AI Memory: each row of the field mappings, on written bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pam_bundle import Bundle, bundle_of

ACTIVITY = "Conversation,Time,Author,Message\n"
CHAT = "CreatedAt,MessageContent,Author,ChatName\n"
WINDOWS = "Timestamp,ClientApp,Prompt\n"


def bundle(folder: Path, text: str) -> Bundle:
    path = folder / "export.csv"
    path.write_text(text, encoding="utf-8-sig")
    return bundle_of(path)


def test_layout_a(tmp_path: Path) -> None:
    found = bundle(
        tmp_path, ACTIVITY + "Trip,2026-02-17T14:36:11,user,Where to?\nTrip,2026-02-17T14:36:12,AI,Rome.\n"
    )
    asking, answering = found.only["messages"]

    assert found.only["title"] == "Trip"
    assert found.only["provider"]["name"] == "copilot"
    assert found.only["provider"]["conversation_id"] == found.only["id"]
    assert (asking["role"], asking["content"]["text"], asking["created_at"]) == (
        "user",
        "Where to?",
        "2026-02-17T14:36:11Z",
    )
    assert (answering["role"], answering["content"]["text"]) == ("assistant", "Rome.")


def test_layout_b(tmp_path: Path) -> None:
    rows = "2/17/2026 14:36:11 +00:00,Where to?,user,Trip\n2/17/2026 2:36:12 PM +00:00,Rome.,Copilot,Trip\n"
    found = bundle(tmp_path, CHAT + rows).only

    assert (found["title"], found["provider"]["name"]) == ("Trip", "copilot")
    assert ["user", "assistant"] == [each["role"] for each in found["messages"]]
    assert ["Where to?", "Rome."] == [each["content"]["text"] for each in found["messages"]]
    assert "2026-02-17T14:36:11Z" == found["messages"][0]["created_at"]


@pytest.mark.parametrize(
    ("author", "role"),
    [("user", "user"), ("AI", "assistant"), ("Copilot", "assistant"), ("Bing", "assistant")],
)
def test_authors(tmp_path: Path, author: str, role: str) -> None:
    (message,) = bundle(tmp_path, f"{CHAT}2/17/2026 14:36:11 +00:00,Hi,{author},Trip\n").only["messages"]

    assert message["role"] == role


def test_made_ids_are_not_the_providers(tmp_path: Path) -> None:
    (message,) = bundle(tmp_path, f"{ACTIVITY}Trip,2026-02-17T14:36:11,user,Hi\n").only["messages"]

    assert message["id"]
    assert "provider_message_id" not in message
    assert (message["parent_id"], message["children_ids"]) == (None, [])


def test_conversations_of_one_name_are_distinguished_by_time(tmp_path: Path) -> None:
    rows = "Trip,2026-02-17T14:36:11,user,Hi\nTrip,2026-03-17T14:36:11,user,Again\n"
    found = bundle(tmp_path, ACTIVITY + rows)

    assert 2 == len({each["provider"]["conversation_id"] for each in found.conversations})


def test_windows_apps_have_only_prompts(tmp_path: Path) -> None:
    found = bundle(tmp_path, f"{WINDOWS}2026-02-17T14:36:11,Notepad,Rewrite this\n").only

    assert [("user", "Rewrite this", "2026-02-17T14:36:11Z")] == [
        (each["role"], each["content"]["text"], each["created_at"]) for each in found["messages"]
    ]
