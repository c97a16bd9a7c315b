"""Files that messages name: URLs of generated images, and assets, which an export has in a folder.

An asset is `prod-mc-asset-server/<id>/content`, without a suffix; its first bytes identify it. A URL may
contain the id of an asset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Media, MediaKind
from agent_journal.notes import Kind
from agent_journal.readers.dialects.text_files import MAX_TEXT_BYTES, decode_text
from agent_journal.readers.grok.names import ASSETS

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.values import JsonObject

_SIGNATURES: tuple[tuple[bytes, int, MediaKind, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image", "image/png"),
    (b"\xff\xd8\xff", 0, "image", "image/jpeg"),
    (b"GIF8", 0, "image", "image/gif"),
    (b"WEBP", 8, "image", "image/webp"),
    (b"%PDF-", 0, "document", "application/pdf"),
    (b"ftyp", 4, "video", "video/mp4"),
    (b"WAVE", 8, "audio", "audio/wav"),
    (b"ID3", 0, "audio", "audio/mpeg"),
    (b"PK\x03\x04", 0, "file", "application/zip"),
)
_NAMES = ("fileName", "file_name", "name")
_TYPES = ("mimeType", "mime_type")
_REFERENCES = ("url", "uri", "id", "mediaId")
_ATTACHMENT_FIELDS: dict[str, MediaKind] = {
    "generated_image_urls": "image",
    "image_attachments": "image",
    "file_attachments": "file",
}
_HEAD_BYTES = 512


class Assets:
    """The assets of an export by their ids; empty for a single file."""

    def __init__(self, files: dict[str, Input] | None = None) -> None:
        self._files: dict[str, tuple[str, Input]] = {}
        for path, file in (files or {}).items():
            steps = path.split("/")
            if ASSETS in steps[:-2] and steps[-1] == "content":
                self._files[steps[-2]] = path, file
        self.used: set[str] = set()

    def media(self, reference: str, kind: MediaKind, note: Notes) -> Media:
        """Get the file of an id or URL."""
        asset = next((step for step in reference.split("/") if step in self._files), None)
        if asset is None:
            return Media(kind=kind, ref=reference)
        path, file = self._files[asset]
        self.used.add(asset)
        media = _detect_media(file, note)
        return replace(media, kind=media.kind if media.mime else kind, ref=reference, extra={"file": path})


def _detect_media(file: Input, note: Notes) -> Media:
    """Detect the type of a file from its bytes; of a text file, also get the text."""
    try:
        with file.open() as stream:
            head = stream.read(_HEAD_BYTES)
            for signature, offset, kind, mime in _SIGNATURES:
                if head.startswith(signature, offset):
                    return Media(kind=kind, mime=mime)
            if not head or b"\0" in head:
                return Media(kind="file")
            return Media(
                kind="document", mime="text/plain", text=decode_text(head + stream.read(MAX_TEXT_BYTES))
            )
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Media(kind="file")


def attachments(fields: Fields, assets: Assets, generated: list[str]) -> list[Media]:
    """List the images of a response, including those in `generated`, and the files that it names."""
    listed_urls = fields.view("generated_image_urls")
    more = [url for url in generated if listed_urls.__class__ is not list or url not in listed_urls]
    result = [assets.media(url, "image", fields.note) for url in more]
    for name, kind in _ATTACHMENT_FIELDS.items():
        values = fields.items(name) or []
        result += [assets.media(value, kind, fields.note) for value in values if nonempty_str(value)]
        result += [from_object(value, kind) for value in objects(values)]
        if invalid := [value for value in values if value.__class__ not in (str, dict)]:
            fields.keep(name, invalid)
    return result


def from_object(value: JsonObject, kind: MediaKind) -> Media:
    """Convert an object that describes a file; values without a field of their own stay in `extra`."""
    name, mime, reference = (_first(value, names) for names in (_NAMES, _TYPES, _REFERENCES))
    rest = {key: item for key, item in value.items() if item not in (name, mime, reference)}
    return Media(kind=kind_of(mime) or kind, name=name, mime=mime, ref=reference, extra=rest)


def kind_of(mime: str | None) -> MediaKind | None:
    """Get the kind of a file from its type, such as `image/png` or one word."""
    match (mime or "").lower().partition("/")[0].removeprefix("media_post_type_"):
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case "text":
            return "document"
    return "document" if mime == "application/pdf" else None


def _first(value: JsonObject, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := nonempty_str(value.get(name)))), None)
