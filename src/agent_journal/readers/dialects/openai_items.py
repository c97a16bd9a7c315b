"""The dialect of the Responses API: items to roles and parts, the usage object to Usage.

An item is a message, a thought, a call of a tool or what a tool answered; requests and responses are lists of
them. Known from recorded payloads up to November 2026.
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
from agent_journal.readers.dialects.openai_messages import Said, inline, role_of

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.notes import Notes

TEXTS = ("input_text", "output_text", "summary_text", "reasoning_text", "text")
ONLY_TEXT = 2
"""How many members a piece of text has: its type and the text."""
_MEDIA: dict[str, MediaKind] = {"input_image": "image", "input_file": "file", "computer_screenshot": "image"}
_LINKS = ("image_url", "file_url", "file_data")
_REFERENCES = ("file_id", "file_url")
# Calls that services run or ask the client to run: what their input is called, and what they do.
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
# Items that are known and say nothing that has a part of its own.
_KEPT_WHOLE = (
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "compaction",
    "compaction_trigger",
    "additional_tools",
    "item_reference",
)
_BY_PERSON = ("mcp_approval_response", "item_reference", "compaction_trigger", "additional_tools")


def said(raw: Any, note: Notes, where: int | str) -> Said:
    """What an item says, in the terms of the model; it stays as it is."""
    if raw.__class__ is str:
        return Said("user", [Text(text=raw)] if raw else [], raw, {})
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"an item is {type(raw).__name__}")
        return Said("user", [Other(data=raw)], raw, {})
    kind, item = raw.get("type"), Fields(dict(raw), note, where)
    if kind == "message" or (kind is None and "role" in raw):
        return _message(item)
    if kind.__class__ is not str:
        return _unknown(raw, kind, item)
    item.drop("type")
    if kind == "reasoning":
        return Said("assistant", [reasoning(item)], None, item.rest())
    if kind.endswith("_output"):
        return _answered(kind, item)
    if kind == "mcp_call":
        return _mcp(item)
    if kind in ("function_call", "custom_tool_call", "program"):
        return _called(kind, item)
    return _served(raw, kind, item)


def _served(raw: dict[str, Any], kind: str, item: Fields) -> Said:
    """A call of a tool that the service has, if it is one."""
    name = kind.removesuffix("_call")
    if name in _BUILT_IN and name != kind:
        return _built_in(name, item)
    if name != kind and item.look("name").__class__ is str and item.has("arguments"):
        item.keep("type", kind)  # such as xAI's `x_search_call`
        return _called("function_call", item)
    return _unknown(raw, kind, item)


def _unknown(raw: dict[str, Any], kind: Any, item: Fields) -> Said:
    if kind not in _KEPT_WHOLE:
        item.note(Kind.UNKNOWN_TYPE, item.where, f"item {str(kind)[:40]!r}")
    role: Role = "user" if kind in _BY_PERSON else "assistant"
    return Said(role, [Other(data=raw, name=kind if kind.__class__ is str else None)], None, {})


def _message(item: Fields) -> Said:
    item.drop("type")
    role = role_of(item)
    content = item.take("content")
    return Said(role, parts(content, item.note, item.where), content, item.rest())


def parts(content: Any, note: Notes, where: int | str) -> list[Any]:
    """The parts of content, which stays as it is: a text, a list, or nothing."""
    if content.__class__ is list:
        return [_part(raw, note, where) for raw in content]
    if content is None or content == "":
        return []
    if content.__class__ is str:
        return [Text(text=content)]
    found = unwrapped_parts(content, lambda inner: parts(inner, note, where))
    if found is not None:
        return found
    note(Kind.WRONG_TYPE, where, f"content is {type(content).__name__}")
    return [Other(data=content)]


def _part(raw: Any, note: Notes, where: int | str) -> Part:
    if raw.__class__ is str:
        return Text(text=raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a content part is {type(raw).__name__}")
        return Other(data=raw)
    kind = raw.get("type")
    fields = Fields(dict(raw), note, where)
    fields.drop("type")
    if kind in TEXTS and fields.look("text").__class__ is str:
        return _text(fields)
    if kind == "refusal" and fields.look("refusal").__class__ is str:
        return Text(text=fields.take("refusal"), extra={"type": kind, **fields.rest()})
    if kind.__class__ is str and kind in _MEDIA:
        return _media(_MEDIA[kind], fields)
    if kind == "input_audio":
        return _heard(fields)
    note(Kind.UNKNOWN_TYPE, where, f"content part {str(kind)[:40]!r}")
    return Other(data=raw, name=kind if kind.__class__ is str else None)


def _text(fields: Fields) -> Text:
    text, annotations = fields.take("text"), fields.items("annotations")
    if fields.look("logprobs") == []:
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
        link = fields.look(name)
        if link.__class__ is not str or data is not None:
            continue
        mime, data = inline(link)
        if data is None and name == "file_data":
            data = link
        if data is not None:
            fields.drop(name)
    for name in ("image_url", *_REFERENCES):
        if ref is None and fields.look(name).__class__ is str:
            ref = fields.text(name)
    return Media(kind=kind, mime=mime, name=fields.text("filename"), ref=ref, data=data, extra=fields.rest())


def _heard(fields: Fields) -> Media:
    audio = fields.look("input_audio")
    if audio.__class__ is not dict:
        return Media(kind="audio", data=fields.text("data"), extra=fields.rest())
    fields.keep("input_audio", dict(audio))
    inner = fields.nested("input_audio")
    data = None if inner is None else inner.text("data")
    return Media(kind="audio", data=data, extra=fields.rest())


def reasoning(item: Fields) -> Reasoning:
    """What the model thought: in full, summed up, or as the vendor's opaque text."""
    return Reasoning(
        text=_joined(item, "content"),
        summary=_joined(item, "summary"),
        encrypted=item.text("encrypted_content"),
    )


def _joined(item: Fields, name: str) -> str | None:
    """The texts of a list, one below the other; it stays where that would lose something of it."""
    pieces = item.items(name)
    if not pieces:
        return None
    texts = [piece["text"] for piece in pieces if _is_text(piece)]
    if len(texts) < len(pieces) or any(len(piece) > ONLY_TEXT for piece in pieces):
        item.keep(name, pieces)
    return "\n".join(texts) if texts else None


def _is_text(piece: Any) -> bool:
    return piece.__class__ is dict and piece.get("type") in TEXTS and piece.get("text").__class__ is str


# Calls, and what came back.


def _called(kind: str, item: Fields) -> Said:
    """A call of a tool that the client has; the input stays the string it is."""
    names = {"function_call": "arguments", "custom_tool_call": "input", "program": "code"}
    name = item.text("name")
    if name is None and kind == "program":
        name = kind
    call = ToolCall(name=name or "", call_id=item.text("call_id"), input=item.take(names[kind]))
    return Said("assistant", [call], None, item.rest())


def _built_in(name: str, item: Fields) -> Said:
    """A call of a tool that the service has, often with its result in the same item."""
    field, kind = _BUILT_IN[name]
    # Since 2026 a computer is told to do several things at once.
    is_several = name == "computer" and item.look(field) is None and item.has("actions")
    value = item.take("actions" if is_several else field)
    if field not in ("action", "operation", "arguments"):
        value = None if value is None else {field: value}
    call_id = item.text("call_id") or id_of(item)
    call = ToolCall(name=name, call_id=call_id, input=value, kind=kind)
    output = _output_within(name, item)
    found: list[Part] = [call] if output is None else [call, ToolResult(call_id=call_id, output=output)]
    return Said("assistant", found, None, item.rest())


def _output_within(name: str, item: Fields) -> list[Any] | None:
    """What a service's own tool found, made or printed, if the item tells it."""
    if name == "image_generation" and item.look("result").__class__ is str:
        form = item.look("output_format")
        mime = f"image/{form}" if form.__class__ is str else None
        return [Media(kind="image", mime=mime, data=item.text("result"))]
    if name == "code_interpreter" and item.look("outputs").__class__ is list:
        return [_shown(raw, item) for raw in item.take("outputs")]
    if name == "file_search" and item.look("results").__class__ is list:
        return [_found(raw, item) for raw in item.take("results")]
    return None


def _found(raw: Any, item: Fields) -> Part:
    """What a search in files found: a text, with the file as the source of it."""
    if raw.__class__ is not dict or raw.get("text").__class__ is not str:
        return Other(data=raw, name="result")
    found = Fields(dict(raw), item.note, item.where)
    return Text(
        text=found.take("text"), citations=[Citation(title=found.text("filename"))], extra=found.rest()
    )


def _shown(raw: Any, item: Fields) -> Part:
    kind = raw.get("type") if raw.__class__ is dict else None
    if kind == "logs" and raw.get("logs").__class__ is str:
        return Text(text=raw["logs"], extra=_without(raw, "type", "logs"))
    if kind == "image" and raw.get("url").__class__ is str:
        mime, data = inline(raw["url"])
        extra = _without(raw, "type", "url")
        return Media(kind="image", mime=mime, data=data, ref=None if data else raw["url"], extra=extra)
    item.note(Kind.UNKNOWN_TYPE, item.where, f"output {str(kind)[:40]!r}")
    return Other(data=raw)


def _without(raw: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in names}


def _mcp(item: Fields) -> Said:
    call_id = id_of(item)
    item.keep("type", "mcp_call")
    found: list[Part] = [
        ToolCall(name=item.text("name") or "", call_id=call_id, input=item.take("arguments"), kind="mcp")
    ]
    error, output = item.take("error"), item.take("output")
    told: Any = output if error is None else error
    if told is not None:
        extra = {} if error is None or output is None else {"output": output}
        answer: Any = told if told.__class__ is str else _refused(told, item)
        is_error = None if error is None else True
        found.append(ToolResult(call_id=call_id, output=answer, is_error=is_error, extra=extra))
    return Said("assistant", found, None, item.rest())


def _refused(error: Any, item: Fields) -> list[Any]:
    """Why a call failed: what the tool said, or the server's message."""
    if error.__class__ is not dict:
        return [Other(data=error)]
    if error.get("content").__class__ is list:
        more = _without(error, "content")
        told = parts(error["content"], item.note, item.where)
        return [*told, Other(data=more, name="error")] if more else told
    if error.get("message").__class__ is str:
        return [Text(text=error["message"], extra=_without(error, "message"))]
    return [Other(data=error)]


def _answered(kind: str, item: Fields) -> Said:
    """What a tool answered: a text, content parts, or an object of the tool's own."""
    call_id = item.text("call_id")
    field = next((name for name in ("output", "result", "tools") if item.has(name)), "output")
    value = item.take(field)
    output: Any = value
    if value is None:
        output = ""
    elif kind.startswith(("function_call", "custom_tool_call")) and value.__class__ is list:
        output = parts(value, item.note, item.where)
    elif kind == "computer_call_output" and value.__class__ is dict:
        output = [_part(value, item.note, item.where)]
    elif value.__class__ is list:
        output = [part for raw in value for part in _given(raw)]
    elif value.__class__ is not str:
        output = [Other(data=value)]
    if kind != "function_call_output":
        item.keep("type", kind)
    return Said("tool", [ToolResult(call_id=call_id, output=output)], None, item.rest())


def _given(raw: Any) -> list[Part]:
    """What a program printed, or a value of the tool's own."""
    told = program_output.texts(raw) if raw.__class__ is dict else []
    return [*told] or [Other(data=raw)]


def id_of(item: Fields) -> str | None:
    """The id of an item, which stays."""
    value = item.look("id")
    return value if value.__class__ is str else None


def usage(raw: Any, key: str | None) -> Usage | None:
    """Token counts; `input_tokens` includes what the cache gave and got. The object stays in `extra`."""
    if raw.__class__ is not dict:
        return None
    details = raw.get("input_tokens_details")
    read = _count(raw, "input_tokens")
    cached, stored = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    return Usage(
        key=key,
        input=None if read is None else max(read - (cached or 0) - (stored or 0), 0),
        output=_count(raw, "output_tokens"),
        cache_read=cached,
        cache_write=stored,
        reasoning=_count(raw.get("output_tokens_details"), "reasoning_tokens"),
        total=_count(raw, "total_tokens"),
        extra=raw,
    )


def _count(raw: Any, name: str) -> int | None:
    return counted(raw.get(name) if raw.__class__ is dict else None)
