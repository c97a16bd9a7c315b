"""Reads a conversation object: a list of messages or, if they name their parents, a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai.content import ReadingState
from agent_journal.readers.claude_ai.detect import SOURCE
from agent_journal.readers.claude_ai.message import read_message

if TYPE_CHECKING:
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]
Entry = Message | Event


def read_conversation(
    record: JsonObject, location: str, account_id: str | None, noted: set[str], note: Notes
) -> Conversation:
    """Read a conversation; `account_id` is its owner if it does not name one itself."""
    fields = Fields(record, note, location)
    if not fields.has("chat_messages"):
        note(Kind.UNKNOWN_TYPE, location, "a conversation without chat_messages")
    messages = fields.items("chat_messages") or []
    conversation_id, has_made_id = id_of(fields, messages)
    state = ReadingState(conversation_id, location, noted, note)
    timeline, is_tree = _timeline(messages, state)
    state.note_links()
    account = fields.nested("account")
    summary = fields.view("summary")
    if not summary:
        fields.drop("summary")
    return Conversation(
        id=conversation_id,
        made_id=has_made_id,
        source=SOURCE,
        title=fields.text("name") or None,
        started_at=fields.timestamp("created_at"),
        updated_at=fields.timestamp("updated_at"),
        model=fields.text("model"),
        account_id=(None if account is None else account.text("uuid")) or account_id,
        tags=["starred"] if fields.flag("is_starred") else [],
        shape="tree" if is_tree else "list",
        head_id=_head(fields, timeline) if is_tree else None,
        timeline=timeline,
        # It also stays under its own name, where another format needs it.
        summaries=[Summary(text=summary)] if isinstance(summary, str) and summary else [],
        extra=fields.rest(),
    )


def id_of(fields: Fields, messages: list[Any]) -> tuple[str, bool]:
    """Get the conversation's id, and whether it was made."""
    if conversation_id := fields.text("uuid"):
        return conversation_id, False
    fields.note(Kind.MISSING_ID, fields.where, "no uuid")
    return ids.made(SOURCE, fields.view("name"), fields.view("created_at"), messages), True


def _timeline(messages: list[Any], state: ReadingState) -> tuple[list[Entry], bool]:
    """List the messages, parents before children; also return whether any of them names its parent."""
    timeline: list[Entry] = []
    known: set[str] = set()
    is_tree, in_order = False, True
    for index, record in enumerate(messages):
        if record is None:
            continue  # exports have null messages
        location = f"{state.location} message {index}"
        if record.__class__ is not dict:
            state.note(Kind.WRONG_TYPE, location, f"a message is {type(record).__name__}")
            event_id = ids.made(state.conversation_id, index, record)
            timeline.append(Event(id=event_id, made_id=True, name="unknown", data={"value": record}))
            continue
        is_tree = is_tree or record.get("parent_message_uuid") is not None
        entry = read_message(record, index, location, known, state)
        in_order = in_order and (entry.parent_id is None or entry.parent_id in known)
        known.add(entry.id)
        timeline.append(entry)
    return (timeline if in_order else _in_tree_order(timeline, known, state)), is_tree


def _in_tree_order(timeline: list[Entry], known: set[str], state: ReadingState) -> list[Entry]:
    """Sort parents first; missing parents and cycles are noted and cut."""
    linked: list[Entry] = []
    for entry in timeline:
        if isinstance(entry, Message) and entry.parent_id is not None and entry.parent_id not in known:
            state.note(Kind.DANGLING_PARENT, f"{state.location} {entry.id}", f"parent {entry.parent_id}")
            linked.append(_without_parent(entry))
        else:
            linked.append(entry)
    ordered, cut = tree.in_order(linked)
    for entry_id in cut:
        state.note(Kind.CYCLE, f"{state.location} {entry_id}", "")
    return [
        _without_parent(entry) if isinstance(entry, Message) and entry.id in cut else entry
        for entry in ordered
    ]


def _without_parent(message: Message) -> Message:
    extra = {**message.extra, "parent_message_uuid": message.parent_id}
    return replace(message, parent_id=None, extra=extra)


def _head(fields: Fields, timeline: list[Entry]) -> str | None:
    """Get the leaf on display: stated in dumps of the web API; in exports it is the newest."""
    stated = fields.view("current_leaf_message_uuid")
    if isinstance(stated, str) and any(entry.id == stated for entry in timeline):
        fields.drop("current_leaf_message_uuid")
        return stated
    return tree.newest_leaf(timeline)
