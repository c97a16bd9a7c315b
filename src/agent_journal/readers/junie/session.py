"""A session as a conversation, with what the list of sessions states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, ids, tree
from agent_journal.readers.dialects.session_log import steps_of
from agent_journal.readers.junie.events import Events

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_PREFIX = "session-"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    steps = steps_of(source.label)
    folder_name = steps[-2] if len(steps) > 1 and steps[-2].startswith(_PREFIX) else None
    events = Events(folder_name or "", note)
    for number, line in json_stream.lines(source, note):
        if not events.session:
            events.session = ids.made(name, line)
        if line.__class__ is dict:
            events.add(Fields(line, note, number))
        else:
            events.add_value(line, number)
    entries = events.finish()
    first, last = tree.span(entries)
    facts = Fields(_listed(source, folder_name, note) if folder_name else {}, note, "index.jsonl")
    created_at, updated_at = facts.timestamp("createdAt"), facts.timestamp("updatedAt")
    title, folder = facts.text("taskName"), facts.text("projectDir")
    facts.drop("sessionId")
    rest = facts.rest()
    return Conversation(
        id=events.session,
        made_id=folder_name is None,
        source=name,
        title=events.title or title or None,
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=events.model,
        cwd=folder or None,
        shape="list",
        timeline=entries,
        extra={"index": rest} if rest else {},
    )


def _listed(source: Input, session: str, note: Notes) -> dict[str, Any]:
    """Return the last line of the list of sessions that is about a session."""
    file = source.companion("..", "index.jsonl")
    last: dict[str, Any] = {}
    if file is not None:
        for _, line in json_stream.lines(file, note.about(file.label)):
            if line.__class__ is dict and line.get("sessionId") == session:
                last = line
    return last
