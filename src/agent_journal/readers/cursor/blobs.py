"""Blobs, known by their hash: messages in JSON, and lists of hashes (protobuf) that put them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HASH_BYTES = 32
# How a field of protobuf is written: as a number, in eight bytes, with its length, in four bytes.
_NUMBER, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5
_LONGEST_NUMBER = 10
_MESSAGES, _TURNS = 1, 8


class Blob(NamedTuple):
    """A message: the hash it is known by and its JSON; none if the blob is not there."""

    hash: str
    data: bytes | None


def messages(root: bytes, get: Callable[[str], bytes | None]) -> Iterator[Blob]:
    """The messages below a root, in order.

    Since autumn 2025 the root names all of them in its first field. Before, each node named the one before it
    and held a message itself. Other fields are the same dialogue once more, as the user interface has it.
    """
    fields = fields_of(root)
    if not any(_is_json(payload) for _, payload in fields):
        first = list(_below([field for field in fields if field[0] == _MESSAGES], get))
        if any(blob.data is not None for blob in first):
            yield from first
            return
    yield from _below(fields, get)


def count_turns(root: bytes) -> int:
    """How many turns the user interface shows, also those that the model is no longer told of."""
    return sum(number == _TURNS for number, _ in fields_of(root))


def _below(fields: list[tuple[int, bytes]], get: Callable[[str], bytes | None]) -> Iterator[Blob]:
    """Depth first, without recursion: a chain may be as long as a chat."""
    seen: set[str] = set()
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
            elif name not in seen:
                seen.add(name)
                pending.append(iter(fields_of(data)))


def _is_json(payload: bytes) -> bool:
    """Whether a field is an object. One hash in 256 begins with a brace, one in 16 million like this."""
    return payload[:2] == b'{"' and payload[-1:] == b"}"


def fields_of(data: bytes) -> list[tuple[int, bytes]]:
    """Number and bytes of each field that has a length, in order, as far as the bytes are protobuf."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        form = tag & 7
        if form == _NUMBER:
            _, at = _number(data, at)
        elif form == _SIZED:
            size, at = _number(data, at)
            if size > len(data) - at:
                break
            if tag >> 3:
                found.append((tag >> 3, data[at : at + size]))
            at += size
        elif form in (_EIGHT, _FOUR):
            at += 8 if form == _EIGHT else 4
        else:
            break
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the place behind it."""
    number = 0
    for place, byte in enumerate(data[at : at + _LONGEST_NUMBER]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004 (the bit that says that more follow)
            return number, at + place + 1
    return number, len(data)
