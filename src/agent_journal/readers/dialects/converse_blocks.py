"""The Converse dialect of Amazon Bedrock: blocks to parts, tool definitions, the usage object to Usage.

A block has no type: what it holds is told by the one name in it, as `{"toolUse": {…}}`. Known from the
documentation of the API, November 2026.
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
from agent_journal.readers.dialects.openai_messages import Said

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
# Blocks that are known and have no part of their own.
_KEPT_WHOLE = ("cachePoint", "searchResult")
_FORMATS = {"pdf": "application/pdf", "txt": "text/plain", "md": "text/markdown", "html": "text/html"}


def said(raw: Any, note: Notes, where: int | str) -> Said:
    """A message in the terms of the model; it stays as it is."""
    if raw.__class__ is not dict:
        return openai_messages.said(raw, note, where)
    fields = Fields(dict(raw), note, where)
    role, content = openai_messages.role_of(fields), fields.take("content")
    return Said(role, _parts(content, note, where), content, fields.rest())


def _parts(content: Any, note: Notes, where: int | str) -> list[Part]:
    if content.__class__ is str:
        return [Text(text=content)]
    if content is None:
        return []
    if content.__class__ is not list:
        found = unwrapped_parts(content, lambda inner: _parts(inner, note, where))
        if found is not None:
            return found
        note(Kind.WRONG_TYPE, where, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [_part(block, note, where) for block in content]


def _part(block: Any, note: Notes, where: int | str) -> Part:
    if block.__class__ is not dict:
        return Text(text=block) if block.__class__ is str else Other(data=block)
    fields = Fields(dict(block), note, where)
    if block.get("text").__class__ is str:
        return Text(text=fields.take("text"), extra=fields.rest())
    name = next((name for name in _WAYS if block.get(name).__class__ is dict), None)
    if name is not None:
        fields.drop(name)
        part = _WAYS[name](Fields(dict(block[name]), note, where), name)
        if part is not None and not fields.rest():
            return part
    else:
        name = next((name for name in _KEPT_WHOLE if name in block), None)
        if name is None:
            note(Kind.UNKNOWN_TYPE, where, f"content block with {', '.join(sorted(block))[:60]!r}")
    return Other(data=block, name=name)


def _call(call: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several ways)
    called = call.text("name") or ""
    return ToolCall(call_id=call.text("toolUseId"), name=called, input=call.take("input"), extra=call.rest())


def _result(result: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several ways)
    status = result.look("status")
    is_error = {"error": True, "success": False}.get(status) if status.__class__ is str else None
    content = result.take("content")
    given = [_given(block, result) for block in content] if content.__class__ is list else content
    output: Any = given if given.__class__ in (str, list) else [] if given is None else [Other(data=given)]
    if len(output) == 1 and output.__class__ is list and isinstance(output[0], Text) and not output[0].extra:
        output = output[0].text
    return ToolResult(call_id=result.text("toolUseId"), output=output, is_error=is_error, extra=result.rest())


def _given(block: Any, result: Fields) -> Any:
    """A part of what a tool answered; a value is what it is."""
    if block.__class__ is dict and block.keys() == {"json"}:
        return Other(data=block["json"], name="json")
    part = _part(block, result.note, result.where)
    return Other(data=block) if isinstance(part, ToolResult) else part


def _thought(thought: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several ways)
    sealed = thought.text("redactedContent")
    told = _inside(thought, "reasoningText")
    if told is None:
        return Reasoning(encrypted=sealed, extra=thought.rest())
    text, signature = told.text("text"), told.text("signature")
    return Reasoning(text=text, signature=signature, encrypted=sealed, extra=thought.rest())


def _media(media: Fields, name: str) -> Part | None:
    form = media.look("format")
    source = _inside(media, "source")
    data = text = ref = None
    if source is not None:
        data = source.text("bytes") if source.look("bytes").__class__ is str else None
        text = source.text("text") or None if source.look("text").__class__ is str else None
        place = source.look("s3Location")
        ref = place.get("uri") if place.__class__ is dict else None
    return Media(
        kind=_MEDIA[name],
        mime=_mime(name, form) if form.__class__ is str else None,
        name=media.text("name"),
        ref=ref if ref.__class__ is str else None,
        data=data,
        text=text,
        extra=media.rest(),
    )


def _cited(cited: Fields, name: str) -> Part | None:  # noqa: ARG001 (one of several ways)
    """What was said with its sources; None if it is of another form."""
    text = _texts(cited.look("content"))
    if text is None:
        return None
    cited.drop("content")
    citations = [_citation(raw, cited) for raw in cited.items("citations") or ()]
    return Text(text=text, citations=citations, extra=cited.rest())


def _citation(raw: Any, cited: Fields) -> Citation:
    if raw.__class__ is not dict:
        return Citation(extra={"value": raw})
    fields = Fields(dict(raw), cited.note, cited.where)
    text = _texts(fields.look("sourceContent"))
    if text is not None:
        fields.drop("sourceContent")
    return Citation(title=fields.text("title"), text=text, extra=fields.rest())


def _texts(blocks: Any) -> str | None:
    """The text of blocks that are nothing else."""
    if blocks.__class__ is not list or not all(block.__class__ is dict for block in blocks):
        return None
    texts = [block.get("text") for block in blocks if block.keys() == {"text"}]
    is_all = len(texts) == len(blocks) and all(text.__class__ is str for text in texts)
    return "".join(texts) if is_all else None


def _guarded(guarded: Fields, name: str) -> Part | None:
    """What a guardrail is to look at; None if that is no text."""
    inner = _inside(guarded, "text")
    text = None if inner is None else inner.text("text")
    return None if text is None else Text(text=text, extra={name: guarded.rest()})


def _inside(fields: Fields, name: str) -> Fields | None:
    """Fields of an object inside, of which the original stays as it is."""
    value = fields.look(name)
    if value.__class__ is not dict:
        return None
    fields.keep(name, dict(value))
    return fields.nested(name)


def _mime(name: str, form: str) -> str | None:
    return _FORMATS.get(form) if name == "document" else f"{name}/{form}"


_WAYS: dict[str, Callable[[Fields, str], Part | None]] = {
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _thought,
    "citationsContent": _cited,
    "guardContent": _guarded,
    **dict.fromkeys(_MEDIA, _media),
}


def tool(raw: Any, note: Notes, where: int | str) -> Tool:
    """A tool that a request offers; it stays as it is."""
    spec = raw.get("toolSpec") if raw.__class__ is dict else None
    if spec.__class__ is not dict:
        return openai_messages.tool(raw, note, where)
    fields = Fields(dict(spec), note, where)
    schema = fields.take("inputSchema")
    is_json = schema.__class__ is dict and schema.keys() == {"json"}
    return Tool(
        name=fields.text("name") or "",
        description=fields.text("description"),
        parameters=schema["json"] if is_json else schema,
        extra=fields.rest(),
    )


def usage(raw: Any, key: str | None) -> Usage | None:
    """Token counts; `inputTokens` excludes what the cache gave. The object stays whole in `extra`."""
    if raw.__class__ is not dict:
        return None
    names = ("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    sent, came, total, read, written = (counted(raw.get(name)) for name in names)
    return Usage(
        key=key, input=sent, output=came, total=total, cache_read=read, cache_write=written, extra=raw
    )
