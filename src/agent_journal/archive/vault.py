"""The vault: every byte that something was read from, compressed, found again by its hash.

Bytes lie in packs that only grow. Each blob in a pack states its own hash and sizes, so that the packs can be
read without anything else; where each lies is also in the catalog, which the store keeps. What a killed
import left at the end of the last pack is taken over if it is whole and cut off if it is not.
"""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.archive.packing import Packing
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.files import keep_private, private_folder, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Blobs are at most this large before they are compressed; a longer file is several.
CHUNK_BYTES = 1 << 20
_PACK_BYTES = 64 << 20
_MAGIC = b"AJb1"
_HEADER = struct.Struct(">4s32sII")  # magic, hash, size, stored size
_MOST_OPEN = 16
_MOST_REMEMBERED = 100_000
_LOST_PACK = 0  # no pack has this number
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Place(NamedTuple):
    """Where a blob lies: the pack, where its stored bytes begin, how many they are, and its own size."""

    pack: int
    start: int
    stored: int
    size: int

    @property
    def is_lost(self) -> bool:
        """Whether the blob is in no pack any more; of what is lost, its size is still known."""
        return self.pack == _LOST_PACK

    @property
    def lost(self) -> Place:
        """The place of a blob of which only the size is left."""
        return Place(_LOST_PACK, 0, self.stored, self.size)


class Catalog(Protocol):
    """Who knows where blobs lie."""

    def place(self, blob: bytes) -> Place | None:
        """Where a blob lies."""

    def add_places(self, places: Iterable[tuple[bytes, Place]]) -> None:
        """Remember where blobs lie; lasting when this returns."""

    def ends(self) -> dict[int, int]:
        """Where the last known blob of each pack ends."""


class Blobs(Protocol):
    """Whatever gives bytes by their hash."""

    def get(self, blob: bytes, /) -> bytes:
        """Bytes by their hash."""


class Vault:
    """Blobs by their SHA-256. Only one process may write; any number may read."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self._folder = folder
        self._catalog = catalog
        self._pending: dict[bytes, Place] = {}
        self._pack = 0
        self._end = 0
        self._out: int | None = None
        self._reading: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._intact: set[bytes] = set()
        self._packing = Packing()

    def put(self, data: bytes) -> bytes:
        """Keep bytes; their hash. They last when `settle` has returned.

        What is there already is compared with them: a copy that is damaged is written again.
        """
        blob = hashlib.sha256(data).digest()
        if not self.holds(blob, data):
            self._write(blob, data)
        return blob

    def put_stored(self, blob: bytes, stored: bytes, size: int) -> None:
        """Keep bytes that are hashed and compressed already."""
        if not self.is_intact(blob):
            self._append(blob, stored, size)

    def holds(self, blob: bytes, data: bytes) -> bool:
        """Whether the bytes of a blob, which these should be, are here and intact.

        Comparing is quicker than hashing. Of a blob that was found intact before, nothing is compared.
        """
        if blob in self._pending or blob in self._intact:
            return True
        place = self._place(blob)
        if place is None or place.size != len(data):
            return False
        try:
            is_same = self._unpacked(blob, place) == data and self.states(blob, place)
        except DamagedArchive:
            return False
        if is_same:
            self._remember(blob)
        return is_same

    def is_intact(self, blob: bytes) -> bool:
        """Whether a blob is here, can be read and is what was put."""
        if blob in self._pending or blob in self._intact:
            return True
        place = self._place(blob)
        if place is None or self.trouble_at(blob, place):
            return False
        self._remember(blob)
        return True

    def reaches(self, place: Place) -> bool:
        """Whether a pack is long enough to hold what should be at a place."""
        return place.start + place.stored <= self._size(place.pack)

    def trouble_at(self, blob: bytes, place: Place) -> str:
        """What is wrong with a blob that should be at a place; empty if nothing is."""
        if place.is_lost:
            return f"{blob.hex()} is lost"
        if not self.reaches(place):
            return f"{blob.hex()} lies behind its end"
        try:
            self.at(blob, place)
            return "" if self.states(blob, place) else f"{blob.hex()} is not what it says it is"
        except DamagedArchive as error:
            return error.reason

    def get(self, blob: bytes) -> bytes:
        """Bytes by their hash. That they still are what was put is checked each time."""
        place = self._place(blob)
        if place is None:
            raise DamagedArchive(str(self._folder), f"{blob.hex()} is in no pack")
        return self.at(blob, place)

    def at(self, blob: bytes, place: Place) -> bytes:
        """Bytes that lie at a place, if they are the ones that are sought."""
        data = self._unpacked(blob, place)
        if hashlib.sha256(data).digest() != blob:
            raise DamagedArchive(self.pack_path(place.pack), f"{blob.hex()} has other bytes")
        return data

    def _unpacked(self, blob: bytes, place: Place) -> bytes:
        stored = self._read(place)
        try:
            return self._packing.unpacked(stored, place.size)
        except ValueError as error:
            raise DamagedArchive(self.pack_path(place.pack), f"{blob.hex()} is damaged ({error})") from error

    def _remember(self, blob: bytes) -> None:
        """Do not look at a blob again that was found intact: what is imported repeats itself."""
        if len(self._intact) >= _MOST_REMEMBERED:
            self._intact.clear()
        self._intact.add(blob)

    def states(self, blob: bytes, place: Place) -> bool:
        """Whether a pack itself says what lies at a place, as it does for who has nothing but the packs."""
        header = place._replace(start=place.start - _HEADER.size, stored=_HEADER.size)
        return self._read(header) == _HEADER.pack(_MAGIC, blob, place.size, place.stored)

    def has(self, blob: bytes) -> bool:
        """Whether these bytes are kept; whether they are intact is not looked at."""
        return self._place(blob) is not None

    def size_of(self, blob: bytes) -> int | None:
        """How many bytes a blob has, also one that is lost; None if it was never here."""
        if blob in self._pending:
            return self._pending[blob].size
        place = self._catalog.place(blob)
        return None if place is None else place.size

    def settle(self) -> None:
        """Make lasting what was put since the last time, bytes first, then where they are."""
        if self._pending and self._out is not None:
            try:
                os.fsync(self._out)
            except OSError as error:
                raise CannotWrite(self.pack_path(self._pack), _reason(error)) from error
            self._catalog.add_places(self._pending.items())
            self._pending.clear()

    def close(self) -> None:
        """Let go of the files; what is not settled is taken over by the next writer."""
        for handle in [*self._reading.values(), *([] if self._out is None else [self._out])]:
            os.close(handle)
        self._reading.clear()
        self._out = None

    def pack_path(self, pack: int) -> str:
        """The file that a pack is."""
        return str(self._folder / f"{pack:06}.pack")

    def packs(self) -> list[int]:
        """The numbers of all packs."""
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        return sorted(int(name[:6]) for name in names if name.endswith(".pack") and name[:6].isdigit())

    def blobs(self, pack: int, start: int = 0) -> Iterator[tuple[bytes, Place]]:
        """The whole blobs that a pack states from a place on, as far as they can be followed."""
        path = self.pack_path(pack)
        end = os.path.getsize(path)
        with open(path, "rb") as file:
            while start + _HEADER.size <= end:
                file.seek(start)
                magic, blob, size, stored = _HEADER.unpack(file.read(_HEADER.size))
                start += _HEADER.size
                if magic != _MAGIC or start + stored > end:
                    return
                yield blob, Place(pack, start, stored, size)
                start += stored

    def drop_pack(self, pack: int) -> None:
        """Remove a pack whose blobs nobody needs."""
        handle = self._reading.pop(pack, None)
        if handle is not None:
            os.close(handle)
        if pack == self._pack and self._out is not None:
            os.close(self._out)
            self._out = None
        os.unlink(self.pack_path(pack))

    def begin_pack(self) -> None:
        """Let what is put from now on lie in a pack of its own."""
        self.settle()
        if self._out is not None:
            os.close(self._out)
        self._open_pack(max([self._pack, *self.packs()]) + 1)

    def move(self, blob: bytes, place: Place) -> None:
        """Put a blob that lies elsewhere behind the last one, checked."""
        self._append(blob, self._packing.packed(self.at(blob, place)), place.size)

    def has_only(self, pack: int, places: Iterable[Place]) -> bool:
        """Whether these blobs are all that is in a pack."""
        return self._size(pack) == sum(_HEADER.size + place.stored for place in places)

    def _place(self, blob: bytes) -> Place | None:
        """Where a blob lies; None also if its pack was lost or cut there, so that it can be put again."""
        if blob in self._pending:
            return self._pending[blob]
        place = self._catalog.place(blob)
        if place is None or place.is_lost:
            return None
        return place if self.reaches(place) else None

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
        self._append(blob, self._packing.packed(data), len(data))

    def _append(self, blob: bytes, stored: bytes, size: int) -> None:
        self._opened()
        if self._end > _PACK_BYTES:
            self.begin_pack()
        whole = _HEADER.pack(_MAGIC, blob, size, len(stored)) + stored
        written = 0
        try:
            while written < len(whole):  # a full disk says so on the next try
                written += os.write(self._opened(), whole[written:])
        except OSError as error:
            with suppress(OSError):  # else the next writer cuts it off
                os.ftruncate(self._opened(), self._end)
            raise CannotWrite(self.pack_path(self._pack), _reason(error)) from error
        self._pending[blob] = Place(self._pack, self._end + _HEADER.size, len(stored), size)
        self._end += len(whole)

    def _opened(self) -> int:
        if self._out is None:
            self._take_over()
        return self._out or 0

    def _take_over(self) -> None:
        """Go on in the last pack, behind everything in it that is whole."""
        packs = self.packs()
        if not packs:
            self._open_pack(1)
            return
        # All before the last were settled when the next was begun.
        last, end = packs[-1], self._catalog.ends().get(packs[-1], 0)
        if os.path.getsize(self.pack_path(last)) < end:
            # Something cut it: what is written now must not lie where its lost end was.
            self._open_pack(last + 1)
            return
        self._adopt(last, end)
        self._open_pack(last)

    def _adopt(self, pack: int, end: int) -> None:
        found: list[tuple[bytes, Place]] = []
        for blob, place in self.blobs(pack, end):
            try:
                self.at(blob, place)
            except DamagedArchive:
                break
            found.append((blob, place))
            end = place.start + place.stored
        self._catalog.add_places([pair for pair in found if self._catalog.place(pair[0]) is None])
        os.truncate(self.pack_path(pack), end)

    def _open_pack(self, pack: int) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAIN
        try:
            private_folder(str(self._folder))
            self._out = os.open(self.pack_path(pack), flags, 0o600)
            if not os.fstat(self._out).st_size:
                keep_private(self._out)
        except OSError as error:
            raise CannotWrite(self.pack_path(pack), _reason(error)) from error
        self._sizes.clear()
        self._pack = pack
        self._end = os.fstat(self._out).st_size
        if not self._end:
            sync_folder(str(self._folder))

    def _read(self, place: Place) -> bytes:
        handle = self._reading.get(place.pack)
        if handle is None:
            if len(self._reading) >= _MOST_OPEN:
                os.close(self._reading.pop(next(iter(self._reading))))
            try:
                handle = os.open(self.pack_path(place.pack), os.O_RDONLY | _PLAIN)
            except OSError as error:
                raise DamagedArchive(
                    self.pack_path(place.pack), f"it cannot be read ({error.strerror})"
                ) from error
            self._reading[place.pack] = handle
        try:
            return _bytes_at(handle, place)
        except (OSError, ValueError, OverflowError) as error:
            raise DamagedArchive(self.pack_path(place.pack), f"it cannot be read ({error})") from error


def _bytes_at(handle: int, place: Place) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(handle, place.stored, place.start)
    os.lseek(handle, place.start, os.SEEK_SET)  # Windows
    return os.read(handle, place.stored)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
