"""Reads a conversation object, with the data that other files of an export have about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Feedback, Memory, Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt.assets import library_media
from agent_journal.readers.chatgpt.graph import in_order, parent_of
from agent_journal.readers.chatgpt.message import ReadingState, take_time
from agent_journal.readers.chatgpt.names import SOURCE
from agent_journal.readers.chatgpt.timeline import read_timeline
from agent_journal.readers.chatgpt.values import epoch_seconds, format_times

if TYPE_CHECKING:
    from typing import Literal

    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.graph import Order
    from agent_journal.readers.chatgpt.message import Entry
    from agent_journal.readers.chatgpt.sidecars import Sidecars

JsonObject = dict[str, Any]


def is_shared_link(record: JsonObject) -> bool:
    """Whether a record only says that a conversation was shared; it has no messages."""
    return "mapping" not in record and {"id", "conversation_id", "title"} <= record.keys()


def read_conversation(
    record: JsonObject, location: str, companions: Sidecars, note: Notes
) -> tuple[Conversation, list[Memory]]:
    """Read a conversation, and the memories about the person that the service saved in it."""
    fields = Fields(record, note, location)
    mapping = fields.bag("mapping") or {}
    conversation_id, has_made_id = _id(fields, mapping)
    order = in_order(mapping)
    _note_graph_errors(order, mapping, fields)
    *written_at, started, updated = format_times(
        [
            *order.written_at,
            epoch_seconds(fields.view("create_time")),
            epoch_seconds(fields.view("update_time")),
        ]
    )
    state = ReadingState(location, mapping, companions.assets, note)
    timeline = read_timeline(state, order, written_at)
    conversation = Conversation(
        id=conversation_id,
        made_id=has_made_id,
        source=SOURCE,
        title=fields.text("title"),
        started_at=take_time(fields, "create_time", started),
        updated_at=take_time(fields, "update_time", updated),
        model=fields.text("default_model_slug"),
        account_id=companions.account_id,
        archived=fields.flag("is_archived"),
        tags=["starred"] if fields.flag("is_starred") else [],
        head_id=_head(fields, timeline),
        link=state.fork_link,
        timeline=timeline,
        feedback=_add_companion_data(conversation_id, fields, state, companions),
        context=_context(state.instructions),
        extra=fields.rest(),
    )
    return conversation, [
        _memory(text, at, conversation_id, companions.account_id) for text, at in state.memories
    ]


def _note_graph_errors(order: Order, mapping: JsonObject, fields: Fields) -> None:
    for key in order.dangling:
        fields.note(Kind.DANGLING_PARENT, f"{fields.where} {key}", f"parent {parent_of(mapping[key])}")
    for key in order.cut:
        fields.note(Kind.CYCLE, f"{fields.where} {key}", f"parent {parent_of(mapping[key])}")


def _id(fields: Fields, mapping: JsonObject) -> tuple[str, bool]:
    """Get the conversation's id, and whether it was made; a different second id stays in the fields."""
    first, second = fields.text("conversation_id") or None, fields.text("id") or None
    if first and second and first != second:
        fields.keep("id", second)
    if conversation_id := first or second:
        return conversation_id, False
    fields.note(Kind.MISSING_ID, fields.where, "no conversation_id and no id")
    return ids.made(SOURCE, fields.view("title"), fields.view("create_time"), sorted(mapping)), True


def _head(fields: Fields, timeline: list[Entry]) -> str | None:
    """Get the last message on display: the current node, or the nearest message above an empty one."""
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


def _context(instructions: list[str]) -> JsonObject:
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


def _add_companion_data(
    conversation_id: str, fields: Fields, state: ReadingState, companions: Sidecars
) -> list[Feedback]:
    """Add what other files have about the conversation; return the ratings of its messages."""
    if companions.is_empty:
        return []
    messages = _messages_by_id(state.timeline)
    for name, rows in (
        ("shared", companions.shared.take(conversation_id, ())),
        ("tool_messages", companions.tool_messages.take(conversation_id, messages)),
        ("library_files", companions.library.take(conversation_id, messages)),
    ):
        if rows:
            fields.keep(name if not fields.has(name) else f"{name}.json", rows)
        if name == "library_files":
            _add_files(rows, messages, companions)
    return [
        _feedback(Fields(row, fields.note, fields.where), messages)
        for row in companions.feedback.take(conversation_id, messages)
    ]


def _messages_by_id(timeline: list[Entry]) -> dict[str, Message]:
    """Index messages by the ids of their nodes and by their own ids."""
    by_id: dict[str, Message] = {}
    for entry in timeline:
        if isinstance(entry, Message):
            by_id[entry.id] = entry
            if own := nonempty_str(entry.extra.get("id")):
                by_id.setdefault(own, entry)
    return by_id


def _add_files(rows: list[JsonObject], messages: dict[str, Message], companions: Sidecars) -> None:
    """Add library files to the messages that made them, unless they point to them already."""
    for row in rows:
        message = messages.get(nonempty_str(row.get("origination_message_id")) or "")
        if message is None:
            continue
        media = library_media(row, message.parts, companions.assets)
        if media is not None:
            message.parts.append(media)


def _feedback(fields: Fields, messages: dict[str, Message]) -> Feedback:
    fields.drop("conversation_id")
    message = messages.get(nonempty_str(fields.view("id")) or "")
    if message is not None:
        fields.drop("id")
    return Feedback(
        rating=_rating(fields),
        text=_comment(fields.view("content")),
        at=take_time(fields, "create_time", None),
        message_id=None if message is None else message.id,
        extra=fields.rest(),
    )


def _rating(fields: Fields) -> Literal["up", "down"] | None:
    """Take a rating that is `thumbsUp` or `thumbs_up`; any other word stays in the fields."""
    word = str(fields.view("rating")).lower().replace("_", "")
    if word not in {"thumbsup", "thumbsdown"}:
        return None
    fields.drop("rating")
    return "up" if word == "thumbsup" else "down"


def _comment(content: Any) -> str | None:
    """Get the text in a rating's content, which is JSON in a string."""
    if content.__class__ is str:
        try:
            content = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            return None
    return nonempty_str(content.get("text")) if content.__class__ is dict else None
