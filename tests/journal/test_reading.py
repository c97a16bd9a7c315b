"""Who reads a journal leaves it as it is, whatever is missing in it or damaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_journal import config as configs
from agent_journal.archive import DATABASE
from agent_journal.config import Config
from agent_journal.journal import Journal, demo
from tests.journal.conversations import conversation, import_into, message, text

READS: dict[str, Callable[[Journal], object]] = {
    "search by words": lambda journal: journal.search("tide", mode="lexical"),
    "search by meaning": lambda journal: journal.search("walking over the seabed", mode="semantic"),
    "search by both": lambda journal: journal.search("is the tide table late", mode="hybrid", context=1),
    "list": lambda journal: journal.list(),
    "get": lambda journal: [journal.get(each, media=True) for each in journal.conversations()],
    "get exactly": lambda journal: [journal.get(each, exact=True) for each in journal.conversations()],
    "messages": lambda journal: [journal.messages(each) for each in journal.conversations()],
    "children": lambda journal: [journal.children(each) for each in journal.conversations()],
    "usage": lambda journal: journal.usage("model", estimate=True),
    "memories": lambda journal: journal.memories(),
    "blame": lambda journal: journal.blame("tides.py"),
    "status": lambda journal: journal.status(),
    "inventory": lambda journal: journal.inventory(),
    "doctor": lambda journal: journal.doctor(),
}

PRICES = "prices-kept.json"  # parsed once for all


def complete(_: Config) -> None:
    """Nothing is missing."""


def without_vectors(config: Config) -> None:
    shutil.rmtree(config.home / "index.vectors")


def without_index(config: Config) -> None:
    shutil.rmtree(config.storage.index_path)


def with_damaged_index(config: Config) -> None:
    (config.storage.index_path / "meta.json").write_bytes(b"{")


def with_damaged_vectors(config: Config) -> None:
    (path,) = (config.home / "index.vectors").glob("*.rows")
    path.write_bytes(path.read_bytes()[:100])


def with_entries_that_index_and_vectors_lack(config: Config) -> None:
    folders = {
        folder: config.home / f"{folder.name}-before"
        for folder in (config.storage.index_path, config.home / "index.vectors")
    }
    for folder, before in folders.items():
        shutil.copytree(folder, before)
    late = message("late", "user", "2026-10-30T10:00:00Z", text("The tide is a little late."))
    import_into(config.home, conversation("new", late))
    for folder, before in folders.items():
        shutil.rmtree(folder)
        before.rename(folder)


STATES = (
    complete,
    without_vectors,
    without_index,
    with_damaged_index,
    with_damaged_vectors,
    with_entries_that_index_and_vectors_lack,
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return demo.fill(tmp_path_factory.mktemp("filled") / "home")


def files_in(home: Path) -> dict[str, tuple[int, int]]:
    """The size and time of each file, except for those of an open database and the copy of prices."""
    return {
        str(path.relative_to(home)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file() and not path.name.startswith((f"{DATABASE}-", PRICES))
    }


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_reading_changes_no_file(
    state: Callable[[Config], None], filled: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    shutil.copytree(filled.home, tmp_path / "home")
    config = configs.load(tmp_path / "home", {})
    state(config)
    before = files_in(config.home)

    with Journal(config) as journal:
        for name, read in READS.items():
            read(journal)
            assert before == files_in(config.home), name
    assert before == files_in(config.home)


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        (complete, ("", 0, 0)),
        (without_vectors, ("", 0, 25)),
        (with_entries_that_index_and_vectors_lack, ("", 1, 1)),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_a_search_says_what_is_missing(
    state: Callable[[Config], None], missing: tuple[str, int, int], filled: Config, tmp_path: Path
) -> None:
    shutil.copytree(filled.home, tmp_path / "home")
    config = configs.load(tmp_path / "home", {})
    state(config)

    with Journal(config) as journal:
        answer = journal.search("tide", mode="hybrid")

    values = answer.to_dict()
    assert missing == (answer.problem, answer.unindexed_count, answer.unembedded_count)
    assert missing == tuple(values[name] for name in ("problem", "unindexed_count", "unembedded_count"))
    assert bool(answer.unembedded_count) == bool(answer.semantic_problem)


def test_an_index_of_another_version_is_no_damage_and_a_sync_rebuilds_it(
    filled: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    shutil.copytree(filled.home, tmp_path / "home")
    config = configs.load(tmp_path / "home", {})
    about = config.storage.index_path / "about.json"
    about.write_bytes(about.read_bytes().replace(b'"layout":', b'"layout":9'))

    with Journal(config) as journal:
        report = journal.check()
        assert ([], True) == (report.problems, "'aj sync' rebuilds it" in report.outdated)
        assert "another version" in journal.search("tide").problem
        journal.sync()
        assert "" == journal.search("tide").problem
        assert "" == journal.check().outdated
