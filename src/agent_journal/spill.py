"""Logs that must be regrouped: what does not fit into memory goes to a private temporary file."""

from __future__ import annotations

from operator import itemgetter
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

Order: TypeAlias = str | float | None

# So many bytes of values are held in memory; with more of them, all go to the file.
_HELD_BYTES = 32 << 20
_KEY, _ELEMENT = 16, 4
_TOGETHER = 2_000
_CACHE_KB = 16_000
_NESTING = frozenset({dict, list})
# By so many levels a value must be less deep than can be encoded: it may be decoded from further inside.
_MARGIN = 64
# What stands in the file for a value that is too deep for it; no JSON begins like that.
_DEEP = b"\0"
_decode = msgspec.json.Decoder().decode


class Grouped:
    """Values by group, each group in order.

    Memory holds a small log, or one group of a large one; its file goes with the object. An owner of its
    values may give out the very objects that were added, which costs nothing as long as the log is small;
    else what is given out is a copy. Values that are nested too deeply for a copy stay in memory; of whoever
    does not own them, they are refused with RecursionError.
    """

    def __init__(self, *, is_owner: bool = False) -> None:
        self._is_owner = is_owner
        self._held: dict[str, list[tuple[Order, Any]]] = {}
        self._bytes = 0
        self._deep: list[Any] = []
        self._stored: _Stored | None = None

    def add(self, group: str, order: Order, value: Any, written: bytes | None = None) -> None:
        """Keep a JSON value; `order` is its place in the group, equal ones stay in the order they came.

        `written` is what the value was decoded from, if it is at hand: then it need not be encoded again.
        """
        if self._stored is not None:
            self._stored.add(group, order, written or self._encoded(value, is_owned=self._is_owner))
            return
        held = value if self._is_owner else written or self._encoded(value, is_owned=False)
        size = len(written or b"") or (_size(value) if self._is_owner else len(held))
        self._hold(group, order, held, size)

    def add_whole(self, group: str, order: Order, value: Any, size: int) -> None:
        """Keep a value of about so many bytes as JSON, which is given out once, as an owner would.

        From the file it comes as its JSON.
        """
        if self._stored is None:
            self._hold(group, order, value, size)
        else:
            self._stored.add(group, order, self._encoded(value, is_owned=True))

    def _hold(self, group: str, order: Order, held: Any, size: int) -> None:
        self._held.setdefault(group, []).append((order, held))
        self._bytes += size
        if self._bytes > _HELD_BYTES:
            self._store()

    def groups(self, *, by_order: bool = False) -> Iterator[tuple[str, list[Any]]]:
        """Each group with its values: as the groups first came, or by the first order in each."""
        found = self._groups(by_order=by_order) if self._stored is None else self._stored.groups(by_order)
        for group, values in found:
            yield group, list(map(self._given, values))

    def of(self, group: str) -> list[Any]:
        """The values of one group; none if there is no such group."""
        found = self._sorted(group) if self._stored is None else self._stored.of(group)
        return list(map(self._given, found))

    def _store(self) -> None:
        self._stored = _Stored()
        for name, values in self._held.items():
            for order, held in values:
                data = held if held.__class__ is bytes else self._encoded(held, is_owned=True)
                self._stored.add(name, order, data)
        self._held.clear()

    def _encoded(self, value: Any, *, is_owned: bool) -> bytes:
        """A value as JSON, or what stands for it."""
        try:
            return msgspec.json.encode(_nested(value))[_MARGIN:-_MARGIN]
        except RecursionError:
            if not is_owned:
                raise
        self._deep.append(value)
        return _DEEP + str(len(self._deep) - 1).encode()

    def _given(self, held: Any) -> Any:
        """A value that is held as JSON, or as it is."""
        if held.__class__ is not bytes:
            return held
        return self._deep[int(held[len(_DEEP) :])] if held.startswith(_DEEP) else _decode(held)

    def _groups(self, *, by_order: bool) -> Iterator[tuple[str, list[Any]]]:
        names = sorted(self._held, key=self._first) if by_order else list(self._held)
        for name in names:
            yield name, self._sorted(name)

    def _first(self, group: str) -> tuple[int, Any]:
        """Where a group stands among others: by the first order that any of its values has."""
        known = [_rank(order) for order, _ in self._held[group] if order is not None]
        return min(known, default=_rank(None))

    def _sorted(self, group: str) -> list[Any]:
        held = self._held.get(group, [])
        if len(held) > 1:
            is_plain = {order.__class__ for order, _ in held} == {int}
            held = sorted(held, key=itemgetter(0) if is_plain else lambda value: _rank(value[0]))
        return [value for _, value in held]


def _nested(value: Any) -> Any:
    """The value in lists; each of them takes a byte before it, and in JSON one behind it."""
    for _ in range(_MARGIN):
        value = [value]
    return value


def flat_size(record: dict[str, Any]) -> int | None:
    """About how long a record of nothing but texts and numbers is as JSON; None if anything nests in it."""
    values = record.values()
    if not _NESTING.isdisjoint(map(type, values)):
        return None
    return _KEY * len(record) + sum([len(value) for value in values if value.__class__ is str])


def _size(value: Any) -> int:
    """About how long a value is as JSON."""
    size = 0
    pending = [value]
    while pending:
        current = pending.pop()
        kind = current.__class__
        if kind is str:
            size += len(current)
        elif kind is dict:
            pending += current.values()
            size += _KEY * len(current)
        elif isinstance(current, list | tuple):
            pending += current
            size += _ELEMENT * len(current)
    return size


def _rank(order: Order) -> tuple[int, Any]:
    """Where an order stands: nothing before numbers, those before texts, as the database has it."""
    if order is None:
        return 0, 0
    return (2, order) if isinstance(order, str) else (1, order)


class Shelf:
    """A private temporary file for what is not wanted for the time being; it goes with the object."""

    def __init__(self) -> None:
        self._file = TemporaryFile(prefix="agent-journal-")  # noqa: SIM115 (it is closed with the object)
        finalize(self, self._file.close)
        self._end = 0

    def put(self, value: Any) -> tuple[int, int] | None:
        """Put away what msgspec can decode again; gives where it is, or None if no file can hold it."""
        try:
            data = msgspec.msgpack.encode(_nested(value))[_MARGIN:]
        except (RecursionError, OverflowError, UnicodeError):
            return None
        self._file.seek(self._end)
        self._file.write(data)
        place = self._end, len(data)
        self._end += len(data)
        return place

    def get(self, place: tuple[int, int]) -> bytes:
        """The value that was put there, as MessagePack."""
        start, length = place
        self._file.seek(start)
        return self._file.read(length)


class _Stored:
    """Values in a temporary file that nobody else sees; a database without a name tells where each is.

    In the database itself, which keeps them in pages, values would be copied several times.
    """

    def __init__(self) -> None:
        import tempfile  # noqa: PLC0415 (slow to import, and only large logs need it)

        import apsw  # noqa: PLC0415

        self._values = tempfile.TemporaryFile(prefix="aj-")  # noqa: SIM115 (lives as long as this)
        self._end = 0
        self._database: apsw.Connection = apsw.Connection("")
        self._database.pragma("cache_size", -_CACHE_KB)
        self._database.pragma("journal_mode", "OFF")
        self._database.execute("CREATE TABLE value (place INTEGER PRIMARY KEY, grp TEXT, ord, size INTEGER)")
        self._database.execute("BEGIN")
        self._is_indexed = False
        self._pending: list[tuple[int, str, Order, int]] = []

    def __del__(self) -> None:
        self._values.close()

    def add(self, group: str, order: Order, data: bytes) -> None:
        if self._is_indexed:  # something was read meanwhile
            self._values.seek(self._end)
        self._values.write(data)
        self._pending.append((self._end, group, order, len(data)))
        self._end += len(data)
        if len(self._pending) >= _TOGETHER:
            self._flush()

    def groups(self, by_order: bool) -> Iterator[tuple[str, list[bytes]]]:  # noqa: FBT001 (as it is asked for)
        self._flush()
        names = self._database.execute(
            "SELECT grp FROM value GROUP BY grp ORDER BY CASE WHEN ? THEN min(ord) END, min(place)",
            (by_order,),
        )
        # Sorting all values at once would move each of them several times.
        for group in [str(name) for (name,) in names]:
            yield group, self.of(group)

    def of(self, group: str) -> list[bytes]:
        self._flush()
        if not self._is_indexed:
            self._database.execute("CREATE INDEX by_group ON value (grp, ord, place)")
            self._is_indexed = True
        rows = self._database.execute(
            "SELECT place, size FROM value WHERE grp = ? ORDER BY ord, place", (group,)
        )
        return [self._value(place, size) for place, size in rows]

    def _value(self, place: int, size: int) -> bytes:
        self._values.seek(place)
        return self._values.read(size)

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO value VALUES (?, ?, ?, ?)", self._pending)
        self._pending.clear()
