"""What a person attached to a prompt: files, folders, resources, lines selected in an editor.

The app writes each attachment on a line of its own. What it adds by itself (reminders, memories, lists of
skills, changes on disk) is not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Media

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part

_PDF = "application/pdf"


def parts(attachment: Fields) -> list[Part]:
    """Take the files out of an attachment; empty if the person did not attach it."""
    kind = attachment.view("type")
    convert = _CONVERTERS.get(kind) if kind.__class__ is str else None
    return [] if convert is None else convert(attachment)


def _file(attachment: Fields) -> list[Part]:
    """Convert what the tool that reads files returned: text, cells, or an image or document in base64."""
    content = attachment.nested("content") if attachment.view("content").__class__ is dict else None
    file = content.nested("file") if content and content.view("file").__class__ is dict else None
    if content is None or file is None:
        return []
    kind = content.view("type")
    if kind == "text" and file.view("content").__class__ is str:
        return [_document(attachment, "filename", file.take("content"))]
    if kind == "notebook" and (cells := _cell_sources(file.view("cells"))):
        return [_document(attachment, "filename", cells)]
    if kind in ("image", "pdf") and file.view("base64").__class__ is str:
        return [_binary(attachment, file, is_image=kind == "image")]
    return []


def _cell_sources(cells: Any) -> str:
    return "\n\n".join(cell["source"] for cell in objects(cells) if cell.get("source").__class__ is str)


def _document(attachment: Fields, ref_field: str, text: str) -> Media:
    return Media(
        kind="document", name=attachment.text("displayPath"), ref=attachment.text(ref_field), text=text
    )


def _binary(attachment: Fields, file: Fields, *, is_image: bool) -> Media:
    mime = file.text("type") if is_image else _PDF
    return Media(
        kind="image" if is_image else "document",
        mime=mime if mime is None or "/" in mime else f"image/{mime}",
        name=attachment.text("displayPath"),
        size=file.whole("originalSize"),
        ref=attachment.text("filename"),
        data=file.take("base64"),
    )


def _text(ref_field: str) -> Callable[[Fields], list[Part]]:
    def convert(attachment: Fields) -> list[Part]:
        if attachment.view("content").__class__ is not str:
            return []
        return [_document(attachment, ref_field, attachment.take("content"))]

    return convert


def _resource(attachment: Fields) -> list[Part]:
    """Convert what a server returned for a resource that the person named."""
    content = attachment.view("content")
    contents = content.get("contents") if content.__class__ is dict else None
    return [
        Media(
            kind="document",
            mime=nonempty_str(resource.get("mimeType")),
            ref=nonempty_str(resource.get("uri")),
            text=resource.pop("text"),
        )
        for resource in objects(contents)
        if resource.get("text").__class__ is str
    ]


_CONVERTERS: dict[str, Callable[[Fields], list[Part]]] = {
    "file": _file,
    "already_read_file": _file,
    "directory": _text("path"),
    "selected_lines_in_ide": _text("filename"),
    "mcp_resource": _resource,
}
