"""Sessions of September and October 2025: messages of OpenAI's chat dialect, without ids and times.

Such a session is one JSON file, or, once it was resumed, the payload of an event that imports it.
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
    from agent_journal.inputs.input import Source
    from agent_journal.model import Part
    from agent_journal.notes import Notes

_MESSAGES = "chatMessages"


def conversation(source: Source, note: Notes, name: str) -> Conversation:
    """The conversation that a file is."""
    fields = _whole(source, note)
    session, started_at = fields.text("sessionId"), fields.moment("startTime")
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


def _whole(source: Source, note: Notes) -> Fields:
    """The file as the object it is; of a damaged one, the messages that are left."""
    value = json_stream.load(source, note)
    if not isinstance(value, dict):
        value = {_MESSAGES: [message for _, message in json_stream.elements(source, note, _MESSAGES)]}
    return Fields(value, note, "")


def imported(data: dict[str, Any], event_id: str, note: Notes, where: int | str) -> list[Message]:
    """The messages that an import brings, taken out of its payload; each follows the one before."""
    legacy = Fields(data, note, where).look("legacySession")
    if not isinstance(legacy, dict):
        return []
    fields = Fields(legacy, note, where)
    model = fields.look("selectedModel")
    raw = fields.items(_MESSAGES) or []
    return messages(raw, event_id, model if isinstance(model, str) else None, note, f"line {where} ")


def messages(raw: list[Any], owner: str, model: str | None, note: Notes, where: str) -> list[Message]:
    """Chat messages as messages of the model, with ids made of their place."""
    return [
        _message(message, ids.made(owner, index), model, note, f"{where}{_MESSAGES}[{index}]")
        for index, message in enumerate(raw)
    ]


def _message(raw: Any, made: str, model: str | None, note: Notes, where: str) -> Message:
    said = openai.said(raw, note, where)
    return Message(
        id=made,
        made_id=True,
        role=said.role,
        model=model if said.role == "assistant" else None,
        parts=[_known(part) for part in said.parts],
        extra=said.extra,
    )


def _known(part: Part) -> Part:
    return replace(part, kind=TOOL_KINDS.get(part.name)) if isinstance(part, ToolCall) else part
