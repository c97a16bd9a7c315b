"""`aj show`: show one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import readers
from agent_journal.cli._journal import open_journal
from agent_journal.cli._main_conversation import main_conversation
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._options import REDACT_HELP, REDACT_PERSONAL_HELP
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.conversion import transforms
from agent_journal.notes import Notes
from agent_journal.terminal import out, say, show, show_json
from agent_journal.text.sanitize import quoted

if TYPE_CHECKING:
    from agent_journal.journal import ConversationLoader, Damage, Journal, Listed
    from agent_journal.model import Conversation


# Of a larger conversation, only what is shown is read.
_MAX_LOADED_BYTES = 8 << 20


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="ID[@MESSAGE]")
@click.option(
    "--branch",
    default="head",
    show_default=True,
    metavar="WHICH",
    help="Branch to show: head, all, or the id of a message in it.",
)
@click.option("--thinking", is_flag=True, help="Show reasoning in full.")
@click.option("--tools", is_flag=True, help="Show the input and output of tools.")
@click.option("--all", "everything", is_flag=True, help="Also show hidden messages, subagents and events.")
@click.option(
    "--context",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Show N messages before and after MESSAGE.",
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages.")
@click.option("--redact", is_flag=True, help=REDACT_HELP)
@click.option("--redact-personal", is_flag=True, help=REDACT_PERSONAL_HELP)
@click.option("--resume", is_flag=True, help="Only print the command that continues it in its tool.")
@click.option("--json", "as_json", is_flag=True, help="Print the conversation as one JSON object.")
@click.option("--no-pager", is_flag=True, help="Print everything at once.")
def command(
    *,
    name: str,
    branch: str,
    thinking: bool,
    tools: bool,
    everything: bool,
    context: int,
    last: int | None,
    redact: bool,
    redact_personal: bool,
    resume: bool,
    as_json: bool,
    no_pager: bool,
) -> int:
    """Show a conversation, or with @MESSAGE the part around a message. A prefix of an id is enough."""
    damage: list[Damage] = []
    with open_journal() as journal:
        conversation_name, message = _split_name(name, journal)
        if message is not None and last is not None:
            raise click.UsageError("@MESSAGE and --last cannot be combined.")
        listed = journal.one(conversation_name)
        if resume:
            main = main_conversation(journal, listed)
            return _show_resume_command(main, is_gone=journal.is_gone(main))
        loader: ConversationLoader | None = None
        is_small = journal.size_of(listed) <= _MAX_LOADED_BYTES
        if as_json or redact or redact_personal or is_small:
            conversation = journal.get(listed, on_damage=damage.append)
        else:
            loader = journal.load(listed)
            loader.damage = damage
            conversation = loader.conversation
        if redact or redact_personal:
            conversation = _redacted(conversation, personal=redact_personal)
        if as_json:
            if last is not None:
                conversation = transforms.last(transforms.branch(conversation, branch), last)
            show_json(conversation)
            return _report_damage(listed, damage)
        children = [(each.id, each.title, each.relation) for each in journal.children(listed)]
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
            last=last,
        )
        with paged(enabled=not no_pager) as sink:
            title = _title(listed.source)
            show_conversation(conversation, sink, view, source_title=title, children=children, load=loader)
    if listed.source_missing and out().width is not None:
        say("aj: The file of this conversation is gone from disk, but still in the journal.")
    return _report_damage(listed, damage)


def _report_damage(listed: Listed, damage: list[Damage]) -> int:
    """Report damage in what was shown; returns the exit code."""
    for each in damage:
        say(f"aj: {listed.source}:{listed.id}: {each.description}")
    return PARTLY if any(each.is_missing for each in damage) else 0


def _split_name(name: str, journal: Journal) -> tuple[str, str | None]:
    """The names of the conversation and of the message. Either id may contain an @."""
    ends = [len(name), *(index for index in reversed(range(len(name))) if name[index] == "@")]
    end = next((end for end in ends if journal.find(name[:end])), name.find("@"))
    return (name, None) if end in {-1, len(name)} else (name[:end], name[end + 1 :])


def _redacted(conversation: Conversation, *, personal: bool) -> Conversation:
    """The conversation without its secrets, whose kinds are reported on standard error."""
    printer = NotePrinter()
    notes = Notes(sink=printer)
    redacted = transforms.redacted(conversation, notes, personal=personal)
    printer.finish(notes)
    return redacted


def _title(source: str) -> str:
    reader = readers.discover().get(source)
    return reader.INFO.title if reader else source


def _show_resume_command(listed: Listed, *, is_gone: bool) -> int:
    if listed.only_prompts:
        say("aj: Cannot continue this conversation: only its prompts are left.")
        return FAILED
    reader = readers.discover().get(listed.source)
    title = _title(listed.source)
    if reader is None or not reader.INFO.resume:
        say(
            f"aj: {title} has no command that continues a conversation; "
            "'aj continue ID --in TOOL' continues it in another tool."
        )
        return FAILED
    from shlex import quote  # noqa: PLC0415

    # Ids and folders come from the source: pasting the command must not run anything else, or add an option.
    if listed.id.startswith("-"):
        say(
            f"aj: {title} would take the id {quoted(listed.id)} for an option; "
            "continue the conversation in the tool itself."
        )
        return FAILED
    command = reader.INFO.resume.format(id=quote(listed.id))
    folder = f"./{listed.project}" if (listed.project or "").startswith("-") else listed.project
    if is_gone:
        say(
            f"aj: {title} can no longer find this conversation: its file is gone from disk. "
            f"Write it back with 'aj restore {quote(f'{listed.source}:{listed.id}')}'."
        )
    show(f"cd {quote(folder)} && {command}" if folder else command)
    return 0
