"""Answers that are still being sent: their chunks, which the whole answer replaces."""

from __future__ import annotations

from typing import Any

from agent_journal.decoding.fields import nonempty_str


class PendingAnswer:
    """The chunks of one answer."""

    def __init__(self) -> None:
        self.usage: Any = None
        self._blocks: dict[Any, dict[str, Any]] = {}

    def add_chunk(self, chunk: dict[str, Any]) -> None:
        """Add a chunk of the stream."""
        kind, index = chunk.get("type"), chunk.get("index")
        if kind == "block-end" and chunk.get("block").__class__ is dict:
            self._blocks[index] = chunk["block"]
        elif kind == "usage":
            self.usage = chunk.get("usage")
        elif kind in ("text-delta", "reasoning-delta"):
            text = chunk.get("text", chunk.get("delta"))
            self._append(index, str(kind).removesuffix("-delta"), text)

    def add_packed(self, kind: str, data: dict[str, Any]) -> None:
        """Add a row with several chunks of one block."""
        index = data.get("index")
        if kind == "tool-call-chunks":
            block = self._blocks.setdefault(index, {"type": "tool-call", "arguments": ""})
            block |= {name: data[name] for name in ("id", "name") if nonempty_str(data.get(name))}
            pieces = data.get("args")
            if block.get("arguments").__class__ is str and pieces.__class__ is list:
                block["arguments"] += "".join(piece for piece in pieces if piece.__class__ is str)
            return
        texts = data.get("texts")
        for text in texts if texts.__class__ is list else []:
            self._append(index, kind.removesuffix("-chunks"), text)

    def _append(self, index: Any, kind: str, text: Any) -> None:
        block = self._blocks.setdefault(index, {"type": kind, "text": ""})
        if block.get("text").__class__ is str and text.__class__ is str:
            block["text"] += text

    def content(self) -> list[dict[str, Any]]:
        """Return the blocks that arrived."""
        return [*self._blocks.values()]
