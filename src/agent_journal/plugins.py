"""Modules that other packages offer through entry points."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.errors import BadPlugin

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

problems: dict[str, str] = {}
"""What is wrong with readers and writers, by name, each in one line; the others go on without them."""


def plugged_in(group: str, check: Callable[[Any], str | None]) -> list[Any]:
    """What every installed package offers under a group name; what is broken is in `problems` instead.

    `check` tells what is wrong with a module, or None if it can be used.
    """
    # importlib.metadata takes longer to import than a small file takes to convert, so it is
    # asked only if some package's entry points mention the group.
    if not any(_mentions(folder, group.encode()) for folder in sys.path):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415

    found = []
    for entry in entry_points(group=group):
        try:
            offered = _loaded(entry, check)
        except BadPlugin as error:
            problems[entry.name] = str(error)
        else:
            found.append(offered)
            _packages[id(offered)] = _package(entry)
    return found


_packages: dict[int, str] = {}


def package_of(offered: Any) -> str | None:
    """The package that a reader or writer came with; None if it is one of our own."""
    return _packages.get(id(offered))


def what_is_wrong(offered: Any, info: type[Any], *functions: str) -> str | None:
    """Why a module cannot be used: its INFO is of another type, or a function is missing; None if it can."""
    if not isinstance(offered.INFO, info):
        return f"INFO is a {type(offered.INFO).__name__}, not a {info.__name__}"
    stated = {name: getattr(offered.INFO, name) for name in info.__struct_fields__}
    try:
        msgspec.convert(stated, info)
    except msgspec.ValidationError as error:
        return f"INFO: {error}"
    missing = [name for name in functions if not callable(getattr(offered, name, None))]
    return f"it has no function {missing[0]}" if missing else None


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module


def _loaded(entry: EntryPoint, check: Callable[[Any], str | None]) -> Any:
    """The module that a package offers; one that is broken is named with its package."""
    package = _package(entry)
    try:
        offered = entry.load()
    except (Exception, SystemExit) as error:  # it may do anything while it is imported
        reason = str(error) or "it ends the program"
        if not isinstance(error, ImportError | AttributeError | SyntaxError):
            reason = f"{type(error).__name__}: {reason}"
        raise BadPlugin(package, entry.name, reason) from error
    if not hasattr(offered, "INFO"):
        raise BadPlugin(package, entry.name, f"{entry.value} has no INFO")
    try:
        wrong = check(offered)
    except Exception as error:  # noqa: BLE001 (it may do anything when it is asked)
        wrong = f"{type(error).__name__}: {error}"
    if wrong is not None:
        raise BadPlugin(package, entry.name, wrong)
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
