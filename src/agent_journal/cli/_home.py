"""Which journal the command line uses: that of `--home`, of `AJ_HOME`, or the default one."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing for its constant would add 10 ms to every start
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class _Option:
    """The value of `--home`, and whether variables with settings do not apply."""

    folder: str | None = None
    ignores_variables = False


def use(folder: str | None, *, ignore_variables: bool = False) -> None:
    """Use the journal in a folder; None: that of the environment, or the default one."""
    _Option.folder, _Option.ignores_variables = folder, ignore_variables


def option() -> str | None:
    """The value of `--home`, if it was given."""
    return _Option.folder


def environment() -> Mapping[str, str]:
    """The environment variables that apply to the journal."""
    if not _Option.ignores_variables:
        return os.environ
    return {name: value for name, value in os.environ.items() if not name.startswith("AJ_")}


def home() -> Path:
    """The folder of the journal."""
    from agent_journal.config import home_of  # noqa: PLC0415 (slow to import, and not every command needs it)

    return home_of(os.environ, _Option.folder)
