"""Calls with only metadata: one conversation per deployment and day, one event per call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import Conversation, Event, Message, Request, ids, timestamps
from agent_journal.readers.azure_openai.names import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.readers.azure_openai.calls import Call


class _Key(NamedTuple):
    resource: str | None
    deployment: str | None
    day: str | None


class Days:
    """Groups calls, added in order of time, and yields each day's conversations when the next day begins."""

    def __init__(self) -> None:
        self._day: str | None = None
        self._calls: dict[_Key, list[Call]] = {}
        self._counts_by_key: Counter[_Key] = Counter()

    def add(self, call: Call) -> Iterator[Conversation]:
        """Add a call and yield the conversations of the previous day."""
        day = (timestamps.iso_ms(call.exchange.at) or "")[:10] or self._day
        if day != self._day:
            yield from self.take_conversations()
            self._day = day
        self._calls.setdefault(_Key(call.facts.resource, call.facts.deployment, day), []).append(call)

    def take_conversations(self) -> Iterator[Conversation]:
        """Yield the conversations of the last day."""
        for key, calls in self._calls.items():
            yield _conversation(key, calls, self._counts_by_key[key])
            self._counts_by_key[key] += 1
        self._calls = {}


def _conversation(key: _Key, calls: list[Call], number: int) -> Conversation:
    exchanges = [call.exchange for call in calls]
    times = [exchange.at for exchange in exchanges if exchange.at is not None]
    api_version = next((call.facts.api_version for call in calls if call.facts.api_version), None)
    account_id = next((call.facts.account_id for call in calls if call.facts.account_id), None)
    # A day may be logged hour by hour, each in a file: they are pieces of one conversation.
    piece = exchanges[0].id if key.day is None else number or None
    return Conversation(
        id=ids.made(SOURCE, *key, piece),
        made_id=True,
        source=SOURCE,
        started_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        app_version=api_version,
        model=key.deployment,
        account_id=account_id,
        shape="list",
        timeline=_events(calls, api_version, account_id),
        requests=[
            Request(
                id=exchange.id,
                index=exchange.index,
                at=exchange.at,
                model=exchange.model,
                duration_ms=exchange.duration_ms,
                error=exchange.error,
            )
            for exchange in exchanges
        ],
    )


def _events(calls: list[Call], api_version: str | None, account_id: str | None) -> list[Message | Event]:
    events: list[Message | Event] = []
    used_ids: set[str] = set()
    for call in calls:
        exchange = call.exchange
        event_id = exchange.id or ids.made(SOURCE, exchange.at, exchange.extra)
        is_made = exchange.id is None or event_id in used_ids
        while event_id in used_ids:
            event_id = ids.made(event_id, exchange.index)
        used_ids.add(event_id)
        name = call.name or "call"
        data = call.facts.with_differences(exchange.extra, api_version, account_id)
        events.append(Event(id=event_id, made_id=is_made, name=name, at=exchange.at, data=data))
    return events
