"""One message: who speaks, after whom, and what; a flattened copy that says nothing else is left out."""

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
    from agent_journal.readers.claude_ai.content import Scene

Bag = dict[str, Any]

# The parent of a first message, in exports and in the web API.
_NOBODY = frozenset({"00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000", ""})
# What is between texts that are told as one.
_JOINT = "\n"


def read_message(record: Bag, index: int, where: str, known: set[str], scene: Scene) -> Message:
    """The message; `known` are the ids of those before it, which no other may have."""
    fields = Fields(record, scene.note, where)
    message_id, is_made = _id(fields, index, known, scene)
    stated = fields.look("content")
    parts = content.parts(_blocks(fields), message_id, where, scene)
    _settle_text(fields, parts, stated)
    parts += _media(fields)
    parent = fields.text("parent_message_uuid")
    return Message(
        id=message_id,
        made_id=is_made,
        role=_role(fields, scene),
        parent_id=None if parent in _NOBODY else parent,
        at=fields.moment("created_at"),
        model=fields.text("model"),
        stop_reason=fields.text("stop_reason"),
        parts=parts,
        extra=fields.rest(),
    )


def _blocks(fields: Fields) -> list[Any]:
    """The content as a list; what an object says beside the content that it holds stays."""
    stated = fields.look("content")
    if stated.__class__ is dict:
        inner, beside = unwrap(stated)
        if inner is not stated:
            fields.drop("content")
            if beside:
                fields.keep("content", beside)
            return [inner] if inner.__class__ is str else inner
    return [fields.take("content")] if stated.__class__ is str else fields.items("content") or []


def _id(fields: Fields, index: int, known: set[str], scene: Scene) -> tuple[str, bool]:
    stated = fields.text("uuid") or None
    if stated is not None and stated not in known:
        return stated, False
    if stated is None:
        fields.note(Kind.MISSING_ID, fields.where, "no uuid")
    else:
        fields.note(Kind.DUPLICATE_ID, fields.where, stated)
        fields.keep("uuid", stated)
    return ids.made(scene.conversation_id, "message", index, stated), True


def _role(fields: Fields, scene: Scene) -> Role:
    """`human` or `assistant`; any other word stays."""
    word = fields.take("sender")
    role = known_role(word)
    if role is None:
        scene.unknown(fields.where, f"sender {str(word)[:40]!r}")
    if word not in ("human", "assistant") and word is not None:
        fields.keep("sender", word)
    return role or "assistant"


def _settle_text(fields: Fields, parts: list[Part], stated: Any) -> None:
    """Make a part of `text` where it is all there is; else leave it out if the parts say the same.

    The app flattens the blocks to `text`: it puts white space between them, and a placeholder for each tool.
    What that makes of them cannot be told from the blocks. Where there are none, `content` stays, to say so.
    """
    text = fields.look("text")
    if text is not None and text.__class__ is not str:
        fields.text("text")  # noted, and it stays
    elif not parts:
        fields.drop("text")
        if text:
            parts.append(Text(text=text))
            fields.keep("content", [] if stated.__class__ is list else None)
    elif not text or text == _JOINT.join(part.text for part in parts if part.__class__ is Text):
        fields.drop("text")


def _media(fields: Fields) -> list[Part]:
    """The files of a message: `attachments` with their text, then `files`."""
    found: list[Part] = []
    for name, make in (("attachments", media.attachment), ("files", media.file)):
        given = fields.items(name)
        odd = [entry for entry in given or () if entry.__class__ is not dict and entry is not None]
        found += [
            make(Fields(entry, fields.note, fields.where)) for entry in given or () if entry.__class__ is dict
        ]
        if odd:
            fields.note(Kind.WRONG_TYPE, fields.where, f"{len(odd)} of {name}")
            fields.keep(name, odd)
    return found
