"""The store in one SQLite file. All SQL of the program is in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.sqlite.connection import connected, engine, is_damaged, made
from agent_journal.archive.sqlite.maintenance import Care
from agent_journal.errors import DamagedArchive, UnusableArchive

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SqliteStore", "engine", "is_damaged", "open_store"]


class SqliteStore(Care):
    """Rows of one journal in a SQLite file."""


def open_store(path: Path, *, for_writing: bool) -> SqliteStore:
    """The store in that file; made if it is not there and something will be written."""
    if for_writing and not path.exists():
        made(path)
    connection = connected(path, for_writing=for_writing)
    try:
        return SqliteStore(connection, path)
    except DamagedArchive as error:
        connection.close(force=True)
        reason = f"{error.reason}; 'aj backup' copies can be put in its place"
        raise UnusableArchive(str(path), reason) from error
