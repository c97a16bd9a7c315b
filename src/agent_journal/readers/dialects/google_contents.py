"""Gemini API requests and responses, apart from their parts: contents, tools, citations, usage.

The service writes names in camel case; its clients write camel case or snake case.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import Citation, Other, Part, Text, Tool, ToolKind, Usage, roles
from agent_journal.notes import Kind
from agent_journal.readers.dialects import google_parts
from agent_journal.readers.dialects.openai_messages import ParsedMessage

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# The fields of parts other than text.
_DATA_FIELDS = (
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


def parse_content(raw: Any, note: Notes, location: int | str) -> ParsedMessage:
    """Convert a content, which is not modified. A content without a role is the user's."""
    if raw.__class__ is not dict:
        if raw.__class__ is not str:
            note(Kind.WRONG_TYPE, location, f"a content is {type(raw).__name__}")
        return ParsedMessage("user", [Text(text=raw) if raw.__class__ is str else Other(data=raw)], raw, {})
    fields = Fields(dict(raw), note, location)
    name = fields.take("role")
    role = roles.role(name)
    if role is None and name is not None:
        note(Kind.UNKNOWN_ROLE, location, f"role {str(name)[:40]!r}")
    if name not in _OWN_ROLES:
        fields.keep("role", name)
    content = fields.take("parts")
    raw_parts = [to_camel_case(part) for part in content] if content.__class__ is list else content
    return ParsedMessage(
        role or "user", google_parts.parse_parts(raw_parts, note, location, _no_kind), content, fields.rest()
    )


def _no_kind(_: str) -> ToolKind | None:
    """Return no kind: the tools are the API client's own."""
    return None


def to_camel_case(part: Any) -> Any:
    """Return a part with the service's camel-case field names."""
    if part.__class__ is not dict or (len(part) == 1 and "text" in part):
        return part
    return {
        _CAMEL_CASE.get(name, name): _data_to_camel_case(value)
        if value.__class__ is dict and _CAMEL_CASE.get(name, name) in _DATA_FIELDS
        else value
        for name, value in part.items()
    }


def _data_to_camel_case(value: dict[str, Any]) -> dict[str, Any]:
    renamed = {_CAMEL_CASE.get(name, name): inner for name, inner in value.items()}
    if renamed.get("parts").__class__ is list:  # what a function returns with its answer, such as images
        renamed["parts"] = [to_camel_case(part) for part in renamed["parts"]]
    return renamed


def find_data(part: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and value of the data in a camel-case part; None if it has none."""
    for name in _DATA_FIELDS:
        if part.get(name).__class__ is dict:
            return name, part[name]
    return None


def flatten_tools(tools: list[Any]) -> list[Any]:
    """Return the functions of a list of tools, and each of the service's own tools as a separate object."""
    tools_found: list[Any] = []
    for tool_ in tools:
        if tool_.__class__ is not dict:
            tools_found.append(tool_)
            continue
        for key, value in tool_.items():
            if key in _DECLARATIONS and value.__class__ is list:
                tools_found.extend(value)
            else:
                tools_found.append({key: value})
    return tools_found


def parse_tool(raw: Any, note: Notes, location: int | str) -> Tool:
    """Convert a function, or a tool of the service known only by its name; it is not modified."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a tool is {type(raw).__name__}")
        return Tool(name="", extra={"value": raw})
    if len(raw) == 1 and "name" not in raw:
        ((name, value),) = raw.items()
        return Tool(name=name, parameters=value or None)
    fields = Fields(dict(raw), note, location)
    name, description = fields.text("name"), fields.text("description")
    schema = next((key for key in _SCHEMAS if fields.has(key)), _SCHEMAS[0])
    return Tool(name=name or "", description=description, parameters=fields.take(schema), extra=fields.rest())


def with_citations(parts: list[Part], grounding: Any) -> list[Part]:
    """Add the citations to the texts; `groundingMetadata` has byte offsets in the answer."""
    supports = grounding.get("groundingSupports") if grounding.__class__ is dict else None
    if supports.__class__ is not list:
        return parts
    chunks = grounding.get("groundingChunks")
    by_part: dict[int, list[Citation]] = {}
    for support in supports:
        segment = support.get("segment") if support.__class__ is dict else None
        if segment.__class__ is dict:
            index = segment.get("partIndex", 0)
            if index.__class__ is int:
                by_part.setdefault(index, []).extend(_citations(segment, support, chunks))
    return [
        replace(part, citations=by_part[index]) if isinstance(part, Text) and index in by_part else part
        for index, part in enumerate(parts)
    ]


def _citations(segment: dict[str, Any], support: dict[str, Any], chunks: Any) -> list[Citation]:
    indices = support.get("groundingChunkIndices")
    chunk_list = chunks if chunks.__class__ is list else []
    start, end, text = segment.get("startIndex", 0), segment.get("endIndex"), segment.get("text")
    return [
        Citation(
            title=_chunk_text(chunk_list[index], "title"),
            url=_chunk_text(chunk_list[index], "uri"),
            text=text if text.__class__ is str else None,
            start=start if start.__class__ is int else None,
            end=end if end.__class__ is int else None,
        )
        for index in (indices if indices.__class__ is list else ())
        if index.__class__ is int and 0 <= index < len(chunk_list)
    ]


def _chunk_text(chunk: Any, name: str) -> str | None:
    """Return a text field of the only object in a chunk: `web`, `retrievedContext` or `maps`."""
    for source in chunk.values() if chunk.__class__ is dict else ():
        if source.__class__ is dict and source.get(name).__class__ is str:
            return str(source[name])
    return None


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts: the prompt count includes cached tokens, the answer's count excludes reasoning."""
    if raw.__class__ is not dict:
        return None
    prompt, answer = _count(raw, "promptTokenCount"), _count(raw, "candidatesTokenCount")
    cached, thoughts = _count(raw, "cachedContentTokenCount"), _count(raw, "thoughtsTokenCount")
    tool_prompt = _count(raw, "toolUsePromptTokenCount") or 0
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt + tool_prompt - (cached or 0), 0),
        output=answer if thoughts is None else (answer or 0) + thoughts,
        cache_read=cached,
        reasoning=thoughts,
        total=_count(raw, "totalTokenCount"),
        extra=raw,
    )


def _count(raw: dict[str, Any], name: str) -> int | None:
    return counted(raw.get(name))
