"""A message's content as the source had it: kept verbatim, or made again of parts that tell it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from agent_journal.model import Message, Part


def content_of(message: Message) -> Any:
    """The content of a message; None if it has none."""
    return message.native if message.native is not None else of_parts(message.parts)


def of_parts(parts: list[Part]) -> Any:
    """Content that the parts tell: one text as it is, else blocks."""
    match parts:
        case []:
            return None
        case [Text(text=text)]:
            return text
    return [_block(part) for part in parts]


def _block(part: Part) -> Any:
    """A part in the form that the draft's own examples have, where there is one."""
    match part:
        case Text():
            block: dict[str, Any] = {"type": "text", "text": part.text}
        case ToolCall():
            block = {"type": "tool_use", "id": part.call_id, "name": part.name, "input": part.input}
        case ToolResult(output=str()):
            block = {"type": "tool_result", "tool_use_id": part.call_id, "content": part.output}
            if part.is_error is not None:
                block["is_error"] = part.is_error
        case Reasoning(text=str()):
            block = {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case _:
            return part
    return {name: value for name, value in block.items() if value is not None} | part.extra
