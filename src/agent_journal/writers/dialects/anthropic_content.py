"""Content in the form of Anthropic's Messages API: texts, images, tool calls and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Media
from agent_journal.writers.dialects.agent_sessions import is_inline_image
from agent_journal.writers.dialects.training_dialogue import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.model import Part
    from agent_journal.writers.dialects.agent_sessions import Call


def content_of(parts: Sequence[Part]) -> Any:
    """Return the content of a prompt: a text, or blocks."""
    blocks = blocks_of(parts)
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return blocks[0]["text"]
    return blocks


def blocks_of(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return texts and images as blocks."""
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part):
            blocks.append(_image(part))
        elif text := text_of(part):
            blocks.append({"type": "text", "text": text})
    return blocks


def _image(media: Media) -> dict[str, Any]:
    source = {"type": "base64", "media_type": media.mime or "image/png", "data": media.data}
    return {"type": "image", "source": source}


def call_block(call: Call) -> dict[str, Any]:
    """Return a tool call as a block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def result_block(call: Call) -> dict[str, Any]:
    """Return the result of a tool call as a block."""
    content: Any = call.output
    if call.images:
        texts = [{"type": "text", "text": call.output}] if call.output else []
        content = [*texts, *map(_image, call.images)]
    block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return block | {"is_error": True} if call.is_failed else block
