"""What was imported is what the reader gave, from the rows as well as again from the vault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_journal.archive import worker
from agent_journal.archive.candidates import ImportCandidate, stat_of
from agent_journal.archive.checking import problems
from agent_journal.archive.importing import Importer
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import AgentJournalError
from agent_journal.model import Conversation, Item, Memory
from agent_journal.notes import Notes
from tests.archive.journals import NOW, bare, everything, imported, journal, read_again, state
from tests.cases import Case, all_cases

CASES = all_cases()


def placed(case: Case, scratch: Path) -> Path:
    """The input of a case where it can be deleted; others may look for what lies beside it."""
    location = case.location(scratch)
    target = scratch / "home" / location.name
    if location.is_dir():
        shutil.copytree(location, target)
    else:
        target.parent.mkdir()
        shutil.copy2(location, target)
    return target


def read(location: Path) -> list[Item]:
    try:
        return list(read_all([str(location)], Notes()))
    except AgentJournalError:
        return []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_case_is_preserved_as_it_was_read(case: Case, tmp_path: Path) -> None:
    location = placed(case, tmp_path)
    items = read(location)
    expected = [bare(item) for item in items if isinstance(item, Conversation)]
    with journal(tmp_path / "journal") as archive:
        imported(archive, location)
        got = everything(archive.store)
        # An export may hold one conversation twice.
        if len({(each.source, each.id) for each in expected}) == len(expected):
            assert sorted(expected, key=lambda each: (each.source, each.id)) == got
        assert {item.id for item in items if isinstance(item, Memory)} == {
            memory.id for memory in archive.store.memories()
        }
        assert [] == list(archive.store.problems())
        before = state(archive.store)

        assert 0 == imported(archive, location).added
        assert before == state(archive.store)
        assert 0 == read_again(archive).added
        assert before == state(archive.store)

        shutil.rmtree(tmp_path / "home")
        assert 0 == read_again(archive).added
        assert before == state(archive.store)
        assert [] == list(archive.store.problems())


def test_another_process_gives_the_same(tmp_path: Path) -> None:
    """Of every case that is one file; what another process cannot tell is left to the first."""
    files = []
    for number, case in enumerate(CASES):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        location = case.location(scratch)
        if location.is_file():
            files.append(ImportCandidate(str(location), stat=stat_of(str(location))))
    with journal(tmp_path / "here") as archive:
        imported(archive, *(each.path for each in files))
        expected = state(archive.store)
    with (
        journal(tmp_path / "there") as archive,
        Importer(archive, NOW, lambda _: None, lambda _: None) as importer,
    ):
        for found, prepared in worker.prepare(files, NOW):
            assert prepared is not None, found
            importer.take_prepared(prepared)
        importer.flush()

        assert len(files) > 50
        assert expected == state(archive.store)
        assert [] == list(problems(archive, deep=True))
