"""Reads chats of Claude Design, which exports have since July 2026: `messages` with camelCase contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import (
    Conversation,
    Event,
    Media,
    MediaKind,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ids,
)
from agent_journal.model.roles import role as known_role
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai.conversation import id_of
from agent_journal.readers.claude_ai.detect import SOURCE
from agent_journal.readers.claude_ai.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

JsonObject = dict[str, Any]

_TEXT_TYPES = ("text", "user_interjection", "error")


def read_design(record: JsonObject, location: str, note: Notes) -> Iterator[Conversation]:
    """Read the chat as a list: its messages name no parents."""
    fields = Fields(record, note, location)
    messages = fields.items("messages") or []
    conversation_id, has_made_id = id_of(fields, messages)
    timeline: list[Message | Event] = []
    known: set[str] = set()
    for index, message in enumerate(messages):
        message_location = f"{location} message {index}"
        if isinstance(message, dict):
            entry = _message(Fields(message, note, message_location), conversation_id, index, known)
            known.add(entry.id)
            timeline.append(entry)
        elif message is not None:
            note(Kind.WRONG_TYPE, message_location, f"a message is {type(message).__name__}")
            event_id = ids.made(conversation_id, index, message)
            timeline.append(Event(id=event_id, made_id=True, name="unknown", data={"value": message}))
    yield Conversation(
        id=conversation_id,
        made_id=has_made_id,
        source=SOURCE,
        title=fields.text("title") or fields.text("name") or None,
        started_at=fields.timestamp("created_at"),
        updated_at=fields.timestamp("updated_at"),
        account_id=_author(timeline),
        shape="list",
        timeline=timeline,
        extra=fields.rest(),
    )


def _author(timeline: list[Message | Event]) -> str | None:
    """Get the person's id, if the messages name exactly one."""
    contents = [entry.extra.get("content") for entry in timeline if isinstance(entry, Message)]
    values = [content.get("authorAccountUuid") for content in contents if isinstance(content, dict)]
    account_ids = {account_id for account_id in values if isinstance(account_id, str)}
    return account_ids.pop() if len(account_ids) == 1 else None


def _message(fields: Fields, conversation_id: str, index: int, known: set[str]) -> Message:
    stated = fields.text("uuid") or None
    has_made_id = stated is None or stated in known
    if stated is not None and has_made_id:
        fields.note(Kind.DUPLICATE_ID, fields.where, stated)
        fields.keep("uuid", stated)
    inner = fields.nested("content") if isinstance(fields.view("content"), dict) else None
    parts: list[Part] = []
    at = fields.timestamp("created_at")
    stated_role = fields.view("role")
    if inner is not None:
        parts = _parts(inner)
        at = at or inner.timestamp("timestamp")
        stated_role = stated_role or inner.view("role")
        if inner.view("role") == stated_role:
            inner.drop("role")
    elif text := fields.text("content"):
        parts = [Text(text=text)]
    role = known_role(stated_role)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated_role)[:40]!r}")
    elif role == stated_role:
        fields.drop("role")
    return Message(
        id=ids.made(conversation_id, "message", index, stated) if stated is None or has_made_id else stated,
        made_id=has_made_id,
        role=role or "assistant",
        at=at,
        parts=parts,
        extra=fields.rest(),
    )


def _parts(content: Fields) -> list[Part]:
    """Convert the blocks of a message, or its text if it has none, and its files."""
    parts: list[Part] = []
    for block in content.items("contentBlocks") or ():
        if isinstance(block, dict):
            parts += _block(Fields(block, content.note, content.where))
        elif block is not None:
            parts.append(Other(data=block))
    text = content.view("content")
    if isinstance(text, str) and (not parts or text in ("", *_flattened_texts(parts))):
        content.drop("content")
        if text and not parts:
            parts.append(Text(text=text))
    for entry in content.items("attachments") or ():
        parts.append(
            _attachment(Fields(entry, content.note, content.where))
            if isinstance(entry, dict)
            else Other(data=entry)
        )
    return parts


def _flattened_texts(parts: list[Part]) -> tuple[str, ...]:
    """List the possible flattened texts of a message; they omit interjections and errors."""
    texts = [part.text for part in parts if isinstance(part, Text) and not part.extra]
    return "".join(texts), "\n".join(texts), "\n\n".join(texts)


def _block(fields: Fields) -> list[Part]:
    kind = fields.view("type")
    call = fields.nested("toolCall") if kind == "tool_call" else None
    if call is not None:
        return _call(fields, call)
    if kind in _TEXT_TYPES and (text := _block_text(fields)) is not None:
        if kind == "text":
            fields.drop("type")
        return [Text(text=text, extra=fields.rest())]
    if kind == "thinking":
        fields.drop("type")
        thought = fields.text("text") or fields.text("thinking")
        return [Reasoning(text=thought or None, extra=fields.rest())]
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"content block {str(kind)[:40]!r}")
    return [Other(data=fields.rest(), name=kind if isinstance(kind, str) else None)]


def _block_text(fields: Fields) -> str | None:
    """Get the text of a block; interjections and errors have it in a message, which may be an object."""
    if isinstance(fields.view("text"), str):
        return fields.text("text")
    message = fields.view("message")
    if isinstance(message, str):
        return fields.text("message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return None
    inner = fields.nested("message")
    return None if inner is None else inner.text("content")


def _call(fields: Fields, call: Fields) -> list[Part]:
    """Convert a call and its result, which are in the same block."""
    name, call_id = call.text("name") or "", call.text("id")
    value, has_output, output = call.take("input"), call.has("output"), call.take("output")
    fields.drop("type")
    tool_call = ToolCall(
        name=name, call_id=call_id, input=value, kind=TOOL_KINDS.get(name), extra=fields.rest()
    )
    if not has_output or output is None:
        return [tool_call]
    tool_result = ToolResult(
        call_id=call_id, name=name or None, output=output if isinstance(output, str) else [Other(data=output)]
    )
    return [tool_call, tool_result]


def _attachment(fields: Fields) -> Media:
    """Convert a file, folder or skill; the content of an image stays under its own name."""
    kind: MediaKind = "image" if fields.view("type") == "image" else "file"
    text = None if kind == "image" else fields.text("content") or None
    return Media(kind=kind, name=fields.text("name"), ref=fields.text("path"), text=text, extra=fields.rest())
