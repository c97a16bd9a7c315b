"""Images and other files that a page shows or names: inside of it, beside it, or not at all."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

from agent_journal.model import Conversation, Media, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Item, Part
    from agent_journal.writers import Bundle, Images

FOLDER = "media"
# What a file is follows from how it begins, whatever its source says: a page that is called an image must
# not come to lie beside ours under a name that a browser opens. Drawings (SVG) can hold scripts.
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
    (b"BM", "bmp", "image/bmp"),
    (b"%PDF-", "pdf", "application/pdf"),
    (b"ID3", "mp3", "audio/mpeg"),
    (b"OggS", "ogg", "audio/ogg"),
    (b"fLaC", "flac", "audio/flac"),
)
# Of these the kind follows some bytes further on.
_LATER = (
    (8, b"WEBP", "webp", "image/webp"),
    (8, b"WAVE", "wav", "audio/wav"),
    (4, b"ftypavif", "avif", "image/avif"),
    (4, b"ftyp", "mp4", "video/mp4"),
)
_UNKNOWN = ("bin", "application/octet-stream")
_HEAD = 64


def kind_of(data: str) -> tuple[str, str]:
    """The suffix and media type of a file by its first bytes; `data` is base64."""
    try:
        head = base64.b64decode(data[:_HEAD])
    except (binascii.Error, ValueError):
        return _UNKNOWN
    for begin, suffix, mime in _BEGINNINGS:
        if head.startswith(begin):
            return suffix, mime
    for place, mark, suffix, mime in _LATER:
        if head[place:].startswith(mark):
            return suffix, mime
    return _UNKNOWN


def media_in(item: Item) -> Iterator[Media]:
    """Every image and file of a conversation, also those that tools answered."""
    for entry in item.timeline if isinstance(item, Conversation) else ():
        for part in entry.parts if isinstance(entry, Message) else ():
            yield from _within(part)


def _within(part: Part) -> Iterator[Media]:
    if isinstance(part, Media):
        yield part
    elif isinstance(part, ToolResult) and not isinstance(part.output, str):
        yield from (each for each in part.output if isinstance(each, Media))


class Pictures:
    """Where the images of a run are, as pages refer to them."""

    def __init__(self, wanted: Images, *, is_folder: bool, embeds: bool) -> None:
        self._is_beside = is_folder and wanted in {"auto", "beside"}
        self._is_inside = wanted == "embed" or (wanted == "auto" and not is_folder and embeds)
        self._put: dict[str, bool] = {}

    def put(self, item: Item, bundle: Bundle) -> None:
        """Write the files of an item, each once."""
        if not self._is_beside:
            return
        for media in media_in(item):
            if media.data and (name := _name(media.data)) not in self._put:
                content = _decoded(media.data)
                self._put[name] = content is not None
                if content is not None:
                    with bundle.file(f"{FOLDER}/{name}") as out:
                        out.write(content)

    def address(self, media: Media) -> str | None:
        """Where an image is shown from: a path relative to a page, or a `data:` address."""
        if not media.data:
            return None
        _, mime = kind_of(media.data)
        if not mime.startswith("image/"):
            return None
        if self._is_inside and _decoded(media.data) is not None:
            return f"data:{mime};base64,{media.data}"
        return self.path(media)

    def path(self, media: Media) -> str | None:
        """The path of a file relative to a page; None if it does not lie there."""
        if not media.data or not self._is_beside:
            return None
        name = _name(media.data)
        return f"../{FOLDER}/{name}" if self._put.get(name) else None


def _name(data: str) -> str:
    mark = hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{mark}.{kind_of(data)[0]}"


def _decoded(data: str) -> bytes | None:
    """The bytes of strict base64; None if it is none, so that nothing else can stand in an address."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
