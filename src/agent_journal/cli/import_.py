"""`aj import`: import exports, folders, zips and standard input into the journal."""

from __future__ import annotations

import gc
import os

import click

from agent_journal.cli._importing import Report
from agent_journal.cli._journal import embed_later, report_waiting, writable_journal
from agent_journal.cli._options import FROM_HELP
from agent_journal.cli._run import crash_reports
from agent_journal.conversion.pipeline import parse_format
from agent_journal.discovery.excluded import Refused
from agent_journal.notes import Notes


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-f", "--from", "from_format", metavar="SOURCE", help=FROM_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, then the total.")
def command(*, paths: tuple[str, ...], from_format: str | None, as_json: bool) -> int:
    """Import files, folders, zips or standard input (-) into the journal."""
    gc.disable()  # what is decoded has no cycles, as in `aj convert`
    if from_format:
        parse_format(from_format)
    note = Notes(reports=crash_reports())
    with writable_journal() as journal:
        refused = Refused(journal.config, os.environ)
        for path in paths:
            _check_path(path, refused)
        with Report(as_json=as_json) as report:
            journal.import_(
                paths, from_format=from_format, note=note, on_result=report.add, on_wait=report_waiting
            )
        code = report.finish(None, note)
        embed_later(journal)
    return code


def _check_path(path: str, refused: Refused) -> None:
    """Refuse an empty path, and the journal itself: SQLite loses its locks if its file is opened again."""
    if not path:
        raise click.UsageError("A path is empty; '.' stands for the current folder.")
    if path != "-" and refused.own(path):
        raise click.UsageError(f"{path} is the journal itself; 'aj list' lists its conversations.")
