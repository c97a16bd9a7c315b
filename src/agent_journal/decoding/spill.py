"""Logs that must be regrouped: what does not fit into memory goes to a private temporary file."""

from __future__ import annotations

from functools import partial
from io import SEEK_END
from itertools import accumulate, groupby
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast
from weakref import finalize

import msgspec

from agent_journal.model.spilled import Spilled, encode_spilled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import apsw

Order: TypeAlias = str | float | None

# So many bytes of values are held in memory; with more of them, all go to the file.
_HELD_BYTES = 64 << 20
_KEY, _ELEMENT = 16, 4
# So many bytes are written or read together.
_BATCH_BYTES = 256 << 10
# The places of values, group by group.
_GROUPS = """
SELECT grp, place, size FROM (
    SELECT *, CASE WHEN ? THEN min(ord) OVER of_group END AS first, min(place) OVER of_group AS begin
    FROM value WINDOW of_group AS (PARTITION BY grp)
) ORDER BY first, begin, ord, place
"""
_CACHE_KB = 16_000
_NESTING = frozenset({dict, list})
# By so many levels a value must be less deep than can be encoded: it may be decoded from further inside.
_MARGIN_DEPTH = 64
# What stands for a value that is too deep to be encoded, and what one that is encoded begins with: it is
# MessagePack, in a list. No JSON, as which values may be given, begins with either.
_DEEP = b"\0"
_LISTED = b"\x91"
_from_json = msgspec.json.Decoder().decode
_pack = msgspec.msgpack.Encoder(enc_hook=encode_spilled).encode


class Grouped:
    """Values by group, each group in order.

    Memory holds a small log, or one group of a large one; its file goes with the object. An owner of its
    values may give out the very objects that were added, which costs nothing as long as the log is small;
    else what is given out is a copy. Values that are nested too deeply for a copy stay in memory; of whoever
    does not own them, they are refused with RecursionError. A copy that fits a `shape`, which is a type of
    msgspec, is of that type. Nothing may be added while groups are given out.
    """

    def __init__(self, *, is_owner: bool = False, shape: Any = Any) -> None:
        self._is_owner = is_owner
        self._shaped = msgspec.msgpack.Decoder(tuple[shape]).decode
        self._held: dict[str, list[tuple[Order, Any]]] = {}
        self._bytes = 0
        self._deep: list[Any] = []
        self._margin = _Margin()
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
        """Keep a value of about so many bytes as JSON, which is given out once, as an owner would."""
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
        groups = self._groups(by_order=by_order) if self._stored is None else self._stored.groups(by_order)
        for group, values in groups:
            yield group, list(map(self._given, values))

    def of(self, group: str) -> list[Any]:
        """The values of one group; none if there is no such group."""
        values = self._sorted(group) if self._stored is None else self._stored.of(group)
        return list(map(self._given, values))

    def _store(self) -> None:
        self._stored = _Stored()
        for name, values in self._held.items():
            for order, held in values:
                data = held if held.__class__ is bytes else self._encoded(held, is_owned=True)
                self._stored.add(name, order, data)
        self._held.clear()

    def _encoded(self, value: Any, *, is_owned: bool) -> bytes:
        """A value as MessagePack in a list, as JSON if that cannot hold it, or what stands for it."""
        try:
            try:
                return self._margin.packed(value, around=1)
            except OverflowError:
                return self._margin.as_json(value)
        except RecursionError:
            if not is_owned:
                raise
        self._deep.append(value)
        return _DEEP + str(len(self._deep) - 1).encode()

    def _given(self, held: Any) -> Any:
        """A value that is held as bytes, or as it is."""
        if held.__class__ is not bytes:
            return held
        if held.startswith(_LISTED):
            return self._unpacked(held)
        return self._deep[int(held[len(_DEEP) :])] if held.startswith(_DEEP) else _from_json(held)

    def _unpacked(self, packed: bytes) -> Any:
        try:
            return self._shaped(packed)[0]
        except msgspec.ValidationError:
            return msgspec.msgpack.decode(packed)[0]

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


class _Margin:
    """The lists around a value that is encoded, made once: they take longer than small values do.

    Each of them takes a byte before the value, and in JSON one after it.
    """

    def __init__(self) -> None:
        self._innermost: list[Any] = [None]
        self._outermost = self._innermost
        for _ in range(_MARGIN_DEPTH - 1):
            self._outermost = [self._outermost]

    def packed(self, value: Any, around: int = 0) -> bytes:
        """A value as MessagePack, in so many of the lists."""
        self._innermost[0] = value
        try:
            return _pack(self._outermost)[_MARGIN_DEPTH - around :]
        finally:
            self._innermost[0] = None

    def as_json(self, value: Any) -> bytes:
        """A value as JSON, which has numbers of any size."""
        self._innermost[0] = value
        try:
            return msgspec.json.encode(self._outermost, enc_hook=encode_spilled)[_MARGIN_DEPTH:-_MARGIN_DEPTH]
        finally:
            self._innermost[0] = None


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
        self._margin = _Margin()

    def put(self, value: Any) -> tuple[int, int] | None:
        """Put away what msgspec can decode again; gives where it is, or None if no file can hold it."""
        try:
            data = self._margin.packed(value)
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


class ValueSpill:
    """Moves large values of events to a private temporary file, which is deleted with the last of them.

    Values that cannot be encoded, or that there is no room for, stay in memory.
    """

    # Smaller values take no more memory than the objects that would replace them.
    _MIN_BYTES = 512

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0
        self._margin = _Margin()
        self._is_usable = True

    def put(self, value: Any) -> Any:
        """Return an object that loads the value, or the value itself."""
        if not self._is_usable:
            return value
        try:
            data = self._margin.packed(value)
            if len(data) < self._MIN_BYTES:
                return value
            start = self._write(data)
        except (RecursionError, OverflowError, UnicodeError):
            return value
        except OSError:  # no temporary folder, or no room in it
            self._is_usable = False
            return value
        return Spilled(partial(self._read, start, len(data)))

    def _write(self, data: bytes) -> int:
        if self._file is None:
            # Unbuffered, so that a failed write is noticed while the value is still in memory.
            self._file = TemporaryFile(prefix="agent-journal-", buffering=0)  # noqa: SIM115 (closed with the object)
            finalize(self, self._file.close)
        start = self._end
        self._file.seek(start)
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[self._file.write(remaining) :]
        self._end += len(data)
        return start

    def _read(self, start: int, size: int) -> Any:
        file = cast("IO[bytes]", self._file)
        file.seek(start)
        pieces: list[bytes] = []
        while size:
            pieces.append(file.read(size))
            if not pieces[-1]:
                raise OSError("a temporary file was truncated")
            size -= len(pieces[-1])
        return msgspec.msgpack.decode(b"".join(pieces))


class _Stored:
    """Values in a temporary file that nobody else sees; a database without a name has the place of each.

    In the database itself, which keeps them in pages, values would be copied several times.
    """

    def __init__(self) -> None:
        import tempfile  # noqa: PLC0415 (slow to import, and only large logs need it)

        import apsw  # noqa: PLC0415

        # Without a buffer, which would be filled again for every value that is read.
        self._values = tempfile.TemporaryFile(prefix="aj-", buffering=0)  # noqa: SIM115 (lives as long as this)
        self._end = 0
        self._database: apsw.Connection = apsw.Connection("")
        self._database.pragma("cache_size", -_CACHE_KB)
        self._database.pragma("journal_mode", "OFF")
        self._database.execute("CREATE TABLE value (place INTEGER PRIMARY KEY, grp TEXT, ord, size INTEGER)")
        self._database.execute("BEGIN")
        self._is_indexed = False
        self._pending: list[bytes] = []
        self._rows: list[tuple[int, str, Order, int]] = []

    def __del__(self) -> None:
        self._values.close()

    def add(self, group: str, order: Order, data: bytes) -> None:
        self._pending.append(data)
        self._rows.append((self._end, group, order, len(data)))
        self._end += len(data)
        if self._end - self._rows[0][0] >= _BATCH_BYTES:
            self._flush()

    def groups(self, by_order: bool) -> Iterator[tuple[str, list[bytes]]]:  # noqa: FBT001 (as it is asked for)
        self._flush()
        rows = self._database.execute(_GROUPS, (by_order,))
        for group, of_group in groupby(rows, key=itemgetter(0)):
            yield str(group), self._read((place, size) for _, place, size in of_group)

    def of(self, group: str) -> list[bytes]:
        self._flush()
        if not self._is_indexed:
            self._database.execute("CREATE INDEX by_group ON value (grp, ord, place, size)")
            self._is_indexed = True
        return self._read(
            self._database.execute(
                "SELECT place, size FROM value WHERE grp = ? ORDER BY ord, place", (group,)
            )
        )

    def _read(self, places: Iterable[tuple[Any, Any]]) -> list[bytes]:
        """The values at some places; adjacent ones are read together."""
        values: list[bytes] = []
        sizes: list[int] = []
        start = end = 0
        for place, size in places:
            if place != end or end - start > _BATCH_BYTES:
                values += self._read_run(start, sizes)
                start, end, sizes = place, place, []
            sizes.append(size)
            end += size
        return values + self._read_run(start, sizes)

    def _read_run(self, start: int, sizes: list[int]) -> list[bytes]:
        if not sizes:
            return []
        self._values.seek(start)
        data = self._values.read(sum(sizes))
        if len(sizes) == 1:
            return [data]
        ends = list(accumulate(sizes))
        return [data[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    def _flush(self) -> None:
        if self._rows:
            self._values.seek(0, SEEK_END)
            left = memoryview(b"".join(self._pending))
            while left:
                left = left[self._values.write(left) :]
            self._database.executemany("INSERT INTO value VALUES (?, ?, ?, ?)", self._rows)
            self._pending.clear()
            self._rows.clear()
