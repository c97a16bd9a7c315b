"""Days, weeks and months as people have them: by the clock of a time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent_journal.errors import NoSuchName

if TYPE_CHECKING:
    from datetime import tzinfo

_SECONDS = 900
_QUARTERS = 96
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone of that name; None is the one of this machine."""
    if name is None:
        return None
    if name.upper() in {"UTC", "Z"}:
        return UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415 (only if one is named)

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise NoSuchName("time zone", name, ["UTC", "Europe/Berlin", "America/New_York"]) from error


def this_slot() -> int:
    """This quarter of an hour since 1970."""
    return int(datetime.now(UTC).timestamp()) // _SECONDS


class Periods:
    """Gives quarters of an hour a number: those of one period (`day`, `week`, `month`) and price have one.

    A price changes with the day in UTC; `by_hour` is said if some change with the hour.
    """

    def __init__(self, period: str | None, zone: tzinfo | None, *, by_hour: bool) -> None:
        self._period = period
        self._zone = zone
        self._by_hour = by_hour
        self._numbers: dict[int | None, int] = {}
        self._places: dict[tuple[str | None, int | None, int], int] = {}
        self.named: list[tuple[str | None, int | None]] = []
        """By number: the name of the period, and a quarter of an hour in it."""

    def __call__(self, slot: int | None) -> int:
        """The number of a quarter of an hour since 1970, None where the time is not known."""
        number = self._numbers.get(slot)
        if number is None:
            number = self._numbers[slot] = self._number(slot)
        return number

    def _number(self, slot: int | None) -> int:
        name = self._name(slot)
        day, quarter = (None, 0) if slot is None else divmod(slot, _QUARTERS)
        place = (name, day, quarter if self._by_hour else 0)
        if place not in self._places:
            self._places[place] = len(self.named)
            self.named.append((name, slot))
        return self._places[place]

    def _name(self, slot: int | None) -> str | None:
        if slot is None or self._period is None:
            return None
        at = local(slot, self._zone)
        if at is None:
            return None
        if self._period == "week":
            year, week, _ = at.isocalendar()
            return f"{year:04d}-W{week:02d}"
        day = f"{at.year:04d}-{at.month:02d}-{at.day:02d}"
        return day if self._period == "day" else day[:7]


def local(slot: int, zone: tzinfo | None) -> datetime | None:
    """A quarter of an hour by the clock of a zone; None at the ends of the calendar."""
    try:
        return datetime.fromtimestamp(slot * _SECONDS, zone)
    except (OverflowError, OSError, ValueError):
        pass
    try:
        return _EPOCH + timedelta(seconds=slot * _SECONDS)
    except OverflowError:
        return None
