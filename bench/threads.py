"""Measures one journal shared by threads: `python bench/threads.py [--home DIR] [--seconds S] [--rounds N]`.

Each number of threads makes the same mix of calls (search, read, list, usage) for some seconds, in turns. The
table has the median calls per second, and the median ratio to one thread of the same round, which says more
on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
from agent_journal import open_journal

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.journal import Journal

_THREADS = (1, 4, 8)
_CORPUS_SCALE = 0.1  # 22 MB of sessions
_WORDS = ("alcor", "balel", "corden", "frajur", "genhol", "kallo")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", type=Path, help="a journal; default: one of a small corpus")
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="that each number of threads has per round"
    )
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aj-threads-") as folder:
        home = args.home or _small_journal(Path(folder))
        with open_journal(home) as journal:
            ids = [each.id for each in journal.conversations()][:200]
            calls = _mix(journal, ids)
            for call in calls:
                call(random.Random(0))
            rounds = [
                [_calls_per_second(calls, threads, args.seconds) for threads in _THREADS]
                for _ in range(args.rounds)
            ]
    print(f"{'threads':>8}{'calls/s':>10}{'ratio':>8}")
    for place, threads in enumerate(_THREADS):
        rates = [each[place] for each in rounds]
        ratios = [each[place] / each[0] for each in rounds]
        print(f"{threads:8}{statistics.median(rates):10.0f}{statistics.median(ratios):8.2f}")


def _mix(journal: Journal, ids: list[str]) -> list[Callable[[random.Random], object]]:
    def search(chance: random.Random) -> object:
        return journal.search(chance.choice(_WORDS), 10, mode="lexical")

    def read(chance: random.Random) -> object:
        return journal.conversation(chance.choice(ids))

    def list_all(_: random.Random) -> object:
        return journal.conversations()

    def report(_: random.Random) -> object:
        return journal.usage("model")

    return [*[search] * 5, *[read] * 3, list_all, report]


def _calls_per_second(calls: list[Callable[[random.Random], object]], threads: int, seconds: float) -> float:
    counts = [0] * threads
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        chance = random.Random(number)
        while time.perf_counter() < until:
            chance.choice(calls)(chance)
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    started_at = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / (time.perf_counter() - started_at)


def _small_journal(folder: Path) -> Path:
    corpus.make_sessions(folder / "home" / ".claude" / "projects", _CORPUS_SCALE)
    environment = {**os.environ, "HOME": str(folder / "home"), "AJ_HOME": str(folder / "journal")}
    subprocess.run(
        [sys.executable, "-m", "agent_journal", "sync"],
        env={**environment, "AJ_INDEX_VECTOR_BACKGROUND": "false"},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return folder / "journal"


if __name__ == "__main__":
    main()
