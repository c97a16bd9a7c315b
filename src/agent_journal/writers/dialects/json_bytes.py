"""JSON encoding of any value, however deeply nested."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.model import Conversation
from agent_journal.model.spilled import encode_spilled, has_spilled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Event, Item, Message

_encoder = msgspec.json.Encoder(enc_hook=encode_spilled)
# msgspec decodes up to the interpreter's recursion limit; encoding adds a few levels around the value.
_RECURSION_FACTOR = 2
_PLACEHOLDER = b"\0"
_ENTRIES_PER_BATCH = 64


def encode(value: Any) -> bytes:
    """The value as compact JSON in UTF-8."""
    try:
        return _encoder.encode(value)
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit * _RECURSION_FACTOR)
        try:
            return _encoder.encode(value)
        finally:
            sys.setrecursionlimit(limit)


def encode_in_pieces(item: Item) -> Iterator[bytes | memoryview]:
    """The item as compact JSON, a few entries at a time, so that its whole text is never in memory."""
    if not isinstance(item, Conversation) or not item.timeline:
        yield encode(item)
        return
    # JSON never contains the placeholder, so it shows where the entries of the timeline belong.
    placeholder: list[Any] = [msgspec.Raw(_PLACEHOLDER)]
    start, _, end = encode(replace(item, timeline=placeholder)).partition(_PLACEHOLDER)
    yield start
    separator = b""
    for entries in _batches(item.timeline):
        yield separator
        yield memoryview(encode(entries))[1:-1]
        separator = b","
    yield end


def _batches(timeline: Sequence[Message | Event]) -> Iterator[Sequence[Message | Event]]:
    """Cut a timeline into batches; an entry with large values is one of its own."""
    start = 0
    for index, entry in enumerate(timeline):
        if has_spilled(entry):
            if start < index:
                yield timeline[start:index]
            yield timeline[index : index + 1]
            start = index + 1
        elif index - start == _ENTRIES_PER_BATCH:
            yield timeline[start:index]
            start = index
    if start < len(timeline):
        yield timeline[start:]


def pretty(value: Any) -> bytes:
    """The value as JSON indented by two spaces."""
    return msgspec.json.format(encode(value), indent=2)
