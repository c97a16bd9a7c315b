"""Large values of events that are stored in a temporary file until they are needed.

A reader may move values that only writers need, such as snapshots of files, to a temporary file
(`decoding.spill.ValueSpill`). Encoders load them one at a time, with `encode_spilled` as their hook. Code
that uses the data of events loads all values of an item with `load_spilled`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from agent_journal.model.types import Conversation, Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model.types import Message

_ItemT = TypeVar("_ItemT")


class Spilled:
    """A value in the data of an event, decoded again on each use."""

    __slots__ = ("_load",)
    __hash__ = None  # type: ignore[assignment] # like the dicts and lists that it represents

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def value(self) -> Any:
        """Load the value."""
        return self._load()

    def __eq__(self, other: object) -> bool:
        return bool(self.value() == _loaded(other))

    def __repr__(self) -> str:
        return repr(self.value())


def encode_spilled(value: Any) -> Any:
    """Return what an encoder writes for a spilled value; to be used as msgspec's `enc_hook`."""
    if isinstance(value, Spilled):
        return value.value()
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


def load_spilled(item: _ItemT) -> _ItemT:
    """Return an item with all of its values in memory; the same object if they already are."""
    if not isinstance(item, Conversation) or not any(map(has_spilled, item.timeline)):
        return item
    return replace(item, timeline=[_load_entry(entry) for entry in item.timeline])


def has_spilled(entry: Message | Event) -> bool:
    """Whether encoding an entry loads a large value."""
    return isinstance(entry, Event) and any(isinstance(value, Spilled) for value in entry.data.values())


def _load_entry(entry: Message | Event) -> Message | Event:
    if not isinstance(entry, Event) or not has_spilled(entry):
        return entry
    return replace(entry, data={name: _loaded(value) for name, value in entry.data.items()})


def _loaded(value: Any) -> Any:
    return value.value() if isinstance(value, Spilled) else value
