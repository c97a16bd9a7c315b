"""Cut files after complete records, so that one conversation of many can be read alone.

A JSON array, as in exports, is cut after elements, anything else after lines. Joined again, the pieces are
the file, byte for byte, whatever it contains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Stream

# Small elements share a frame of the first size; a larger one has its own, up to the second size.
_FRAME_BYTES, _MAX_ELEMENT_BYTES = 128 << 10, 16 << 20
_SPACE = re.compile(rb"[\s,]*")
_skip = msgspec.json.Decoder(msgspec.Raw).decode
# msgspec's error says where text follows a value: there the value ends.
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


def frames(stream: Stream) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces of complete records, as far as records are recognized.

    If the stream fails with `UnreadableSource`, the bytes before the failure are yielded first.
    """
    steady = _ErrorDeferringStream(stream)
    yield from _frames(steady)
    if steady.error is not None:
        raise steady.error


class _ErrorDeferringStream(Reading):
    """A stream that ends where it would fail, and remembers the error."""

    error: UnreadableSource | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Read bytes; none at the end."""
        if self.error is not None:
            return b""
        try:
            return super().read(size)
        except UnreadableSource as error:
            self.error = error
            return b""


def _frames(stream: Stream) -> Iterator[bytes]:
    first = read_up_to(stream, CHUNK_BYTES)
    if len(first) < CHUNK_BYTES:
        if first:
            yield first
    elif first.lstrip()[:1] == b"[":
        yield from _elements(first, stream)
    else:
        yield from _lines(first, stream)


def _lines(block: bytes, stream: Stream) -> Iterator[bytes]:
    while block:
        end = block.rfind(b"\n") + 1
        if len(block) < CHUNK_BYTES or not end:
            yield block
            block = read_up_to(stream, CHUNK_BYTES)
        else:
            yield block[:end]
            block = block[end:] + read_up_to(stream, CHUNK_BYTES - len(block) + end)


def _elements(block: bytes, stream: Stream) -> Iterator[bytes]:
    """Cut after elements; if one is not recognized, cut the rest after lines."""
    data = bytearray(block)
    at = data.index(b"[") + 1
    start = 0
    while True:
        end = _end_of_element(data, at)
        if end is None:
            more = read_up_to(stream, CHUNK_BYTES) if len(data) - start < _MAX_ELEMENT_BYTES else b""
            if not more:
                break
            data = data[start:] + more
            at, start = at - start, 0
            continue
        at = end
        if at - start >= _FRAME_BYTES:
            yield bytes(data[start:at])
            start = at
    rest = bytes(data[start:])
    yield from _lines(rest, stream) if rest else ()


def _end_of_element(data: bytearray, at: int) -> int | None:
    """Return the end of the next element; None if it is incomplete or invalid."""
    separator = _SPACE.match(data, at)
    begin = separator.end() if separator else at
    try:
        with memoryview(data) as view:
            _skip(view[begin:])
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        return begin + int(trailing[1]) - 1 if trailing else None
    except RecursionError:
        return None
    return None  # it ends with the data, so more of it may follow


def read_up_to(stream: Stream, size: int) -> bytes:
    """Read `size` bytes, or what is left; a stream may return them in small pieces."""
    pieces: list[bytes] = []
    while size and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def as_standalone(frame: bytes) -> bytes:
    """Make a frame of an array an array of its own; return a frame of lines unchanged."""
    inside = frame.strip(b" \t\r\n")
    if inside.startswith(b"[") and inside.endswith(b"]"):
        return frame
    if not inside.startswith((b"[", b",")) and b"\n" in inside:
        return frame
    return b"[" + inside.lstrip(b"[, \t\r\n").removesuffix(b"]").rstrip(b", \t\r\n") + b"]"
