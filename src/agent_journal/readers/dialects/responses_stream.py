"""Events of a streamed answer of the Responses API, added up to the response.

The last event usually repeats the response whole; of a stream that was cut, the items that were done and the
pieces of the others are put together. Known from recorded streams up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

PREFIX = "response."
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_STATES = frozenset({"response.created", "response.in_progress", "response.queued"})
# Pieces: the list they belong to and the position that the event names, the type of its elements, the field.
_IN_LISTS = {
    "response.output_text": ("content", "content_index", "output_text", "text"),
    "response.refusal": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("summary", "summary_index", "summary_text", "text"),
}
_PARTS = {
    "response.content_part": ("content", "content_index"),
    "response.reasoning_summary_part": ("summary", "summary_index"),
}
# Pieces that lengthen a field of the item itself.
_IN_ITEMS = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.code_interpreter_call_code": "code",
}
# How far the service is; the item tells it too.
_PASSING = (
    *(".in_progress", ".searching", ".interpreting", ".generating", ".calling"),
    *(".completed", ".incomplete", ".failed"),
)
_DONE, _DELTA = ".done", ".delta"
# Pieces of calls of built-in tools, which the item repeats when it is done.
_OF_TOOLS = (_DONE, _DELTA, ".added", ".partial_image")
_FURTHEST = 10_000  # no response has as many items or parts


def is_whole(event: dict[str, Any]) -> bool:
    """Whether an event ends a stream and has all that was streamed."""
    kind, response = event.get("type"), event.get("response")
    is_end = kind.__class__ is str and kind in ENDS
    return is_end and isinstance(response, dict) and bool(response.get("output"))


class ResponseStream:
    """Adds up events; items by their place in the output."""

    def __init__(self, note: Notes, where: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = where
        self._response: dict[str, Any] = {}
        self._is_whole = False
        self._items: dict[int, _Item] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Take in the next event."""
        kind, response = event.get("type"), event.get("response")
        if kind == "error" or (kind.__class__ is not str and event.get("error") is not None):
            self._fail(event)
        elif kind.__class__ is not str:
            self._keep(event)
        elif (kind in ENDS or kind in _STATES) and response.__class__ is dict:
            self._response |= response
            self._is_whole = self._is_whole or kind in ENDS
        elif not self._add_to_item(kind, event):
            self._keep(event)

    def _fail(self, event: dict[str, Any]) -> None:
        """An error is an object, or (seen since 2025) its fields lie in the event itself."""
        told = event.get("error") or {
            key: value for key, value in event.items() if key not in ("type", "sequence_number")
        }
        self.error = told if self.error is None else self.error

    def _add_to_item(self, kind: str, event: dict[str, Any]) -> bool:
        """Take in an event about one item; False if it is of no known kind."""
        if kind.count(".") > 1 and kind.endswith(_PASSING):
            return True
        place = event.get("output_index", 0)
        if place.__class__ is not int or not 0 <= place < _FURTHEST:
            return False
        item = self._items.get(place)
        if item is None:
            item = _Item(place)
            if not item.add(kind, event):
                return False
            self._items[place] = item
            return True
        return item.add(kind, event)

    def _keep(self, event: dict[str, Any]) -> None:
        if not self._unknown:
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {str(event.get('type'))[:60]!r} in a stream")
        self._unknown.append(event)

    def body(self) -> dict[str, Any]:
        """The response so far; nothing if none was begun."""
        body = dict(self._response)
        output = body.get("output")
        # Seen in 2026: a last event with an empty output, though items were done.
        if self._items and not (self._is_whole and output):
            body["output"] = [self._items[place].whole() for place in sorted(self._items)]
        if self._unknown:
            body["events"] = self._unknown
        return body


class _Item:
    """An item of the output as its pieces arrive."""

    def __init__(self, place: int) -> None:
        self.place = place
        self._raw: dict[str, Any] = {}
        self._is_done = False
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, dict[int, dict[str, Any]]] = {}
        self._pieces: dict[tuple[str, int, str], list[str]] = {}
        self._of_tool: list[dict[str, Any]] = []

    def add(self, kind: str, event: dict[str, Any]) -> bool:
        """Take in an event; False if it is of no known kind."""
        stem, _, end = kind.rpartition(".")
        end = f".{end}"
        if stem == "response.output_item" and event.get("item").__class__ is dict:
            self._is_done = end == _DONE
            self._raw |= event["item"]
        elif stem in _PARTS and event.get("part").__class__ is dict:
            return self._add_part(*_PARTS[stem], event)
        elif stem in _IN_LISTS and end in (_DELTA, _DONE):
            return self._add_piece(stem, end, event)
        elif stem in _IN_ITEMS and end in (_DELTA, _DONE):
            return self._lengthen(_IN_ITEMS[stem], end, event)
        elif kind == "response.output_text.annotation.added":
            return self._annotate(event)
        elif kind.startswith(PREFIX) and "_call" in stem and end in _OF_TOOLS:
            self._of_tool.append(event)
        else:
            return False
        return True

    def _part(self, name: str, place: Any, kind: str) -> dict[str, Any] | None:
        if place.__class__ is not int or not 0 <= place < _FURTHEST:
            return None
        return self._lists.setdefault(name, {}).setdefault(place, {"type": kind})

    def _add_part(self, name: str, index: str, event: dict[str, Any]) -> bool:
        part = self._part(name, event.get(index, 0), "output_text")
        if part is not None:
            part |= event["part"]
        return part is not None

    def _add_piece(self, stem: str, end: str, event: dict[str, Any]) -> bool:
        name, index, kind, field = _IN_LISTS[stem]
        place = event.get(index, 0)
        told: Any = event.get(field) if end == _DONE else event.get("delta")
        part = self._part(name, place, kind) if told.__class__ is str else None
        if part is None:
            return False
        if end == _DONE:
            part[field] = told
            self._pieces.pop((name, place, field), None)
        else:
            self._pieces.setdefault((name, place, field), []).append(told)
        return True

    def _lengthen(self, field: str, end: str, event: dict[str, Any]) -> bool:
        told: Any = event.get(field) if end == _DONE else event.get("delta")
        if told.__class__ is not str:
            return False
        if end == _DONE:
            self._texts[field] = [told]
        else:
            self._texts.setdefault(field, []).append(told)
        return True

    def _annotate(self, event: dict[str, Any]) -> bool:
        part = self._part("content", event.get("content_index", 0), "output_text")
        if part is not None:
            known = part.get("annotations")
            part["annotations"] = [*(known if known.__class__ is list else ()), event.get("annotation")]
        return part is not None

    def whole(self) -> dict[str, Any]:
        """The item as the API gives it without streaming."""
        if self._is_done:
            return self._raw
        item = dict(self._raw)
        for (name, place, field), pieces in self._pieces.items():
            part = self._lists[name][place]
            begun = part.get(field)
            part[field] = (begun if begun.__class__ is str else "") + "".join(pieces)
        for name, parts in self._lists.items():
            item[name] = [parts[place] for place in sorted(parts)]
        for field, pieces in self._texts.items():
            item[field] = "".join(pieces)
        if self._of_tool:
            item["events"] = self._of_tool
        return {**self._beginning(), **item}

    def _beginning(self) -> dict[str, Any]:
        """What an item is whose beginning is not there."""
        if "summary" in self._lists:
            return {"type": "reasoning"}
        if "content" in self._lists:
            return {"type": "message", "role": "assistant"}
        known = {"arguments": "function_call", "input": "custom_tool_call", "code": "code_interpreter_call"}
        return next(({"type": known[field]} for field in self._texts), {})
