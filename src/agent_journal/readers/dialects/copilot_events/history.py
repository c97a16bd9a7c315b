"""Sessions of September and October 2025: messages of OpenAI's chat dialect, without ids and times.

Such a session is one JSON file, or, after it was resumed, the payload of an event that imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Message, ToolCall, ids
from agent_journal.notes import Kind
from agent_journal.readers.dialects import openai_messages as openai
from agent_journal.readers.dialects.copilot_events.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Part
    from agent_journal.notes import Notes

_MESSAGES = "chatMessages"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Read the conversation of a file."""
    fields = _load(source, note)
    session, started_at = fields.text("sessionId"), fields.timestamp("startTime")
    raw = fields.items(_MESSAGES) or []
    if not session:
        note(Kind.MISSING_ID, "", "no sessionId")
    model = fields.text("selectedModel")
    session_id = session or ids.made(name, source.name)
    timeline = messages(raw, session_id, model, note, "")
    return Conversation(
        id=session_id,
        made_id=not session,
        source=name,
        started_at=started_at,
        model=model,
        shape="list",
        timeline=[*timeline],
        extra=fields.rest(),
    )


def _load(source: Input, note: Notes) -> Fields:
    """Load the file's object; from a damaged file, load the remaining messages."""
    value = json_stream.load(source, note)
    if not isinstance(value, dict):
        value = {_MESSAGES: [message for _, message in json_stream.elements(source, note, _MESSAGES)]}
    return Fields(value, note, "")


def imported(data: dict[str, Any], event_id: str, note: Notes, location: int | str) -> list[Message]:
    """Take the messages of an import out of its payload; each follows the previous one."""
    legacy = Fields(data, note, location).view("legacySession")
    if not isinstance(legacy, dict):
        return []
    fields = Fields(legacy, note, location)
    model = fields.view("selectedModel")
    raw = fields.items(_MESSAGES) or []
    return messages(raw, event_id, model if isinstance(model, str) else None, note, f"line {location} ")


def messages(raw: list[Any], owner: str, model: str | None, note: Notes, location: str) -> list[Message]:
    """Convert chat messages, with ids generated from their index."""
    return [
        _message(message, ids.made(owner, index), model, note, f"{location}{_MESSAGES}[{index}]")
        for index, message in enumerate(raw)
    ]


def _message(raw: Any, message_id: str, model: str | None, note: Notes, location: str) -> Message:
    parsed = openai.parse_message(raw, note, location)
    return Message(
        id=message_id,
        made_id=True,
        role=parsed.role,
        model=model if parsed.role == "assistant" else None,
        parts=[_with_tool_kind(part) for part in parsed.parts],
        extra=parsed.extra,
    )


def _with_tool_kind(part: Part) -> Part:
    return replace(part, kind=TOOL_KINDS.get(part.name)) if isinstance(part, ToolCall) else part
