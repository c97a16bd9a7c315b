"""Reads a message: role, parent and content; a flattened copy of the content is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Message, Part, Text, ids
from agent_journal.model.content_blocks import unwrap
from agent_journal.model.roles import role as known_role
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai import content, media

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.readers.claude_ai.content import ReadingState

JsonObject = dict[str, Any]

# The parent of a first message, in exports and in the web API.
_NO_PARENT = frozenset({"00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000", ""})
# The separator of flattened texts.
_SEPARATOR = "\n"


def read_message(
    record: JsonObject, index: int, location: str, known: set[str], state: ReadingState
) -> Message:
    """Read a message; `known` has the ids of the earlier ones, which must not repeat."""
    fields = Fields(record, state.note, location)
    message_id, has_made_id = _id(fields, index, known, state)
    stated = fields.view("content")
    parts = content.parts(_blocks(fields), message_id, location, state)
    _take_text(fields, parts, stated)
    parts += _media(fields)
    parent = fields.text("parent_message_uuid")
    return Message(
        id=message_id,
        made_id=has_made_id,
        role=_role(fields, state),
        parent_id=None if parent in _NO_PARENT else parent,
        at=fields.timestamp("created_at"),
        model=fields.text("model"),
        stop_reason=fields.text("stop_reason"),
        parts=parts,
        extra=fields.rest(),
    )


def _blocks(fields: Fields) -> list[Any]:
    """Get the content as a list; the other fields of an object that wraps it stay."""
    stated = fields.view("content")
    if stated.__class__ is dict:
        inner, other_fields = unwrap(stated)
        if inner is not stated:
            fields.drop("content")
            if other_fields:
                fields.keep("content", other_fields)
            return [inner] if inner.__class__ is str else inner
    return [fields.take("content")] if stated.__class__ is str else fields.items("content") or []


def _id(fields: Fields, index: int, known: set[str], state: ReadingState) -> tuple[str, bool]:
    stated = fields.text("uuid") or None
    if stated is not None and stated not in known:
        return stated, False
    if stated is None:
        fields.note(Kind.MISSING_ID, fields.where, "no uuid")
    else:
        fields.note(Kind.DUPLICATE_ID, fields.where, stated)
        fields.keep("uuid", stated)
    return ids.made(state.conversation_id, "message", index, stated), True


def _role(fields: Fields, state: ReadingState) -> Role:
    """Take the role `human` or `assistant`; any other word stays in the fields."""
    sender = fields.take("sender")
    role = known_role(sender)
    if role is None:
        state.unknown(fields.where, f"sender {str(sender)[:40]!r}")
    if sender not in ("human", "assistant") and sender is not None:
        fields.keep("sender", sender)
    return role or "assistant"


def _take_text(fields: Fields, parts: list[Part], stated: Any) -> None:
    """Convert `text` if there are no blocks; else drop it if the parts have the same text.

    The app flattens the blocks to `text` with white space between them and a placeholder for each tool, so
    `text` cannot be rebuilt from the blocks. Without blocks, the empty `content` stays.
    """
    text = fields.view("text")
    if text is not None and text.__class__ is not str:
        fields.text("text")  # notes the wrong type; the value stays
    elif not parts:
        fields.drop("text")
        if text:
            parts.append(Text(text=text))
            fields.keep("content", [] if stated.__class__ is list else None)
    elif not text or text == _SEPARATOR.join(part.text for part in parts if part.__class__ is Text):
        fields.drop("text")


def _media(fields: Fields) -> list[Part]:
    """Convert the files of a message: `attachments` with their text, then `files`."""
    result: list[Part] = []
    for name, convert in (("attachments", media.attachment), ("files", media.file)):
        entries = fields.items(name)
        invalid = [entry for entry in entries or () if entry.__class__ is not dict and entry is not None]
        result += [
            convert(Fields(entry, fields.note, fields.where))
            for entry in entries or ()
            if entry.__class__ is dict
        ]
        if invalid:
            fields.note(Kind.WRONG_TYPE, fields.where, f"{len(invalid)} of {name}")
            fields.keep(name, invalid)
    return result
