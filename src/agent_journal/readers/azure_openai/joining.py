"""Rows put together to calls, which lie scattered and in any order, and the calls in order of time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.spill import Grouped, flat_size
from agent_journal.model import timestamps
from agent_journal.notes import Kind
from agent_journal.readers.azure_openai.columns import Layout, glance, layout, moment, open_nested
from agent_journal.readers.azure_openai.names import IDS, TIMES
from agent_journal.readers.azure_openai.rows import Placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes


def calls(rows: Iterable[Placed], note: Notes) -> Iterator[list[Placed]]:
    """The rows of each call, calls in order of time; a row without a time stands with the one before it."""
    grouped = Grouped(shape=Placed)
    at = 0
    for place, row in enumerate(rows):
        known = layout(tuple(row.values))
        if known.is_nested:
            open_nested(row.values, known.columns)
        at = _time(row.values, known) or at
        group, size = _id(row.values, known) or f"\0{place}", flat_size(row.values)
        if size is not None:
            grouped.add_whole(group, at, row, size)
            continue
        try:
            grouped.add(group, at, row)
        except RecursionError:
            note(Kind.BAD_RECORD, row.where, "nested too deeply")
    for _, values in grouped.groups(by_order=True):
        yield [value if value.__class__ is Placed else Placed(*value) for value in values]


def _time(values: Bag, known: Layout) -> int | None:
    """The first time that a row states."""
    for value in _seen(values, known, TIMES, known.times):
        if found := _epoch_ms(value):
            return found
    return None


def _id(values: Bag, known: Layout) -> str | None:
    """What a row has in common with the others of its call."""
    for value in _seen(values, known, IDS, known.ids):
        if value.__class__ is str:
            return value
    return None


def _seen(values: Bag, known: Layout, names: tuple[str, ...], columns: tuple[str, ...]) -> list[Any]:
    """The values of some columns, which stay."""
    if known.is_nested:
        return [glance(values, known.columns, name) for name in names]
    return [values[column] for column in columns]


def _epoch_ms(value: Any) -> int | None:
    if value.__class__ is str:
        return _epoch_ms_of(value)
    return None if value is None else timestamps.epoch_ms(moment(value))


# The rows of a call mostly have the same time.
@lru_cache(maxsize=8)
def _epoch_ms_of(text: str) -> int | None:
    return timestamps.epoch_ms(moment(text))
