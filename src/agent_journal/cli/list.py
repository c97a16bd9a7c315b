"""`aj list`: the conversations in the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal.cli._filters import (
    NO_MATCH,
    conversation_filter,
    explain_no_match,
    filters,
    is_filtered,
)
from agent_journal.cli._journal import name_of_source, open_journal
from agent_journal.journal import SORTS
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import short
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.journal import Listed, Sort

_COLUMNS = (
    Column("id", gives_way=True, is_distinctive=True),
    Column("source"),
    Column("updated"),
    Column("messages", right=True),
    Column("project", gives_way=True),
    Column("title", gives_way=True, style="strong"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@filters
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="updated",
    show_default=True,
    help="Order of the conversations; updated and started: newest first.",
)
@click.option(
    "--max",
    "limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Maximum number of conversations; 0: all.",
)
@click.option("--all", "with_children", is_flag=True, help="Also list subagents and duplicates.")
@click.option("--missing", is_flag=True, help="Only conversations whose files are gone from disk.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per conversation.")
def command(
    *, sort: Sort, limit: int, with_children: bool, missing: bool, as_json: bool, **filter_values: str | None
) -> None:
    """List the conversations in the journal, newest first."""
    with open_journal() as journal:
        chosen = conversation_filter(filter_values, with_children=with_children, only_missing=missing)
        page = journal.list(chosen, sort=sort, limit=limit or None)
        if as_json:
            for each in page.items:
                show_json(each.to_dict())
        else:
            rows = [_row(each) for each in page.items]
            show_table(out(), _COLUMNS, rows)
            if not rows:
                say(f"aj: {explain_no_match(journal, filter_values) or NO_MATCH}")
        is_cut = len(page.items) < page.total
        is_partial = as_json or missing or is_filtered(filter_values) or with_children or is_cut
        hidden = 0 if is_partial else journal.count().hidden_from_lists
    if is_cut:
        say(f"aj: Showing the first {limit:,}; --max 0 shows all.")
    if hidden:
        not_listed = count(hidden, "subagent or duplicate", "subagents or duplicates")
        say(f"aj: Not listed: {not_listed}; --all lists them.")


def _row(each: Listed) -> tuple[str, ...]:
    marks = [
        f"+{count(each.children, 'subagent')}" if each.children else "",
        "prompts only" if each.only_prompts else "",
        "gone from disk" if each.source_missing else "",
        f"duplicate of {each.twin_of}" if each.twin_of else "",
    ]
    remarks = ", ".join(mark for mark in marks if mark)
    title = f"{each.title or ''} ({remarks})" if remarks else each.title or ""
    return (
        each.id,
        name_of_source(each),
        short(each.updated_at),
        f"{each.messages:,}",
        each.project or "",
        title,
    )
