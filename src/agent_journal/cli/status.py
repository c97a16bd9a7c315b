"""`aj status`: show what is in the journal, how large it is, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agent_journal.cli._journal import conversation_count, open_journal, settings
from agent_journal.terminal import out, show, show_json
from agent_journal.terminal.command_name import with_command_name
from agent_journal.terminal.local_times import short
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count, missing_files, size, unread_files

if TYPE_CHECKING:
    from agent_journal.journal import UnreadFile

_COLUMNS = (
    Column("source"),
    Column("conversations", right=True),
    Column("messages", right=True),
    Column("newest"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--problems", is_flag=True, help="List the files that could not be read completely, and why.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object (with --problems: one per file)."
)
def command(*, problems: bool, as_json: bool) -> None:
    """Show what is in the journal, how large it is, and whether the search index is up to date."""
    with open_journal(settings()) as journal:
        if problems:
            _show_problems(journal.unread_files(), as_json=as_json)
        elif as_json:
            show_json(journal.status().to_dict())
        else:
            _show(journal.status().to_dict())


def _show(state: dict[str, Any]) -> None:
    disk = state["disk"]
    show(
        f"{state['home']}: {conversation_count(state['conversations'], state['aside'])}, "
        f"{count(state['messages'], 'message')}, {count(state['memories'], 'memory', 'memories')} "
        f"from {count(state['files'], 'file')} ({size(state['bytes'])})"
    )
    show(
        f"On disk: rows {size(disk['rows'])}, vault {size(disk['vault'])}, index {size(disk['index'])}, "
        f"embeddings {size(disk['vectors'])}"
    )
    if damaged := state["vault"]["damaged"]:
        pieces = count(damaged, "piece is", "pieces are")
        show(with_command_name(f"Vault: {pieces} damaged or missing; 'aj repair' restores what it can"))
    if state["vault"]["read_at"]:
        show(f"Vault: last read completely on {short(state['vault']['read_at'])}")
    if state["missing"]:
        show(f"Files: {missing_files(state['missing'])}")
    if unread := unread_files(state["partly"], state["unread"]):
        show(f"Files: {unread}; --problems lists them")
    if not state["index"]["whole"]:
        problem = state["index"]["problem"] or "not up to date; run 'aj sync'"
        show(with_command_name(f"Search index: {problem}"))
    _show_embeddings(state["vectors"])
    rows = (
        (name, f"{each['conversations']:,}", f"{each['messages']:,}", short(each["updated_at"]))
        for name, each in state["sources"].items()
    )
    show_table(out(), _COLUMNS, rows)


def _show_embeddings(vectors: dict[str, Any]) -> None:
    """Show how complete the embeddings are, unless they are complete."""
    if vectors["problem"]:
        show(with_command_name(f"Semantic search: {vectors['problem']}"))
    elif not vectors["whole"]:
        progress = (
            f"computing the rest{vectors['running']}" if vectors["running"] else "run 'aj embed' for the rest"
        )
        show(
            with_command_name(
                f"Semantic search: {vectors['done']:,} of {vectors['entries']:,} entries have embeddings; "
                f"{progress}"
            )
        )


def _show_problems(files: list[UnreadFile], *, as_json: bool) -> None:
    for each in files:
        if as_json:
            show_json(each.to_dict())
            continue
        show(f"{each.file}: {each.status}, {each.bytes:,} bytes")
        for note in each.notes:
            # Notes of a folder or zip state which file in it they are about.
            file = note["file"].removeprefix(each.file).lstrip("/")
            location = " ".join(part for part in (file, note["where"]) if part)
            show("  " + ": ".join(part for part in (location, note["kind"], note["detail"]) if part))
