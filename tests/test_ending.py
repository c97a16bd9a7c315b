"""Told to end: however unlucky the moment, a process ends, and its code says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from agent_journal import archive
from agent_journal.cli._run import run
from agent_journal.config import load
from agent_journal.journal.watch import Watcher
from agent_journal.readers import claude_code
from tests.archive.test_vault import NAME, lines

# The signal arrives while a generator is thrown away: Python forgets what is raised there.
UNLUCKY = """
import os, signal, sys, time, types
import click
from agent_journal.cli import _run

def unlucky():
    try:
        yield
    finally:
        os.kill(os.getpid(), signal.{signal})
        for _ in range(1_000):
            pass

@click.command()
def command():
    for _ in unlucky():
        break
    time.sleep(30)

module = types.ModuleType("agent_journal.cli.unlucky")
module.command = command
sys.modules[module.__name__] = module
sys.exit(_run.run("unlucky", []))
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_at_an_unlucky_moment_is_not_lost(name: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNLUCKY.format(signal=name)], capture_output=True, check=False, timeout=25
    )

    assert code == done.returncode, done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_signal_is_not_lost_if_the_machine_is_too_busy_to_raise_it_in_time() -> None:
    code = UNLUCKY.format(signal="SIGTERM").replace(
        "sys.exit(", "setitimer = signal.setitimer\n"
        "def slow(*arguments):\n"
        "    signal.setitimer = setitimer\n"
        "    setitimer(*arguments)\n"
        "    time.sleep(0.2)  # called by the hook, so that the alarm arrives in it\n"
        "signal.setitimer = slow\n"
        "sys.exit("
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=25)

    assert 143 == done.returncode, done.stderr.decode()


def test_an_interrupted_import_is_reported_once() -> None:
    code = (
        "import sys, types\n"
        "import click\n"
        "from agent_journal.cli import _importing, _run\n"
        "module = sys.modules['agent_journal.cli.slow'] = types.ModuleType('slow')\n"
        "@click.command()\n"
        "def command():\n"
        "    with _importing.Report(as_json=False):\n"
        "        raise KeyboardInterrupt\n"
        "module.command = command\n"
        "sys.exit(_run.run('slow', []))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=25)

    assert 130 == done.returncode
    assert ["aj: Interrupted; 0 files were imported. 'aj sync' continues from there."] == (
        done.stderr.decode().splitlines()
    )


def test_no_thread_listens_when_watching_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude" / "projects" / "p").mkdir(parents=True)
    config = load(tmp_path / "journal", {"HOME": str(tmp_path)})
    watcher = Watcher(config, [claude_code.INFO], lambda _: None, lambda _: None)
    before = threading.active_count()
    running = threading.Thread(target=watcher.run)
    running.start()
    until = time.monotonic() + 20
    while not watcher._listening and time.monotonic() < until:
        time.sleep(0.02)
    watcher.stop()
    running.join(20)

    assert not running.is_alive()
    assert before == threading.active_count()


def test_what_is_next_to_a_watched_file_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools write logs, locks and settings where they keep their list of prompts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    config = load(tmp_path / "journal", {"HOME": str(tmp_path)})
    told: list[str] = []
    looks: list[float] = []
    watcher = Watcher(config, [claude_code.INFO], lambda result: told.append(result.file), lambda _: None)
    look_at_all = watcher._scan_all

    def look() -> None:
        looks.append(time.monotonic())
        look_at_all()

    monkeypatch.setattr(watcher, "_scan_all", look)
    running = threading.Thread(target=watcher.run)
    running.start()
    _until(lambda: len(looks) == 2)  # at the beginning, and once more when the system has begun to watch

    for name in ("stats-cache.json", "history.jsonl.lock", "history.jsonl"):
        line = {"display": "Tea?", "pastedContents": {}, "timestamp": 1763020800123, "project": "/tea"}
        (tmp_path / ".claude" / name).write_text(json.dumps(line) + "\n")
        time.sleep(0.5)
    _until(lambda: bool(told))
    watcher.stop()
    running.join(20)

    assert [str(tmp_path / ".claude" / "history.jsonl")] == told
    assert 3 == len(looks), "a file that was not known is looked for once"


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert is_so()


def test_who_watches_waits_for_who_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    session = tmp_path / ".claude" / "projects" / "p" / NAME
    session.parent.mkdir(parents=True)
    session.write_text(lines(2))
    config = load(tmp_path / "journal", {"HOME": str(tmp_path)})
    told: list[str] = []
    monkeypatch.setattr("agent_journal.archive.open_to_write", partial(archive.open_to_write, wait=0.1))
    watcher = Watcher(config, [claude_code.INFO], lambda _: watcher.stop(), told.append)
    writing = archive.open_to_write(config.home)
    running = threading.Thread(target=watcher.run)
    running.start()
    time.sleep(0.5)
    still_there = running.is_alive()
    writing.close()
    running.join(20)

    assert still_there, "not ended because somebody else writes for long"
    assert [f"Another aj is writing to {config.home} (process {os.getpid()}); waiting for it to finish."] == [
        each for each in told if "Another" in each
    ]
    with archive.open_to_read(config.home) as kept:
        assert 2 == kept.store.counts().messages


@pytest.mark.skipif(os.name == "nt", reason="a folder that somebody is in cannot be removed there")
@pytest.mark.parametrize("verb", ["sync", "doctor"])
def test_a_folder_that_is_gone_while_one_is_in_it(tmp_path: Path, verb: str) -> None:
    shell = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -m agent_journal {verb}'
    done = subprocess.run(
        ["bash", "-c", shell],  # noqa: S607
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "AJ_HOME": str(tmp_path / "journal")},
        capture_output=True,
        check=False,
        timeout=25,
    )

    assert 0 == done.returncode, done.stderr.decode()


def test_a_deleted_current_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.setenv("AJ_HOME", str(tmp_path / "journal"))
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert run("import", ["x"]) == 1
    assert capsys.readouterr().err == "aj: The current folder no longer exists; change to another one.\n"
