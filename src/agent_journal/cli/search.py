"""`aj search`: find what was said, thought or done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import settings
from agent_journal.journal import Journal
from agent_journal.search.query import parse
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.moments import short

if TYPE_CHECKING:
    from agent_journal.archive.store import Found
    from agent_journal.search.query import Query
    from agent_journal.searching import Hit
    from agent_journal.terminal import Sink

_BEFORE, _AFTER = 60, 180


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--max", "limit", type=click.IntRange(min=1), help="How many hits at most.")
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, show_default=True, help="Leave out the first."
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    help="So many messages around each hit; with --json as search.default_context says.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per hit, best first.")
def command(
    *, words: tuple[str, ...], limit: int | None, offset: int, context: int | None, as_json: bool
) -> None:
    """Find messages by words; "several words" in quotes stand together, -word must not be there."""
    config = settings()
    query = parse(" ".join(words))
    around = context if context is not None else config.search.default_context if as_json else 0
    with Journal(config) as journal:
        answer = journal.search(query, limit or config.search.max_results, offset, around)
    sink = out()
    for hit in answer.hits:
        if as_json:
            show_json(_as_data(hit, query))
        else:
            _show(hit, query, sink)
    if not answer.is_whole:
        say("aj: something is not in the index yet; 'aj sync' brings it up")
    if not answer.hits and not as_json:
        say("aj: nothing was found")


def _as_data(hit: Hit, query: Query) -> dict[str, object]:
    listed = hit.conversation
    return {
        "conversation": listed.id if listed else None,
        "message": hit.entry.message or None,
        "source": listed.source if listed else None,
        "title": listed.title if listed else None,
        "project": listed.project if listed else None,
        "role": hit.entry.role or None,
        "at": hit.entry.at,
        "score": round(hit.score, 4),
        "snippet": snippet(hit.entry.text, query),
        "text": hit.entry.text,
        "context": [
            {"message": each.message, "role": each.role, "at": each.at, "text": each.text, "place": place}
            for place, side in (("before", hit.before), ("behind", hit.behind))
            for each in side
        ],
    }


def _show(hit: Hit, query: Query, sink: Sink) -> None:
    listed = hit.conversation
    name = (
        f"{listed.id}@{hit.entry.message}"
        if listed and hit.entry.message
        else listed.id
        if listed
        else "memory"
    )
    about = " · ".join(
        part for part in ((listed.title or "") if listed else "", hit.entry.role, short(hit.entry.at)) if part
    )
    sink.line(("strong", name), "  ", ("dim", about))
    for each in hit.before:
        _show_around(each, sink)
    sink.line("    ", snippet(hit.entry.text, query).replace("\n", " "))
    for each in hit.behind:
        _show_around(each, sink)


def _show_around(each: Found, sink: Sink) -> None:
    text = each.text.strip().replace("\n", " ")
    sink.line("    ", ("dim", f"{each.role}: {text[:_AFTER]}{'…' if len(text) > _AFTER else ''}"))


def snippet(text: str, query: Query) -> str:
    """The piece of a text where the first of the words stands."""
    words = [re.escape(term.text) for group in query.wanted for term in group if term.text]
    found = re.search("|".join(words), text, re.IGNORECASE) if words else None
    start = max(0, (found.start() if found else 0) - _BEFORE)
    end = min(len(text), (found.end() if found else 0) + _AFTER)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
