"""Where a file is cut: behind whole records, so that one conversation of many can be read alone.

An array of JSON, as exports are, is cut behind its elements, anything else behind a line. What is put
together again is the file, byte for byte, whatever is in it.
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

# Small elements stand together up to this; a larger one stands alone, up to the second.
_FRAME_BYTES, _LARGEST = 128 << 10, 16 << 20
_SPACE = re.compile(rb"[\s,]*")
_skip = msgspec.json.Decoder(msgspec.Raw).decode
# How msgspec says where a text goes on behind a value: there the value ends.
_BEHIND = re.compile(r"trailing characters \(byte (\d+)\)")


def frames(stream: Stream) -> Iterator[bytes]:
    """The bytes of a stream in pieces that are whole records, as far as that can be told.

    Of a stream that breaks off with `UnreadableSource`, what came before that comes first.
    """
    steady = _Steady(stream)
    yield from _frames(steady)
    if steady.error is not None:
        raise steady.error


class _Steady(Reading):
    """A stream that ends where it would break off."""

    error: UnreadableSource | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Bytes, and none at the end."""
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
    """Cut behind elements; where one cannot be told, the rest is cut behind lines."""
    data = bytearray(block)
    at = data.index(b"[") + 1
    start = 0
    while True:
        end = _end_of_element(data, at)
        if end is None:
            more = read_up_to(stream, CHUNK_BYTES) if len(data) - start < _LARGEST else b""
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
    """Where the element behind a place ends; None if it is not all there, or is none."""
    found = _SPACE.match(data, at)
    begin = found.end() if found else at
    try:
        with memoryview(data) as view:
            _skip(view[begin:])
    except msgspec.DecodeError as error:
        behind = _BEHIND.search(str(error))
        return begin + int(behind[1]) - 1 if behind else None
    except RecursionError:
        return None
    return None  # it ends with the data: more of it may follow


def read_up_to(stream: Stream, size: int) -> bytes:
    """So many bytes, or what is left; a stream may give them in small pieces."""
    pieces: list[bytes] = []
    while size and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def alone(frame: bytes) -> bytes:
    """A frame of an array as an array of its own; of lines, as it is."""
    inside = frame.strip(b" \t\r\n")
    if inside.startswith(b"[") and inside.endswith(b"]"):
        return frame
    if not inside.startswith((b"[", b",")) and b"\n" in inside:
        return frame
    return b"[" + inside.lstrip(b"[, \t\r\n").removesuffix(b"]").rstrip(b", \t\r\n") + b"]"
