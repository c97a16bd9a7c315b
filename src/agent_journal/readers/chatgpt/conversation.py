"""A conversation object, with what the other files of an export say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Conversation, Feedback, Memory, Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt.assets import library_media
from agent_journal.readers.chatgpt.graph import in_order, parent_of
from agent_journal.readers.chatgpt.message import Scene, take_moment
from agent_journal.readers.chatgpt.names import SOURCE
from agent_journal.readers.chatgpt.timeline import read_timeline
from agent_journal.readers.chatgpt.values import moments, seconds

if TYPE_CHECKING:
    from typing import Literal

    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.graph import Order
    from agent_journal.readers.chatgpt.message import Entry
    from agent_journal.readers.chatgpt.sidecars import Sidecars

Bag = dict[str, Any]


def is_shared_link(record: Bag) -> bool:
    """Whether a record only says that a conversation was shared: such rows have no messages."""
    return "mapping" not in record and {"id", "conversation_id", "title"} <= record.keys()


def read_conversation(
    record: Bag, place: str, beside: Sidecars, note: Notes
) -> tuple[Conversation, list[Memory]]:
    """The conversation, and what the service wrote down about the person in it."""
    fields = Fields(record, note, place)
    mapping = fields.bag("mapping") or {}
    conversation_id, is_made = _id(fields, mapping)
    order = in_order(mapping)
    _note_odd_places(order, mapping, fields)
    *written, started, updated = moments(
        [*order.written, seconds(fields.look("create_time")), seconds(fields.look("update_time"))]
    )
    scene = Scene(place, mapping, beside.assets, note)
    timeline = read_timeline(scene, order, written)
    conversation = Conversation(
        id=conversation_id,
        made_id=is_made,
        source=SOURCE,
        title=fields.text("title"),
        started_at=take_moment(fields, "create_time", started),
        updated_at=take_moment(fields, "update_time", updated),
        model=fields.text("default_model_slug"),
        account_id=beside.account_id,
        archived=fields.flag("is_archived"),
        tags=["starred"] if fields.flag("is_starred") else [],
        head_id=_head(fields, timeline),
        link=scene.forked,
        timeline=timeline,
        feedback=_told_beside(conversation_id, fields, scene, beside),
        context=_context(scene.instructions),
        extra=fields.rest(),
    )
    return conversation, [
        _memory(text, at, conversation_id, beside.account_id) for text, at in scene.memories
    ]


def _note_odd_places(order: Order, mapping: Bag, fields: Fields) -> None:
    for key in order.dangling:
        fields.note(Kind.DANGLING_PARENT, f"{fields.where} {key}", f"parent {parent_of(mapping[key])}")
    for key in order.cut:
        fields.note(Kind.CYCLE, f"{fields.where} {key}", f"parent {parent_of(mapping[key])}")


def _id(fields: Fields, mapping: Bag) -> tuple[str, bool]:
    """The conversation's id, and whether it had to be made; a second id that differs stays."""
    first, second = fields.text("conversation_id") or None, fields.text("id") or None
    if first and second and first != second:
        fields.keep("id", second)
    if found := first or second:
        return found, False
    fields.note(Kind.MISSING_ID, fields.where, "no conversation_id and no id")
    return ids.made(SOURCE, fields.look("title"), fields.look("create_time"), sorted(mapping)), True


def _head(fields: Fields, timeline: list[Entry]) -> str | None:
    """The message the person sees last: the current node, or the nearest message above an empty one."""
    current = fields.text("current_node")
    if timeline and timeline[-1].id == current and isinstance(timeline[-1], Message):
        return current
    entry = next((entry for entry in timeline if entry.id == current), None)
    if isinstance(entry, Message):
        return current
    chain = [] if entry is None else tree.chain_to(timeline, entry.id)
    above = next((message for message in reversed(chain) if isinstance(message, Message)), None)
    if current is not None:
        fields.keep("current_node", current)
    return tree.newest_leaf(timeline) if above is None else above.id


def _context(instructions: list[str]) -> Bag:
    return {"custom_instructions": "\n\n".join(dict.fromkeys(instructions))} if instructions else {}


def _memory(text: str, at: str | None, conversation_id: str, account_id: str | None) -> Memory:
    return Memory(
        id=ids.made(SOURCE, "memory", text),
        made_id=True,
        source=SOURCE,
        kind="context",
        text=text,
        account_id=account_id,
        about=conversation_id,
        at=at,
    )


def _told_beside(conversation_id: str, fields: Fields, scene: Scene, beside: Sidecars) -> list[Feedback]:
    """Add what the other files say about the conversation; the ratings of its messages."""
    if beside.is_silent:
        return []
    messages = _messages_by_id(scene.timeline)
    for name, rows in (
        ("shared", beside.shared.take(conversation_id, ())),
        ("tool_messages", beside.tool_messages.take(conversation_id, messages)),
        ("library_files", beside.library.take(conversation_id, messages)),
    ):
        if rows:
            fields.keep(name if not fields.has(name) else f"{name}.json", rows)
        if name == "library_files":
            _add_files(rows, messages, beside)
    return [
        _feedback(Fields(row, fields.note, fields.where), messages)
        for row in beside.feedback.take(conversation_id, messages)
    ]


def _messages_by_id(timeline: list[Entry]) -> dict[str, Message]:
    """Messages by the ids of their nodes and by their own ids."""
    found: dict[str, Message] = {}
    for entry in timeline:
        if isinstance(entry, Message):
            found[entry.id] = entry
            if own := words(entry.extra.get("id")):
                found.setdefault(own, entry)
    return found


def _add_files(rows: list[Bag], messages: dict[str, Message], beside: Sidecars) -> None:
    """Hang files of the library at the message that made them, unless it points to them already."""
    for row in rows:
        message = messages.get(words(row.get("origination_message_id")) or "")
        if message is not None and (found := library_media(row, message.parts, beside.assets)) is not None:
            message.parts.append(found)


def _feedback(fields: Fields, messages: dict[str, Message]) -> Feedback:
    fields.drop("conversation_id")
    message = messages.get(words(fields.look("id")) or "")
    if message is not None:
        fields.drop("id")
    return Feedback(
        rating=_rating(fields),
        text=_comment(fields.look("content")),
        at=take_moment(fields, "create_time", None),
        message_id=None if message is None else message.id,
        extra=fields.rest(),
    )


def _rating(fields: Fields) -> Literal["up", "down"] | None:
    """`thumbsUp` or `thumbs_up`; any other word stays."""
    word = str(fields.look("rating")).lower().replace("_", "")
    if word not in {"thumbsup", "thumbsdown"}:
        return None
    fields.drop("rating")
    return "up" if word == "thumbsup" else "down"


def _comment(content: Any) -> str | None:
    """The text in a rating's content, which is JSON in a string."""
    if content.__class__ is str:
        try:
            content = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            return None
    return words(content.get("text")) if content.__class__ is dict else None
