"""Rows put together to calls, which lie scattered and in any order, and the calls in order of time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal import times
from agent_journal.notes import Kind
from agent_journal.readers.azure_openai.columns import glance, moment
from agent_journal.readers.azure_openai.names import IDS, TIMES
from agent_journal.readers.azure_openai.rows import Placed
from agent_journal.spill import Grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.notes import Notes


def calls(rows: Iterable[Placed], note: Notes) -> Iterator[list[Placed]]:
    """The rows of each call, calls in order of time; a row without a time stands with the one before it."""
    grouped = Grouped()
    at = 0
    for place, row in enumerate(rows):
        known = next((found for name in TIMES if (found := _epoch_ms(glance(row.values, name)))), None)
        at = at if known is None else known
        ids = (glance(row.values, name) for name in IDS)
        group = next((each for each in ids if each.__class__ is str), f"\0{place}")
        try:
            grouped.add(group, at, row)
        except RecursionError:
            note(Kind.BAD_RECORD, row.where, "nested too deeply")
    for _, values in grouped.groups(by_order=True):
        yield [Placed(*value) for value in values]


def _epoch_ms(value: Any) -> int | None:
    if value.__class__ is str:
        return _epoch_ms_of(value)
    return None if value is None else times.epoch_ms(moment(value))


# The rows of a call mostly have the same time.
@lru_cache(maxsize=8)
def _epoch_ms_of(text: str) -> int | None:
    return times.epoch_ms(moment(text))
