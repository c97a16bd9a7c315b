"""Calls of which only metadata was logged: put together by deployment and day, each call an event."""

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
    """Takes calls in order of time, and gives what is known of a day when the next one begins."""

    def __init__(self) -> None:
        self._day: str | None = None
        self._calls: dict[_Key, list[Call]] = {}
        self._told: Counter[_Key] = Counter()

    def add(self, call: Call) -> Iterator[Conversation]:
        """Take in a call; the conversations of the day before it."""
        day = (timestamps.iso_ms(call.exchange.at) or "")[:10] or self._day
        if day != self._day:
            yield from self.held()
            self._day = day
        self._calls.setdefault(_Key(call.facts.resource, call.facts.deployment, day), []).append(call)

    def held(self) -> Iterator[Conversation]:
        """The conversations of the last day."""
        for key, calls in self._calls.items():
            yield _conversation(key, calls, self._told[key])
            self._told[key] += 1
        self._calls = {}


def _conversation(key: _Key, calls: list[Call], again: int) -> Conversation:
    exchanges = [call.exchange for call in calls]
    known = [exchange.at for exchange in exchanges if exchange.at is not None]
    api_version = next((call.facts.api_version for call in calls if call.facts.api_version), None)
    account_id = next((call.facts.account_id for call in calls if call.facts.account_id), None)
    # A day may be logged hour by hour, each in a file: they are pieces of one conversation.
    piece = exchanges[0].id if key.day is None else again or None
    return Conversation(
        id=ids.made(SOURCE, *key, piece),
        made_id=True,
        source=SOURCE,
        started_at=known[0] if known else None,
        updated_at=known[-1] if known else None,
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
    told: set[str] = set()
    for call in calls:
        exchange = call.exchange
        found = exchange.id or ids.made(SOURCE, exchange.at, exchange.extra)
        is_made = exchange.id is None or found in told
        while found in told:
            found = ids.made(found, exchange.index)
        told.add(found)
        name = call.name or "call"
        data = call.facts.beside(exchange.extra, api_version, account_id)
        events.append(Event(id=found, made_id=is_made, name=name, at=exchange.at, data=data))
    return events
