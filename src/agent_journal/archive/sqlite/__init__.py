"""The store in one SQLite file. All SQL of the program is in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.sqlite.connection import (
    RESTORE_ADVICE,
    connect,
    create_database,
    engine,
    is_damaged,
)
from agent_journal.archive.sqlite.maintenance import Maintenance
from agent_journal.errors import DamagedArchive, UnusableArchive

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SqliteStore", "engine", "is_damaged", "open_store"]


class SqliteStore(Maintenance):
    """The rows of one journal in a SQLite file."""


def open_store(path: Path, *, for_writing: bool) -> SqliteStore:
    """Open the store in a file; it is created if it is missing and `for_writing`."""
    if for_writing and not path.exists():
        create_database(path)
    connection = connect(path, for_writing=for_writing)
    try:
        return SqliteStore(connection, path)
    except DamagedArchive as error:
        connection.close(force=True)
        reason = f"{error.reason}; {RESTORE_ADVICE}"
        raise UnusableArchive(str(path), reason) from error
