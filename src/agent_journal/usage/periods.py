"""Days, weeks and months in a time zone."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent_journal.errors import NoSuchName

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

_SLOT_SECONDS = 900
_SLOTS_PER_DAY = 96
_DAY_SECONDS = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_zone(name: str | None) -> tzinfo | None:
    """Return the time zone of a name; None stands for the zone of this machine."""
    if name is None:
        return None
    if name.upper() in {"UTC", "Z"}:
        return UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415 (only if one is named)

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise NoSuchName("time zone", name, ["UTC", "Europe/Berlin", "America/New_York", "…"]) from error


def current_slot() -> int:
    """Return the current slot: quarters of an hour since 1970."""
    return int(datetime.now(UTC).timestamp()) // _SLOT_SECONDS


class Periods(dict[int | None, int]):
    """Maps slots (quarters of an hour since 1970) to numbers: one number for each period and price.

    A period is a `day`, `week` or `month`. If the time is unknown, the slot is None. `changes` are slots at
    which a new number begins within a period, for example because a price changes; `by_hour` states that
    prices depend on the hour.
    """

    def __init__(
        self, period: str | None, zone: tzinfo | None, *, changes: Iterable[int] = (), by_hour: bool = False
    ) -> None:
        self._period = period
        self._zone = zone
        self._changes = sorted(changes)
        self._by_hour = by_hour
        self._numbers: dict[tuple[str | None, int | None, int], int] = {}
        self._offsets: dict[int, int | None] = {}
        self._names: dict[int, str] = {}
        self.slots: list[tuple[str | None, int | None]] = []
        """By number: the name of the period, and a slot in it."""

    def __missing__(self, slot: int | None) -> int:
        """Assign the number of a new slot."""
        name = self._name(slot)
        era = None if slot is None else bisect_right(self._changes, slot)
        key = (name, era, slot % _SLOTS_PER_DAY if self._by_hour and slot is not None else 0)
        if key not in self._numbers:
            self._numbers[key] = len(self.slots)
            self.slots.append((name, slot))
        number = self[slot] = self._numbers[key]
        return number

    def _name(self, slot: int | None) -> str | None:
        if slot is None or self._period is None:
            return None
        day = slot // _SLOTS_PER_DAY
        if day not in self._offsets:
            self._offsets[day] = self._offset_on(day)
        offset = self._offsets[day]
        if offset is None:
            at = local_time(slot, self._zone)
            return None if at is None else self._period_of(at)
        local_day = (slot * _SLOT_SECONDS + offset) // _DAY_SECONDS
        if local_day not in self._names:
            self._names[local_day] = self._period_of(_EPOCH + timedelta(days=local_day))
        return self._names[local_day]

    def _offset_on(self, day: int) -> int | None:
        """Return the offset from UTC in seconds during a day of UTC; None if it changes on that day.

        No zone ever changed its clocks twice within a day.
        """
        first = day * _SLOTS_PER_DAY
        ahead, at_its_end = (_utc_offset(slot, self._zone) for slot in (first, first + _SLOTS_PER_DAY - 1))
        return ahead if ahead == at_its_end else None

    def _period_of(self, at: datetime) -> str:
        if self._period == "week":
            year, week, _ = at.isocalendar()
            return f"{year:04d}-W{week:02d}"
        day = f"{at.year:04d}-{at.month:02d}-{at.day:02d}"
        return day if self._period == "day" else day[:7]


def _utc_offset(slot: int, zone: tzinfo | None) -> int | None:
    """Return the offset of a zone from UTC in seconds."""
    at = local_time(slot, zone)
    if at is None:
        return None
    ahead = at.replace(tzinfo=UTC) - _EPOCH - timedelta(seconds=slot * _SLOT_SECONDS)
    return ahead.days * _DAY_SECONDS + ahead.seconds


def local_time(slot: int, zone: tzinfo | None) -> datetime | None:
    """Return the local time of a slot; None at the ends of the calendar."""
    try:
        return datetime.fromtimestamp(slot * _SLOT_SECONDS, zone)
    except (OverflowError, OSError, ValueError):
        pass
    try:
        return _EPOCH + timedelta(seconds=slot * _SLOT_SECONDS)
    except OverflowError:
        return None
