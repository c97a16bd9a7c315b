"""Completion events put together to threads: those of one file, until half an hour passes without any."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.spill import Grouped
from agent_journal.model import Bag, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.copilot_completions.fastpath import SHAPE, UsualEvent, as_record
from agent_journal.readers.copilot_completions.names import EVENTS, FILE, TIME
from agent_journal.readers.copilot_completions.thread import Thread, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Conversation
    from agent_journal.notes import Notes

# How long the small fields of an event are.
_OVERHEAD = 300
_WINDOW_MS = timedelta(minutes=30) // timedelta(milliseconds=1)


class _Placed(NamedTuple):
    """An event, where it stands, and its time; one without a time has that of the event before it."""

    where: str
    ms: int
    record: Bag


class _PlacedUsual(NamedTuple):
    """A usual event, which has its time as a text, too."""

    where: str
    ms: int
    record: UsualEvent
    at: str | None


_Event: TypeAlias = _Placed | _PlacedUsual


def threads(source: Source, note: Notes) -> Iterator[Conversation]:
    """Every thread; files in the order in which they first occur, the threads of a file by time."""
    grouped = Grouped(shape=_PlacedUsual)
    ms = 0
    heads: list[Bag] = []
    for where, record in _records(source, note, heads):
        if record.__class__ is UsualEvent:
            at, stated = _time(record.timestamp)
            ms = ms if stated is None else stated
            grouped.add_whole(record.file, ms, _PlacedUsual(where, ms, record, at), _size(record))
            continue
        stated = timestamps.epoch_ms(timestamps.moment(first_of(record, TIME)))
        ms = ms if stated is None else stated
        file = first_of(record, FILE)
        try:
            grouped.add(file if isinstance(file, str) else "", ms, _Placed(where, ms, record))
        except RecursionError:
            note(Kind.BAD_RECORD, where, "nested too deeply")
    told: dict[str, int] = {}
    for file, values in grouped.groups():
        placed = [value if value.__class__ is _PlacedUsual else _Placed(*value) for value in values]
        for events in _windows(placed):
            thread = Thread(file or None, events[0].record, told)
            for event in events:
                if isinstance(event, _Placed):
                    thread.add(Fields(event.record, note, event.where))
                elif event.at is None:
                    thread.add(Fields(as_record(event.record), note, event.where))
                else:
                    thread.add_usual(event.record, event.at)
            thread.note_if_unanswered(note, events[0].where)
            yield thread.conversation(heads[0] if len(heads) == 1 else {"heads": heads} if heads else {})
    if not told:
        note(Kind.IGNORED_FILE, "", "there is no event in it")


def _records(source: Source, note: Notes, heads: list[Bag]) -> Iterator[tuple[str, Any]]:
    """Each event of a file: an element, a line, or one of those that an object lists; what else that says."""
    for where, value in json_stream.values(source, note, SHAPE):
        if value.__class__ is UsualEvent:
            yield where, value
            continue
        listed = value.get(EVENTS) if value.__class__ is dict else None
        placed = [(where, value)]
        if listed.__class__ is list:
            placed = [(f"{where} {EVENTS}[{place}]", each) for place, each in enumerate(listed)]
            if head := {name: each for name, each in value.items() if name != EVENTS}:
                heads.append(head)
        for at, record in placed:
            if record.__class__ is dict:
                yield at, {name: each for name, each in record.items() if each is not None}
            else:
                note(Kind.BAD_RECORD, at, f"an event is {type(record).__name__}")


# Several suggestions for one prompt have the same time.
@lru_cache(maxsize=8)
def _time(text: str) -> tuple[str | None, int | None]:
    at = timestamps.moment(text)
    return at, timestamps.epoch_ms(at)


def _size(event: UsualEvent) -> int:
    """About how long an event is as JSON."""
    return _OVERHEAD + len(event.promptContext) + len(event.completion)


def _windows(events: list[_Event]) -> Iterator[list[_Event]]:
    """The events, cut where more than half an hour passes."""
    window: list[_Event] = []
    for event in events:
        if window and event.ms - window[-1].ms > _WINDOW_MS:
            yield window
            window = []
        window.append(event)
    yield window
