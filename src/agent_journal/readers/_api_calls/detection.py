"""Which dialect a record speaks: the rules of the cooked trace format, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers._api_calls.dialects import CLAUDE, OPENAI
from agent_journal.readers._sse import speaks_anthropic

if TYPE_CHECKING:
    from agent_journal.readers._api_calls.dialects import Dialect

_CLAUDE_BLOCKS = frozenset({"tool_use", "tool_result", "thinking"})


def dialect_of(record: dict[str, Any]) -> Dialect:
    """Claude's if its stream, system prompt, first tool or any content block is Claude's; else OpenAI's."""
    request, response = record["request"], record.get("response")
    is_claude = (
        (isinstance(response, dict) and speaks_anthropic(response.get("sse_lines")))
        or isinstance(request.get("system"), list)
        or _first_tool_has_input_schema(request.get("tools"))
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
    contents = (message.get("content") for message in messages if message.__class__ is dict)
    return any(
        block.__class__ is dict and isinstance(kind := block.get("type"), str) and kind in _CLAUDE_BLOCKS
        for content in contents
        if content.__class__ is list
        for block in content
    )
