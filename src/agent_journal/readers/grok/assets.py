"""Files that messages name: addresses of generated images, and assets, which an export has in a folder.

An asset is `prod-mc-asset-server/<id>/content`, without a suffix: its first bytes tell what it is. An address
may have the id of an asset in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Media, MediaKind
from agent_journal.notes import Kind
from agent_journal.readers.dialects.text_files import LONGEST, as_text
from agent_journal.readers.grok.names import ASSETS

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.values import Bag

_SIGNS: tuple[tuple[bytes, int, MediaKind, str], ...] = (
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
_ATTACHED: dict[str, MediaKind] = {
    "generated_image_urls": "image",
    "image_attachments": "image",
    "file_attachments": "file",
}
_HEAD = 512


class Assets:
    """The assets of an export, by their ids; none for a file that lies alone."""

    def __init__(self, files: dict[str, Source] | None = None) -> None:
        self._files: dict[str, tuple[str, Source]] = {}
        for path, file in (files or {}).items():
            steps = path.split("/")
            if ASSETS in steps[:-2] and steps[-1] == "content":
                self._files[steps[-2]] = path, file
        self.used: set[str] = set()

    def media(self, reference: str, kind: MediaKind, note: Notes) -> Media:
        """The file that an id or address stands for."""
        asset = next((step for step in reference.split("/") if step in self._files), None)
        if asset is None:
            return Media(kind=kind, ref=reference)
        path, file = self._files[asset]
        self.used.add(asset)
        told = _told_by_content(file, note)
        return replace(told, kind=told.kind if told.mime else kind, ref=reference, extra={"file": path})


def _told_by_content(file: Source, note: Notes) -> Media:
    """What the bytes of a file tell: a type and, if it is a text that somebody may have written, the text."""
    try:
        with file.open() as stream:
            head = stream.read(_HEAD)
            for sign, place, kind, mime in _SIGNS:
                if head.startswith(sign, place):
                    return Media(kind=kind, mime=mime)
            if not head or b"\0" in head:
                return Media(kind="file")
            return Media(kind="document", mime="text/plain", text=as_text(head + stream.read(LONGEST)))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Media(kind="file")


def attached(fields: Fields, assets: Assets, drawn: list[str]) -> list[Media]:
    """The images that a response shows, `drawn` among them, and the files that it names."""
    listed_already = fields.look("generated_image_urls")
    more = [each for each in drawn if listed_already.__class__ is not list or each not in listed_already]
    found = [assets.media(each, "image", fields.note) for each in more]
    for name, kind in _ATTACHED.items():
        listed = fields.items(name) or []
        found += [assets.media(each, kind, fields.note) for each in listed if words(each)]
        found += [described(each, kind) for each in objects(listed)]
        if odd := [each for each in listed if each.__class__ not in (str, dict)]:
            fields.keep(name, odd)
    return found


def described(value: Bag, kind: MediaKind) -> Media:
    """A file that an object tells of; all of the object that has no field stays in `extra`."""
    name, mime, reference = (_first(value, names) for names in (_NAMES, _TYPES, _REFERENCES))
    rest = {key: each for key, each in value.items() if each not in (name, mime, reference)}
    return Media(kind=kind_of(mime) or kind, name=name, mime=mime, ref=reference, extra=rest)


def kind_of(mime: str | None) -> MediaKind | None:
    """What a type, as `image/png` or in one word, says about a file's content."""
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


def _first(value: Bag, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := words(value.get(name)))), None)
