"""Replay the log of operations (since 1.109): the result is the final state of the session.

A line is the whole session (kind 0), or sets (1), extends (2) or deletes (3) the value at a path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_INITIAL, _SET, _PUSH, _DELETE = range(4)
_ABSENT = object()
_REQUESTS = ["requests"]


class Replay:
    """A session that operations are applied to."""

    def __init__(self, note: Notes) -> None:
        self.state: dict[str, Any] | None = None
        self.removed_requests: list[tuple[int, list[Any]]] = []
        """Requests that the user removed, with the index they had."""
        self._note = note
        self._missing_start = False

    def read(self, source: Input) -> None:
        """Apply every line of a file."""
        for number, entry in json_stream.lines(source, self._note):
            if entry.__class__ is dict:
                self._apply(entry, number)
            else:
                self._note(Kind.BAD_RECORD, number, f"the line is {type(entry).__name__}, not an operation")

    def _apply(self, entry: dict[str, Any], where: int) -> None:
        kind, value = entry.get("kind"), entry.get("v", _ABSENT)
        if kind.__class__ is not int or not _INITIAL <= kind <= _DELETE:
            self._note(Kind.BAD_RECORD, where, f"operation of kind {str(kind)[:40]!r}")
        elif kind == _INITIAL:
            self._begin(value, where)
        elif not self._apply_change(kind, entry.get("k"), value, entry.get("i"), where):
            self._note(Kind.BAD_RECORD, where, f"there is no value at the path {str(entry.get('k'))[:80]}")

    def _begin(self, state: Any, where: int) -> None:
        if state.__class__ is dict:
            self.state = state
        else:
            self._note(Kind.BAD_RECORD, where, f"the session is {type(state).__name__}, not an object")

    def _apply_change(self, kind: int, path: Any, value: Any, start: Any, where: int) -> bool:
        if path.__class__ is not list or not path:
            return False
        if self.state is None:
            # VS Code rejects such a file; we replay as much as possible without its first line.
            self._note(Kind.BAD_RECORD, where, "the log has no initial state")
            self.state = {}
        holder = self._holder(path)
        if holder is None:
            return False
        if kind == _PUSH:
            return self._extend(holder, path, [] if value is _ABSENT else value, start)
        return _set(holder, path[-1], _ABSENT if kind == _DELETE else value)

    def _holder(self, path: list[Any]) -> dict[str, Any] | list[Any] | None:
        """Return the container of the last step of a path."""
        current: Any = self.state
        for step in path[:-1]:
            current = _child(current, step)
            if current is None:
                return None
        return current if current.__class__ in (dict, list) else None

    def _extend(self, holder: dict[str, Any] | list[Any], path: list[Any], values: Any, start: Any) -> bool:
        """Append values to an array; with a start, they replace everything from there on."""
        array = _child(holder, path[-1])
        if array is None and holder.__class__ is dict:
            array = []
        if array.__class__ is not list or values.__class__ is not list:
            return False
        if start.__class__ is int and 0 <= start < len(array):
            if path == _REQUESTS:
                self.removed_requests.append((start, array[start:]))
            del array[start:]
        array.extend(values)
        return _set(holder, path[-1], array)


def _child(holder: Any, step: Any) -> Any:
    if holder.__class__ is dict and step.__class__ is str:
        return holder.get(step)
    if holder.__class__ is list and step.__class__ is int and 0 <= step < len(holder):
        return holder[step]
    return None


def _set(holder: dict[str, Any] | list[Any], step: Any, value: Any) -> bool:
    if isinstance(holder, dict) and step.__class__ is str:
        if value is _ABSENT:
            holder.pop(step, None)
        else:
            holder[step] = value
        return True
    if isinstance(holder, list) and step.__class__ is int and 0 <= step <= len(holder):
        holder[step : step + 1] = [None if value is _ABSENT else value]
        return True
    return False
