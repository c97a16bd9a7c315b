"""Texts that were attached as files: they stand in the model as base64, in which no rule finds anything."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal import tree
from agent_journal.model import Media, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEDIA = frozenset({"image", "audio", "video"})


def attached(piece: Any) -> Iterator[str]:
    """The texts of all files that are attached to a message."""
    if not isinstance(piece, Message):
        return
    for part in piece.parts:
        inside = part.output if isinstance(part, ToolResult) and isinstance(part.output, list) else (part,)
        for each in inside:
            if isinstance(each, Media) and (text := text_of(each)) is not None:
                yield text


def text_of(media: Media) -> str | None:
    """The text of a file; None if it is something else."""
    text = None if media.kind in _MEDIA else tree.inline_text(media)
    return None if text is None or "\0" in text else text


def data_of(text: str) -> str:
    """The text as a file has it in the model."""
    return base64.b64encode(text.encode()).decode()
