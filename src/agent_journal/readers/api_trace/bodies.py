"""Calls as they lie about: bare bodies, lines of batches and events, each made a record of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.decoding.text_encoding import utf8
from agent_journal.notes import Kind, Notes
from agent_journal.readers.api_trace import detect
from agent_journal.readers.api_trace.batch import CLAUDE, Batch, Call, made_at
from agent_journal.readers.dialects import sse
from agent_journal.readers.dialects.google_stream import unwrap_envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source

Placed: TypeAlias = tuple[str, Any]
Record: TypeAlias = dict[str, Any]

_BEGINS = (b"data:", b"event:", b":", b"id:", b"retry:")
# Events after which nothing of the answer follows.
_LAST = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})
# Where an answer has its id.
_IDS = ("id", "responseId")
_END = object()
# Of how many lines the data of one event may be.
_MOST_LINES = 8


def records(source: Source, note: Notes) -> Iterator[Call]:
    """Each call in a file, or in the files of a batch."""
    batch = Batch()
    for file in source.children() if source.is_folder else [source]:
        about = note.about(file.label) if source.is_folder else note
        yield from _calls(_values(file, about), batch, about)
    yield from batch.calls()


def _values(source: Source, note: Notes) -> Iterator[Placed]:
    with utf8(source) as stream:
        is_text = stream.read(64).lstrip().startswith(_BEGINS)
    return _events(source, note) if is_text else json_stream.values(source, note)


def _events(source: Source, note: Notes) -> Iterator[Placed]:
    """The events of a stream that was kept as text."""
    data = _Data(note)
    for number, line, _ in json_stream.raw_lines(source, note):
        text = line.decode("utf-8", "replace").rstrip("\r")
        told = sse.parse_data_line(text)
        if told is not None:
            yield from data.add(number, told)
        elif text.removeprefix("data:").strip() == "[DONE]":
            yield f"line {number}", _END
        elif not sse.has_no_data(text):
            note(Kind.BAD_RECORD, number, "a line that is no event")
    data.end()


class _Data:
    """The data of a stream as its lines come in; data of several lines is one event."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._lines: list[str] = []
        self._first = 0

    def add(self, number: int, line: str) -> Iterator[Placed]:
        """Take in a line; gives the event that it ends."""
        event = self._decoded([*self._lines, line])
        if event is json_stream.BAD and self._lines:
            event = self._decoded([line])
            if event is not json_stream.BAD:
                self.end()
        if not self._lines:
            self._first = number
        if event is json_stream.BAD:
            self._lines.append(line)
            if len(self._lines) > _MOST_LINES:
                self.end()
        else:
            place = f"line {self._first}"
            self._lines = []
            yield place, event

    def _decoded(self, lines: list[str]) -> Any:
        quiet, data = Notes(), "\n".join(lines).encode()
        event = json_stream.decode(data, quiet, "")
        is_odd = event is not json_stream.BAD and quiet.kept
        return json_stream.decode(data, self._note, self._first) if is_odd else event

    def end(self) -> None:
        """Note the lines that are no event."""
        if self._lines:
            json_stream.decode("\n".join(self._lines).encode(), self._note, self._first)
            self._lines = []


def _calls(values: Iterable[Placed], batch: Batch, note: Notes) -> Iterator[Call]:
    turns, stream = _Turns(note), None
    for where, value in values:
        kind = detect.kind_of(value) if value.__class__ is dict else None
        if stream is not None and (value is _END or not stream.takes(value, kind)):
            yield from turns.answer(stream.where, stream.record(note), stream.api)
            stream = None
        if value is _END:
            continue
        if stream is not None or kind == detect.EVENT:
            stream = stream or Stream(where)
            stream.add(value)
        elif kind == detect.RECORD:
            yield Call(where, _opened(value))
        elif kind == detect.BATCH:
            batch.add(where, value, note)
        elif kind == detect.REQUEST:
            yield from turns.request(where, value)
        elif kind == detect.RESPONSE:
            yield from turns.answer(where, answered(value), _api_of(value))
        else:
            note(Kind.BAD_RECORD, where, "it is no record with a request")
    if stream is not None:
        yield from turns.answer(stream.where, stream.record(note), stream.api)
    yield from turns.end()


def _opened(record: Record) -> Record:
    """The record of a call through Code Assist as that of any other: without what is around its bodies."""
    for name in ("request", "response"):
        side = record.get(name)
        if side.__class__ is dict and side.get(name).__class__ is dict:
            record[name] = unwrap_envelope(side, name)
    return record


class _Turns:
    """Bare bodies: where requests and answers take turns, an answer is that to the request before it.

    Two requests or two answers in a row end that: from there on nothing tells what belongs to what.
    """

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._pending: Call | None = None
        self._in_turns = True
        self._is_told = False

    def request(self, where: str, body: Record) -> Iterator[Call]:
        """Take in a request; gives what is known to be whole."""
        if self._pending is not None:
            self._in_turns = False
        yield from self.end()
        self._pending = Call(where, {"request": body})

    def answer(self, where: str, record: Record, api: str | None) -> Iterator[Call]:
        """Take in an answer; gives what is known to be whole."""
        pending = self._pending
        if pending is not None and self._in_turns:
            self._pending = None
            if not self._is_told:
                self._note(Kind.GUESSED_LINK, where, "an answer to the request before it, as all that follow")
                self._is_told = True
            yield Call(pending.where, {**pending.record, **record}, api)
            return
        self._in_turns = False
        yield from self.end()
        yield Call(where, record, api)

    def end(self) -> Iterator[Call]:
        """The request that got no answer."""
        if self._pending is not None:
            yield self._pending
            self._pending = None


def answered(body: Record) -> Record:
    """A record of which only the answer is known."""
    record: Record = {"response": body}
    name = next((body[key] for key in _IDS if body.get(key).__class__ is str), None)
    if name:
        record["id"] = name
    at = made_at(body)
    if at is not None:
        record["ended_at"] = at
    return record


def _api_of(body: Record) -> str | None:
    """The dialect that an answer tells and its request may not."""
    return CLAUDE if body.get("type") == "message" else None


class Stream:
    """The events of one answer."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.api: str | None = None
        """The dialect that the events are of."""
        self._events: list[Record] = []
        self._id: Any = None
        self._is_over = False

    def add(self, event: Record) -> None:
        """Take in the next event."""
        self._events.append(event)
        self.api = self.api or sse.dialect_of_event(event)
        self._id = self._id or _id_of(event)
        kind = event.get("type")
        self._is_over = (kind.__class__ is str and kind in _LAST) or _is_last(event)

    def takes(self, value: Any, kind: str | None) -> bool:
        """Whether a value is one more event of this answer."""
        if value.__class__ is not dict or self._is_over:
            return False
        if kind is None or (kind == detect.RESPONSE and not detect.is_response(value)):
            return True  # such as a ping, or the error that ended it
        if kind != detect.EVENT or sse.dialect_of_event(value) not in (None, self.api):
            return False
        told = _id_of(value)
        if told is None and self._id is None:
            return not (_is_finished(self._events[-1]) and "content" in _first_candidate(value))
        return told is None or self._id is None or told == self._id or self._goes_on(value)

    def _goes_on(self, chunk: Record) -> bool:
        """Whether a chunk with another id is more of it: Groq's agents give each its own (seen 2025)."""
        choice = _first_choice(chunk)
        delta = choice.get("delta")
        is_begun = delta.__class__ is dict and "role" in delta
        is_ended = any(_first_choice(event).get("finish_reason") for event in self._events[-1:])
        return "choices" in chunk and not is_begun and (not is_ended or not choice)

    def record(self, note: Notes) -> Record:
        """The answer that the events add up to. One chunk may be the whole of it."""
        if len(self._events) == 1 and "candidates" in self._events[0]:
            return answered(self._events[0])
        body, error = sse.fold_events(self._events, note, self.where)
        record = answered(body)
        if error is not None:
            record["error"] = error
        return record


def _is_last(event: Record) -> bool:
    """Whether an event of an API without ids ends its answer: Ollama's says so, Converse's has the counts."""
    return event.get("done") is True or event.keys() == {"metadata"}


def _id_of(event: Record) -> Any:
    """The id that every chunk of one answer has; events of other APIs have none of that kind."""
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
    """Whether a chunk of the Gemini API, which had no ids until 2025, ends its answer."""
    return _first_candidate(chunk).get("finishReason") is not None
