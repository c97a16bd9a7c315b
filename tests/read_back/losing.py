"""Taking things out of items of the model, so that what is left can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from agent_journal.model import Conversation, Event, Item, Message, Part

Loss: TypeAlias = Callable[[Item], Item | None]
Losses: TypeAlias = dict[str, Loss]


def each_message(change: Callable[[Message], Message | None]) -> Loss:
    """Changes every message of a conversation, or takes it out."""

    def lose(item: Item) -> Item:
        if not isinstance(item, Conversation):
            return item
        found = (change(entry) if isinstance(entry, Message) else entry for entry in item.timeline)
        return replace(item, timeline=[entry for entry in found if entry is not None])

    return lose


def each_part(change: Callable[[Part], Part | None]) -> Loss:
    """Changes every part of every message, or takes it out."""

    def lose(message: Message) -> Message:
        found = (change(part) for part in message.parts)
        return replace(message, parts=[part for part in found if part is not None])

    return each_message(lose)


def fields(**values: Any) -> Loss:
    """Sets fields of a conversation to what they are when nothing is known."""
    return lambda item: replace(item, **values) if isinstance(item, Conversation) else item


def message_fields(**values: Any) -> Loss:
    """Sets fields of every message."""
    return each_message(lambda message: replace(message, **values))


def no_events(item: Item) -> Item:
    """Leaves only messages in the timeline."""
    if not isinstance(item, Conversation):
        return item
    return replace(item, timeline=[entry for entry in item.timeline if not isinstance(entry, Event)])


def no_memories(item: Item) -> Item | None:
    """Leaves only conversations."""
    return item if isinstance(item, Conversation) else None
