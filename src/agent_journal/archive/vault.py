"""The vault: every byte that was imported, compressed and addressed by its hash.

Bytes are in packs that only grow. Each blob in a pack states its own hash and sizes, so that packs can be
read without anything else; the locations are also in the catalog, which is part of the store. What a killed
import left at the end of the last pack is adopted if it is complete, and cut off if it is not.
"""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.archive.packing import Compressor
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.files import make_private, private_folder, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# The maximum size of a blob before compression; a larger file has several.
CHUNK_BYTES = 1 << 20
_PACK_BYTES = 64 << 20
_MAGIC = b"AJb1"
_HEADER = struct.Struct(">4s32sII")  # magic, hash, size, stored size
_MAX_OPEN_PACKS = 16
_MAX_INTACT_BLOBS = 100_000
_LOST_PACK_ID = 0  # no pack has this number
_BINARY_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class BlobLocation(NamedTuple):
    """Where a blob is: the pack, the start and number of its stored bytes, and its own size."""

    pack: int
    start: int
    stored: int
    size: int

    @property
    def is_lost(self) -> bool:
        """Whether the blob is in no pack any more; the sizes of lost blobs stay known."""
        return self.pack == _LOST_PACK_ID

    @property
    def lost(self) -> BlobLocation:
        """This location as that of a lost blob."""
        return BlobLocation(_LOST_PACK_ID, 0, self.stored, self.size)


class Catalog(Protocol):
    """Knows where blobs are."""

    def location(self, blob: bytes) -> BlobLocation | None:
        """Return where a blob is."""

    def add_locations(self, places: Iterable[tuple[bytes, BlobLocation]]) -> None:
        """Record where blobs are, durably."""

    def ends(self) -> dict[int, int]:
        """Return the end of the last known blob of each pack."""


class Blobs(Protocol):
    """Provides bytes by their hash."""

    def get(self, blob: bytes, /) -> bytes:
        """Return bytes by their hash."""


class Vault:
    """Blobs by their SHA-256. Only one process may write; any number may read."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder = folder
        self._catalog = catalog
        self._pending: dict[bytes, BlobLocation] = {}
        self._pack = 0
        self._end = 0
        self._out: int | None = None
        self._reading: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._intact: set[bytes] = set()
        self._packing = Compressor()

    def put(self, data: bytes) -> bytes:
        """Store bytes and return their hash. They are durable once `settle` has returned.

        Bytes that are already stored are compared: a damaged copy is written again.
        """
        blob = hashlib.sha256(data).digest()
        if not self.holds(blob, data):
            self._write(blob, data)
        return blob

    def put_stored(self, blob: bytes, stored: bytes, size: int) -> None:
        """Store bytes that are already hashed and compressed."""
        if not self.is_intact(blob):
            self._append(blob, stored, size)

    def holds(self, blob: bytes, data: bytes) -> bool:
        """Whether a blob is stored intact, given its bytes.

        Comparing is faster than hashing. A blob that was found intact before is not compared again.
        """
        if blob in self._pending or blob in self._intact:
            return True
        location = self._location(blob)
        if location is None or location.size != len(data):
            return False
        try:
            is_same = self._unpacked(blob, location) == data and self.has_matching_header(blob, location)
        except DamagedArchive:
            return False
        if is_same:
            self._remember(blob)
        return is_same

    def is_intact(self, blob: bytes) -> bool:
        """Whether a blob is stored and its bytes have the right hash."""
        if blob in self._pending or blob in self._intact:
            return True
        location = self._location(blob)
        if location is None or self.problem_at(blob, location):
            return False
        self._remember(blob)
        return True

    def is_within_pack(self, location: BlobLocation) -> bool:
        """Whether a pack is long enough to contain a location."""
        end = location.start + location.stored
        if end <= self._size(location.pack):
            return True
        self._sizes.pop(location.pack, None)  # another process may have appended to the pack
        return end <= self._size(location.pack)

    def problem_at(self, blob: bytes, location: BlobLocation) -> str:
        """Return what is wrong with a blob at a location; empty if nothing is."""
        if location.is_lost:
            return f"{blob.hex()} is lost"
        if not self.is_within_pack(location):
            return f"{blob.hex()} is after its end"
        try:
            self.read_at(blob, location)
            return "" if self.has_matching_header(blob, location) else f"{blob.hex()} has the wrong checksum"
        except DamagedArchive as error:
            return error.reason

    def get(self, blob: bytes) -> bytes:
        """Return bytes by their hash, which is verified each time."""
        location = self._location(blob)
        if location is None:
            raise DamagedArchive(str(self._folder), f"{blob.hex()} is in no pack")
        return self.read_at(blob, location)

    def read_at(self, blob: bytes, location: BlobLocation) -> bytes:
        """Return the bytes at a location, if they have the right hash."""
        data = self._unpacked(blob, location)
        if hashlib.sha256(data).digest() != blob:
            raise DamagedArchive(self.pack_path(location.pack), f"{blob.hex()} has the wrong bytes")
        return data

    def _unpacked(self, blob: bytes, location: BlobLocation) -> bytes:
        stored = self._read(location)
        try:
            return self._packing.decompress(stored, location.size)
        except ValueError as error:
            raise DamagedArchive(
                self.pack_path(location.pack), f"{blob.hex()} is damaged ({error})"
            ) from error

    def _remember(self, blob: bytes) -> None:
        """Remember that a blob is intact: imports store the same blobs again and again."""
        if len(self._intact) >= _MAX_INTACT_BLOBS:
            self._intact.clear()
        self._intact.add(blob)

    def has_matching_header(self, blob: bytes, location: BlobLocation) -> bool:
        """Whether the header in the pack is right, so that the blob can be read from the packs alone."""
        header = location._replace(start=location.start - _HEADER.size, stored=_HEADER.size)
        return self._read(header) == _HEADER.pack(_MAGIC, blob, location.size, location.stored)

    def has(self, blob: bytes) -> bool:
        """Whether a blob is stored, intact or not."""
        return self._location(blob) is not None

    def size_of(self, blob: bytes) -> int | None:
        """Return the size of a blob, even a lost one; None if it was never stored."""
        if blob in self._pending:
            return self._pending[blob].size
        location = self._catalog.location(blob)
        return None if location is None else location.size

    def settle(self) -> None:
        """Make everything durable that was stored since the last call: bytes first, then locations."""
        if self._pending and self._out is not None:
            try:
                os.fsync(self._out)
            except OSError as error:
                raise CannotWrite(self.pack_path(self._pack), _reason(error)) from error
            self._catalog.add_locations(self._pending.items())
            self._pending.clear()

    def refresh(self) -> None:
        """Forget sizes and close packs that another process may have changed or replaced."""
        while self._reading:
            os.close(self._reading.popitem()[1])
        self._sizes.clear()

    def close(self) -> None:
        """Close the files; what is not settled is adopted by the next writer."""
        self.refresh()
        out, self._out = self._out, None
        if out is not None:
            os.close(out)

    def pack_path(self, pack: int) -> str:
        """Return the path of a pack."""
        return str(self._folder / f"{pack:06}.pack")

    def packs(self) -> list[int]:
        """Return the numbers of all packs."""
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        return sorted(int(name[:6]) for name in names if name.endswith(".pack") and name[:6].isdigit())

    def blobs(self, pack: int, start: int = 0) -> Iterator[tuple[bytes, BlobLocation]]:
        """Yield the complete blobs of a pack from a position on, by their headers."""
        path = self.pack_path(pack)
        end = os.path.getsize(path)
        with open(path, "rb") as file:
            while start + _HEADER.size <= end:
                file.seek(start)
                magic, blob, size, stored = _HEADER.unpack(file.read(_HEADER.size))
                start += _HEADER.size
                if magic != _MAGIC or start + stored > end:
                    return
                yield blob, BlobLocation(pack, start, stored, size)
                start += stored

    def drop_pack(self, pack: int) -> None:
        """Delete a pack whose blobs are not needed."""
        handle = self._reading.pop(pack, None)
        if handle is not None:
            os.close(handle)
        if pack == self._pack and self._out is not None:
            os.close(self._out)
            self._out = None
        os.unlink(self.pack_path(pack))

    def begin_pack(self) -> None:
        """Begin a new pack for everything that is stored from now on."""
        self.settle()
        if self._out is not None:
            os.close(self._out)
        self._open_pack(max([self._pack, *self.packs()]) + 1)

    def move(self, blob: bytes, location: BlobLocation) -> None:
        """Verify a blob, and append it to the current pack."""
        self._append(blob, self._packing.compress(self.read_at(blob, location)), location.size)

    def holds_only(self, pack: int, locations: Iterable[BlobLocation]) -> bool:
        """Whether a pack contains nothing but these blobs."""
        return self._size(pack) == sum(_HEADER.size + location.stored for location in locations)

    def _location(self, blob: bytes) -> BlobLocation | None:
        """Return where a blob is; None also if its pack is lost or truncated, so that it is stored again."""
        if blob in self._pending:
            return self._pending[blob]
        location = self._catalog.location(blob)
        if location is None or location.is_lost:
            return None
        return location if self.is_within_pack(location) else None

    def _size(self, pack: int) -> int:
        if pack == self._pack:
            return self._end
        if pack not in self._sizes:
            try:
                self._sizes[pack] = os.path.getsize(self.pack_path(pack))
            except OSError:
                return 0
        return self._sizes[pack]

    def _write(self, blob: bytes, data: bytes) -> None:
        self._append(blob, self._packing.compress(data), len(data))

    def _append(self, blob: bytes, stored: bytes, size: int) -> None:
        self._open_last_pack()
        if self._end > _PACK_BYTES:
            self.begin_pack()
        record = _HEADER.pack(_MAGIC, blob, size, len(stored)) + stored
        written = 0
        try:
            while written < len(record):  # a full disk fails on the next try
                written += os.write(self._open_last_pack(), record[written:])
        except OSError as error:
            with suppress(OSError):  # otherwise the next writer cuts it off
                os.ftruncate(self._open_last_pack(), self._end)
            raise CannotWrite(self.pack_path(self._pack), _reason(error)) from error
        self._pending[blob] = BlobLocation(self._pack, self._end + _HEADER.size, len(stored), size)
        self._end += len(record)

    def _open_last_pack(self) -> int:
        if self._out is None:
            self._resume()
        return self._out or 0

    def _resume(self) -> None:
        """Continue in the last pack, after its last complete blob."""
        packs = self.packs()
        if not packs:
            self._open_pack(1)
            return
        # All packs before the last were settled when the next one was begun.
        last, end = packs[-1], self._catalog.ends().get(packs[-1], 0)
        if os.path.getsize(self.pack_path(last)) < end:
            # The pack was truncated: nothing may be written where its lost end was.
            self._open_pack(last + 1)
            return
        self._adopt(last, end)
        self._open_pack(last)

    def _adopt(self, pack: int, end: int) -> None:
        adopted: list[tuple[bytes, BlobLocation]] = []
        for blob, location in self.blobs(pack, end):
            try:
                self.read_at(blob, location)
            except DamagedArchive:
                break
            adopted.append((blob, location))
            end = location.start + location.stored
        self._catalog.add_locations([pair for pair in adopted if self._catalog.location(pair[0]) is None])
        os.truncate(self.pack_path(pack), end)

    def _open_pack(self, pack: int) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _BINARY_FLAGS
        try:
            private_folder(str(self._folder))
            self._out = os.open(self.pack_path(pack), flags, 0o600)
            if not os.fstat(self._out).st_size:
                make_private(self._out)
        except OSError as error:
            raise CannotWrite(self.pack_path(pack), _reason(error)) from error
        self._sizes.clear()
        self._pack = pack
        self._end = os.fstat(self._out).st_size
        if not self._end:
            sync_folder(str(self._folder))

    def _read(self, location: BlobLocation) -> bytes:
        handle = self._reading.get(location.pack)
        if handle is None:
            if len(self._reading) >= _MAX_OPEN_PACKS:
                os.close(self._reading.pop(next(iter(self._reading))))
            try:
                handle = os.open(self.pack_path(location.pack), os.O_RDONLY | _BINARY_FLAGS)
            except OSError as error:
                raise DamagedArchive(
                    self.pack_path(location.pack), f"it cannot be read ({error.strerror})"
                ) from error
            self._reading[location.pack] = handle
        try:
            return _bytes_at(handle, location)
        except (OSError, ValueError, OverflowError) as error:
            raise DamagedArchive(self.pack_path(location.pack), f"it cannot be read ({error})") from error


def _bytes_at(handle: int, location: BlobLocation) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(handle, location.stored, location.start)
    os.lseek(handle, location.start, os.SEEK_SET)  # Windows
    return os.read(handle, location.stored)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
