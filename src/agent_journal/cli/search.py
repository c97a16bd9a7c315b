"""`aj search`: find what was said, thought or done."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_journal import journal as journals
from agent_journal.cli._filters import EMPTY, PROJECT, date_in_seconds, not_called, place
from agent_journal.cli._journal import bringing_up, settings
from agent_journal.search.query import FIELDS, Filters, parse
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import age, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.archive.store import Found
    from agent_journal.config import Config
    from agent_journal.journal.search import Answer, Hit, Mode
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import Query, Term
    from agent_journal.terminal import Piece, Sink

    Command = TypeVar("Command", bound=Callable[..., Any])

_LONGEST = 180  # characters of a message around a hit
_FROM = {
    "title": "title",
    "thinking": "thinking",
    "tool": "tool call",
    "output": "tool output",
    "attached": "attached file",
}
_ROLES = click.Choice(["user", "assistant", "system", "tool"])


def _fields(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in (value or "").split(",") if name.strip())
    wrong = [name for name in names if name not in FIELDS]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is none of {', '.join(FIELDS)}")
    return names


def _narrowing(command: Command) -> Command:
    """Give the verb the options by which a search is narrowed; they are called as `Filters` calls them."""
    for name, parameter, kind, told in reversed(
        (
            ("--source", "sources", "NAME", "Only from this source ('aj formats' lists them)."),
            ("--project", "projects", "TEXT", PROJECT),
            ("--model", "models", "TEXT", "Only what models with this in their name said."),
            ("--role", "roles", _ROLES, "Only what this one said."),
            ("--branch", "branches", "NAME", "Only what was said on this branch of a repository."),
            ("--tool", "tools", "NAME", "Only calls and output of this tool, or of tools of this kind."),
        )
    ):
        choice = {"metavar": kind} if isinstance(kind, str) else {"type": kind}
        command = click.option(name, parameter, multiple=True, help=told, **choice)(command)
    return command


class _Search(click.Command):
    """A verb with words among its arguments that begin with a minus and are no options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a blank before a word keeps it from being taken for an option."""
        options = (each for each in self.params if isinstance(each, click.Option) and not each.is_flag)
        with_value = {name for option in options for name in option.opts}
        told: list[str] = []
        for before, argument in zip(["", *args], args, strict=False):
            is_word = before not in with_value and _is_word(argument)
            told.append(f" {argument}" if is_word else argument)
        return super().parse_args(ctx, told)


def _is_word(argument: str) -> bool:
    """Whether an argument that looks like an option is none: `-not`, or something with blanks in it."""
    if argument.startswith("--"):
        return " " in argument.partition("=")[0]
    return argument.startswith("-") and argument not in {"-", "-h"}


@click.command(cls=_Search, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "semantic"]),
    help="By words (lexical), by meaning (semantic), or both; else as search.default_mode says.",
)
@click.option("--max", "limit", type=click.IntRange(min=1), help="How many conversations at most.")
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, show_default=True, help="Leave out the first."
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    metavar="N",
    help="So many messages around each hit; with --json as search.default_context says.",
)
@_narrowing
@click.option("--has-error", is_flag=True, help="Only where a tool failed.")
@click.option(
    "--conversation",
    "names",
    multiple=True,
    metavar="ID",
    help="Only within this conversation, by its id or the beginning of it.",
)
@click.option("--shown", is_flag=True, help="Only what is on the branch that 'aj show' shows.")
@click.option("--since", metavar="DATE", callback=date_in_seconds, help="Only what was said then or later.")
@click.option("--until", metavar="DATE", callback=date_in_seconds, help="Only what was said before.")
@click.option(
    "--in",
    "fields",
    metavar="WHERE",
    callback=_fields,
    help="Look for words only there: text, title, thinking, tool (or call, output), attached; several with "
    "commas.",
)
@click.option("--score", "with_score", is_flag=True, help="Show how well each hit matches.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per conversation, best first.")
def command(
    *,
    words: tuple[str, ...],
    mode: Mode | None,
    limit: int | None,
    offset: int,
    context: int | None,
    names: tuple[str, ...],
    with_score: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Find messages by words, "phrases", prefix*, -not, this OR that, field:value; or by what they mean."""
    now = time.time()
    asked["projects"] = tuple(map(place, asked["projects"]))
    query = parse(" ".join(words), Filters(**asked), now)
    if not names and _is_bare(query):
        if not words:
            raise click.UsageError("say what to look for: words, or an option such as --project")
        say("aj: there is no word or number to look for in that; signs and emoji alone are not found")
        return
    config = settings()
    around = context if context is not None else config.search.default_context if as_json else 0
    with journals.Journal(config, bringing_up) as journal:
        within = Filters(conversations=tuple(journal.one(name).key for name in names))
        query = query._replace(filters=query.filters + within)
        most = limit or config.search.max_results
        answer = journal.search(query, most, offset, around, mode=mode or _usual_mode(config), whole=as_json)
        for hit in answer.hits:
            if as_json:
                show_json(_as_data(hit))
            else:
                _show(hit, out(), now, with_score=with_score)
        if answer.hits and not as_json and out().width is not None:
            say("aj: 'aj show ID@MESSAGE' opens a hit, 'aj show ID --resume' says how to go on with it")
        if answer.has_more:
            say(f"aj: there is more; --offset {offset + len(answer.hits)} shows what follows")
    _tell(answer, query.unwanted, offset, as_json=as_json)
    _mend(answer, config)


def _usual_mode(config: Config) -> Mode:
    """How is looked for where nobody says so: who switched meaning off need not be told with every answer."""
    mode = config.search.default_mode
    return "lexical" if mode == "hybrid" and not config.index.vector.enabled else mode


def _is_bare(query: Query) -> bool:
    """Whether there is nothing in it to look for: signs alone, or a place without words."""
    filters = query.filters._replace(fields=(), shown=False)
    return not (query.wanted or query.unwanted) and filters == query.excluded == Filters()


def _tell(answer: Answer, unwanted: tuple[Term, ...] = (), offset: int = 0, *, as_json: bool) -> None:
    """Say what must be known about an answer."""
    for text, takes in answer.misfits:
        say(f"aj: {text!r} was looked for as it stands; {text.partition(':')[0]}: takes {takes}")
    for typed, meant in answer.corrections:
        say(f"aj: hardly anything has {typed!r}; also looked for {', '.join(map(repr, meant))}")
    if answer.problem:
        some = "" if answer.is_whole else ", the newest as far as two seconds went"
        say(f"aj: the search index cannot be used: {answer.problem}; the rows were looked through{some}")
    elif not answer.is_whole:
        say("aj: the search index lacks what came last; it was looked through as far as two seconds went")
    if answer.meaning:
        say(f"aj: {answer.meaning}")
    if answer.by_meaning:
        say("aj: nothing has these words; what was found is only alike in meaning")
    if answer.since is not None:
        day = datetime.fromtimestamp(answer.since, UTC).astimezone().date()
        say(f"aj: so many messages match that only those since {day} were ranked; --until looks further back")
    if answer.hits or as_json:
        return
    if answer.is_empty:
        say(f"aj: {EMPTY}")
    elif answer.unknown:
        for kind, name in answer.unknown:
            say(f"aj: nothing was found: {not_called(kind, name)}")
    elif offset:
        say(f"aj: nothing was found behind the first {offset:,}")
    else:
        words = [term.text for term in unwanted]
        hint = f"; -{words[0]} leaves out what has {words[0]!r}, in quotes it is looked for" if words else ""
        say(f"aj: nothing was found{hint}")


def _mend(answer: Answer, config: Config) -> None:
    """Make an index that is of no use again, and bring up one that is behind; the answer was given before."""
    if not answer.problem and not answer.behind:
        return
    if answer.problem:
        say("aj: making the search index again …")
    if journals.mend(config, anew=bool(answer.problem)):
        say("aj: the search index has everything now")
    else:
        say("aj: the search index cannot be written now; the next 'aj sync' brings it up")


def _as_data(hit: Hit) -> dict[str, object]:
    listed = hit.conversation
    return {
        "conversation": listed.id if listed else None,
        "message": hit.entry.message or None,
        "source": listed.source if listed else hit.entry.source or None,
        "title": listed.title if listed else None,
        "project": listed.project if listed else None,
        "role": hit.entry.role or None,
        "at": hit.entry.at,
        "score": round(hit.score, 4),
        "field": hit.field,
        "snippet": hit.snippet.text,
        "marks": hit.snippet.marks,
        "text": hit.entry.text,
        "context": [
            {"message": each.message, "role": each.role, "at": each.at, "text": each.text, "place": place}
            for place, side in (("before", hit.before), ("behind", hit.behind))
            for each in side
        ],
        "others": [
            {
                "conversation": each.conversation,
                "message": each.message or None,
                "role": each.role or None,
                "at": each.at,
                "score": round(each.score, 4),
            }
            for each in hit.others
        ],
        "copies": hit.copies,
    }


def _show(hit: Hit, sink: Sink, now: float, *, with_score: bool) -> None:
    listed = hit.conversation
    message = hit.entry.message
    name = "memory" if listed is None else f"{listed.id}@{message}" if message else listed.id
    sink.line(("strong", name), ("dim", f"  {hit.score:.2f}" if with_score else ""))
    where = (listed.title, listed.source, listed.project) if listed else (hit.entry.source,)
    role = hit.entry.role if listed else ""
    about = (*where, role, _FROM.get(hit.field), _when(hit.entry.at, now))
    sink.line("  ", ("dim", " · ".join(part for part in about if part)))
    for each in hit.before:
        _show_around(each, sink)
    sink.line("    ", *_marked(hit.snippet))
    for each in hit.behind:
        _show_around(each, sink)
    if hit.others or hit.copies:
        sink.line("    ", ("dim", _more(hit)))


def _when(at: str | None, now: float) -> str:
    told = age(at, now)
    return f"{short(at)} ({told})" if told else short(at)


def _more(hit: Hit) -> str:
    """What else there is: other hits, copies."""
    others, copies = len(hit.others), len(hit.copies)
    told = [f"+ {others:,} more in this conversation" if others else ""]
    told.append(f"also in {copies:,} {'copy' if copies == 1 else 'copies'}" if copies else "")
    return ", ".join(part for part in told if part)


def _marked(snippet: Snippet) -> list[Piece]:
    """A snippet on one line, with what was sought in it."""
    text = snippet.text.replace("\n", " ")
    pieces: list[Piece] = []
    at = 0
    for start, end in snippet.marks:
        pieces += [text[at:start], ("strong", text[start:end])]
        at = end
    return [*pieces, text[at:]]


def _show_around(each: Found, sink: Sink) -> None:
    text = each.text.strip().replace("\n", " ")
    sink.line("    ", ("dim", f"{each.role}: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"))
