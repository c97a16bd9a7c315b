"""The ledger: sources with their byte counts, snapshots, and the catalog of the vault."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.archive.candidates import Stat
from agent_journal.archive.manifest import Manifest
from agent_journal.archive.sqlite.connection import Base
from agent_journal.archive.store import Snapshot, SourceRow, SourceState
from agent_journal.archive.vault import BlobLocation
from agent_journal.inputs.input import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_encode = msgspec.msgpack.Encoder().encode
_STAT = msgspec.msgpack.Decoder(Stat)
_COMPANION_STATS = msgspec.msgpack.Decoder(dict[bytes, Stat])
_MANIFEST = msgspec.msgpack.Decoder(Manifest)
# A hash in MessagePack, which is recognized even in a damaged manifest.
_PACKED_HASH = re.compile(rb"\xc4\x20(.{32})", re.DOTALL)
_COLUMNS = (
    "key, path, home, stat, beside, reader, status, size, defects, conversations, messages, notes, read_at, "
    "missing_since"
)


class Ledger(Base):
    """The part of the store that records what was read."""

    def sources(self) -> Iterator[SourceRow]:
        """Yield every source without its notes."""
        columns = _COLUMNS.replace("notes", "'[]'")
        for row in self._rows(f"SELECT {columns} FROM sources ORDER BY path"):
            yield _source(row)

    def ledger(self, path: str | None = None) -> dict[str, SourceState]:
        """Return the state of every source, or of one, by its path as text."""
        sql = "SELECT path, key, home, stat, beside, status, read_at, missing_since FROM sources"
        rows = self._rows(sql) if path is None else self._rows(f"{sql} WHERE path = ?", path)
        return {row[0]: SourceState(*row[1:]) for row in rows}

    def source(self, path: str) -> SourceRow | None:
        """Return the source with this path, if there is one."""
        row = next(self._rows(f"SELECT {_COLUMNS} FROM sources WHERE path = ?", as_text(path)), None)
        return None if row is None else _source(row)

    def source_paths_below(self, folder: str) -> list[str]:
        """Return the paths of all sources that begin with a folder, in order."""
        after = folder[:-1] + chr(ord(folder[-1]) + 1)
        rows = self._rows(
            "SELECT path FROM sources WHERE path >= ? AND path < ? ORDER BY path", folder, after
        )
        return [path for (path,) in rows]

    def source_by_key(self, key: int) -> SourceRow:
        """Return the source with this key."""
        return _source(next(self._rows(f"SELECT {_COLUMNS} FROM sources WHERE key = ?", key)))

    def put_source(self, row: SourceRow) -> int:
        """Write a source and return its key."""
        values = {
            "path": as_text(row.path),
            "home": row.home,
            "stat": _encode(row.stat),
            "beside": _encode({os.fsencode(path): stat for path, stat in row.companion_stats.items()})
            if row.companion_stats
            else None,
            "reader": row.reader,
            "status": row.status,
            "size": row.size,
            "imported": row.size - row.defects,
            "defects": row.defects,
            "conversations": row.conversations,
            "messages": row.messages,
            "notes": msgspec.json.encode(row.notes).decode(),
            "read_at": row.read_at,
            "missing_since": row.missing_since,
        }
        changes = ", ".join(f"{name} = excluded.{name}" for name in values)
        key: int = self._value(
            f"INSERT INTO sources ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
            f"ON CONFLICT (path) DO UPDATE SET {changes} RETURNING key",
            *values.values(),
        )
        return key

    def mark_missing(self, keys: Iterable[int], since: str | None) -> None:
        """Record since when sources are missing, or that they are back."""
        self._many("UPDATE sources SET missing_since = ? WHERE key = ?", [(since, key) for key in keys])

    def snapshots(self, source: int, unit: str = "") -> list[Snapshot]:
        """Return the snapshots of a source, or of one of its units, oldest first."""
        sql = (
            "SELECT source, unit, number, reader, version, revision, taken_at, manifest FROM snapshots "
            f"WHERE source = ? {'AND unit = ? ' if unit else ''}ORDER BY unit, number"
        )
        return [_snapshot(row) for row in self._rows(sql, source, *filter(None, [unit]))]

    def units(self, source: int) -> list[str]:
        """Return the units of a source that have snapshots."""
        return [
            unit for (unit,) in self._rows("SELECT DISTINCT unit FROM snapshots WHERE source = ?", source)
        ]

    def outdated(self, revisions: dict[str, int]) -> list[SourceRow]:
        """Return the sources that were read by an older revision of their reader than these."""
        lowest = dict(self._rows("SELECT reader, min(revision) FROM snapshots GROUP BY reader"))
        newer = {name: now for name, now in revisions.items() if lowest.get(name, now) < now}
        if not newer:
            return []
        older = " OR ".join("reader = ? AND revision < ?" for _ in newer)
        sql = (
            f"SELECT {_COLUMNS} FROM sources WHERE key IN (SELECT source FROM snapshots WHERE {older}) "
            "ORDER BY path"
        )
        return [_source(row) for row in self._rows(sql, *(value for pair in newer.items() for value in pair))]

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot."""
        self._db.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                snapshot.source, snapshot.unit, snapshot.number, snapshot.reader, snapshot.version,
                snapshot.revision, snapshot.taken_at, _encode(snapshot.manifest),
            ),
        )  # fmt: skip

    # The vault's catalog

    def location(self, blob: bytes) -> BlobLocation | None:
        """Return where a blob is."""
        row = next(self._rows("SELECT pack, start, stored, size FROM blobs WHERE hash = ?", blob), None)
        return None if row is None else BlobLocation(*row)

    def add_locations(self, places: Iterable[tuple[bytes, BlobLocation]]) -> None:
        """Record where blobs are."""
        rows = [(blob, *place) for blob, place in places]
        if self._db.get_autocommit():
            with self.transaction():
                self._many("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?, ?)", rows)
        else:
            self._many("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?, ?)", rows)

    def mark_lost(self, places: Iterable[tuple[bytes, BlobLocation]]) -> None:
        """Record that blobs are lost; their sizes stay known."""
        self._many(
            "UPDATE blobs SET pack = ?, start = ? WHERE hash = ?",
            [(place.lost.pack, place.lost.start, blob) for blob, place in places],
        )

    def ends(self) -> dict[int, int]:
        """Return the end of the last known blob of each pack."""
        return dict(self._rows("SELECT pack, max(start + stored) FROM blobs GROUP BY pack"))

    def locations(self) -> Iterator[tuple[bytes, BlobLocation]]:
        """Yield every blob with its location, pack by pack."""
        for row in self._rows("SELECT hash, pack, start, stored, size FROM blobs ORDER BY pack, start"):
            yield row[0], BlobLocation(*row[1:])


def _source(row: tuple[Any, ...]) -> SourceRow:
    (
        key,
        path,
        home,
        stat,
        companion_stats,
        reader,
        status,
        size,
        defects,
        conversations,
        messages,
        notes,
        read_at,
        missing,
    ) = row
    return SourceRow(
        key=key,
        path=path,
        home=home,
        stat=_STAT.decode(stat),
        companion_stats={
            os.fsdecode(name): state for name, state in _COMPANION_STATS.decode(companion_stats).items()
        }
        if companion_stats
        else {},
        reader=reader,
        status=status,
        size=size,
        defects=defects,
        conversations=conversations,
        messages=messages,
        notes=msgspec.json.decode(notes),
        read_at=read_at,
        missing_since=missing,
    )


def _snapshot(row: tuple[Any, ...]) -> Snapshot:
    source, unit, number, reader, version, revision, taken_at, manifest = row
    return Snapshot(
        source=source,
        unit=unit,
        number=number,
        reader=reader,
        version=version,
        revision=revision,
        taken_at=taken_at,
        manifest=_manifest(manifest),
    )


def _manifest(data: Any) -> Manifest:
    """Decode a manifest; a damaged one has no files, but the blobs that it names are still needed."""
    try:
        return _MANIFEST.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError) as error:
        named = _PACKED_HASH.findall(data) if isinstance(data, bytes) else []
        return Manifest(damage=f"its list of stored bytes is damaged ({error})", loose=named)
