"""Store the bytes of sources while they are read, and replay these sources later from the vault.

A reader asks its source for files, for companions, and for rows of a database. `RecordingSource` stores in
the vault what was asked for, answers from there, and writes every request down in a `Manifest`.
`ReplayedSource` answers the same requests from a manifest alone. So a reader sees the same bytes on the
first day and when a later revision of it reads them again, long after the file is gone. What it looked at,
or looked for in vain, also decides whether the unit has changed.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agent_journal.archive.candidates import Stat, stat_of
from agent_journal.archive.frames import frames, read_up_to
from agent_journal.archive.manifest import Manifest, StoredFile, StoredRows
from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.closeable import Closing
from agent_journal.inputs.input import File, Folder, Member, as_text, is_plain, opened, sha256
from agent_journal.inputs.sqlite_copy import Database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive.vault import Blobs, Vault
    from agent_journal.inputs.input import Input, Stream

# Each import of a growing file adds a small chunk; this many of them are joined into one.
_SMALL_CHUNK_BYTES, _MAX_SMALL_CHUNKS = 64 << 10, 16
# Rows are stored in groups that end where a row's checksum says so: rows before and after a change fall
# into the same groups as before, and are stored once.
_MIN_GROUP_BYTES, _MAX_GROUP_BYTES, _GROUP_MASK = 16 << 10, 512 << 10, 0x1F


_ROWS = msgspec.msgpack.Decoder(list[tuple[Any, ...]])


class CaptureSession:
    """Stores one unit in the vault, and builds its manifest."""

    def __init__(self, vault: Vault, before: Manifest | None = None) -> None:
        self.vault = vault
        self.manifest = Manifest()
        self.companion_stats: dict[str, Stat] = {}
        self.last: tuple[StoredFile, bytes] | None = None
        """The last stored file with its bytes, if it is small: mostly it is read right after."""
        self._before = before or Manifest()
        self._store_growth: set[str] = set()

    def record_stat(self, location: str) -> None:
        """Remember the stat of a file or folder now; a later one would hide what is written in between."""
        if location not in self.companion_stats:
            self.companion_stats[location] = stat_of(location)

    @property
    def has_only_grown(self) -> bool:
        """Whether everything that was stored before is still part of the unit."""
        before, now = self._before.files, self.manifest.files
        return not self._before.databases and all(
            unit_path in self._store_growth or (unit_path in now and not file.size)
            for unit_path, file in before.items()
        )

    def file(self, path: str, source: Input) -> StoredFile:
        """Return a file in the vault; the first request stores it."""
        stored = self.manifest.files.get(path)
        if stored is None:
            before = self._before.files.get(path)
            stored = None if before is None else _store_growth(source, self.vault, before)
            data: bytes | None = None
            if stored is not None:
                self._store_growth.add(path)
            else:
                stored, data = _store(source, self.vault)
            self.manifest.files[path] = stored
            self.last = None if data is None else (stored, data)
        return stored

    def stream(self, file: StoredFile, label: str) -> Stream:
        """Open a file that is in the vault."""
        if self.last is not None and self.last[0] is file:
            return io.BytesIO(self.last[1])
        return stream_of(file, self.vault, label)


def _store(source: Input, vault: Vault) -> tuple[StoredFile, bytes | None]:
    """Store a file's bytes in the vault; those of a small one are also returned."""
    stored = StoredFile(as_text(source.name), 0, b"", [], source.modified_at)
    first = b""
    digest = hashlib.sha256()
    with source.open() as stream:
        try:
            for block in frames(stream):
                stored.chunks.append(vault.put(block))
                stored.size += len(block)
                if not first:
                    first = block
                    continue
                if stored.size == len(first) + len(block):
                    digest.update(first)
                digest.update(block)
        except UnreadableSource as error:  # the bytes before the damage are good
            if not stored.size:
                raise
            stored.read_error = error.reason
    # A single chunk has the hash of the file.
    stored.sha256 = stored.chunks[0] if len(stored.chunks) == 1 else digest.digest()
    return stored, first if stored.size == len(first) and not stored.read_error else None


def _store_growth(source: Input, vault: Vault, before: StoredFile) -> StoredFile | None:
    """Store the new end of a file that has grown; None if its beginning has changed.

    Chunks of the beginning that are damaged in the vault are written again.
    """
    sizes = [vault.size_of(chunk) for chunk in before.chunks]
    if not before.size or before.read_error or None in sizes:
        return None
    digest = hashlib.sha256()
    stored = StoredFile(as_text(source.name), before.size, b"", list(before.chunks), source.modified_at)
    with source.open() as stream:
        for chunk, size in zip(before.chunks, sizes, strict=True):
            block = read_up_to(stream, size or 0)
            if not vault.holds(chunk, block):
                if hashlib.sha256(block).digest() != chunk:
                    return None
                vault.put(block)
            digest.update(block)
        if digest.digest() != before.sha256:
            return None
        for block in frames(stream):
            digest.update(block)
            stored.chunks.append(vault.put(block))
            stored.size += len(block)
    stored.sha256 = digest.digest()
    stored.chunks = _joined_ends(stored.chunks, vault)
    return stored


def _joined_ends(chunks: list[bytes], vault: Vault) -> list[bytes]:
    if len(chunks) < _MAX_SMALL_CHUNKS:
        return chunks
    ends = [vault.get(chunk) for chunk in chunks[-_MAX_SMALL_CHUNKS:]]
    if max(map(len, ends)) > _SMALL_CHUNK_BYTES:
        return chunks
    return [*chunks[:-_MAX_SMALL_CHUNKS], vault.put(b"".join(ends))]


def stream_of(file: StoredFile, vault: Blobs, label: str = "") -> Stream:
    """Open a file from the vault; reading it fails where reading the file failed."""
    if len(file.chunks) == 1 and not file.read_error:
        return io.BytesIO(vault.get(file.chunks[0]))
    return _Chunks(file, vault, label)


class _Chunks(Closing):
    """A stream over blobs of the vault."""

    def __init__(self, file: StoredFile, vault: Blobs, label: str) -> None:
        self._left = iter(file.chunks)
        self._broke = file.read_error
        self._vault = vault
        self._label = label
        self._block = memoryview(b"")

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK_BYTES), b""))
        while not self._block and (chunk := next(self._left, None)) is not None:
            self._block = memoryview(self._vault.get(chunk))
        if not self._block and self._broke:
            raise UnreadableSource(self._label, self._broke)
        piece = bytes(self._block[:size])
        self._block = self._block[size:]
        return piece

    def close(self) -> None:
        self._left = iter(())
        self._block = memoryview(b"")


class RecordingSource:
    """A source whose bytes are stored in the vault before the reader sees them."""

    def __init__(self, inner: Input, capture: CaptureSession, unit_path: str = "") -> None:
        self.inner = inner
        self._capture = capture
        self._unit_path = unit_path
        self.is_folder = inner.is_folder
        self.name = inner.name
        self.label = inner.label
        self.path = inner.path
        if isinstance(inner, File | Folder):
            capture.record_stat(inner.location)
        if not unit_path:
            capture.manifest.is_in_zip = isinstance(inner, Member)
            capture.manifest.is_folder = inner.is_folder
            capture.manifest.name = as_text(inner.name)
            capture.manifest.label = as_text(inner.label)
            capture.manifest.modified_at = inner.modified_at

    @property
    def modified_at(self) -> float | None:
        return self.inner.modified_at

    @property
    def sha256(self) -> str:
        """The hash of the file or folder on disk."""
        if self._unit_path:
            return self._hash()
        if not self._capture.manifest.sha256:
            self._capture.manifest.sha256 = self._hash()
        return self._capture.manifest.sha256

    def _hash(self) -> str:
        # Of a folder, a compressed file and a database, the vault has other bytes than the disk.
        if self.is_folder or not isinstance(self.inner, File | Member) or _is_database(self.inner):
            return sha256(self.inner)
        return self._capture.file(self._unit_path, self.inner).sha256.hex()

    def open(self) -> Stream:
        if self.is_folder:
            return self.inner.open()
        return self._capture.stream(self._capture.file(self._unit_path, self.inner), self.label)

    def children(self) -> Sequence[Input]:
        children = [self._below(child) for child in self.inner.children()]
        self._capture.manifest.folders[self._unit_path] = [
            (as_text(child.name), child.is_folder) for child in children
        ]
        return children

    def companion(self, *names: str) -> Input | None:
        unit_path = _companion_path(self._unit_path, self.is_folder, names)
        companion = self.inner.companion(*names)
        if companion is None:
            self._capture.manifest.absent.add(unit_path)
            self._record_absent(names)
            return None
        self._capture.manifest.present[unit_path] = companion.modified_at
        return RecordingSource(companion, self._capture, unit_path)

    def companions(self, *names: str) -> Sequence[Input]:
        unit_path = _companion_path(self._unit_path, self.is_folder, names)
        companions = [
            RecordingSource(child, self._capture, _step(unit_path, child.name))
            for child in self.inner.companions(*names)
        ]
        self._capture.manifest.folders[unit_path] = [
            (as_text(child.name), child.is_folder) for child in companions
        ]
        self._record_absent(names)
        return companions

    def opened(self) -> Input:
        """Open a zip or a compressed file."""
        unpacked = self._capture.manifest.unpacked
        try:
            inner = opened(self.inner)
        except UnreadableSource as error:
            unpacked[self._unit_path] = error.reason
            raise
        if inner.is_folder and not self.is_folder:
            unpacked[self._unit_path] = ""
        return RecordingSource(inner, self._capture, self._unit_path)

    def _below(self, child: Input) -> RecordingSource:
        return RecordingSource(child, self._capture, _step(self._unit_path, child.name))

    def _record_absent(self, names: Sequence[str]) -> None:
        """Remember a file that may appear later; names that no file can have are skipped."""
        if isinstance(self.inner, File | Folder) and all(map(_is_step, names)):
            base = self.inner.location if self.is_folder else os.path.dirname(self.inner.location)
            self._capture.record_stat(os.path.normpath(os.path.join(base, *names)))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the file as a database; its answers are stored, not the file."""
        answers = self._capture.manifest.databases.setdefault(self._unit_path, [])
        if isinstance(self.inner, File):
            self._capture.record_stat(f"{self.inner.location}-wal")
        try:
            with sqlite_copy.opened(self.inner) as answering:
                yield RecordingDatabase(answering, answers, self._capture.vault)
        except UnreadableSource as error:
            if not answers:  # it could not even be opened
                answers.append(StoredRows("", (), [], error.reason))
            raise

    @contextmanager
    def glanced(self) -> Iterator[Database]:
        """Open the database for detection, without copying it."""
        answers = self._capture.manifest.databases.setdefault(self._unit_path, [])
        with sqlite_copy.glanced(self.inner) as answering:
            yield RecordingDatabase(answering, answers, self._capture.vault)


class RecordingDatabase(Database):
    """A database whose answers are stored in the vault."""

    def __init__(self, answering: Database, answers: list[StoredRows], vault: Vault) -> None:
        self._answering = answering
        self._answers = answers
        self._vault = vault

    def rows(self, sql: str, *values: str | int | bytes | None) -> Iterator[tuple[Any, ...]]:
        answer = StoredRows(sql, values, [])
        self._answers.append(answer)
        group: list[bytes] = []
        size = 0
        try:
            for row in self._answering.rows(sql, *values):
                encoded = msgspec.msgpack.encode(row)
                answer.count += 1
                group.append(encoded)
                size += len(encoded)
                if size > _MAX_GROUP_BYTES or (
                    size > _MIN_GROUP_BYTES and not zlib.crc32(encoded) & _GROUP_MASK
                ):
                    answer.groups.append(self._vault.put(_array(group)))
                    group, size = [], 0
                yield row
        except UnreadableSource as error:
            answer.read_error = error.reason
            raise
        finally:
            if group:
                answer.groups.append(self._vault.put(_array(group)))


class ReplayedDatabase(Database):
    """Answers queries from the vault, as the database once did."""

    def __init__(self, answers: list[StoredRows], vault: Blobs, label: str) -> None:
        # Of two answers to one query, the longer one includes the other.
        self._answers: dict[tuple[str, tuple[Any, ...]], StoredRows] = {
            (answer.sql, answer.values): answer
            for answer in sorted(answers, key=lambda answer: (answer.count, not answer.read_error))
        }
        self._vault = vault
        self._label = label

    def rows(self, sql: str, *values: str | int | bytes | None) -> Iterator[tuple[Any, ...]]:
        answer = self._answers.get((sql, values))
        if answer is None:
            raise UnreadableSource(self._label, "this query was not recorded when the database was imported")
        for group in answer.groups:
            yield from _ROWS.decode(self._vault.get(group))
        if answer.read_error:
            raise UnreadableSource(self._label, answer.read_error)


def _array(encoded: list[bytes]) -> bytes:
    """Join encoded values into one list: MessagePack's array with a 32-bit length."""
    return b"\xdd" + len(encoded).to_bytes(4, "big") + b"".join(encoded)


class OtherUnits(Protocol):
    """Where files are looked for that a manifest does not know."""

    def find(self, path: str) -> Input | None:
        """Return a file by its full path."""

    def children(self, folder: str) -> list[Input]:
        """Return what is below a folder."""


class ReplayedSource:
    """A unit as it was when it was stored."""

    def __init__(
        self,
        manifest: Manifest,
        vault: Blobs,
        label: str,
        unit: str,
        unit_path: str = "",
        *,
        is_folder: bool | None = None,
        others: OtherUnits | None = None,
    ) -> None:
        self._manifest = manifest
        self._vault = vault
        self._others = others
        self._unit = (manifest.label or label, unit)
        self._unit_path = unit_path
        self.label, self.path = (
            full_path(start, manifest.is_folder, unit_path) if unit_path else start for start in self._unit
        )
        self.is_folder = manifest.is_folder if is_folder is None else is_folder
        self.name = unit_path.rpartition("/")[2] or manifest.name

    @property
    def modified_at(self) -> float | None:
        file = self._manifest.files.get(self._unit_path)
        if file is not None:
            return file.modified_at
        return self._manifest.present.get(self._unit_path, self._manifest.modified_at)

    @property
    def sha256(self) -> str:
        file = self._manifest.files.get(self._unit_path)
        return self._manifest.sha256 if file is None or not self._unit_path else file.sha256.hex()

    def open(self) -> Stream:
        file = self._manifest.files.get(self._unit_path)
        if file is None:
            raise UnreadableSource(self.label, "it was not stored")
        return stream_of(file, self._vault, self.label)

    def children(self) -> Sequence[Input]:
        return self._listed(self._unit_path)

    def companion(self, *names: str) -> Input | None:
        unit_path = _companion_path(self._unit_path, self.is_folder, names)
        if unit_path in self._manifest.present:
            return self._at(unit_path, is_folder=False)
        if self._others is None or unit_path in self._manifest.absent:
            return None
        return self._others.find(self._full_path(unit_path))

    def companions(self, *names: str) -> Sequence[Input]:
        return self._listed(_companion_path(self._unit_path, self.is_folder, names))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the file as the database that it was."""
        answers = self._manifest.databases.get(self._unit_path, [])
        if answers and not answers[0].sql:
            raise UnreadableSource(self.label, answers[0].read_error)
        yield ReplayedDatabase(answers, self._vault, self.label)

    @contextmanager
    def glanced(self) -> Iterator[Database]:
        """Open the database for detection."""
        with self.database() as answering:
            yield answering

    def opened(self) -> Input:
        """Return the content of a zip or a compressed file."""
        reason = self._manifest.unpacked.get(self._unit_path)
        if reason:
            raise UnreadableSource(self.label, reason)
        return self if reason is None else self._at(self._unit_path, is_folder=True)

    def _listed(self, unit_path: str) -> list[Input]:
        listed = self._manifest.folders.get(unit_path)
        if listed is None:
            return [] if self._others is None else self._others.children(self._full_path(unit_path))
        return [self._at(_step(unit_path, name), is_folder=is_folder) for name, is_folder in listed]

    def _at(self, unit_path: str, *, is_folder: bool) -> ReplayedSource:
        return ReplayedSource(
            self._manifest, self._vault, *self._unit, unit_path, is_folder=is_folder, others=self._others
        )

    def _full_path(self, unit_path: str) -> str:
        return full_path(self._unit[0], self._manifest.is_folder, unit_path)


def sizes_in(manifest: Manifest) -> dict[str, int]:
    """Return the size of every file of a unit, by its full path."""
    return {
        full_path(manifest.label, manifest.is_folder, unit_path) if unit_path else manifest.label: file.size
        for unit_path, file in manifest.files.items()
    }


def full_path(start: str, is_folder: bool, unit_path: str) -> str:  # noqa: FBT001 (as below)
    """Return the full path of a file, given the unit's path and the file's path in the unit."""
    folder = start if is_folder else os.path.dirname(start)
    return os.path.normpath(f"{folder}/{unit_path}") if folder else unit_path


def _is_database(source: Input) -> bool:
    with source.open() as stream:
        return stream.read(len(sqlite_copy.MAGIC)) == sqlite_copy.MAGIC


def _is_step(name: str) -> bool:
    return is_plain(name) or name == ".."


def _companion_path(unit_path: str, is_folder: bool, names: Sequence[str]) -> str:  # noqa: FBT001 (a path is one of two)
    steps = unit_path.split("/") if unit_path else []
    if not is_folder:
        steps = steps[:-1]
    for name in names:
        if name == ".." and steps and steps[-1] != "..":
            steps.pop()
        else:
            steps.append(as_text(name))
    return "/".join(steps)


def _step(unit_path: str, name: str) -> str:
    return f"{unit_path}/{as_text(name)}" if unit_path else as_text(name)
