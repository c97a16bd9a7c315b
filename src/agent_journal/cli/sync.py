"""`aj sync`: find every known history on this machine and import what is new."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import click

from agent_journal import discovery, journal, readers
from agent_journal.archive.syncing import located, projects_of
from agent_journal.cli._importing import Report
from agent_journal.cli._journal import embed_later, settings, waiting
from agent_journal.cli._run import crash_reports
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import Found
    from agent_journal.config import Config
    from agent_journal.readers import ReaderInfo


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--source", "names", multiple=True, metavar="NAME", help="Only this source; may be repeated.")
@click.option("--full", is_flag=True, help="Read every file again, also those that look unchanged.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per file, then the total.")
def command(*, names: tuple[str, ...], full: bool, as_json: bool) -> int:
    """Find every known history on this machine and import what is new or changed."""
    gc.disable()  # what is decoded has no cycles, as in `aj convert`
    infos = [readers.get(name).INFO for name in names] or [each.INFO for each in readers.discover().values()]
    config = settings()
    note = Notes(reports=crash_reports())
    with Report(as_json=as_json) as report:
        summary = journal.sync(
            config,
            lambda kept: found(config, kept, infos, note),
            report.done,
            full=full,
            begun=report.begun,
            unchanged=report.done if as_json else None,
            waiting=waiting,
        )
    code = report.finish(summary, note)
    embed_later(config)
    return code


def found(config: Config, kept: Archive, infos: Sequence[ReaderInfo], note: Notes) -> Iterator[Found]:
    """Every file and folder where histories of these sources lie."""
    here = discovery.here()
    return located(config, infos, os.environ, here, projects=projects_of(kept), note=note)
