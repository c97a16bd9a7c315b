"""`aj show`: one conversation, readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import readers, transforms
from agent_journal.cli._journal import reading
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._run import FAILED
from agent_journal.encoding import encodable
from agent_journal.notes import Notes
from agent_journal.terminal import out, say, show, show_json
from agent_journal.visible import quoted

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.archive.store import Listed
    from agent_journal.model import Conversation


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="ID[@MESSAGE]")
@click.option(
    "--branch", default="head", show_default=True, metavar="WHICH", help="head, all, or a message's id."
)
@click.option("--thinking", is_flag=True, help="Show what models thought.")
@click.option("--tools", is_flag=True, help="Show what tools were given and gave.")
@click.option(
    "--all", "everything", is_flag=True, help="Also what is hidden, what subagents said, and events."
)
@click.option(
    "--context", type=click.IntRange(min=0), default=3, show_default=True, help="Messages around MESSAGE."
)
@click.option("--redact", is_flag=True, help="Replace keys, tokens and passwords; each is noted.")
@click.option(
    "--redact-personal",
    is_flag=True,
    help="Replace e-mail addresses, phone, card and account numbers too.",
)
@click.option("--resume", is_flag=True, help="Only say how to go on with it in the tool it came from.")
@click.option("--json", "as_json", is_flag=True, help="The conversation as one JSON object.")
@click.option("--no-pager", is_flag=True, help="Print it all at once.")
def command(
    *,
    name: str,
    branch: str,
    thinking: bool,
    tools: bool,
    everything: bool,
    context: int,
    redact: bool,
    redact_personal: bool,
    resume: bool,
    as_json: bool,
    no_pager: bool,
) -> int:
    """Show a conversation by its id or the beginning of it; with @MESSAGE, what is around that message."""
    with reading() as archive:
        wanted, message = _parted(name, archive)
        listed = archive.one(wanted)
        if resume:
            return _tell_how_to_go_on(_worked_for(archive, listed))
        conversation = archive.store.conversation(listed.key)
        children = [(each.id, each.title, each.relation) for each in archive.store.children(listed.key)]
    if redact or redact_personal:
        conversation = _redacted(conversation, personal=redact_personal)
    if as_json:
        show_json(conversation)
        return 0
    from agent_journal.terminal.conversation import show_conversation  # noqa: PLC0415 (only for people)
    from agent_journal.terminal.pager import paged  # noqa: PLC0415
    from agent_journal.terminal.view import View  # noqa: PLC0415

    view = View(
        branch=branch,
        thinking=thinking,
        tools=tools,
        everything=everything,
        message=message,
        context=context,
    )
    with paged(wanted=not no_pager) as sink:
        show_conversation(conversation, sink, view, source_title=_title(listed.source), children=children)
    if listed.source_missing and out().width is not None:
        say("aj: the file that this came from is gone from disk; this journal keeps it")
    return 0


def _parted(name: str, archive: Archive) -> tuple[str, str | None]:
    """The conversation and the message that are named. Either may have an @ in its id."""
    ends = [len(name), *(place for place in reversed(range(len(name))) if name[place] == "@")]
    end = next((end for end in ends if archive.store.find(encodable(name[:end]))), name.find("@"))
    return (name, None) if end in {-1, len(name)} else (name[:end], name[end + 1 :])


def _redacted(conversation: Conversation, *, personal: bool) -> Conversation:
    """The conversation without its secrets; what they were is said on standard error."""
    printer = NotePrinter()
    notes = Notes(sink=printer)
    shown = transforms.redacted(conversation, notes, personal=personal)
    printer.finish(notes)
    return shown


def _title(source: str) -> str:
    known = readers.discover().get(source)
    return known.INFO.title if known else source


def _worked_for(archive: Archive, listed: Listed) -> Listed:
    """The conversation in which a person talked: nobody can go on with what a subagent did."""
    seen = {listed.id}
    while listed.relation == "subagent" and listed.parent_id and listed.parent_id not in seen:
        above = archive.store.find(f"{listed.source}:{listed.parent_id}")
        if len(above) != 1:
            break
        listed = above[0]
        seen.add(listed.id)
    return listed


def _tell_how_to_go_on(listed: Listed) -> int:
    if listed.only_prompts:
        say("aj: only the prompts of it are left; there is nothing to go on with")
        return FAILED
    known = readers.discover().get(listed.source)
    if known is None or not known.INFO.resume:
        say(f"aj: {_title(listed.source)} has no command that goes on with a conversation")
        return FAILED
    from shlex import quote  # noqa: PLC0415

    # Ids and folders are words of the source: whoever pastes this runs nothing else, with no other option.
    if listed.id.startswith("-"):
        title = _title(listed.source)
        say(f"aj: {title} would take the id {quoted(listed.id)} for an option; go on with it there")
        return FAILED
    command = known.INFO.resume.format(id=quote(listed.id))
    folder = f"./{listed.project}" if (listed.project or "").startswith("-") else listed.project
    show(f"cd {quote(folder)} && {command}" if folder else command)
    return 0
