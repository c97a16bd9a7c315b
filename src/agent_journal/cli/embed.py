"""`aj embed`: prepare everything for search by meaning."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import click

from agent_journal import journal
from agent_journal.cli._journal import settings
from agent_journal.errors import ArchiveInUse
from agent_journal.terminal import progress, say, show, show_json


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--anew", is_flag=True, help="Forget the vectors that there are, and begin again.")
@click.option("--seconds", type=click.FloatRange(min=0), metavar="N", help="Stop after about so long.")
@click.option("--quiet", is_flag=True, help="Say nothing and give way to others, as in the background.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(*, anew: bool, seconds: float | None, quiet: bool, as_json: bool) -> None:
    """Give vectors to what has none yet, newest first, so that it is found by meaning too.

    A large sync lets this run in the background, and a search does it for what came last. It can be
    interrupted at any time; what is done stays done.
    """
    if quiet:
        with suppress(OSError, AttributeError):
            os.nice(10)
        with suppress(ArchiveInUse):
            journal.embed(settings(), anew=anew, seconds=seconds)
        return
    began = time.monotonic()
    with progress(unit="entries") as bar:
        state = journal.embed(
            settings(), anew=anew, seconds=seconds, told=lambda done, of: bar.update(done, of, "")
        )
    took = time.monotonic() - began
    if as_json:
        show_json({**state._asdict(), "seconds": round(took, 3)})
        return
    if state.problem:
        say(f"aj: {state.problem}")
    show(f"{state.done:,} of {state.entries:,} entries can be found by meaning ({state.vectors:,} vectors)")
