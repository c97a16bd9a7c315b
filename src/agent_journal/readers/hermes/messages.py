"""Messages: those of OpenAI's chat dialect, with fields of the tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.model import Message, Part, Role, ToolCall, ToolResult
from agent_journal.readers.dialects.openai_messages import parse_message
from agent_journal.readers.hermes.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.notes import Notes

_HIDDEN = "hidden"


def message_of(fields: Fields, note: Notes) -> tuple[Message, list[Part]]:
    """Return a message without an id, and its parts."""
    at = fields.timestamp("timestamp")
    stop_reason = fields.text("finish_reason") or None
    hidden = fields.view("display_kind") == _HIDDEN
    name = fields.text("tool_name") or None
    content = fields.view("content")
    if content.__class__ is str and content.startswith('[{"'):
        fields.keep("content", _decoded(content))
    for field in ("codex_reasoning_items", "codex_message_items", "api_content"):
        if not fields.view(field):
            fields.drop(field)
    parsed = parse_message(fields.rest(), note, fields.where)
    parts = [_with_kind(part, name) for part in parsed.parts]
    role: Role = parsed.role
    message = Message(
        id="", role=role, at=at, stop_reason=stop_reason, hidden=hidden, parts=parts, extra=parsed.extra
    )
    return message, parts


def _with_kind(part: Part, name: str | None) -> Part:
    if isinstance(part, ToolCall):
        extra = {
            field: value for field, value in part.extra.items() if field != "call_id" or value != part.call_id
        }
        return replace(part, kind=TOOL_KINDS.get(part.name), extra=extra)
    if isinstance(part, ToolResult) and part.name is None:
        return replace(part, name=name)
    return part


def _decoded(content: str) -> Any:
    """Return content that is a list of parts as text."""
    value = json_stream.decode(content.encode("utf-8", "replace"), _quiet(), "")
    is_list = value.__class__ is list and all(part.__class__ is dict and "type" in part for part in value)
    return value if is_list else content


def _quiet() -> Notes:
    from agent_journal.notes import Notes  # noqa: PLC0415 (only for content that looks like a list)

    return Notes(keep=0)
