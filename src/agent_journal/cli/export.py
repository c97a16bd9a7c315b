"""`aj export`: write conversations of the journal in any format, with secrets redacted."""

from __future__ import annotations

import gc
from itertools import chain
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
from agent_journal.cli._journal import open_archive, report_upgrade, settings
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._options import ALL_NOTES_HELP, REDACT_PERSONAL_HELP, WITHOUT_HELP
from agent_journal.cli._output import output_path
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.cli.convert import named_parts
from agent_journal.conversion import output
from agent_journal.journal import Journal
from agent_journal.journal import export as exporting
from agent_journal.journal.export import ExportOptions
from agent_journal.model import tree
from agent_journal.notes import Kind, Notes
from agent_journal.redaction import REDACTIONS_KEY
from agent_journal.terminal import data_out, out, progress, say, show_json
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive.store import Listed
    from agent_journal.config import Config
    from agent_journal.conversion.transforms import What
    from agent_journal.model import Conversation, Item
    from agent_journal.terminal.progress_line import ProgressLine
    from agent_journal.writers import Images, Run, Theme, Writer

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
    help="Export subagents' conversations too. Default: yes, except for ids to a single file.",
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
    shape = ExportOptions(
        branch=branch or ("head" if last else "all"),
        last=last,
        without=_parts_to_omit(without, config),
        secrets=include_secrets,
        personal=redact_personal,
        exact=writer.INFO.is_native,
        media=writer.INFO.layout == "pages" and images != "none",
        include_related=writer.INFO.layout == "pages",
    )
    with Journal(config, report_upgrade) as journal:
        chosen = _choose(journal, names, query, filter_values, limit, everything=everything)
        if not everything and (subagents if subagents is not None else _is_bundle(path) or not names):
            chosen = exporting.with_subagents(journal, chosen)
        export = _Export(journal, writer, path, config, all_notes=all_notes)
        page_theme = theme or config.export.html_theme
        written = export.write(chosen, shape, theme=page_theme, images=images, memories=everything)
    if not written:
        if export.notes.damaged:
            say("aj: Nothing was written, because the conversations cannot be read.")
        else:
            say(f"aj: Nothing was written. {_explain_no_match(filter_values)}")
        return FAILED
    if as_json:
        export.report_as_json(written)
    else:
        export.report(written)
    return PARTLY if export.notes.damaged else 0


def _explain_no_match(filter_values: dict[str, Any]) -> str:
    with open_archive() as archive:
        return explain_no_match(archive.store, filter_values) or NO_MATCH


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


def _choose(
    journal: Journal,
    names: tuple[str, ...],
    query: str | None,
    filter_values: dict[str, Any],
    limit: int | None,
    *,
    everything: bool,
) -> list[Listed]:
    """The conversations to export."""
    if names:
        return [*{each.key: each for each in map(journal.one, names)}.values()][:limit]
    if query is not None:
        narrowed = (
            conversation_filter(filter_values, with_children=True) if is_filtered(filter_values) else None
        )
        return exporting.find_conversations(journal, query, narrowed, limit)
    return [*journal.conversations(conversation_filter(filter_values, with_children=everything))][:limit]


class _Export:
    """One run of `aj export`: what was written so far, and the notes."""

    def __init__(
        self, journal: Journal, writer: Writer, path: str | None, config: Config, *, all_notes: bool
    ) -> None:
        self._journal = journal
        self._config = config
        self._writer = writer
        self._path = path
        self._printer = NotePrinter(everything=all_notes)
        self.notes = Notes(sink=self._printer, keep=10_000)
        self.written: list[dict[str, object]] = []

    def write(
        self, chosen: list[Listed], shape: ExportOptions, *, theme: Theme, images: Images, memories: bool
    ) -> int:
        """Write conversations, and memories if asked to; returns how many items were written."""
        gc.disable()  # decoded JSON has no cycles
        prices = exporting.ListPrices(self._config)
        run = output.new_run(self.notes, theme=theme, images=images, list_price=prices.answer_cost)
        with progress(len(chosen), "conversations") as line:
            items = self._items(chosen, shape, run, line, memories=memories)
            first = next(items, None)  # nothing is written if there are no items
            written = 0
            if first is not None:
                all_items = chain([first], items)
                written = output.write_while_read(all_items, self._writer, self._path, run, data_out())
        prices.save_cache()
        self._printer.finish(self.notes)
        return written

    def _items(
        self, chosen: list[Listed], shape: ExportOptions, run: Run, line: ProgressLine, *, memories: bool
    ) -> Iterator[Item]:
        for listed, item in exporting.export_items(self._journal, chosen, shape, run):
            line.update(len(self.written) + 1, text=listed.title or listed.id)
            self.written.append(_as_data(listed, item))
            yield item
        if memories:
            yield from (exporting.redact_item(memory, shape, run) for memory in self._journal.memories())

    def report(self, written: int) -> None:
        """Print where the output is, and how much was redacted."""
        items = count(len(self.written), "conversation")
        if written > len(self.written):
            items += f" and {count(written - len(self.written), 'memory', 'memories')}"
        if self._path is not None:
            say(f"aj: Wrote {items} to {self._path} as {self._writer.INFO.title}.")
        if secrets := self.notes.counts.get(Kind.REDACTED):
            say(f"aj: Redacted {count(secrets, 'secret')}, see above; --include-secrets turns this off.")

    def report_as_json(self, written: int) -> None:
        """Print the same for programs."""
        for each in self.written:
            show_json(each)
        conversations = len(self.written)
        total = {"total": True, "conversations": conversations, "memories": written - conversations}
        secrets = self.notes.counts.get(Kind.REDACTED, 0)
        target = {"format": self._writer.INFO.name, "output": self._path, "redacted": secrets}
        show_json({**total, **target})


def _as_data(listed: Listed, item: Conversation) -> dict[str, object]:
    redacted = item.extra.get(REDACTIONS_KEY)
    messages = sum(1 for _ in tree.messages(item))
    data: dict[str, object] = {
        "id": listed.id,
        "source": listed.source,
        "title": listed.title,
        "messages": messages,
    }
    return {**data, REDACTIONS_KEY: redacted} if redacted else data
