"""Logs that must be regrouped: what does not fit into memory goes to a private temporary file."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOGETHER = 2_000
_CACHE_KB = 16_000


class Grouped:
    """Values by group, each group in order. Memory holds one group; the file goes with the object."""

    def __init__(self) -> None:
        import apsw  # noqa: PLC0415 (only logs need it)

        # A database without a name is a temporary file that nobody else sees.
        self._database = apsw.Connection("")
        self._database.pragma("cache_size", -_CACHE_KB)
        self._database.pragma("journal_mode", "OFF")
        self._database.execute("CREATE TABLE value (place INTEGER PRIMARY KEY, grp TEXT, ord, data BLOB)")
        self._database.execute("BEGIN")
        self._is_indexed = False
        self._pending: list[tuple[str, str | float | None, bytes]] = []

    def add(self, group: str, order: str | float | None, value: Any) -> None:
        """Keep a JSON value; `order` is its place in the group, equal ones stay in the order they came."""
        self._pending.append((group, order, msgspec.json.encode(value)))
        if len(self._pending) >= _TOGETHER:
            self._flush()

    def groups(self, *, by_order: bool = False) -> Iterator[tuple[str, list[Any]]]:
        """Each group with its values: as the groups first came, or by the first order in each."""
        self._flush()
        rows = self._database.execute(
            "SELECT grp, data FROM value"
            " JOIN (SELECT grp, min(place) AS came, min(ord) AS first FROM value GROUP BY grp) USING (grp)"
            " ORDER BY CASE WHEN ? THEN first END, came, ord, place",
            (by_order,),
        )
        for group, values in groupby(rows, key=itemgetter(0)):
            yield group, [msgspec.json.decode(data) for _, data in values]

    def of(self, group: str) -> list[Any]:
        """The values of one group; none if there is no such group."""
        self._flush()
        if not self._is_indexed:
            self._database.execute("CREATE INDEX by_group ON value (grp, ord, place)")
            self._is_indexed = True
        rows = self._database.execute("SELECT data FROM value WHERE grp = ? ORDER BY ord, place", (group,))
        return [msgspec.json.decode(data) for (data,) in rows]

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO value (grp, ord, data) VALUES (?, ?, ?)", self._pending)
        self._pending.clear()
