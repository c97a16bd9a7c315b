"""Records of single API responses: each belongs to the messages that the response became.

`session.usage_record`, in files since 1.0.7x, states a response once it has ended, by the id that its
messages have too. `assistant.usage` says the same to whoever listens, and rarely is in a file.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Message
from agent_journal.readers.dialects.copilot_events import tokens
from agent_journal.readers.dialects.copilot_events.events import text_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag, Event, Usage
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry

NAMES = frozenset({"session.usage_record", "assistant.usage"})


class Record:
    """What one API response used, and the places of the messages that it became."""

    __slots__ = ("event", "key", "model", "place", "places", "response_id", "session_id", "stated", "tokens")

    def __init__(self, event: Event, place: int, note: Notes) -> None:
        usage = event.data.get("usage")
        self.stated: Bag = usage if isinstance(usage, dict) else event.data
        self.event = event
        self.place = place
        self.places: list[int] = []
        self.model = text_in(self.stated, "model")
        self.response_id = text_in(self.stated, "apiCallId")
        self.session_id = text_in(self.stated.get("accounting"), "sourceSessionId")
        self.tokens = tokens.stated(self.stated, note, event.id)
        self.key = self._key()

    def _key(self) -> str:
        """A name for the response everywhere: a fork of a session has the original's records."""
        if self.session_id is None:
            return self.response_id or self.event.id
        # Ids of responses come from whoever serves the model: a local server may count from one each time.
        return f"{self.session_id}:{self.stated['accounting'].get('sequence')}:{self.response_id}"


class Records:
    """The records of a session, each response once."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._by_key: dict[str, Record] = {}
        self._by_response: dict[str, Record] = {}
        self._alone: dict[str, list[int]] = {}

    def __iter__(self) -> Iterator[Record]:
        return iter(self._by_key.values())

    def add_all(self, entries: list[Entry], places: list[int]) -> None:
        """Take the records and the answers at some places."""
        for place in places:
            entry = entries[place]
            if isinstance(entry, Message):
                self._add_answer(entry, place)
            else:
                self._add(entry, place)

    def _add(self, event: Event, place: int) -> None:
        """Take a record, unless it states a response again or nothing at all."""
        record = Record(event, place, self._note)
        if not record.tokens.is_stated or record.key in self._by_key:
            return
        if record.response_id is not None:
            before = self._by_response.get(record.response_id)
            if before is not None and (before.session_id is None or record.session_id is None):
                return
            self._by_response[record.response_id] = record
            record.places = self._alone.pop(record.response_id, [])
        self._by_key[record.key] = record

    def _add_answer(self, answer: Message, place: int) -> None:
        """Take an answer: its record stands before it, as in 1.0.102, or behind."""
        if answer.response_id is None:
            return
        record = self._by_response.get(answer.response_id)
        if record is None:
            self._alone.setdefault(answer.response_id, []).append(place)
        else:
            record.places.append(place)

    def find_answers(self, entries: list[Entry], answers: list[int]) -> None:
        """Find answers next to the records that no answer names: some versions leave the id out."""
        records = list(self)
        taken = {place for record in records for place in record.places}
        free = [place for place in answers if place not in taken]
        for before, record, after in zip([None, *records], records, [*records[1:], None], strict=False):
            if record.places or not free:
                continue
            at = bisect_left(free, record.place)
            first = -1 if before is None else before.place
            last = len(entries) if after is None else after.place
            for near in (at, at - 1):
                if (
                    0 <= near < len(free)
                    and first < free[near] < last
                    and _is_of(record, entries[free[near]])
                ):
                    record.places = [free.pop(near)]
                    break


def _is_of(record: Record, entry: Entry) -> bool:
    """Whether an answer that does not name a response may be what it became."""
    if not isinstance(entry, Message) or text_in(entry.extra, "agentId") != text_in(
        record.event.data, "agentId"
    ):
        return False
    if entry.usage is None:
        return record.response_id is None
    return entry.usage.output == record.tokens.output


def settle(entries: list[Entry], records: Records) -> None:
    """Put what each response used into its last message; one that became none gets an empty one."""
    for record in records:
        if record.places:
            usage = record.tokens.usage(record.key, {"record": record.event.id})
            share(entries, record.places, usage, record.model)
        elif any(record.tokens):
            entries[record.place] = _message(record)


def share(entries: list[Entry], places: list[int], usage: Usage, model: str | None) -> None:
    """Put what messages used together into the last of them; what they state alone stays beside its key.

    `model` is that of messages that name none.
    """
    for place in places:
        message = entries[place]
        if not isinstance(message, Message):
            continue
        own = message.usage
        if message.model is None:
            message = entries[place] = replace(message, model=model)
        if place == places[-1]:
            extra = usage.extra if own is None else {**own.extra, **usage.extra}
            entries[place] = replace(message, usage=replace(usage, extra=extra))
        elif own is not None:
            entries[place] = replace(message, usage=replace(own, key=usage.key))


def _message(record: Record) -> Message:
    """The record as the only trace of a response: of a compaction, or of one that broke off."""
    event = record.event
    return Message(
        id=event.id,
        made_id=event.made_id,
        role="assistant",
        parent_id=event.parent_id,
        at=event.at,
        model=record.model,
        hidden=True,
        sidechain=bool(text_in(event.data, "agentId") or text_in(record.stated, "parentToolCallId")),
        response_id=record.response_id,
        usage=record.tokens.usage(record.key, {"record": event.id}),
        extra={**event.data, "type": event.name},
    )
