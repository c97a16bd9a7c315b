"""`aj search`: search all conversations by words and by meaning."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_journal.cli._filters import (
    EMPTY_JOURNAL,
    PROJECT_HELP,
    date_in_seconds,
    project_text,
    unknown_name,
)
from agent_journal.cli._journal import name_of_source, open_journal, settings
from agent_journal.search.query import FIELDS, Filters, parse
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import age, short
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.config import Config
    from agent_journal.journal import EntryView
    from agent_journal.journal.answer import Answer, Hit, Mode
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import Query, Term
    from agent_journal.terminal import Piece, Sink

    Command = TypeVar("Command", bound=Callable[..., Any])

_MAX_NAMED_WORDS = 5  # that no message has
_MAX_CONTEXT_CHARS = 180  # of a message before or after a hit
_FIELD_LABELS = {
    "title": "title",
    "thinking": "thinking",
    "tool": "tool call",
    "output": "tool output",
    "attached": "attached file",
}
_ROLES = click.Choice(["user", "assistant", "system", "tool"])


def _fields(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in (value or "").split(",") if name.strip())
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(FIELDS)}")
    return names


def _filter_options(command: Command) -> Command:
    """Give the command its filter options; their parameters have the names of fields of `Filters`."""
    for name, parameter, kind, summary in reversed(
        (
            ("--source", "sources", "NAME", "Only this source or product ('aj formats' lists them)."),
            ("--project", "projects", "TEXT", PROJECT_HELP),
            ("--model", "models", "TEXT", "Only messages by models with this in their name."),
            ("--role", "roles", _ROLES, "Only messages with this role."),
            ("--branch", "branches", "NAME", "Only messages on this Git branch."),
            ("--tool", "tools", "NAME", "Only calls and results of tools with this name or kind."),
        )
    ):
        choice = {"metavar": kind} if isinstance(kind, str) else {"type": kind}
        command = click.option(name, parameter, multiple=True, help=summary, **choice)(command)
    return command


class _Search(click.Command):
    """A command that accepts words that start with a minus and are not options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a word gets a space before it, so that it is not taken for an option."""
        options = (each for each in self.params if isinstance(each, click.Option) and not each.is_flag)
        names_with_value = {name for option in options for name in option.opts}
        marked: list[str] = []
        for previous, argument in zip(["", *args], args, strict=False):
            is_word = previous not in names_with_value and _is_word(argument)
            marked.append(f" {argument}" if is_word else argument)
        return super().parse_args(ctx, marked)


def _is_word(argument: str) -> bool:
    """Whether an argument that looks like an option is a word: `-not`, or something that contains spaces."""
    if argument.startswith("--"):
        return " " in argument.partition("=")[0]
    return argument.startswith("-") and argument not in {"-", "-h"}


@click.command(cls=_Search, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "semantic"]),
    help="Search by words (lexical), by meaning (semantic), or both. Default: search.default_mode.",
)
@click.option(
    "--max",
    "limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of conversations. Default: search.max_results.",
)
@click.option(
    "--offset",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Skip the first N conversations.",
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show N messages before and after each hit. Default: 0, or search.default_context with --json.",
)
@_filter_options
@click.option("--has-error", is_flag=True, help="Only messages with a tool call that failed.")
@click.option(
    "--conversation",
    "names",
    multiple=True,
    metavar="ID",
    help="Only messages in this conversation; a prefix of its id is enough.",
)
@click.option("--shown", is_flag=True, help="Only messages on the branch that 'aj show' shows.")
@click.option("--since", metavar="DATE", callback=date_in_seconds, help="Only messages from this time on.")
@click.option("--until", metavar="DATE", callback=date_in_seconds, help="Only messages before this time.")
@click.option(
    "--in",
    "fields",
    metavar="WHERE",
    callback=_fields,
    help="Search words only in text, title, thinking, tool (or only its call or output), or attached; "
    "separate several with commas.",
)
@click.option("--score", "with_score", is_flag=True, help="Show the score of each hit.")
@click.option(
    "--facets",
    "only_facets",
    is_flag=True,
    help="Show how many messages match, by source, project, model and more, instead of the hits.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per conversation, best first.")
def command(
    *,
    words: tuple[str, ...],
    mode: Mode | None,
    limit: int | None,
    offset: int,
    context: int | None,
    names: tuple[str, ...],
    with_score: bool,
    only_facets: bool,
    as_json: bool,
    **filter_values: Any,
) -> None:
    """Search messages by words and by meaning.

    QUERY may contain words, "phrases", prefix*, -exclusions, this OR that, and field:value.
    """
    now = time.time()
    filter_values["projects"] = tuple(map(project_text, filter_values["projects"]))
    query = parse(" ".join(words), Filters(**filter_values), now)
    if not names and _is_empty(query) and not (only_facets and not words):
        if not "".join(words).strip():
            raise click.UsageError("Enter words to search for, or an option such as --project.")
        raise click.UsageError(
            "The query has no words or numbers; punctuation and emoji alone cannot be found."
        )
    config = settings()
    context_size = context if context is not None else config.search.default_context if as_json else 0
    with open_journal(config) as journal:
        within = Filters(conversations=tuple(journal.one(name).key for name in names))
        query = query._replace(filters=query.filters + within)
        if only_facets:
            from agent_journal.cli._facets import show_facets  # noqa: PLC0415 (rarely needed)

            show_facets(journal.facets(query), as_json=as_json)
            return
        max_hits = limit or config.search.max_results
        answer = journal.search(
            query, max_hits, offset, context_size, mode=mode or _default_mode(config), whole=as_json
        )
        _explain(answer)
        for hit in answer.hits:
            if as_json:
                show_json(hit.to_dict())
            else:
                _show(hit, out(), now, with_score=with_score)
        if answer.hits and not as_json and out().width is not None:
            say(
                "aj: 'aj show ID@MESSAGE' opens a hit; 'aj show ID --resume' shows how to continue the "
                "conversation in its tool."
            )
        if answer.has_more:
            say(f"aj: There are more results; --offset {offset + len(answer.hits)} shows the next ones.")
    _report(answer, query.negated, offset, as_json=as_json)


def _default_mode(config: Config) -> Mode:
    """The mode if no option sets it; without embeddings, it is lexical, so that no answer warns of it."""
    mode = config.search.default_mode
    return "lexical" if mode == "hybrid" and not config.index.vector.enabled else mode


def _is_empty(query: Query) -> bool:
    """Whether there is nothing to search for: only punctuation, or a field without words."""
    filters = query.filters._replace(fields=(), shown=False)
    return not (query.groups or query.negated) and filters == query.excluded == Filters()


def _explain(answer: Answer) -> None:
    """Print what the user must know before the hits: what was searched instead of the words."""
    for text, takes in answer.misfits:
        say(f"aj: Searched for {text!r} literally; {text.partition(':')[0]}: takes {takes}.")
    for typed, alternatives in answer.corrections:
        say(
            f"aj: Few or no messages contain {typed!r}; "
            f"also searched for {', '.join(map(repr, alternatives))}."
        )
    if answer.missing:
        instead = "; showing messages with a similar meaning" if answer.is_semantic_only else ""
        say(f"aj: No message contains {_enumerated(answer.missing)}{instead}.")
    elif answer.is_semantic_only:
        say("aj: No message contains these words; showing messages with a similar meaning.")


def _enumerated(words: Sequence[str]) -> str:
    """Some words in quotes; of many, the first ones and the number of the others."""
    named = [repr(word) for word in words[:_MAX_NAMED_WORDS]]
    if len(words) > _MAX_NAMED_WORDS:
        named.append(f"{len(words) - _MAX_NAMED_WORDS} other words")
    return " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _report(answer: Answer, excluded: tuple[Term, ...] = (), offset: int = 0, *, as_json: bool) -> None:
    """Print what the user must know about an answer after its hits."""
    if answer.problem:
        limit = "" if answer.is_whole else ", newest first and for two seconds"
        say(
            f"aj: Cannot use the search index: {answer.problem}. Searched without it{limit}; "
            "'aj reindex' rebuilds it."
        )
    elif answer.unindexed_count:
        limit = "" if answer.is_whole else ", for two seconds"
        say(
            "aj: The search index lacks the newest messages ('aj sync' adds them); "
            f"searched these without it{limit}."
        )
    if answer.semantic_problem:
        say(f"aj: {answer.semantic_problem}")
    if answer.since is not None:
        day = datetime.fromtimestamp(answer.since, UTC).astimezone().date()
        say(f"aj: Too many messages match: only those since {day} were ranked. --until reaches older ones.")
    if answer.hits or as_json:
        return
    if answer.is_empty:
        say(f"aj: {EMPTY_JOURNAL}")
    elif answer.unknown:
        for kind, name in answer.unknown:
            say(f"aj: Nothing found. {unknown_name(kind, name)}")
    elif offset:
        say(f"aj: No more results after the first {offset:,}.")
    elif excluded:
        word = excluded[0].text
        say(f"aj: Nothing found. -{word} excludes messages with {word!r}; put it in quotes to search for it.")
    else:
        say("aj: Nothing found.")


def _show(hit: Hit, sink: Sink, now: float, *, with_score: bool) -> None:
    listed = hit.conversation
    message = hit.entry.message
    name = "memory" if listed is None else f"{listed.id}@{message}" if message else listed.id
    sink.line(("strong", name), ("dim", f"  {hit.score:.2f}" if with_score else ""))
    where = (listed.title, name_of_source(listed), listed.project) if listed else (hit.entry.source,)
    role = hit.entry.role if listed else ""
    found_by = "similar in meaning" if hit.is_semantic_only else ""
    facts = (*where, role, _FIELD_LABELS.get(hit.field), _time(hit.entry.at, now), found_by)
    sink.line("  ", ("dim", " · ".join(fact for fact in facts if fact)))
    for each in hit.before:
        _show_context(each, sink)
    sink.line("    ", *_highlighted(hit.snippet))
    for each in hit.after:
        _show_context(each, sink)
    if hit.others or hit.copies:
        sink.line("    ", ("dim", _more(hit)))


def _time(at: str | None, now: float) -> str:
    time_ago = age(at, now)
    return f"{short(at)} ({time_ago})" if time_ago else short(at)


def _more(hit: Hit) -> str:
    """The numbers of other hits and of copies."""
    others, copies = len(hit.others), len(hit.copies)
    parts = [f"+ {others:,} more in this conversation" if others else ""]
    parts.append(f"also in {count(copies, 'copy', 'copies')}" if copies else "")
    return ", ".join(part for part in parts if part)


def _highlighted(snippet: Snippet) -> list[Piece]:
    """A snippet on one line, with its matches highlighted."""
    text = snippet.text.replace("\n", " ")
    pieces: list[Piece] = []
    at = 0
    for start, end in snippet.marks:
        pieces += [text[at:start], ("strong", text[start:end])]
        at = end
    return [*pieces, text[at:]]


def _show_context(entry: EntryView, sink: Sink) -> None:
    text = entry.text.strip().replace("\n", " ")
    ellipsis = "…" if len(text) > _MAX_CONTEXT_CHARS else ""
    sink.line("    ", ("dim", f"{entry.role}: {text[:_MAX_CONTEXT_CHARS]}{ellipsis}"))
