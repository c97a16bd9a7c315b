"""Google's content dialect: the parts of a message as the Gemini API and tools that log it have them.

A part is an object with one telling field (`text`, `functionCall`, …). Known from the vendor's types and
recorded sessions up to November 2026.
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

Inner: TypeAlias = Text | Code | Reasoning | ToolCall | Media | Other
KindOf: TypeAlias = "Callable[[str], ToolKind | None]"

_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
# What a tool's answer is under where it is plain text.
_SAID = ("output", "result", "error")
_SERVED: dict[str, ToolKind] = {
    "GOOGLE_SEARCH_WEB": "web",
    "GOOGLE_SEARCH_IMAGE": "web",
    "GOOGLE_MAPS": "web",
    "URL_CONTEXT": "web",
    "FILE_SEARCH": "search",
}
_GOOD = ("OUTCOME_OK", "OUTCOME_UNSPECIFIED")


def parts(content: Any, note: Notes, where: int | str, kind_of: KindOf) -> list[Part]:
    """The parts of a content value, which is a string, a part or a list of both; it stays as it is."""
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is dict:
        found = unwrapped_parts(content, lambda inner: parts(inner, note, where, kind_of))
        return [part(content, note, where, kind_of)] if found is None else found
    if content.__class__ is not list:
        note(Kind.WRONG_TYPE, where, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [part(raw, note, where, kind_of) for raw in content]


def part(raw: Any, note: Notes, where: int | str, kind_of: KindOf) -> Part:
    """One part; the value stays as it is."""
    if raw.__class__ is str:
        return Text(text=raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a content part is {type(raw).__name__}")
        return Other(data=raw)
    fields = Fields(dict(raw), note, where)
    if raw.get("text").__class__ is str:
        return _text(fields)
    for name, make in _WAYS.items():
        if raw.get(name).__class__ is dict:
            fields.keep(name, dict(raw[name]))
            inner = fields.nested(name)
            if inner is not None:
                return make(fields, inner, kind_of)
    note(Kind.UNKNOWN_TYPE, where, f"content part with {', '.join(sorted(raw))[:60]!r}")
    return Other(data=raw)


def _text(fields: Fields) -> Part:
    text = fields.take("text")
    if fields.look("thought") is not True:
        return Text(text=text, extra=fields.rest())
    fields.drop("thought")
    signature = fields.text("thoughtSignature")
    return Reasoning(text=text, signature=signature, extra=fields.rest())


def _call(fields: Fields, call: Fields, kind_of: KindOf) -> Part:
    name, call_id, arguments = call.text("name") or "", call.text("id"), call.take("args")
    return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=fields.rest())


def _result(fields: Fields, response: Fields, kind_of: KindOf) -> Part:
    call_id, name = response.text("id"), response.text("name")
    is_error = True if is_failure(response.look("response")) else None
    output = plain(answer(response, kind_of))
    return ToolResult(call_id=call_id, name=name, output=output, is_error=is_error, extra=fields.rest())


def _served(fields: Fields, call: Fields, kind_of: KindOf) -> Part:
    """A call of a tool that the service has, which is known by its type alone (seen 2026)."""
    name, call_id, arguments = call.text("toolType") or "", call.text("id"), call.take("args")
    kind = _SERVED.get(name) or kind_of(name)
    return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=fields.rest())


def _answered(fields: Fields, response: Fields, kind_of: KindOf) -> Part:
    """What such a tool answered, which the service may keep to itself."""
    call_id, name = response.text("id"), response.text("toolType")
    output = plain(answer(response, kind_of))
    return ToolResult(call_id=call_id, name=name, output=output, extra=fields.rest())


def _inline(fields: Fields, blob: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several ways)
    mime, data, name = blob.text("mimeType"), blob.text("data"), blob.text("displayName")
    return Media(kind=media_kind(mime), mime=mime, data=data, name=name, extra=fields.rest())


def _file(fields: Fields, file: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several ways)
    mime, ref, name = file.text("mimeType"), file.text("fileUri"), file.text("displayName")
    return Media(kind=media_kind(mime), mime=mime, ref=ref, name=name, extra=fields.rest())


def _code(fields: Fields, code: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several ways)
    language, text = code.text("language"), code.text("code")
    return Code(code=text or "", language=language, extra=fields.rest())


def _outcome(fields: Fields, ran: Fields, kind_of: KindOf) -> Part:  # noqa: ARG001 (one of several ways)
    outcome, output = ran.look("outcome"), ran.text("output")
    is_error = None if outcome is None else outcome not in _GOOD
    return ToolResult(output=output or "", is_error=is_error, extra=fields.rest())


_WAYS: dict[str, Callable[[Fields, Fields, KindOf], Part]] = {
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _inline,
    "fileData": _file,
    "executableCode": _code,
    "codeExecutionResult": _outcome,
    "toolCall": _served,
    "toolResponse": _answered,
}


def media_kind(mime: str | None) -> MediaKind:
    """What a media type is to people."""
    return "document" if mime == "application/pdf" else _MEDIA.get((mime or "").partition("/")[0], "file")


def outputs(result: Any, note: Notes, where: int | str, kind_of: KindOf) -> list[Inner]:
    """What a tool answered where a source has it as content: as `answer` for each `functionResponse` in it.

    Of a `functionResponse`, what is neither its answer nor its call's id and name stays with the text.
    """
    found: list[Inner] = []
    for raw in result if result.__class__ is list else [result]:
        response = raw.get("functionResponse") if raw.__class__ is dict else None
        if response.__class__ is dict and len(raw) == 1:
            fields = Fields(dict(response), note, where)
            found.extend(answer(fields, kind_of))
            fields.drop("id", "name")
            if left := fields.rest():
                found.append(Other(data=left, name="functionResponse"))
        else:
            found.append(_inner(raw, note, where, kind_of))
    return found


def answer(response: Fields, kind_of: KindOf) -> list[Inner]:
    """What a tool answered, taken out of a `functionResponse`: text where it is text, and media."""
    value = response.take("response")
    found: list[Inner] = []
    if value.__class__ is str:
        found.append(Text(text=value))
    elif value.__class__ is dict:
        found.extend(_said(value))
    elif value is not None:
        found.append(Other(data=value, name="response"))
    if response.look("parts").__class__ is list:
        attached = response.take("parts")
        found.extend(_inner(raw, response.note, response.where, kind_of) for raw in attached)
    return found


def _said(value: dict[str, Any]) -> list[Inner]:
    for name in _SAID:
        if value.get(name).__class__ is str:
            left = {key: other for key, other in value.items() if key != name}
            return [Text(text=value[name], extra={"response": left} if left else {})]
    return [Other(data=value, name="response")] if value else []


def _inner(raw: Any, note: Notes, where: int | str, kind_of: KindOf) -> Inner:
    """A part of a result; a result within a result is kept as the value it is."""
    one = part(raw, note, where, kind_of)
    return Other(data=raw) if isinstance(one, ToolResult) else one


def plain(found: list[Inner]) -> str | list[Inner]:
    """The output of a result: one text that has nothing beside it as it is, else the list."""
    match found:
        case []:
            return ""
        case [Text(text=text, extra=extra)] if not extra:
            return text
    return found


def is_failure(response: Any) -> bool:
    """Whether the `response` of a tool tells of an error."""
    return response.__class__ is dict and response.get("error") is not None
