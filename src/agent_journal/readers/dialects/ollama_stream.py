"""Assembles the chunks of an answer streamed by Ollama's own API, one JSON line each.

Known from its documentation and from recorded streams up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes


class ChatStream:
    """Assembles chunks into an answer: each has the next text, and the last one the token counts."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._body: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._pieces: dict[str, list[str]] = {"content": [], "thinking": []}
        self._unknown: list[dict[str, Any]] = []

    def add(self, chunk: dict[str, Any]) -> None:
        """Add the next chunk."""
        if is_chunk(chunk):
            self._body |= {key: value for key, value in chunk.items() if key != "message"}
            for key, value in chunk["message"].items():
                self._add_field(key, value)
        elif chunk.get("error") is not None:
            self.error = chunk["error"] if self.error is None else self.error
        else:
            if not self._unknown:
                keys = ", ".join(sorted(chunk))[:60]
                self._note(Kind.UNKNOWN_TYPE, self._where, f"a chunk with {keys} in a stream")
            self._unknown.append(chunk)

    def _add_field(self, key: str, value: Any) -> None:
        known = self._message.get(key)
        if key in self._pieces and value.__class__ is str:
            self._pieces[key].append(value)
        elif value.__class__ is list and known.__class__ is list:
            known.extend(value)
        elif value is not None:
            self._message[key] = [*value] if value.__class__ is list else value

    def body(self) -> dict[str, Any]:
        """Return the answer so far; empty if no chunk came."""
        body = dict(self._body)
        if body:
            texts = {key: "".join(pieces) for key, pieces in self._pieces.items() if pieces}
            body["message"] = {**self._message, **texts}
        if self._unknown:
            body["events"] = self._unknown
        return body


def is_chunk(value: dict[str, Any]) -> bool:
    """Return whether an object is a chunk of a chat or a complete answer."""
    return value.get("message").__class__ is dict and value.get("done").__class__ is bool
