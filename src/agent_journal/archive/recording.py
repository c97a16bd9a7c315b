"""Sources that are kept while they are read, and the same sources read again from what was kept.

A reader asks its source for files, for what lies beside them, and for rows of a database. `Kept` answers
from the vault, after it has put there what was asked for; it writes down every question in a `Manifest`.
`Replayed` answers the same questions from a manifest alone. So a reader sees the same bytes on the first
day and when a later revision of it reads them again, long after the file is gone; and what it looked at, or
looked for in vain, is exactly what decides whether the unit has changed.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.archive.candidates import Stat, stat_of
from agent_journal.archive.frames import frames, read_up_to
from agent_journal.archive.manifest import KeptFile, KeptRows, Manifest
from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.closeable import Closing
from agent_journal.inputs.input import File, Folder, Member, as_text, is_plain, opened, sha256
from agent_journal.inputs.sqlite_copy import Database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.archive.vault import Blobs, Vault
    from agent_journal.inputs.input import Source, Stream

# Ends of a growing file are kept one by one; when so many small ones have come together they become one.
_SMALL_BYTES, _MANY_SMALL = 64 << 10, 16
# Rows are kept in groups that end where a row's checksum says so: rows before and after a change fall into
# the same groups as before it, and are kept once.
_LEAST_GROUP, _MOST_GROUP, _GROUP_MASK = 16 << 10, 512 << 10, 0x1F


_ROWS = msgspec.msgpack.Decoder(list[tuple[Any, ...]])


class Keeping:
    """One unit being kept: the vault, what was known of the unit before, and what is found now."""

    def __init__(self, vault: Vault, before: Manifest | None = None) -> None:
        self.vault = vault
        self.manifest = Manifest()
        self.beside: dict[str, Stat] = {}
        self.last: tuple[KeptFile, bytes] | None = None
        """The file that was put last, if it is a small one: it is mostly read at once."""
        self._before = before or Manifest()
        self._grown: set[str] = set()

    def looked_at(self, location: str) -> None:
        """Remember how a file or folder on disk is now; a later look would miss what was written between."""
        if location not in self.beside:
            self.beside[location] = stat_of(location)

    @property
    def has_only_grown(self) -> bool:
        """Whether every byte that was kept before is in what is kept now."""
        before, now = self._before.files, self.manifest.files
        return not self._before.databases and all(
            place in self._grown or (place in now and not file.size) for place, file in before.items()
        )

    def file(self, path: str, source: Source) -> KeptFile:
        """The file in the vault, put there if this is the first time it is asked for."""
        found = self.manifest.files.get(path)
        if found is None:
            before = self._before.files.get(path)
            found = None if before is None else _grown(source, self.vault, before)
            data: bytes | None = None
            if found is not None:
                self._grown.add(path)
            else:
                found, data = _stored(source, self.vault)
            self.manifest.files[path] = found
            self.last = None if data is None else (found, data)
        return found

    def stream(self, file: KeptFile, label: str) -> Stream:
        """The bytes of a file that is kept."""
        if self.last is not None and self.last[0] is file:
            return io.BytesIO(self.last[1])
        return stream_of(file, self.vault, label)


def _stored(source: Source, vault: Vault) -> tuple[KeptFile, bytes | None]:
    """Put a file's bytes into the vault; those of a small one come back."""
    kept = KeptFile(as_text(source.name), 0, b"", [], source.modified_at)
    first = b""
    digest = hashlib.sha256()
    with source.open() as stream:
        try:
            for block in frames(stream):
                kept.chunks.append(vault.put(block))
                kept.size += len(block)
                if not first:
                    first = block
                    continue
                if kept.size == len(first) + len(block):
                    digest.update(first)
                digest.update(block)
        except UnreadableSource as error:  # what is before the damage is good
            if not kept.size:
                raise
            kept.broke = error.reason
    # The hash of a single chunk is known already.
    kept.sha256 = kept.chunks[0] if len(kept.chunks) == 1 else digest.digest()
    return kept, first if kept.size == len(first) and not kept.broke else None


def _grown(source: Source, vault: Vault, before: KeptFile) -> KeptFile | None:
    """Put the longer end of a file into the vault; None if it does not begin as it did.

    Chunks of its beginning that are damaged there are written again.
    """
    sizes = [vault.size_of(chunk) for chunk in before.chunks]
    if not before.size or before.broke or None in sizes:
        return None
    digest = hashlib.sha256()
    kept = KeptFile(as_text(source.name), before.size, b"", list(before.chunks), source.modified_at)
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
            kept.chunks.append(vault.put(block))
            kept.size += len(block)
    kept.sha256 = digest.digest()
    kept.chunks = _joined_ends(kept.chunks, vault)
    return kept


def _joined_ends(chunks: list[bytes], vault: Vault) -> list[bytes]:
    if len(chunks) < _MANY_SMALL:
        return chunks
    ends = [vault.get(chunk) for chunk in chunks[-_MANY_SMALL:]]
    if max(map(len, ends)) > _SMALL_BYTES:
        return chunks
    return [*chunks[:-_MANY_SMALL], vault.put(b"".join(ends))]


def stream_of(file: KeptFile, vault: Blobs, label: str = "") -> Stream:
    """The bytes of a file from the vault; it breaks off where the file did."""
    if len(file.chunks) == 1 and not file.broke:
        return io.BytesIO(vault.get(file.chunks[0]))
    return _Chunks(file, vault, label)


class _Chunks(Closing):
    """Blobs of the vault, one after another."""

    def __init__(self, file: KeptFile, vault: Blobs, label: str) -> None:
        self._left = iter(file.chunks)
        self._broke = file.broke
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


class Kept:
    """A source whose bytes go into the vault before anybody sees them."""

    def __init__(self, inner: Source, keeping: Keeping, place: str = "") -> None:
        self.inner = inner
        self._keeping = keeping
        self._place = place
        self.is_folder = inner.is_folder
        self.name = inner.name
        self.label = inner.label
        self.path = inner.path
        if isinstance(inner, File | Folder):
            keeping.looked_at(inner.location)
        if not place:
            keeping.manifest.is_folder = inner.is_folder
            keeping.manifest.name = as_text(inner.name)
            keeping.manifest.label = as_text(inner.label)
            keeping.manifest.modified_at = inner.modified_at

    @property
    def modified_at(self) -> float | None:
        return self.inner.modified_at

    @property
    def sha256(self) -> str:
        """The hash of the file or folder as it lies."""
        if self._place:
            return self._hash()
        if not self._keeping.manifest.sha256:
            self._keeping.manifest.sha256 = self._hash()
        return self._keeping.manifest.sha256

    def _hash(self) -> str:
        # Of a folder, of something compressed and of a database other bytes are kept than lie there.
        if self.is_folder or not isinstance(self.inner, File | Member) or _is_database(self.inner):
            return sha256(self.inner)
        return self._keeping.file(self._place, self.inner).sha256.hex()

    def open(self) -> Stream:
        if self.is_folder:
            return self.inner.open()
        return self._keeping.stream(self._keeping.file(self._place, self.inner), self.label)

    def children(self) -> Sequence[Source]:
        found = [self._below(child) for child in self.inner.children()]
        self._keeping.manifest.folders[self._place] = [
            (as_text(child.name), child.is_folder) for child in found
        ]
        return found

    def companion(self, *names: str) -> Source | None:
        place = _beside(self._place, self.is_folder, names)
        found = self.inner.companion(*names)
        if found is None:
            self._keeping.manifest.absent.add(place)
            self._look_for(names)
            return None
        self._keeping.manifest.present[place] = found.modified_at
        return Kept(found, self._keeping, place)

    def companions(self, *names: str) -> Sequence[Source]:
        place = _beside(self._place, self.is_folder, names)
        found = [
            Kept(child, self._keeping, _step(place, child.name)) for child in self.inner.companions(*names)
        ]
        self._keeping.manifest.folders[place] = [(as_text(child.name), child.is_folder) for child in found]
        self._look_for(names)
        return found

    def opened(self) -> Source:
        """What is in a zip or a compressed file."""
        unpacked = self._keeping.manifest.unpacked
        try:
            inner = opened(self.inner)
        except UnreadableSource as error:
            unpacked[self._place] = error.reason
            raise
        if inner.is_folder and not self.is_folder:
            unpacked[self._place] = ""
        return Kept(inner, self._keeping, self._place)

    def _below(self, child: Source) -> Kept:
        return Kept(child, self._keeping, _step(self._place, child.name))

    def _look_for(self, names: Sequence[str]) -> None:
        """What is not there now may be later. Content may name what no file can be called."""
        if isinstance(self.inner, File | Folder) and all(map(_is_step, names)):
            base = self.inner.location if self.is_folder else os.path.dirname(self.inner.location)
            self._keeping.looked_at(os.path.normpath(os.path.join(base, *names)))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The database that the file is; what it answers is kept, not the file."""
        answers = self._keeping.manifest.databases.setdefault(self._place, [])
        if isinstance(self.inner, File):
            self._keeping.looked_at(f"{self.inner.location}-wal")
        try:
            with sqlite_copy.opened(self.inner) as answering:
                yield KeptDatabase(answering, answers, self._keeping.vault)
        except UnreadableSource as error:
            if not answers:  # it did not even open
                answers.append(KeptRows("", (), [], error.reason))
            raise

    @contextmanager
    def glanced(self) -> Iterator[Database]:
        """The same for a first look, without a copy."""
        answers = self._keeping.manifest.databases.setdefault(self._place, [])
        with sqlite_copy.glanced(self.inner) as answering:
            yield KeptDatabase(answering, answers, self._keeping.vault)


class KeptDatabase(Database):
    """A database whose answers go into the vault."""

    def __init__(self, answering: Database, answers: list[KeptRows], vault: Vault) -> None:
        self._answering = answering
        self._answers = answers
        self._vault = vault

    def rows(self, sql: str, *values: str | int | bytes | None) -> Iterator[tuple[Any, ...]]:
        answer = KeptRows(sql, values, [])
        self._answers.append(answer)
        group: list[bytes] = []
        size = 0
        try:
            for row in self._answering.rows(sql, *values):
                encoded = msgspec.msgpack.encode(row)
                answer.count += 1
                group.append(encoded)
                size += len(encoded)
                if size > _MOST_GROUP or (size > _LEAST_GROUP and not zlib.crc32(encoded) & _GROUP_MASK):
                    answer.groups.append(self._vault.put(_array(group)))
                    group, size = [], 0
                yield row
        except UnreadableSource as error:
            answer.broke = error.reason
            raise
        finally:
            if group:
                answer.groups.append(self._vault.put(_array(group)))


class ReplayedDatabase(Database):
    """Answers as a database once did."""

    def __init__(self, answers: list[KeptRows], vault: Blobs, label: str) -> None:
        # Asked twice, the answer that goes on longest holds the other.
        self._answers: dict[tuple[str, tuple[Any, ...]], KeptRows] = {
            (answer.sql, answer.values): answer
            for answer in sorted(answers, key=lambda answer: (answer.count, not answer.broke))
        }
        self._vault = vault
        self._label = label

    def rows(self, sql: str, *values: str | int | bytes | None) -> Iterator[tuple[Any, ...]]:
        answer = self._answers.get((sql, values))
        if answer is None:
            raise UnreadableSource(self._label, "this was not asked when the database was kept")
        for group in answer.groups:
            yield from _ROWS.decode(self._vault.get(group))
        if answer.broke:
            raise UnreadableSource(self._label, answer.broke)


def _array(encoded: list[bytes]) -> bytes:
    """Values that are encoded already, as one list of them: MessagePack's array with a 32-bit length."""
    return b"\xdd" + len(encoded).to_bytes(4, "big") + b"".join(encoded)


class Replayed:
    """A unit as it was when it was kept."""

    def __init__(
        self,
        manifest: Manifest,
        vault: Blobs,
        label: str,
        unit: str,
        place: str = "",
        *,
        is_folder: bool | None = None,
    ) -> None:
        self._manifest = manifest
        self._vault = vault
        self._unit = (manifest.label or label, unit)
        self._place = place
        self.label, self.path = (
            _from(start, manifest.is_folder, place) if place else start for start in self._unit
        )
        self.is_folder = manifest.is_folder if is_folder is None else is_folder
        self.name = place.rpartition("/")[2] or manifest.name

    @property
    def modified_at(self) -> float | None:
        file = self._manifest.files.get(self._place)
        if file is not None:
            return file.modified_at
        return self._manifest.present.get(self._place, self._manifest.modified_at)

    @property
    def sha256(self) -> str:
        file = self._manifest.files.get(self._place)
        return self._manifest.sha256 if file is None or not self._place else file.sha256.hex()

    def open(self) -> Stream:
        file = self._manifest.files.get(self._place)
        if file is None:
            raise UnreadableSource(self.label, "it was not kept")
        return stream_of(file, self._vault, self.label)

    def children(self) -> Sequence[Source]:
        return self._listed(self._place)

    def companion(self, *names: str) -> Source | None:
        place = _beside(self._place, self.is_folder, names)
        return self._at(place, is_folder=False) if place in self._manifest.present else None

    def companions(self, *names: str) -> Sequence[Source]:
        return self._listed(_beside(self._place, self.is_folder, names))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The database that the file was."""
        answers = self._manifest.databases.get(self._place, [])
        if answers and not answers[0].sql:
            raise UnreadableSource(self.label, answers[0].broke)
        yield ReplayedDatabase(answers, self._vault, self.label)

    @contextmanager
    def glanced(self) -> Iterator[Database]:
        """The same; nothing is copied here anyway."""
        with self.database() as answering:
            yield answering

    def opened(self) -> Source:
        """What was in a zip or a compressed file."""
        reason = self._manifest.unpacked.get(self._place)
        if reason:
            raise UnreadableSource(self.label, reason)
        return self if reason is None else self._at(self._place, is_folder=True)

    def _listed(self, place: str) -> list[Source]:
        listed = self._manifest.folders.get(place, [])
        return [self._at(_step(place, name), is_folder=is_folder) for name, is_folder in listed]

    def _at(self, place: str, *, is_folder: bool) -> Replayed:
        return Replayed(self._manifest, self._vault, *self._unit, place, is_folder=is_folder)


def sizes_in(manifest: Manifest) -> dict[str, int]:
    """Every file of a unit by its whole path, and how long it is."""
    return {
        _from(manifest.label, manifest.is_folder, place) if place else manifest.label: file.size
        for place, file in manifest.files.items()
    }


def _from(start: str, is_folder: bool, place: str) -> str:  # noqa: FBT001 (as below)
    """The path of a place, seen from where the unit's own path begins."""
    folder = start if is_folder else os.path.dirname(start)
    return os.path.normpath(f"{folder}/{place}") if folder else place


def _is_database(source: Source) -> bool:
    with source.open() as stream:
        return stream.read(len(sqlite_copy.MAGIC)) == sqlite_copy.MAGIC


def _is_step(name: str) -> bool:
    return is_plain(name) or name == ".."


def _beside(place: str, is_folder: bool, names: Sequence[str]) -> str:  # noqa: FBT001 (a place is one of two)
    steps = place.split("/") if place else []
    if not is_folder:
        steps = steps[:-1]
    for name in names:
        if name == ".." and steps and steps[-1] != "..":
            steps.pop()
        else:
            steps.append(as_text(name))
    return "/".join(steps)


def _step(place: str, name: str) -> str:
    return f"{place}/{as_text(name)}" if place else as_text(name)
