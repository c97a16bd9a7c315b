"""Pages of messages and conversations: the same as the whole, in parts, without reading the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from agent_journal import config as configs
from agent_journal import journal as journals
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.config import Config
from agent_journal.conversion import transforms
from agent_journal.errors import NoSuchConversation, NoSuchMessage, NoSuchName
from agent_journal.journal import Journal
from agent_journal.journal.paging import Fork
from agent_journal.model import branches, tree

CASES = Path(__file__).parent.parent / "readers"
MANY_BRANCHES = ("chatgpt", "claude-code", "codex", "opencode", "pi", "json")
PAGE = 7


def said(id_: str, parent: str | None, text: str, minute: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": id_,
        "parent_id": parent,
        "role": "user",
        "at": f"2026-03-01T10:{minute:02}:00Z",
        "parts": [{"type": "text", "text": text}],
        **more,
    }


def answered(id_: str, parent: str | None, text: str, minute: int, **more: Any) -> dict[str, Any]:
    return said(id_, parent, text, minute, role="assistant", **more)


def chat(id_: str, *timeline: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "conversation",
        "id": id_,
        "source": "tea",
        "shape": "tree",
        "timeline": list(timeline),
        **more,
    }


# A question that was asked in two ways, and an answer that was given three times:
#
#     ask ── first ── again ── a1
#         │                 ├─ a2 ── thanks
#         │                 └─ a3
#         └─ other ── o1
#     side (what a subagent was told)
FORKS = chat(
    "forks",
    said("ask", None, "What is\n\nthe tide?", 0),
    answered("first", "ask", "High.", 1),
    answered("other", "ask", "Low.", 2),
    said("again", "first", "  Are you sure?\nReally?", 3),
    answered("a1", "again", "Yes.", 4),
    said("side", None, "Look it up.", 4, sidechain=True),
    answered("side2", "side", "Done.", 4, sidechain=True),
    answered("a2", "again", "No.", 5),
    answered("a3", "again", "Perhaps.", 6),
    said("o1", "other", "Thanks.", 7),
    said("thanks", "a2", "Thank you.", 8),
    said("context", "thanks", "<context>", 9, hidden=True),
    head_id="context",
    title="Tides",
)
PLAIN = chat("plain", *(said(f"m{n}", None, f"Number {n}", n % 60) for n in range(20)), shape="list")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return configs.load(tmp_path / "home", {})


def take(config: Config, path: Path, *chats: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in chats), encoding="utf-8")
    journals.import_files(config, [ImportCandidate(str(path))], lambda _: None)


@pytest.fixture
def journal(config: Config, tmp_path: Path) -> Iterator[Journal]:
    take(config, tmp_path / "chats.jsonl", FORKS, PLAIN)
    with Journal(config) as journal:
        yield journal


def ids(journal: Journal, name: str, **wanted: Any) -> list[str]:
    return [entry.id for entry in journal.messages(name, **wanted).items]


def test_pages_of_the_shown_branch(journal: Journal) -> None:
    shown = ["ask", "first", "again", "a2", "thanks", "context"]
    page = journal.messages("forks", start=2, limit=2)

    assert (6, 2, "head", []) == (page.total, page.start, page.branch, page.damage)
    assert "Tides" == page.conversation.title
    assert shown == ids(journal, "forks")
    assert shown[2:4] == [entry.id for entry in page.items]
    assert [] == ids(journal, "forks", start=6)
    assert [] == ids(journal, "forks", start=2, limit=0)
    assert shown[:1] == ids(journal, "forks", start=-5, limit=1)


def test_other_branches(journal: Journal) -> None:
    assert ["ask", "other", "o1"] == ids(journal, "forks", branch="o1")
    assert ["ask", "first", "again", "a3"] == ids(journal, "forks", branch="a3")
    assert 12 == journal.messages("forks", branch="all").total
    assert ["side", "side2", "a2"] == ids(journal, "forks", branch="all", start=5, limit=3)
    assert ["side", "side2"] == ids(journal, "forks", branch="side2")
    with pytest.raises(NoSuchMessage):
        journal.messages("forks", branch="nobody")


def test_forks_state_the_other_branches(journal: Journal) -> None:
    forks = journal.messages("forks").forks

    assert [
        Fork(position=1, index=0, count=2, branches=["context", "o1"]),
        Fork(position=3, index=1, count=3, branches=["a1", "context", "a3"]),
    ] == forks
    assert forks[1:] == journal.messages("forks", start=2, limit=2).forks
    assert [] == journal.messages("forks", start=4).forks
    other = journal.messages("forks", branch="o1").forks
    assert [Fork(position=1, index=1, count=2, branches=["context", "o1"])] == other
    (end,) = journal.messages("forks", branch="again", start=2).forks
    assert (3, None, 3) == (end.position, end.index, end.count)


def test_a_list_has_one_branch(journal: Journal) -> None:
    assert [f"m{n}" for n in range(5, 8)] == ids(journal, "plain", start=5, limit=3)
    assert 20 == journal.messages("plain").total == journal.messages("plain", branch="all").total
    until = journal.messages("plain", branch="m12", start=10)
    assert (13, ["m10", "m11", "m12"]) == (until.total, [entry.id for entry in until.items])
    with pytest.raises(NoSuchMessage):
        journal.messages("plain", branch="m1x")
    with pytest.raises(NoSuchConversation):
        journal.messages("nobody")


def test_an_outline_has_the_first_lines_of_prompts(journal: Journal) -> None:
    outline = journal.outline("forks")

    assert [(0, "ask", "What is"), (2, "again", "Are you sure?"), (4, "thanks", "Thank you.")] == [
        (each.position, each.id, each.line) for each in outline.prompts
    ]
    assert [(0, "ask"), (2, "o1")] == [
        (each.position, each.id) for each in journal.outline("forks", branch="o1").prompts
    ]
    assert [19, 20] == [journal.outline("plain").prompts[-1].position, journal.outline("plain").total]
    assert 13 == len(journal.outline("plain", branch="m12").prompts)


def test_a_branch_that_grew_is_found_again(journal: Journal, config: Config, tmp_path: Path) -> None:
    assert 6 == journal.messages("forks").total
    more = [*FORKS["timeline"], answered("late", "context", "Welcome.", 10)]
    take(config, tmp_path / "chats.jsonl", {**FORKS, "timeline": more, "head_id": "late"})

    assert ["context", "late"] == ids(journal, "forks", start=5)


def test_pages_convert_themselves_to_json(journal: Journal) -> None:
    page = json.loads(json.dumps(journal.messages("forks", limit=2).to_dict()))
    assert ("message", "ask", "High.") == (
        page["items"][0]["type"], page["items"][0]["id"], page["items"][1]["parts"][0]["text"],
    )  # fmt: skip
    assert [{"position": 1, "index": 0, "count": 2, "branches": ["context", "o1"]}] == page["forks"]
    assert "Tides" == journal.outline("forks").to_dict()["conversation"]["title"]
    assert {"items", "total", "offset"} == journal.list().to_dict().keys()


def test_lists_in_parts(journal: Journal) -> None:
    page = journal.list(sort="title", limit=1)
    assert (["Number 0"], 2, 0) == ([each.title for each in page.items], page.total, page.offset)
    by_messages = journal.list(sort="messages").items
    assert ["plain", "forks"] == [each.id for each in by_messages]
    assert ["forks", "plain"] == [each.id for each in journal.list(sort="messages", descending=False).items]
    assert ["forks"] == [each.id for each in journal.list(sort="messages", offset=1).items]
    assert (2, []) == (journal.list(offset=5).total, journal.list(offset=5).items)
    assert (2, []) == (journal.list(limit=0).total, journal.list(limit=0).items)
    assert [each.id for each in journal.conversations()] == [
        each.id for each in journal.list(limit=None).items
    ]
    with pytest.raises(NoSuchName):
        journal.list(sort="color")  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", MANY_BRANCHES)
def test_pages_are_what_the_whole_has(config: Config, reader: str) -> None:
    """Each branch of each case, read in pages, is what it is if everything is read."""
    inputs = [ImportCandidate(str(path)) for path in sorted((CASES / reader).iterdir()) if path.is_dir()]
    journals.import_files(config, inputs, lambda _: None)
    count = 0
    with Journal(config) as journal:
        for listed in journal.list(limit=None).items:
            whole = journal.get(listed)
            leaves = [leaf.id for leaf in tree.leaves(whole.timeline)][:20]
            unique = len({entry.id for entry in whole.timeline}) == len(whole.timeline)
            for branch in ["head", "all", *(leaves if unique else [])]:
                expected = transforms.branch(whole, branch).timeline
                items: list[tree.Entry] = []
                for start in range(0, len(expected) + 1, PAGE):
                    page = journal.messages(listed, branch=branch, start=start, limit=PAGE)
                    assert (len(expected), []) == (page.total, page.damage)
                    items += page.items
                assert expected == items
                count += 1
            if whole.shape == "tree" and unique:
                others = branches.others(whole, transforms.branch(whole, "head").timeline)
                forks = journal.messages(listed, limit=10**9).forks
                assert sorted(map(len, others.values())) == sorted(
                    fork.count - (fork.index is not None) for fork in forks
                )
    assert count > 5


def test_a_page_of_a_large_conversation_reads_only_that_page(config: Config, tmp_path: Path) -> None:
    count, size = 3_000, 2_000
    for shape in ("list", "tree"):
        timeline = [
            said(f"{shape}{n}", f"{shape}{n - 1}" if n and shape == "tree" else None, f"{n} " + "x" * size, 0)
            for n in range(count)
        ]
        take(config, tmp_path / f"{shape}.jsonl", chat(shape, *timeline, shape=shape))
    with Journal(config) as journal:
        for shape in ("list", "tree"):
            journal.messages(shape, limit=1)  # of a tree, the branch is found once
            with journal._sessions.lend() as session:
                connection: apsw.Connection = session.archive.store._db
            connection.release_memory()
            before = connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0]
            page = journal.messages(shape, start=count // 2, limit=20)
            read = (connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0] - before) * 8192

            assert f"{shape}{count // 2}" == page.items[0].id
            assert read < count * size / 10
