"""The conversations of a file of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.model import timestamps
from agent_journal.notes import Kind
from agent_journal.readers.unified.content import add_beside
from agent_journal.readers.unified.foreign import conversation
from agent_journal.readers.unified.own_documents import NAME, SHAPE, Document
from agent_journal.readers.unified.restored import restored
from agent_journal.validation import unified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Conversation
    from agent_journal.notes import Notes


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """Yield each document's conversation; what is no document is noted."""
    for where, value in json_stream.values(source, note, SHAPE):
        found = _conversation(value, source, note, where)
        if found is not None:
            yield found


def _conversation(value: Any, source: Source, note: Notes, where: str) -> Conversation | None:
    try:
        if isinstance(value, Document):
            return restored(value)
        if isinstance(value, dict) and NAME in value:
            return _with_further_fields(value)
    except msgspec.ValidationError:  # somebody else changed what it says
        value = msgspec.to_builtins(value)
    if isinstance(value, dict) and unified.is_unified(value):
        return _dated(conversation(value, note, where), source, note)
    note(Kind.BAD_RECORD, where, "it is no unified conversation")
    return None


def _dated(found: Conversation, source: Source, note: Notes) -> Conversation:
    """A document of others, with the time of its file if it states none."""
    is_dated = found.started_at or found.updated_at or any(entry.at for entry in found.timeline)
    if is_dated or source.modified_at is None:
        return found
    note(Kind.MISSING_TIME, found.id, "the time of the file stands in")
    return replace(found, updated_at=timestamps.from_epoch(int(source.modified_at)))


def _with_further_fields(record: Bag) -> Conversation:
    """A document of ours to which somebody else added fields."""
    known = {name: value for name, value in record.items() if name in Document.__struct_fields__}
    found = restored(msgspec.convert(known, Document))
    extra = dict(found.extra)
    for name in record.keys() - known.keys():
        add_beside(extra, name, record[name])
    return replace(found, extra=extra)
