"""A conversation object: its messages, in a list or, where they name their parents, in a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai.content import Scene
from agent_journal.readers.claude_ai.detect import SOURCE
from agent_journal.readers.claude_ai.message import read_message

if TYPE_CHECKING:
    from agent_journal.notes import Notes

Bag = dict[str, Any]
Entry = Message | Event


def read_conversation(
    record: Bag, place: str, account_id: str | None, told: set[str], note: Notes
) -> Conversation:
    """The conversation; `account_id` is whose it is if it does not say so itself."""
    fields = Fields(record, note, place)
    if not fields.has("chat_messages"):
        note(Kind.UNKNOWN_TYPE, place, "a conversation without chat_messages")
    messages = fields.items("chat_messages") or []
    conversation_id, is_made = identity(fields, messages)
    scene = Scene(conversation_id, place, told, note)
    timeline, is_tree = _timeline(messages, scene)
    scene.note_links()
    account = fields.nested("account")
    summary = fields.look("summary")
    if not summary:
        fields.drop("summary")
    return Conversation(
        id=conversation_id,
        made_id=is_made,
        source=SOURCE,
        title=fields.text("name") or None,
        started_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        model=fields.text("model"),
        account_id=(None if account is None else account.text("uuid")) or account_id,
        tags=["starred"] if fields.flag("is_starred") else [],
        shape="tree" if is_tree else "list",
        head_id=_head(fields, timeline) if is_tree else None,
        timeline=timeline,
        # It stays under its own name as well: another format wants it there.
        summaries=[Summary(text=summary)] if isinstance(summary, str) and summary else [],
        extra=fields.rest(),
    )


def identity(fields: Fields, messages: list[Any]) -> tuple[str, bool]:
    """The conversation's id, and whether it had to be made."""
    if found := fields.text("uuid"):
        return found, False
    fields.note(Kind.MISSING_ID, fields.where, "no uuid")
    return ids.made(SOURCE, fields.look("name"), fields.look("created_at"), messages), True


def _timeline(messages: list[Any], scene: Scene) -> tuple[list[Entry], bool]:
    """Every message, parents before children, and whether any of them names its parent."""
    timeline: list[Entry] = []
    known: set[str] = set()
    is_tree, in_order = False, True
    for index, record in enumerate(messages):
        if record is None:
            continue  # seen in exports; there is nothing in it
        where = f"{scene.place} message {index}"
        if record.__class__ is not dict:
            scene.note(Kind.WRONG_TYPE, where, f"a message is {type(record).__name__}")
            made = ids.made(scene.conversation_id, index, record)
            timeline.append(Event(id=made, made_id=True, name="unknown", data={"value": record}))
            continue
        is_tree = is_tree or record.get("parent_message_uuid") is not None
        entry = read_message(record, index, where, known, scene)
        in_order = in_order and (entry.parent_id is None or entry.parent_id in known)
        known.add(entry.id)
        timeline.append(entry)
    return (timeline if in_order else _ordered(timeline, known, scene)), is_tree


def _ordered(timeline: list[Entry], known: set[str], scene: Scene) -> list[Entry]:
    """Parents first; a parent that is not there or that comes back to its child is named and let go."""
    present: list[Entry] = []
    for entry in timeline:
        if isinstance(entry, Message) and entry.parent_id is not None and entry.parent_id not in known:
            scene.note(Kind.DANGLING_PARENT, f"{scene.place} {entry.id}", f"parent {entry.parent_id}")
            present.append(_let_go(entry))
        else:
            present.append(entry)
    placed, cut = tree.in_order(present)
    for entry_id in cut:
        scene.note(Kind.CYCLE, f"{scene.place} {entry_id}", "")
    return [_let_go(entry) if isinstance(entry, Message) and entry.id in cut else entry for entry in placed]


def _let_go(message: Message) -> Message:
    extra = {**message.extra, "parent_message_uuid": message.parent_id}
    return replace(message, parent_id=None, extra=extra)


def _head(fields: Fields, timeline: list[Entry]) -> str | None:
    """The leaf the person sees: stated in dumps of the web API; in exports it is the newest."""
    stated = fields.look("current_leaf_message_uuid")
    if isinstance(stated, str) and any(entry.id == stated for entry in timeline):
        fields.drop("current_leaf_message_uuid")
        return stated
    return tree.newest_leaf(timeline)
