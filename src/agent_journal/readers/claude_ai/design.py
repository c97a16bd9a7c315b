"""Claude Design, whose chats are in exports since July 2026: `messages` with camel-case contents."""

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
from agent_journal.readers.claude_ai.conversation import identity
from agent_journal.readers.claude_ai.detect import SOURCE
from agent_journal.readers.claude_ai.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

Bag = dict[str, Any]

_SPOKEN = ("text", "user_interjection", "error")


def read_design(record: Bag, place: str, note: Notes) -> Iterator[Conversation]:
    """The chat as a list: nothing in it names a parent."""
    fields = Fields(record, note, place)
    messages = fields.items("messages") or []
    conversation_id, is_made = identity(fields, messages)
    timeline: list[Message | Event] = []
    known: set[str] = set()
    for index, message in enumerate(messages):
        where = f"{place} message {index}"
        if isinstance(message, dict):
            entry = _message(Fields(message, note, where), conversation_id, index, known)
            known.add(entry.id)
            timeline.append(entry)
        elif message is not None:
            note(Kind.WRONG_TYPE, where, f"a message is {type(message).__name__}")
            made = ids.made(conversation_id, index, message)
            timeline.append(Event(id=made, made_id=True, name="unknown", data={"value": message}))
    yield Conversation(
        id=conversation_id,
        made_id=is_made,
        source=SOURCE,
        title=fields.text("title") or fields.text("name") or None,
        started_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        account_id=_author(timeline),
        shape="list",
        timeline=timeline,
        extra=fields.rest(),
    )


def _author(timeline: list[Message | Event]) -> str | None:
    """The person's id, if the messages name one person."""
    contents = [entry.extra.get("content") for entry in timeline if isinstance(entry, Message)]
    stated = [content.get("authorAccountUuid") for content in contents if isinstance(content, dict)]
    found = {account_id for account_id in stated if isinstance(account_id, str)}
    return found.pop() if len(found) == 1 else None


def _message(fields: Fields, conversation_id: str, index: int, known: set[str]) -> Message:
    stated = fields.text("uuid") or None
    is_made = stated is None or stated in known
    if stated is not None and is_made:
        fields.note(Kind.DUPLICATE_ID, fields.where, stated)
        fields.keep("uuid", stated)
    inner = fields.nested("content") if isinstance(fields.look("content"), dict) else None
    parts: list[Part] = []
    at = fields.moment("created_at")
    word = fields.look("role")
    if inner is not None:
        parts = _parts(inner)
        at = at or inner.moment("timestamp")
        word = word or inner.look("role")
        if inner.look("role") == word:
            inner.drop("role")
    elif text := fields.text("content"):
        parts = [Text(text=text)]
    role = known_role(word)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(word)[:40]!r}")
    elif role == word:
        fields.drop("role")
    return Message(
        id=ids.made(conversation_id, "message", index, stated) if stated is None or is_made else stated,
        made_id=is_made,
        role=role or "assistant",
        at=at,
        parts=parts,
        extra=fields.rest(),
    )


def _parts(content: Fields) -> list[Part]:
    """The blocks of a message, or its text where it has none, and its files."""
    found: list[Part] = []
    for block in content.items("contentBlocks") or ():
        if isinstance(block, dict):
            found += _block(Fields(block, content.note, content.where))
        elif block is not None:
            found.append(Other(data=block))
    text = content.look("content")
    if isinstance(text, str) and (not found or text in ("", *_said(found))):
        content.drop("content")
        if text and not found:
            found.append(Text(text=text))
    for entry in content.items("attachments") or ():
        found.append(
            _attached(Fields(entry, content.note, content.where))
            if isinstance(entry, dict)
            else Other(data=entry)
        )
    return found


def _said(parts: list[Part]) -> tuple[str, ...]:
    """What the flattened text of a message may be: interjections and errors are not in it."""
    texts = [part.text for part in parts if isinstance(part, Text) and not part.extra]
    return "".join(texts), "\n".join(texts), "\n\n".join(texts)


def _block(fields: Fields) -> list[Part]:
    kind = fields.look("type")
    call = fields.nested("toolCall") if kind == "tool_call" else None
    if call is not None:
        return _call(fields, call)
    if kind in _SPOKEN and (text := _words(fields)) is not None:
        if kind == "text":
            fields.drop("type")
        return [Text(text=text, extra=fields.rest())]
    if kind == "thinking":
        fields.drop("type")
        thought = fields.text("text") or fields.text("thinking")
        return [Reasoning(text=thought or None, extra=fields.rest())]
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"content block {str(kind)[:40]!r}")
    return [Other(data=fields.rest(), name=kind if isinstance(kind, str) else None)]


def _words(fields: Fields) -> str | None:
    """What a block says: an interjection and an error say it in a message, which may be an object."""
    if isinstance(fields.look("text"), str):
        return fields.text("text")
    message = fields.look("message")
    if isinstance(message, str):
        return fields.text("message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return None
    inner = fields.nested("message")
    return None if inner is None else inner.text("content")


def _call(fields: Fields, call: Fields) -> list[Part]:
    """A call and, in the same block, what came of it."""
    name, call_id = call.text("name") or "", call.text("id")
    value, has_output, output = call.take("input"), call.has("output"), call.take("output")
    fields.drop("type")
    asked = ToolCall(name=name, call_id=call_id, input=value, kind=TOOL_KINDS.get(name), extra=fields.rest())
    if not has_output or output is None:
        return [asked]
    answer = ToolResult(
        call_id=call_id, name=name or None, output=output if isinstance(output, str) else [Other(data=output)]
    )
    return [asked, answer]


def _attached(fields: Fields) -> Media:
    """A file, folder or skill; the content of a picture stays under its own name."""
    kind: MediaKind = "image" if fields.look("type") == "image" else "file"
    text = None if kind == "image" else fields.text("content") or None
    return Media(kind=kind, name=fields.text("name"), ref=fields.text("path"), text=text, extra=fields.rest())
