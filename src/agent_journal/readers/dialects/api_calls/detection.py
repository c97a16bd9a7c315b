"""Detects the dialect of a record with the rules of the cooked trace format, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.api_calls.dialects import (
    CLAUDE,
    CONVERSE,
    DIALECTS,
    GEMINI,
    OPENAI,
    RESPONSES,
)
from agent_journal.readers.dialects.sse import dialect_of_event, dialect_of_stream, is_anthropic_stream

if TYPE_CHECKING:
    from agent_journal.readers.dialects.api_calls.dialects import Dialect

# Fields that only requests of the newer APIs have.
_GEMINI_FIELDS = frozenset({"contents", "systemInstruction", "system_instruction", "generationConfig"})
_RESPONSES_FIELDS = frozenset({"input", "previous_response_id", "instructions"})
_CONVERSE_FIELDS = frozenset({"inferenceConfig", "toolConfig", "modelId"})
# Endings of block types that only Claude has, such as `server_tool_use` of the service's own tools.
_CLAUDE_TYPE_ENDINGS = ("tool_use", "tool_result", "thinking")


def detect_dialect(record: dict[str, Any]) -> Dialect:
    """Return the dialect of a request and its response: one of the newer APIs', else a chat dialect."""
    request = record.get("request") or {}
    if "messages" not in request:
        if not _GEMINI_FIELDS.isdisjoint(request):
            return GEMINI
        if not _RESPONSES_FIELDS.isdisjoint(request):
            return RESPONSES
        dialect = _detect_by_response(record.get("response"))
        if dialect is not None:
            return dialect
    if _is_converse_request(request) or _is_converse_response(record.get("response")):
        return CONVERSE
    return _detect_chat_dialect(request, record.get("response"))


def _detect_by_response(response: Any) -> Dialect | None:
    """Return the newer API that sent a response to an inconclusive request; else None."""
    if response.__class__ is list and not _is_converse_response(response):
        return GEMINI
    if response.__class__ is not dict:
        return None
    if response.get("sse_lines").__class__ is list:
        return DIALECTS.get(dialect_of_stream(response["sse_lines"]) or "")
    if response.get("object") in ("response", "response.compaction"):
        return RESPONSES
    if response.get("type") == "message":
        return CLAUDE
    return GEMINI if "candidates" in response or "modelVersion" in response else None


def _is_converse_request(request: dict[str, Any]) -> bool:
    """Return whether a request is for Bedrock's Converse API, whose blocks have no type."""
    if _CONVERSE_FIELDS.isdisjoint(request) or request.get("messages").__class__ is not list:
        return False
    contents = [message.get("content") for message in request["messages"] if message.__class__ is dict]
    blocks = [block for content in contents if content.__class__ is list for block in content]
    return bool(blocks) and all(block.__class__ is dict and "type" not in block for block in blocks)


def _is_converse_response(response: Any) -> bool:
    """Return whether a response is from Bedrock's Converse API, streamed or not."""
    if response.__class__ is list:
        first = response[0] if response else None
        return first.__class__ is dict and dialect_of_event(first) == CONVERSE.name
    output = response.get("output") if response.__class__ is dict else None
    return output.__class__ is dict and output.get("message").__class__ is dict


def _detect_chat_dialect(request: dict[str, Any], response: Any) -> Dialect:
    """Return Claude if the stream, system prompt, first tool or any block is Claude's; else OpenAI."""
    is_claude = (
        (
            response.__class__ is dict
            and "sse_lines" in response
            and is_anthropic_stream(response["sse_lines"])
        )
        or request.get("system").__class__ is list
        or ("tools" in request and _first_tool_has_input_schema(request["tools"]))
        or _has_claude_block(request.get("messages"))
    )
    return CLAUDE if is_claude else OPENAI


def _first_tool_has_input_schema(tools: Any) -> bool:
    return (
        isinstance(tools, list) and bool(tools) and isinstance(tools[0], dict) and "input_schema" in tools[0]
    )


def _has_claude_block(messages: Any) -> bool:
    if not isinstance(messages, list):
        return False
    contents = [message.get("content") for message in messages if message.__class__ is dict]
    if list not in map(type, contents):
        return False
    return any(any(map(_is_claude_block, content)) for content in contents if content.__class__ is list)


def _is_claude_block(block: Any) -> bool:
    kind = block.get("type") if block.__class__ is dict else None
    if kind.__class__ is not str:
        return False
    if kind == "thinking":
        return block.get(kind).__class__ is not list  # a list is Mistral's
    return kind.endswith(_CLAUDE_TYPE_ENDINGS)
