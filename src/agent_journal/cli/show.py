"""`aj show`: one conversation, readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import readers
from agent_journal.archive.salvage import Sound
from agent_journal.cli._journal import reading
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.conversion import transforms
from agent_journal.decoding.text_encoding import encodable
from agent_journal.notes import Notes
from agent_journal.terminal import out, say, show, show_json
from agent_journal.text.sanitize import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Listed, Outline
    from agent_journal.model import Conversation
    from agent_journal.model.tree import Entry


# Of a conversation that is larger, only what is shown is read.
_LARGE = 8 << 20


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
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages.")
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
    last: int | None,
    redact: bool,
    redact_personal: bool,
    resume: bool,
    as_json: bool,
    no_pager: bool,
) -> int:
    """Show a conversation by its id or the beginning of it; with @MESSAGE, what is around that message."""
    with reading() as archive:
        wanted, message = _parted(name, archive)
        if message is not None and last is not None:
            raise click.UsageError("say @MESSAGE or --last, not both")
        listed = archive.one(wanted)
        if resume:
            return _tell_how_to_go_on(_worked_for(archive, listed))
        sound = Sound(archive)
        load: _Outlined | None = None
        if as_json or redact or redact_personal or archive.store.size_of(listed.key) <= _LARGE:
            conversation = sound.conversation(listed.key)
        else:
            load = _Outlined(sound, listed.key, archive.store.outline(listed.key))
            conversation = load.conversation
        if redact or redact_personal:
            conversation = _redacted(conversation, personal=redact_personal)
        if as_json:
            if last is not None:
                conversation = transforms.last(transforms.branch(conversation, branch), last)
            show_json(conversation)
            return _tell_damage(sound)
        children = [(each.id, each.title, each.relation) for each in archive.store.children(listed.key)]
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
        with paged(wanted=not no_pager) as sink:
            title = _title(listed.source)
            show_conversation(conversation, sink, view, source_title=title, children=children, load=load)
    if listed.source_missing and out().width is not None:
        say("aj: the file that this came from is gone from disk; this journal keeps it")
    return _tell_damage(sound)


class _Outlined:
    """Reads the entries of a large conversation when they are shown."""

    def __init__(self, sound: Sound, key: int, outline: Outline) -> None:
        self.conversation = outline.conversation
        self._sound = sound
        self._key = key
        places = zip(outline.conversation.timeline, outline.keys, outline.sizes, strict=True)
        self._places = {id(entry): (key, size) for entry, key, size in places}

    def entries(self, outlined: Sequence[Entry]) -> list[Entry]:
        """Entries as they are."""
        keys = [self._places[id(entry)][0] for entry in outlined if id(entry) in self._places]
        found = self._sound.entries(self._key, keys)
        return [
            found.get(self._places[id(entry)][0], entry) if id(entry) in self._places else entry
            for entry in outlined
        ]

    def size(self, outlined: Entry) -> int:
        """How many bytes an entry is."""
        return self._places[id(outlined)][1] if id(outlined) in self._places else 0


def _tell_damage(sound: Sound) -> int:
    """Say what is damaged of what was shown; the exit code."""
    told = sound.told()
    for each in told:
        say(f"aj: {each.name}: {each}")
    return PARTLY if any(each.missing for each in told) else 0


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
