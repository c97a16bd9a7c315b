"""Turns calls in any form into records of a trace: bare bodies, lines of batches, and streams of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.decoding.text_encoding import utf8
from agent_journal.notes import Kind, Notes
from agent_journal.readers.api_trace import detect
from agent_journal.readers.api_trace.batch import CLAUDE, Batch, Call, answer_time
from agent_journal.readers.dialects import sse
from agent_journal.readers.dialects.google_stream import unwrap_envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input

Located: TypeAlias = tuple[str, Any]
Record: TypeAlias = dict[str, Any]

_SSE_PREFIXES = (b"data:", b"event:", b":", b"id:", b"retry:")
# Events that end an answer.
_FINAL_EVENTS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})
# Fields with the id of an answer.
_ID_FIELDS = ("id", "responseId")
_END_OF_STREAM = object()
# The data of one event may have more than one line.
_MAX_LINES_PER_EVENT = 8


def records(source: Input, note: Notes) -> Iterator[Call]:
    """Yield each call in a file, or in the files of a batch."""
    batch = Batch()
    for file in source.children() if source.is_folder else [source]:
        file_note = note.about(file.label) if source.is_folder else note
        yield from _calls(_values(file, file_note), batch, file_note)
    yield from batch.calls()


def _values(source: Input, note: Notes) -> Iterator[Located]:
    with utf8(source) as stream:
        is_event_stream = stream.read(64).lstrip().startswith(_SSE_PREFIXES)
    return _events(source, note) if is_event_stream else json_stream.values(source, note)


def _events(source: Input, note: Notes) -> Iterator[Located]:
    """Yield the events of a stream that was recorded as text."""
    decoder = _EventDecoder(note)
    for number, line, _ in json_stream.raw_lines(source, note):
        text = line.decode("utf-8", "replace").rstrip("\r")
        data = sse.parse_data_line(text)
        if data is not None:
            yield from decoder.add(number, data)
        elif text.removeprefix("data:").strip() == "[DONE]":
            yield f"line {number}", _END_OF_STREAM
        elif not sse.has_no_data(text):
            note(Kind.BAD_RECORD, number, "a line that is no event")
    decoder.end()


class _EventDecoder:
    """Decodes the data lines of a stream; several lines may be one event."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._lines: list[str] = []
        self._first_line = 0

    def add(self, number: int, line: str) -> Iterator[Located]:
        """Add a line; yields the event that it completes."""
        event = self._decoded([*self._lines, line])
        if event is json_stream.BAD and self._lines:
            event = self._decoded([line])
            if event is not json_stream.BAD:
                self.end()
        if not self._lines:
            self._first_line = number
        if event is json_stream.BAD:
            self._lines.append(line)
            if len(self._lines) > _MAX_LINES_PER_EVENT:
                self.end()
        else:
            location = f"line {self._first_line}"
            self._lines = []
            yield location, event

    def _decoded(self, lines: list[str]) -> Any:
        discarded, data = Notes(), "\n".join(lines).encode()
        event = json_stream.decode(data, discarded, "")
        has_notes = event is not json_stream.BAD and discarded.collected
        return json_stream.decode(data, self._note, self._first_line) if has_notes else event

    def end(self) -> None:
        """Note remaining lines that are no event."""
        if self._lines:
            json_stream.decode("\n".join(self._lines).encode(), self._note, self._first_line)
            self._lines = []


def _calls(values: Iterable[Located], batch: Batch, note: Notes) -> Iterator[Call]:
    matcher, stream = _TurnMatcher(note), None
    for where, value in values:
        kind = detect.kind_of(value) if value.__class__ is dict else None
        if stream is not None and (value is _END_OF_STREAM or not stream.accepts(value, kind)):
            yield from matcher.response(stream.where, stream.record(note), stream.api)
            stream = None
        if value is _END_OF_STREAM:
            continue
        if stream is not None or kind == detect.EVENT:
            stream = stream or Stream(where)
            stream.add(value)
        elif kind == detect.RECORD:
            yield Call(where, _without_envelopes(value))
        elif kind == detect.BATCH:
            batch.add(where, value, note)
        elif kind == detect.REQUEST:
            yield from matcher.request(where, value)
        elif kind == detect.RESPONSE:
            yield from matcher.response(where, response_record(value), _api_of(value))
        else:
            note(Kind.BAD_RECORD, where, "it is no record with a request")
    if stream is not None:
        yield from matcher.response(stream.where, stream.record(note), stream.api)
    yield from matcher.end()


def _without_envelopes(record: Record) -> Record:
    """Remove the envelopes around the bodies of a call through Code Assist."""
    for name in ("request", "response"):
        envelope = record.get(name)
        if envelope.__class__ is dict and envelope.get(name).__class__ is dict:
            record[name] = unwrap_envelope(envelope, name)
    return record


class _TurnMatcher:
    """Matches bare bodies: while requests and responses alternate, a response answers the request before it.

    After two requests or two responses in a row, nothing is matched anymore.
    """

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._pending: Call | None = None
        self._is_alternating = True
        self._is_noted = False

    def request(self, where: str, body: Record) -> Iterator[Call]:
        """Add a request; yields the calls that are complete."""
        if self._pending is not None:
            self._is_alternating = False
        yield from self.end()
        self._pending = Call(where, {"request": body})

    def response(self, where: str, record: Record, api: str | None) -> Iterator[Call]:
        """Add a response; yields the calls that are complete."""
        pending = self._pending
        if pending is not None and self._is_alternating:
            self._pending = None
            if not self._is_noted:
                self._note(Kind.GUESSED_LINK, where, "an answer to the request before it, as all that follow")
                self._is_noted = True
            yield Call(pending.where, {**pending.record, **record}, api)
            return
        self._is_alternating = False
        yield from self.end()
        yield Call(where, record, api)

    def end(self) -> Iterator[Call]:
        """Yield the request that has no response."""
        if self._pending is not None:
            yield self._pending
            self._pending = None


def response_record(body: Record) -> Record:
    """Build a record from a response alone."""
    record: Record = {"response": body}
    response_id = next((body[key] for key in _ID_FIELDS if body.get(key).__class__ is str), None)
    if response_id:
        record["id"] = response_id
    ended_at = answer_time(body)
    if ended_at is not None:
        record["ended_at"] = ended_at
    return record


def _api_of(body: Record) -> str | None:
    """Get the dialect if the response shows it; its request may not."""
    return CLAUDE if body.get("type") == "message" else None


class Stream:
    """The events of one response."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.api: str | None = None
        """The dialect of the events."""
        self._events: list[Record] = []
        self._id: Any = None
        self._is_over = False

    def add(self, event: Record) -> None:
        """Add the next event."""
        self._events.append(event)
        self.api = self.api or sse.dialect_of_event(event)
        self._id = self._id or _id_of(event)
        kind = event.get("type")
        self._is_over = (kind.__class__ is str and kind in _FINAL_EVENTS) or _is_last(event)

    def accepts(self, value: Any, kind: str | None) -> bool:
        """Whether a value is one more event of this response."""
        if value.__class__ is not dict or self._is_over:
            return False
        if kind is None or (kind == detect.RESPONSE and not detect.is_response(value)):
            return True  # such as a ping, or the error that ended it
        if kind != detect.EVENT or sse.dialect_of_event(value) not in (None, self.api):
            return False
        event_id = _id_of(value)
        if event_id is None and self._id is None:
            return not (_is_finished(self._events[-1]) and "content" in _first_candidate(value))
        return event_id is None or self._id is None or event_id == self._id or self._continues(value)

    def _continues(self, chunk: Record) -> bool:
        """Whether a chunk with another id continues it: Groq's agents use an id per chunk (2025)."""
        choice = _first_choice(chunk)
        delta = choice.get("delta")
        starts_response = delta.__class__ is dict and "role" in delta
        is_finished = any(_first_choice(event).get("finish_reason") for event in self._events[-1:])
        return "choices" in chunk and not starts_response and (not is_finished or not choice)

    def record(self, note: Notes) -> Record:
        """Combine the events to a response record; one chunk may be a whole response."""
        if len(self._events) == 1 and "candidates" in self._events[0]:
            return response_record(self._events[0])
        body, error = sse.fold_events(self._events, note, self.where)
        record = response_record(body)
        if error is not None:
            record["error"] = error
        return record


def _is_last(event: Record) -> bool:
    """Whether an event is the last one, in APIs without ids: Ollama's says so, Converse's has the usage."""
    return event.get("done") is True or event.keys() == {"metadata"}


def _id_of(event: Record) -> Any:
    """Get the id that all chunks of one response share; events of other APIs have no such id."""
    if "choices" in event:
        return event.get("id") or None
    return event.get("responseId") or None if "candidates" in event else None


def _first_candidate(chunk: Record) -> Record:
    candidates = chunk.get("candidates")
    first = candidates[0] if candidates.__class__ is list and candidates else None
    return first if first.__class__ is dict else {}


def _first_choice(chunk: Record) -> Record:
    choices = chunk.get("choices")
    first = choices[0] if choices.__class__ is list and choices else None
    return first if first.__class__ is dict else {}


def _is_finished(chunk: Record) -> bool:
    """Whether a chunk of the Gemini API, which had no ids until 2025, is the last one."""
    return _first_candidate(chunk).get("finishReason") is not None
