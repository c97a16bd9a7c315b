"""`aj reindex`: make the index anew."""

from __future__ import annotations

import click

from agent_journal import journal
from agent_journal.cli._journal import reading, settings
from agent_journal.terminal import progress, show


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--from-vault", is_flag=True, help="Before that, read everything that the vault keeps again.")
def command(*, from_vault: bool) -> None:
    """Make the search index anew from the journal's rows. No source is read.

    Vectors for search by meaning stay as they are; 'aj embed --anew' makes them again.
    """
    config = settings()
    reading().close()  # a journal that is not there is not made
    with progress(unit="entries") as line:
        journal.reindex(config, from_vault=from_vault, done=lambda _: None, told=line.update)
    with reading() as archive:
        show(f"{archive.store.indexable():,} entries are in the index")
