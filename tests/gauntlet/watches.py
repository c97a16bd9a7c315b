"""Watching while agents write."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Thread
from typing import IO

import agent_journal
from tests.gauntlet.corpus import Sessions
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.kills import Writer
from tests.gauntlet.lab import Lab, holds, said

_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")


@contextmanager
def _watching(lab: Lab, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    """A watcher that has begun, and whose words somebody reads: it waits when a pipe is full of them."""
    process = lab.start("watch", **more)
    assert process.stdout is not None
    assert process.stderr is not None
    readers = [Thread(target=_drain, args=(process.stdout,))]
    readers[0].start()
    try:
        while b"watching" not in (line := process.stderr.readline()):
            assert line, process.wait()
        readers.append(Thread(target=_drain, args=(process.stderr,)))
        readers[1].start()
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)
        for each in readers:
            each.join()


def _drain(stream: IO[bytes]) -> None:
    for _ in stream:
        pass


@drill(rounds=10, few=0)
def new_lines(lab: Lab, rounds: int, chance: Random) -> Figures:
    """What an agent writes is in the journal and found soon; the rest of a torn line when it comes."""
    sessions = Sessions(lab.projects)
    sessions.grow(0, 1)
    slowest = 0.0
    with _watching(lab):
        for turn in range(rounds):
            with Writer(sessions, chance):
                time.sleep(1.5)
            sessions.grow(turn, 1)
            began = time.monotonic()
            messages = sum(map(len, sessions.truth.values()))
            while len(list(said(lab))) < messages or lab.index_is_behind():
                assert time.monotonic() - began < 30
                time.sleep(0.05)
            slowest = max(slowest, time.monotonic() - began)
    holds(lab, sessions.truth)
    return {"slowest": f"{slowest:.2f} s"}


@drill(rounds=40_000, few=0)
def many_lines(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Twenty agents at once, in torn lines: all of it is there soon after the last byte, and once."""
    sessions = Sessions(lab.projects)
    sessions.grow(0, 1)
    with _watching(lab):
        for _ in range(rounds - 1):
            number = chance.randrange(20)
            line = sessions.next_line(number)
            cut = chance.randrange(len(line)) if chance.random() < 0.3 else len(line)
            with sessions.path(number).open("ab", buffering=0) as file:
                file.write(line[:cut])
                file.write(line[cut:])
        began = time.monotonic()
        while len(list(said(lab))) < rounds or lab.index_is_behind():
            assert time.monotonic() - began < 300
            time.sleep(0.1)
        seconds = time.monotonic() - began
    holds(lab, sessions.truth)
    return {"behind the last byte": f"{seconds:.1f} s"}


@drill(rounds=1, few=0)
def too_many_folders(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Where the system watches no more, everything is looked at, and the person is told."""
    sessions = Sessions(lab.projects)
    sessions.grow(0, 1)
    wrapper = lab.folder / "wrapper"
    wrapper.mkdir()
    (wrapper / "watchfiles.py").write_text(
        "def watch(*folders, **more):\n    raise OSError(28, 'no space left on device')\n    yield\n"
    )
    process = lab.start("watch", environ={"PYTHONPATH": f"{wrapper}{os.pathsep}{_source()}"})
    try:
        time.sleep(3)
        sessions.grow(1, 3)
        began = time.monotonic()
        while not (lab.journal / "journal.db").exists() or len(list(said(lab))) < 4 or lab.index_is_behind():
            assert time.monotonic() - began < 60
            time.sleep(0.1)
    finally:
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert b"looking at everything instead" in err, err.decode()
    holds(lab, sessions.truth)
    return {"seconds": round(time.monotonic() - began, 1)}


def _source() -> Path:
    return Path(agent_journal.__file__).parents[1]


@drill(rounds=20, few=0)
def journal_in_a_watched_folder(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Its own files are none of its business: it does not wake itself, and costs nothing when idle."""
    sessions = Sessions(lab.projects)
    sessions.grow(0, 5)
    lab.journal = sessions.folder / "journal"
    with _watching(lab) as process:
        sessions.grow(0, 5)
        time.sleep(3)
        before = _ticks(process.pid)
        time.sleep(rounds)
        share = (_ticks(process.pid) - before) / os.sysconf("SC_CLK_TCK") / rounds
    assert share < 0.05
    holds(lab, sessions.truth)
    return {"idle": f"{share:.2%} of a core"}


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@drill(rounds=4, few=0)
def journal_gone(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Deleted or replaced while it is watched: the watcher ends with a word, and makes no new one."""
    for turn in range(rounds):
        sessions = Sessions(lab.projects)
        sessions.grow(turn, 5)
        process = lab.start("watch")
        assert process.stderr is not None
        while b"watching" not in (line := process.stderr.readline()):
            assert line, process.wait()
        if turn % 2:
            other = Lab(lab.folder / f"other{turn}")
            other.good("sync")
            lab.wipe()
            shutil.copytree(other.journal, lab.journal)
        else:
            lab.wipe()
        sessions.grow(turn, 1)
        _, err = process.communicate(timeout=90)
        assert process.returncode == 1, err.decode()
        assert b"cannot use the journal" in err, err.decode()
        assert b"Traceback" not in err, err.decode()
        if turn % 2:
            assert not list(said(lab))
        else:
            assert not (lab.journal / "journal.db").exists()
        lab.wipe()
    return {"noticed": rounds}
