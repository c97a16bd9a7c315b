"""Encode the entries of a timeline, and compress many of them into one block.

The entries of a conversation resemble each other, and they are usually read together. What the columns of a
row have is left out of the stored body, and added again from them.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal.archive import encoded
from agent_journal.archive.packing import Compressor
from agent_journal.model import Code, Event, Message, Text
from agent_journal.model.leftovers import Leftovers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.model import Part

BLOCK_BYTES = 384 << 10
TEXT_SEPARATOR = "\n\n"
"""Separates the texts of a message in the text column."""

Columns: TypeAlias = "Sequence[str | None]"
"""The columns of an entry: id, parent_id, role, name, at, model."""

_NO_TEXT = Text(text="")
_OTHER_FIELDS_OF_TEXT = Leftovers(Text, represented=("text",))
# A body is an array of two, the first of which is a map. Without the columns' values it begins with the
# size of that map: one byte that is less than _SHORT_MAPS, or three bytes.
_COMPLETE = b"\x92"
_SHORT_MAPS = b"\x90"


class Body(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A stored entry without its texts, and where each text is in the text column (start and length)."""

    entry: Message | Event
    texts: list[tuple[int, int]] = []


@cache
def _bodies() -> encoded.Decoder[Body]:
    return encoded.Decoder(Body)


def body_of(message: Message, texts: list[str]) -> Body:
    """Return the body of a message without its texts."""
    if not texts:
        return Body(message)
    spans: list[tuple[int, int]] = []
    parts: list[Part] = []
    offset = 0
    pieces = iter(texts)
    for part in message.parts:
        # Text that a program put into a message is not in the text column: it stays in the body.
        if part.__class__ is Text and not part.injected:
            size = len(next(pieces))
            spans.append((offset, size))
            offset += size + len(TEXT_SEPARATOR)
            parts.append(replace(part, text="") if _OTHER_FIELDS_OF_TEXT.exist_in(part) else _NO_TEXT)
        else:
            parts.append(part)
            if part.__class__ is Code:
                offset += len(next(pieces)) + len(TEXT_SEPARATOR)
    return Body(replace(message, parts=parts), spans)


def entry_of(body: bytes, text: str | None) -> Message | Event:
    """Decode an entry from its body and text column."""
    stored = _bodies().decode(body)
    entry = stored.entry
    if text is None or not stored.texts or isinstance(entry, Event):
        return entry
    spans = iter(stored.texts)
    parts = [
        replace(part, text=_slice(text, next(spans)))
        if part.__class__ is Text and not part.injected
        else part
        for part in entry.parts
    ]
    return replace(entry, parts=parts)


def _slice(text: str, span: tuple[int, int]) -> str:
    start, size = span
    return text[start : start + size]


def strip_columns(body: bytes, columns: Columns) -> bytes:
    """Return a body without the values of the columns, if it begins with these."""
    start = 1 + _size_of_size(body[1:2])
    prefix = _column_prefix(columns)
    return body[1:start] + body[start + len(prefix) :] if body.startswith(prefix, start) else body


def restore_columns(body: bytes, columns: Columns) -> bytes:
    """Return a stored body with the values of the columns."""
    if body[:1] == _COMPLETE:
        return body
    start = _size_of_size(body[:1])
    return _COMPLETE + body[:start] + _column_prefix(columns) + body[start:]


def _size_of_size(first: bytes) -> int:
    """Return how many bytes encode the size of a map."""
    return 1 if first < _SHORT_MAPS else 3


def _column_prefix(columns: Columns) -> bytes:
    """Encode the columns as the beginning of a body: the keys of a map and their values."""
    id_, parent_id, role, name, at, model = columns
    if role is None:
        fields = {"type": "event", "id": id_, "name": name}
    else:
        fields = {"type": "message", "id": id_, "role": role}
    if parent_id is not None:
        fields["parent_id"] = parent_id
    if at is not None:
        fields["at"] = at
    if model is not None:
        fields["model"] = model
    return encoded.encode(fields)[1:]


class Block(NamedTuple):
    """Stored bodies, joined and compressed, with the size of each."""

    data: bytes
    sizes: list[int]

    @property
    def spans(self) -> Iterator[tuple[int, int]]:
        """The start and size of each body."""
        return zip(accumulate(self.sizes, initial=0), self.sizes, strict=False)


class Blocks:
    """Packs bodies of entries into blocks, and unpacks them."""

    def __init__(self) -> None:
        packing = Compressor()
        self.compress = packing.compress
        self.decompress = packing.decompress
        self.decompress_start = packing.decompress_start

    def pack(self, bodies: Iterable[bytes]) -> Iterator[Block]:
        """Yield blocks with all bodies, in order."""
        pieces: list[bytes] = []
        size = 0
        for body in bodies:
            pieces.append(body)
            size += len(body)
            if size >= BLOCK_BYTES:
                yield Block(self.compress(b"".join(pieces)), [*map(len, pieces)])
                pieces, size = [], 0
        if pieces:
            yield Block(self.compress(b"".join(pieces)), [*map(len, pieces)])

    def bodies(self, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield all bodies in blocks, in order."""
        for block in blocks:
            data = self.decompress(block.data)
            for start, size in block.spans:
                yield data[start : start + size]
