"""`aj convert`: any source in, any format out, no archive involved."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import click

from agent_journal import writers
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._output import place
from agent_journal.cli._run import FAILED, PARTLY, allow_what_is_settled, crash_reports
from agent_journal.conversion import transforms
from agent_journal.conversion.output import new_run, write_while_read
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import CannotWrite, NoSuchMessage
from agent_journal.model import Conversation
from agent_journal.notes import Notes
from agent_journal.terminal import data_out, is_seen, outlast_reader, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item


def named_parts(_context: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    """What `--without` names."""
    names = tuple(name for name in value.split(",") if name)
    for name in names:
        if name not in transforms.WHAT:
            raise click.BadParameter(f"{name!r} is none of {', '.join(transforms.WHAT)}")
    return names


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-t",
    "--to",
    "target",
    required=True,
    metavar="FORMAT",
    help="What to write; 'aj formats' lists the formats.",
)
@click.option(
    "-f",
    "--from",
    "from_format",
    metavar="SOURCE",
    help="What the input is, if it cannot be told: NAME or NAME@VERSION.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    callback=place,
    help="File to write, or a folder if it ends with / or is one. Default: standard output.",
)
@click.option(
    "--without",
    callback=named_parts,
    default="",
    metavar="WHAT",
    help="Leave out: thinking, tools, or both with a comma.",
)
@click.option(
    "--branch", default="all", show_default=True, metavar="WHICH", help="all, head, or the id of a message."
)
@click.option("--redact", is_flag=True, help="Replace keys, tokens and passwords; each is noted.")
@click.option(
    "--redact-personal",
    is_flag=True,
    help="The same, and e-mail addresses, phone, card and account numbers.",
)
@click.option("--fail-on-notes", is_flag=True, help="Exit with 3 if anything at all was noted.")
@click.option("--all-notes", is_flag=True, help="Print every note, not only the first few of each kind.")
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
    """Write conversations from files, folders, zips or standard input (-) in another format."""
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
    """Convert and say what was odd; the exit code."""
    # Decoded JSON has no cycles: looking for them every 700 objects costs a quarter of the time, and
    # every 100,000 still a twentieth.
    gc.disable()
    if fail_on_notes:
        outlast_reader()  # what writing notes is a part of the verdict
    allow_what_is_settled()
    printer = NotePrinter(everything=all_notes)
    notes = Notes(sink=printer, keep=10_000, reports=crash_reports())
    items = _changed(read_all([*inputs], notes, from_format), without, branch)
    if redact or redact_personal:
        items = (transforms.redacted(item, notes, personal=redact_personal) for item in items)
    if output is None and writers.get(target).INFO.layout == "bundle" and is_seen():
        raise CannotWrite("standard output", f"{target} is no text for a terminal; name a file with -o")
    count = write_while_read(items, writers.get(target), output, new_run(notes), data_out())
    printer.finish(notes)
    if not count:
        say("aj: nothing to convert: the input holds no conversation that could be read")
        return FAILED
    return PARTLY if notes.damaged or (fail_on_notes and notes.counts) else 0


def _changed(items: Iterable[Item], without: tuple[transforms.What, ...], branch: str) -> Iterator[Item]:
    found = branch in {"all", "head"}
    for item in items:
        if not isinstance(item, Conversation):
            yield item
            continue
        try:
            chosen = transforms.branch(item, branch)
        except NoSuchMessage:
            continue  # a message is in one conversation; the others were not asked for
        found = True
        yield transforms.without(chosen, without)
    if not found:
        raise NoSuchMessage(branch)
