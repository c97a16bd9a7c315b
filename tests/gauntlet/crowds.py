"""Many at once."""

from __future__ import annotations

import subprocess
import time
from random import Random

from tests.gauntlet.corpus import Sessions, word
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, holds


@drill(rounds=20, few=4)
def many_syncs(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """So many syncs of one tree: all are done, or say that another is at it."""
    sessions = Sessions(lab.projects, output=100)
    for number in range(40):
        sessions.grow(number, 30)
    running = [lab.start("sync") for _ in range(rounds)]
    refused = 0
    for process in running:
        _, err = process.communicate(timeout=300)
        told = err.decode()
        assert "Traceback" not in told, told
        assert process.returncode == 0 or "another aj is writing" in told, told
        refused += process.returncode != 0
    holds(lab, sessions.truth)
    return {"refused": refused}


@drill(rounds=60, few=2)
def searches_meanwhile(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Searches, lists and checks while syncs write: nobody is told of a lock, nothing looks damaged."""
    sessions = Sessions(lab.projects, output=100)
    for number in range(10):
        sessions.grow(number, 10)
    lab.good("sync")
    running: list[subprocess.Popen[bytes]] = []
    slowest = 0.0
    for _ in range(rounds):
        sessions.grow(chance.randrange(20), 20)
        running.append(lab.start("sync"))
        for command in (("search", word(3, 3), "--json"), ("list", "--json"), ("check",)):
            done = lab.good(*command)
            slowest = max(slowest, done.seconds)
            assert "locked" not in done.err
    for process in running:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0 or b"another aj is writing" in err, err.decode()
    lab.good("sync")
    holds(lab, sessions.truth)
    return {"slowest": f"{slowest:.1f} s"}


@drill(rounds=1, few=1)
def stale_lock(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """A lock of a process that is no more holds nobody up."""
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    lab.journal.mkdir(mode=0o700)
    (lab.journal / "lock").write_text("999999\n")
    began = time.monotonic()
    lab.good("sync")
    holds(lab, sessions.truth)
    return {"seconds": round(time.monotonic() - began, 1)}
