"""Converts content: parts of messages, results of tools, and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import Media, MediaKind, Other, Part, Reasoning, Text, ToolCall, ToolResult, Usage
from agent_journal.notes import Kind
from agent_journal.readers.dialects.openai_messages import parse_data_url
from agent_journal.readers.kimi.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_MEDIA: dict[str, MediaKind] = {"image_url": "image", "audio_url": "audio", "video_url": "video"}
_CAMEL_CASE = {"image_url": "imageUrl", "audio_url": "audioUrl", "video_url": "videoUrl"}
_COUNT_NAMES = (
    ("inputOther", "input_other"),
    ("output", "output"),
    ("inputCacheRead", "input_cache_read"),
    ("inputCacheCreation", "input_cache_creation"),
)


def parse_content(content: Any, note: Notes, location: int | str) -> list[Part]:
    """Convert a text or a list of parts."""
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is not list:
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [parse_part(raw, note, location) for raw in content]


def parse_part(raw: Any, note: Notes, location: int | str) -> Part:
    """Convert one part."""
    if raw.__class__ is not dict:
        return Text(text=raw) if raw.__class__ is str else Other(data=raw)
    kind = raw.get("type")
    fields = Fields(raw, note, location)
    if kind == "text" and raw.get("text").__class__ is str:
        fields.drop("type")
        return Text(text=fields.take("text"), extra=fields.rest())
    if kind == "think":
        fields.drop("type")
        text, encrypted = fields.text("think") or None, fields.text("encrypted")
        return Reasoning(text=text, encrypted=encrypted, extra=fields.rest())
    if kind in _MEDIA:
        return _media(kind, fields)
    note(Kind.UNKNOWN_TYPE, location, f"content part {str(kind)[:40]!r}")
    return Other(data=raw, name=kind if kind.__class__ is str else None)


def _media(kind: str, fields: Fields) -> Media:
    """Convert an image, sound or video: a link, often with the data in it."""
    fields.drop("type")
    link = fields.nested(_CAMEL_CASE[kind] if fields.has(_CAMEL_CASE[kind]) else kind)
    url = None if link is None else link.text("url")
    mime, data = parse_data_url(url)
    return Media(kind=_MEDIA[kind], mime=mime, data=data, ref=None if data else url, extra=fields.rest())


def parse_call(raw: Any, note: Notes, location: int | str) -> Part:
    """Convert a call in a message: with its function nested (Kimi CLI), or flat."""
    if raw.__class__ is not dict:
        return Other(data=raw, name="tool_call")
    fields = Fields(raw, note, location)
    if fields.view("type") == "function":
        fields.drop("type")
    inner = fields.nested("function") if fields.view("function").__class__ is dict else None
    inner = inner or fields
    name = inner.text("name") or ""
    return ToolCall(
        name=name,
        call_id=fields.text("id"),
        input=inner.take("arguments"),
        kind=TOOL_KINDS.get(name),
        extra=fields.rest(),
    )


def result_of(call_id: str | None, value: Fields) -> ToolResult:
    """Convert what a tool returned; what is only for display stays in `extra`."""
    parts = parse_content(value.take("output"), value.note, value.where)
    only = parts[0] if len(parts) == 1 else None
    is_text = isinstance(only, Text) and not only.extra
    output: Any = only.text if is_text and isinstance(only, Text) else parts or ""
    failed = value.flag("isError") if value.has("isError") else value.flag("is_error")
    return ToolResult(call_id=call_id, output=output, is_error=failed, extra=value.rest())


def usage_of(raw: Any, key: str | None) -> Usage | None:
    """Convert the tokens of a step; `inputOther` is without those of the cache."""
    if raw.__class__ is not dict:
        return None
    sent, output, read, written = (counted(raw.get(new, raw.get(old))) for new, old in _COUNT_NAMES)
    if sent is None and output is None:
        return None
    return Usage(key=key, input=sent, output=output, cache_read=read, cache_write=written, extra=raw)
