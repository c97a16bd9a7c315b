"""`aj sync`: import new conversations of all known tools on this machine."""

from __future__ import annotations

import gc

import click

from agent_journal import readers
from agent_journal.cli._importing import Report
from agent_journal.cli._journal import embed_later, report_waiting, writable_journal
from agent_journal.cli._options import SOURCE_HELP
from agent_journal.cli._run import crash_reports
from agent_journal.notes import Notes
from agent_journal.terminal import say


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--source", "names", multiple=True, metavar="NAME", help=SOURCE_HELP)
@click.option("--full", is_flag=True, help="Read every file again, even if it looks unchanged.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, then the total.")
def command(*, names: tuple[str, ...], full: bool, as_json: bool) -> int:
    """Import new and changed conversations of all known tools on this machine."""
    gc.disable()  # decoded JSON has no cycles, see `aj convert`
    for name in names:
        readers.named(name)  # raises if there is no such source
    note = Notes(reports=crash_reports())
    with writable_journal() as journal:
        with Report(as_json=as_json) as report:
            summary = journal.sync(
                names,
                full=full,
                note=note,
                on_result=report.add,
                on_start=report.expect,
                on_unchanged=report.add if as_json else None,
                on_wait=report_waiting,
            )
        code = report.finish(summary, note)
        for each in () if names or as_json else journal.encrypted_files():
            say(f"aj: {each}")
        embed_later(journal)
    return code
