"""`aj backup`: a checked copy of the whole journal."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from agent_journal.archive.backup import backup
from agent_journal.cli._journal import reading, settings
from agent_journal.cli._run import PARTLY
from agent_journal.config import FILE_NAME
from agent_journal.errors import CannotWrite
from agent_journal.terminal import say, show
from agent_journal.text.humanize import count, size

_MOST_NAMED = 20


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="PATH")
def command(*, path: str) -> int:
    """Copy rows and vault into a new or empty folder, also while a sync runs, and read and hash all of it.

    What is damaged in the journal is named, the copy has all else, and the exit code is 3. 'aj --home PATH
    list' reads it; 'aj --home PATH reindex' makes its index.
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
    for problem in copied.problems[:_MOST_NAMED]:
        say(f"damaged: {problem.where}: {problem.problem}")
    if len(copied.problems) > _MOST_NAMED:
        say(f"… and {len(copied.problems) - _MOST_NAMED:,} more; 'aj check --deep' names them")
    if not copied.problems:
        show(f"{size(copied.size)} in {path}, checked")
        return 0
    show(f"{size(copied.size)} in {path}, checked; {count(len(copied.problems), 'thing')} damaged")
    say("aj: the copy lacks what is damaged; 'aj repair' heals the journal, an older backup may have it")
    return PARTLY
