"""`aj sync`: import new conversations of all known tools on this machine."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import click

from agent_journal import discovery, journal, readers
from agent_journal.archive.syncing import existing_projects, locate_candidates
from agent_journal.cli._importing import Report
from agent_journal.cli._journal import embed_later, report_waiting, settings
from agent_journal.cli._options import SOURCE_HELP
from agent_journal.cli._run import crash_reports
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate
    from agent_journal.config import Config
    from agent_journal.readers import ReaderInfo


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--source", "names", multiple=True, metavar="NAME", help=SOURCE_HELP)
@click.option("--full", is_flag=True, help="Read every file again, even if it looks unchanged.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, then the total.")
def command(*, names: tuple[str, ...], full: bool, as_json: bool) -> int:
    """Import new and changed conversations of all known tools on this machine."""
    gc.disable()  # decoded JSON has no cycles, see `aj convert`
    infos = [readers.get(name).INFO for name in names] or [each.INFO for each in readers.discover().values()]
    config = settings()
    note = Notes(reports=crash_reports())
    with Report(as_json=as_json) as report:
        summary = journal.sync(
            config,
            lambda archive: candidates(config, archive, infos, note),
            report.add,
            full=full,
            on_start=report.expect,
            on_unchanged=report.add if as_json else None,
            on_wait=report_waiting,
        )
    code = report.finish(summary, note)
    embed_later(config)
    return code


def candidates(
    config: Config, archive: Archive, infos: Sequence[ReaderInfo], note: Notes
) -> Iterator[ImportCandidate]:
    """Every file and folder on this machine with conversations of these sources."""
    here = discovery.here()
    return locate_candidates(config, infos, os.environ, here, projects=existing_projects(archive), note=note)
