"""Blocks: the schema's six kinds, in whatever form content comes; other kinds are kept as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, content_blocks
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag, Part

# The members of a text block that says nothing else.
_PLAIN = 2


def normalize_content(content: Any) -> list[Any]:
    """Any form of content as a list of blocks: a list, a text, one block, or an object that holds content."""
    inner, _ = content_blocks.unwrap(content)
    if inner.__class__ is list:
        return inner
    if inner.__class__ is str:
        return [{"type": "text", "text": inner}]
    raise ValueError(f"content is neither text nor blocks: {type(content).__name__}")


def parts(fields: Fields) -> list[Part]:
    """The parts of a message; content that is none stays."""
    content = fields.look("content")
    try:
        listed = normalize_content(content)
    except ValueError as error:
        if content is not None:
            fields.note(Kind.WRONG_TYPE, fields.where, str(error))
        return []
    fields.drop("content")
    if beside := content_blocks.unwrap(content)[1]:
        fields.keep("content", beside)
    return [_part(block, fields) for block in listed]


def _part(block: Any, fields: Fields) -> Part:
    if block.__class__ is str:
        return Text(text=block)
    kind = block.get("type") if block.__class__ is dict else None
    if kind == "text" and len(block) == _PLAIN and block.get("text").__class__ is str:
        return Text(text=block["text"])  # most of them
    make = _KINDS.get(kind) if kind.__class__ is str else None
    made = None if make is None else make(Fields(dict(block), fields.note, fields.where))
    if made is not None:
        return made
    name = kind if kind.__class__ is str else None
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"block {str(name)[:40]!r}")
    return Other(data=block, name=name)


def flattened(fields: Fields) -> Bag:
    """What nobody took, and beside it what stands under `metadata`; a name that is taken gets underscores."""
    rest = fields.rest()
    metadata = rest.get("metadata")
    if metadata.__class__ is not dict:
        return rest
    del rest["metadata"]
    found = dict(metadata)
    for name, value in rest.items():
        add_beside(found, name, value)
    return found


def add_beside(bag: Bag, name: str, value: Any) -> None:
    """Put a value into a bag; a name that is taken gets underscores."""
    while name in bag:
        name += "_"
    bag[name] = value


def _own(block: Fields) -> Bag:
    block.drop("type")
    return flattened(block)


def _text(block: Fields) -> Part | None:
    text = block.text("text")
    return None if text is None else Text(text=text, extra=_own(block))


def _call(block: Fields) -> Part | None:
    name = block.text("name")
    if name is None:
        return None
    return ToolCall(name=name, call_id=block.text("id"), input=block.take("input"), extra=_own(block))


def _result(block: Fields) -> Part:
    content = block.look("content")
    output: Any = ""
    if content.__class__ is str:
        output = content
        block.drop("content")
    elif content.__class__ is list:
        output = [_inner(each, block) for each in content]
        block.drop("content")
    return ToolResult(
        call_id=block.text("tool_use_id"),
        output=output,
        is_error=block.flag("is_error"),
        extra=_own(block),
    )


def _inner(block: Any, fields: Fields) -> Part:
    """A part of what a tool answered, which holds no answers itself."""
    is_answer = block.__class__ is dict and block.get("type") == "tool_result"
    return Other(data=block, name="tool_result") if is_answer else _part(block, fields)


def _thinking(block: Fields) -> Part | None:
    text = block.text("thinking")
    if text is None:
        return None
    return Reasoning(text=text, signature=block.text("signature"), extra=_own(block))


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
        extra=_own(block),
    )


def _image(block: Fields) -> Part:
    source = block.nested("source") or Fields({}, block.note, block.where)
    form, data = source.look("type"), source.text("data")
    if form in ("base64", "url"):
        source.drop("type")
    # Some write the address of an image as the API has it.
    address = source.text("url") if data is None else None
    return Media(
        kind="image",
        mime=source.text("media_type"),
        name=block.text("alt_text"),
        ref=address if form != "url" or data is None else data,
        data=data if form != "url" else None,
        extra=_own(block),
    )


_KINDS: dict[str, Callable[[Fields], Part | None]] = {
    "text": _text,
    "tool_use": _call,
    "tool_result": _result,
    "thinking": _thinking,
    "code": _code,
    "image": _image,
}
