"""Server-sent events as traces keep them: raw lines, folded into the answer that was streamed.

Each dialect folds into the body that the same call would have given without streaming, so that nothing
behind this has to know how an answer arrived.
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
from agent_journal.readers.dialects.responses_stream import PREFIX, ResponseStream, is_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What else the event stream format has: comments, and fields that only repeat or pace the data.
_decode = msgspec.json.Decoder().decode
# The type of an event is the first thing it says.
_FIRST_CHARACTERS = 80
_SILENT = (":", "event:", "id:", "retry:")


class Folded(NamedTuple):
    """The body a stream adds up to, and the error it ended with."""

    body: dict[str, Any]
    error: Any


class Fold(Protocol):
    """Adds up the events of one dialect to the body that the same call gives without streaming."""

    error: Any

    def add(self, event: dict[str, Any]) -> None:
        """Take in the next event."""

    def body(self) -> dict[str, Any]:
        """The body so far."""


RESPONSES = "responses"
_FOLDS: dict[str, Callable[[Notes, int | str], Fold]] = {
    "claude": MessageStream,
    "openai": CompletionStream,
    RESPONSES: ResponseStream,
    "gemini": ContentStream,
    "ollama": ollama_stream.ChatStream,
    "converse": converse_stream.ConverseStream,
}


def fold(lines: list[Any], note: Notes, where: int | str) -> Folded:
    """The answer that raw lines stream, in whichever dialect they are.

    Events of no known kind are kept under `events`, lines that belong to no event under `sse_lines`.
    """
    if _is_bare(lines):
        lines = [f"data:{line}" if line.__class__ is str and line.strip() else line for line in lines]
    dialect = dialect_of_stream(lines)
    stream = _fold_for(dialect, note, where)
    is_repeated = _is_piece if dialect == RESPONSES and _ends_whole(lines) else _never
    strays: list[Any] = []
    for place, line in enumerate(lines):
        if line.__class__ is str and line.startswith("data:"):
            if is_repeated(line):
                continue
            event = _decoded(line, note, where, place)
            if event.__class__ is dict:
                stream.add(event)
            elif event is not json_stream.BAD:
                strays.append(line)
        elif not is_silent(line):
            strays.append(line)
    body, error = stream.body(), stream.error
    return _with_strays(body, error, strays, note, where) if strays else Folded(body, error)


def _is_bare(lines: list[Any]) -> bool:
    """Whether each line of a stream is an event by itself, without the form that events have elsewhere."""
    first = next((line for line in lines if line.__class__ is str and line.strip()), "")
    if not first.startswith("{"):
        return False
    event = json_stream.decode(first.encode("utf-8", "replace"), Notes(keep=0), "")
    return event.__class__ is dict and ollama_stream.is_chunk(event)


def _decoded(line: str, note: Notes, where: int | str, place: int) -> Any:
    """The value of a `data:` line; BAD if it has none."""
    try:
        return _decode(line[5:])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        data = data_of(line)
        if data is None:
            return json_stream.BAD
        return json_stream.decode(data.encode("utf-8", "replace"), note, f"{where} sse_lines[{place}]")


def _ends_whole(lines: list[Any]) -> bool:
    """Whether the last event of a stream of the Responses API repeats the whole answer."""
    for line in reversed(lines):
        data = data_of(line)
        if data is not None:
            event = json_stream.decode(data.encode("utf-8", "replace"), Notes(keep=0), "")
            return event.__class__ is dict and is_whole(event)
    return False


def _is_piece(line: str) -> bool:
    """Whether a line has a piece of what its stream ends with."""
    return '.delta"' in line[:_FIRST_CHARACTERS]


def _never(_: str) -> bool:
    return False


def fold_events(events: list[dict[str, Any]], note: Notes, where: int | str) -> Folded:
    """The same for events that are decoded already."""
    told = next(filter(None, map(dialect_of_event, events)), None)
    stream = _fold_for(told, note, where)
    for event in events:
        stream.add(event)
    return Folded(stream.body(), stream.error)


def _fold_for(dialect: str | None, note: Notes, where: int | str) -> Fold:
    return _FOLDS[dialect or "openai"](note, where)


def dialect_of_stream(lines: list[Any]) -> str | None:
    """The name of the dialect, told by the first line that can tell."""
    return next(filter(None, map(dialect_of_event, _events(lines))), None)


def dialect_of_event(event: dict[str, Any]) -> str | None:
    """The name of the dialect that an event can only be of."""
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


def data_of(line: Any) -> str | None:
    """What a `data:` line carries; None for any other line and for the `[DONE]` that ends a stream."""
    if line.__class__ is not str or not line.startswith("data:"):
        return None
    data: str = line[5:].strip()
    return data if data and data != "[DONE]" else None


def is_silent(line: Any) -> bool:
    """Whether a line belongs to a stream and carries no data."""
    return line.__class__ is str and (
        not line.strip() or line.startswith(_SILENT) or line.startswith("data:")
    )


def _with_strays(
    body: dict[str, Any], error: Any, strays: list[Any], note: Notes, where: int | str
) -> Folded:
    """An answer whose lines are not all events: a refused stream is an ordinary error body, line by line."""
    if not body and error is None and all(line.__class__ is str for line in strays):
        whole = json_stream.decode("\n".join(strays).encode(), Notes(), where)
        if whole.__class__ is dict:
            return Folded(whole, None)
    note(Kind.UNKNOWN_TYPE, where, f"{len(strays)} lines of the stream are no events")
    return Folded({**body, "sse_lines": strays}, error)


def speaks_anthropic(lines: Any) -> bool:
    """Whether the first line that can tell is an event of the Messages API, not a chunk with `choices`."""
    if lines.__class__ is not list:
        return False
    return next((told for told in map(_tells, _events(lines)) if told is not None), False)


def _tells(event: dict[str, Any]) -> bool | None:
    if isinstance(kind := event.get("type"), str) and kind in EVENTS:
        return True
    return False if "choices" in event else None


def _events(lines: list[Any]) -> Iterator[dict[str, Any]]:
    """Every event that can be decoded; what cannot is noted when the stream is folded."""
    unheard = Notes()
    for line in lines:
        data = data_of(line)
        event = json_stream.BAD if data is None else json_stream.decode(data.encode(), unheard, "")
        if event.__class__ is dict:
            yield event
