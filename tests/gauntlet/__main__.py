"""Runs drills and tells how they went."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from agent_journal.errors import AgentJournalError
from tests.gauntlet.all import DRILLS
from tests.gauntlet.drills import Drill
from tests.gauntlet.lab import Lab


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gauntlet", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DRILLS))
    parser.add_argument("--rounds", type=int, help="how often, instead of as often as it is meant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="what each drill is, and how often it is run")
    asked = parser.parse_args()
    if asked.list:
        for each in DRILLS.values():
            about = (each.run.__doc__ or "").partition("\n")[0]
            print(f"{each.name:28} {each.rounds:>6,} {each.few:>4}  {about}")  # noqa: T201
        return 0
    unknown = set(asked.names) - set(DRILLS)
    if unknown:
        parser.error(f"no drill is called {', '.join(sorted(unknown))}")
    chosen = [DRILLS[name] for name in asked.names or DRILLS]
    return int(sum(not _ran(each, asked.rounds or each.rounds, asked.seed) for each in chosen) > 0)


def _ran(drill: Drill, rounds: int, seed: int) -> bool:
    folder = Path(tempfile.mkdtemp(prefix=f"gauntlet-{drill.name}-"))
    began = time.monotonic()
    try:
        figures = drill.run(Lab(folder), rounds, Random(seed))  # noqa: S311
    except (AssertionError, AgentJournalError, subprocess.SubprocessError):
        traceback.print_exc()
        print(f"FAILED {drill.name}, seed {seed}: what is left of it is in {folder}", flush=True)  # noqa: T201
        return False
    told = ", ".join(f"{name} {value}" for name, value in figures.items())
    print(f"ok {drill.name}: {rounds} rounds, {told} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201
    shutil.rmtree(folder, ignore_errors=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
