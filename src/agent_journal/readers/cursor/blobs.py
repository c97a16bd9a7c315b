"""Blobs, identified by their hash: messages in JSON, and lists of hashes (protobuf) that order them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HASH_BYTES = 32
# Wire types of protobuf.
_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
# Field numbers of a root.
_MESSAGES, _TURNS = 1, 8


class Blob(NamedTuple):
    """A message: its hash and its JSON (None if the blob is missing)."""

    hash: str
    data: bytes | None


def messages(root: bytes, get: Callable[[str], bytes | None]) -> Iterator[Blob]:
    """Yield the messages below a root, in order.

    Since autumn 2025 the root lists all of them in its first field. Before, each node named the previous one
    and contained a message itself. Other fields repeat the dialogue as shown in the user interface.
    """
    fields = decode_fields(root)
    if not any(_is_json(payload) for _, payload in fields):
        listed = list(_walk([field for field in fields if field[0] == _MESSAGES], get))
        if any(blob.data is not None for blob in listed):
            yield from listed
            return
    yield from _walk(fields, get)


def count_turns(root: bytes) -> int:
    """Return how many turns the user interface shows, including those removed from the model's context."""
    return sum(number == _TURNS for number, _ in decode_fields(root))


def _walk(fields: list[tuple[int, bytes]], get: Callable[[str], bytes | None]) -> Iterator[Blob]:
    """Walk depth first, without recursion: a chain may be as long as a chat."""
    visited: set[str] = set()
    pending = [iter(fields)]
    while pending:
        number, payload = next(pending[-1], (0, b""))
        if not number:
            pending.pop()
        elif _is_json(payload):
            yield Blob("", payload)
        elif len(payload) == _HASH_BYTES:
            name = payload.hex()
            data = get(name)
            if data is None:
                if number == _MESSAGES:
                    yield Blob(name, None)
            elif data[:1] == b"{":
                yield Blob(name, data)
            elif name not in visited:
                visited.add(name)
                pending.append(iter(decode_fields(data)))


def _is_json(payload: bytes) -> bool:
    """Whether a field is a JSON object. A hash looks like one once in 16 million."""
    return payload[:2] == b'{"' and payload[-1:] == b"}"


def decode_fields(data: bytes) -> list[tuple[int, bytes]]:
    """Return number and bytes of each length-delimited field, as far as the bytes are valid protobuf."""
    fields: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        tag, at = _decode_varint(data, at)
        wire_type = tag & 7
        if wire_type == _VARINT:
            _, at = _decode_varint(data, at)
        elif wire_type == _LENGTH_DELIMITED:
            size, at = _decode_varint(data, at)
            if size > len(data) - at:
                break
            if tag >> 3:
                fields.append((tag >> 3, data[at : at + size]))
            at += size
        elif wire_type in (_FIXED64, _FIXED32):
            at += 8 if wire_type == _FIXED64 else 4
        else:
            break
    return fields


def _decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode a number of seven bits per byte; return it and the position after it."""
    number = 0
    for index, byte in enumerate(data[at : at + _MAX_VARINT_BYTES]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 (the bit that marks that more bytes follow)
            return number, at + index + 1
    return number, len(data)
