"""Converts the files of a message: with their text (`attachments`), or by name only (`files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Media, MediaKind, Text

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

_KIND_BY_SUFFIX: dict[str, MediaKind] = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "svg", "heic", "bmp"), "image"),
    **dict.fromkeys(("mp3", "wav", "m4a", "ogg", "flac"), "audio"),
    **dict.fromkeys(("mp4", "mov", "webm"), "video"),
    **dict.fromkeys(("pdf", "doc", "docx", "odt", "rtf", "txt", "md", "csv", "xlsx", "pptx"), "document"),
}
_KIND_BY_TYPE: dict[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "text": "document",
    "document": "document",
}


def attachment(fields: Fields) -> Media | Text:
    """Convert a file of which the export has the text.

    Long text pasted into a prompt is stored as a file without a name; it is text of the person.
    """
    pasted = fields.view("extracted_content")
    if not fields.view("file_name") and isinstance(pasted, str) and pasted.strip():
        return Text(text=fields.take("extracted_content"), extra={"type": "attachment", **fields.rest()})
    name = fields.text("file_name") or None
    size = fields.whole("file_size")
    stated = fields.view("file_type")
    mime = fields.text("file_type") if isinstance(stated, str) and "/" in stated else None
    type_name = stated if isinstance(stated, str) and not mime else None
    ref = fields.text("file_uuid") or fields.text("id")
    return Media(
        kind=_kind(mime, type_name, name),
        mime=mime,
        name=name,
        size=size,
        ref=ref,
        text=fields.text("extracted_content") or None,
        extra=fields.rest(),
    )


def file(fields: Fields) -> Media:
    """Convert a file that the export names but does not contain."""
    name = fields.text("file_name") or None
    stated = fields.view("file_kind")
    type_name = stated if isinstance(stated, str) else None
    size = fields.whole("file_size") if fields.has("file_size") else None
    ref = fields.text("file_uuid") or None
    return Media(kind=_kind(None, type_name, name), name=name, size=size, ref=ref, extra=fields.rest())


def resource(fields: Fields) -> Media:
    """Convert a file that a tool made, by its path in the sandbox."""
    mime, name, ref = fields.text("mime_type"), fields.text("name"), fields.text("file_path")
    return Media(kind=_kind(mime, None, name or ref), mime=mime, name=name, ref=ref, extra=fields.rest())


def image(fields: Fields) -> Media:
    """Convert an image, by its id or inline."""
    source = fields.nested("source")
    mime = ref = data = None
    if source is not None:
        source.drop("type")
        mime, data, ref = source.text("media_type"), source.text("data"), source.text("url")
    ref = fields.text("file_uuid") or ref
    return Media(
        kind="image", mime=mime, name=fields.text("file_name"), ref=ref, data=data, extra=fields.rest()
    )


def _kind(mime: str | None, type_name: str | None, name: str | None) -> MediaKind:
    """Get the kind from the stated type, else from the suffix of the name."""
    if mime is not None and (known := _KIND_BY_TYPE.get(mime.partition("/")[0])) is not None:
        return known
    if mime == "application/pdf":
        return "document"
    if (
        type_name is not None
        and (known := _KIND_BY_TYPE.get(type_name) or _KIND_BY_SUFFIX.get(type_name.lower())) is not None
    ):
        return known
    return _KIND_BY_SUFFIX.get((name or "").rpartition(".")[2].lower(), "file")
