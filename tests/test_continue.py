"""`aj continue`: the session is where the tool looks, nothing is overwritten, and the command resumes it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_journal.cli import continue_, restore, show
from agent_journal.cli._run import run as run_verb
from agent_journal.config import defaults
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import CannotWrite
from agent_journal.journal import Journal, continuing
from agent_journal.model import Conversation
from agent_journal.notes import Notes
from agent_journal.writers.dialects.agent_sessions import branch_of
from tests.cases import READERS
from tests.test_agent_sessions import spoken, talk

CHATS = READERS / "chatgpt/tool_calls/conversations.json"
SESSION = "5d0c8f1e-7a52-4c3b-9e61-2f4a8b7c9d10"
TOOLS = continuing.tools()
each_tool = pytest.mark.parametrize("tool", TOOLS)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which a person is; the home folder is next to it."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "user"))
    for tool in TOOLS:
        for home in continuing.tool_called(tool).INFO.homes:
            monkeypatch.delenv(home.strip("%"), raising=False)
    monkeypatch.setenv("AJ_HOME", str(tmp_path / "journal"))
    folder = tmp_path / "tides"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with Journal(defaults(tmp_path / "journal", {}), must_exist=False) as journal:
        journal.import_([str(CHATS)])
    return folder


def opened(project: Path) -> Journal:
    return Journal(defaults(project.parent / "journal", {}))


def first_id(project: Path) -> str:
    with opened(project) as journal:
        return journal.conversations()[0].id


def session_in(out: str) -> dict[str, Any]:
    session: dict[str, Any] = json.loads(out)
    return session


@each_tool
def test_the_session_has_all_turns_and_is_of_this_project(
    tool: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_ = first_id(project)
    assert continue_.command.main([id_, "--in", tool, "--json"], standalone_mode=False) == 0
    session = session_in(capsys.readouterr().out)

    with opened(project) as journal:
        original = journal.get(id_, exact=True)
    [written] = [each for each in read_all(session["files"], Notes()) if isinstance(each, Conversation)]
    assert (written.id, written.cwd, written.source) == (session["id"], str(project), tool)
    assert spoken(branch_of(original, "")) == spoken(branch_of(written, ""))
    assert session["id"] in session["command"]
    assert all(Path(each).is_relative_to(project.parent / "user") for each in session["files"])
    assert all(stat.S_IMODE(os.stat(each).st_mode) == 0o600 for each in session["files"])  # noqa: PTH116


@each_tool
def test_twice_is_once_and_what_was_continued_stays(
    tool: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_ = first_id(project)
    sessions = []
    for _ in range(2):
        continue_.command.main([id_, "--in", tool, "--json"], standalone_mode=False)
        sessions.append(session_in(capsys.readouterr().out))
    assert sessions[0]["files"][0] == sessions[1]["files"][0]
    assert (sessions[0]["is_new"], sessions[1]["is_new"]) == (True, False)

    file = Path(sessions[0]["files"][0])
    file.write_bytes(file.read_bytes() + b"{}\n")
    before = file.read_bytes()
    continue_.command.main([id_, "--in", tool, "--json"], standalone_mode=False)
    again = session_in(capsys.readouterr().out)

    assert again["is_new"]
    assert again["id"] != sessions[0]["id"]
    assert file.read_bytes() == before


@each_tool
def test_below_a_folder_the_command_names_it(
    tool: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = project.parent / "elsewhere"
    arguments = [first_id(project), "--in", tool, "-o", str(target), "--json"]
    continue_.command.main(arguments, standalone_mode=False)
    session = session_in(capsys.readouterr().out)

    assert all(Path(each).is_relative_to(target) for each in session["files"])
    assert f"={target} " in session["command"]
    assert not (project.parent / "user").exists()


@each_tool
@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_with_run_the_tool_is_started_in_the_folder(
    tool: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = project.parent / "bin"
    programs.mkdir()
    program = programs / continuing.resume_command(tool).split()[0]
    program.write_text('#!/bin/sh\necho "$PWD $@" > "$PWD/called"\nexit 7\n', encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    code = continue_.command.main([first_id(project), "--in", tool, "--run"], standalone_mode=False)

    assert code == 7
    called = (project / "called").read_text(encoding="utf-8")
    assert called.startswith(f"{project} ")
    assert first_id(project) in called


@each_tool
def test_a_tool_that_is_not_installed_gets_no_file(
    tool: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(project))

    assert continue_.command.main([first_id(project), "--in", tool, "--run"], standalone_mode=False) == 1
    assert "not installed" in capsys.readouterr().err
    assert not (project.parent / "user").exists()


@each_tool
def test_what_cannot_be_continued_is_reported_before_anything_is_written(tool: str, tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="without messages"):
        continuing.write_session(
            talk(timeline=[]), [], tool, project="/p", folder=str(tmp_path), environ={}, notes=Notes()
        )
    assert [] == [*tmp_path.iterdir()]


@each_tool
def test_if_one_file_cannot_be_written_none_stays(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_conversation: object, *_: object, **__: object) -> dict[str, bytes]:
        return {"one": b"1", "two/three": b"2", "one/four": b"3"}

    monkeypatch.setattr(continuing, "_files", fails)
    with pytest.raises(CannotWrite):
        continuing.write_session(
            talk(), [], tool, project="/p", folder=str(tmp_path), environ={}, notes=Notes()
        )
    assert [] == [each for each in tmp_path.rglob("*") if each.is_file()]


def test_an_unknown_tool_is_wrong_usage(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb("continue", [first_id(project), "--in", "vim"]) == 2
    assert all(tool in capsys.readouterr().err for tool in TOOLS[:1])


def test_resume_offers_to_restore_what_is_gone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = project.parent / "user/.claude/projects/-home-ana-app"
    shutil.copytree(READERS / "claude-code/project_folder/input", home)
    with opened(project) as journal:
        journal.sync()
    show.command.main([SESSION, "--resume"], standalone_mode=False)
    assert capsys.readouterr().err == ""
    shutil.rmtree(home)

    show.command.main([SESSION, "--resume"], standalone_mode=False)
    offered = capsys.readouterr()
    assert f"aj restore claude-code:{SESSION}" in offered.err
    assert f"claude --resume {SESSION}" in offered.out
    restore.command.main([f"claude-code:{SESSION}"], standalone_mode=False)
    capsys.readouterr()
    show.command.main([SESSION, "--resume"], standalone_mode=False)
    assert capsys.readouterr().err == ""


def test_a_session_of_the_tool_itself_moves_to_another_project_with_its_subagents(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = project.parent / "user/.claude/projects/-home-ana-app"
    shutil.copytree(READERS / "claude-code/project_folder/input", home)
    with opened(project) as journal:
        journal.sync()
        before = {each.id for each in journal.conversations()}
        subagents = [each.id for each in journal.children(SESSION)]
    continue_.command.main([SESSION, "--in", "claude-code", "--json"], standalone_mode=False)
    session = session_in(capsys.readouterr().out)
    with opened(project) as journal:
        journal.sync()

        assert len(session["files"]) >= 1 + len(subagents)
        assert before == {each.id for each in journal.conversations()}


def test_a_project_keeps_the_folder_that_the_app_has_given_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = project.parent / "user/.gemini/tmp/tides"
    known.mkdir(parents=True)
    (known / ".project_root").write_text(str(project), encoding="utf-8")
    continue_.command.main([first_id(project), "--in", "gemini-cli", "--json"], standalone_mode=False)
    session = session_in(capsys.readouterr().out)

    assert all(Path(each).is_relative_to(known / "chats") for each in session["files"])
    assert [each.name for each in known.parent.iterdir()] == ["tides"]
