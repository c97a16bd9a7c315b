"""Assembles the events of a streamed Messages API answer into the message.

Known from recorded streams up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# Events that only this API sends.
EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"}
)
# Deltas that append to a text, with the name of the text's field in the delta and in its block.
_TEXT_FIELDS = {"text_delta": "text", "thinking_delta": "thinking"}
_BLOCK_TYPES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class MessageStream:
    """Assembles events into a message, with content blocks by their index."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: list[_Block] = []
        self._open: dict[Any, _Block] = {}
        self._earlier: list[dict[str, Any]] = []
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Add the next event."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._start(message)
            case {"type": "content_block_start", "content_block": dict(block)}:
                self._begin_block(event.get("index"), block)
            case {"type": "content_block_delta", "delta": dict(delta)}:
                self._add_delta(event, delta)
            case {"type": "message_delta"}:
                self._end(event)
            case {"type": "content_block_stop" | "message_stop" | "ping"}:
                return
            case {"error": error} if error is not None:
                self.error = error if self.error is None else self.error
            case _:
                self._add_unknown(event)

    def _start(self, message: dict[str, Any]) -> None:
        if self._message or self._blocks:
            if self._message.get("id") == message.get("id") and not self._blocks:
                self._note(Kind.REPEATED_RECORD, self._where, "message_start twice")
            else:
                # Seen in 2026: a broken stream is followed by a complete new one.
                self._note(Kind.UNKNOWN_TYPE, self._where, "a second message; the first is stored separately")
                self._store_earlier_message()
        content, usage = message.get("content"), message.get("usage")
        self._message |= {key: value for key, value in message.items() if key not in {"content", "usage"}}
        self._usage |= _without_nulls(usage)
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                self._begin_block(index, block)

    def _store_earlier_message(self) -> None:
        self._earlier.append(self._assembled())
        self._message, self._usage, self._blocks, self._open = {}, {}, [], {}

    def _begin_block(self, index: Any, block: dict[str, Any]) -> _Block:
        new_block = _Block(index if isinstance(index, int) else len(self._blocks), dict(block))
        self._blocks.append(new_block)
        self._open[new_block.index] = new_block
        return new_block

    def _add_delta(self, event: dict[str, Any], delta: dict[str, Any]) -> None:
        index = event.get("index", 0)
        kind = delta.get("type")
        block = self._open.get(index) if isinstance(index, int) else None
        if block is None:
            if not isinstance(kind, str) or kind not in _BLOCK_TYPES:
                self._add_unknown(event)
                return
            self._note(Kind.UNKNOWN_TYPE, self._where, f"{kind} for a block that was not started")
            block = self._begin_block(index, {"type": _BLOCK_TYPES[kind]})
        if not block.add(kind, delta):
            self._add_unknown(event)

    def _end(self, event: dict[str, Any]) -> None:
        delta = event.get("delta")
        self._usage |= _without_nulls(event.get("usage"))
        self._message |= {key: value for key, value in event.items() if key not in {"type", "delta", "usage"}}
        if isinstance(delta, dict):
            self._message |= {key: value for key, value in delta.items() if value is not None}

    def _add_unknown(self, event: dict[str, Any]) -> None:
        if not self._unknown:
            kind = event.get("type")
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {str(kind)[:60]!r} in a stream")
        self._unknown.append(event)

    def _assembled(self) -> dict[str, Any]:
        message = dict(self._message)
        if self._blocks:
            ordered = sorted(self._blocks, key=lambda block: block.index)
            message["content"] = [block.assembled(self._note, self._where) for block in ordered]
        elif message:
            message["content"] = []
        if self._usage:
            message["usage"] = self._usage
        return message

    def body(self) -> dict[str, Any]:
        """Return the message so far; empty if none was started."""
        message = self._assembled()
        if self._earlier:
            message["earlier"] = self._earlier
        if self._unknown:
            message["events"] = self._unknown
        return message


class _Block:
    """A content block assembled from its deltas."""

    def __init__(self, index: int, raw: dict[str, Any]) -> None:
        self.index = index
        self._raw = raw
        self._pieces: dict[str, list[str]] = {}
        self._input: list[str] = []

    def add(self, kind: Any, delta: dict[str, Any]) -> bool:
        """Add a delta; return False if its kind is unknown."""
        match kind, delta:
            case "text_delta" | "thinking_delta", _ if isinstance(delta.get(_TEXT_FIELDS[kind]), str):
                self._append_text(_TEXT_FIELDS[kind], delta[_TEXT_FIELDS[kind]])
            case "input_json_delta", {"partial_json": str(piece)}:
                self._input.append(piece)
            case "signature_delta", {"signature": str(signature)}:
                self._raw["signature"] = signature
            case "citations_delta", {"citation": citation}:
                self._raw["citations"] = [*(self._raw.get("citations") or []), citation]
            case "compaction_delta", _:
                self._compact(delta)
            case _:
                return False
        return True

    def _append_text(self, name: str, piece: str) -> None:
        self._pieces.setdefault(name, []).append(piece)

    def _compact(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if key == "content" and isinstance(value, str):
                self._append_text(key, value)
            elif key != "type" and value is not None:
                self._raw[key] = value

    def assembled(self, note: Notes, location: int | str) -> dict[str, Any]:
        """Return the block as the API returns it without streaming; truncated input stays a string."""
        block = dict(self._raw)
        for name, pieces in self._pieces.items():
            initial = block.get(name)
            block[name] = (initial if isinstance(initial, str) else "") + "".join(pieces)
        text = "".join(self._input)
        if text:
            input_location = f"{location} content[{self.index}].input"
            decoded = json_stream.decode(text.encode(), note, input_location, Kind.WRONG_TYPE)
            block["input"] = text if decoded is json_stream.BAD else decoded
        elif self._input:
            block.setdefault("input", {})
        return block


def _without_nulls(usage: Any) -> dict[str, Any]:
    """Return the counts that are not null; later events repeat some counts as null."""
    return (
        {key: value for key, value in usage.items() if value is not None} if isinstance(usage, dict) else {}
    )
