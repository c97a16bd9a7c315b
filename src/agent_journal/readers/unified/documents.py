"""Reads the conversations in a file of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.model import timestamps
from agent_journal.notes import Kind
from agent_journal.readers.unified.content import add_renamed
from agent_journal.readers.unified.conversation import convert
from agent_journal.readers.unified.own_documents import OWN_KEY, SHAPE, Document
from agent_journal.readers.unified.restored import restored
from agent_journal.validation import unified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Conversation
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield the conversation of each document; anything else is noted."""
    for where, value in json_stream.values(source, note, SHAPE):
        conversation = _conversation(value, source, note, where)
        if conversation is not None:
            yield conversation


def _conversation(value: Any, source: Input, note: Notes, where: str) -> Conversation | None:
    try:
        if isinstance(value, Document):
            return restored(value)
        if isinstance(value, dict) and OWN_KEY in value:
            return _restored_with_new_fields(value)
    except msgspec.ValidationError:  # another program changed the document
        value = msgspec.to_builtins(value)
    if isinstance(value, dict) and unified.is_unified(value):
        return _with_file_time(convert(value, note, where), source, note)
    note(Kind.BAD_RECORD, where, "it is no unified conversation")
    return None


def _with_file_time(conversation: Conversation, source: Input, note: Notes) -> Conversation:
    """Use the time of the file if the document states no time at all."""
    has_time = (
        conversation.started_at or conversation.updated_at or any(entry.at for entry in conversation.timeline)
    )
    if has_time or source.modified_at is None:
        return conversation
    note(Kind.MISSING_TIME, conversation.id, "the time of the file stands in")
    return replace(conversation, updated_at=timestamps.from_epoch(int(source.modified_at)))


def _restored_with_new_fields(record: Bag) -> Conversation:
    """Restore our own document to which another program added fields."""
    known = {name: value for name, value in record.items() if name in Document.__struct_fields__}
    conversation = restored(msgspec.convert(known, Document))
    extra = dict(conversation.extra)
    for name in record.keys() - known.keys():
        add_renamed(extra, name, record[name])
    return replace(conversation, extra=extra)
