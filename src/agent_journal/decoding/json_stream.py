"""JSON from the wild, one value at a time: lines of JSONL, elements of an array of any size.

What cannot be decoded at all costs one record. Nothing here recurses, and memory is bounded by the largest
record.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.json_value import ANY, BAD, MAX_RECORD_BYTES, Shape, apart, decode
from agent_journal.decoding.json_window import BLOCK_BYTES, Window, is_unfinished, repaired
from agent_journal.decoding.text_encoding import utf8, utf8_lines
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input, Stream
    from agent_journal.notes import Notes

__all__ = [
    "ANY",
    "BAD",
    "MAX_RECORD_BYTES",
    "Shape",
    "apart",
    "decode",
    "elements",
    "elements_in",
    "is_unfinished",
    "lines",
    "load",
    "members",
    "raw_lines",
    "repaired",
    "values",
]
_LINE_FEED_CODE = 10
# A string, which may have what looks like a comment, or a comment; the last of a file may have no end.
_COMMENT = re.compile(rb'("(?:\\.|[^"\\])*+"?)|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)


def lines(source: Input, note: Notes) -> Iterator[tuple[int, Any]]:
    """Number and value of each line of JSONL. Only a line feed ends a line; empty ones do not count."""
    for number, line, is_whole in raw_lines(source, note):
        value = decode(line, note, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL)
        if value is not BAD:
            yield number, value


def raw_lines(source: Input, note: Notes) -> Iterator[tuple[int, bytes, bool]]:
    """Number and bytes of each line that is not blank, and whether it was ended."""
    number = 0
    with utf8_lines(source, BLOCK_BYTES) as stream:
        try:
            # Splitting blocks would look at each byte; this looks for line feeds as fast as memory allows.
            while line := stream.readline(MAX_RECORD_BYTES):
                number += 1
                if line[-1] == _LINE_FEED_CODE:
                    if len(line) > 1 and not line.isspace():
                        yield number, line[:-1], True
                elif len(line) < MAX_RECORD_BYTES:
                    if not line.isspace():
                        yield number, line, False
                else:
                    size = len(line)
                    while (line := stream.readline(BLOCK_BYTES)) and line[-1] != _LINE_FEED_CODE:
                        size += len(line)
                    note(
                        Kind.TOO_LARGE,
                        number,
                        f"a line of more than {MAX_RECORD_BYTES:,} bytes",
                        size + len(line),
                    )
        except UnreadableSource as error:  # something compressed that breaks off
            if not number:
                raise
            note(Kind.TRUNCATED, number + 1, error.reason)


def values(source: Input, note: Notes, shape: Shape = ANY) -> Iterator[tuple[str, Any]]:
    """Place and value of each element of an array, line of JSONL, or concatenated value.

    A value is decoded into the shape if it has it, else as it is.
    """
    with utf8(source) as stream:
        window = Window(stream)
        first = window.peek()
        is_lines = first != b"[" and window.first_line_is_whole()
    if is_lines:
        for number, line, is_whole in raw_lines(source, note):
            value = decode(line, note, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL, shape)
            if value is not BAD:
                yield f"line {number}", value
    elif first == b"[":
        for index, value in elements(source, note, shape=shape):
            yield f"[{index}]", value
    else:
        yield from _concatenated(source, note, shape)


def _concatenated(source: Input, note: Notes, shape: Shape) -> Iterator[tuple[str, Any]]:
    with utf8(source) as stream:
        window = Window(stream, shape)
        index = 0
        while window.peek():
            value = window.value(note, f"value {index}")
            if value is not BAD:
                yield f"value {index}", value
            index += 1


def elements(
    source: Input, note: Notes, key: str | None = None, shape: Shape = ANY
) -> Iterator[tuple[int, Any]]:
    """Position and value of each element of the array that a file is, or that it holds under `key`.

    A file that is one object counts as an array of it, unless a key is asked for.
    """
    at_once = None if key is not None else _at_once(source, shape)
    if at_once is not None:
        yield from enumerate(at_once)
        return
    with utf8(source) as stream:
        yield from elements_in(stream, note, key, shape)


def _at_once(source: Input, shape: Shape) -> list[Any] | None:
    """The elements of the array that a small file is; None if it is no such file, or not without a flaw."""
    with source.open() as stream:
        data = stream.read(BLOCK_BYTES + 1)
        if len(data) > BLOCK_BYTES or data[:1] != b"[" or stream.read(1):
            return None
    try:
        try:
            return shape.several(data)
        except msgspec.ValidationError:
            return ANY.several(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def elements_in(
    stream: Stream, note: Notes, key: str | None = None, shape: Shape = ANY
) -> Iterator[tuple[int, Any]]:
    """The same for a stream of UTF-8."""
    window = Window(stream, shape)
    if key is not None and not window.enter(key, note):
        return
    if window.peek() != b"[":
        if window.peek():
            value = window.value(note, "[0]")
            if value is not BAD:
                yield 0, value
            if window.peek():
                note(Kind.BAD_RECORD, "[1]", "the file goes on after its one value")
        return
    window.advance(1)
    yield from _array(window, note, key)


def members(source: Input, note: Notes) -> Iterator[tuple[str, int | None, Any]]:
    """Everything in the object that a file is, in one pass: key, position and value of each array's elements.

    A value that is no array comes whole, without a position.
    """
    with utf8(source) as stream:
        window = Window(stream)
        if window.peek() == b"{":
            window.advance(1)
            yield from _members(window, note)
        else:
            note(Kind.BAD_RECORD, "", "the file is not an object")


def _members(window: Window, note: Notes) -> Iterator[tuple[str, int | None, Any]]:
    cuts = note.counts[Kind.TRUNCATED]
    while (byte := window.peek()) and byte != b"}":
        if byte == b",":
            window.advance(1)
            continue
        key = window.value(note, "a key")
        if key.__class__ is not str or window.peek() != b":":
            note(Kind.BAD_RECORD, "", "a key and a value were expected; what follows was skipped")
            return
        window.advance(1)
        window.forget()
        if window.peek() == b"[":
            window.advance(1)
            for index, value in _array(window, note, key):
                yield key, index, value
        elif window.peek() and (value := window.value(note, key)) is not BAD:
            yield key, None, value
    if not byte and note.counts[Kind.TRUNCATED] == cuts:
        note(Kind.TRUNCATED, "", "the file ends before its object does")


def _array(window: Window, note: Notes, key: str | None = None) -> Iterator[tuple[int, Any]]:
    """The elements of the array that was entered; under a key, more may follow it."""
    index = 0
    while True:
        byte = window.peek()
        if byte == b",":
            window.advance(1)
        elif byte == b"]":
            window.advance(1)
            if key is None and window.peek():
                note(Kind.BAD_RECORD, f"[{index}]", "the file goes on after the end of its array")
            return
        elif not byte:
            note(Kind.TRUNCATED, f"{key or ''}[{index}]", "the file ends before its array does")
            return
        elif together := window.several():
            yield from enumerate(together, index)
            index += len(together)
        else:
            value = window.value(note, f"{key or ''}[{index}]")
            if value is not BAD:
                yield index, value
            elif not window.peek():
                return  # the end was noted with the value it cut
            index += 1


def load(source: Input, note: Notes, *, may_have_comments: bool = False) -> Any:
    """The one value of a small file, or BAD; what programs let people write may have comments."""
    blocks: list[bytes] = []
    left = MAX_RECORD_BYTES + 1
    with utf8(source) as stream:
        while left > 0 and (block := stream.read(BLOCK_BYTES)):
            blocks.append(block)
            left -= len(block)
    data = b"".join(blocks)
    return decode(_COMMENT.sub(_blank, data) if may_have_comments else data, note, "")


def _blank(match: re.Match[bytes]) -> bytes:
    """Strings as they are, comments as spaces."""
    return match[1] or b" " * (match.end() - match.start())
