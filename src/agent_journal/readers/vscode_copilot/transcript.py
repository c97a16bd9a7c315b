"""The extension's transcript of a session: a subset of the events that the Copilot CLI writes.

It is a second view of a session, and read only if the session itself is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.errors import UnreadableSource
from agent_journal.model import Message, ToolCall
from agent_journal.readers.dialects.copilot_events.session import Session
from agent_journal.readers.vscode_copilot import companions
from agent_journal.readers.vscode_copilot.names import tool_kind
from agent_journal.readers.vscode_copilot.session import EDITOR

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, Event, Part
    from agent_journal.notes import Notes


def read_transcript(source: Input, note: Notes, name: str) -> Conversation:
    """Read the conversation of a transcript."""
    events = Session(source, note)
    events.read()
    if not events.has_known_entries:
        raise UnreadableSource(source.label, "it contains no event of a session")
    conversation = events.conversation(name)
    workspace = companions.load_workspace(source, note)
    return replace(
        conversation,
        cwd=conversation.cwd or companions.workspace_folder(workspace),
        editor=EDITOR,
        timeline=[_entry(entry) for entry in conversation.timeline],
        context={"workspace": workspace} if workspace else {},
    )


def _entry(entry: Message | Event) -> Message | Event:
    if not isinstance(entry, Message) or not any(isinstance(part, ToolCall) for part in entry.parts):
        return entry
    return replace(entry, parts=[_part(part) for part in entry.parts])


def _part(part: Part) -> Part:
    """Set the kind of a call by the editor's tool names, which differ from those of the CLI."""
    return replace(part, kind=tool_kind(part.name)) if isinstance(part, ToolCall) else part
