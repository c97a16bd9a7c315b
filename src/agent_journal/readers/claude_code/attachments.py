"""What the person put beside a prompt: files, folders, resources, lines that were chosen in an editor.

The app keeps each in a line of its own. What it adds by itself (reminders, memories, lists of skills, what
changed on disk) is none of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.model import Media

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part

_PDF = "application/pdf"


def parts(attached: Fields) -> list[Part]:
    """The files that an attachment brings, moved out of it; none if the person did not put it there."""
    kind = attached.look("type")
    make = _WAYS.get(kind) if kind.__class__ is str else None
    return [] if make is None else make(attached)


def _file(attached: Fields) -> list[Part]:
    """A file as the tool that reads files tells it: text, cells, or an image or document in base64."""
    content = attached.nested("content") if attached.look("content").__class__ is dict else None
    inside = content.nested("file") if content and content.look("file").__class__ is dict else None
    if content is None or inside is None:
        return []
    kind = content.look("type")
    if kind == "text" and inside.look("content").__class__ is str:
        return [_document(attached, "filename", inside.take("content"))]
    if kind == "notebook" and (cells := _sources(inside.look("cells"))):
        return [_document(attached, "filename", cells)]
    if kind in ("image", "pdf") and inside.look("base64").__class__ is str:
        return [_binary(attached, inside, is_image=kind == "image")]
    return []


def _sources(cells: Any) -> str:
    return "\n\n".join(cell["source"] for cell in objects(cells) if cell.get("source").__class__ is str)


def _document(attached: Fields, place: str, text: str) -> Media:
    return Media(kind="document", name=attached.text("displayPath"), ref=attached.text(place), text=text)


def _binary(attached: Fields, inside: Fields, *, is_image: bool) -> Media:
    mime = inside.text("type") if is_image else _PDF
    return Media(
        kind="image" if is_image else "document",
        mime=mime if mime is None or "/" in mime else f"image/{mime}",
        name=attached.text("displayPath"),
        size=inside.whole("originalSize"),
        ref=attached.text("filename"),
        data=inside.take("base64"),
    )


def _text(place: str) -> Callable[[Fields], list[Part]]:
    def make(attached: Fields) -> list[Part]:
        if attached.look("content").__class__ is not str:
            return []
        return [_document(attached, place, attached.take("content"))]

    return make


def _resource(attached: Fields) -> list[Part]:
    """What a server gave for a resource that the person named."""
    content = attached.look("content")
    found = content.get("contents") if content.__class__ is dict else None
    return [
        Media(
            kind="document",
            mime=words(each.get("mimeType")),
            ref=words(each.get("uri")),
            text=each.pop("text"),
        )
        for each in objects(found)
        if each.get("text").__class__ is str
    ]


_WAYS: dict[str, Callable[[Fields], list[Part]]] = {
    "file": _file,
    "already_read_file": _file,
    "directory": _text("path"),
    "selected_lines_in_ide": _text("filename"),
    "mcp_resource": _resource,
}
