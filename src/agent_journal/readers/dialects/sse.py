"""Server-sent events in traces: folds raw lines into the streamed answer.

Each dialect folds into the body that the same call returns without streaming, so that the code that follows
does not need to know how an answer arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind, Notes
from agent_journal.readers.dialects import converse_stream, ollama_stream
from agent_journal.readers.dialects.anthropic_stream import EVENTS, MessageStream
from agent_journal.readers.dialects.google_stream import ContentStream, is_chunk
from agent_journal.readers.dialects.openai_stream import CompletionStream
from agent_journal.readers.dialects.responses_stream import PREFIX, ResponseStream, ends_with_full_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Comments of the event stream format, and fields that only repeat or pace the data.
_decode = msgspec.json.Decoder().decode
# An event's type is its first field.
_EVENT_TYPE_CHARS = 80
_LINES_WITHOUT_DATA = (":", "event:", "id:", "retry:")


class FoldedStream(NamedTuple):
    """The assembled body of a stream, and the error that ended it."""

    body: dict[str, Any]
    error: Any


class Fold(Protocol):
    """Assembles the events of one dialect into the body that the same call returns without streaming."""

    error: Any

    def add(self, event: dict[str, Any]) -> None:
        """Add the next event."""

    def body(self) -> dict[str, Any]:
        """Return the body so far."""


RESPONSES = "responses"
_FOLDS: dict[str, Callable[[Notes, int | str], Fold]] = {
    "claude": MessageStream,
    "openai": CompletionStream,
    RESPONSES: ResponseStream,
    "gemini": ContentStream,
    "ollama": ollama_stream.ChatStream,
    "converse": converse_stream.ConverseStream,
}


def fold(lines: list[Any], note: Notes, location: int | str) -> FoldedStream:
    """Fold raw lines in any dialect into the streamed answer.

    Unknown events are stored under `events`, lines that are not events under `sse_lines`.
    """
    if _is_json_lines(lines):
        lines = [f"data:{line}" if line.__class__ is str and line.strip() else line for line in lines]
    dialect = dialect_of_stream(lines)
    stream = _fold_for(dialect, note, location)
    is_repeated = _is_delta if dialect == RESPONSES and _ends_with_full_answer(lines) else _never
    other_lines: list[Any] = []
    for index, line in enumerate(lines):
        if line.__class__ is str and line.startswith("data:"):
            if is_repeated(line):
                continue
            event = _decode_data(line, note, location, index)
            if event.__class__ is dict:
                stream.add(event)
            elif event is not json_stream.BAD:
                other_lines.append(line)
        elif not has_no_data(line):
            other_lines.append(line)
    body, error = stream.body(), stream.error
    return (
        _with_other_lines(body, error, other_lines, note, location)
        if other_lines
        else FoldedStream(body, error)
    )


def _is_json_lines(lines: list[Any]) -> bool:
    """Return whether each line of a stream is a JSON event without the `data:` prefix."""
    first = next((line for line in lines if line.__class__ is str and line.strip()), "")
    if not first.startswith("{"):
        return False
    event = json_stream.decode(first.encode("utf-8", "replace"), Notes(keep=0), "")
    return event.__class__ is dict and ollama_stream.is_chunk(event)


def _decode_data(line: str, note: Notes, location: int | str, index: int) -> Any:
    """Return the value of a `data:` line; BAD if it has none."""
    try:
        return _decode(line[5:])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        data = parse_data_line(line)
        if data is None:
            return json_stream.BAD
        return json_stream.decode(data.encode("utf-8", "replace"), note, f"{location} sse_lines[{index}]")


def _ends_with_full_answer(lines: list[Any]) -> bool:
    """Return whether the last event of a Responses API stream repeats the full answer."""
    for line in reversed(lines):
        data = parse_data_line(line)
        if data is not None:
            event = json_stream.decode(data.encode("utf-8", "replace"), Notes(keep=0), "")
            return event.__class__ is dict and ends_with_full_response(event)
    return False


def _is_delta(line: str) -> bool:
    """Return whether a line is a delta, which the last event of its stream repeats."""
    return '.delta"' in line[:_EVENT_TYPE_CHARS]


def _never(_: str) -> bool:
    return False


def fold_events(events: list[dict[str, Any]], note: Notes, location: int | str) -> FoldedStream:
    """Fold events that are already decoded."""
    dialect = next(filter(None, map(dialect_of_event, events)), None)
    stream = _fold_for(dialect, note, location)
    for event in events:
        stream.add(event)
    return FoldedStream(stream.body(), stream.error)


def _fold_for(dialect: str | None, note: Notes, location: int | str) -> Fold:
    return _FOLDS[dialect or "openai"](note, location)


def dialect_of_stream(lines: list[Any]) -> str | None:
    """Return the name of a stream's dialect, from the first line that identifies it."""
    return next(filter(None, map(dialect_of_event, _events(lines))), None)


def dialect_of_event(event: dict[str, Any]) -> str | None:
    """Return the name of the only dialect that has such an event; None if it is not clear."""
    kind = event.get("type")
    if kind.__class__ is str and kind in EVENTS:
        return "claude"
    if "choices" in event:
        return "openai"
    if kind.__class__ is str and kind.startswith(PREFIX):
        return RESPONSES
    if is_chunk(event):
        return "gemini"
    if ollama_stream.is_chunk(event):
        return "ollama"
    return "converse" if converse_stream.is_event(event) else None


def parse_data_line(line: Any) -> str | None:
    """Return the data of a `data:` line; None for other lines and for the `[DONE]` that ends a stream."""
    if line.__class__ is not str or not line.startswith("data:"):
        return None
    data: str = line[5:].strip()
    return data if data and data != "[DONE]" else None


def has_no_data(line: Any) -> bool:
    """Return whether a line is part of an event stream but is not an undecoded event."""
    return line.__class__ is str and (
        not line.strip() or line.startswith(_LINES_WITHOUT_DATA) or line.startswith("data:")
    )


def _with_other_lines(
    body: dict[str, Any], error: Any, other_lines: list[Any], note: Notes, location: int | str
) -> FoldedStream:
    """Return an answer with lines that are not events; a refused stream is an error body split into lines."""
    if not body and error is None and all(line.__class__ is str for line in other_lines):
        error_body = json_stream.decode("\n".join(other_lines).encode(), Notes(), location)
        if error_body.__class__ is dict:
            return FoldedStream(error_body, None)
    note(Kind.UNKNOWN_TYPE, location, f"{len(other_lines)} lines of the stream are not events")
    return FoldedStream({**body, "sse_lines": other_lines}, error)


def is_anthropic_stream(lines: Any) -> bool:
    """Return whether the first conclusive line is a Messages API event, not a chunk with `choices`."""
    if lines.__class__ is not list:
        return False
    verdicts = map(_is_anthropic_event, _events(lines))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _is_anthropic_event(event: dict[str, Any]) -> bool | None:
    if isinstance(kind := event.get("type"), str) and kind in EVENTS:
        return True
    return False if "choices" in event else None


def _events(lines: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the events that can be decoded; the others are noted when the stream is folded."""
    ignored_notes = Notes()
    for line in lines:
        data = parse_data_line(line)
        event = json_stream.BAD if data is None else json_stream.decode(data.encode(), ignored_notes, "")
        if event.__class__ is dict:
            yield event
