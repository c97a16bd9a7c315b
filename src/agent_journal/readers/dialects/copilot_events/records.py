"""Records of single API responses: each belongs to the messages of its response.

`session.usage_record`, in files since 1.0.7x, states the usage of a finished response, with the id that its
messages have too. `assistant.usage` is the same for live listeners, and rarely in a file.
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
    """The usage of one API response, and the indexes of its messages."""

    __slots__ = ("event", "index", "indexes", "key", "model", "response_id", "session_id", "stated", "tokens")

    def __init__(self, event: Event, index: int, note: Notes) -> None:
        usage = event.data.get("usage")
        self.stated: Bag = usage if isinstance(usage, dict) else event.data
        self.event = event
        self.index = index
        self.indexes: list[int] = []
        self.model = text_in(self.stated, "model")
        self.response_id = text_in(self.stated, "apiCallId")
        self.session_id = text_in(self.stated.get("accounting"), "sourceSessionId")
        self.tokens = tokens.stated(self.stated, note, event.id)
        self.key = self._key()

    def _key(self) -> str:
        """Get a global key of the response: a fork of a session has the original's records."""
        if self.session_id is None:
            return self.response_id or self.event.id
        # Response ids come from the model's server: a local one may count from one each time.
        return f"{self.session_id}:{self.stated['accounting'].get('sequence')}:{self.response_id}"


class Records:
    """The records of a session, each response once."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._by_key: dict[str, Record] = {}
        self._by_response: dict[str, Record] = {}
        self._indexes_without_record: dict[str, list[int]] = {}

    def __iter__(self) -> Iterator[Record]:
        return iter(self._by_key.values())

    def add_all(self, entries: list[Entry], indexes: list[int]) -> None:
        """Add the records and the answers at some indexes."""
        for index in indexes:
            entry = entries[index]
            if isinstance(entry, Message):
                self._add_answer(entry, index)
            else:
                self._add(entry, index)

    def _add(self, event: Event, index: int) -> None:
        """Add a record, unless it repeats a response or states nothing."""
        record = Record(event, index, self._note)
        if not record.tokens.is_stated or record.key in self._by_key:
            return
        if record.response_id is not None:
            before = self._by_response.get(record.response_id)
            if before is not None and (before.session_id is None or record.session_id is None):
                return
            self._by_response[record.response_id] = record
            record.indexes = self._indexes_without_record.pop(record.response_id, [])
        self._by_key[record.key] = record

    def _add_answer(self, answer: Message, index: int) -> None:
        """Add an answer: its record comes before it, as in 1.0.102, or after it."""
        if answer.response_id is None:
            return
        record = self._by_response.get(answer.response_id)
        if record is None:
            self._indexes_without_record.setdefault(answer.response_id, []).append(index)
        else:
            record.indexes.append(index)

    def find_answers(self, entries: list[Entry], answers: list[int]) -> None:
        """Find answers next to the records that no answer names: some versions leave the id out."""
        records = list(self)
        taken = {index for record in records for index in record.indexes}
        free = [index for index in answers if index not in taken]
        for before, record, after in zip([None, *records], records, [*records[1:], None], strict=False):
            if record.indexes or not free:
                continue
            at = bisect_left(free, record.index)
            first = -1 if before is None else before.index
            last = len(entries) if after is None else after.index
            for near in (at, at - 1):
                if (
                    0 <= near < len(free)
                    and first < free[near] < last
                    and _may_belong_to(record, entries[free[near]])
                ):
                    record.indexes = [free.pop(near)]
                    break


def _may_belong_to(record: Record, entry: Entry) -> bool:
    """Whether an answer without a response id may belong to the response of a record."""
    if not isinstance(entry, Message) or text_in(entry.extra, "agentId") != text_in(
        record.event.data, "agentId"
    ):
        return False
    if entry.usage is None:
        return record.response_id is None
    return entry.usage.output == record.tokens.output


def assign(entries: list[Entry], records: Records) -> None:
    """Assign the usage of each response to its last message; one without messages gets an empty one."""
    for record in records:
        if record.indexes:
            usage = record.tokens.usage(record.key, {"record": record.event.id})
            share(entries, record.indexes, usage, record.model)
        elif any(record.tokens):
            entries[record.index] = _message(record)


def share(entries: list[Entry], indexes: list[int], usage: Usage, model: str | None) -> None:
    """Assign usage that messages share to the last of them; their own counts stay, under the shared key.

    `model` is that of messages that name none.
    """
    for index in indexes:
        message = entries[index]
        if not isinstance(message, Message):
            continue
        own = message.usage
        if message.model is None:
            message = entries[index] = replace(message, model=model)
        if index == indexes[-1]:
            extra = usage.extra if own is None else {**own.extra, **usage.extra}
            entries[index] = replace(message, usage=replace(usage, extra=extra))
        elif own is not None:
            entries[index] = replace(message, usage=replace(own, key=usage.key))


def _message(record: Record) -> Message:
    """Convert a record without messages: of a compaction, or of a response that was interrupted."""
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
