"""One agent of a session as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects import undone_turns
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.kimi import names, wire
from agent_journal.readers.kimi.cli_wire import CliWire, Context
from agent_journal.readers.kimi.companions import Place, id_of, link
from agent_journal.readers.kimi.detect import CLI, CONTEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Summary, Tool
    from agent_journal.notes import Notes

# A title that the app made, until there is a better one.
_REPLACEABLE = "replaceable"
_CLI_EVENTS = names.CLI_EVENTS | names.CONTEXT_EVENTS | {"step"}


def conversation(
    source: Input, version: str, lines: Iterable[tuple[int, Any]], note: Notes, name: str
) -> Conversation:
    """Make the conversation of a file."""
    place = Place(source)
    if version == CLI:
        return _from_cli(CliWire(note, place.agents_with_files()), place, lines, note, name)
    if version == CONTEXT:
        return _from_cli(Context(note), place, lines, note, name)
    reader = wire.Wire(note)
    log = _log(place, note, names.is_known_type)
    _add_all(lines, reader, note)
    summaries = reader.write(log)
    return _make(
        place,
        log,
        note,
        name,
        cwd=reader.cwd,
        started_at=reader.created_at,
        summaries=summaries,
        tools=[*reader.tools.values()],
    )


def _from_cli(
    reader: CliWire | Context, place: Place, lines: Iterable[tuple[int, Any]], note: Notes, name: str
) -> Conversation:
    log = _log(place, note, _CLI_EVENTS.__contains__)
    _add_all(lines, reader, note)
    reader.write(log)
    return _make(place, log, note, name, cwd=place.folder_by_prompt())


def _log(place: Place, note: Notes, is_known: Callable[[str], bool]) -> SessionLog:
    return SessionLog(id_of(place.session or "", place.agent), note, is_known)


def _add_all(lines: Iterable[tuple[int, Any]], reader: wire.Wire | CliWire | Context, note: Notes) -> None:
    for number, line in lines:
        if line.__class__ is dict:
            reader.add(Fields(line, note, number))
        else:
            reader.add_value(line, number)
    if not reader.is_known:
        raise UnreadableSource(note.file, "no line in it belongs to a session")


def _make(
    place: Place,
    log: SessionLog,
    note: Notes,
    name: str,
    *,
    cwd: str | None = None,
    started_at: str | None = None,
    summaries: list[Summary] | None = None,
    tools: list[Tool] | None = None,
) -> Conversation:
    state = place.state(note)
    is_main = place.agent is None
    entries, head = log.entries, None
    if any(isinstance(entry, Event) and wire.undone_turns(entry) for entry in entries):
        entries, head = undone_turns.as_tree(entries, wire.undone_turns)
    first, last = tree.span(entries)
    own_id = id_of(place.session, place.agent) if place.session and place.is_session_folder else None
    if own_id is None:
        note(Kind.MISSING_ID, "", "the file is not in the folder of a session")
    stated_title = nonempty_str(state.view("custom_title")) or nonempty_str(state.view("title"))
    is_title = is_main and state.view("titleKind") != _REPLACEABLE
    archived = state.view("archived")
    return Conversation(
        id=own_id or ids.made(name, started_at or first),
        made_id=own_id is None,
        source=name,
        title=stated_title if is_title else place.description(note),
        started_at=started_at or first,
        updated_at=last or started_at,
        model=first_model(entries),
        cwd=nonempty_str(state.view("cwd")) or nonempty_str(state.view("workDir")) or cwd,
        archived=True if archived is True else None,
        shape="list" if head is None else "tree",
        head_id=head,
        link=link(state, place, place.agent) if own_id else None,
        timeline=entries,
        summaries=summaries or [],
        tools=tools or [],
        extra={"state": rest} if is_main and (rest := state.rest()) else {},
    )
