"""Open a journal from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import agent_journal
from agent_journal import NoArchive

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_journal_must_exist(tmp_path: Path) -> None:
    with pytest.raises(NoArchive):
        agent_journal.open_journal(tmp_path / "home")

    assert not (tmp_path / "home").exists()


def test_the_first_import_creates_it(tmp_path: Path) -> None:
    with agent_journal.open_journal(tmp_path / "home", create=True) as journal:
        assert not journal.exists
        totals = journal.import_([EXAMPLES])
        assert (5, 34) == (totals.conversations, totals.new_messages)
        assert not journal.search("recipes").semantic_problem
        assert 0 == journal.import_([EXAMPLES]).new_messages


def test_journals_of_two_folders_can_be_open_at_once(tmp_path: Path) -> None:
    with (
        agent_journal.open_journal(tmp_path / "one", create=True) as one,
        agent_journal.open_journal(tmp_path / "two", create=True) as two,
    ):
        one.import_([EXAMPLES / "chatgpt"])
        two.import_([EXAMPLES])
        assert {"chatgpt"} == {each.source for each in one.conversations()}
        assert {"chatgpt"} < {each.source for each in two.conversations()}
