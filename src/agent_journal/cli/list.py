"""`aj list`: the conversations in the journal."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from agent_journal.archive.sqlite.lists import SORTS
from agent_journal.cli._filters import filters, is_narrowed, wanted, why_none
from agent_journal.cli._journal import reading
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import short
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.archive.store import Listed

_COLUMNS = (
    Column("id", gives_way=True, tells_apart=True),
    Column("source"),
    Column("updated"),
    Column("messages", right=True),
    Column("project", gives_way=True),
    Column("title", gives_way=True, style="strong"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@filters
@click.option(
    "--sort", type=click.Choice(SORTS), default="updated", show_default=True, help="What goes first."
)
@click.option(
    "--max", "limit", type=click.IntRange(min=0), default=50, show_default=True, help="0 shows all."
)
@click.option("--all", "with_children", is_flag=True, help="Also those of subagents, and twins of others.")
@click.option("--missing", is_flag=True, help="Only those whose files are gone from disk.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per conversation.")
def command(
    *, sort: str, limit: int, with_children: bool, missing: bool, as_json: bool, **asked: str | None
) -> None:
    """List conversations, newest first."""
    with reading() as archive:
        chosen = wanted(asked, with_children=with_children, only_missing=missing)
        found = archive.store.conversations(chosen, sort, limit + 1 if limit else None)
        rows = islice(found, limit or None)
        if as_json:
            for each in rows:
                show_json(each)
        else:
            told = list(rows)
            show_table(out(), _COLUMNS, map(_row, told))
            if not told:
                say(f"aj: {why_none(archive.store, asked) or 'no conversation is like that'}")
        is_cut = next(found, None) is not None
        is_asked_for = as_json or missing or is_narrowed(asked) or with_children or is_cut
        left_out = 0 if is_asked_for else archive.store.counts().aside
    if is_cut:
        say(f"aj: the first {limit:,}; --max 0 shows all")
    if left_out:
        say(f"aj: not listed: {left_out:,} of subagents, or twins of these; --all lists them")


def _row(each: Listed) -> tuple[str, ...]:
    marks = [
        f"+{count(each.children, 'subagent')}" if each.children else "",
        "only the prompts" if each.only_prompts else "",
        "gone from disk" if each.source_missing else "",
        f"twin of {each.twin_of}" if each.twin_of else "",
    ]
    told = ", ".join(mark for mark in marks if mark)
    title = f"{each.title or ''} ({told})" if told else each.title or ""
    return each.id, each.source, short(each.updated_at), f"{each.messages:,}", each.project or "", title
