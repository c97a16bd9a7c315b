"""`aj convert`: from any source to any format, without the archive."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import click

from agent_journal import writers
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._options import (
    ALL_NOTES_HELP,
    FROM_HELP,
    REDACT_HELP,
    REDACT_PERSONAL_HELP,
    WITHOUT_HELP,
)
from agent_journal.cli._output import output_path
from agent_journal.cli._run import FAILED, PARTLY, apply_configured_limits, crash_reports
from agent_journal.conversion import transforms
from agent_journal.conversion.output import new_run, write_while_read
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import CannotWrite, NoSuchMessage
from agent_journal.model import Conversation
from agent_journal.notes import Notes
from agent_journal.terminal import data_out, is_stdout_terminal, outlast_reader, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item


def named_parts(_context: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    """The parts that `--without` lists."""
    names = tuple(name for name in value.split(",") if name)
    for name in names:
        if name not in transforms.WHAT:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(transforms.WHAT)}")
    return names


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-t",
    "--to",
    "target",
    required=True,
    metavar="FORMAT",
    help="Format to write ('aj formats' lists them).",
)
@click.option(
    "-f",
    "--from",
    "from_format",
    metavar="SOURCE",
    help=FROM_HELP,
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    callback=output_path,
    help="File to write, or a folder if PATH ends with / or is one. Default: standard output.",
)
@click.option(
    "--without",
    callback=named_parts,
    default="",
    metavar="WHAT",
    help=WITHOUT_HELP,
)
@click.option(
    "--branch",
    default="all",
    show_default=True,
    metavar="WHICH",
    help="Branch to write: all, head, or the id of a message in it.",
)
@click.option("--redact", is_flag=True, help=REDACT_HELP)
@click.option("--redact-personal", is_flag=True, help=REDACT_PERSONAL_HELP)
@click.option("--fail-on-notes", is_flag=True, help="Exit with 3 if there is any note.")
@click.option("--all-notes", is_flag=True, help=ALL_NOTES_HELP)
def command(
    *,
    inputs: tuple[str, ...],
    target: str,
    from_format: str | None,
    output: str | None,
    without: tuple[transforms.What, ...],
    branch: str,
    redact: bool,
    redact_personal: bool,
    fail_on_notes: bool,
    all_notes: bool,
) -> int:
    """Convert conversations in files, folders, zips or standard input (-) to another format."""
    return convert(
        inputs,
        target,
        from_format=from_format,
        output=output,
        without=without,
        branch=branch,
        redact=redact,
        redact_personal=redact_personal,
        fail_on_notes=fail_on_notes,
        all_notes=all_notes,
    )


def convert(
    inputs: Iterable[str],
    target: str,
    *,
    from_format: str | None = None,
    output: str | None = None,
    without: tuple[transforms.What, ...] = (),
    branch: str = "all",
    redact: bool = False,
    redact_personal: bool = False,
    fail_on_notes: bool = False,
    all_notes: bool = False,
) -> int:
    """Convert and print notes; returns the exit code."""
    # Decoded JSON has no cycles: looking for them every 700 objects costs a quarter of the time, and
    # every 100,000 still a twentieth.
    gc.disable()
    if fail_on_notes:
        outlast_reader()  # notes of the writer are part of the verdict
    apply_configured_limits()
    printer = NotePrinter(everything=all_notes)
    notes = Notes(sink=printer, keep=10_000, reports=crash_reports())
    items = _changed(read_all([*inputs], notes, from_format), without, branch)
    if redact or redact_personal:
        items = (transforms.redacted(item, notes, personal=redact_personal) for item in items)
    if output is None and writers.get(target).INFO.layout == "bundle" and is_stdout_terminal():
        raise CannotWrite("standard output", f"{target} is not text for a terminal; use -o PATH")
    count = write_while_read(items, writers.get(target), output, new_run(notes), data_out())
    printer.finish(notes)
    if not count:
        say("aj: Nothing to convert: no readable conversation in the input.")
        return FAILED
    return PARTLY if notes.damaged or (fail_on_notes and notes.counts) else 0


def _changed(items: Iterable[Item], without: tuple[transforms.What, ...], branch: str) -> Iterator[Item]:
    branch_exists = branch in {"all", "head"}
    for item in items:
        if not isinstance(item, Conversation):
            yield item
            continue
        try:
            chosen = transforms.branch(item, branch)
        except NoSuchMessage:
            continue  # the message is in another conversation
        branch_exists = True
        yield transforms.without(chosen, without)
    if not branch_exists:
        raise NoSuchMessage(branch)
