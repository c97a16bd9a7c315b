"""Files that go with a message: with the text in them (`attachments`), or by name only (`files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Media, MediaKind, Text

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

_ENDINGS: dict[str, MediaKind] = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "svg", "heic", "bmp"), "image"),
    **dict.fromkeys(("mp3", "wav", "m4a", "ogg", "flac"), "audio"),
    **dict.fromkeys(("mp4", "mov", "webm"), "video"),
    **dict.fromkeys(("pdf", "doc", "docx", "odt", "rtf", "txt", "md", "csv", "xlsx", "pptx"), "document"),
}
_KINDS: dict[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "text": "document",
    "document": "document",
}


def attachment(fields: Fields) -> Media | Text:
    """A file of which the export has the text.

    A long text that was pasted into a prompt is put away as a file without a name: the person said it.
    """
    pasted = fields.look("extracted_content")
    if not fields.look("file_name") and isinstance(pasted, str) and pasted.strip():
        return Text(text=fields.take("extracted_content"), extra={"type": "attachment", **fields.rest()})
    name = fields.text("file_name") or None
    size = fields.whole("file_size")
    stated = fields.look("file_type")
    mime = fields.text("file_type") if isinstance(stated, str) and "/" in stated else None
    word = stated if isinstance(stated, str) and not mime else None
    ref = fields.text("file_uuid") or fields.text("id")
    return Media(
        kind=_kind(mime, word, name),
        mime=mime,
        name=name,
        size=size,
        ref=ref,
        text=fields.text("extracted_content") or None,
        extra=fields.rest(),
    )


def file(fields: Fields) -> Media:
    """A file that the export names and does not have."""
    name = fields.text("file_name") or None
    stated = fields.look("file_kind")
    word = stated if isinstance(stated, str) else None
    size = fields.whole("file_size") if fields.has("file_size") else None
    ref = fields.text("file_uuid") or None
    return Media(kind=_kind(None, word, name), name=name, size=size, ref=ref, extra=fields.rest())


def resource(fields: Fields) -> Media:
    """A file that a tool made, by its path in the sandbox."""
    mime, name, ref = fields.text("mime_type"), fields.text("name"), fields.text("file_path")
    return Media(kind=_kind(mime, None, name or ref), mime=mime, name=name, ref=ref, extra=fields.rest())


def image(fields: Fields) -> Media:
    """A picture, by its id or inline."""
    source = fields.nested("source")
    mime = ref = data = None
    if source is not None:
        source.drop("type")
        mime, data, ref = source.text("media_type"), source.text("data"), source.text("url")
    ref = fields.text("file_uuid") or ref
    return Media(
        kind="image", mime=mime, name=fields.text("file_name"), ref=ref, data=data, extra=fields.rest()
    )


def _kind(mime: str | None, word: str | None, name: str | None) -> MediaKind:
    """By what is stated, else by how the name ends."""
    if mime is not None and (known := _KINDS.get(mime.partition("/")[0])) is not None:
        return known
    if mime == "application/pdf":
        return "document"
    if word is not None and (known := _KINDS.get(word) or _ENDINGS.get(word.lower())) is not None:
        return known
    return _ENDINGS.get((name or "").rpartition(".")[2].lower(), "file")
