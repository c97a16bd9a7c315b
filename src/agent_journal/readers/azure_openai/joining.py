"""Rows put together to calls, which lie scattered and in any order, and the calls in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import times
from agent_journal.notes import Kind
from agent_journal.readers.azure_openai.columns import glance, moment
from agent_journal.readers.azure_openai.names import CORRELATION, TIMES
from agent_journal.readers.azure_openai.rows import Placed
from agent_journal.spill import Grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.notes import Notes

# So many characters of rows are held in memory; more go to a temporary file.
_HELD = 32 << 20


def calls(rows: Iterable[Placed], note: Notes) -> Iterator[list[Placed]]:
    """The rows of each call, calls in order of time; a row without a time stands with the one before it."""
    joined = _Joined(note)
    at = 0
    for place, row in enumerate(rows):
        known = next((found for name in TIMES if (found := _epoch_ms(glance(row.values, name)))), None)
        at = at if known is None else known
        group = glance(row.values, CORRELATION)
        joined.add(group if group.__class__ is str else f"\0{place}", at, row)
    return joined.calls()


def _epoch_ms(value: Any) -> int | None:
    return None if value is None else times.epoch_ms(moment(value))


class _Joined:
    """Rows by call: in memory while they are few, else in a temporary file."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._held: dict[str, list[Placed]] = {}
        self._first_at: dict[str, int] = {}
        self._size = 0
        self._spilled: Grouped | None = None

    def add(self, group: str, at: int, row: Placed) -> None:
        if self._spilled is not None:
            self._write(self._spilled, group, at, row)
            return
        self._held.setdefault(group, []).append(row)
        self._first_at[group] = min(at, self._first_at.get(group, at))
        self._size += sum(len(value) for value in row.values.values() if value.__class__ is str)
        if self._size > _HELD:
            self._spill()

    def _spill(self) -> None:
        self._spilled = Grouped()
        for group, rows in self._held.items():
            for row in rows:
                self._write(self._spilled, group, self._first_at[group], row)
        self._held.clear()

    def _write(self, spilled: Grouped, group: str, at: int, row: Placed) -> None:
        try:
            spilled.add(group, at, row)
        except RecursionError:
            self._note(Kind.BAD_RECORD, row.where, "nested too deeply")

    def calls(self) -> Iterator[list[Placed]]:
        if self._spilled is not None:
            for _, values in self._spilled.groups(by_order=True):
                yield [Placed(*value) for value in values]
        else:
            for group in sorted(self._held, key=lambda group: self._first_at[group]):
                yield self._held.pop(group)
