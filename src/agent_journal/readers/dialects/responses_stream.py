"""Assembles the events of a streamed Responses API answer into the response.

The last event usually repeats the full response. If a stream was cut off, the finished items and the pieces
of the others are combined. Known from recorded streams up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

PREFIX = "response."
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_STATUS_EVENTS = frozenset({"response.created", "response.in_progress", "response.queued"})
# Pieces of list elements: the list, the event's index field, the type of elements, and the text field.
_LIST_PIECES = {
    "response.output_text": ("content", "content_index", "output_text", "text"),
    "response.refusal": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("summary", "summary_index", "summary_text", "text"),
}
_PART_EVENTS = {
    "response.content_part": ("content", "content_index"),
    "response.reasoning_summary_part": ("summary", "summary_index"),
}
# Pieces of a text field of the item itself.
_ITEM_PIECES = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.code_interpreter_call_code": "code",
}
# Progress of the service, which the item repeats.
_PROGRESS_ENDINGS = (
    *(".in_progress", ".searching", ".interpreting", ".generating", ".calling"),
    *(".completed", ".incomplete", ".failed"),
)
_DONE, _DELTA = ".done", ".delta"
# Pieces of calls of built-in tools, which the finished item repeats.
_TOOL_EVENT_ENDINGS = (_DONE, _DELTA, ".added", ".partial_image")
_MAX_INDEX = 10_000  # more than the items or parts of any response


def ends_with_full_response(event: dict[str, Any]) -> bool:
    """Return whether an event ends a stream and repeats the full response."""
    kind, response = event.get("type"), event.get("response")
    is_end = kind.__class__ is str and kind in ENDS
    return is_end and isinstance(response, dict) and bool(response.get("output"))


class ResponseStream:
    """Assembles events into a response, with items by their index in the output."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._response: dict[str, Any] = {}
        self._is_complete = False
        self._items: dict[int, _Item] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Add the next event."""
        kind, response = event.get("type"), event.get("response")
        if kind == "error" or (kind.__class__ is not str and event.get("error") is not None):
            self._set_error(event)
        elif kind.__class__ is not str:
            self._add_unknown(event)
        elif (kind in ENDS or kind in _STATUS_EVENTS) and response.__class__ is dict:
            self._response |= response
            self._is_complete = self._is_complete or kind in ENDS
        elif not self._add_to_item(kind, event):
            self._add_unknown(event)

    def _set_error(self, event: dict[str, Any]) -> None:
        """Set the error: an object, or (seen since 2025) the event's own fields."""
        error = event.get("error") or {
            key: value for key, value in event.items() if key not in ("type", "sequence_number")
        }
        self.error = error if self.error is None else self.error

    def _add_to_item(self, kind: str, event: dict[str, Any]) -> bool:
        """Add an event about one item; return False if its kind is unknown."""
        if kind.count(".") > 1 and kind.endswith(_PROGRESS_ENDINGS):
            return True
        index = event.get("output_index", 0)
        if index.__class__ is not int or not 0 <= index < _MAX_INDEX:
            return False
        item = self._items.get(index)
        if item is None:
            item = _Item(index)
            if not item.add(kind, event):
                return False
            self._items[index] = item
            return True
        return item.add(kind, event)

    def _add_unknown(self, event: dict[str, Any]) -> None:
        if not self._unknown:
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {str(event.get('type'))[:60]!r} in a stream")
        self._unknown.append(event)

    def body(self) -> dict[str, Any]:
        """Return the response so far; empty if none was started."""
        body = dict(self._response)
        output = body.get("output")
        # Seen in 2026: a last event with an empty output, although items were finished.
        if self._items and not (self._is_complete and output):
            body["output"] = [self._items[index].assembled() for index in sorted(self._items)]
        if self._unknown:
            body["events"] = self._unknown
        return body


class _Item:
    """An output item assembled from its pieces."""

    def __init__(self, place: int) -> None:
        self.place = place
        self._raw: dict[str, Any] = {}
        self._is_done = False
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, dict[int, dict[str, Any]]] = {}
        self._pieces: dict[tuple[str, int, str], list[str]] = {}
        self._tool_events: list[dict[str, Any]] = []

    def add(self, kind: str, event: dict[str, Any]) -> bool:
        """Add an event; return False if its kind is unknown."""
        stem, _, end = kind.rpartition(".")
        end = f".{end}"
        if stem == "response.output_item" and event.get("item").__class__ is dict:
            self._is_done = end == _DONE
            self._raw |= event["item"]
        elif stem in _PART_EVENTS and event.get("part").__class__ is dict:
            return self._add_part(*_PART_EVENTS[stem], event)
        elif stem in _LIST_PIECES and end in (_DELTA, _DONE):
            return self._add_piece(stem, end, event)
        elif stem in _ITEM_PIECES and end in (_DELTA, _DONE):
            return self._append_text(_ITEM_PIECES[stem], end, event)
        elif kind == "response.output_text.annotation.added":
            return self._add_annotation(event)
        elif kind.startswith(PREFIX) and "_call" in stem and end in _TOOL_EVENT_ENDINGS:
            self._tool_events.append(event)
        else:
            return False
        return True

    def _part(self, name: str, index: Any, kind: str) -> dict[str, Any] | None:
        if index.__class__ is not int or not 0 <= index < _MAX_INDEX:
            return None
        return self._lists.setdefault(name, {}).setdefault(index, {"type": kind})

    def _add_part(self, name: str, index_field: str, event: dict[str, Any]) -> bool:
        part = self._part(name, event.get(index_field, 0), "output_text")
        if part is not None:
            part |= event["part"]
        return part is not None

    def _add_piece(self, stem: str, end: str, event: dict[str, Any]) -> bool:
        name, index_field, kind, field = _LIST_PIECES[stem]
        index = event.get(index_field, 0)
        text: Any = event.get(field) if end == _DONE else event.get("delta")
        part = self._part(name, index, kind) if text.__class__ is str else None
        if part is None:
            return False
        if end == _DONE:
            part[field] = text
            self._pieces.pop((name, index, field), None)
        else:
            self._pieces.setdefault((name, index, field), []).append(text)
        return True

    def _append_text(self, field: str, end: str, event: dict[str, Any]) -> bool:
        text: Any = event.get(field) if end == _DONE else event.get("delta")
        if text.__class__ is not str:
            return False
        if end == _DONE:
            self._texts[field] = [text]
        else:
            self._texts.setdefault(field, []).append(text)
        return True

    def _add_annotation(self, event: dict[str, Any]) -> bool:
        part = self._part("content", event.get("content_index", 0), "output_text")
        if part is not None:
            known = part.get("annotations")
            part["annotations"] = [*(known if known.__class__ is list else ()), event.get("annotation")]
        return part is not None

    def assembled(self) -> dict[str, Any]:
        """Return the item as the API returns it without streaming."""
        if self._is_done:
            return self._raw
        item = dict(self._raw)
        for (name, index, field), pieces in self._pieces.items():
            part = self._lists[name][index]
            initial = part.get(field)
            part[field] = (initial if initial.__class__ is str else "") + "".join(pieces)
        for name, parts in self._lists.items():
            item[name] = [parts[index] for index in sorted(parts)]
        for field, pieces in self._texts.items():
            item[field] = "".join(pieces)
        if self._tool_events:
            item["events"] = self._tool_events
        return {**self._default_fields(), **item}

    def _default_fields(self) -> dict[str, Any]:
        """Return the type of an item whose first event is missing."""
        if "summary" in self._lists:
            return {"type": "reasoning"}
        if "content" in self._lists:
            return {"type": "message", "role": "assistant"}
        known = {"arguments": "function_call", "input": "custom_tool_call", "code": "code_interpreter_call"}
        return next(({"type": known[field]} for field in self._texts), {})
