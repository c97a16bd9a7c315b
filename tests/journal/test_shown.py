"""What people read of a conversation is everything, in the order in which the renderer shows it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_journal import config
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.store import Filter
from agent_journal.errors import NoSuchMessage
from agent_journal.journal import Journal, demo, import_files
from agent_journal.rendering.turns import split_sections

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    home = tmp_path_factory.mktemp("shown") / "journal"
    demo.fill(home)
    settings = config.load(home, {})
    candidates = [ImportCandidate(path=os.fspath(EXAMPLES))]
    import_files(settings, candidates, lambda _result: None)
    return Journal(settings)


def test_every_entry_is_shown_once(journal: Journal) -> None:
    for listed in journal.conversations(Filter(with_children=True)):
        sections = split_sections(journal.get(listed))
        shown = journal.shown(listed)
        pages = [journal.shown_entries(listed, number, 0, 10_000) for number in range(len(shown.parts))]

        assert [section.kind for section in sections] == [part.kind for part in shown.parts]
        assert [section.after and section.after.id for section in sections] == [
            part.after for part in shown.parts
        ]
        assert [[entry.id for entry in section.entries] for section in sections] == [
            [entry.id for entry in page.entries] for page in pages
        ]


def test_entries_are_found_by_their_id(journal: Journal) -> None:
    for listed in journal.conversations():
        shown = journal.shown(listed)
        for entry in journal.get(listed).timeline:
            part, position = shown.locate(entry.id)
            assert [entry.id] == [
                each.id for each in journal.shown_entries(listed, part, position, 1).entries
            ]


def test_what_does_not_exist_is_an_error(journal: Journal) -> None:
    listed = journal.conversations()[0]
    with pytest.raises(NoSuchMessage):
        journal.shown(listed).locate("none")
    with pytest.raises(NoSuchMessage):
        journal.shown_entries(listed, 99, 0, 1)
    assert [] == journal.shown_entries(listed, 0, 10_000, 5).entries
