"""Open the journal's database, and the base class of all parts of the store."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import apsw
import msgspec

from agent_journal.archive.machine import leave_mark
from agent_journal.archive.sqlite.schema import VERSION, migrate
from agent_journal.errors import CannotWrite, DamagedArchive, OlderArchive, UnusableArchive
from agent_journal.files import make_private, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from agent_journal.errors import AgentJournalError

IN_MEMORY = ":memory:"
"""The path of a database that is in no file."""

# A reader waits this long for a writer's short locks.
_BUSY_MS = 10_000
RESTORE_ADVICE = "restore it from a backup made with 'aj backup'"
_CACHE_KB = 16_384
# Of a new database: most texts and blocks need more than SQLite's default page of half this size.
_PAGE_BYTES = 8_192
# Size of the WAL after which it is merged into the database.
_MAX_WAL_PAGES = 4_000
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.ConstraintError, apsw.MismatchError)


# The first versions in which a simultaneous checkpoint and write cannot damage a database.
_SAFE_SQLITE_VERSIONS = ((3, 51, 3), (3, 50, 7), (3, 44, 6))


def engine() -> tuple[str, bool]:
    """Return the version of SQLite, and whether a database in WAL mode is safe with it."""
    version = apsw.sqlite_lib_version()
    number = tuple(int(step) for step in version.split(".")[:3])
    newest = _SAFE_SQLITE_VERSIONS[0]
    is_safe = number >= newest or any(
        number[:2] == other[:2] and number >= other for other in _SAFE_SQLITE_VERSIONS
    )
    return version, is_safe


def is_damaged(path: Path) -> bool:
    """Whether a database is missing, or fails SQLite's integrity check."""
    if not path.exists() or not path.stat().st_size:
        return True
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(connection.execute("PRAGMA integrity_check(5)")) != [("ok",)]
        finally:
            connection.close(force=True)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError):
        return True
    except apsw.Error:
        return False


def create_private_file(path: Path) -> None:
    """Create an empty file that only the user can read; SQLite creates its other files with the same mode."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    make_private(str(path))


def create_database(path: Path) -> None:
    """Create a database, which gets its name when it has all tables."""
    part = path.with_name(f"{path.name}.part")
    for leftover in (part, part.with_name(f"{part.name}-journal")):
        leftover.unlink(missing_ok=True)
    try:
        create_private_file(part)
        connection = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.pragma("page_size", _PAGE_BYTES)
            _migrate(connection)
        finally:
            connection.close()
        part.replace(path)
    except OSError as error:
        raise CannotWrite(str(path), (error.strerror or str(error)).lower()) from error
    except apsw.Error as error:
        raise CannotWrite(str(path), str(error)) from error
    sync_folder(str(path.parent))


def connect(path: Path, *, for_writing: bool) -> apsw.Connection:
    """Connect to a database, and migrate its tables if it is opened for writing."""
    connection: apsw.Connection | None = None
    try:
        connection = _opened(path, for_writing=for_writing)
        connection.set_busy_timeout(_BUSY_MS)
        _check_version(connection, path)
        _set_up(connection, for_writing=for_writing)
    except BaseException as error:
        if connection is not None:
            connection.close(force=True)
        if isinstance(error, apsw.Error | UnicodeDecodeError):
            raise UnusableArchive(str(path), f"{error}; {_advice(error)}") from error
        raise
    return connection


def _opened(path: Path, *, for_writing: bool) -> apsw.Connection:
    if for_writing:
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(_BUSY_MS)
    try:
        connection.pragma("user_version")
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        connection.close(force=True)
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise
        # The folder is read-only, so SQLite cannot create its -shm file. Then no other process writes either.
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    except apsw.Error:
        connection.close(force=True)
        raise
    return connection


def _advice(error: Exception) -> str:
    if isinstance(error, apsw.ReadOnlyError):
        return "check that the folder is writable"
    if isinstance(error, apsw.FullError | apsw.IOError):
        return "check that the disk is not full"
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return "try again when the other process is done"
    if isinstance(error, apsw.CantOpenError):
        return "check that you can read it and the files next to it"
    return RESTORE_ADVICE


def _check_version(connection: apsw.Connection, path: Path) -> None:
    version = connection.pragma("user_version")
    if not version and str(path) != IN_MEMORY:  # a new one gets its name when it has tables
        raise UnusableArchive(str(path), f"it is empty; {RESTORE_ADVICE}")
    if version > VERSION:
        reason = (
            f"it was written by a newer version (tables {version}, known {VERSION}); upgrade agent-journal"
        )
        raise UnusableArchive(str(path), reason)


def _set_up(connection: apsw.Connection, *, for_writing: bool) -> None:
    connection.pragma("cache_size", -_CACHE_KB)
    connection.pragma("temp_store", "memory")
    connection.create_scalar_function("folded", cast("Any", _folded), 1, deterministic=True)
    if not for_writing:
        if connection.pragma("user_version") != VERSION:
            raise OlderArchive(connection.filename)
        return
    connection.pragma("journal_mode", "wal")
    # A process that dies loses nothing. A power cut may lose the last seconds of an import, whole
    # conversations at a time; they are read again from their sources.
    connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", 1)
    connection.wal_autocheckpoint(_MAX_WAL_PAGES)
    _migrate(connection)


def _folded(text: Any) -> Any:
    """Fold the case of a text for comparison: SQLite itself only folds A to Z.

    File names on a Mac are in decomposed Unicode, so texts are normalized too.
    """
    if not isinstance(text, str):
        return text
    if text.isascii():
        return text.lower()
    from unicodedata import normalize  # noqa: PLC0415 (few need it)

    return normalize("NFC", text).casefold()


def _migrate(connection: apsw.Connection) -> None:
    version = connection.pragma("user_version")
    if version == VERSION:
        return
    with connection:
        migrate(connection, version)
        if not version:
            connection.execute(
                "INSERT INTO journal VALUES ('id', lower(hex(randomblob(16)))), ('last_key', 0)"
            )
        connection.pragma("user_version", VERSION)


IN_VALUES = "IN (SELECT value FROM json_each(?))"
"""SQL: whether a value is in a JSON array."""


def as_json(values: Iterable[int] | Iterable[str]) -> str:
    """Encode values for `json_each`, so that any number of them is one parameter of a statement."""
    return msgspec.json.encode(list(values)).decode()


class Base:
    """A connection to a database file."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._last_key: int | None = None
        self._is_in_memory = self._is_marked = str(path) == IN_MEMORY
        self.journal_id: str = str(self._value("SELECT value FROM journal WHERE name = 'id'"))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside, or nothing."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            if not self._is_marked:
                self._mark()
            yield
            if self._last_key is not None:
                self._db.execute("UPDATE journal SET value = ? WHERE name = 'last_key'", (self._last_key,))
            self._db.execute("COMMIT")
        except BaseException as error:
            self._last_key = None
            self._is_marked = self._is_in_memory
            if not self._db.get_autocommit():
                self._db.execute("ROLLBACK")
            if isinstance(error, apsw.Error):
                raise self._public_error(error) from error
            raise

    def commit_durably(self) -> None:
        """From now on, make every committed transaction survive a power cut."""
        self._db.pragma("synchronous", "full")

    def _mark(self) -> None:
        """Write the mark of this session to the rows and next to them, to detect inconsistent copies."""
        mark = os.urandom(8).hex()
        self._db.execute("INSERT OR REPLACE INTO journal VALUES ('generation', ?)", (mark,))
        leave_mark(self._path.parent, mark)
        self._is_marked = True

    def generation(self) -> str:
        """Return the mark that the last writing session left; empty if there is none."""
        return str(self._value("SELECT value FROM journal WHERE name = 'generation'") or "")

    def writers(self) -> list[str]:
        """Return the machines that wrote to it, the latest last."""
        return str(self._value("SELECT value FROM journal WHERE name = 'writers'") or "").split()

    def set_writers(self, machines: list[str]) -> None:
        """Store the machines that wrote to it."""
        self._db.execute("INSERT OR REPLACE INTO journal VALUES ('writers', ?)", (" ".join(machines),))

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read one consistent state inside, whatever other processes write."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")  # nothing was written, and on a damaged database a commit would fail

    def data_version(self) -> int:
        """Return a number that changes when another connection has written."""
        version: int = self._value("PRAGMA data_version")
        return version

    def _public_error(self, error: apsw.Error) -> AgentJournalError:
        """Convert a database error to one for users."""
        if isinstance(error, _DAMAGE):
            return DamagedArchive(str(self._path), f"the database is damaged ({error})")
        return CannotWrite(str(self._path), str(error))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def last_key(self) -> int:
        """Return the highest key in use."""
        if self._last_key is not None:
            return self._last_key
        last: int = self._value("SELECT value FROM journal WHERE name = 'last_key'")
        return last

    def _new_key(self) -> int:
        """Return a new key; messages, titles and memories share one sequence."""
        self._last_key = self.last_key() + 1
        return self._last_key

    def _value(self, sql: str, *values: Any) -> Any:
        return next((row[0] for row in self._rows(sql, *values)), None)

    def _rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._db.execute(sql, values)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError) as error:
            raise DamagedArchive(str(self._path), f"the database is damaged ({error})") from error

    def _many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            self._db.executemany(sql, rows)
