"""`aj backup`: a verified copy of the whole journal."""

from __future__ import annotations

import click

from agent_journal.cli._journal import MAX_PRINTED_PROBLEMS, open_journal, settings
from agent_journal.cli._run import PARTLY
from agent_journal.terminal import say, show
from agent_journal.text.humanize import count, size


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="PATH")
def command(*, path: str) -> int:
    """Copy the journal into a new or empty folder and verify the copy; a sync may run meanwhile.

    If part of the journal is damaged, the copy contains everything else, and the exit code is 3.

    The copy is a journal without a search index: 'aj --home PATH list' reads it, and 'aj --home PATH reindex'
    builds its index.
    """
    if not path:
        raise click.UsageError("The path is empty; '.' stands for the current folder.")
    with open_journal(settings()) as journal:
        copied = journal.backup(path)
    for problem in copied.problems[:MAX_PRINTED_PROBLEMS]:
        say(f"damaged: {problem.where}: {problem.problem}")
    if len(copied.problems) > MAX_PRINTED_PROBLEMS:
        say(f"… and {len(copied.problems) - MAX_PRINTED_PROBLEMS:,} more; 'aj check --deep' lists them")
    if not copied.problems:
        show(f"{size(copied.size)} in {path}, verified")
        return 0
    show(f"{size(copied.size)} in {path}, verified; {count(len(copied.problems), 'problem')} found")
    say(
        "aj: The backup does not contain what is damaged. 'aj repair' repairs the journal; "
        "an older backup may have the missing parts."
    )
    return PARTLY
