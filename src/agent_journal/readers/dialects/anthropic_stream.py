"""Events of a streamed answer of the Messages API, added up to the message.

Known from recorded streams up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# The events that no other API has.
EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"}
)
# Deltas that lengthen a text: the field they have, and the field of the block it belongs to.
_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}
_BEGUN_BY = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}


class MessageStream:
    """Adds up events; content blocks by their index."""

    def __init__(self, note: Notes, where: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = where
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: list[_Block] = []
        self._open: dict[Any, _Block] = {}
        self._earlier: list[dict[str, Any]] = []
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Take in the next event."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._start(message)
            case {"type": "content_block_start", "content_block": dict(block)}:
                self._begin(event.get("index"), block)
            case {"type": "content_block_delta", "delta": dict(delta)}:
                self._add_delta(event, delta)
            case {"type": "message_delta"}:
                self._end(event)
            case {"type": "content_block_stop" | "message_stop" | "ping"}:
                return
            case {"error": error} if error is not None:
                self.error = error if self.error is None else self.error
            case _:
                self._keep(event)

    def _start(self, message: dict[str, Any]) -> None:
        if self._message or self._blocks:
            if self._message.get("id") == message.get("id") and not self._blocks:
                self._note(Kind.REPEATED_RECORD, self._where, "message_start twice")
            else:
                # Seen in 2026: a broken stream is taken up again by a whole new one.
                self._note(Kind.UNKNOWN_TYPE, self._where, "a second message; the first is kept apart")
                self._set_apart()
        content, usage = message.get("content"), message.get("usage")
        self._message |= {key: value for key, value in message.items() if key not in {"content", "usage"}}
        self._usage |= _stated(usage)
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                self._begin(place, block)

    def _set_apart(self) -> None:
        self._earlier.append(self._whole())
        self._message, self._usage, self._blocks, self._open = {}, {}, [], {}

    def _begin(self, index: Any, block: dict[str, Any]) -> _Block:
        begun = _Block(index if isinstance(index, int) else len(self._blocks), dict(block))
        self._blocks.append(begun)
        self._open[begun.index] = begun
        return begun

    def _add_delta(self, event: dict[str, Any], delta: dict[str, Any]) -> None:
        index = event.get("index", 0)
        kind = delta.get("type")
        block = self._open.get(index) if isinstance(index, int) else None
        if block is None:
            if not isinstance(kind, str) or kind not in _BEGUN_BY:
                self._keep(event)
                return
            self._note(Kind.UNKNOWN_TYPE, self._where, f"{kind} for a block that was not begun")
            block = self._begin(index, {"type": _BEGUN_BY[kind]})
        if not block.add(kind, delta):
            self._keep(event)

    def _end(self, event: dict[str, Any]) -> None:
        delta = event.get("delta")
        self._usage |= _stated(event.get("usage"))
        self._message |= {key: value for key, value in event.items() if key not in {"type", "delta", "usage"}}
        if isinstance(delta, dict):
            self._message |= {key: value for key, value in delta.items() if value is not None}

    def _keep(self, event: dict[str, Any]) -> None:
        if not self._unknown:
            kind = event.get("type")
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {str(kind)[:60]!r} in a stream")
        self._unknown.append(event)

    def _whole(self) -> dict[str, Any]:
        message = dict(self._message)
        if self._blocks:
            ordered = sorted(self._blocks, key=lambda block: block.index)
            message["content"] = [block.whole(self._note, self._where) for block in ordered]
        elif message:
            message["content"] = []
        if self._usage:
            message["usage"] = self._usage
        return message

    def body(self) -> dict[str, Any]:
        """The message so far; nothing if none was begun."""
        message = self._whole()
        if self._earlier:
            message["earlier"] = self._earlier
        if self._unknown:
            message["events"] = self._unknown
        return message


class _Block:
    """A content block as its deltas arrive."""

    def __init__(self, index: int, raw: dict[str, Any]) -> None:
        self.index = index
        self._raw = raw
        self._pieces: dict[str, list[str]] = {}
        self._input: list[str] = []

    def add(self, kind: Any, delta: dict[str, Any]) -> bool:
        """Take in a delta; False if it is of no known kind."""
        match kind, delta:
            case "text_delta" | "thinking_delta", _ if isinstance(delta.get(_TEXTS[kind]), str):
                self._lengthen(_TEXTS[kind], delta[_TEXTS[kind]])
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

    def _lengthen(self, name: str, piece: str) -> None:
        self._pieces.setdefault(name, []).append(piece)

    def _compact(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if key == "content" and isinstance(value, str):
                self._lengthen(key, value)
            elif key != "type" and value is not None:
                self._raw[key] = value

    def whole(self, note: Notes, where: int | str) -> dict[str, Any]:
        """The block as the API gives it without streaming; input that was cut stays the text it is."""
        block = dict(self._raw)
        for name, pieces in self._pieces.items():
            begun = block.get(name)
            block[name] = (begun if isinstance(begun, str) else "") + "".join(pieces)
        text = "".join(self._input)
        if text:
            place = f"{where} content[{self.index}].input"
            told = json_stream.decode(text.encode(), note, place, Kind.WRONG_TYPE)
            block["input"] = text if told is json_stream.BAD else told
        elif self._input:
            block.setdefault("input", {})
        return block


def _stated(usage: Any) -> dict[str, Any]:
    """Counts that are given; a later event repeats some as null."""
    return (
        {key: value for key, value in usage.items() if value is not None} if isinstance(usage, dict) else {}
    )
