"""The Converse dialect of Amazon Bedrock: converts blocks to parts, tool definitions, and usage to Usage.

A block has no type: its only field names its kind, as in `{"toolUse": {…}}`. Known from the documentation of
the API, November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import (
    Citation,
    Media,
    MediaKind,
    Other,
    Reasoning,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.dialects import openai_messages
from agent_journal.readers.dialects.openai_messages import ParsedMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part
    from agent_journal.notes import Notes

_MEDIA: dict[str, MediaKind] = {
    "image": "image",
    "video": "video",
    "audio": "audio",
    "document": "document",
}
# Known blocks that the model has no part for.
_OPAQUE_BLOCKS = ("cachePoint", "searchResult")
_FORMATS = {"pdf": "application/pdf", "txt": "text/plain", "md": "text/markdown", "html": "text/html"}


def parse_message(raw: Any, note: Notes, location: int | str) -> ParsedMessage:
    """Convert a message, which is not modified."""
    if raw.__class__ is not dict:
        return openai_messages.parse_message(raw, note, location)
    fields = Fields(dict(raw), note, location)
    role, content = openai_messages.take_role(fields), fields.take("content")
    return ParsedMessage(role, _parts(content, note, location), content, fields.rest())


def _parts(content: Any, note: Notes, location: int | str) -> list[Part]:
    if content.__class__ is str:
        return [Text(text=content)]
    if content is None:
        return []
    if content.__class__ is not list:
        unwrapped = unwrapped_parts(content, lambda inner: _parts(inner, note, location))
        if unwrapped is not None:
            return unwrapped
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [_part(block, note, location) for block in content]


def _part(block: Any, note: Notes, location: int | str) -> Part:
    if block.__class__ is not dict:
        return Text(text=block) if block.__class__ is str else Other(data=block)
    fields = Fields(dict(block), note, location)
    if block.get("text").__class__ is str:
        return Text(text=fields.take("text"), extra=fields.rest())
    name = next((name for name in _CONVERTERS if block.get(name).__class__ is dict), None)
    if name is not None:
        fields.drop(name)
        part = _CONVERTERS[name](Fields(dict(block[name]), note, location), name)
        if part is not None and not fields.rest():
            return part
    else:
        name = next((name for name in _OPAQUE_BLOCKS if name in block), None)
        if name is None:
            note(Kind.UNKNOWN_TYPE, location, f"content block with {', '.join(sorted(block))[:60]!r}")
    return Other(data=block, name=name)


def _call(call: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several converters)
    called = call.text("name") or ""
    return ToolCall(call_id=call.text("toolUseId"), name=called, input=call.take("input"), extra=call.rest())


def _result(result: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several converters)
    status = result.view("status")
    is_error = {"error": True, "success": False}.get(status) if status.__class__ is str else None
    content = result.take("content")
    outputs = [_result_part(block, result) for block in content] if content.__class__ is list else content
    output: Any = (
        outputs if outputs.__class__ in (str, list) else [] if outputs is None else [Other(data=outputs)]
    )
    if len(output) == 1 and output.__class__ is list and isinstance(output[0], Text) and not output[0].extra:
        output = output[0].text
    return ToolResult(call_id=result.text("toolUseId"), output=output, is_error=is_error, extra=result.rest())


def _result_part(block: Any, result: Fields) -> Any:
    """Convert a part of a tool result; a JSON value stays as it is."""
    if block.__class__ is dict and block.keys() == {"json"}:
        return Other(data=block["json"], name="json")
    part = _part(block, result.note, result.where)
    return Other(data=block) if isinstance(part, ToolResult) else part


def _reasoning(block: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several converters)
    encrypted = block.text("redactedContent")
    reasoning_text = _nested(block, "reasoningText")
    if reasoning_text is None:
        return Reasoning(encrypted=encrypted, extra=block.rest())
    text, signature = reasoning_text.text("text"), reasoning_text.text("signature")
    return Reasoning(text=text, signature=signature, encrypted=encrypted, extra=block.rest())


def _media(media: Fields, name: str) -> Part | None:
    form = media.view("format")
    source = _nested(media, "source")
    data = text = ref = None
    if source is not None:
        data = source.text("bytes") if source.view("bytes").__class__ is str else None
        text = source.text("text") or None if source.view("text").__class__ is str else None
        s3_location = source.view("s3Location")
        ref = s3_location.get("uri") if s3_location.__class__ is dict else None
    return Media(
        kind=_MEDIA[name],
        mime=_mime(name, form) if form.__class__ is str else None,
        name=media.text("name"),
        ref=ref if ref.__class__ is str else None,
        data=data,
        text=text,
        extra=media.rest(),
    )


def _cited_text(block: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several converters)
    """Convert a text with citations; None if it has another form."""
    text = _joined_text(block.view("content"))
    if text is None:
        return None
    block.drop("content")
    citations = [_citation(raw, block) for raw in block.items("citations") or ()]
    return Text(text=text, citations=citations, extra=block.rest())


def _citation(raw: Any, cited: Fields) -> Citation:
    if raw.__class__ is not dict:
        return Citation(extra={"value": raw})
    fields = Fields(dict(raw), cited.note, cited.where)
    text = _joined_text(fields.view("sourceContent"))
    if text is not None:
        fields.drop("sourceContent")
    return Citation(title=fields.text("title"), text=text, extra=fields.rest())


def _joined_text(blocks: Any) -> str | None:
    """Return the joined text of blocks that have only texts; else None."""
    if blocks.__class__ is not list or not all(block.__class__ is dict for block in blocks):
        return None
    texts = [block.get("text") for block in blocks if block.keys() == {"text"}]
    is_all = len(texts) == len(blocks) and all(text.__class__ is str for text in texts)
    return "".join(texts) if is_all else None


def _guarded_text(block: Fields, name: str) -> Part | None:
    """Convert content for a guardrail; None if it is not text."""
    inner = _nested(block, "text")
    text = None if inner is None else inner.text("text")
    return None if text is None else Text(text=text, extra={name: block.rest()})


def _nested(fields: Fields, name: str) -> Fields | None:
    """Return the fields of a nested object, of which the original is not modified."""
    value = fields.view(name)
    if value.__class__ is not dict:
        return None
    fields.keep(name, dict(value))
    return fields.nested(name)


def _mime(name: str, form: str) -> str | None:
    return _FORMATS.get(form) if name == "document" else f"{name}/{form}"


_CONVERTERS: dict[str, Callable[[Fields, str], Part | None]] = {
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _reasoning,
    "citationsContent": _cited_text,
    "guardContent": _guarded_text,
    **dict.fromkeys(_MEDIA, _media),
}


def parse_tool(raw: Any, note: Notes, location: int | str) -> Tool:
    """Convert a tool definition of a request, which is not modified."""
    spec = raw.get("toolSpec") if raw.__class__ is dict else None
    if spec.__class__ is not dict:
        return openai_messages.parse_tool(raw, note, location)
    fields = Fields(dict(spec), note, location)
    schema = fields.take("inputSchema")
    is_json = schema.__class__ is dict and schema.keys() == {"json"}
    return Tool(
        name=fields.text("name") or "",
        description=fields.text("description"),
        parameters=schema["json"] if is_json else schema,
        extra=fields.rest(),
    )


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts, with the full object in `extra`; `inputTokens` excludes cached tokens."""
    if raw.__class__ is not dict:
        return None
    names = ("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    sent, received, total, cache_read, cache_write = (counted(raw.get(name)) for name in names)
    return Usage(
        key=key,
        input=sent,
        output=received,
        total=total,
        cache_read=cache_read,
        cache_write=cache_write,
        extra=raw,
    )
