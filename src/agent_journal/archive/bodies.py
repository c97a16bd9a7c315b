"""Entries of a timeline as they lie beside their columns: encoded, and many in one compressed block.

A conversation's entries resemble each other, and a message is hardly ever wanted alone. What columns tell
already is left out: a body is whole when they are at hand.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal.archive import encoded
from agent_journal.archive.packing import Packing
from agent_journal.model import Code, Event, Message, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.model import Part

BLOCK_BYTES = 384 << 10
BETWEEN = "\n\n"
"""What is between two texts of a message where they stand together."""

Columns: TypeAlias = "Sequence[str | None]"
"""What columns tell of an entry: id, parent_id, role, name, at, model."""

_NO_TEXT = Text(text="")
# A body is an array of two, the first of them a map. Stored without what columns tell, it begins with that
# map's size: in one byte below this one, or in three.
_WHOLE = b"\x92"
_SHORT_MAPS = b"\x90"


class Body(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """An entry as it is stored: its texts are in a column of their own; here is where each stands there."""

    entry: Message | Event
    texts: list[tuple[int, int]] = []


@cache
def _bodies() -> encoded.Decoder[Body]:
    return encoded.Decoder(Body)


def body_of(message: Message, said: list[str]) -> Body:
    """A message without what it says."""
    if not said:
        return Body(message)
    places: list[tuple[int, int]] = []
    parts: list[Part] = []
    at = 0
    pieces = iter(said)
    for part in message.parts:
        # What a program put into a message is not in the column of what was said: it stays in the body.
        if part.__class__ is Text and not part.injected:
            size = len(next(pieces))
            places.append((at, size))
            at += size + len(BETWEEN)
            is_bare = not part.citations and not part.extra
            parts.append(_NO_TEXT if is_bare else replace(part, text=""))
        else:
            parts.append(part)
            if part.__class__ is Code:
                at += len(next(pieces)) + len(BETWEEN)
    return Body(replace(message, parts=parts), places)


def entry_of(body: bytes, text: str | None) -> Message | Event:
    """The entry whose body and text these are."""
    stored = _bodies().decode(body)
    entry = stored.entry
    if text is None or not stored.texts or isinstance(entry, Event):
        return entry
    places = iter(stored.texts)
    parts = [
        replace(part, text=_slice(text, next(places)))
        if part.__class__ is Text and not part.injected
        else part
        for part in entry.parts
    ]
    return replace(entry, parts=parts)


def _slice(text: str, place: tuple[int, int]) -> str:
    start, size = place
    return text[start : start + size]


def stored(body: bytes, columns: Columns) -> bytes:
    """A body without what columns tell already, if it begins with that."""
    start = 1 + _size_of_size(body[1:2])
    told = _told(columns)
    return body[1:start] + body[start + len(told) :] if body.startswith(told, start) else body


def whole(body: bytes, columns: Columns) -> bytes:
    """A stored body with what columns tell."""
    if body[:1] == _WHOLE:
        return body
    start = _size_of_size(body[:1])
    return _WHOLE + body[:start] + _told(columns) + body[start:]


def _size_of_size(first: bytes) -> int:
    """In how many bytes a map says how large it is."""
    return 1 if first < _SHORT_MAPS else 3


def _told(columns: Columns) -> bytes:
    """What columns tell, as a body begins: the keys of a map and their values."""
    id_, parent_id, role, name, at, model = columns
    if role is None:
        begun = {"type": "event", "id": id_, "name": name}
    else:
        begun = {"type": "message", "id": id_, "role": role}
    if parent_id is not None:
        begun["parent_id"] = parent_id
    if at is not None:
        begun["at"] = at
    if model is not None:
        begun["model"] = model
    return encoded.encode(begun)[1:]


class Block(NamedTuple):
    """Stored bodies, put together and compressed: where each begins and how long it is."""

    data: bytes
    places: list[tuple[int, int]]


class Blocks:
    """Puts bodies of entries together."""

    def __init__(self) -> None:
        packing = Packing()
        self.small = packing.packed
        self.unpacked = packing.unpacked
        self.begun = packing.begun

    def packed(self, bodies: Iterable[bytes]) -> Iterator[Block]:
        """Blocks with all bodies, in their order."""
        pieces: list[bytes] = []
        places: list[tuple[int, int]] = []
        size = 0
        for body in bodies:
            pieces.append(body)
            places.append((size, len(body)))
            size += len(body)
            if size >= BLOCK_BYTES:
                yield Block(self.small(b"".join(pieces)), places)
                pieces, places, size = [], [], 0
        if pieces:
            yield Block(self.small(b"".join(pieces)), places)

    def bodies(self, blocks: Iterable[Block]) -> Iterator[bytes]:
        """All bodies that blocks hold, in their order."""
        for block in blocks:
            data = self.unpacked(block.data)
            for start, size in block.places:
                yield data[start : start + size]
