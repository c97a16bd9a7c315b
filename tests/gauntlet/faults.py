"""Every single write, one after the other, fails, or is the last thing that the process ever did."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

from agent_journal.errors import AgentJournalError
from tests.gauntlet.corpus import Sessions
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Done, Lab, holds

_SHIM = Path(__file__).parent / "faulty.c"
_HOW = (errno.EIO, errno.ENOSPC)


@drill(rounds=400, few=3)
def failing_writes(lab: Lab, rounds: int, chance: Random) -> Figures:
    """The disk refuses one call: one line or none that it mattered, nothing half, all of it next time."""

    def judge(done: Done) -> None:
        assert done.is_clear, done.err
        assert done.code in {0, 1, 3}, (done.code, done.err)
        assert len(done.err.splitlines()) <= 1, done.err

    return _at_every_call(lab, rounds, chance, [str(number) for number in _HOW], judge)


@drill(rounds=300, few=3)
def killed_at_every_write(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Every commit consists of these: whatever the last one was, the next sync ends as if nothing was."""

    def judge(done: Done) -> None:
        assert done.code in {-9, 0}, (done.code, done.err)  # threads do not always do the same

    return _at_every_call(lab, rounds, chance, ["kill"], judge)


def _at_every_call(
    lab: Lab, rounds: int, chance: Random, hows: list[str], judge: Callable[[Done], None]
) -> Figures:
    shim = shim_of(lab)
    if shim is None:
        return {"skipped": "there is no C compiler"}
    sessions = Sessions(lab.projects, output=40)
    for number in range(6):
        sessions.grow(number, 10)
    lab.synced()
    before = lab.folder / "before"
    lab.journal.rename(before)
    for number in range(4, 9):  # some that grow, some that are new
        sessions.grow(number, 10)
    put_back(lab, before)
    assert run_with(lab, shim, 0, "0").code == 0
    last = int((lab.tmp / "told").read_text())
    points = [(at, how) for at in range(1, last + 1) for how in hows]
    codes: dict[int, int] = {}
    for at, how in chance.sample(points, min(rounds, len(points))):
        put_back(lab, before)
        done = run_with(lab, shim, at, how)
        judge(done)
        codes[done.code] = codes.get(done.code, 0) + 1
        _readable(lab)
        lab.synced()
        holds(lab, sessions.truth)
    return {"calls": last, "codes": codes}


def put_back(lab: Lab, before: Path) -> None:
    """Let the journal be as it was then."""
    lab.wipe()
    shutil.copytree(before, lab.journal)


def run_with(lab: Lab, shim: Path, at: int, how: str) -> Done:
    """A sync whose so many-th write fails, or is its last."""
    environ = {
        "LD_PRELOAD": str(shim),
        "FAULT_UNDER": str(lab.journal),
        "FAULT_AT": str(at),
        "FAULT_HOW": how,
        "FAULT_TOLD": str(lab.tmp / "told"),
    }
    return lab.aj("sync", environ=environ)


def _readable(lab: Lab) -> None:
    """What is there is whole at once, also before the next sync."""
    try:
        lab.checked()
    except AgentJournalError as error:
        raise AssertionError(str(error)) from error


def shim_of(lab: Lab) -> Path | None:
    """What stands between a program and the system; None where it cannot be made."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    shim = lab.tmp / "faulty.so"
    if compiler is None:
        return None
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(_SHIM), "-ldl"]
    return shim if subprocess.run(command, check=False, capture_output=True).returncode == 0 else None
