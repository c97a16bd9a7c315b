"""Texts that were attached as files: they stand in the model as base64, in which no rule finds anything."""

from __future__ import annotations

import base64
import codecs
import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MEDIA = frozenset({"image", "audio", "video"})
_HEAD = 64
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # that no text has


def attached(pieces: Iterable[Any]) -> Iterator[str]:
    """The texts of all files that are attached to messages."""
    for piece in pieces:
        if not isinstance(piece, Message):
            continue
        for part in piece.parts:
            if isinstance(part, Media):
                yield from _texts_of((part,))
            elif isinstance(part, ToolResult) and isinstance(part.output, list):
                yield from _texts_of(part.output)


def _texts_of(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Media) and (text := text_of(part)) is not None:
            yield text


def text_of(media: Media) -> str | None:
    """The text of a file, whatever its encoding; None if it is something else."""
    data = b"" if media.kind in _MEDIA else _bytes(media)
    encoding = _encoding(data) if data else None
    try:
        return None if encoding is None else data.decode(encoding)
    except ValueError:
        return None


def data_of(text: str, media: Media) -> str:
    """The text as a file has it in the model, in the encoding that the file was in."""
    encoding = _encoding(_bytes(media)) or "utf-8"
    return base64.b64encode(text.encode(encoding)).decode()


def _bytes(media: Media) -> bytes:
    try:
        return base64.b64decode(media.data or "", validate=True)
    except ValueError:
        return b""


def _encoding(data: bytes) -> str | None:
    """How a text is encoded; None if it is none. What is in a code page of old has all ASCII in its place."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in data:
        return None if data[1:_HEAD:2].strip(b"\0") else "utf-16-le"
    try:
        data.decode()
    except UnicodeDecodeError:
        return None if _CONTROLS.search(data) else "latin-1"
    return "utf-8"
