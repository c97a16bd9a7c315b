"""Groups rows, which are in any order, by call, and sorts the calls by time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.spill import Grouped, flat_size
from agent_journal.model import timestamps
from agent_journal.notes import Kind
from agent_journal.readers.azure_openai.columns import Layout, glance, layout, open_nested, parse_time
from agent_journal.readers.azure_openai.names import IDS, TIMES
from agent_journal.readers.azure_openai.rows import LocatedRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes


def calls(rows: Iterable[LocatedRow], note: Notes) -> Iterator[list[LocatedRow]]:
    """Yield the rows of each call, by time; a row without a time has that of the previous row."""
    grouped = Grouped(shape=LocatedRow)
    at = 0
    for index, row in enumerate(rows):
        row_layout = layout(tuple(row.values))
        if row_layout.is_nested:
            open_nested(row.values, row_layout.columns)
        at = _time(row.values, row_layout) or at
        group, size = _id(row.values, row_layout) or f"\0{index}", flat_size(row.values)
        if size is not None:
            grouped.add_whole(group, at, row, size)
            continue
        try:
            grouped.add(group, at, row)
        except RecursionError:
            note(Kind.BAD_RECORD, row.location, "nested too deeply")
    for _, values in grouped.groups(by_order=True):
        yield [value if value.__class__ is LocatedRow else LocatedRow(*value) for value in values]


def _time(values: Bag, known: Layout) -> int | None:
    """Return the first time of a row."""
    for value in _values(values, known, TIMES, known.times):
        if ms := _epoch_ms(value):
            return ms
    return None


def _id(values: Bag, known: Layout) -> str | None:
    """Return the id that a row shares with the other rows of its call."""
    for value in _values(values, known, IDS, known.ids):
        if value.__class__ is str:
            return value
    return None


def _values(values: Bag, known: Layout, names: tuple[str, ...], columns: tuple[str, ...]) -> list[Any]:
    """Return the values of some columns and leave them in place."""
    if known.is_nested:
        return [glance(values, known.columns, name) for name in names]
    return [values[column] for column in columns]


def _epoch_ms(value: Any) -> int | None:
    if value.__class__ is str:
        return _epoch_ms_of(value)
    return None if value is None else timestamps.epoch_ms(parse_time(value))


# The rows of a call mostly have the same time.
@lru_cache(maxsize=8)
def _epoch_ms_of(text: str) -> int | None:
    return timestamps.epoch_ms(parse_time(text))
