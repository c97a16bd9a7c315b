"""`aj backup`: a checked copy of the whole journal."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from agent_journal.amounts import size
from agent_journal.archive.backup import backup
from agent_journal.cli._journal import reading, settings
from agent_journal.config import FILE_NAME
from agent_journal.errors import CannotWrite
from agent_journal.terminal import show


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="PATH")
def command(*, path: str) -> None:
    """Copy rows and vault into a new or empty folder, also while a sync runs, and check the copy.

    'aj --home PATH list' reads it; 'aj --home PATH reindex' makes its index.
    """
    if not path:
        raise click.UsageError("the path is empty; '.' is the current folder")
    config = settings()
    if config.home.resolve() in Path(path).resolve().parents:
        reason = "it is in the journal's own folder, and a copy is lost with it; name another place"
        raise CannotWrite(path, reason)
    with reading() as archive:
        copied = backup(archive, Path(path))
    if (config.home / FILE_NAME).exists():
        copy = Path(path, FILE_NAME)
        shutil.copy(config.home / FILE_NAME, copy)
        copy.chmod(0o600)
    show(f"{size(copied)} in {path}, checked")
