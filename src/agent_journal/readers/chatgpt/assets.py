"""Files that messages point to: what the export says about them, and where in it they lie.

A pointer is `file-service://file-AbC` (until 2025) or `sediment://file_0001#part`. The file is called
`file-AbC-original name`, lies in a folder of its own, or is `<id>.dat` (since 2026).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import words
from agent_journal.model import Media, MediaKind, Part
from agent_journal.readers.dialects.text_files import is_text, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

Bag = dict[str, Any]
_ID = re.compile(r"file[-_][A-Za-z0-9]+")
_DOCUMENTS = ("text/", "application/pdf", "application/msword", "application/vnd.", "application/rtf")


class Known(NamedTuple):
    """What is known of a file beside its pointer."""

    name: str | None = None
    mime: str | None = None
    size: int | None = None
    file: str | None = None
    text: str | None = None


class Assets:
    """The files of an export, the names it gives them, and its library; empty for a single file."""

    def __init__(
        self,
        sources: Mapping[str, Source] | None = None,
        names: Bag | None = None,
        library: Iterable[Bag] = (),
        note: Notes | None = None,
    ) -> None:
        self._sources = sources or {}
        self._note = note
        self._files: dict[str, str] = {}
        for path in self._sources:
            for key in _ids_in(path.rpartition("/")[2]):
                self._files.setdefault(key, path)
        self._names = {file.removesuffix(".dat"): name for file, name in (names or {}).items()}
        self._library = {words(row.get("file_id")): row for row in library}
        self.used: set[str] = set()

    def known(self, pointer: str | None, attachment: Bag | None = None) -> Known:
        """All that is known of the file; the message's own attachment knows best."""
        key = "" if pointer is None else asset_id(pointer)
        stated: Bag = attachment or {}
        shelved: Bag = self._library.get(key, {})
        file = self._files.get(key)
        if file is not None:
            self.used.add(file)
        mime = mime_of(stated) or words(shelved.get("mime_type"))
        return Known(
            words(stated.get("name")) or words(self._names.get(key)) or words(shelved.get("file_name")),
            mime,
            _size(stated.get("size"), shelved.get("file_size_bytes")),
            file,
            self._text(file) if is_text(mime) else None,
        )

    def _text(self, file: str | None) -> str | None:
        return None if file is None or self._note is None else written(self._sources[file], self._note)


def asset_id(pointer: str) -> str:
    """The id in a pointer."""
    return pointer.rpartition("://")[2].partition("#")[0]


def is_asset(name: str) -> bool:
    """Whether a file is named as exports name assets."""
    return _ID.match(name) is not None or name.endswith(".dat")


def _ids_in(name: str) -> list[str]:
    """What a file's name may be pointed to by: its beginning, or all of it but the suffix."""
    found = _ID.match(name)
    return [*([found[0]] if found else []), name.rpartition(".")[0] or name]


def mime_of(attachment: Bag) -> str | None:
    """The type of an attachment, which is spelt in two ways."""
    return words(attachment.get("mime_type")) or words(attachment.get("mimeType"))


def kind_of(mime: str | None) -> MediaKind:
    """What a type says about a file's content."""
    match (mime or "").partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "document" if (mime or "").startswith(_DOCUMENTS) else "file"


def media(kind: MediaKind, fields: Fields, assets: Assets, attachment: Bag | None) -> Media:
    """The file an asset pointer names; what else the pointer says stays in `extra`."""
    fields.text("content_type")
    pointer = fields.text("asset_pointer")
    known = assets.known(pointer, attachment)
    size = fields.whole("size_bytes")
    if known.file is not None:
        fields.keep("file", known.file)
    return Media(
        kind=kind,
        mime=known.mime,
        name=known.name,
        size=known.size if size is None else size,
        ref=pointer,
        text=known.text,
        extra=fields.rest(),
    )


def library_media(row: Bag, parts: list[Part], assets: Assets) -> Media | None:
    """A file of the library that a message made, unless the message points to it already."""
    reference = words(row.get("file_id"))
    pointed = {asset_id(part.ref) for part in parts if isinstance(part, Media) and part.ref}
    if reference is None or reference in pointed:
        return None
    return media_of(reference, assets.known(reference))


def media_of(reference: str | None, known: Known) -> Media:
    """A file of which there is no pointer in the content."""
    extra = {} if known.file is None else {"file": known.file}
    return Media(
        kind=kind_of(known.mime),
        mime=known.mime,
        name=known.name,
        size=known.size,
        ref=reference,
        text=known.text,
        extra=extra,
    )


def _size(*stated: Any) -> int | None:
    return next((size for size in stated if size.__class__ is int), None)
