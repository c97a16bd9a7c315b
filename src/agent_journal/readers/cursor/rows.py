"""Read the editor's key-value tables by ranges of keys: a whole table may be gigabytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

DISK, ITEMS = "cursorDiskKV", "ItemTable"
# The character after ":" in ASCII: keys that start with "a:" are between "a:" and "a;".
_END = ";"
# The cast confines text that is not UTF-8 to one damaged value.
_KEY, _BYTES = "CAST(key AS BLOB)", "CAST(value AS BLOB)"


def readable_rows(
    database: Database, note: Notes, where: str, sql: str, *values: str | bytes
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query as far as they can be read; note damage."""
    try:
        yield from database.rows(sql, *values)
    except UnreadableSource as error:
        note(Kind.BAD_RECORD, where, error.reason)


class Rows:
    """One table of a database. Damage is noted and ends only the range in which it is."""

    def __init__(self, database: Database, table: str, note: Notes) -> None:
        self._database = database
        self._table = table
        self._note = note
        self._exists = table in database.tables

    def value(self, key: str) -> bytes | None:
        """Return the value of a key; None if it does not exist."""
        for (value,) in self._rows(f"SELECT {_BYTES} FROM {self._table} WHERE key = ?", key):  # noqa: S608 (our names)
            return value  # type: ignore[no-any-return] # cast by the query
        return None

    def below(self, prefix: str) -> Iterator[tuple[str, bytes | None]]:
        """Yield the keys with a prefix (ending in ":"), without the prefix, and their values, in order."""
        sql = f"SELECT {_KEY}, {_BYTES} FROM {self._table} WHERE key >= ? AND key < ? ORDER BY key"  # noqa: S608
        size = len(prefix.encode())
        for key, value in self._rows(sql, prefix, prefix[:-1] + _END):
            yield key[size:].decode("utf-8", "replace"), value

    def has(self, prefix: str) -> bool:
        """Whether any key starts with a prefix."""
        sql = f"SELECT 1 FROM {self._table} WHERE key >= ? AND key < ? LIMIT 1"  # noqa: S608
        return next(self._rows(sql, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)), None) is not None

    def next_segments(self, prefix: str) -> Iterator[str]:
        """Yield the distinct next segments of keys with a prefix: `x` and `y` of `a:x:1`, `a:x:2`, `a:y`.

        Each costs one lookup in the table's index, however many keys share it.
        """
        between = "key >= CAST(? AS TEXT) AND key < ?"
        sql = f"SELECT {_KEY} FROM {self._table} WHERE {between} ORDER BY key LIMIT 1"  # noqa: S608
        start, size = prefix.encode(), len(prefix.encode())
        while row := next(self._rows(sql, start, prefix[:-1] + _END), None):
            segment = row[0][size:].partition(b":")[0]
            yield segment.decode("utf-8", "replace")
            start = row[0][:size] + segment + _END.encode()

    def _rows(self, sql: str, *values: str | bytes) -> Iterator[tuple[Any, ...]]:
        if not self._exists:
            return iter(())
        return readable_rows(self._database, self._note, str(values[0])[:100], sql, *values)
