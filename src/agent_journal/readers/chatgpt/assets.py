"""Files that messages point to: their metadata, and their paths in the export.

A pointer is `file-service://file-AbC` (until 2025) or `sediment://file_0001#part`. The file is named
`file-AbC-original name`, is in a folder of its own, or is named `<id>.dat` (since 2026).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import nonempty_str
from agent_journal.model import Media, MediaKind, Part
from agent_journal.readers.dialects.text_files import is_text, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]
_ID = re.compile(r"file[-_][A-Za-z0-9]+")
_DOCUMENTS = ("text/", "application/pdf", "application/msword", "application/vnd.", "application/rtf")


class FileInfo(NamedTuple):
    """Metadata, path and text of a file."""

    name: str | None = None
    mime: str | None = None
    size: int | None = None
    file: str | None = None
    text: str | None = None


class Assets:
    """The files of an export, their original names, and the library; empty for a single file."""

    def __init__(
        self,
        sources: Mapping[str, Input] | None = None,
        names: JsonObject | None = None,
        library: Iterable[JsonObject] = (),
        note: Notes | None = None,
    ) -> None:
        self._sources = sources or {}
        self._note = note
        self._files: dict[str, str] = {}
        for path in self._sources:
            for key in _ids_in(path.rpartition("/")[2]):
                self._files.setdefault(key, path)
        self._names = {file.removesuffix(".dat"): name for file, name in (names or {}).items()}
        self._library = {nonempty_str(row.get("file_id")): row for row in library}
        self.used: set[str] = set()

    def info(self, pointer: str | None, attachment: JsonObject | None = None) -> FileInfo:
        """Collect the metadata of a file; the message's own attachment takes precedence."""
        key = "" if pointer is None else asset_id(pointer)
        stated: JsonObject = attachment or {}
        library_row: JsonObject = self._library.get(key, {})
        file = self._files.get(key)
        if file is not None:
            self.used.add(file)
        mime = mime_of(stated) or nonempty_str(library_row.get("mime_type"))
        return FileInfo(
            nonempty_str(stated.get("name"))
            or nonempty_str(self._names.get(key))
            or nonempty_str(library_row.get("file_name")),
            mime,
            _size(stated.get("size"), library_row.get("file_size_bytes")),
            file,
            self._text(file) if is_text(mime) else None,
        )

    def _text(self, file: str | None) -> str | None:
        return None if file is None or self._note is None else read_text(self._sources[file], self._note)


def asset_id(pointer: str) -> str:
    """Get the id in a pointer."""
    return pointer.rpartition("://")[2].partition("#")[0]


def is_asset(name: str) -> bool:
    """Whether a file is named like an asset of an export."""
    return _ID.match(name) is not None or name.endswith(".dat")


def _ids_in(name: str) -> list[str]:
    """List the ids that may point to a file: the beginning of its name, and the name without its suffix."""
    match = _ID.match(name)
    return [*([match[0]] if match else []), name.rpartition(".")[0] or name]


def mime_of(attachment: JsonObject) -> str | None:
    """Get the media type of an attachment, which has two spellings."""
    return nonempty_str(attachment.get("mime_type")) or nonempty_str(attachment.get("mimeType"))


def kind_of(mime: str | None) -> MediaKind:
    """Get the kind of a file from its media type."""
    match (mime or "").partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "document" if (mime or "").startswith(_DOCUMENTS) else "file"


def media(kind: MediaKind, fields: Fields, assets: Assets, attachment: JsonObject | None) -> Media:
    """Convert the file an asset pointer names; the pointer's other fields stay in `extra`."""
    fields.text("content_type")
    pointer = fields.text("asset_pointer")
    file_info = assets.info(pointer, attachment)
    size = fields.whole("size_bytes")
    if file_info.file is not None:
        fields.keep("file", file_info.file)
    return Media(
        kind=kind,
        mime=file_info.mime,
        name=file_info.name,
        size=file_info.size if size is None else size,
        ref=pointer,
        text=file_info.text,
        extra=fields.rest(),
    )


def library_media(row: JsonObject, parts: list[Part], assets: Assets) -> Media | None:
    """Convert a library file that a message made, unless the message points to it already."""
    reference = nonempty_str(row.get("file_id"))
    pointed = {asset_id(part.ref) for part in parts if isinstance(part, Media) and part.ref}
    if reference is None or reference in pointed:
        return None
    return media_of(reference, assets.info(reference))


def media_of(reference: str | None, file_info: FileInfo) -> Media:
    """Convert a file that no pointer in the content names."""
    extra = {} if file_info.file is None else {"file": file_info.file}
    return Media(
        kind=kind_of(file_info.mime),
        mime=file_info.mime,
        name=file_info.name,
        size=file_info.size,
        ref=reference,
        text=file_info.text,
        extra=extra,
    )


def _size(*stated: Any) -> int | None:
    return next((size for size in stated if size.__class__ is int), None)
