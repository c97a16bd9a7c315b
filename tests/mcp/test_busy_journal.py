"""A journal that is being written or rebuilt, or is damaged: each call gets an answer or a reason."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from agent_journal import config
from agent_journal.errors import AgentJournalError
from agent_journal.mcp import service as service_module
from agent_journal.mcp.service import Service
from tests.journal.conversations import conversation, import_into, message, open_home, text
from tests.mcp.kitchen import HERE, ask, at, service

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "stew boil"}),
    ("read", {"conversation": "stew"}),
    ("list", {}),
    ("usage", {"by": "model"}),
    ("blame", {"path": "cake.py"}),
]


def more(number: int) -> dict[str, Any]:
    return conversation(
        f"pot-{number}",
        message(f"p{number}", "user", at(number), text(f"The pot {number} is hot.")),
        cwd=HERE,
    )


@pytest.mark.parametrize("change", ["sync", "rebuild"])
def test_calls_while_the_journal_is_written(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "_MAX_CALLS_PER_MINUTE", 1_000_000)
    home = tmp_path / "journal"
    failures: list[BaseException] = []

    def write() -> None:
        try:
            for number in range(4):
                import_into(home, more(number))
                if change == "rebuild":
                    with open_home(home) as journal:
                        journal.reindex()
        except BaseException as error:  # noqa: BLE001 (reported in the other thread)
            failures.append(error)

    with service(tmp_path) as opened:
        writer = threading.Thread(target=write)
        writer.start()
        while writer.is_alive():
            for tool, arguments in CALLS:
                assert ask(opened, tool, **arguments)["untrusted"] is True
        writer.join()
        assert [] == failures
        assert "pot-3" in str(ask(opened, "search", query='"pot 3 is hot"'))
        assert 6 == ask(opened, "list")["total"]


def test_calls_without_an_index(tmp_path: Path) -> None:
    home = tmp_path / "journal"
    with service(tmp_path):
        pass
    shutil.rmtree(config.load(home, {}).storage.index_path)
    with service(tmp_path) as opened:
        answer = ask(opened, "search", query="stew boil")
        assert {"stew", "rose"} == {each["conversation"] for each in answer["hits"]}
        assert "cake" in str(ask(opened, "blame", path="cake.py"))
    with service(tmp_path, folder=HERE) as opened:
        answer = ask(opened, "search", query="stew boil")
        assert ["stew"] == [each["conversation"] for each in answer["hits"]]


def test_calls_after_the_journal_is_gone_or_damaged(tmp_path: Path) -> None:
    home = tmp_path / "journal"
    with service(tmp_path):
        pass
    (database,) = (path for path in home.iterdir() if path.suffix == ".db")
    database.write_bytes(b"not a database" * 1000)
    with service(tmp_path) as opened:
        refused(opened)
    shutil.rmtree(home)
    home.mkdir()
    with service(tmp_path) as opened:
        refused(opened)


def refused(opened: Service) -> None:
    for tool, arguments in CALLS:
        with pytest.raises(AgentJournalError) as reason:
            ask(opened, tool, **arguments)
        assert "bug" not in str(reason.value)


def test_a_long_conversation_is_read_in_parts(tmp_path: Path) -> None:
    count = 3000
    words = [
        message(f"m{number}", "user" if number % 2 else "assistant", at(number % 60), text(f"word {number}"))
        for number in range(count)
    ]
    with service(tmp_path, conversation("long", *words, cwd=HERE)) as opened:
        around = ask(opened, "read", conversation="long", message="m2500")
        assert "m2500" in [each["message"] for each in around["messages"]]
        assert count == around["total"]
        last = ask(opened, "read", conversation="long", cursor=f"0.{count - 1}")
        assert [f"m{count - 1}"] == [each["message"] for each in last["messages"]]
        assert "next_cursor" not in last
