"""Words with a slip of the pen find what was meant, and it is said what that was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent_journal.search.entry import Entry
from agent_journal.search.lexical import Index
from agent_journal.search.query import parse

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [
    "we receive the configuration of the database",
    "the deployment of kubernetes failed",
    "a separate environment",
    "recieve is wrong",
    "receieev",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    index = Index.open(tmp_path_factory.mktemp("spelling") / "words")
    entries = [Entry(key, 1, "", "", "", "", 0, text) for key, text in enumerate(TEXTS, 1)]
    entries += [Entry(key, 1, "", "", "", "", 0, "receive, receiver") for key in range(10, 60)]
    index.add(entries)
    index.commit(59)
    return index


@pytest.mark.parametrize(
    ("typed", "meant", "found"),
    [
        ("databse", "database", 1),  # left out
        ("databbase", "database", 1),  # doubled
        ("dtaabase", "database", 1),  # in another order
        ("databaze", "database", 1),  # mistaken
        ("xatabase", "database", 1),
        ("kubrenets", "kubernetes", 2),  # two of them
        ("enviroment seperate", "environment", 3),
        ("Deploymnet!", "deployment", 2),
    ],
)
def test_a_slip_is_corrected(index: Index, typed: str, meant: str, found: int) -> None:
    query, corrections = index.correct(parse(typed))
    assert meant in corrections[0].meant
    assert query.semantic_text.startswith(meant)
    assert [found] == [each.key for each in index.rank(query, 10).entries]


@pytest.mark.parametrize(
    "typed",
    [
        "database",
        '"databse"',
        "databse*",
        "data",
        "zzzzzzzz",
        "abc1",
        "parse_databse",
        "title:databse",
        "東京",
    ],
)
def test_what_is_no_slip_stays(index: Index, typed: str) -> None:
    assert (parse(typed), []) == index.correct(parse(typed))


@pytest.mark.parametrize("typed", ["createdAt", "OrderBook", "`orderBook`"])
def test_a_name_is_no_slip_where_it_is_written_otherwise(tmp_path: Path, typed: str) -> None:
    index = Index.open(tmp_path / "words")
    texts = ["order by created_at", "the IOrderBook", "it was created then", "a created orderbooks"]
    index.add(Entry(key, 1, "", "", "", "", 0, text) for key, text in enumerate(texts, 1))
    index.commit(4)

    assert (parse(typed), []) == index.correct(parse(typed))


def test_a_slip_in_a_name_is_corrected(tmp_path: Path) -> None:
    index = Index.open(tmp_path / "words")
    index.add([Entry(1, 1, "", "", "", "", 0, "class UserAccount of a user")])
    index.commit(1)

    assert [("UserAcount", ("useraccount",))] == index.correct(parse("UserAcount"))[1]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("4f2a9c0", "4f2a9c0*"),
        ("commit 4F2A9C0", "4F2A9C0*"),
        ("deployments.", None),  # a slip is more likely
        ("Übersetz", "Übersetz*"),
        ("ubersetz the", None),  # beside other words it may be left out
        ("'4f2a9c0'", "'4f2a9c0'*"),
        ('"4f2a9c0"', None),
        ("4f2a9c0e1b7d4f2a", None),
        ("4f2a9", None),
        ("123456", None),
        ("東京都庁舎前", None),
    ],
)
def test_what_nobody_wrote_is_taken_for_a_beginning(tmp_path: Path, typed: str, meant: str | None) -> None:
    index = Index.open(tmp_path / "words")
    texts = ["nothing", "nothing else", "the Übersetzung, a deployment", "1234567", "東京都庁舎前駅"]
    index.add(Entry(key, 1, "", "", "", "", 0, text) for key, text in enumerate(texts, 1))
    index.add([Entry(6, 1, "", "", "", "", 0, output="commit 4f2a9c0e1b7d4f2a")])
    index.commit(6)

    query, corrections = index.correct(parse(typed))

    assert [(meant,)] * bool(meant) == [each.meant for each in corrections if each.meant[0].endswith("*")]
    if meant:
        assert len(index.search(query, limit=9).entries) == 1


@pytest.mark.parametrize("typed", ["recieve", "Recieve", "(RECIEVE),", "receieev"])
def test_what_a_user_wrote_stays(index: Index, typed: str) -> None:
    assert [] == index.correct(parse(typed))[1]


@pytest.mark.parametrize("typed", ["separated", "refused", "why was it received", "databases"])
def test_a_word_of_the_language_is_no_slip(index: Index, typed: str) -> None:
    assert [] == index.correct(parse(typed))[1]


def test_a_word_that_is_spelled_otherwise_elsewhere_is_found(tmp_path: Path) -> None:
    index = Index.open(tmp_path / "words")
    texts = ["the colour of the harbour", "to normalize the center"]
    index.add(Entry(key, 1, "", "", "", "", 0, text) for key, text in enumerate(texts, 1))
    index.commit(2)

    meant = {each.typed: each.meant for each in index.correct(parse("color harbor normalise centre"))[1]}

    assert {
        "color": ("colour",), "harbor": ("harbour",), "normalise": ("normalize",), "centre": ("center",)
    } == meant  # fmt: skip
