"""Reads the log of events: one line per event; the first event of each run is `launched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind
from agent_journal.readers.aider.detect import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield the events of each run; their tokens are not usage, because the history counts the same ones."""
    run: list[Event] = []
    properties_of_run: dict[str, Any] = {}
    for number, record in json_stream.lines(source, note):
        if record.__class__ is not dict:
            note(Kind.BAD_RECORD, number, "the event is not an object")
            continue
        if record.get("event") == "launched" and run:
            yield _conversation(run, properties_of_run)
            run, properties_of_run = [], {}
        properties = record.get("properties")
        properties_of_run = {
            **(properties if properties.__class__ is dict else {}),
            **properties_of_run,
            "user_id": record.get("user_id"),
        }
        run.append(_event(Fields(record, note, number), number))
    if run:
        yield _conversation(run, properties_of_run)


def _event(fields: Fields, number: int) -> Event:
    name = fields.text("event")
    return Event(
        id=ids.made(SOURCE, fields.view("time"), name, number),
        made_id=True,
        name=name or "event",
        at=fields.timestamp("time"),
        data=fields.rest(),
    )


def _conversation(run: list[Event], properties_of_run: dict[str, Any]) -> Conversation:
    times = [event.at for event in run if event.at]
    model, version, user = (
        properties_of_run.get(name) for name in ("main_model", "aider_version", "user_id")
    )
    return Conversation(
        id=ids.made(SOURCE, "analytics", run[0].id),
        made_id=True,
        source=SOURCE,
        started_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        app_version=version if version.__class__ is str else None,
        model=model if model.__class__ is str else None,
        account_id=user if user.__class__ is str else None,
        shape="list",
        timeline=[*run],
    )
