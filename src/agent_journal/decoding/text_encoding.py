"""Bytes as plain UTF-8: without a byte order mark, from UTF-16 where one says so, without comment lines."""

from __future__ import annotations

import codecs
import io
import re
from typing import IO, TYPE_CHECKING, Protocol

from agent_journal.inputs.input import HEAD_BYTES, Reading

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from agent_journal.inputs.input import Input, Stream

# A string of JSON holds no line break, so a line that begins with `//` is never part of one.
_COMMENT = re.compile(rb"^[ \t]*//[^\n]*", re.MULTILINE)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Fillable(Protocol):
    """Bytes that are read into a buffer."""

    def readinto(self, buffer: memoryview, /) -> int:
        """How many bytes were put at the beginning of the buffer; none at the end."""


def utf8(source: Input) -> Stream:
    """The source's text. Comment lines are emptied, so that the others keep their numbers."""
    stream = source.open()
    raw = stream.read(HEAD_BYTES)
    rest: Stream = _Rejoined(raw.removeprefix(codecs.BOM_UTF8), stream)
    if raw.startswith(_UTF16):
        rest = _Transcoded(_Rejoined(raw, stream))
    return _Uncommented(rest) if _has_comments(decoded_head(raw)) else rest


def utf8_lines(source: Input, block: int) -> IO[bytes]:
    """The same, to be read line by line."""
    stream = source.open()
    if isinstance(stream, io.BytesIO):
        raw = stream.read(HEAD_BYTES)
        stream.seek(0)
        if not raw.startswith((*_UTF16, codecs.BOM_UTF8)) and not _has_comments(raw):
            return stream  # as it is: it has lines already
    stream.close()
    return io.BufferedReader(_Raw(utf8(source)), block)


def fillable(stream: Stream) -> Fillable:
    """The stream with `readinto`."""
    return stream if isinstance(stream, _Rejoined | io.BytesIO) else _Raw(stream)


def encodable(text: str) -> str:
    """A text with question marks for halves of characters, which are no Unicode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def head_text(raw: bytes) -> bytes:
    """The same for the first bytes of a file."""
    text = decoded_head(raw)
    return _COMMENT.sub(b"", text) if _has_comments(text) else text


def decoded_head(raw: bytes) -> bytes:
    """The first bytes of a file as UTF-8, with their comments."""
    if raw.startswith(_UTF16):
        return raw.decode("utf-16", "replace").encode()
    return raw.removeprefix(codecs.BOM_UTF8)


def _has_comments(head: bytes) -> bool:
    """Whether a file begins with a comment line, or is indented JSON that has some."""
    text = head.lstrip()
    if text.startswith(b"//"):
        return True
    is_indented = text[:1] in (b"[", b"{") and text[1:2] in (b"\n", b"\r")
    return is_indented and _has_comment_line(text)


def _has_comment_line(text: bytes) -> bool:
    """Whether a line begins with `//`; looking at those that have it at all is much faster than at each."""
    at = text.find(b"//")
    while at >= 0:
        if not text[text.rfind(b"\n", 0, at) + 1 : at].strip(b" \t"):
            return True
        end = text.find(b"\n", at)
        at = text.find(b"//", end) if end >= 0 else -1
    return False


class _Raw(io.RawIOBase):
    """A stream as Python's own buffers want it."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        with memoryview(buffer) as view:
            block = self._left or self._stream.read(len(view))
            self._left = block[len(view) :]
            block = block[: len(view)]
            view[: len(block)] = block
            return len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Rejoined(Reading):
    """What was read ahead, then the rest."""

    def __init__(self, head: bytes, stream: Stream) -> None:
        super().__init__(stream)
        self._head = head

    def read(self, size: int = -1, /) -> bytes:
        head, self._head = self._head, b""
        if head and size >= 0:
            return head  # what follows may be damaged
        return head + self._stream.read(size)

    def readinto(self, buffer: memoryview, /) -> int:
        if not self._head and isinstance(self._stream, io.FileIO | io.BytesIO):
            return self._stream.readinto(buffer) or 0
        block = self._head[: len(buffer)] or self._stream.read(len(buffer))
        self._head = self._head[len(block) :]
        buffer[: len(block)] = block
        return len(block)


class _Transcoded(Reading):
    """UTF-16 as UTF-8; what is no character becomes U+FFFD."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int = -1, /) -> bytes:
        while True:
            block = self._stream.read(size)
            text = self._decoder.decode(block, final=not block)
            if text or not block:
                return text.encode()


class _Uncommented(Reading):
    """Text whose comment lines are empty."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._pending = b""

    def read(self, size: int = -1, /) -> bytes:
        while True:
            block = self._stream.read(size)
            text = self._pending + block
            end = text.rfind(b"\n") + 1 if block else len(text)
            self._pending = text[end:]
            if end or not block:
                return _COMMENT.sub(b"", text[:end])
