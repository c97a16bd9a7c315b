"""Completion events put together to threads: those of one file, until half an hour passes without any."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal import jsonstream, times
from agent_journal.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers.copilot_completions.names import EVENTS, FILE, TIME
from agent_journal.readers.copilot_completions.thread import Thread, first_of
from agent_journal.spill import Grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag, Conversation
    from agent_journal.notes import Notes
    from agent_journal.source import Source

_WINDOW_MS = timedelta(minutes=30) // timedelta(milliseconds=1)


class _Placed(NamedTuple):
    """An event, where it stands, and its time; one without a time has that of the event before it."""

    where: str
    ms: int
    record: dict[str, Any]


def threads(source: Source, note: Notes) -> Iterator[Conversation]:
    """Every thread; files in the order in which they first occur, the threads of a file by time."""
    grouped = Grouped()
    ms = 0
    heads: list[Bag] = []
    for where, record in _records(source, note, heads):
        stated = times.epoch_ms(times.moment(first_of(record, TIME)))
        ms = ms if stated is None else stated
        file = first_of(record, FILE)
        try:
            grouped.add(file if isinstance(file, str) else "", ms, _Placed(where, ms, record))
        except RecursionError:
            note(Kind.BAD_RECORD, where, "nested too deeply")
    told: set[str] = set()
    for file, values in grouped.groups():
        for events in _windows([_Placed(*value) for value in values]):
            thread = Thread(file or None, events[0].record, told)
            for event in events:
                thread.add(Fields(event.record, note, event.where))
            yield thread.conversation(heads[0] if len(heads) == 1 else {"heads": heads} if heads else {})
    if not told:
        note(Kind.IGNORED_FILE, "", "there is no event in it")


def _records(source: Source, note: Notes, heads: list[Bag]) -> Iterator[tuple[str, Bag]]:
    """Each event of a file: an element, a line, or one of those that an object lists; what else that says."""
    for where, value in jsonstream.values(source, note):
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


def _windows(events: list[_Placed]) -> Iterator[list[_Placed]]:
    """The events, cut where more than half an hour passes."""
    window: list[_Placed] = []
    for event in events:
        if window and event.ms - window[-1].ms > _WINDOW_MS:
            yield window
            window = []
        window.append(event)
    yield window
