"""Where commands may write files."""

from __future__ import annotations

import os

import click

from agent_journal.cli._home import home
from agent_journal.errors import CannotWrite


def output_path(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    """The path given with `-o`; None, or `-`, is standard output.

    A path in the journal is refused: the journal may be the only copy of what it contains.
    """
    if path is None or path == "-":
        return None
    if not path:
        raise click.BadParameter("the path is empty; '-' stands for standard output")
    folder, real = (os.path.realpath(each) for each in (home(), path))
    if not real.startswith(folder + os.sep):
        return path
    from agent_journal.journal import is_part_of_journal  # noqa: PLC0415 (slow to import)

    if is_part_of_journal(real.removeprefix(folder + os.sep)):
        raise CannotWrite(path, "it is part of the journal; choose another path")
    return path
