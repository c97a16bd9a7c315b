"""`aj context`: what happened in this project lately, short enough for the start of a session."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import click

from agent_journal.cli._filters import conversation_filter, explain_no_match, filters, is_filtered
from agent_journal.cli._journal import open_journal
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import short
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.journal import Page, RecentConversation

_MAX_BYTES = 1850  # without the marks around them
_MARK_BYTES = 6
_MAX_LINE_BYTES = 200
_ENDINGS = {"prompt": "no answer", "tool call": "in a tool call", "unknown": ""}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@filters
@click.option("--all", "in_all", is_flag=True, help="Conversations of all projects.")
@click.option(
    "--max",
    "limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Maximum number of conversations.",
)
@click.option("--quote", is_flag=True, help="For agents: mark the text as untrusted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per conversation.")
def command(*, in_all: bool, limit: int, quote: bool, as_json: bool, **filter_values: str | None) -> None:
    """Show what happened in this project lately, in at most 2,000 bytes.

    The project is the repository or folder that you are in. Of each conversation there are what was asked
    and how it ended, with secrets redacted.
    """
    is_here = not in_all and filter_values.get("project") is None
    folder = os.getcwd() if is_here else None  # noqa: PTH109 (a name, as tools record it)
    with open_journal() as journal:
        page = journal.recent(folder, conversation_filter(filter_values), limit=limit)
        if not page.items:
            say(f"aj: {explain_no_match(journal, filter_values) or _nothing(filter_values, is_here)}")
    if as_json:
        for each in page.items:
            show_json(each.to_dict())
        return
    if not page.items:
        return
    mark = f"quoted-{secrets.token_hex(_MARK_BYTES)}"
    if quote:
        out().line(f'<{mark} untrusted="true" of="the last conversations in this project">')
    for line in _within_limit(page):
        out().line(line)
    if quote:
        out().line(f"</{mark}>")


def _nothing(filter_values: dict[str, str | None], is_here: bool) -> str:  # noqa: FBT001
    if is_here and not is_filtered(filter_values):
        return "No conversation in the journal is about this project; --all shows those of all projects."
    return "No conversation matches these filters."


def _within_limit(page: Page[RecentConversation]) -> Iterator[str]:
    """Yield the lines of as many conversations as fit, and how many there are in all."""
    blocks: list[list[str]] = []
    size = _MAX_LINE_BYTES  # of the last line
    for each in page.items:
        block = [_cut(one_line(line)) for line in _lines(each)]
        size += sum(len(line.encode()) + 1 for line in block)
        if blocks and size > _MAX_BYTES:
            break
        blocks.append(block)
    for block in blocks:
        yield from block
    if len(blocks) < page.total:
        yield f"{len(blocks):,} of {count(page.total, 'conversation')}; 'aj list' and 'aj search' find more."


def _lines(each: RecentConversation) -> Iterator[str]:
    listed = each.conversation
    yield f"{short(listed.updated_at)} {listed.source} {listed.id}"
    if listed.title:
        yield f"  {listed.title}"
    if each.asked and each.asked != listed.title:
        yield f"  asked: {each.asked}"
    ended = each.answered if each.ending == "answer" else _ENDINGS[each.ending]
    if ended:
        yield f"  ended: {ended}"


def _cut(line: str) -> str:
    """Return a line that is short enough; no character is cut in two."""
    encoded = line.encode()
    if len(encoded) <= _MAX_LINE_BYTES:
        return line
    return f"{encoded[: _MAX_LINE_BYTES - 3].decode(errors='ignore')}…"
