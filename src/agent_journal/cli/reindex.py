"""`aj reindex`: rebuild the search index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import MAX_PRINTED_PROBLEMS, open_journal, settings
from agent_journal.cli._run import PARTLY
from agent_journal.journal import Status
from agent_journal.terminal import progress, say, show

if TYPE_CHECKING:
    from agent_journal.journal import Result


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--from-vault", is_flag=True, help="First re-import everything in the vault.")
def command(*, from_vault: bool) -> int:
    """Rebuild the search index from the journal. The tools' own files are not read.

    Embeddings for semantic search stay as they are; 'aj embed --rebuild' computes them again.
    """
    results: list[Result] = []
    with open_journal(settings()) as journal:
        with progress(unit="entries") as line:
            entries = journal.reindex(
                from_vault=from_vault, on_result=results.append, on_progress=line.update
            )
        show(f"{entries:,} entries are in the index")
    damaged = [each for each in results if each.status == Status.UNREADABLE]
    for each in damaged[:MAX_PRINTED_PROBLEMS]:
        say(f"{each.status}: {each.file}: {each.notes[0] if each.notes else 'it could not be re-imported'}")
    if len(damaged) > MAX_PRINTED_PROBLEMS:
        say(f"… and {len(damaged) - MAX_PRINTED_PROBLEMS:,} more; 'aj check --deep' lists all damage")
    return PARTLY if damaged else 0
