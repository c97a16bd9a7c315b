"""Converts content blocks: the six kinds of the schema; blocks of other kinds are preserved unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, content_blocks
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag, Part

# The fields of a text block without metadata.
_PLAIN_TEXT_KEYS = frozenset({"type", "text"})


def normalize_content(content: Any) -> list[Any]:
    """Turn content into a list of blocks: from a list, a text, one block, or an object that has content."""
    inner, _ = content_blocks.unwrap(content)
    if inner.__class__ is list:
        return inner
    if inner.__class__ is str:
        return [{"type": "text", "text": inner}]
    raise ValueError(f"content is neither text nor blocks: {type(content).__name__}")


def parts(fields: Fields) -> list[Part]:
    """Take the parts of a message; invalid content stays."""
    content = fields.view("content")
    try:
        blocks = normalize_content(content)
    except ValueError as error:
        if content is not None:
            fields.note(Kind.WRONG_TYPE, fields.where, str(error))
        return []
    fields.drop("content")
    if remaining := content_blocks.unwrap(content)[1]:
        fields.keep("content", remaining)
    return [_part(block, fields) for block in blocks]


def _part(block: Any, fields: Fields) -> Part:
    if block.__class__ is str:
        return Text(text=block)
    kind = block.get("type") if block.__class__ is dict else None
    if kind == "text" and block.keys() == _PLAIN_TEXT_KEYS and block["text"].__class__ is str:
        return Text(text=block["text"])  # most blocks
    convert = _CONVERTERS.get(kind) if kind.__class__ is str else None
    part = None if convert is None else convert(Fields(dict(block), fields.note, fields.where))
    if part is not None:
        return part
    name = kind if kind.__class__ is str else None
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"block {str(name)[:40]!r}")
    return Other(data=block, name=name)


def flattened_rest(fields: Fields) -> Bag:
    """Merge the remaining fields into the remaining `metadata`; conflicting names get underscores."""
    rest = fields.rest()
    metadata = rest.get("metadata")
    if metadata.__class__ is not dict:
        return rest
    del rest["metadata"]
    merged = dict(metadata)
    for name, value in rest.items():
        add_renamed(merged, name, value)
    return merged


def add_renamed(bag: Bag, name: str, value: Any) -> None:
    """Add a value; a name that is in use gets underscores."""
    while name in bag:
        name += "_"
    bag[name] = value


def _extra(block: Fields) -> Bag:
    block.drop("type")
    return flattened_rest(block)


def _text(block: Fields) -> Part | None:
    text = block.text("text")
    return None if text is None else Text(text=text, extra=_extra(block))


def _call(block: Fields) -> Part | None:
    name = block.text("name")
    if name is None:
        return None
    return ToolCall(name=name, call_id=block.text("id"), input=block.take("input"), extra=_extra(block))


def _result(block: Fields) -> Part:
    content = block.view("content")
    output: Any = ""
    if content.__class__ is str:
        output = content
        block.drop("content")
    elif content.__class__ is list:
        output = [_inner_part(each, block) for each in content]
        block.drop("content")
    return ToolResult(
        call_id=block.text("tool_use_id"),
        output=output,
        is_error=block.flag("is_error"),
        extra=_extra(block),
    )


def _inner_part(block: Any, fields: Fields) -> Part:
    """Convert a block of a tool result, which cannot contain tool results."""
    is_result = block.__class__ is dict and block.get("type") == "tool_result"
    return Other(data=block, name="tool_result") if is_result else _part(block, fields)


def _thinking(block: Fields) -> Part | None:
    text = block.text("thinking")
    if text is None:
        return None
    return Reasoning(text=text, signature=block.text("signature"), extra=_extra(block))


def _code(block: Fields) -> Part | None:
    code = block.text("code")
    if code is None:
        return None
    lines = block.nested("line_range") or Fields({}, block.note, block.where)
    return Code(
        code=code,
        language=block.text("language"),
        file=block.text("file_path"),
        first_line=lines.whole("start"),
        last_line=lines.whole("end"),
        extra=_extra(block),
    )


def _image(block: Fields) -> Part:
    source = block.nested("source") or Fields({}, block.note, block.where)
    source_type, data = source.view("type"), source.text("data")
    if source_type in ("base64", "url"):
        source.drop("type")
    # Some write the URL of an image as the API does.
    url = source.text("url") if data is None else None
    return Media(
        kind="image",
        mime=source.text("media_type"),
        name=block.text("alt_text"),
        ref=url if source_type != "url" or data is None else data,
        data=data if source_type != "url" else None,
        extra=_extra(block),
    )


_CONVERTERS: dict[str, Callable[[Fields], Part | None]] = {
    "text": _text,
    "tool_use": _call,
    "tool_result": _result,
    "thinking": _thinking,
    "code": _code,
    "image": _image,
}
