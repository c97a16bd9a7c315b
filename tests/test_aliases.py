"""Names of the library and of the plugin interface that were replaced still work."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import agent_journal
from agent_journal import Kind, Notes, moved
from agent_journal.decoding.fields import Fields
from agent_journal.journal import demo
from agent_journal.journal.answer import Answer

RENAMED = [(path, old, new) for path, names in moved.NAMES.items() for old, new in names.items()]


def test_notes_have_their_old_name() -> None:
    notes = Notes("tea.json")
    notes(Kind.BAD_RECORD, 3, "cut off")

    assert ["tea.json line 3: bad-record: cut off"] == [str(note) for note in notes.kept]


def test_an_answer_has_the_old_name_of_its_count() -> None:
    assert Answer([], is_whole=False, unindexed_count=3).behind == 3


def test_a_journal_can_be_opened_by_the_old_name(tmp_path: Path) -> None:
    demo.fill(tmp_path / "home")
    with (
        pytest.warns(DeprecationWarning, match="open_archive is now open_journal;") as caught,
        agent_journal.open_archive(tmp_path / "home") as journal,
    ):
        assert journal.conversations() == journal.list(limit=None).items

    assert [__file__] == [each.filename for each in caught]


@pytest.mark.parametrize(("path", "old", "new"), RENAMED)
def test_an_old_name_gives_what_the_new_one_does_and_warns(path: str, old: str, new: str) -> None:
    owner: Any = Fields({}, Notes("tea.json"), 1) if path.endswith(".Fields") else None
    owner = owner or import_module(f"agent_journal.{path}")

    with pytest.warns(DeprecationWarning, match=f"agent_journal.{path}.{old} is now {new};") as caught:
        assert getattr(owner, old) == getattr(owner, new)

    assert [__file__] == [each.filename for each in caught]


def test_old_names_can_be_imported() -> None:
    with pytest.warns(DeprecationWarning, match="words is now nonempty_str;") as caught:
        exec("from agent_journal.decoding.fields import words; assert words('tea') == 'tea'")  # noqa: S102

    assert ["<string>"] == [each.filename for each in caught]


@pytest.mark.parametrize("path", moved.NAMES)
def test_a_name_that_never_was_is_an_attribute_error(path: str) -> None:
    owner: Any = Fields({}, Notes("tea.json"), 1) if path.endswith(".Fields") else None

    with pytest.raises(AttributeError, match=f"agent_journal.{path} has no attribute 'kettle'"):
        _ = (owner or import_module(f"agent_journal.{path}")).kettle
