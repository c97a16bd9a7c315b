"""Reads a conversation: one that this program wrote is restored, any other is read by the format's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Event, Message, ids, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.pam import restored
from agent_journal.readers.pam.messages import MessageReader
from agent_journal.readers.pam.names import CONVERSATION, OWN_KEY, SOURCE

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input

JsonObject = dict[str, Any]
Entry = Message | Event


def read_conversation(file: Input, note: Notes) -> Conversation | None:
    """Read as much as possible of the conversation in a file; None if there is none."""
    record, messages = _decode_clean(file) or _decode_damaged(file, note)
    if not messages and (record.get("schema") != CONVERSATION or len(record) == 1):
        note(Kind.BAD_RECORD, "", "no conversation")
        return None
    return _restored(record, messages, note) or _converted(record, messages, note)


def _decode_clean(file: Input) -> tuple[JsonObject, list[Any]] | None:
    """Decode a file into its record and its messages; None if there is anything to note about it."""
    quiet = Notes(keep=0)
    value = json_stream.load(file, quiet)
    if quiet.counts or value.__class__ is not dict or value.get("messages").__class__ is not list:
        return None
    return value, value.pop("messages")


def _decode_damaged(file: Input, note: Notes) -> tuple[JsonObject, list[Any]]:
    """Decode what is left of a truncated or damaged file."""
    record: JsonObject = {}
    messages: list[Any] = []
    for name, index, value in json_stream.members(file, note):
        if index is None:
            record[name] = value
        elif name == "messages":
            messages.append(value)
        else:
            items = record.setdefault(name, [])
            items.append(value) if items.__class__ is list else None
    return record, messages


def _restored(record: JsonObject, messages: list[Any], note: Notes) -> Conversation | None:
    """Restore a conversation that this program wrote; None if another program wrote it."""
    raw = record.get("raw_metadata")
    own_fields = raw.get(OWN_KEY) if raw.__class__ is dict else None
    if not isinstance(own_fields, dict) or not isinstance(stored := own_fields.get("conversation"), dict):
        return None
    try:
        conversation = msgspec.convert({**stored, "type": "conversation"}, Conversation)
    except msgspec.ValidationError as error:
        note(Kind.BAD_RECORD, f"raw_metadata.{OWN_KEY}", str(error))
        return None
    value = record.get("provider")
    provider: JsonObject = value if value.__class__ is dict else {}
    tags = record.get("tags")
    timeline = restored.Timeline(messages, nonempty_str(provider.get("name")) or "", note)
    return replace(
        conversation,
        title=_string(record.get("title")),
        account_id=_string(provider.get("account_id")),
        model=_string(record.get("model")),
        tags=conversation.tags
        or [tag for tag in (tags if tags.__class__ is list else ()) if tag.__class__ is str],
        timeline=timeline.with_events(own_fields.get("events")),
        extra=restored.extra_of(raw, timeline.provider),
    )


def _string(value: Any) -> str | None:
    return value if value.__class__ is str else None


def _converted(record: JsonObject, messages: list[Any], note: Notes) -> Conversation:
    """Convert a conversation that another program wrote."""
    fields = Fields(record, note, "conversation")
    fields.drop("schema")
    if fields.view("schema_version") == "1.0":
        fields.drop("schema_version")
    stated_id = fields.text("id") or None
    if stated_id is None:
        note(Kind.MISSING_ID, "conversation", "no id")
    conversation_id = stated_id or ids.made(SOURCE, record.get("title"), record.get("temporal"), messages[:1])
    reader = MessageReader(conversation_id, messages, note)
    timeline = _parents_first(reader.entries(), note)
    is_tree = any(entry.parent_id is not None for entry in timeline)
    temporal, provider = fields.nested("temporal"), fields.nested("provider")
    instruction = fields.text("system_instruction")
    return Conversation(
        id=conversation_id,
        made_id=stated_id is None,
        source=SOURCE,
        title=fields.text("title"),
        started_at=None if temporal is None else temporal.timestamp("created_at"),
        updated_at=None if temporal is None else temporal.timestamp("updated_at"),
        model=fields.text("model"),
        account_id=None if provider is None else provider.text("account_id"),
        archived=fields.flag("is_archived"),
        tags=_tags(fields),
        shape="tree" if is_tree else "list",
        head_id=tree.newest_leaf(timeline) if is_tree else None,
        timeline=timeline,
        platform={} if provider is None else _platform(provider),
        context={} if instruction is None else {"custom_instructions": instruction},
        extra=fields.rest(),
    )


def _platform(provider: Fields) -> JsonObject:
    """Get the product, and the id and export format that it used."""
    names = {"provider": "name", "conversation_id": "conversation_id", "format": "export_format_version"}
    values = {name: provider.text(field) for name, field in names.items()}
    return {name: value for name, value in values.items() if value is not None}


def _tags(fields: Fields) -> list[str]:
    tags = fields.items("tags") or []
    if others := [tag for tag in tags if tag.__class__ is not str]:
        fields.keep("tags", others)
    return [tag for tag in tags if tag.__class__ is str]


def _parents_first(entries: list[Entry], note: Notes) -> list[Entry]:
    """Order entries so that parents come first; a missing parent or a cycle is noted and cut."""
    known: set[str] = set()
    for entry in entries:
        if entry.parent_id is not None and entry.parent_id not in known:
            break
        known.add(entry.id)
    else:
        return entries
    known = {entry.id for entry in entries}
    present: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Message) and entry.parent_id is not None and entry.parent_id not in known:
            note(Kind.DANGLING_PARENT, entry.id, f"parent {entry.parent_id}")
            present.append(_without_parent(entry))
        else:
            present.append(entry)
    ordered, cut_ids = tree.in_order(present)
    for entry_id in cut_ids:
        note(Kind.CYCLE, entry_id)
    return [
        _without_parent(entry) if isinstance(entry, Message) and entry.id in cut_ids else entry
        for entry in ordered
    ]


def _without_parent(message: Message) -> Message:
    return replace(message, parent_id=None, extra={**message.extra, "parent_id": message.parent_id})
