"""Names of the library and of the plugin interface that were replaced still work."""

from __future__ import annotations

from agent_journal import Kind, Notes
from agent_journal.journal.search import Answer


def test_notes_have_their_old_name() -> None:
    notes = Notes("tea.json")
    notes(Kind.BAD_RECORD, 3, "cut off")

    assert ["tea.json line 3: bad-record: cut off"] == [str(note) for note in notes.kept]


def test_an_answer_has_the_old_name_of_its_count() -> None:
    assert Answer([], is_whole=False, unindexed_count=3).behind == 3
