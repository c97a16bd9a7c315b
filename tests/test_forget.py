"""Forgetting: what a person names, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal import archive, journal, writers
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.cli import forget
from agent_journal.config import Config, defaults
from agent_journal.conversion.output import new_run
from agent_journal.journal import query_log
from agent_journal.notes import Notes
from tests.archive.journals import ALL, minute, said, talk


def imported(config: Config, id_: str) -> None:
    file = config.home.parent / f"{id_}.jsonl"
    with file.open("wb") as out:
        writers.get("json").write([talk(id_, said(f"{id_}1", f"words of {id_}"))], out, new_run(Notes()))
    journal.import_files(config, [ImportCandidate(str(file))], lambda _: None)


def test_what_came_while_a_person_was_asked_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = defaults(tmp_path / "journal", {})
    monkeypatch.setenv("AJ_HOME", str(config.home))
    imported(config, "kept")
    imported(config, "gone")

    def somebody_else(_: str) -> bool:
        journal.forget(config, lambda opened: [opened.find_conversation("gone").key])
        imported(config, "new")  # whose row has the number of the one that went
        return True

    monkeypatch.setattr(forget, "confirm", somebody_else)
    forget.command.main(["gone"], standalone_mode=False)

    with archive.open_to_read(config.home) as opened:
        assert {"kept", "new"} == {each.id for each in opened.store.conversations(ALL)}


def test_duplicates_go_if_a_person_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = defaults(tmp_path / "journal", {})
    monkeypatch.setenv("AJ_HOME", str(config.home))
    for id_ in "abc":
        file = tmp_path / f"{id_}.jsonl"
        messages = [said(f"{id_}{n}", f"words {n}", minute(n), made_id=True) for n in range(2)]
        with file.open("wb") as out:
            writers.get("json").write([talk(id_, *messages, made_id=True)], out, new_run(Notes()))
        journal.import_files(config, [ImportCandidate(str(file))], lambda _: None)
    questions: list[str] = []

    def says_yes(question: str) -> bool:
        questions.append(question)
        return True

    monkeypatch.setattr(forget, "confirm", says_yes)
    forget.command.main(["b", "--yes"], standalone_mode=False)
    with archive.open_to_read(config.home) as opened:
        assert {"a", "c"} == {each.id for each in opened.store.conversations(ALL)}
    assert [] == questions

    forget.command.main(["a", "--yes", "--with-duplicates"], standalone_mode=False)
    with archive.open_to_read(config.home) as opened:
        assert [] == list(opened.store.conversations(ALL))
    assert ["Permanently delete 2 conversations?"] == questions


def test_with_the_whole_journal_goes_the_log_of_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = defaults(tmp_path / "journal", {})
    monkeypatch.setenv("AJ_HOME", str(config.home))
    logs = [config.home / name for name in (query_log.PREVIOUS_FILE_NAME, query_log.FILE_NAME)]
    imported(config, "a")
    imported(config, "b")
    for log in logs:
        log.write_text("words of a\n", encoding="utf-8")

    forget.command.main(["a", "--yes"], standalone_mode=False)
    assert [True, True] == [log.exists() for log in logs]
    forget.command.main(["--all", "--yes"], standalone_mode=False)
    assert [False, False] == [log.exists() for log in logs]
