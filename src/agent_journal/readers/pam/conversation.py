"""A normalized conversation: one of this program is read as it was, any other by the format's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Conversation, Event, Message, ids, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.pam import restored
from agent_journal.readers.pam.messages import Speaker
from agent_journal.readers.pam.names import CONVERSATION, OURS, SOURCE

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source

Bag = dict[str, Any]
Entry = Message | Event


def read_conversation(file: Source, note: Notes) -> Conversation | None:
    """The conversation in a file, as far as it can be read; None if there is none."""
    record, messages = _decoded(file) or _as_far_as_possible(file, note)
    if not messages and (record.get("schema") != CONVERSATION or len(record) == 1):
        note(Kind.BAD_RECORD, "", "no conversation")
        return None
    return _restored(record, messages, note) or _foreign(record, messages, note)


def _decoded(file: Source) -> tuple[Bag, list[Any]] | None:
    """The file and its messages, if it is an object about which there is nothing to note."""
    quiet = Notes(keep=0)
    value = json_stream.load(file, quiet)
    if quiet.counts or value.__class__ is not dict or value.get("messages").__class__ is not list:
        return None
    return value, value.pop("messages")


def _as_far_as_possible(file: Source, note: Notes) -> tuple[Bag, list[Any]]:
    """The same of a file that is cut or damaged."""
    record: Bag = {}
    messages: list[Any] = []
    for name, place, value in json_stream.members(file, note):
        if place is None:
            record[name] = value
        elif name == "messages":
            messages.append(value)
        else:
            listed = record.setdefault(name, [])
            listed.append(value) if listed.__class__ is list else None
    return record, messages


def _restored(record: Bag, messages: list[Any], note: Notes) -> Conversation | None:
    """A conversation that this program wrote, as the model had it; None if it is another's."""
    raw = record.get("raw_metadata")
    ours = raw.get(OURS) if raw.__class__ is dict else None
    if not isinstance(ours, dict) or not isinstance(about := ours.get("conversation"), dict):
        return None
    try:
        found = msgspec.convert({**about, "type": "conversation"}, Conversation)
    except msgspec.ValidationError as error:
        note(Kind.BAD_RECORD, f"raw_metadata.{OURS}", str(error))
        return None
    stated = record.get("provider")
    provider: Bag = stated if stated.__class__ is dict else {}
    listed = record.get("tags")
    said = restored.Timeline(messages, words(provider.get("name")) or "", note)
    return replace(
        found,
        title=_text(record.get("title")),
        account_id=_text(provider.get("account_id")),
        model=_text(record.get("model")),
        tags=found.tags
        or [tag for tag in (listed if listed.__class__ is list else ()) if tag.__class__ is str],
        timeline=said.with_events(ours.get("events")),
        extra=restored.extra_of(raw, said.provider),
    )


def _text(value: Any) -> str | None:
    return value if value.__class__ is str else None


def _foreign(record: Bag, messages: list[Any], note: Notes) -> Conversation:
    """A conversation that another program wrote."""
    fields = Fields(record, note, "conversation")
    fields.drop("schema")
    if fields.look("schema_version") == "1.0":
        fields.drop("schema_version")
    stated = fields.text("id") or None
    if stated is None:
        note(Kind.MISSING_ID, "conversation", "no id")
    conversation_id = stated or ids.made(SOURCE, record.get("title"), record.get("temporal"), messages[:1])
    speaker = Speaker(conversation_id, messages, note)
    timeline = _in_order(speaker.entries(), note)
    is_tree = any(entry.parent_id is not None for entry in timeline)
    temporal, provider = fields.nested("temporal"), fields.nested("provider")
    instruction = fields.text("system_instruction")
    return Conversation(
        id=conversation_id,
        made_id=stated is None,
        source=SOURCE,
        title=fields.text("title"),
        started_at=None if temporal is None else temporal.moment("created_at"),
        updated_at=None if temporal is None else temporal.moment("updated_at"),
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


def _platform(provider: Fields) -> Bag:
    """Whose conversation it was, and what it is called there."""
    names = {"provider": "name", "conversation_id": "conversation_id", "format": "export_format_version"}
    found = {name: provider.text(stated) for name, stated in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _tags(fields: Fields) -> list[str]:
    given = fields.items("tags") or []
    if odd := [tag for tag in given if tag.__class__ is not str]:
        fields.keep("tags", odd)
    return [tag for tag in given if tag.__class__ is str]


def _in_order(entries: list[Entry], note: Notes) -> list[Entry]:
    """Parents first; a parent that is not there or that comes back to its child is named and let go."""
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
            present.append(_let_go(entry))
        else:
            present.append(entry)
    placed, cut = tree.in_order(present)
    for entry_id in cut:
        note(Kind.CYCLE, entry_id)
    return [_let_go(entry) if isinstance(entry, Message) and entry.id in cut else entry for entry in placed]


def _let_go(message: Message) -> Message:
    return replace(message, parent_id=None, extra={**message.extra, "parent_id": message.parent_id})
