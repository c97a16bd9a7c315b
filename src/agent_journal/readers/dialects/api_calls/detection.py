"""Which dialect a record speaks: the rules of the cooked trace format, in their order."""

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
from agent_journal.readers.dialects.sse import dialect_of_event, dialect_of_stream, speaks_anthropic

if TYPE_CHECKING:
    from agent_journal.readers.dialects.api_calls.dialects import Dialect

# What requests of the newer APIs have and no other.
_GEMINI = frozenset({"contents", "systemInstruction", "system_instruction", "generationConfig"})
_RESPONSES = frozenset({"input", "previous_response_id", "instructions"})
_CONVERSE = frozenset({"inferenceConfig", "toolConfig", "modelId"})
# How the types of blocks end that only Claude's messages have; the service's own tools are `server_tool_use`.
_CLAUDE_ENDS = ("tool_use", "tool_result", "thinking")


def dialect_of(record: dict[str, Any]) -> Dialect:
    """The newer APIs' if the request has no messages but what they have instead; else by `_of_chat`."""
    request = record.get("request") or {}
    if "messages" not in request:
        if not _GEMINI.isdisjoint(request):
            return GEMINI
        if not _RESPONSES.isdisjoint(request):
            return RESPONSES
        told = _told_by_answer(record.get("response"))
        if told is not None:
            return told
    if _asks_converse(request) or _is_converse(record.get("response")):
        return CONVERSE
    return _of_chat(request, record.get("response"))


def _told_by_answer(response: Any) -> Dialect | None:
    """The dialect of an answer to a request that tells nothing, if it is one of the newer APIs."""
    if response.__class__ is list and not _is_converse(response):
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


def _asks_converse(request: dict[str, Any]) -> bool:
    """Whether a request is one to Bedrock's Converse API, whose blocks have no type."""
    if _CONVERSE.isdisjoint(request) or request.get("messages").__class__ is not list:
        return False
    contents = [each.get("content") for each in request["messages"] if each.__class__ is dict]
    blocks = [block for content in contents if content.__class__ is list for block in content]
    return bool(blocks) and all(block.__class__ is dict and "type" not in block for block in blocks)


def _is_converse(response: Any) -> bool:
    """Whether an answer is one of Bedrock's Converse API, whole or streamed."""
    if response.__class__ is list:
        first = response[0] if response else None
        return first.__class__ is dict and dialect_of_event(first) == CONVERSE.name
    output = response.get("output") if response.__class__ is dict else None
    return output.__class__ is dict and output.get("message").__class__ is dict


def _of_chat(request: dict[str, Any], response: Any) -> Dialect:
    """Claude's if its stream, system prompt, first tool or any content block is Claude's; else OpenAI's."""
    is_claude = (
        (response.__class__ is dict and "sse_lines" in response and speaks_anthropic(response["sse_lines"]))
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
    return kind.endswith(_CLAUDE_ENDS)
