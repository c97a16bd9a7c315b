"""Signatures that were tampered with."""

from __future__ import annotations

from random import Random

from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab
from tests.records import mutations


@drill(20_000, 1_000)
def mutated_signatures(_: Lab, rounds: int, chance: Random) -> Figures:
    outcome = mutations.mutated_signatures(chance, rounds)
    assert outcome.forged == [], outcome.forged[:3]
    return {"mutations": outcome.tried, "refused": outcome.refused, "forged": len(outcome.forged)}
