"""What a drill is, and all there are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.gauntlet.lab import Lab

Figures = dict[str, object]
Run = Callable[[Lab, int, Random], Figures]


class Drill(NamedTuple):
    """A drill, how often it is run in earnest, and how often in passing (0: not at all)."""

    name: str
    rounds: int
    few: int
    run: Run


DRILLS: dict[str, Drill] = {}


def drill(rounds: int, few: int = 1) -> Callable[[Run], Run]:
    """Make a drill of a function."""

    def register(run: Run) -> Run:
        name = run.__name__.replace("_", "-")
        DRILLS[name] = Drill(name, rounds, few, run)
        return run

    return register
