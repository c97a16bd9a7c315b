"""Days, weeks and months as people have them: by the clock of a time zone."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent_journal.errors import NoSuchName

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

_SECONDS = 900
_QUARTERS = 96
_DAY = 86_400
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


class Periods(dict[int | None, int]):
    """The numbers of quarters of an hour since 1970: those of one period and price have one.

    A period is a `day`, `week` or `month`. Where the time is not known, the quarter is None.
    `changes` are the quarters at which something else than the period begins anew, such as a price;
    `by_hour` is said if prices change with the hour.
    """

    def __init__(
        self, period: str | None, zone: tzinfo | None, *, changes: Iterable[int] = (), by_hour: bool = False
    ) -> None:
        self._period = period
        self._zone = zone
        self._changes = sorted(changes)
        self._by_hour = by_hour
        self._places: dict[tuple[str | None, int | None, int], int] = {}
        self._ahead: dict[int, int | None] = {}
        self._names: dict[int, str] = {}
        self.named: list[tuple[str | None, int | None]] = []
        """By number: the name of the period, and a quarter of an hour in it."""

    def __missing__(self, slot: int | None) -> int:
        """The number of a quarter of an hour that was not asked for before."""
        name = self._name(slot)
        era = None if slot is None else bisect_right(self._changes, slot)
        place = (name, era, slot % _QUARTERS if self._by_hour and slot is not None else 0)
        if place not in self._places:
            self._places[place] = len(self.named)
            self.named.append((name, slot))
        number = self[slot] = self._places[place]
        return number

    def _name(self, slot: int | None) -> str | None:
        if slot is None or self._period is None:
            return None
        day = slot // _QUARTERS
        if day not in self._ahead:
            self._ahead[day] = self._ahead_on(day)
        ahead = self._ahead[day]
        if ahead is None:
            at = local(slot, self._zone)
            return None if at is None else self._named(at)
        here = (slot * _SECONDS + ahead) // _DAY
        if here not in self._names:
            self._names[here] = self._named(_EPOCH + timedelta(days=here))
        return self._names[here]

    def _ahead_on(self, day: int) -> int | None:
        """How many seconds a zone is ahead of UTC all of a day of UTC; None if that changes on it.

        No zone ever changed its clocks twice within a day.
        """
        first = day * _QUARTERS
        ahead, at_its_end = (_ahead(slot, self._zone) for slot in (first, first + _QUARTERS - 1))
        return ahead if ahead == at_its_end else None

    def _named(self, at: datetime) -> str:
        if self._period == "week":
            year, week, _ = at.isocalendar()
            return f"{year:04d}-W{week:02d}"
        day = f"{at.year:04d}-{at.month:02d}-{at.day:02d}"
        return day if self._period == "day" else day[:7]


def _ahead(slot: int, zone: tzinfo | None) -> int | None:
    """How many seconds the clock of a zone is ahead of UTC."""
    at = local(slot, zone)
    if at is None:
        return None
    ahead = at.replace(tzinfo=UTC) - _EPOCH - timedelta(seconds=slot * _SECONDS)
    return ahead.days * _DAY + ahead.seconds


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
