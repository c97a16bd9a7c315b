"""What a person put beside a prompt: files, pictures, pasted code, tools."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import places

if TYPE_CHECKING:
    from agent_journal.model import Part

# Of a picture that is an object of numbered bytes, more than this is no picture anybody attached.
_MOST_BYTES = 50_000_000


def attachment(raw: Any, around: Fields) -> Part:
    """The part that a variable of a prompt is."""
    if raw.__class__ is not dict:
        around.note(Kind.WRONG_TYPE, around.where, f"a variable is {type(raw).__name__}")
        return Other(data=raw, name="variable")
    fields = Fields(raw, around.note, around.where)
    kind = fields.look("kind")
    if kind == "image" or _is_picture(fields):
        return _picture(fields)
    if kind == "paste" and isinstance(fields.look("code"), str):
        return _pasted(fields)
    path = places.path_of(fields.look("value"))
    if path is not None:
        return Media(kind="file", ref=path, name=fields.text("name"), extra=fields.rest())
    if isinstance(value := fields.look("value"), str) and value.strip():
        return _worded(fields)
    return Other(data=raw, name=kind if isinstance(kind, str) else "variable")


def _worded(fields: Fields) -> Media:
    """What the editor put into words: what a workspace holds, a page, the state of a debugger."""
    text, name = fields.take("value"), fields.text("name")
    return Media(kind="document", name=name, text=text, extra=fields.rest())


def _is_picture(fields: Fields) -> bool:
    """Before variables had a kind, a flag told it."""
    return fields.look("isImage") is True


def _picture(fields: Fields) -> Media:
    data = base64_of(fields.look("value"))
    if data is not None:
        fields.drop("value")
    ref = None if data is not None else places.path_of(fields.look("value"))
    mime, name = fields.text("mimeType"), fields.text("name")
    if fields.look("kind") == "image":
        fields.drop("kind")
    return Media(kind="image", mime=mime, name=name, ref=ref, data=data, extra=fields.rest())


def base64_of(value: Any) -> str | None:
    """Bytes as base64, from each of the forms that editors have written them in."""
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
    """The values under "0", "1", … in their order: what JavaScript makes of an array of bytes."""
    if "0" not in value or len(value) > _MOST_BYTES:
        return None
    numbers = [value.get(str(index)) for index in range(len(value))]
    return None if None in numbers else numbers


def _pasted(fields: Fields) -> Code:
    fields.drop("kind")
    copied = fields.look("copiedFrom")
    first, last = places.lines_of(copied)
    return Code(
        code=fields.take("code"),
        language=fields.text("language"),
        file=places.path_of(copied) or fields.text("fileName"),
        first_line=first,
        last_line=last,
        extra=fields.rest(),
    )
