"""Killed at any moment, told to end at any moment, and what a power cut leaves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Self

from tests.gauntlet.corpus import Sessions, export
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, Truth, hears_interrupts, holds, left_of

_MANY = 50

_STARTED = 0.4  # of the time that a short command takes: before, it is not at it yet


def _size(rounds: int, many: int, few: int) -> int:
    """How much there is to import: in passing less."""
    return many if rounds >= _MANY else few


@drill(rounds=200, few=3)
def sync_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Killed again and again until it is through, then from the beginning."""
    sessions = Sessions(lab.projects, output=_size(rounds, 700, 100))
    for number in range(_size(rounds, 200, 15)):
        sessions.grow(number, _size(rounds, 100, 40))
    return _until_through(lab, rounds, chance, ("sync",), sessions.truth)


@drill(rounds=30, few=0)
def large_sync_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """So much that a second process reads."""
    sessions = Sessions(lab.projects, output=12_000)
    for number in range(40):
        sessions.grow(number, 28)
    assert sum(path.stat().st_size for path in sessions.folder.iterdir()) > 32 << 20
    return _until_through(lab, rounds, chance, ("sync",), sessions.truth)


@drill(rounds=100, few=2)
def import_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """An export of many conversations in one zip."""
    path = lab.home / "export.zip"
    truth = export(path, _size(rounds, 400, 40), 25)
    return _until_through(lab, rounds, chance, ("import", str(path)), truth)


def _until_through(lab: Lab, rounds: int, chance: Random, command: tuple[str, ...], truth: Truth) -> Figures:
    seconds = lab.good(*command).seconds
    holds(lab, truth)
    lab.wipe()
    hits = through = 0
    for _ in range(rounds):
        began = time.monotonic()
        if lab.killed(chance.uniform(0.05, seconds), *command):
            hits += 1
            if (lab.journal / "journal.db").exists():
                lab.checked()
        else:
            # What is left to do takes less and less time, and a machine is not always as slow as it was.
            seconds = min(seconds, max(0.3, time.monotonic() - began))
            holds(lab, truth)
            through += 1
            lab.wipe()
    lab.good(*command)
    holds(lab, truth)
    return {"hits": hits, "through": through, "seconds": round(seconds, 1)}


@drill(rounds=50, few=1)
def reindex_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """The old index or the new one, or none that is known to be none."""
    sessions = Sessions(lab.projects, output=100)
    for number in range(_size(rounds, 60, 10)):
        sessions.grow(number, _size(rounds, 60, 20))
    lab.synced()
    commands = [("reindex",)] * 3 + [("reindex", "--from-vault")]
    took = {command: lab.good(*command).seconds for command in commands}
    hits = 0
    for turn in range(rounds):
        command = commands[turn % len(commands)]
        hits += lab.killed(chance.uniform(_STARTED * took[command], took[command]), *command)
        lab.checked()
    lab.synced()
    holds(lab, sessions.truth)
    lab.good("reindex")
    holds(lab, sessions.truth)
    return {"hits": hits}


@drill(rounds=50, few=2)
def forget_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Begun is as good as done: the next command that writes erases what is left."""
    path = lab.home / "export.zip"
    truth = export(path, _size(rounds, 60, 12), 10)
    lab.good("import", str(path))
    start = lab.folder / "start"
    shutil.copytree(lab.journal, start)
    seconds = 0.0
    hits = begun = 0
    for turn in range(rounds):
        lab.wipe()
        shutil.copytree(start, lab.journal)
        gone = sorted(truth)[turn % len(truth)]
        command = ("forget", gone, "--yes")
        if not seconds:
            seconds = lab.good(*command).seconds
        elif lab.killed(chance.uniform(_STARTED * seconds, seconds), *command):
            hits += 1
            lab.checked()
            done = lab.aj("show", gone, "--json")
            if done.code != 0:
                begun += 1
            lab.good(*(("sync",), ("doctor",), ("check",), command)[turn % 4] if done.code else command)
        holds(lab, {id_: texts for id_, texts in truth.items() if id_ != gone})
        assert not left_of(lab, [text.split()[0] for text in truth[gone]])
    return {"hits": hits, "begun": begun}


class Writer:
    """An agent that writes lines all the time, some of them in two pieces."""

    def __init__(self, sessions: Sessions, chance: Random, pause: float = 0.01) -> None:
        self._sessions = sessions
        self._chance = chance
        self._pause = pause
        self._stop = Event()
        self._thread = Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            number = self._chance.randrange(20)
            line = self._sessions.next_line(number)
            cut = self._chance.randrange(len(line)) if self._chance.random() < 0.3 else len(line)
            with self._sessions.path(number).open("ab", buffering=0) as file:
                file.write(line[:cut])
                time.sleep(self._pause)
                file.write(line[cut:])
            time.sleep(self._pause)


@drill(rounds=100, few=2)
def watch_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """While an agent writes."""
    sessions = Sessions(lab.projects)
    with Writer(sessions, Random(chance.random())):  # noqa: S311
        time.sleep(0.5)
        hits = sum(lab.killed(chance.uniform(0.3, 2.5), "watch") for _ in range(rounds))
    lab.good("sync")
    holds(lab, sessions.truth)
    return {"hits": hits, "messages": sum(map(len, sessions.truth.values()))}


@drill(rounds=50, few=2)
def told_to_end(lab: Lab, rounds: int, chance: Random) -> Figures:
    """SIGTERM and Ctrl-C: at most two seconds, no traceback, what is done is kept."""
    sessions = Sessions(lab.projects, output=_size(rounds, 700, 100))
    for number in range(_size(rounds, 150, 15)):
        sessions.grow(number, _size(rounds, 100, 40))
    seconds = lab.good("sync").seconds
    lab.wipe()
    slowest, hits = 0.0, 0
    for turn in range(rounds):
        verb = ("sync", "sync", "watch")[turn % 3]
        how, code = ((signal.SIGTERM, 143), (signal.SIGINT, 130))[turn % 2]
        done, took = _ended(lab.start(verb, limits=hears_interrupts), chance.uniform(0.0, seconds), how)
        if done is not None:
            hits += 1
            slowest = max(slowest, took)
            assert "Traceback" not in done[1], done[1]
            # It may just have been done; while Python ends, nobody catches a signal any more.
            assert done[0] == code or (verb == "sync" and done[0] in {0, -how}), (verb, done)
        if (lab.journal / "journal.db").exists():
            lab.checked()
        if turn % 10 == 9:
            lab.wipe()
    lab.good("sync")
    holds(lab, sessions.truth)
    return {"hits": hits, "slowest": f"{slowest:.2f} s"}


@drill(rounds=50, few=2)
def stopped(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Ctrl-Z and `fg`, again and again while it reads and writes: it goes on as if nothing had been."""
    sessions = Sessions(lab.projects, output=3_000)
    for number in range(40):
        sessions.grow(number, 100)
    stops = 0
    for turn in range(rounds):
        lab.wipe()
        unbuffered = {"PYTHONUNBUFFERED": "1"} if turn % 2 else {}
        syncing = lab.start("sync", limits=os.setsid, environ=unbuffered)
        while syncing.poll() is None:
            time.sleep(chance.uniform(0.0, 0.02))
            with suppress(ProcessLookupError):
                os.killpg(syncing.pid, signal.SIGSTOP)
                os.killpg(syncing.pid, signal.SIGCONT)
                stops += 1
        _, err = syncing.communicate()
        assert syncing.returncode == 0, err.decode()
        holds(lab, sessions.truth)
    return {"stops": stops}


def _wait_until_it_listens(process: subprocess.Popen[bytes]) -> None:
    """Before a program begins, whoever runs it takes the signal, with words of its own."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and status.exists():
        caught = status.read_text().partition("SigCgt:")[2].split()
        if caught and int(caught[0], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)


def _ended(
    process: subprocess.Popen[bytes], after: float, how: signal.Signals
) -> tuple[tuple[int, str] | None, float]:
    """The code and words of a process that was told to end, and how long it took; None if it was done."""
    _wait_until_it_listens(process)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        began = time.monotonic()
        process.send_signal(how)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        return (process.returncode, err.decode()), time.monotonic() - began
    return None, 0.0


@drill(rounds=200, few=0)
def power_lost(lab: Lab, rounds: int, chance: Random) -> Figures:
    """The journal as a cut leaves it: without the end of the log, of the last pack, or of both."""
    sessions = Sessions(lab.projects, output=100)
    for number in range(15):
        sessions.grow(number, 30)
    lab.good("sync")
    earlier = lab.folder / "earlier"
    shutil.copytree(lab.journal, earlier)
    for number in range(10, 25):
        sessions.grow(number, 30)
    states = [_with_log(lab, chance) for _ in range(3)]
    kinds: dict[str, Callable[[Path, Random], None]] = {
        "no log": lambda home, _: (home / "journal.db-wal").unlink(missing_ok=True),
        "log cut": _cut_log,
        "earlier rows": lambda home, _: _put_back_rows(earlier, home),
        "pack cut": _cut_pack,
    }
    counts = dict.fromkeys(kinds, 0)
    for turn in range(rounds):
        kind = list(kinds)[turn % len(kinds)]
        lab.wipe()
        shutil.copytree(states[turn % len(states)], lab.journal)
        kinds[kind](lab.journal, chance)
        counts[kind] += 1
        if kind != "pack cut":
            if (lab.journal / "journal.db").stat().st_size:
                lab.checked()
            lab.good("sync")
        else:
            assert lab.aj("check").code == 1
            lab.good("sync", "--full")
        holds(lab, sessions.truth)
        if turn % 4 == 3:
            lab.checked("--deep")
    return {**counts}


def _with_log(lab: Lab, chance: Random) -> Path:
    """The journal after a kill, when the log is still beside the rows, or at least after a sync."""
    state = lab.folder / f"state{chance.random()}"
    shutil.rmtree(lab.journal)
    shutil.copytree(lab.folder / "earlier", lab.journal)
    for _ in range(30):
        lab.killed(chance.uniform(0.3, 1.5), "sync")
        log = lab.journal / "journal.db-wal"
        if log.exists() and log.stat().st_size > 100_000:
            break
    shutil.copytree(lab.journal, state)
    return state


def _cut_log(home: Path, chance: Random) -> None:
    log = home / "journal.db-wal"
    (home / "journal.db-shm").unlink(missing_ok=True)
    if log.exists():
        os.truncate(log, chance.randrange(1 + log.stat().st_size // 4096) * 4096)


def _put_back_rows(earlier: Path, home: Path) -> None:
    for name in ("journal.db-wal", "journal.db-shm"):
        (home / name).unlink(missing_ok=True)
    shutil.copy(earlier / "journal.db", home / "journal.db")


def _cut_pack(home: Path, chance: Random) -> None:
    pack = max((home / "vault").glob("*.pack"))
    os.truncate(pack, chance.randrange(pack.stat().st_size * 9 // 10))
