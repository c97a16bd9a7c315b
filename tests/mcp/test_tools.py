"""What each tool answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_journal.errors import BadArguments, NoArchive, NoSuchConversation, NoSuchMessage, TooManyCalls
from agent_journal.mcp import service as service_module
from agent_journal.mcp.definitions import TOOLS
from tests.journal.conversations import conversation, import_into, message, open_home, text
from tests.mcp.kitchen import HERE, ORDER, ask, at, conversations, service

MAX_ANSWER_BYTES = 12_000
MAX_DEFINITION_BYTES = 6000


def size_of(answer: Any) -> int:
    return len(answer.text.encode()) + len(json.dumps(answer.data, ensure_ascii=False).encode())


def test_agents_pay_little_for_the_definitions() -> None:
    definitions = [
        {
            "name": each.name,
            "title": each.title,
            "description": each.description,
            "inputSchema": each.input_schema,
            "outputSchema": each.output_schema,
        }
        for each in TOOLS
    ]
    assert len(json.dumps(definitions).encode()) <= MAX_DEFINITION_BYTES
    assert ["search", "read", "list", "usage", "blame"] == [each.name for each in TOOLS]


def test_search_ranks_this_project_first(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        hits = ask(opened, "search", query="stew boil")["hits"]
        assert ["stew", "rose"] == [each["conversation"] for each in hits]
        assert (".", "/home/ana/garden") == (hits[0]["project"], hits[1]["project"])
        assert {"message", "source", "role", "at", "snippet"} <= hits[0].keys()
        everywhere = ask(opened, "search", query="stew boil", project="garden")["hits"]
        assert ["rose"] == [each["conversation"] for each in everywhere]
        assert [] == ask(opened, "search", query="stew", since="2027-01-01")["hits"]


def test_search_says_what_is_missing(tmp_path: Path) -> None:
    with service(tmp_path) as asked:
        assert "'aj embed'" in ask(asked, "search", query="stew")["incomplete"]
        with open_home(tmp_path / "journal") as journal:
            journal.embed()
        assert "incomplete" not in ask(asked, "search", query="stew")


def test_search_pages_return_every_hit_once(tmp_path: Path) -> None:
    many = [
        conversation(
            f"pot-{number}",
            message(f"p{number}", "user", at(number), text(f"The pot number {number} is hot.")),
            cwd=HERE if number % 3 else "/home/ana/barn",
        )
        for number in range(40)
    ]
    with service(tmp_path, *many) as opened:
        seen: list[str] = []
        cursor: dict[str, Any] = {}
        for _ in range(40):
            answer = ask(opened, "search", query='"hot"', limit=5, **cursor)
            seen += [each["conversation"] for each in answer["hits"]]
            if "next_cursor" not in answer:
                break
            cursor = {"cursor": answer["next_cursor"]}
    assert sorted(f"pot-{number}" for number in range(40)) == sorted(seen)


def test_read_goes_on_where_a_text_is_cut(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        around = ask(opened, "read", conversation="stew", message="s3", before=1, after=1)
        assert ["s2", "s3", "s4"] == [each["message"] for each in around["messages"]]
        assert "cat stew.md" in around["messages"][0]["text"]
        assert f"cat {HERE}/stew.md" in str(ask(opened, "read", conversation="stew", absolute_paths=True))
        cut = around["messages"][1]
        whole = cut["text"][: cut["cut_at"]]
        while "cut_at" in cut:
            rest = ask(opened, "read", conversation="stew", message="s3", offset=cut["cut_at"])
            (cut,) = rest["messages"]
            whole += cut["text"]
        assert f"[result] boil long\n{'salt ' * 2000}end of the recipe" == whole


def test_read_pages_through_a_conversation(tmp_path: Path) -> None:
    words = [message(f"m{number:02}", "user", at(number), text(f"{number} " * 300)) for number in range(30)]
    with service(tmp_path, conversation("long", *words, cwd=HERE)) as opened:
        seen: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            answer = ask(opened, "read", conversation="long", **cursor)
            seen += [each["message"] for each in answer["messages"]]
            if "next_cursor" not in answer:
                break
            cursor = {"cursor": answer["next_cursor"]}
    assert [f"m{number:02}" for number in range(30)] == seen


def test_list_usage_and_blame(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        listed = ask(opened, "list")
        assert ["cake", "stew"] == [each["conversation"] for each in listed["conversations"]]
        assert "this project" == listed["of"]
        assert "tool call" == listed["conversations"][0]["ending"]
        assert "rose" in str(ask(opened, "list", project="*"))
        assert "requests" in ask(opened, "usage", by="model")["total"]
        (edit,) = ask(opened, "blame", path="cake.py")["edits"]
        assert ("cake", "assistant", "cake.py") == (edit["conversation"], edit["role"], edit["path"])
        assert "Bake a cake" in edit["prompt"]


def test_an_agent_elsewhere_gets_the_conversations_of_all_projects(tmp_path: Path) -> None:
    with service(tmp_path, here="/home/ana/office") as opened:
        assert "all projects" == ask(opened, "list")["of"]
        assert 2 == len(ask(opened, "search", query="stew boil")["hits"])


@pytest.mark.parametrize("tool", [each.name for each in TOOLS])
def test_answers_are_marked_short_and_without_secrets(tool: str, tmp_path: Path) -> None:
    arguments = {
        "search": {"query": "cake key stew"},
        "read": {"conversation": "cake"},
        "list": {"project": "*"},
        "usage": {"by": "conversation"},
        "blame": {"path": "cake.py"},
    }[tool]
    huge = [
        conversation(
            f"huge-{number}",
            message("h1", "user", at(1), text("cake key stew " + "\U0001f958" * 9000)),
            cwd=HERE,
            title="鍋" * 900,
        )
        for number in range(20)
    ]
    with service(tmp_path, *huge) as opened:
        answer, other = (opened.call(tool, arguments) for _ in range(2))
    assert answer.data["untrusted"] is True
    mark = answer.text.partition(" ")[0].removeprefix("<")
    assert answer.text.startswith(f'<{mark} untrusted="true">\n')
    assert answer.text.endswith(f"</{mark}>")
    assert mark not in other.text
    assert size_of(answer) <= MAX_ANSWER_BYTES
    assert "AKIA" not in answer.text
    assert "\u202e" not in answer.text


def test_the_smallest_answer_fits(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        for tool, arguments in (
            ("search", {"query": "stew"}),
            ("read", {"conversation": "stew", "message": "s4"}),
            ("list", {}),
        ):
            answer = opened.call(tool, {**arguments, "max_tokens": 200})
            assert len(json.dumps(answer.data).encode()) <= 900


def test_orders_in_a_transcript_are_quoted_and_nothing_else(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        answer = opened.call("read", {"conversation": "stew"})
    lines = answer.text.split("\n")
    assert 3 == len(lines)  # no text of a transcript can end the quotation
    assert ORDER in lines[1]
    assert ORDER in json.loads(lines[1])["messages"][-1]["text"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {}),
        ("search", {"query": "x" * 1_000_000}),
        ("search", {"query": "stew", "unknown": 1}),
        ("search", {"query": ["stew"]}),
        ("search", {"query": "stew", "cursor": "elsewhere"}),
        ("search", {"query": "stew", "cursor": "1.2.3"}),
        ("search", {"query": "stew", "since": "the day of days"}),
        ("search", {"query": "stew", "max_tokens": 1_000_000}),
        ("search", {"query": "stew", "role": "cook"}),
        ("list", {"cursor": "-1"}),
        ("blame", {"path": "cake.py", "lines": "last"}),
        ("blame", {"path": "cake.py", "lines": "9-3"}),
        ("blame", {"path": "/etc/passwd", "lines": "1"}),
        ("usage", {"by": "cook"}),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(tool: str, arguments: dict[str, Any], tmp_path: Path) -> None:
    with service(tmp_path) as opened, pytest.raises(BadArguments) as refused:
        opened.call(tool, arguments)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("query", ["", " ", "\0", "\ud800", "((((", '"' * 1999, "-" * 2000, "title:"])
def test_odd_queries_get_an_answer_or_a_reason(query: str, tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        try:
            opened.call("search", {"query": query})
        except BadArguments:
            assert query in {"", "\ud800"}


def test_unknown_conversations_and_messages(tmp_path: Path) -> None:
    with service(tmp_path) as opened:
        for name in ("nobody", "\0", "%", "claude-code:"):
            with pytest.raises(NoSuchConversation):
                ask(opened, "read", conversation=name)
        with pytest.raises(NoSuchMessage):
            ask(opened, "read", conversation="stew", message="nobody")
        assert [] == ask(opened, "read", conversation="stew", cursor="999.999")["messages"]
        assert [] == ask(opened, "blame", path="nothing\0.py")["edits"]
        assert (
            ""
            == ask(opened, "read", conversation="stew", message="s4", offset=1 << 40)["messages"][0]["text"]
        )


def test_a_journal_may_appear_later(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    with service(tmp_path) as opened:
        with pytest.raises(NoArchive):
            ask(opened, "list")
        import_into(tmp_path / "journal", *conversations())
        assert 2 == ask(opened, "list")["total"]


def test_an_agent_in_a_loop_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "_MAX_CALLS_PER_MINUTE", 3)
    with service(tmp_path) as opened:
        for _ in range(3):
            ask(opened, "list")
        with pytest.raises(TooManyCalls):
            ask(opened, "list")
