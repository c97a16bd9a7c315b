"""How many messages match, by their filter values."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from agent_journal.search.entry import Entry
from agent_journal.search.facets import FacetValue
from agent_journal.search.lexical import Index
from agent_journal.search.query import Filters, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


ENTRIES = [
    Entry(1, 1, "user", "tea", "/home/ana/tides", "", at("2026-10-31T23:59:59"), "why is the tide so high"),
    Entry(2, 1, "assistant", "tea", "/home/ana/tides", "gull-4", at("2026-11-01"), "moon and high water"),
    Entry(3, 1, "tool", "tea", "/home/ana/tides", "", 0, output="tide table", tools=("Bash", "shell")),
    Entry(
        *(4, 2, "tool", "rum: dark", "/home/ana/ships", "", at("2026-12-31T12:00"), "tide"),
        tools=("Bash", "shell"),
        has_error=True,
        branch="fix/mast",
    ),
    Entry(5, 3, "user", "rum: dark", "", "", -(2**61), "high noon"),
]


@pytest.fixture(params=[1, 3])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An index of one or several segments."""
    with Index.open(tmp_path / "index") as index:
        for start in range(0, len(ENTRIES), request.param):
            index.add(ENTRIES[start : start + request.param])
            index.commit(start + request.param)
        yield index


def test_each_value_with_its_number_of_messages(index: Index) -> None:
    facets = index.facets(parse("tide"))

    assert (3, 1, True) == (facets.total, facets.error_count, facets.has_all_words)
    assert {
        "source": [("tea", 2), ("rum: dark", 1)],
        "project": [("/home/ana/tides", 2), ("/home/ana/ships", 1)],
        "model": [],
        "role": [("tool", 2), ("user", 1)],
        "tool": [("Bash", 2), ("shell", 2)],
        "branch": [("fix/mast", 1)],
        "month": [("2026-10", 1), ("2026-12", 1)],
    } == facets.values


@pytest.mark.parametrize("query", ["", "tide", "high", "source:tea", "-tide", "high -noon", "since:2026-11"])
def test_the_counts_are_those_of_all_hits(index: Index, query: str) -> None:
    parsed = parse(query, now=time.time())
    keys = set(index.matching_keys(parsed, 99))
    hits = [each for each in ENTRIES if each.key in keys]
    facets = index.facets(parsed)

    assert len(hits) == facets.total > 0
    assert Counter(each.role for each in hits) == dict(facets.values["role"])
    assert Counter(each.source for each in hits) == dict(facets.values["source"])
    assert Counter(tool for each in hits for tool in each.tools) == dict(facets.values["tool"])


def test_if_nothing_has_all_words_some_are_enough(index: Index) -> None:
    facets = index.facets(parse("why is the moon blue"))

    assert (False, 1, [FacetValue("assistant", 1)]) == (
        facets.has_all_words,
        facets.total,
        facets.values["role"],
    )
    assert 0 == index.facets(parse("moon zebra")._replace(strict=True)).total
    assert 0 == index.facets(parse('moon "no such"')).total
    assert 0 == index.facets(parse("zebra")).total
    assert 0 == index.facets(parse("moon zebra", Filters(roles=("tool",)))).total


def test_only_some_entries_count(index: Index) -> None:
    assert [("tea", 1)] == index.facets(parse("tide"), [1, 2]).values["source"]
    assert 0 == index.facets(parse("tide"), []).total


def test_an_empty_index_has_none(tmp_path: Path) -> None:
    with Index.open(tmp_path / "empty") as index:
        facets = index.facets(parse(""))

    assert (0, 0, True) == (facets.total, facets.error_count, facets.has_all_words)
    assert not any(facets.values.values())
