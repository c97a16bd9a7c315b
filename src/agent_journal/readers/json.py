"""Our own JSON: one conversation or memory of the model per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.model import Conversation, Memory
from agent_journal.notes import Kind
from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="json",
    title="Agent Journal JSON",
    category="datasets",
    versions=("1",),
    revision=1,
    evidence="this project's own format; its JSON Schema is docs/model.schema.json",
)


def sniff(peek: Peek) -> str | None:
    """Claim records that carry the tag of a conversation or memory, its source and its content."""
    if not {"type", "id", "source"} <= peek.keys:
        return None
    return "1" if any(_is_own_record(record) for record in peek.records) else None


def _is_own_record(record: dict[str, Any]) -> bool:
    if record.get("type") == "conversation":
        return "source" in record and "id" in record and not {"mapping", "chat_messages"} & record.keys()
    return record.get("type") == "memory" and {"id", "source", "kind", "text"} <= record.keys()


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (one version)
    """Yield the conversation or memory in each line; any other line is noted."""
    for where, record in json_stream.values(source, note):
        try:
            yield msgspec.convert(record, Conversation | Memory)
        except msgspec.ValidationError as error:
            note(Kind.BAD_RECORD, where, str(error))
