"""The dialect of the Responses API: converts items to roles and parts and the usage object to Usage.

An item is a message, reasoning, a tool call or a tool result; requests and responses are lists of items.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted
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
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.dialects import program_output
from agent_journal.readers.dialects.openai_messages import ParsedMessage, parse_data_url, take_role

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.notes import Notes

TEXTS = ("input_text", "output_text", "summary_text", "reasoning_text", "text")
TEXT_PIECE_FIELD_COUNT = 2
"""The number of fields of a plain piece of text: its type and the text."""
_MEDIA: dict[str, MediaKind] = {"input_image": "image", "input_file": "file", "computer_screenshot": "image"}
_LINKS = ("image_url", "file_url", "file_data")
_REFERENCES = ("file_id", "file_url")
# Calls that services run or ask the client to run: the field with their input, and their kind.
_BUILT_IN: dict[str, tuple[str, ToolKind | None]] = {
    "web_search": ("action", "web"),
    "file_search": ("queries", "search"),
    "code_interpreter": ("code", "shell"),
    "image_generation": ("revised_prompt", "media"),
    "computer": ("action", None),
    "local_shell": ("action", "shell"),
    "shell": ("action", "shell"),
    "apply_patch": ("operation", "edit"),
    "tool_search": ("arguments", "search"),
}
# Known items that the model has no part for.
_OPAQUE_ITEMS = (
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "compaction",
    "compaction_trigger",
    "additional_tools",
    "item_reference",
)
_USER_ITEMS = ("mcp_approval_response", "item_reference", "compaction_trigger", "additional_tools")


def parse_item(raw: Any, note: Notes, location: int | str) -> ParsedMessage:
    """Convert an item, which is not modified."""
    if raw.__class__ is str:
        return ParsedMessage("user", [Text(text=raw)] if raw else [], raw, {})
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"an item is {type(raw).__name__}")
        return ParsedMessage("user", [Other(data=raw)], raw, {})
    kind, item = raw.get("type"), Fields(dict(raw), note, location)
    if kind == "message" or (kind is None and "role" in raw):
        return _message(item)
    if kind.__class__ is not str:
        return _opaque_item(raw, kind, item)
    item.drop("type")
    if kind == "reasoning":
        return ParsedMessage("assistant", [take_reasoning(item)], None, item.rest())
    if kind.endswith("_output"):
        return _tool_result(kind, item)
    if kind == "mcp_call":
        return _mcp_call(item)
    if kind in ("function_call", "custom_tool_call", "program"):
        return _tool_call(kind, item)
    return _server_tool_call(raw, kind, item)


def _server_tool_call(raw: dict[str, Any], kind: str, item: Fields) -> ParsedMessage:
    """Convert a call of one of the service's tools; any other item becomes an opaque part."""
    name = kind.removesuffix("_call")
    if name in _BUILT_IN and name != kind:
        return _built_in_call(name, item)
    if name != kind and item.view("name").__class__ is str and item.has("arguments"):
        item.keep("type", kind)  # such as xAI's `x_search_call`
        return _tool_call("function_call", item)
    return _opaque_item(raw, kind, item)


def _opaque_item(raw: dict[str, Any], kind: Any, item: Fields) -> ParsedMessage:
    if kind not in _OPAQUE_ITEMS:
        item.note(Kind.UNKNOWN_TYPE, item.where, f"item {str(kind)[:40]!r}")
    role: Role = "user" if kind in _USER_ITEMS else "assistant"
    return ParsedMessage(role, [Other(data=raw, name=kind if kind.__class__ is str else None)], None, {})


def _message(item: Fields) -> ParsedMessage:
    item.drop("type")
    role = take_role(item)
    content = item.take("content")
    return ParsedMessage(role, parse_parts(content, item.note, item.where), content, item.rest())


def parse_parts(content: Any, note: Notes, location: int | str) -> list[Any]:
    """Convert content, which is not modified: a text, a list, or nothing."""
    if content.__class__ is list:
        return [_part(raw, note, location) for raw in content]
    if content is None or content == "":
        return []
    if content.__class__ is str:
        return [Text(text=content)]
    unwrapped = unwrapped_parts(content, lambda inner: parse_parts(inner, note, location))
    if unwrapped is not None:
        return unwrapped
    note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
    return [Other(data=content)]


def _part(raw: Any, note: Notes, location: int | str) -> Part:
    if raw.__class__ is str:
        return Text(text=raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a content part is {type(raw).__name__}")
        return Other(data=raw)
    kind = raw.get("type")
    fields = Fields(dict(raw), note, location)
    fields.drop("type")
    if kind in TEXTS and fields.view("text").__class__ is str:
        return _text(fields)
    if kind == "refusal" and fields.view("refusal").__class__ is str:
        return Text(text=fields.take("refusal"), extra={"type": kind, **fields.rest()})
    if kind.__class__ is str and kind in _MEDIA:
        return _media(_MEDIA[kind], fields)
    if kind == "input_audio":
        return _audio(fields)
    note(Kind.UNKNOWN_TYPE, location, f"content part {str(kind)[:40]!r}")
    return Other(data=raw, name=kind if kind.__class__ is str else None)


def _text(fields: Fields) -> Text:
    text, annotations = fields.take("text"), fields.items("annotations")
    if fields.view("logprobs") == []:
        fields.drop("logprobs")
    citations = [_citation(raw, fields) for raw in annotations or ()]
    return Text(text=text, citations=citations, extra=fields.rest())


def _citation(raw: Any, fields: Fields) -> Citation:
    if raw.__class__ is not dict:
        return Citation(extra={"value": raw})
    cited = Fields(dict(raw), fields.note, fields.where)
    return Citation(
        title=cited.text("title") or cited.text("filename"),
        url=cited.text("url"),
        start=cited.whole("start_index"),
        end=cited.whole("end_index"),
        extra=cited.rest(),
    )


def _media(kind: MediaKind, fields: Fields) -> Media:
    mime = data = ref = None
    for name in _LINKS:
        link = fields.view(name)
        if link.__class__ is not str or data is not None:
            continue
        mime, data = parse_data_url(link)
        if data is None and name == "file_data":
            data = link
        if data is not None:
            fields.drop(name)
    for name in ("image_url", *_REFERENCES):
        if ref is None and fields.view(name).__class__ is str:
            ref = fields.text(name)
    return Media(kind=kind, mime=mime, name=fields.text("filename"), ref=ref, data=data, extra=fields.rest())


def _audio(fields: Fields) -> Media:
    audio = fields.view("input_audio")
    if audio.__class__ is not dict:
        return Media(kind="audio", data=fields.text("data"), extra=fields.rest())
    fields.keep("input_audio", dict(audio))
    inner = fields.nested("input_audio")
    data = None if inner is None else inner.text("data")
    return Media(kind="audio", data=data, extra=fields.rest())


def take_reasoning(item: Fields) -> Reasoning:
    """Take the reasoning: its full text, its summary, or the vendor's encrypted text."""
    return Reasoning(
        text=_take_joined_texts(item, "content"),
        summary=_take_joined_texts(item, "summary"),
        encrypted=item.text("encrypted_content"),
    )


def _take_joined_texts(item: Fields, name: str) -> str | None:
    """Take the texts of a list, joined by newlines; the list stays if that would lose other fields."""
    pieces = item.items(name)
    if not pieces:
        return None
    texts = [piece["text"] for piece in pieces if _is_text(piece)]
    if len(texts) < len(pieces) or any(len(piece) > TEXT_PIECE_FIELD_COUNT for piece in pieces):
        item.keep(name, pieces)
    return "\n".join(texts) if texts else None


def _is_text(piece: Any) -> bool:
    return piece.__class__ is dict and piece.get("type") in TEXTS and piece.get("text").__class__ is str


# Calls and results.


def _tool_call(kind: str, item: Fields) -> ParsedMessage:
    """Convert a call of one of the client's tools; the input stays a string."""
    names = {"function_call": "arguments", "custom_tool_call": "input", "program": "code"}
    name = item.text("name")
    if name is None and kind == "program":
        name = kind
    call = ToolCall(name=name or "", call_id=item.text("call_id"), input=item.take(names[kind]))
    return ParsedMessage("assistant", [call], None, item.rest())


def _built_in_call(name: str, item: Fields) -> ParsedMessage:
    """Convert a call of a built-in tool, often with its result in the same item."""
    field, kind = _BUILT_IN[name]
    # Since 2026 a computer call can have several actions.
    is_several = name == "computer" and item.view(field) is None and item.has("actions")
    value = item.take("actions" if is_several else field)
    if field not in ("action", "operation", "arguments"):
        value = None if value is None else {field: value}
    call_id = item.text("call_id") or id_of(item)
    call = ToolCall(name=name, call_id=call_id, input=value, kind=kind)
    output = _take_output(name, item)
    parts: list[Part] = [call] if output is None else [call, ToolResult(call_id=call_id, output=output)]
    return ParsedMessage("assistant", parts, None, item.rest())


def _take_output(name: str, item: Fields) -> list[Any] | None:
    """Take the output of a built-in tool; None if the item has none."""
    if name == "image_generation" and item.view("result").__class__ is str:
        form = item.view("output_format")
        mime = f"image/{form}" if form.__class__ is str else None
        return [Media(kind="image", mime=mime, data=item.text("result"))]
    if name == "code_interpreter" and item.view("outputs").__class__ is list:
        return [_code_output(raw, item) for raw in item.take("outputs")]
    if name == "file_search" and item.view("results").__class__ is list:
        return [_file_search_result(raw, item) for raw in item.take("results")]
    return None


def _file_search_result(raw: Any, item: Fields) -> Part:
    """Convert a result of a file search: a text that cites its file."""
    if raw.__class__ is not dict or raw.get("text").__class__ is not str:
        return Other(data=raw, name="result")
    result = Fields(dict(raw), item.note, item.where)
    return Text(
        text=result.take("text"), citations=[Citation(title=result.text("filename"))], extra=result.rest()
    )


def _code_output(raw: Any, item: Fields) -> Part:
    kind = raw.get("type") if raw.__class__ is dict else None
    if kind == "logs" and raw.get("logs").__class__ is str:
        return Text(text=raw["logs"], extra=_without(raw, "type", "logs"))
    if kind == "image" and raw.get("url").__class__ is str:
        mime, data = parse_data_url(raw["url"])
        extra = _without(raw, "type", "url")
        return Media(kind="image", mime=mime, data=data, ref=None if data else raw["url"], extra=extra)
    item.note(Kind.UNKNOWN_TYPE, item.where, f"output {str(kind)[:40]!r}")
    return Other(data=raw)


def _without(raw: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in names}


def _mcp_call(item: Fields) -> ParsedMessage:
    call_id = id_of(item)
    item.keep("type", "mcp_call")
    parts: list[Part] = [
        ToolCall(name=item.text("name") or "", call_id=call_id, input=item.take("arguments"), kind="mcp")
    ]
    error, output = item.take("error"), item.take("output")
    result: Any = output if error is None else error
    if result is not None:
        extra = {} if error is None or output is None else {"output": output}
        answer: Any = result if result.__class__ is str else _error_parts(result, item)
        is_error = None if error is None else True
        parts.append(ToolResult(call_id=call_id, output=answer, is_error=is_error, extra=extra))
    return ParsedMessage("assistant", parts, None, item.rest())


def _error_parts(error: Any, item: Fields) -> list[Any]:
    """Convert the error of a failed call: the tool's content or the server's message."""
    if error.__class__ is not dict:
        return [Other(data=error)]
    if error.get("content").__class__ is list:
        rest = _without(error, "content")
        content_parts = parse_parts(error["content"], item.note, item.where)
        return [*content_parts, Other(data=rest, name="error")] if rest else content_parts
    if error.get("message").__class__ is str:
        return [Text(text=error["message"], extra=_without(error, "message"))]
    return [Other(data=error)]


def _tool_result(kind: str, item: Fields) -> ParsedMessage:
    """Convert a tool result: a text, content parts, or the tool's own object."""
    call_id = item.text("call_id")
    field = next((name for name in ("output", "result", "tools") if item.has(name)), "output")
    value = item.take(field)
    output: Any = value
    if value is None:
        output = ""
    elif kind.startswith(("function_call", "custom_tool_call")) and value.__class__ is list:
        output = parse_parts(value, item.note, item.where)
    elif kind == "computer_call_output" and value.__class__ is dict:
        output = [_part(value, item.note, item.where)]
    elif value.__class__ is list:
        output = [part for raw in value for part in _printed_output(raw)]
    elif value.__class__ is not str:
        output = [Other(data=value)]
    if kind != "function_call_output":
        item.keep("type", kind)
    return ParsedMessage("tool", [ToolResult(call_id=call_id, output=output)], None, item.rest())


def _printed_output(raw: Any) -> list[Part]:
    """Convert a program's output or the tool's own value."""
    texts = program_output.printed_texts(raw) if raw.__class__ is dict else []
    return [*texts] or [Other(data=raw)]


def id_of(item: Fields) -> str | None:
    """Return the id of an item and leave it in place."""
    value = item.view("id")
    return value if value.__class__ is str else None


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts, with the full object in `extra`; `input_tokens` includes all cache tokens."""
    if raw.__class__ is not dict:
        return None
    details = raw.get("input_tokens_details")
    input_tokens = _count(raw, "input_tokens")
    cached, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    return Usage(
        key=key,
        input=None if input_tokens is None else max(input_tokens - (cached or 0) - (written or 0), 0),
        output=_count(raw, "output_tokens"),
        cache_read=cached,
        cache_write=written,
        reasoning=_count(raw.get("output_tokens_details"), "reasoning_tokens"),
        total=_count(raw, "total_tokens"),
        extra=raw,
    )


def _count(raw: Any, name: str) -> int | None:
    return counted(raw.get(name) if raw.__class__ is dict else None)
