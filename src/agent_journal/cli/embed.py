"""`aj embed`: compute embeddings for semantic search."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import click

from agent_journal.cli._journal import open_journal, settings
from agent_journal.errors import ArchiveInUse
from agent_journal.terminal import progress, say, show, show_json


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rebuild", is_flag=True, help="Discard all embeddings and compute them again.")
@click.option("--anew", is_flag=True, hidden=True)  # the name of --rebuild until version 0.1
@click.option("--seconds", type=click.FloatRange(min=0), metavar="N", help="Stop after about N seconds.")
@click.option("--quiet", is_flag=True, help="Print nothing and run at low priority, as in the background.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, rebuild: bool, anew: bool, seconds: float | None, quiet: bool, as_json: bool) -> None:
    """Compute embeddings of entries that have none yet, newest first, for semantic search.

    'aj sync' does it for a few new entries, and after a large import this runs in the background. You can
    interrupt it at any time; the next run continues.
    """
    from_scratch = rebuild or anew
    if quiet:
        with suppress(OSError, AttributeError):
            os.nice(10)
        with suppress(ArchiveInUse), open_journal(settings()) as journal:
            journal.embed(from_scratch=from_scratch, seconds=seconds)
        return
    started_at = time.monotonic()
    with open_journal(settings()) as journal, progress(unit="entries") as bar:
        state = journal.embed(
            from_scratch=from_scratch,
            seconds=seconds,
            on_progress=lambda done, of: bar.update(done, of, ""),
        )
    seconds_taken = time.monotonic() - started_at
    if as_json:
        show_json({**state.to_dict(), "seconds": round(seconds_taken, 3)})
        return
    if state.problem:
        say(f"aj: {state.problem}")
    show(f"{state.done:,} of {state.entries:,} entries are in the semantic index ({state.vectors:,} vectors)")
