"""Events of an answer that Bedrock's Converse API streams, added up to the response.

Clients decode the binary frames that it comes in; what they log are the events. Known from the documentation
of the API, November 2026.
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
# What a piece of a thought may be.
_THOUGHT = dict.fromkeys(("text", "signature", "redactedContent")).keys()


class ConverseStream:
    """Adds up events; blocks by their index."""

    def __init__(self, note: Notes, where: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = where
        self._body: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Take in the next event."""
        if not is_event(event):
            self._keep(event)
            return
        ((name, told),) = event.items()
        if name == "messageStart":
            self._message |= told
        elif name in _BLOCK_EVENTS:
            index = told.get("contentBlockIndex", 0)
            block = self._blocks.setdefault(index if index.__class__ is int else 0, _Block())
            if not all(block.add(told[key]) for key in ("start", "delta") if told.get(key).__class__ is dict):
                self._keep(event)
        else:
            self._body |= told

    def _keep(self, event: dict[str, Any]) -> None:
        if any(name.endswith("Exception") for name in event):  # as `throttlingException`
            self.error = event if self.error is None else self.error
            return
        if not self._unknown:
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {', '.join(event)[:60]!r} in a stream")
        self._unknown.append(event)

    def body(self) -> dict[str, Any]:
        """The response so far; nothing if no event came."""
        body = dict(self._body)
        if self._message or self._blocks:
            content = [self._blocks[index].whole() for index in sorted(self._blocks)]
            body["output"] = {"message": {**self._message, "content": content}}
        if self._unknown:
            body["events"] = self._unknown
        return body


def is_event(value: dict[str, Any]) -> bool:
    """Whether a value is an event of this API: an object under the one name that tells what it is."""
    if len(value) != 1:
        return False
    ((name, told),) = value.items()
    return name in _EVENTS and told.__class__ is dict and not (name == "metadata" and "usage" not in told)


class _Block:
    """One block, as its pieces arrive."""

    def __init__(self) -> None:
        self._call: dict[str, Any] | None = None
        self._pieces: dict[str, list[str]] = {}

    def add(self, piece: dict[str, Any]) -> bool:
        """Take in a piece; False if it is of no known kind, or says more than that."""
        if len(piece) != 1:
            return False
        ((name, value),) = piece.items()
        if name == "text" and value.__class__ is str:
            self._pieces.setdefault(name, []).append(value)
        elif name == "toolUse" and value.__class__ is dict:
            self._call = (self._call or {}) | {key: told for key, told in value.items() if key != "input"}
            self._take(value, ("input",))
        elif name == "reasoningContent" and value.__class__ is dict and value.keys() <= _THOUGHT:
            self._take(value, _THOUGHT, "reasoning.")
        else:
            return False
        return True

    def _take(self, value: dict[str, Any], names: Iterable[str], before: str = "") -> None:
        for name in names:
            if value.get(name).__class__ is str:
                self._pieces.setdefault(before + name, []).append(value[name])

    def whole(self) -> dict[str, Any]:
        """The block as it is in a response that is not streamed."""
        told = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        if self._call is not None:
            return {"toolUse": {**self._call, "input": _value(told.get("input", ""))}}
        if "text" in told:
            return {"text": told["text"]}
        thought = {name.removeprefix("reasoning."): value for name, value in told.items()}
        sealed = thought.pop("redactedContent", None)
        found = {} if sealed is None else {"redactedContent": sealed}
        return {"reasoningContent": {**found, **({"reasoningText": thought} if thought else {})}}


def _value(text: str) -> Any:
    """The arguments of a call, which arrive as pieces of JSON."""
    try:
        return msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
