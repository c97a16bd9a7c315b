"""The message dialect of the AI SDK (Vercel): parts of model messages, and of messages for user interfaces.

Used by tools that store either. Known from the SDK's types of versions 4 to 6 (2025 and 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.model import (
    Citation,
    Media,
    MediaKind,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects import anthropic_blocks
from agent_journal.readers.dialects.openai_messages import parse_data_url

if TYPE_CHECKING:
    from agent_journal.notes import Notes

ToolKinds = dict[str, ToolKind]

_TOOL_PREFIX, _DYNAMIC_TOOL = "tool-", "dynamic-tool"
_CALL, _ERROR = "tool-call", "tool-error"
# Blocks of Anthropic's dialect, which some tools mix with these.
_ANTHROPIC = ("tool_use", "tool_result", "thinking", "redacted_thinking")
_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "text": "document"}
_ERROR_TYPES = ("error-text", "error-json", "execution-denied", "error")


def parse_parts(content: Any, note: Notes, location: int | str, tool_kinds: ToolKinds) -> list[Part]:
    """Return the parts of a message's content, a string or a list of parts; it is not modified.

    A part of a user interface that has a call and its result gives both.
    """
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is not list:
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    parts: list[Part] = []
    for raw in content:
        parts += _parts(raw, note, location, tool_kinds)
    return parts


def _parts(raw: Any, note: Notes, location: int | str, tool_kinds: ToolKinds) -> list[Part]:
    if raw.__class__ is not dict:
        return [Text(text=raw)] if raw.__class__ is str else [Other(data=raw)]
    kind = raw.get("type")
    fields = Fields(dict(raw), note, location)
    fields.drop("type")
    match kind:
        case "text" if raw.get("text").__class__ is str:
            return _texts(fields)
        case "reasoning":
            return [_reasoning(fields)]
        case "file" | "image":
            return [_file(kind, fields)]
        case "source-url" | "source":
            citation = Citation(title=fields.text("title"), url=fields.text("url"))
            return [
                Text(text=citation.title or citation.url or "", citations=[citation], extra=fields.rest())
            ]
        case "tool-call" | "tool-result" | "tool-error":
            return [_call(fields, tool_kinds) if kind == _CALL else _result(kind, fields)]
        case "step-start":
            return []
        case str() if kind == _DYNAMIC_TOOL or kind.startswith(_TOOL_PREFIX):
            return _tool(kind, fields, tool_kinds)
        case str() if kind in _ANTHROPIC:
            return [anthropic_blocks.parse_block(raw, note, location, tool_kinds)]
    note(Kind.UNKNOWN_TYPE, location, f"part {str(kind)[:40]!r}")
    return [Other(data=raw, name=nonempty_str(kind))]


def _texts(fields: Fields) -> list[Part]:
    text = fields.take("text")
    if fields.view("state") == "done":
        fields.drop("state")
    rest = fields.rest()
    return [Text(text=text, extra=rest)] if text or rest else []


def _reasoning(fields: Fields) -> Part:
    if fields.view("state") == "done":
        fields.drop("state")
    text = fields.text("text") if fields.has("text") else fields.text("reasoning")
    return Reasoning(text=text or None, signature=fields.text("signature"), extra=fields.rest())


def _file(kind: str, fields: Fields) -> Part:
    mime = fields.text("mediaType") or fields.text("mimeType")
    name = next((name for name in ("url", "data", "image") if fields.view(name).__class__ is str), None)
    value = fields.text(name) if name is not None else None
    url_mime, data = parse_data_url(value)
    ref = None
    if value is not None and data is None:
        is_address = name == "url" or value.startswith(("https://", "http://"))
        ref, data = (value, None) if is_address else (None, value)
    mime = mime or url_mime
    media = _MEDIA.get((mime or "").partition("/")[0], "image" if kind == "image" else "file")
    return Media(kind=media, mime=mime, name=fields.text("filename"), ref=ref, data=data, extra=fields.rest())


def _take_input(fields: Fields) -> Any:
    """Take the input of a call, which was called `args` before version 5."""
    return fields.take("input") if fields.has("input") else fields.take("args")


def _call(fields: Fields, tool_kinds: ToolKinds) -> Part:
    name = fields.text("toolName") or ""
    return ToolCall(
        call_id=fields.text("toolCallId"),
        name=name,
        input=_take_input(fields),
        kind=tool_kinds.get(name),
        extra=fields.rest(),
    )


def _result(kind: str, fields: Fields) -> Part:
    fields.drop("input", "args")  # its call has it
    name = next((name for name in ("output", "result", "content", "error") if fields.has(name)), "output")
    output, is_error = parse_output(fields.take(name), fields.note, fields.where)
    is_stated = fields.flag("isError")
    return ToolResult(
        call_id=fields.text("toolCallId"),
        name=fields.text("toolName"),
        output=output,
        is_error=True if is_error or kind == _ERROR else is_stated,
        extra=fields.rest(),
    )


def parse_output(raw: Any, note: Notes, location: int | str) -> tuple[Any, bool]:
    """Return the output of a result, and whether it is an error; newer ones have a type and a value."""
    if raw is None or raw.__class__ is str:
        return raw or "", False
    if raw.__class__ is dict and raw.get("type").__class__ is str:
        kind, value = raw["type"], raw.get("value", raw.get("reason"))
        if kind in ("text", "json", "content", *_ERROR_TYPES) and raw.keys() <= {"type", "value", "reason"}:
            output, _ = parse_output(value, note, location)
            return output, kind in _ERROR_TYPES
    if raw.__class__ is dict and "error" in raw and len(raw) == 1:
        output, _ = parse_output(raw["error"], note, location)
        return output, True
    is_content = raw.__class__ is list and all(
        part.__class__ is dict and part.get("type") in ("text", "image", "file", "media") for part in raw
    )
    if not is_content or not raw:
        return [Other(data=raw, name="json")], False
    parts = parse_parts(raw, note, location, {})
    only = parts[0] if len(parts) == 1 else None
    return (only.text if isinstance(only, Text) and not only.extra else parts), False


def _tool(kind: str, fields: Fields, tool_kinds: ToolKinds) -> list[Part]:
    """Return the call and, if there is one, the result in a part of a user interface."""
    name = fields.text("toolName") if kind == _DYNAMIC_TOOL else kind.removeprefix(_TOOL_PREFIX)
    name = name or ""
    call_id = fields.text("toolCallId")
    state = fields.view("state")
    call_input = _take_input(fields)
    results: list[Part] = []
    if state == "output-error" or nonempty_str(fields.view("errorText")):
        results = [
            ToolResult(call_id=call_id, name=name, output=fields.text("errorText") or "", is_error=True)
        ]
    elif fields.has("output") or state == "output-available":
        output, is_error = parse_output(fields.take("output"), fields.note, fields.where)
        results = [ToolResult(call_id=call_id, name=name, output=output, is_error=True if is_error else None)]
    if results:
        fields.drop("state")
    call = ToolCall(
        call_id=call_id, name=name, input=call_input, kind=tool_kinds.get(name), extra=fields.rest()
    )
    return [call, *results]


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts, whose input includes cached tokens and whose output includes reasoning."""
    if raw.__class__ is not dict:
        return None
    sent = counted(raw.get("inputTokens", raw.get("promptTokens")))
    cached = counted(raw.get("cachedInputTokens"))
    return Usage(
        key=key,
        input=None if sent is None else max(sent - (cached or 0), 0),
        output=counted(raw.get("outputTokens", raw.get("completionTokens"))),
        cache_read=cached,
        reasoning=counted(raw.get("reasoningTokens")),
        total=counted(raw.get("totalTokens")),
        extra=raw,
    )
