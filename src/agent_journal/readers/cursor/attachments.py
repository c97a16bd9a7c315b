"""What was sent along with a message: files, selected code and output, pictures; and code of an answer."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media
from agent_journal.readers.cursor.values import path_of, said

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part

_BYTE = 256


def sent_along(fields: Fields) -> list[Part]:
    """Files, selections and pictures of a message, taken out of its fields."""
    found: list[Part] = []
    context = fields.nested("context")
    for holder in (fields, context):
        if holder is not None:
            found += _each(holder, "fileSelections", _file)
            found += _each(holder, "selections", _selection)
            found += _each(holder, "terminalSelections", _selection)
            found += _each(holder, "selectedImages", _image)
    found += _each(fields, "attachedCodeChunks", _chunk)
    found += _each(fields, "images", _image)
    return found


def code_blocks(fields: Fields, text: str | None) -> list[Part]:
    """Code that the text does not contain already; what it does contain stays where it was.

    In chats of 2024 a block only tells which one of the text it is and which file it is for.
    """
    blocks = fields.look("codeBlocks")
    if not blocks or not isinstance(blocks, list):
        return []
    used = fields.look("toolFormerData")
    written = used.get("params") or used.get("rawArgs") if isinstance(used, dict) else None
    further = [block for block in blocks if isinstance(block, dict) and not _is_told(block, text, written)]
    if further:
        left = [block for block in blocks if not isinstance(block, dict) or _is_told(block, text, written)]
        fields.keep("codeBlocks", left)
    return [_block(Fields(block, fields.note, fields.where)) for block in further]


def _is_told(block: Bag, text: str | None, written: Any) -> bool:
    """Whether the code of a block is in a text, or in the JSON of what a tool was asked to write."""
    code = block.get("content") or block.get("code")
    if not isinstance(code, str):
        return not code
    if not code or (text and code.strip() in text):
        return True
    return isinstance(written, str) and msgspec.json.encode(code)[1:-1].decode() in written


def _each(fields: Fields, name: str, make: Any) -> list[Part]:
    """A part of each object in a list; what else is in the list stays."""
    values = fields.items(name)
    if not values:
        return []
    strange = [value for value in values if not isinstance(value, dict)]
    if strange:
        fields.keep(name, strange)
    return [make(Fields(value, fields.note, fields.where)) for value in values if isinstance(value, dict)]


def _file(fields: Fields) -> Part:
    path = path_of(fields.look("uri"))
    return Media(kind="file", name=_last_step(path), ref=path, extra=said(fields.rest()))


def _selection(fields: Fields) -> Part:
    raw = fields.text("rawText")
    code = raw if raw is not None else fields.text("text")
    first, last = _lines(fields.look("range"))
    return Code(
        code=code or "",
        file=path_of(fields.look("uri")),
        first_line=first,
        last_line=last,
        extra=said(fields.rest()),
    )


def _chunk(fields: Fields) -> Part:
    lines = fields.look("lines")
    is_text = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    if is_text:
        fields.drop("lines")
    first = fields.whole("startLineNumber")
    return Code(
        code="\n".join(lines) if is_text else "",
        language=fields.text("languageIdentifier") or None,
        file=fields.text("relativeWorkspacePath") or path_of(fields.look("uri")),
        first_line=first,
        last_line=first + len(lines) - 1 if is_text and lines and first is not None else None,
        extra=said(fields.rest()),
    )


def _block(fields: Fields) -> Part:
    return Code(
        code=fields.text("content") or fields.text("code") or "",
        language=fields.text("languageId") or None,
        file=path_of(fields.look("uri")),
        extra=said(fields.rest()),
    )


def _image(fields: Fields) -> Part:
    path = fields.text("path")
    return Media(
        kind="image",
        mime=fields.text("mimeType"),
        name=_last_step(path),
        ref=path,
        data=_base64(fields),
        extra=said(fields.rest()),
    )


def _base64(fields: Fields) -> str | None:
    """The picture itself: in base64, or as an object of bytes by their positions."""
    data = fields.look("data")
    if isinstance(data, str):
        return fields.text("data")
    values = list(data.values()) if isinstance(data, dict) else data
    if not isinstance(values, list) or not values:
        return None
    if not all(value.__class__ is int and 0 <= value < _BYTE for value in values):
        return None
    fields.drop("data")
    return base64.b64encode(bytes(values)).decode("ascii")


def _lines(span: Any) -> tuple[int | None, int | None]:
    """First and last line of a range, which names them in one of two ways."""
    if not isinstance(span, dict):
        return None, None
    first = span.get("startLineNumber", span.get("selectionStartLineNumber"))
    last = span.get("endLineNumber", span.get("positionLineNumber"))
    return first if first.__class__ is int else None, last if last.__class__ is int else None


def _last_step(path: str | None) -> str | None:
    return None if path is None else path.replace("\\", "/").rpartition("/")[2] or None
