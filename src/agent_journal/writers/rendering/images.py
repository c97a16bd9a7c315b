"""Images and other files of pages: embedded, in files next to them, or omitted."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

from agent_journal.model import Conversation, Media, Message, ToolResult
from agent_journal.rendering.media_types import detect_media_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Item, Part
    from agent_journal.writers import Bundle, Images

FOLDER = "media"


def iter_media(item: Item) -> Iterator[Media]:
    """Every image and file of a conversation, including those in tool results."""
    for entry in item.timeline if isinstance(item, Conversation) else ():
        for part in entry.parts if isinstance(entry, Message) else ():
            yield from _media_of_part(part)


def _media_of_part(part: Part) -> Iterator[Media]:
    if isinstance(part, Media):
        yield part
    elif isinstance(part, ToolResult) and not isinstance(part.output, str):
        yield from (item for item in part.output if isinstance(item, Media))


class MediaFiles:
    """The media files of a run, and their addresses in pages."""

    def __init__(self, images: Images, *, is_folder: bool, embeds: bool) -> None:
        self._writes_files = is_folder and images in {"auto", "beside"}
        self._embeds = images == "embed" or (images == "auto" and not is_folder and embeds)
        self._written: dict[str, bool] = {}

    def write_files(self, item: Item, bundle: Bundle) -> None:
        """Write the files of an item; each distinct file is written once."""
        if not self._writes_files:
            return
        for media in iter_media(item):
            if media.data and (name := _file_name(media.data)) not in self._written:
                content = _decoded(media.data)
                self._written[name] = content is not None
                if content is not None:
                    with bundle.file(f"{FOLDER}/{name}") as out:
                        out.write(content)

    def image_address(self, media: Media) -> str | None:
        """The address of an image: a path relative to a page, or a `data:` address."""
        if not media.data:
            return None
        _, mime = detect_media_type(media.data)
        if not mime.startswith("image/"):
            return None
        if self._embeds and _decoded(media.data) is not None:
            return f"data:{mime};base64,{media.data}"
        return self.file_path(media)

    def file_path(self, media: Media) -> str | None:
        """The path of a file relative to a page; None if it was not written."""
        if not media.data or not self._writes_files:
            return None
        name = _file_name(media.data)
        return f"../{FOLDER}/{name}" if self._written.get(name) else None


def _file_name(data: str) -> str:
    digest = hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{digest}.{detect_media_type(data)[0]}"


def _decoded(data: str) -> bytes | None:
    """The bytes of strict base64; None if invalid, so that nothing else gets into an address."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
