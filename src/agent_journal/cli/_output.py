"""Where commands may write files."""

from __future__ import annotations

import os

import click

from agent_journal.errors import CannotWrite


def output_path(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    """The path given with `-o`; None, or `-`, is standard output.

    A path in the journal is refused: the journal may be the only copy of what it contains.
    """
    if path is None or path == "-":
        return None
    if not path:
        raise click.BadParameter("the path is empty; '-' stands for standard output")
    from agent_journal.config import FILE_NAME, home_of  # noqa: PLC0415 (slow to import)

    home, real = (os.path.realpath(each) for each in (home_of(os.environ), path))
    if not real.startswith(home + os.sep):
        return path
    from agent_journal.archive import DATABASE, LOCK, VAULT  # noqa: PLC0415 (slow to import)

    first = real.removeprefix(home + os.sep).partition(os.sep)[0]
    if first in {VAULT, LOCK, FILE_NAME} or first.startswith(DATABASE):
        raise CannotWrite(path, "it is part of the journal; choose another path")
    return path
