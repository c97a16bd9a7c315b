"""The attachments of a prompt: files, images, pasted code, tools."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import locations

if TYPE_CHECKING:
    from agent_journal.model import Part

# An object of numbered bytes that is larger than this is not an attached image.
_MAX_IMAGE_BYTES = 50_000_000


def convert_variable(raw: Any, variables: Fields) -> Part:
    """Convert a variable of a prompt to a part."""
    if raw.__class__ is not dict:
        variables.note(Kind.WRONG_TYPE, variables.where, f"a variable is {type(raw).__name__}")
        return Other(data=raw, name="variable")
    fields = Fields(raw, variables.note, variables.where)
    kind = fields.view("kind")
    if kind == "image" or _is_image(fields):
        return _image(fields)
    if kind == "paste" and isinstance(fields.view("code"), str):
        return _pasted(fields)
    path = locations.path_of(fields.view("value"))
    if path is not None:
        return Media(kind="file", ref=path, name=fields.text("name"), extra=fields.rest())
    if isinstance(value := fields.view("value"), str) and value.strip():
        return _document(fields)
    return Other(data=raw, name=kind if isinstance(kind, str) else "variable")


def _document(fields: Fields) -> Media:
    """Convert a text that the editor made: of a workspace, a page, the state of a debugger."""
    text, name = fields.take("value"), fields.text("name")
    return Media(kind="document", name=name, text=text, extra=fields.rest())


def _is_image(fields: Fields) -> bool:
    """Whether a variable from before variables had a kind is an image."""
    return fields.view("isImage") is True


def _image(fields: Fields) -> Media:
    data = base64_of(fields.view("value"))
    if data is not None:
        fields.drop("value")
    ref = None if data is not None else locations.path_of(fields.view("value"))
    mime, name = fields.text("mimeType"), fields.text("name")
    if fields.view("kind") == "image":
        fields.drop("kind")
    return Media(kind="image", mime=mime, name=name, ref=ref, data=data, extra=fields.rest())


def base64_of(value: Any) -> str | None:
    """Return bytes as base64, from any of the forms in which editors have written them."""
    if not isinstance(value, dict):
        return None
    encoded = value.get("$base64")
    if isinstance(encoded, str):
        return encoded
    numbers = value.get("data") if value.get("type") == "Buffer" else _numbered(value)
    if not isinstance(numbers, list) or not numbers:
        return None
    try:
        return base64.b64encode(bytes(numbers)).decode("ascii")
    except (TypeError, ValueError):
        return None


def _numbered(value: dict[str, Any]) -> list[Any] | None:
    """Return the values of the keys "0", "1", … in order: JavaScript's serialization of a byte array."""
    if "0" not in value or len(value) > _MAX_IMAGE_BYTES:
        return None
    numbers = [value.get(str(index)) for index in range(len(value))]
    return None if None in numbers else numbers


def _pasted(fields: Fields) -> Code:
    fields.drop("kind")
    copied = fields.view("copiedFrom")
    first, last = locations.lines_of(copied)
    return Code(
        code=fields.take("code"),
        language=fields.text("language"),
        file=locations.path_of(copied) or fields.text("fileName"),
        first_line=first,
        last_line=last,
        extra=fields.rest(),
    )
