"""Readers and writers of other packages, which offer them through entry points."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.errors import BadPlugin

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

problems: dict[str, str] = {}
"""Why readers and writers cannot be used, by name, each in one line; the others work without them."""
_problems_lock = threading.Lock()


def add_problem(name: str, problem: str) -> None:
    """Record why a reader or writer cannot be used; the first reason counts."""
    with _problems_lock:
        problems.setdefault(name, problem)


def attach_report(name: str, path: str) -> None:
    """Name the crash report in a problem, once."""
    with _problems_lock:
        problem = problems.get(name, "")
        if problem and path not in problem:
            problems[name] = f"{problem}; please report it and attach {path}"


def load_plugins(group: str, check: Callable[[Any], str | None]) -> list[Any]:
    """The modules that installed packages offer in an entry point group; broken ones are added to `problems`.

    `check` returns what is wrong with a module, or None if it can be used.
    """
    # importlib.metadata takes longer to import than a small file takes to convert, so it is
    # asked only if some package's entry points mention the group.
    if not any(_mentions(folder, group.encode()) for folder in sys.path):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415

    modules = []
    for entry in entry_points(group=group):
        try:
            module = _load(entry, check)
        except BadPlugin as error:
            problems[entry.name] = str(error)
        else:
            modules.append(module)
            _packages[id(module)] = _package(entry)
    return modules


_packages: dict[int, str] = {}


def package_of(module: Any) -> str | None:
    """The package of a reader or writer; None if it is one of our own."""
    return _packages.get(id(module))


def find_defect(module: Any, info: type[Any], *functions: str) -> str | None:
    """Why a module cannot be used: its INFO has the wrong type, or a function is missing; None if it can."""
    if not isinstance(module.INFO, info):
        return f"INFO is a {type(module.INFO).__name__}, not a {info.__name__}"
    fields = {name: getattr(module.INFO, name) for name in info.__struct_fields__}
    try:
        msgspec.convert(fields, info)
    except msgspec.ValidationError as error:
        return f"INFO: {error}"
    missing = [name for name in functions if not callable(getattr(module, name, None))]
    return f"it has no function {missing[0]}" if missing else None


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module


def _load(entry: EntryPoint, check: Callable[[Any], str | None]) -> Any:
    """The module that a package offers; raises `BadPlugin` if it cannot be used."""
    package = _package(entry)
    try:
        module = entry.load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
        reason = str(error) or "it ends the program"
        if not isinstance(error, ImportError | AttributeError | SyntaxError):
            reason = f"{type(error).__name__}: {reason}"
        raise BadPlugin(package, entry.name, reason) from error
    if not hasattr(module, "INFO"):
        raise BadPlugin(package, entry.name, f"{entry.value} has no INFO")
    try:
        defect = check(module)
    except Exception as error:  # noqa: BLE001 (a plugin may raise anything)
        defect = f"{type(error).__name__}: {error}"
    if defect is not None:
        raise BadPlugin(package, entry.name, defect)
    return module


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
