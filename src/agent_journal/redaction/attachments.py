"""Texts of attached files: the model holds them as base64, which rules cannot search."""

from __future__ import annotations

import base64
import codecs
import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BINARY_KINDS = frozenset({"image", "audio", "video"})
_SNIFFED_BYTES = 64
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # do not occur in text


def attached_texts(entries: Iterable[Any]) -> Iterator[str]:
    """Yield the texts of all files that are attached to messages."""
    for entry in entries:
        if not isinstance(entry, Message):
            continue
        for part in entry.parts:
            if isinstance(part, Media):
                yield from _texts_of((part,))
            elif isinstance(part, ToolResult) and isinstance(part.output, list):
                yield from _texts_of(part.output)


def _texts_of(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Media) and (text := decoded_text(part)) is not None:
            yield text


def decoded_text(media: Media) -> str | None:
    """Decode the text of a file in any encoding; None if it is not text."""
    data = b"" if media.kind in _BINARY_KINDS else _bytes(media)
    encoding = _encoding(data) if data else None
    try:
        return None if encoding is None else data.decode(encoding)
    except ValueError:
        return None


def encoded_text(text: str, media: Media) -> str:
    """Encode a text for the model, in the encoding that the file had."""
    encoding = _encoding(_bytes(media)) or "utf-8"
    return base64.b64encode(text.encode(encoding)).decode()


def _bytes(media: Media) -> bytes:
    try:
        return base64.b64decode(media.data or "", validate=True)
    except ValueError:
        return b""


def _encoding(data: bytes) -> str | None:
    """Detect the encoding of a text; None if it is not text. Latin-1 preserves all legacy code pages."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in data:
        return None if data[1:_SNIFFED_BYTES:2].strip(b"\0") else "utf-16-le"
    try:
        data.decode()
    except UnicodeDecodeError:
        return None if _CONTROLS.search(data) else "latin-1"
    return "utf-8"
