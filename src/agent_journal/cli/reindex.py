"""`aj reindex`: make the index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import journal
from agent_journal.archive.store import Status
from agent_journal.cli._journal import reading, settings
from agent_journal.cli._run import PARTLY
from agent_journal.terminal import progress, say, show

if TYPE_CHECKING:
    from agent_journal.archive.candidates import Result

_MOST_NAMED = 20


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--from-vault", is_flag=True, help="Before that, read everything that the vault keeps again.")
def command(*, from_vault: bool) -> int:
    """Make the search index anew from the journal's rows. No source is read.

    Vectors for search by meaning stay as they are; 'aj embed --anew' makes them again.
    """
    config = settings()
    reading().close()  # a journal that is not there is not made
    results: list[Result] = []
    with progress(unit="entries") as line:
        journal.reindex(config, from_vault=from_vault, done=results.append, told=line.update)
    with reading() as archive:
        show(f"{archive.store.indexable():,} entries are in the index")
    damaged = [each for each in results if each.status == Status.UNREADABLE]
    for each in damaged[:_MOST_NAMED]:
        say(f"{each.status}: {each.file}: {each.notes[0] if each.notes else 'it could not be read again'}")
    if len(damaged) > _MOST_NAMED:
        say(f"… and {len(damaged) - _MOST_NAMED:,} more; 'aj check --deep' names what is damaged")
    return PARTLY if damaged else 0
