"""Check the vault in parts, and record what was read when and what is damaged.

Reading the whole vault takes long, but damage that is not looked for is found too late. So each check reads
the part that was not read for longest, and enough that everything is read within a month, however often
checks are run. What was read when is in a file next to the vault.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agent_journal.archive.vault import BlobLocation
from agent_journal.errors import CannotWrite
from agent_journal.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from agent_journal.archive import Archive

FILE = "vault-checks.json"
SECONDS_PER_DAY = 86_400
# The whole vault is read within this many days.
FULL_CHECK_DAYS = 28
# Each check reads at least this many stored bytes, which takes less than a second.
_MIN_CHECK_BYTES = 32 << 20
# And at most this long.
MAX_CHECK_SECONDS = 60.0
# What was read is recorded per stretch of this many bytes of a pack.
_STRETCH_BYTES = 8 << 20
_NAME_BYTES = 8


class Record(msgspec.Struct):
    """The stored record of checks. Times are seconds since 1970."""

    begun_at: int = 0
    """The time of the first check."""
    checked_at: int = 0
    """The time of the last check."""
    whole_at: int = 0
    """Since when everything has been read; 0 if a part never was."""
    stretches: dict[str, int] = {}
    """When each stretch was read, by the hash of its first blob."""
    damaged: dict[str, int] = {}
    """Damaged blobs, and when the damage was found."""


class Stretch(NamedTuple):
    """Neighboring blobs of a pack."""

    name: str
    blobs: list[tuple[bytes, BlobLocation]]

    @property
    def size(self) -> int:
        """The number of stored bytes."""
        return sum(location.stored for _, location in self.blobs)


class Damage(NamedTuple):
    """A needed blob that is damaged or lost."""

    blob: bytes
    where: str
    problem: str


class CheckOutcome(NamedTuple):
    """The outcome of a check of the vault."""

    damage: list[Damage]
    read_bytes: int
    """The stored bytes that were read."""
    total_bytes: int
    whole_at: int
    """Since when everything has been read, in seconds since 1970; 0 if a part never was."""
    is_cut_short: bool
    """Whether time ran out before everything due was read."""
    save_error: str
    """Why the record could not be saved; empty if it was."""

    @classmethod
    def empty(cls) -> CheckOutcome:
        """Return the outcome of a check that read nothing."""
        return cls([], 0, 0, 0, is_cut_short=False, save_error="")


def load(home: Path) -> Record:
    """Load the record of checks; an empty one if it cannot be read."""
    try:
        return msgspec.json.decode((home / FILE).read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Record()


def check(
    archive: Archive,
    needed: set[bytes] | None,
    now: float,
    *,
    deep: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> CheckOutcome:
    """Read a part of the vault, or all of it, and record that."""
    record = load(archive.home)
    stretches_in_vault = _stretches(archive, needed)
    total = sum(item.size for item in stretches_in_vault)
    lost = [
        _damage(archive, blob, location)
        for blob, location in archive.store.locations()
        if _is_gone(archive, location)
    ]
    damage = {item.blob: item for item in lost if needed is None or item.blob in needed}
    due = stretches_in_vault if deep else _due(stretches_in_vault, record, total, now)
    deadline = None if deep else clock() + MAX_CHECK_SECONDS
    read_bytes, read_times = (
        0,
        {
            item.name: record.stretches[item.name]
            for item in stretches_in_vault
            if item.name in record.stretches
        },
    )
    is_cut_short = False
    for stretch in due:
        if deadline is not None and clock() > deadline:
            is_cut_short = True
            break
        for blob, location in stretch.blobs:
            if archive.vault.problem_at(blob, location):
                damage[blob] = _damage(archive, blob, location)
        read_bytes += stretch.size
        read_times[stretch.name] = int(now)
    for item in recheck_damaged(archive, record, needed):
        damage.setdefault(item.blob, item)
    if damage:
        damage = _confirmed(archive, damage)
    damaged = {blob.hex(): record.damaged.get(blob.hex(), int(now)) for blob in damage}
    whole_at = min(read_times.values(), default=0) if len(read_times) == len(stretches_in_vault) else 0
    trouble = _save(
        archive.home, Record(record.begun_at or int(now), int(now), whole_at, read_times, damaged)
    )
    return CheckOutcome(list(damage.values()), read_bytes, total, whole_at, is_cut_short, trouble)


def known_damage(archive: Archive, needed: Callable[[], set[bytes] | None]) -> list[Damage]:
    """Return the damage known without reading the vault: lost blobs, and results of earlier checks."""
    record = load(archive.home)
    is_short = any(
        not archive.vault.is_within_pack(BlobLocation(pack, 0, end, 0))
        for pack, end in archive.store.ends().items()
    )
    if not (record.damaged or is_short):
        return []
    needed_blobs = needed()
    damage = {each.blob: each for each in recheck_damaged(archive, record, needed_blobs)}
    for blob, location in archive.store.locations():
        if (needed_blobs is None or blob in needed_blobs) and _is_gone(archive, location):
            damage.setdefault(blob, _damage(archive, blob, location))
    return [*damage.values()]


def recheck_damaged(archive: Archive, record: Record, needed: set[bytes] | None) -> list[Damage]:
    """Read the blobs again that were damaged before; return those that still are, and are needed."""
    damage = []
    for name in record.damaged:
        blob = bytes.fromhex(name)
        location = archive.store.location(blob)
        if (
            location is not None
            and (needed is None or blob in needed)
            and archive.vault.problem_at(blob, location)
        ):
            damage.append(_damage(archive, blob, location))
    return damage


def _is_gone(archive: Archive, location: BlobLocation) -> bool:
    """Whether a blob is certainly gone, by the size of its pack."""
    return location.is_lost or not archive.vault.is_within_pack(location)


def _damage(archive: Archive, blob: bytes, location: BlobLocation) -> Damage:
    where = str(archive.home / "vault") if location.is_lost else archive.vault.pack_path(location.pack)
    return Damage(blob, where, archive.vault.problem_at(blob, location))


def _confirmed(archive: Archive, damage: dict[bytes, Damage]) -> dict[bytes, Damage]:
    """Check damaged blobs at their current locations: another process may have moved them meanwhile."""
    from agent_journal.archive import open_without_migrating  # noqa: PLC0415 (it imports this module)

    with open_without_migrating(archive.home) as reopened:
        places = {blob: reopened.store.location(blob) for blob in damage}
        return {
            blob: _damage(reopened, blob, location)
            for blob, location in places.items()
            if location is not None and reopened.vault.problem_at(blob, location)
        }


def _stretches(archive: Archive, needed: set[bytes] | None) -> list[Stretch]:
    """Return everything needed of the vault, by stretch."""
    by_position: dict[tuple[int, int], list[tuple[bytes, BlobLocation]]] = {}
    for blob, location in archive.store.locations():
        if (needed is None or blob in needed) and not _is_gone(archive, location):
            by_position.setdefault((location.pack, location.start // _STRETCH_BYTES), []).append(
                (blob, location)
            )
    return [Stretch(blobs[0][0][:_NAME_BYTES].hex(), blobs) for blobs in by_position.values()]


def _due(stretches: Iterable[Stretch], record: Record, total: int, now: float) -> list[Stretch]:
    """Return the stretches to read now: the oldest, in proportion to the time since the last check.

    And all that would be older than a month at the next check, if that is as far away as the last one.
    """
    oldest_first = sorted(stretches, key=lambda each: record.stretches.get(each.name, 0))
    elapsed_s = max(now - record.checked_at, 0.0) if record.checked_at else SECONDS_PER_DAY
    target_bytes = max(
        _MIN_CHECK_BYTES, total * elapsed_s / (FULL_CHECK_DAYS * SECONDS_PER_DAY), total / FULL_CHECK_DAYS
    )
    latest = now - FULL_CHECK_DAYS * SECONDS_PER_DAY + min(elapsed_s, FULL_CHECK_DAYS * SECONDS_PER_DAY)
    due, size = [], 0
    for each in oldest_first:
        read_at = record.stretches.get(each.name, record.begun_at or now)
        if size >= target_bytes and latest < read_at <= now:
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
