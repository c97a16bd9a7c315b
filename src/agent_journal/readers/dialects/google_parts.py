"""Google's content dialect: the parts of a message in the Gemini API and in tools that log it.

A part is an object with one field that identifies its kind (`text`, `functionCall`, …). Known from the
vendor's types and recorded sessions up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.model import (
    Code,
    Media,
    MediaKind,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes

OutputPart: TypeAlias = Text | Code | Reasoning | ToolCall | Media | Other
KindOf: TypeAlias = "Callable[[str], ToolKind | None]"

_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
# Fields that hold a tool's answer as plain text.
_ANSWER_FIELDS = ("output", "result", "error")
_SERVER_TOOL_KINDS: dict[str, ToolKind] = {
    "GOOGLE_SEARCH_WEB": "web",
    "GOOGLE_SEARCH_IMAGE": "web",
    "GOOGLE_MAPS": "web",
    "URL_CONTEXT": "web",
    "FILE_SEARCH": "search",
}
_SUCCESSFUL_OUTCOMES = ("OUTCOME_OK", "OUTCOME_UNSPECIFIED")


def parse_parts(content: Any, note: Notes, location: int | str, kind_of: KindOf) -> list[Part]:
    """Convert a content value: a string, a part or a list of both; it is not modified."""
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is dict:
        unwrapped = unwrapped_parts(content, lambda inner: parse_parts(inner, note, location, kind_of))
        return [parse_part(content, note, location, kind_of)] if unwrapped is None else unwrapped
    if content.__class__ is not list:
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [parse_part(raw, note, location, kind_of) for raw in content]


def parse_part(raw: Any, note: Notes, location: int | str, kind_of: KindOf) -> Part:
    """Convert one part, which is not modified."""
    if raw.__class__ is str:
        return Text(text=raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a content part is {type(raw).__name__}")
        return Other(data=raw)
    fields = Fields(dict(raw), note, location)
    if raw.get("text").__class__ is str:
        return _text(fields)
    for name, convert in _CONVERTERS.items():
        if raw.get(name).__class__ is dict:
            fields.keep(name, dict(raw[name]))
            inner = fields.nested(name)
            if inner is not None:
                return convert(fields, inner, kind_of)
    note(Kind.UNKNOWN_TYPE, location, f"content part with {', '.join(sorted(raw))[:60]!r}")
    return Other(data=raw)


def _text(fields: Fields) -> Part:
    text = fields.take("text")
    if fields.view("thought") is not True:
        return Text(text=text, extra=fields.rest())
    fields.drop("thought")
    signature = fields.text("thoughtSignature")
    return Reasoning(text=text, signature=signature, extra=fields.rest())


def _call(fields: Fields, call: Fields, kind_of: KindOf) -> Part:
    name, call_id, arguments = call.text("name") or "", call.text("id"), call.take("args")
    return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=fields.rest())


def _result(fields: Fields, response: Fields, kind_of: KindOf) -> Part:
    call_id, name = response.text("id"), response.text("name")
    is_error = True if is_failure(response.view("response")) else None
    output = simplify_output(take_answer(response, kind_of))
    return ToolResult(call_id=call_id, name=name, output=output, is_error=is_error, extra=fields.rest())


def _server_tool_call(fields: Fields, call: Fields, kind_of: KindOf) -> Part:
    """Convert a call of the service's own tool, which only has a type (seen 2026)."""
    name, call_id, arguments = call.text("toolType") or "", call.text("id"), call.take("args")
    kind = _SERVER_TOOL_KINDS.get(name) or kind_of(name)
    return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=fields.rest())


def _server_tool_result(fields: Fields, response: Fields, kind_of: KindOf) -> Part:
    """Convert the result of the service's own tool; the service may withhold it."""
    call_id, name = response.text("id"), response.text("toolType")
    output = simplify_output(take_answer(response, kind_of))
    return ToolResult(call_id=call_id, name=name, output=output, extra=fields.rest())


def _inline(fields: Fields, blob: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several converters)
    mime, data, name = blob.text("mimeType"), blob.text("data"), blob.text("displayName")
    return Media(kind=media_kind(mime), mime=mime, data=data, name=name, extra=fields.rest())


def _file(fields: Fields, file: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several converters)
    mime, ref, name = file.text("mimeType"), file.text("fileUri"), file.text("displayName")
    return Media(kind=media_kind(mime), mime=mime, ref=ref, name=name, extra=fields.rest())


def _code(fields: Fields, code: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several converters)
    language, text = code.text("language"), code.text("code")
    return Code(code=text or "", language=language, extra=fields.rest())


def _outcome(fields: Fields, result: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several converters)
    outcome, output = result.view("outcome"), result.text("output")
    is_error = None if outcome is None else outcome not in _SUCCESSFUL_OUTCOMES
    return ToolResult(output=output or "", is_error=is_error, extra=fields.rest())


_CONVERTERS: dict[str, Callable[[Fields, Fields, KindOf], Part]] = {
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _inline,
    "fileData": _file,
    "executableCode": _code,
    "codeExecutionResult": _outcome,
    "toolCall": _server_tool_call,
    "toolResponse": _server_tool_result,
}


def media_kind(mime: str | None) -> MediaKind:
    """Return the kind of media for a media type."""
    return "document" if mime == "application/pdf" else _MEDIA.get((mime or "").partition("/")[0], "file")


def parse_outputs(result: Any, note: Notes, location: int | str, kind_of: KindOf) -> list[OutputPart]:
    """Convert a tool's answer that a source stores as content with any number of `functionResponse` parts.

    Other fields of a `functionResponse` than its answer, id and name become a part after the answer.
    """
    parts: list[OutputPart] = []
    for raw in result if result.__class__ is list else [result]:
        response = raw.get("functionResponse") if raw.__class__ is dict else None
        if response.__class__ is dict and len(raw) == 1:
            fields = Fields(dict(response), note, location)
            parts.extend(take_answer(fields, kind_of))
            fields.drop("id", "name")
            if rest := fields.rest():
                parts.append(Other(data=rest, name="functionResponse"))
        else:
            parts.append(_output_part(raw, note, location, kind_of))
    return parts


def take_answer(response: Fields, kind_of: KindOf) -> list[OutputPart]:
    """Take a tool's answer out of a `functionResponse`: texts, values and media."""
    value = response.take("response")
    parts: list[OutputPart] = []
    if value.__class__ is str:
        parts.append(Text(text=value))
    elif value.__class__ is dict:
        parts.extend(_answer_parts(value))
    elif value is not None:
        parts.append(Other(data=value, name="response"))
    if response.view("parts").__class__ is list:
        attached = response.take("parts")
        parts.extend(_output_part(raw, response.note, response.where, kind_of) for raw in attached)
    return parts


def _answer_parts(value: dict[str, Any]) -> list[OutputPart]:
    for name in _ANSWER_FIELDS:
        if value.get(name).__class__ is str:
            rest = {key: other for key, other in value.items() if key != name}
            return [Text(text=value[name], extra={"response": rest} if rest else {})]
    return [Other(data=value, name="response")] if value else []


def _output_part(raw: Any, note: Notes, location: int | str, kind_of: KindOf) -> OutputPart:
    """Convert a part of a result; a result within a result stays a raw value."""
    part = parse_part(raw, note, location, kind_of)
    return Other(data=raw) if isinstance(part, ToolResult) else part


def simplify_output(parts: list[OutputPart]) -> str | list[OutputPart]:
    """Return the output of a result: a string for a single text without extra fields, else the list."""
    match parts:
        case []:
            return ""
        case [Text(text=text, extra=extra)] if not extra:
            return text
    return parts


def is_failure(response: Any) -> bool:
    """Return whether a tool's `response` has an error."""
    return response.__class__ is dict and response.get("error") is not None
