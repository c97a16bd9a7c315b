"""Which parts of the vault were read and hashed when, and what was found damaged there.

To read the whole vault takes long; damage that nobody looks for is found when it is too late. So each check
reads a part of it, what was not looked at for longest first, and as much as is needed for all of it to be
read within a month, however often checks are run. What was read when is in a file beside the vault.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agent_journal.archive.vault import Place
from agent_journal.errors import CannotWrite
from agent_journal.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from agent_journal.archive import Archive

FILE = "vault-checks.json"
DAY = 86_400
# All of the vault is read within so many days.
WITHIN_DAYS = 28
# At least so many stored bytes are read by each check; that takes less than a second.
_LEAST_BYTES = 32 << 20
# And no longer than so many seconds.
MOST_SECONDS = 60.0
# Blobs are remembered by stretches of so many bytes of a pack.
_STRETCH_BYTES = 8 << 20
_NAME_BYTES = 8


class Record(msgspec.Struct):
    """What is remembered of checks. Times are seconds since 1970."""

    begun_at: int = 0
    """When something was read first."""
    checked_at: int = 0
    """When something was read last."""
    whole_at: int = 0
    """Since when all of it was read; 0 if a part never was."""
    stretches: dict[str, int] = {}
    """When each stretch was read, by the hash of its first blob."""
    damaged: dict[str, int] = {}
    """Blobs that were found damaged, and when."""


class Stretch(NamedTuple):
    """Blobs that lie side by side."""

    name: str
    blobs: list[tuple[bytes, Place]]

    @property
    def size(self) -> int:
        """How many bytes are read for it."""
        return sum(place.stored for _, place in self.blobs)


class Damage(NamedTuple):
    """A blob that is needed and is not what was put."""

    blob: bytes
    where: str
    problem: str


class Outcome(NamedTuple):
    """What a check of the vault found."""

    damage: list[Damage]
    read: int
    """Stored bytes that were read."""
    total: int
    whole_at: int
    """Since when all of it was read, in seconds since 1970; 0 if a part never was."""
    is_cut_short: bool
    """Whether there was more to read than there was time for."""
    trouble: str
    """Why it could not be remembered what was read; empty if it was."""

    @classmethod
    def nothing(cls) -> Outcome:
        """Nothing was looked at."""
        return cls([], 0, 0, 0, is_cut_short=False, trouble="")


def load(home: Path) -> Record:
    """What is remembered; nothing, if that cannot be read."""
    try:
        return msgspec.json.decode((home / FILE).read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Record()


def look(
    archive: Archive,
    needed: set[bytes] | None,
    now: float,
    *,
    deep: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Read a part of the vault, or all of it, and remember that."""
    record = load(archive.home)
    there = _stretches(archive, needed)
    total = sum(each.size for each in there)
    lost = [
        _damage(archive, blob, place) for blob, place in archive.store.places() if _is_gone(archive, place)
    ]
    found = {each.blob: each for each in lost if needed is None or each.blob in needed}
    due = there if deep else _due(there, record, total, now)
    deadline = None if deep else clock() + MOST_SECONDS
    read, stretches = (
        0,
        {each.name: record.stretches[each.name] for each in there if each.name in record.stretches},
    )
    is_cut_short = False
    for stretch in due:
        if deadline is not None and clock() > deadline:
            is_cut_short = True
            break
        for blob, place in stretch.blobs:
            if archive.vault.trouble_at(blob, place):
                found[blob] = _damage(archive, blob, place)
        read += stretch.size
        stretches[stretch.name] = int(now)
    for each in known(archive, record, needed):
        found.setdefault(each.blob, each)
    if found:
        found = _confirmed(archive, found)
    damaged = {blob.hex(): record.damaged.get(blob.hex(), int(now)) for blob in found}
    whole_at = min(stretches.values(), default=0) if len(stretches) == len(there) else 0
    trouble = _save(archive.home, Record(record.begun_at or int(now), int(now), whole_at, stretches, damaged))
    return Outcome(list(found.values()), read, total, whole_at, is_cut_short, trouble)


def glance(archive: Archive, needed: Callable[[], set[bytes] | None]) -> list[Damage]:
    """What can be told without reading the vault: what is gone from it, and what earlier checks found."""
    record = load(archive.home)
    is_short = any(
        not archive.vault.reaches(Place(pack, 0, end, 0)) for pack, end in archive.store.ends().items()
    )
    if not (record.damaged or is_short):
        return []
    wanted = needed()
    found = {each.blob: each for each in known(archive, record, wanted)}
    for blob, place in archive.store.places():
        if (wanted is None or blob in wanted) and _is_gone(archive, place):
            found.setdefault(blob, _damage(archive, blob, place))
    return [*found.values()]


def known(archive: Archive, record: Record, needed: set[bytes] | None) -> list[Damage]:
    """What was found damaged before and still is, and is needed; each of these is read again."""
    found = []
    for name in record.damaged:
        blob = bytes.fromhex(name)
        place = archive.store.place(blob)
        if place is not None and (needed is None or blob in needed) and archive.vault.trouble_at(blob, place):
            found.append(_damage(archive, blob, place))
    return found


def _is_gone(archive: Archive, place: Place) -> bool:
    """Whether a blob cannot be there, by the sizes of the files alone."""
    return place.is_lost or not archive.vault.reaches(place)


def _damage(archive: Archive, blob: bytes, place: Place) -> Damage:
    where = str(archive.home / "vault") if place.is_lost else archive.vault.pack_path(place.pack)
    return Damage(blob, where, archive.vault.trouble_at(blob, place))


def _confirmed(archive: Archive, found: dict[bytes, Damage]) -> dict[bytes, Damage]:
    """What is damaged where it lies now: while it was read, somebody may have moved it to another pack."""
    from agent_journal.archive import open_as_it_is  # noqa: PLC0415 (it is above this)

    with open_as_it_is(archive.home) as now:
        places = {blob: now.store.place(blob) for blob in found}
        return {
            blob: _damage(now, blob, place)
            for blob, place in places.items()
            if place is not None and now.vault.trouble_at(blob, place)
        }


def _stretches(archive: Archive, needed: set[bytes] | None) -> list[Stretch]:
    """All that is needed of the vault, stretch by stretch."""
    found: dict[tuple[int, int], list[tuple[bytes, Place]]] = {}
    for blob, place in archive.store.places():
        if (needed is None or blob in needed) and not _is_gone(archive, place):
            found.setdefault((place.pack, place.start // _STRETCH_BYTES), []).append((blob, place))
    return [Stretch(blobs[0][0][:_NAME_BYTES].hex(), blobs) for blobs in found.values()]


def _due(there: Iterable[Stretch], record: Record, total: int, now: float) -> list[Stretch]:
    """What is to be read now: what was not looked at for longest, in proportion to the time gone by.

    Also all that would be older than a month by the time of the next check, if that is as far away as the
    last one.
    """
    oldest_first = sorted(there, key=lambda each: record.stretches.get(each.name, 0))
    gone_by = max(now - record.checked_at, 0.0) if record.checked_at else DAY
    wanted = max(_LEAST_BYTES, total * gone_by / (WITHIN_DAYS * DAY), total / WITHIN_DAYS)
    latest = now - WITHIN_DAYS * DAY + min(gone_by, WITHIN_DAYS * DAY)
    due, size = [], 0
    for each in oldest_first:
        read_at = record.stretches.get(each.name, record.begun_at or now)
        if size >= wanted and latest < read_at <= now:
            break
        due.append(each)
        size += each.size
    return due


def _save(home: Path, record: Record) -> str:
    try:
        with whole_file(str(home / FILE)) as out:
            out.write(msgspec.json.encode(record))
    except (CannotWrite, OSError) as error:
        return str(error)
    return ""
