"""Groups completion events into threads: the events of one file without a pause of half an hour."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.spill import Grouped
from agent_journal.model import Bag, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.copilot_completions.fastpath import SHAPE, CommonEvent, as_record
from agent_journal.readers.copilot_completions.names import EVENTS, FILE, TIME
from agent_journal.readers.copilot_completions.thread import Thread, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Conversation
    from agent_journal.notes import Notes

# Typical size of the small fields of an event.
_EVENT_OVERHEAD_BYTES = 300
_MAX_PAUSE_MS = timedelta(minutes=30) // timedelta(milliseconds=1)


class _LocatedEvent(NamedTuple):
    """An event with its location and time; one without a time has that of the event before it."""

    where: str
    ms: int
    record: Bag


class _LocatedCommonEvent(NamedTuple):
    """An event of the fast path; `at` is its time as text."""

    where: str
    ms: int
    record: CommonEvent
    at: str | None


_Event: TypeAlias = _LocatedEvent | _LocatedCommonEvent


def threads(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield all threads: files in the order of their first event, the threads of a file by time."""
    grouped = Grouped(shape=_LocatedCommonEvent)
    ms = 0
    heads: list[Bag] = []
    for where, record in _records(source, note, heads):
        if record.__class__ is CommonEvent:
            at, stated = _time(record.timestamp)
            ms = ms if stated is None else stated
            grouped.add_whole(record.file, ms, _LocatedCommonEvent(where, ms, record, at), _size(record))
            continue
        stated = timestamps.epoch_ms(timestamps.parse_timestamp(first_of(record, TIME)))
        ms = ms if stated is None else stated
        file = first_of(record, FILE)
        try:
            grouped.add(file if isinstance(file, str) else "", ms, _LocatedEvent(where, ms, record))
        except RecursionError:
            note(Kind.BAD_RECORD, where, "nested too deeply")
    id_counts: dict[str, int] = {}
    for file, values in grouped.groups():
        located = [
            value if value.__class__ is _LocatedCommonEvent else _LocatedEvent(*value) for value in values
        ]
        for events in _split_at_pauses(located):
            thread = Thread(file or None, events[0].record, id_counts)
            for event in events:
                if isinstance(event, _LocatedEvent):
                    thread.add(Fields(event.record, note, event.where))
                elif event.at is None:
                    thread.add(Fields(as_record(event.record), note, event.where))
                else:
                    thread.add_common(event.record, event.at)
            thread.note_if_unanswered(note, events[0].where)
            yield thread.conversation(heads[0] if len(heads) == 1 else {"heads": heads} if heads else {})
    if not id_counts:
        note(Kind.IGNORED_FILE, "", "there is no event in it")


def _records(source: Input, note: Notes, heads: list[Bag]) -> Iterator[tuple[str, Any]]:
    """Yield each event: an element, a line, or one that an object lists; its other fields go to `heads`."""
    for where, value in json_stream.values(source, note, SHAPE):
        if value.__class__ is CommonEvent:
            yield where, value
            continue
        elements = value.get(EVENTS) if value.__class__ is dict else None
        located = [(where, value)]
        if elements.__class__ is list:
            located = [(f"{where} {EVENTS}[{index}]", each) for index, each in enumerate(elements)]
            if head := {name: each for name, each in value.items() if name != EVENTS}:
                heads.append(head)
        for location, record in located:
            if record.__class__ is dict:
                yield location, {name: each for name, each in record.items() if each is not None}
            else:
                note(Kind.BAD_RECORD, location, f"an event is {type(record).__name__}")


# Several suggestions for one prompt have the same time.
@lru_cache(maxsize=8)
def _time(text: str) -> tuple[str | None, int | None]:
    at = timestamps.parse_timestamp(text)
    return at, timestamps.epoch_ms(at)


def _size(event: CommonEvent) -> int:
    """Estimate the size of an event as JSON."""
    return _EVENT_OVERHEAD_BYTES + len(event.promptContext) + len(event.completion)


def _split_at_pauses(events: list[_Event]) -> Iterator[list[_Event]]:
    """Split the events where more than half an hour passes."""
    group: list[_Event] = []
    for event in events:
        if group and event.ms - group[-1].ms > _MAX_PAUSE_MS:
            yield group
            group = []
        group.append(event)
    yield group
