"""`aj export`: conversations of the journal in any format, to be read by others; without secrets."""

from __future__ import annotations

import gc
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from agent_journal import writers
from agent_journal.cli._filters import filters, is_narrowed, wanted, why_none
from agent_journal.cli._journal import bringing_up, reading, settings
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._output import place
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.cli.convert import named_parts
from agent_journal.conversion import output
from agent_journal.journal import Journal
from agent_journal.journal import export as exporting
from agent_journal.journal.export import Shape
from agent_journal.model import tree
from agent_journal.notes import Kind, Notes
from agent_journal.redaction import RECORDED
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

# What a terminal shows as it was meant.
_TEXTS = {".md", ".txt", ".json", ".jsonl"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[ID...]")
@click.option("--all", "everything", is_flag=True, help="Everything in the journal, memories too.")
@click.option("--search", "query", metavar="QUERY", help="Those in which 'aj search' finds it.")
@filters
@click.option("--max", "limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("-t", "--to", "target", metavar="FORMAT", help="Default: export.default_format.")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="PATH",
    callback=place,
    help="A file; a folder if it ends with / or is one; or X.zip. Default: standard output.",
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages of each.")
@click.option(
    "--without",
    callback=named_parts,
    default="",
    metavar="WHAT",
    help="Leave out: thinking, tools, or both with a comma.",
)
@click.option(
    "--branch", metavar="WHICH", help="all, head, or the id of a message. Default: all; head with --last."
)
@click.option(
    "--subagents/--no-subagents",
    default=None,
    help="Whether what subagents did comes along. Default: yes, except to one file by ids.",
)
@click.option(
    "--images",
    type=click.Choice(["auto", "embed", "beside", "none"]),
    default="auto",
    show_default=True,
    help="Where pages have images: inside, in files beside them, or nowhere.",
)
@click.option(
    "--theme",
    type=click.Choice(["dark", "light", "auto"]),
    help="Colours of pages. Default: export.html_theme.",
)
@click.option("--include-secrets", is_flag=True, help="Leave keys, tokens and passwords in.")
@click.option(
    "--redact-personal",
    is_flag=True,
    help="Replace e-mail addresses, phone, card and account numbers too.",
)
@click.option("--all-notes", is_flag=True, help="Print every note, not only the first few of each kind.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each conversation written.")
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
    **asked: str | None,
) -> int:
    """Write conversations of the journal in any format: some by their ids, by filters or a search, or all.

    Keys, tokens and passwords are replaced by what they are, and named on standard error.
    """
    by_likeness = query is not None or is_narrowed(asked)
    if [bool(names), by_likeness, everything].count(True) != 1:
        raise click.UsageError("say what to export: ids, filters or --search QUERY, or --all")
    if include_secrets and redact_personal:
        raise click.UsageError("--include-secrets and --redact-personal contradict each other")
    settled = settings()
    writer = writers.get(target or settled.export.default_format)
    _refuse_nonsense(writer, path, images, as_json=as_json)
    shape = Shape(
        branch=branch or ("head" if last else "all"),
        last=last,
        without=_left_out(without, settled),
        secrets=include_secrets,
        personal=redact_personal,
        exact=writer.INFO.is_native,
        media=writer.INFO.layout == "pages" and images != "none",
        kin=writer.INFO.layout == "pages",
    )
    with Journal(settled, bringing_up) as journal:
        chosen = _chosen(journal, names, query, asked, limit, everything=everything)
        if not everything and (subagents if subagents is not None else _is_several(path) or not names):
            chosen = exporting.with_subagents(journal, chosen)
        export = _Export(journal, writer, path, settled, all_notes=all_notes)
        colours = theme or settled.export.html_theme
        written = export.write(chosen, shape, theme=colours, images=images, memories=everything)
    if not written:
        why = "what is meant cannot be read" if export.notes.damaged else _why_none(asked)
        say(f"aj: nothing was written: {why}")
        return FAILED
    if as_json:
        export.tell_as_json(written)
    else:
        export.tell(written)
    return PARTLY if export.notes.damaged else 0


def _why_none(asked: dict[str, Any]) -> str:
    with reading() as archive:
        return why_none(archive.store, asked) or "no conversation is like that"


def _refuse_nonsense(writer: Writer, path: str | None, images: Images, *, as_json: bool) -> None:
    if path is None and as_json:
        raise click.UsageError("--json tells what was written: say where to write it with -o PATH")
    if images == "beside" and not _is_several(path):
        raise click.UsageError("--images beside needs a place for them: a folder or zip, with -o")
    if path is None and writer.INFO.suffix not in _TEXTS and out().width is not None:
        raise click.UsageError(
            f"{writer.INFO.title} is nothing for a terminal: say where to write it with -o PATH"
        )


def _is_several(path: str | None) -> bool:
    """Whether several files are written."""
    import os  # noqa: PLC0415

    return path is not None and (path.endswith(("/", ".zip")) or os.path.isdir(path))  # noqa: PTH112


def _left_out(without: tuple[What, ...], settled: Config) -> tuple[What, ...]:
    if settled.export.include_tool_calls or "tools" in without:
        return without
    return (*without, "tools")


def _chosen(
    journal: Journal,
    names: tuple[str, ...],
    query: str | None,
    asked: dict[str, Any],
    limit: int | None,
    *,
    everything: bool,
) -> list[Listed]:
    """The conversations that are meant."""
    if names:
        return [*{each.key: each for each in map(journal.one, names)}.values()][:limit]
    if query is not None:
        return exporting.found(
            journal, query, wanted(asked, with_children=True) if is_narrowed(asked) else None, limit
        )
    return [*journal.conversations(wanted(asked, with_children=everything))][:limit]


class _Export:
    """One run: what was written so far, and what was odd."""

    def __init__(
        self, journal: Journal, writer: Writer, path: str | None, settled: Config, *, all_notes: bool
    ) -> None:
        self._journal = journal
        self._settled = settled
        self._writer = writer
        self._path = path
        self._printer = NotePrinter(everything=all_notes)
        self.notes = Notes(sink=self._printer, keep=10_000)
        self.written: list[dict[str, object]] = []

    def write(
        self, chosen: list[Listed], shape: Shape, *, theme: Theme, images: Images, memories: bool
    ) -> int:
        """Write them, and memories if they are wanted; how many there were."""
        gc.disable()  # decoded JSON has no cycles
        prices = exporting.ListPrices(self._settled)
        run = output.new_run(self.notes, theme=theme, images=images, list_price=prices.of_answer)
        with progress(len(chosen), "conversations") as line:
            items = self._items(chosen, shape, run, line, memories=memories)
            first = next(items, None)  # a document without any is no answer
            written = 0
            if first is not None:
                every = chain([first], items)
                written = output.write_while_read(every, self._writer, self._path, run, data_out())
        prices.keep()
        self._printer.finish(self.notes)
        return written

    def _items(
        self, chosen: list[Listed], shape: Shape, run: Run, line: ProgressLine, *, memories: bool
    ) -> Iterator[Item]:
        for listed, item in exporting.items(self._journal, chosen, shape, run):
            line.update(len(self.written) + 1, text=listed.title or listed.id)
            self.written.append(_as_data(listed, item))
            yield item
        if memories:
            yield from (exporting.guarded(memory, shape, run) for memory in self._journal.memories())

    def tell(self, written: int) -> None:
        """Say where it went, and that something was left out."""
        told = count(len(self.written), "conversation")
        if written > len(self.written):
            told += f" and {count(written - len(self.written), 'memory', 'memories')}"
        if self._path is not None:
            say(f"aj: {told} written to {self._path} as {self._writer.INFO.title}")
        if secrets := self.notes.counts.get(Kind.REDACTED):
            say(f"aj: {count(secrets, 'secret')} left out, see above; --include-secrets leaves them in")

    def tell_as_json(self, written: int) -> None:
        """The same for programs."""
        for each in self.written:
            show_json(each)
        conversations = len(self.written)
        total = {"total": True, "conversations": conversations, "memories": written - conversations}
        secrets = self.notes.counts.get(Kind.REDACTED, 0)
        where = {"format": self._writer.INFO.name, "output": self._path, "redacted": secrets}
        show_json({**total, **where})


def _as_data(listed: Listed, item: Conversation) -> dict[str, object]:
    redacted = item.extra.get(RECORDED)
    messages = sum(1 for _ in tree.messages(item))
    told: dict[str, object] = {
        "id": listed.id,
        "source": listed.source,
        "title": listed.title,
        "messages": messages,
    }
    return {**told, RECORDED: redacted} if redacted else told
