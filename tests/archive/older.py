"""Databases as older versions made them, with rows of a store of today."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import apsw

from agent_journal.archive.sqlite import SqliteStore
from agent_journal.archive.sqlite.connection import create_private_file
from agent_journal.archive.sqlite.schema import MIGRATIONS, usage_name
from agent_journal.model import Message

# Before that version hashes had so many bytes; what was cut off of them is not known any more.
_SHORT_HASHES, _HASH_BYTES = 5, 16


def as_of_version(new: SqliteStore, path: Path, version: int) -> None:
    """A database with the tables of an older version, and what fits into them."""
    create_private_file(path)
    old = apsw.Connection(str(path))
    old.create_scalar_function("usage_name", cast("Any", usage_name), 2, deterministic=True)
    with old:
        for statements in MIGRATIONS[:version]:
            old.execute(statements)
        old.pragma("user_version", version)
    for (table,) in list(old.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")):
        columns = [row[1] for row in old.execute(f"PRAGMA table_info({table})")]
        rows = dict.fromkeys(
            tuple(row[column] for column in columns) for row in _older_rows(new, table, columns, version)
        )
        named, places = ", ".join(columns), ", ".join("?" * len(columns))
        old.executemany(f"INSERT INTO {table} ({named}) VALUES ({places})", rows)  # noqa: S608 (our names)
    old.close()


def _older_rows(new: SqliteStore, table: str, columns: list[str], version: int) -> list[dict[str, Any]]:
    """Rows of a table with what older ones had."""
    names = [row[1] for row in new._rows(f"PRAGMA table_info({table})")]
    rows = [dict(zip(names, row, strict=True)) for row in new._rows(f"SELECT * FROM {table}")]  # noqa: S608
    for row in rows:
        if version < _SHORT_HASHES and "hash" in columns and table != "blobs":
            row["hash"] = row["hash"].ljust(_HASH_BYTES, b"\0")
        if table == "usage" and "key" in columns:
            row.update(_named(new, row["conversation"], row["message"]))
    return rows


def _named(new: SqliteStore, conversation: int, message: int) -> dict[str, Any]:
    """What older versions knew a message's usage by."""
    entry, holder = new._entry(message), new._detail(conversation)
    assert isinstance(entry, Message)
    assert entry.usage is not None
    key = entry.usage.key or f"{holder.id}\0{entry.id}"
    return {"source": holder.source, "key": key, "at": entry.at}
