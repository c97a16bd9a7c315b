"""`aj restore`: the original bytes come back, nothing is overwritten, and what cannot come back says why."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from agent_journal.archive.restoring import relative_path
from agent_journal.cli import restore as command
from agent_journal.config import Config, defaults
from agent_journal.journal import Journal, RestoredFile, Result
from tests.cases import READERS

SESSION = "5d0c8f1e-7a52-4c3b-9e61-2f4a8b7c9d10"
PROJECT = Path(".claude/projects/-home-ana-tides")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("AJ_HOME", str(tmp_path / "journal"))
    return folder


@pytest.fixture
def config(home: Path) -> Config:
    return defaults(home.parent / "journal", {})


def put_project(home: Path) -> dict[str, bytes]:
    shutil.copytree(READERS / "claude-code/project_folder/input", home / PROJECT)
    for file in (home / PROJECT).rglob("*"):
        if file.is_file():
            os.utime(file, (1_750_000_000, 1_750_000_000))
    return content(home)


def content(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in files}


def sync(config: Config) -> int:
    results: list[Result] = []
    with Journal(config, must_exist=False) as journal:
        journal.sync(on_result=results.append)
    return sum(each.new_messages for each in results)


def restore(config: Config, *names: str, folder: Path | None = None) -> list[RestoredFile]:
    with Journal(config) as journal:
        return journal.restore(names, folder)


def test_what_was_deleted_comes_back_and_is_not_new(home: Path, config: Config) -> None:
    before = put_project(home)
    assert sync(config) > 0
    with Journal(config) as journal:
        counts = journal.count()
    shutil.rmtree(home / ".claude")
    assert sync(config) == 0

    files = restore(config, SESSION)

    assert content(home) == before
    assert {each.state for each in files} == {"restored"}
    assert (home / PROJECT / f"{SESSION}.jsonl").stat().st_mtime == 1_750_000_000
    assert sync(config) == 0
    with Journal(config) as journal:
        assert journal.count() == counts
        assert not any(each.source_missing for each in journal.conversations())


def test_below_a_folder_paths_stay_and_several_calls_share_it(home: Path, config: Config) -> None:
    before = put_project(home)
    sync(config)
    target = home.parent / "target"

    with Journal(config) as journal:
        subagent = journal.children(SESSION)[0].id
    restore(config, subagent, folder=target)
    files = restore(config, SESSION, subagent, folder=target)

    assert content(target) == before
    assert {each.state for each in files} == {"restored", "already there"}


def test_a_different_file_stays_and_the_others_come_back(home: Path, config: Config) -> None:
    before = put_project(home)
    sync(config)
    shutil.rmtree(home / ".claude")
    session = home / PROJECT / f"{SESSION}.jsonl"
    session.parent.mkdir(parents=True)
    session.write_bytes(b"somebody wrote this\n")

    code = command.command.main([SESSION], standalone_mode=False)

    assert code == 3
    assert session.read_bytes() == b"somebody wrote this\n"
    assert content(home) == before | {session.relative_to(home).as_posix(): b"somebody wrote this\n"}


def test_identical_files_are_no_error(home: Path, config: Config) -> None:
    before = put_project(home)
    sync(config)

    assert command.command.main([SESSION], standalone_mode=False) == 0
    assert content(home) == before


def test_a_moved_file_comes_back_once(home: Path, config: Config) -> None:
    before = put_project(home)
    sync(config)
    moved = home / ".claude/projects/-home-ana-moved"
    (home / PROJECT).rename(moved)
    sync(config)
    target = home.parent / "target"

    restore(config, SESSION, folder=target)

    sessions = [path for path in content(target) if path.endswith(f"{SESSION}.jsonl")]
    assert sessions == [f".claude/projects/-home-ana-moved/{SESSION}.jsonl"]
    assert content(target)[sessions[0]] == before[f"{PROJECT.as_posix()}/{SESSION}.jsonl"]


def test_of_a_zip_only_the_content_comes_back_below_a_folder(home: Path, config: Config) -> None:
    before = put_project(home)
    packed = shutil.make_archive(str(home.parent / "sessions"), "zip", home / PROJECT.parent)
    with Journal(config, must_exist=False) as journal:
        journal.import_([packed])
    Path(packed).unlink()
    target = home.parent / "target"

    assert {each.state for each in restore(config, SESSION)} == {"not restorable"}
    restore(config, SESSION, folder=target)

    assert sorted(content(target).values()) == sorted(before.values())
    assert not Path(packed).exists()


def test_a_compressed_file_comes_back_unpacked_below_a_folder(home: Path, config: Config) -> None:
    data = (READERS / f"claude-code/project_folder/input/{SESSION}.jsonl").read_bytes()
    packed = home / f"{SESSION}.jsonl.gz"
    packed.write_bytes(gzip.compress(data))
    with Journal(config, must_exist=False) as journal:
        journal.import_([packed])
    target = home.parent / "target"

    [refused] = restore(config, SESSION)
    [written] = restore(config, SESSION, folder=target)

    assert refused.state == "not restorable"
    assert "zip or a compressed file" in refused.reason
    assert written.path == str(target / f"{SESSION}.jsonl")
    assert content(target) == {f"{SESSION}.jsonl": data}


def test_a_database_is_not_restorable_and_says_so(
    home: Path, config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / ".local/share/opencode"
    folder.mkdir(parents=True)
    [script] = (READERS / "opencode/database").glob("*.sql")
    database = sqlite3.connect(folder / script.stem)
    database.executescript(script.read_text(encoding="utf-8"))
    database.close()
    sync(config)
    with Journal(config) as journal:
        id_ = journal.conversations()[0].id

    code = command.command.main([id_], standalone_mode=False)

    assert code == 1
    assert "it is a database" in capsys.readouterr().err


def test_damage_is_reported_and_leaves_no_file(
    home: Path, config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    put_project(home)
    sync(config)
    shutil.rmtree(home / ".claude")
    for pack in (config.home / "vault").glob("*.pack"):
        pack.write_bytes(bytes(pack.stat().st_size))

    code = command.command.main([SESSION, "--json"], standalone_mode=False)

    assert code == 1
    assert content(home) == {}
    *files, total = map(json.loads, capsys.readouterr().out.splitlines())
    assert all("'aj repair'" in each["reason"] for each in files)
    assert total["restored"] == 0


def test_after_a_forget_the_original_is_gone(home: Path, config: Config) -> None:
    """The list of prompts has those of two sessions; without one of them it is no longer the original."""
    prompts = home / ".claude/history.jsonl"
    prompts.parent.mkdir()
    shutil.copy(READERS / "claude-code/prompts_of_sessions/history.jsonl", prompts)
    sync(config)
    with Journal(config) as journal:
        first, second, *_ = journal.conversations()
        journal.forget(journal.plan_forget([first.id]))

    [file] = restore(config, second.id, folder=home.parent / "target")

    assert file.state == "not restorable"
    assert "'aj forget'" in file.reason


@pytest.mark.skipif(os.name == "nt", reason="paths differ")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/user/home/.claude/a.jsonl", ".claude/a.jsonl"),
        ("/user/homes/a.jsonl", "user/homes/a.jsonl"),
        ("/var/x/../../etc/a", "var/x/etc/a"),
        ("standard input", "standard input"),
    ],
)
def test_a_path_below_a_folder_cannot_leave_it(
    path: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/user/home")
    assert relative_path(path) == expected
