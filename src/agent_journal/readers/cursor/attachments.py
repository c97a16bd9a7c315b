"""Attachments of a message (files, selected code and output, images), and the code of an answer."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media
from agent_journal.readers.cursor.values import nonempty_fields, path_of

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part

_MAX_BYTE = 255


def take_attachments(fields: Fields) -> list[Part]:
    """Take the files, selections and images of a message out of its fields."""
    parts: list[Part] = []
    context = fields.nested("context")
    for holder in (fields, context):
        if holder is not None:
            parts += _convert_each(holder, "fileSelections", _file)
            parts += _convert_each(holder, "selections", _selection)
            parts += _convert_each(holder, "terminalSelections", _selection)
            parts += _convert_each(holder, "selectedImages", _image)
    parts += _convert_each(fields, "attachedCodeChunks", _chunk)
    parts += _convert_each(fields, "images", _image)
    return parts


def take_code_blocks(fields: Fields, text: str | None) -> list[Part]:
    """Take the code blocks that the text does not contain; the others stay in the fields.

    In chats of 2024 a block only states its index in the text and the file it is for.
    """
    blocks = fields.view("codeBlocks")
    if not blocks or not isinstance(blocks, list):
        return []
    tool_use = fields.view("toolFormerData")
    tool_input = tool_use.get("params") or tool_use.get("rawArgs") if isinstance(tool_use, dict) else None
    new_blocks = [
        block for block in blocks if isinstance(block, dict) and not _is_repeated(block, text, tool_input)
    ]
    if new_blocks:
        others = [
            block for block in blocks if not isinstance(block, dict) or _is_repeated(block, text, tool_input)
        ]
        fields.keep("codeBlocks", others)
    return [_block(Fields(block, fields.note, fields.where)) for block in new_blocks]


def _is_repeated(block: Bag, text: str | None, tool_input: Any) -> bool:
    """Whether the code of a block also occurs in the text or in the JSON of a tool's input."""
    code = block.get("content") or block.get("code")
    if not isinstance(code, str):
        return not code
    if not code or (text and code.strip() in text):
        return True
    return isinstance(tool_input, str) and msgspec.json.encode(code)[1:-1].decode() in tool_input


def _convert_each(fields: Fields, name: str, make: Any) -> list[Part]:
    """Convert each object in a list to a part; other values stay in the list."""
    values = fields.items(name)
    if not values:
        return []
    others = [value for value in values if not isinstance(value, dict)]
    if others:
        fields.keep(name, others)
    return [make(Fields(value, fields.note, fields.where)) for value in values if isinstance(value, dict)]


def _file(fields: Fields) -> Part:
    path = path_of(fields.view("uri"))
    return Media(kind="file", name=_file_name(path), ref=path, extra=nonempty_fields(fields.rest()))


def _selection(fields: Fields) -> Part:
    raw = fields.text("rawText")
    code = raw if raw is not None else fields.text("text")
    first, last = _lines(fields.view("range"))
    return Code(
        code=code or "",
        file=path_of(fields.view("uri")),
        first_line=first,
        last_line=last,
        extra=nonempty_fields(fields.rest()),
    )


def _chunk(fields: Fields) -> Part:
    lines = fields.view("lines")
    is_text = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    if is_text:
        fields.drop("lines")
    first = fields.whole("startLineNumber")
    return Code(
        code="\n".join(lines) if is_text else "",
        language=fields.text("languageIdentifier") or None,
        file=fields.text("relativeWorkspacePath") or path_of(fields.view("uri")),
        first_line=first,
        last_line=first + len(lines) - 1 if is_text and lines and first is not None else None,
        extra=nonempty_fields(fields.rest()),
    )


def _block(fields: Fields) -> Part:
    return Code(
        code=fields.text("content") or fields.text("code") or "",
        language=fields.text("languageId") or None,
        file=path_of(fields.view("uri")),
        extra=nonempty_fields(fields.rest()),
    )


def _image(fields: Fields) -> Part:
    path = fields.text("path")
    return Media(
        kind="image",
        mime=fields.text("mimeType"),
        name=_file_name(path),
        ref=path,
        data=_base64(fields),
        extra=nonempty_fields(fields.rest()),
    )


def _base64(fields: Fields) -> str | None:
    """Take the image data: in base64, or as an object of bytes by index."""
    data = fields.view("data")
    if isinstance(data, str):
        return fields.text("data")
    values = list(data.values()) if isinstance(data, dict) else data
    if not isinstance(values, list) or not values:
        return None
    if not all(value.__class__ is int and 0 <= value <= _MAX_BYTE for value in values):
        return None
    fields.drop("data")
    return base64.b64encode(bytes(values)).decode("ascii")


def _lines(span: Any) -> tuple[int | None, int | None]:
    """Return the first and last line of a range, which has one of two forms."""
    if not isinstance(span, dict):
        return None, None
    first = span.get("startLineNumber", span.get("selectionStartLineNumber"))
    last = span.get("endLineNumber", span.get("positionLineNumber"))
    return first if first.__class__ is int else None, last if last.__class__ is int else None


def _file_name(path: str | None) -> str | None:
    return None if path is None else path.replace("\\", "/").rpartition("/")[2] or None
