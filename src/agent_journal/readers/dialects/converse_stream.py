"""Assembles the events of an answer streamed by Bedrock's Converse API into the response.

Clients decode the API's binary frames and log the events. Known from the documentation of the API,
November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.notes import Notes

_BLOCK_EVENTS = ("contentBlockStart", "contentBlockDelta", "contentBlockStop")
_EVENTS = ("messageStart", *_BLOCK_EVENTS, "messageStop", "metadata")
# The possible fields of a piece of reasoning.
_REASONING_FIELDS = dict.fromkeys(("text", "signature", "redactedContent")).keys()


class ConverseStream:
    """Assembles events into a response, with blocks by their index."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._body: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Add the next event."""
        if not is_event(event):
            self._add_unknown(event)
            return
        ((name, value),) = event.items()
        if name == "messageStart":
            self._message |= value
        elif name in _BLOCK_EVENTS:
            index = value.get("contentBlockIndex", 0)
            block = self._blocks.setdefault(index if index.__class__ is int else 0, _Block())
            if not all(
                block.add(value[key]) for key in ("start", "delta") if value.get(key).__class__ is dict
            ):
                self._add_unknown(event)
        else:
            self._body |= value

    def _add_unknown(self, event: dict[str, Any]) -> None:
        if any(name.endswith("Exception") for name in event):  # as `throttlingException`
            self.error = event if self.error is None else self.error
            return
        if not self._unknown:
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {', '.join(event)[:60]!r} in a stream")
        self._unknown.append(event)

    def body(self) -> dict[str, Any]:
        """Return the response so far; empty if no event came."""
        body = dict(self._body)
        if self._message or self._blocks:
            content = [self._blocks[index].assembled() for index in sorted(self._blocks)]
            body["output"] = {"message": {**self._message, "content": content}}
        if self._unknown:
            body["events"] = self._unknown
        return body


def is_event(event: dict[str, Any]) -> bool:
    """Return whether an object is an event of this API, with its type as its only field name."""
    if len(event) != 1:
        return False
    ((name, value),) = event.items()
    return name in _EVENTS and value.__class__ is dict and not (name == "metadata" and "usage" not in value)


class _Block:
    """A block assembled from its pieces."""

    def __init__(self) -> None:
        self._call: dict[str, Any] | None = None
        self._pieces: dict[str, list[str]] = {}

    def add(self, piece: dict[str, Any]) -> bool:
        """Add a piece; return False if its kind is unknown or it has further fields."""
        if len(piece) != 1:
            return False
        ((name, value),) = piece.items()
        if name == "text" and value.__class__ is str:
            self._pieces.setdefault(name, []).append(value)
        elif name == "toolUse" and value.__class__ is dict:
            self._call = (self._call or {}) | {key: inner for key, inner in value.items() if key != "input"}
            self._append_texts(value, ("input",))
        elif name == "reasoningContent" and value.__class__ is dict and value.keys() <= _REASONING_FIELDS:
            self._append_texts(value, _REASONING_FIELDS, "reasoning.")
        else:
            return False
        return True

    def _append_texts(self, value: dict[str, Any], names: Iterable[str], prefix: str = "") -> None:
        for name in names:
            if value.get(name).__class__ is str:
                self._pieces.setdefault(prefix + name, []).append(value[name])

    def assembled(self) -> dict[str, Any]:
        """Return the block as the API returns it without streaming."""
        texts = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        if self._call is not None:
            return {"toolUse": {**self._call, "input": _parse_arguments(texts.get("input", ""))}}
        if "text" in texts:
            return {"text": texts["text"]}
        reasoning = {name.removeprefix("reasoning."): value for name, value in texts.items()}
        encrypted = reasoning.pop("redactedContent", None)
        content = {} if encrypted is None else {"redactedContent": encrypted}
        return {"reasoningContent": {**content, **({"reasoningText": reasoning} if reasoning else {})}}


def _parse_arguments(text: str) -> Any:
    """Parse the arguments of a call; incomplete JSON stays a string."""
    try:
        return msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
