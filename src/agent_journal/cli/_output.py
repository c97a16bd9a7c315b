"""Where the verbs that write files may put them."""

from __future__ import annotations

import os

import click

from agent_journal.errors import CannotWrite


def place(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    """Where a person wants something written; None, or `-`, is standard output.

    The journal is not written over: it may be the only copy of what it holds.
    """
    if path is None or path == "-":
        return None
    if not path:
        raise click.BadParameter("the path is empty; '-' is standard output")
    from agent_journal.config import FILE_NAME, home_of  # noqa: PLC0415 (slow to import)

    home, real = (os.path.realpath(each) for each in (home_of(os.environ), path))
    if not real.startswith(home + os.sep):
        return path
    from agent_journal.archive import DATABASE, LOCK, VAULT  # noqa: PLC0415 (nobody else needs it here)

    first = real.removeprefix(home + os.sep).partition(os.sep)[0]
    if first in {VAULT, LOCK, FILE_NAME} or first.startswith(DATABASE):
        raise CannotWrite(path, "it is a part of the journal; name another place")
    return path
