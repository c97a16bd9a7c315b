"""Every drill, each in the module of what befalls."""

from __future__ import annotations

from tests.gauntlet import (
    crowds,
    damage,
    faults,
    folders,
    kills,
    live_databases,
    resources,
    sequences,
    signatures,
    versions,
    watches,
    zips,
)
from tests.gauntlet.drills import DRILLS

__all__ = [
    "DRILLS",
    "crowds",
    "damage",
    "faults",
    "folders",
    "kills",
    "live_databases",
    "resources",
    "sequences",
    "signatures",
    "versions",
    "watches",
    "zips",
]
