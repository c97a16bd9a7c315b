"""What happened in a project lately."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_journal.journal import Filter, Journal
from agent_journal.redaction import redact_texts
from tests.journal.conversations import call, conversation, journal_of, message, result, text

KEY = "AKIAIOSFODNN7RXAMPLQ"


def at(minute: int) -> str:
    return f"2026-03-01T10:{minute:02d}:00Z"


def exchange(id_: str, minute: int, folder: str, *more: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return conversation(
        id_,
        message(f"{id_}-p", "user", at(minute), text(f"Cook {id_}.\nPlease.")),
        message(f"{id_}-a", "assistant", at(minute + 1), text(f"{id_} is done.")),
        *more,
        cwd=folder,
        **fields,
    )


def lately(journal: Journal, of: str | None = None, **wanted: Any) -> list[str]:
    return [each.conversation.id for each in journal.recent(of, Filter(**wanted)).items]


def test_a_project_is_a_folder_and_what_is_below_it(tmp_path: Path) -> None:
    with journal_of(
        tmp_path,
        exchange("stew", 1, "/home/ana/app"),
        exchange("soup", 2, "/home/ana/app/kitchen"),
        exchange("cake", 3, "/home/ana/app2"),
        exchange("pie", 4, "C:\\ana\\app\\oven", source="claude-code"),
        conversation("none", message("n", "user", at(9), text("Nowhere"))),
    ) as journal:
        assert ["soup", "stew"] == lately(journal, "/home/ana/app")
        assert ["pie"] == lately(journal, None, folder="C:\\ana\\app")
        assert ["none", "pie", "cake", "soup", "stew"] == lately(journal)
        assert ["soup"] == lately(journal, "/home/ana/app", within=Filter(folder="/home/ana/app/kitchen"))
        assert [] == lately(journal, "/home/ana/app", source="claude-code")
        stew = journal.one("stew").key
        assert {stew} == journal.selected(Filter(folder="/home/ana/app"), [stew, journal.one("cake").key])


def test_a_folder_in_a_repository_stands_for_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "deep").mkdir()
    with journal_of(tmp_path, exchange("stew", 1, f"{tmp_path}/app")) as journal:
        assert ["stew"] == lately(journal, str(tmp_path / "app" / "deep"))


def test_what_was_asked_and_how_it_ended(tmp_path: Path) -> None:
    with journal_of(
        tmp_path,
        exchange("answered", 1, "/a", title="Stew"),
        exchange("unanswered", 3, "/a", message("u", "user", at(5), text("And now?"))),
        exchange(
            "stopped",
            6,
            "/a",
            message("c", "assistant", at(8), call("c1", "Bash", "shell", {"command": "sleep"})),
        ),
        exchange(
            "result",
            9,
            "/a",
            message("d", "assistant", at(11), call("c2", "Bash", "shell", {"command": "ls"})),
            message("e", "tool", at(12), result("c2", "stew")),
        ),
    ) as journal:
        recent = {each.conversation.id: each for each in journal.recent("/a").items}
    assert ("Cook answered.", "answered is done.", "answer") == (
        recent["answered"].asked,
        recent["answered"].answered,
        recent["answered"].ending,
    )
    assert "Stew" == recent["answered"].conversation.title
    assert "prompt" == recent["unanswered"].ending
    assert "tool call" == recent["stopped"].ending
    assert "tool call" == recent["result"].ending
    assert "stopped is done." == recent["stopped"].answered


def test_secrets_are_redacted_before_lines_are_cut(tmp_path: Path) -> None:
    prompt = f"{'x ' * 110}{KEY}"
    with journal_of(
        tmp_path,
        conversation(
            "secret",
            message("p", "user", at(1), text(f"My key is {KEY}")),
            message("a", "assistant", at(2), text(prompt)),
            title=f"Key {KEY}",
        ),
    ) as journal:
        (each,) = journal.recent().items
    assert "AKIA" not in str(each.to_dict())
    assert (each.answered or "").startswith("x x")


def test_a_secret_found_in_one_text_is_replaced_in_all() -> None:
    redacted = redact_texts(["password = hunter2hunter2zz", "", "It was hunter2hunter2zz again."])
    assert "hunter2" not in "".join(redacted)
    assert "" == redacted[1]
    assert ["plain", "texts"] == redact_texts(["plain", "texts"])
