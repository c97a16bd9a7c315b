"""SQLite files of other programs, read from a private copy, so that theirs is neither locked nor changed.

A program in WAL mode keeps its newest rows in a second file, `-wal`, which is copied too. What is read is
the data of strangers: its schema may hold views and triggers, its pages may be damaged or made to be.
"""

from __future__ import annotations

import os
import threading
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from agent_journal.inputs.input import Input

MAGIC = b"SQLite format 3\0"
MAX_BYTES = 64 << 30
_BLOCK_BYTES = 1 << 20
# The header of a -wal file; it changes when the program begins the file again.
_WAL_HEADER_BYTES = 32
_MAX_COPY_ATTEMPTS = 5
# SQLite calls us after this many of its instructions, and is stopped after this many calls in one query: a
# recursive view in a database from a stranger would never end.
_STEPS_PER_CHECK, _MAX_STEPS = 1_000_000, 20_000
MAX_VALUE_BYTES = 128 << 20
_MAX_NAMED_VALUES = 20
_MAX_SQLITE_BYTES = (1 << 31) - 1


class _OmittedValues(threading.local):
    """Values that were too large to be read by this thread: file, place in it, and how large."""

    def __init__(self) -> None:
        self.places: list[tuple[str, str, str]] = []


_omitted = _OmittedValues()


def take_omitted_values() -> list[tuple[str, str, str]]:
    """Return file, place and size of the values that were too large for this thread since the last call."""
    places, _omitted.places = _omitted.places, []
    return places


class Database:
    """An open database. Text that may not be UTF-8 should be read as `CAST(x AS BLOB)`."""

    def __init__(self, connection: apsw.Connection, label: str, *, is_own: bool = False) -> None:
        self._connection = connection
        self._label = label
        self._is_own = is_own
        """Whether it is a private copy, which may be changed."""
        self._steps = 0
        _harden(connection)
        connection.set_progress_handler(self._is_too_long, _STEPS_PER_CHECK)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of its tables."""
        rows = self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return frozenset(name for (name,) in rows if isinstance(name, str))

    def columns(self, table: str) -> tuple[str, ...]:
        """The names of a table's columns; none if there is no such table."""
        return tuple(name for (name,) in self.rows("SELECT name FROM pragma_table_info(?)", table))

    def rows(self, sql: str, *values: str | int | bytes | None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query. Damage ends them with `UnreadableSource`; those before it were good."""
        import apsw  # noqa: PLC0415 (only databases need it)

        self._steps = 0
        given = 0
        try:
            for row in self._connection.execute(sql, values):
                yield row
                given += 1
        except apsw.TooBigError as error:
            if not self._is_own or not self._empty_large_values():
                reason = f"a value of more than {MAX_VALUE_BYTES:,} bytes is not read"
                raise UnreadableSource(self._label, reason) from error
        except (apsw.Error, UnicodeDecodeError, MemoryError) as error:
            raise UnreadableSource(self._label, f"the database is damaged ({error})") from error
        else:
            return
        yield from islice(self.rows(sql, *values), given, None)

    def _empty_large_values(self) -> int:
        """Empty the values of a private copy that are too large to be read, and say which; how many.

        How long a value is stands before it, so nothing large is read here.
        """
        import apsw  # noqa: PLC0415

        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, _MAX_SQLITE_BYTES)
        self._connection.pragma("query_only", 0)
        self._connection.pragma("ignore_check_constraints", 1)
        try:
            return sum(
                self._emptied(table, column) for table in self.tables for column in self.columns(table)
            )
        except apsw.Error:
            return 0
        finally:
            self._connection.pragma("query_only", 1)
            self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)

    def _emptied(self, table: str, column: str) -> int:
        place, column_ = _quoted(table), _quoted(column)
        is_large = f"octet_length({column_}) > {MAX_VALUE_BYTES}"
        sizes = [
            size
            for (size,) in self._connection.execute(
                f"SELECT octet_length({column_}) FROM {place} WHERE {is_large}"  # noqa: S608 (quoted)
            )
        ]
        if sizes:
            self._connection.execute(f"UPDATE {place} SET {column_} = '' WHERE {is_large}")  # noqa: S608
        for size in sizes[:_MAX_NAMED_VALUES]:
            detail = f"a value of {size:,} bytes; more than {MAX_VALUE_BYTES:,} are not read"
            _omitted.places.append((self._label, f"{table}.{column}", detail))
        if len(sizes) > _MAX_NAMED_VALUES:
            _omitted.places.append(
                (self._label, f"{table}.{column}", f"{len(sizes) - _MAX_NAMED_VALUES:,} more such values")
            )
        return len(sizes)

    def _is_too_long(self) -> bool:
        self._steps += 1
        return self._steps > _MAX_STEPS


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _harden(connection: apsw.Connection) -> None:
    import apsw  # noqa: PLC0415

    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    with suppress(apsw.Error):  # damage is reported when the file is read
        connection.pragma("cell_size_check", 1)
        connection.pragma("mmap_size", 0)
        connection.pragma("query_only", 1)


@contextmanager
def opened(source: Input) -> Iterator[Database]:
    """A database as it is now, with what is still in its `-wal`. The copy goes when it is closed."""
    if own := getattr(source, "database", None):  # a stored one answers itself
        with own() as database:
            yield database
        return
    import tempfile  # noqa: PLC0415 (slow to import, needed only here)

    with tempfile.TemporaryDirectory(prefix="aj-") as folder:
        copy = os.path.join(folder, "db")
        _copy(source, copy)
        with closing(_connected(copy, source.label)) as connection:
            yield Database(connection, source.label, is_own=True)


@contextmanager
def glanced(source: Input) -> Iterator[Database]:
    """The same for a first look: a file on disk is not copied, and what is only in its `-wal` is not seen."""
    if own := getattr(source, "glanced", None):
        with own() as database:
            yield database
        return
    if not isinstance(source, File):
        with opened(source) as database:
            yield database
        return
    from urllib.parse import quote  # noqa: PLC0415

    # Reading takes no lock and writes no file next to the database.
    address = f"file:{quote(os.path.abspath(source.location))}?mode=ro&immutable=1"
    with closing(_connected(address, source.label)) as connection:
        yield Database(connection, source.label)


def has_wal(source: Input) -> bool:
    """Whether a program has rows in a `-wal` that are not in the database yet."""
    return source.companion(f"{source.name}-wal") is not None


def _connected(address: str, label: str) -> apsw.Connection:
    import apsw  # noqa: PLC0415

    is_address = apsw.SQLITE_OPEN_URI if address.startswith("file:") else 0
    mode = apsw.SQLITE_OPEN_READONLY if is_address else apsw.SQLITE_OPEN_READWRITE
    try:
        return apsw.Connection(address, flags=mode | is_address)
    except apsw.Error as error:
        raise UnreadableSource(label, f"the database cannot be opened ({error})") from error


def _copy(source: Input, target: str) -> None:
    """Copy database and -wal of one moment: again if the program moved rows between them meanwhile."""
    for _ in range(_MAX_COPY_ATTEMPTS):
        before = _state(source)
        _copy_bytes(source, target)
        wal = source.companion(f"{source.name}-wal")
        if wal is not None:
            _copy_bytes(wal, f"{target}-wal")
        elif os.path.exists(f"{target}-wal"):
            os.remove(f"{target}-wal")
        if before == _state(source):
            return
    raise UnreadableSource(source.label, "it changes all the time; close the program that writes it")


def _state(source: Input) -> tuple[object, ...]:
    """What stays the same while rows are only appended to the -wal."""
    if not isinstance(source, File):
        return ()
    try:
        status = os.stat(source.location)
    except OSError:
        return ()
    wal = source.companion(f"{source.name}-wal")
    return status.st_size, status.st_mtime_ns, status.st_ino, wal and _start(wal)


def _start(wal: Input) -> bytes:
    try:
        with wal.open() as stream:
            return stream.read(_WAL_HEADER_BYTES)
    except UnreadableSource:  # it went away meanwhile
        return b""


def _copy_bytes(source: Input, target: str) -> None:
    size = 0
    with source.open() as stream, open(target, "wb", buffering=0) as out:
        while block := stream.read(_BLOCK_BYTES):
            size += len(block)
            if size > MAX_BYTES:
                raise UnreadableSource(source.label, f"it is larger than {MAX_BYTES >> 30} GiB")
            _write(out, block, source.label)


def _write(out: IO[bytes], block: bytes, label: str) -> None:
    try:
        out.write(block)
    except OSError as error:
        raise UnreadableSource(label, f"no room for a private copy of it ({error.strerror})") from error
