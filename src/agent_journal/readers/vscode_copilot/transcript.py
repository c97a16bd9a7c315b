"""The extension's transcript of a session: a few of the events that the vendor's command line tool writes.

It is a second view of a session, and read only where the session itself is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.errors import UnreadableSource
from agent_journal.model import Message, ToolCall
from agent_journal.readers.dialects.copilot_events.session import Session
from agent_journal.readers.vscode_copilot import companions
from agent_journal.readers.vscode_copilot.names import kind_of
from agent_journal.readers.vscode_copilot.session import EDITOR

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation, Event, Part
    from agent_journal.notes import Notes


def conversation(source: Source, note: Notes, name: str) -> Conversation:
    """The conversation that a transcript tells."""
    events = Session(source, note)
    events.read()
    if not events.is_one:
        raise UnreadableSource(source.label, "no line in it is an event of a session")
    told = events.conversation(name)
    around = companions.workspace(source, note)
    return replace(
        told,
        cwd=told.cwd or companions.folder_of(around),
        editor=EDITOR,
        timeline=[_entry(entry) for entry in told.timeline],
        context={"workspace": around} if around else {},
    )


def _entry(entry: Message | Event) -> Message | Event:
    if not isinstance(entry, Message) or not any(isinstance(part, ToolCall) for part in entry.parts):
        return entry
    return replace(entry, parts=[_part(part) for part in entry.parts])


def _part(part: Part) -> Part:
    """A call of one of the editor's tools, which have other names than the command line tool's."""
    return replace(part, kind=kind_of(part.name)) if isinstance(part, ToolCall) else part
