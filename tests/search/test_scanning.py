"""With an index and without one, the same is found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal.search.entry import Entry
from agent_journal.search.lexical import Index
from agent_journal.search.query import Query, parse
from agent_journal.search.scanning import Scan

SOURCES = ("claude", "claude-code", "codex")
BRANCHES = ("main", "main-2", "fix/Main")
TOOLS = ("Bash", "shell", "bash_output", "Read")
WORDS = (
    *("lantern", "Lanterns", "lit", "LIT", "the", "a", "moon", "moonlight", "42", "v2.1", "wick-end"),
    *("parseHttpHeader", "parse_http_header", "HTTPServer", "base64Encoder", "user_account", "useraccount"),
    *("src/http/header.py:12", "header.py", "C:\\temp\\new", "http://host/a", "std::vector", "-x", "a_"),
    *("café", "cafe\u0301", "Ärger", "straße", "STRASSE", "İstanbul", "истина", "йод", "ёлка", "ΣΊΣΥΦΟΣ"),
    *("東京", "東京大学", "京", "データベース", "カ\u3099", "ภาษาไทย", "한국어", "中文abc"),
    *("e\u0301", "\u200b", "👍", "x\u0301y", "\x1b[31mred\x1b[0m", "don't", "don’t", "O'Neil", "ß", "ǅ"),
    *("wick\u00adend", "ﷺ", "ﬁn", "①", "²", "Z" * 80, "fishhooks"),
)
GAPS = (" ", " ", " ", "\n", ", ", ". ", "_", "-", "", "/", "\t", " (", ") ", "'", '"', "\u00a0", "…")


def text_of(chance: Random, most: int = 8) -> str:
    return "".join(chance.choice(WORDS) + chance.choice(GAPS) for _ in range(chance.randrange(most)))


def entry_of(chance: Random, key: int) -> Entry:
    tools = tuple(chance.sample(TOOLS, chance.choice((0, 0, 1, 2))))
    role = chance.choice(("user", "assistant", "tool", ""))
    text, thinking, tool, output, attached, title = (
        text_of(chance) if chance.random() < share else "" for share in (0.9, 0.3, 0.3, 0.3, 0.1, 0.2)
    )
    return Entry(
        key,
        chance.randrange(1, 4),
        role,
        chance.choice(SOURCES),
        chance.choice(("", "/home/ana/Tides", "/home/ana/lamps")),
        chance.choice(("", "gull-4", "Gull-4-mini")),
        chance.choice((0, 86_400, 86_400 * 40)),
        text,
        thinking,
        tool,
        output,
        attached,
        title,
        branch=chance.choice(("", *BRANCHES)),
        tools=tools,
        has_error=bool(tools) and chance.random() < 0.5,
    )


FILTERS = (
    *("source:claude", "source:CLAUDE-code,codex", "source:cl", "source:cod", "source:nobody"),
    *("project:tides", "project:ana", "model:gull-4", "model:MINI", "role:user", "role:tool,assistant"),
    *("branch:main", "branch:mai", "branch:MAIN-2", "branch:fix", "tool:bash", "tool:shell,read", "tool:ba"),
    *("has:error", "since:1970-01-20", "until:1970-01-20", "in:text", "in:tool", "in:title,thinking"),
    *("in:output", "in:attached"),
)


def term_of(chance: Random) -> str:
    kind = chance.randrange(10)
    word = chance.choice(WORDS)
    if kind == 0:
        return f'"{word} {chance.choice(WORDS)}"'
    if kind == 1:
        return f"{word[: chance.randrange(1, len(word) + 1)]}*"
    if kind == 2:
        return f"{chance.choice(('title', 'text', 'thinking', 'file'))}:{word}"
    if kind == 3:
        return f"{word} OR {chance.choice(WORDS)}"
    return chance.choice(FILTERS) if kind in {4, 5} else word


def query_of(chance: Random) -> str:
    terms = (term_of(chance) for _ in range(chance.choice((1, 1, 2, 2, 3))))
    return " ".join(f"-{term}" if chance.random() < 0.15 else term for term in terms)


def values_in(entries: Iterable[Entry]) -> dict[str, list[str]]:
    return {
        "source": [entry.source for entry in entries],
        "branch": [entry.branch for entry in entries if entry.branch],
        "tools": [tool for entry in entries for tool in entry.tools],
    }


JOURNALS = 8


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[list[Entry], Index]]:
    made = []
    for seed in range(JOURNALS):
        entries = [entry_of(Random(f"{seed} {key}"), key) for key in range(1, 40)]  # noqa: S311 (a test)
        index = Index.open(Path(tmp_path_factory.mktemp("scanned")) / "words")
        index.add(entries)
        index.commit(len(entries))
        made.append((entries, index))
    return made


def difference(entries: list[Entry], index: Index, query: Query) -> tuple[set[int], set[int]]:
    """What only the index finds, and what only a look through the entries does."""
    by_index = {each.key for each in index.search(query, limit=100).entries}
    scan = Scan(lambda: entries, values_in(entries).__getitem__, seconds=60)
    by_rows = {each.key for each in scan.rank(query, 100).entries}
    return by_index - by_rows, by_rows - by_index


@given(seed=st.integers(0, 10**9))
@settings(deadline=None)
def test_index_and_rows_find_the_same(journals: list[tuple[list[Entry], Index]], seed: int) -> None:
    chance = Random(seed)  # noqa: S311 (a test)
    text = query_of(chance)
    entries, index = journals[seed % JOURNALS]
    assert (set(), set()) == difference(entries, index, parse(text)), text
