"""`aj export`: write conversations of the journal in any format, with secrets redacted."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click

from agent_journal import writers
from agent_journal.cli._filters import (
    NO_MATCH,
    conversation_filter,
    explain_no_match,
    filters,
    is_filtered,
)
from agent_journal.cli._journal import open_journal, settings
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._options import ALL_NOTES_HELP, REDACT_PERSONAL_HELP, WITHOUT_HELP
from agent_journal.cli._output import output_path
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.cli.convert import named_parts
from agent_journal.journal import ExportChoice, ExportOptions, ExportTarget
from agent_journal.notes import Notes
from agent_journal.terminal import data_out, out, progress, say, show_json
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.config import Config
    from agent_journal.conversion.transforms import What
    from agent_journal.journal import ExportReport, Filter
    from agent_journal.writers import Images, Theme, Writer, WriterInfo

# Formats that can be read on a terminal.
_TEXT_SUFFIXES = {".md", ".txt", ".json", ".jsonl"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[ID...]")
@click.option("--all", "everything", is_flag=True, help="Export the whole journal, including memories.")
@click.option("--search", "query", metavar="QUERY", help="Export the results of 'aj search'.")
@filters
@click.option("--max", "limit", type=click.IntRange(min=1), metavar="N", help="Maximum number to export.")
@click.option(
    "-t",
    "--to",
    "target",
    metavar="FORMAT",
    help="Format to write ('aj formats' lists them). Default: export.default_format.",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="PATH",
    callback=output_path,
    help="File to write; a folder if PATH ends with / or is one; or a zip. Default: standard output.",
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages of each.")
@click.option(
    "--without",
    callback=named_parts,
    default="",
    metavar="WHAT",
    help=WITHOUT_HELP,
)
@click.option(
    "--branch",
    metavar="WHICH",
    help="Branch to write: all, head, or the id of a message in it. Default: all; head with --last.",
)
@click.option(
    "--subagents/--no-subagents",
    default=None,
    help="Export subagents' conversations too. Default: yes, except for ids to one file that is no web page.",
)
@click.option(
    "--images",
    type=click.Choice(["auto", "embed", "beside", "none"]),
    default="auto",
    show_default=True,
    help="Images of web pages: embedded, in files next to the pages (beside), or none.",
)
@click.option(
    "--theme",
    type=click.Choice(["dark", "light", "auto"]),
    help="Color theme of web pages. Default: export.html_theme.",
)
@click.option("--include-secrets", is_flag=True, help="Do not redact keys, tokens and passwords.")
@click.option("--redact-personal", is_flag=True, help=REDACT_PERSONAL_HELP)
@click.option("--all-notes", is_flag=True, help=ALL_NOTES_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per conversation written.")
def command(
    *,
    names: tuple[str, ...],
    everything: bool,
    query: str | None,
    limit: int | None,
    target: str | None,
    path: str | None,
    last: int | None,
    without: tuple[What, ...],
    branch: str | None,
    subagents: bool | None,
    images: Images,
    theme: Theme | None,
    include_secrets: bool,
    redact_personal: bool,
    all_notes: bool,
    as_json: bool,
    **filter_values: str | None,
) -> int:
    """Write conversations of the journal in any format, chosen by id, by filters or a search, or all.

    Keys, tokens and passwords are redacted, and reported on standard error.
    """
    is_by_query = query is not None or is_filtered(filter_values)
    if [bool(names), is_by_query, everything].count(True) != 1:
        raise click.UsageError("Choose what to export: ids, or filters and --search QUERY, or --all.")
    if include_secrets and redact_personal:
        raise click.UsageError("--include-secrets and --redact-personal cannot be combined.")
    config = settings()
    writer = writers.get(target or config.export.default_format)
    _refuse_nonsense(writer, path, images, as_json=as_json)
    options = ExportOptions(
        branch=branch or ("head" if last else "all"),
        last=last,
        without=_parts_to_omit(without, config),
        secrets=include_secrets,
        personal=redact_personal,
        exact=writer.INFO.is_native,
        media=writer.INFO.layout == "pages" and images != "none",
        include_related=writer.INFO.layout == "pages",
    )
    choice = ExportChoice(
        names=names,
        query=query,
        wanted=_filter_of(filter_values, query, everything=everything),
        everything=everything,
        limit=limit,
        with_subagents=subagents if subagents is not None else not names or _holds_many(path, writer.INFO),
    )
    destination = ExportTarget(writer.INFO.name, path, data_out(), theme or config.export.html_theme, images)
    printer = NotePrinter(everything=all_notes)
    notes = Notes(sink=printer, keep=10_000)
    gc.disable()  # decoded JSON has no cycles
    with open_journal(config) as journal:
        with progress(unit="conversations") as line:
            report = journal.export(
                choice,
                destination,
                options,
                note=notes,
                on_progress=line.update,
            )
        printer.finish(notes)
        if not report.conversations and not report.memories:
            if notes.damaged:
                say("aj: Nothing was written, because the conversations cannot be read.")
            else:
                say(f"aj: Nothing was written. {explain_no_match(journal, filter_values) or NO_MATCH}")
            return FAILED
    if as_json:
        for each in report.conversations:
            show_json(each)
        show_json(report.to_dict())
    else:
        _show(report, writer)
    return PARTLY if notes.damaged else 0


def _holds_many(path: str | None, writer: WriterInfo) -> bool:
    """Whether readers find their way from one conversation to another in what is written."""
    return _is_bundle(path) or writer.suffix == ".html"


def _filter_of(values: dict[str, Any], query: str | None, *, everything: bool) -> Filter | None:
    """The filter of the conversations to export; one of search results selects subagents, too."""
    if query is not None:
        return conversation_filter(values, with_children=True) if is_filtered(values) else None
    return conversation_filter(values, with_children=everything)


def _refuse_nonsense(writer: Writer, path: str | None, images: Images, *, as_json: bool) -> None:
    if path is None and as_json:
        raise click.UsageError("--json reports what was written; use it with -o PATH.")
    if images == "beside" and not _is_bundle(path):
        raise click.UsageError("--images beside requires a folder or zip; choose one with -o PATH.")
    if path is None and writer.INFO.suffix not in _TEXT_SUFFIXES and out().width is not None:
        raise click.UsageError(f"{writer.INFO.title} cannot be shown on a terminal; use -o PATH.")


def _is_bundle(path: str | None) -> bool:
    """Whether the output is a folder or zip of several files."""
    import os  # noqa: PLC0415

    return path is not None and (path.endswith(("/", ".zip")) or os.path.isdir(path))  # noqa: PTH112


def _parts_to_omit(without: tuple[What, ...], config: Config) -> tuple[What, ...]:
    if config.export.include_tool_calls or "tools" in without:
        return without
    return (*without, "tools")


def _show(report: ExportReport, writer: Writer) -> None:
    """Print where the output is, and how much was redacted."""
    items = count(len(report.conversations), "conversation")
    if report.memories:
        items += f" and {count(report.memories, 'memory', 'memories')}"
    if report.path is not None:
        say(f"aj: Wrote {items} to {report.path} as {writer.INFO.title}.")
    if report.redacted:
        say(f"aj: Redacted {count(report.redacted, 'secret')}, see above; --include-secrets turns this off.")
