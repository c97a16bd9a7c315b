"""What requests and responses of the Gemini API have around their parts: contents, tools, citations, usage.

Names are written in camel case by the service and in either case by its clients.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import Citation, Other, Part, Text, Tool, ToolKind, Usage, roles
from agent_journal.notes import Kind
from agent_journal.readers.dialects import google_parts
from agent_journal.readers.dialects.openai_messages import Said

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# What a part that is no text holds.
_DATA = (
    *("functionCall", "functionResponse", "inlineData", "fileData"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
)
_CAMEL_CASE = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "tool_call": "toolCall",
    "tool_response": "toolResponse",
    "tool_type": "toolType",
    "video_metadata": "videoMetadata",
    "thought_signature": "thoughtSignature",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
    "display_name": "displayName",
}
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_OWN_ROLES = (None, "user", "model", "system")
_SCHEMAS = ("parameters", "parametersJsonSchema", "parameters_json_schema")


def said(raw: Any, note: Notes, where: int | str) -> Said:
    """A content in the terms of the model; it stays as it is. One that names nobody is the user's."""
    if raw.__class__ is not dict:
        if raw.__class__ is not str:
            note(Kind.WRONG_TYPE, where, f"a content is {type(raw).__name__}")
        return Said("user", [Text(text=raw) if raw.__class__ is str else Other(data=raw)], raw, {})
    fields = Fields(dict(raw), note, where)
    name = fields.take("role")
    role = roles.role(name)
    if role is None and name is not None:
        note(Kind.UNKNOWN_ROLE, where, f"role {str(name)[:40]!r}")
    if name not in _OWN_ROLES:
        fields.keep("role", name)
    content = fields.take("parts")
    listed = [in_camel_case(part) for part in content] if content.__class__ is list else content
    return Said(role or "user", google_parts.parts(listed, note, where, _no_kind), content, fields.rest())


def _no_kind(_: str) -> ToolKind | None:
    """The tools are those of whoever called the API."""
    return None


def in_camel_case(part: Any) -> Any:
    """A part by the names that the service has for what is in it."""
    if part.__class__ is not dict or (len(part) == 1 and "text" in part):
        return part
    return {
        _CAMEL_CASE.get(name, name): _renamed(value)
        if value.__class__ is dict and _CAMEL_CASE.get(name, name) in _DATA
        else value
        for name, value in part.items()
    }


def _renamed(value: dict[str, Any]) -> dict[str, Any]:
    renamed = {_CAMEL_CASE.get(name, name): inner for name, inner in value.items()}
    if renamed.get("parts").__class__ is list:  # what a function returns beside its answer, as images
        renamed["parts"] = [in_camel_case(part) for part in renamed["parts"]]
    return renamed


def held_by(part: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """What a part in camel case holds that is no text: its name and its value."""
    for name in _DATA:
        if part.get(name).__class__ is dict:
            return name, part[name]
    return None


def declared(tools: list[Any]) -> list[Any]:
    """The functions of a list of tools, and each tool of the service by itself."""
    found: list[Any] = []
    for tool_ in tools:
        if tool_.__class__ is not dict:
            found.append(tool_)
            continue
        for key, value in tool_.items():
            if key in _DECLARATIONS and value.__class__ is list:
                found.extend(value)
            else:
                found.append({key: value})
    return found


def tool(raw: Any, note: Notes, where: int | str) -> Tool:
    """A function, or a tool that the service has and that is known by its name alone; it stays as it is."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a tool is {type(raw).__name__}")
        return Tool(name="", extra={"value": raw})
    if len(raw) == 1 and "name" not in raw:
        ((name, value),) = raw.items()
        return Tool(name=name, parameters=value or None)
    fields = Fields(dict(raw), note, where)
    name, description = fields.text("name"), fields.text("description")
    schema = next((key for key in _SCHEMAS if fields.has(key)), _SCHEMAS[0])
    return Tool(name=name or "", description=description, parameters=fields.take(schema), extra=fields.rest())


def cited(found: list[Part], grounding: Any) -> list[Part]:
    """The parts, each text with what it is grounded on; `groundingMetadata` tells of the answer's bytes."""
    supports = grounding.get("groundingSupports") if grounding.__class__ is dict else None
    if supports.__class__ is not list:
        return found
    chunks = grounding.get("groundingChunks")
    by_part: dict[int, list[Citation]] = {}
    for support in supports:
        segment = support.get("segment") if support.__class__ is dict else None
        if segment.__class__ is dict:
            place = segment.get("partIndex", 0)
            if place.__class__ is int:
                by_part.setdefault(place, []).extend(_citations(segment, support, chunks))
    return [
        replace(part, citations=by_part[place]) if isinstance(part, Text) and place in by_part else part
        for place, part in enumerate(found)
    ]


def _citations(segment: dict[str, Any], support: dict[str, Any], chunks: Any) -> list[Citation]:
    places = support.get("groundingChunkIndices")
    known = chunks if chunks.__class__ is list else []
    start, end, text = segment.get("startIndex", 0), segment.get("endIndex"), segment.get("text")
    return [
        Citation(
            title=_text_in(known[place], "title"),
            url=_text_in(known[place], "uri"),
            text=text if text.__class__ is str else None,
            start=start if start.__class__ is int else None,
            end=end if end.__class__ is int else None,
        )
        for place in (places if places.__class__ is list else ())
        if place.__class__ is int and 0 <= place < len(known)
    ]


def _text_in(chunk: Any, name: str) -> str | None:
    """A field of the one object that a chunk holds: `web`, `retrievedContext` or `maps`."""
    for source in chunk.values() if chunk.__class__ is dict else ():
        if source.__class__ is dict and source.get(name).__class__ is str:
            return str(source[name])
    return None


def usage(raw: Any, key: str | None) -> Usage | None:
    """Token counts: the prompt includes what the cache gave, thoughts are counted beside the answer."""
    if raw.__class__ is not dict:
        return None
    prompt, answer = _count(raw, "promptTokenCount"), _count(raw, "candidatesTokenCount")
    cached, thoughts = _count(raw, "cachedContentTokenCount"), _count(raw, "thoughtsTokenCount")
    by_tools = _count(raw, "toolUsePromptTokenCount") or 0
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt + by_tools - (cached or 0), 0),
        output=answer if thoughts is None else (answer or 0) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
        total=_count(raw, "totalTokenCount"),
        extra=raw,
    )


def _count(raw: dict[str, Any], name: str) -> int | None:
    return counted(raw.get(name))
