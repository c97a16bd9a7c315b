"""Modules that other packages offer through entry points."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from agent_journal.errors import BadPlugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def plugged_in(group: str) -> list[Any]:
    """What every installed package offers under a group name."""
    # importlib.metadata takes longer to import than a small file takes to convert, so it is
    # asked only if some package's entry points mention the group.
    if not any(_mentions(folder, group.encode()) for folder in sys.path):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415

    return [_loaded(entry) for entry in entry_points(group=group)]


def _loaded(entry: EntryPoint) -> Any:
    """The module that a package offers; one that is broken is told by the name of its package."""
    package = entry.dist.name if entry.dist is not None else entry.module
    try:
        offered = entry.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        raise BadPlugin(package, entry.name, str(error)) from error
    if not hasattr(offered, "INFO"):
        raise BadPlugin(package, entry.name, f"{entry.value} has no INFO")
    return offered


def _mentions(folder: str, group: bytes) -> bool:
    try:
        names = os.listdir(folder or ".")  # noqa: PTH208 (speed)
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123 (speed)
                    if b"[" + group + b"]" in file.read():
                        return True
            except OSError:
                continue
    return False
