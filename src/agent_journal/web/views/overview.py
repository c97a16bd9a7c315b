"""What was done when, with which tools, and what it cost."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.text.humanize import dollars
from agent_journal.usage import TokenTotals
from agent_journal.web.site import project_name
from agent_journal.web.views.parameters import integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.usage import By, Report, Row
    from agent_journal.web.site import Site

_WEEKS, _WEEK_DAYS, _MAX_LEVEL = 53, 7, 4
_MAX_MONTHS, _MAX_ROWS, _MAX_TOOLS, _MAX_UNREAD = 24, 12, 25, 10


class DayCell(NamedTuple):
    """A day of the heat map."""

    week: int
    weekday: int
    level: int
    """From 0, nothing, to 4."""
    label: str
    address: str


class HourCell(NamedTuple):
    """An hour of the week."""

    hour: int
    weekday: int
    level: int
    label: str


class MonthBar(NamedTuple):
    """The cost of a month."""

    name: str
    share: float
    label: str
    address: str


class UsageRow(NamedTuple):
    """A project, model or source with what was used for it."""

    label: str
    address: str
    answers: int
    tokens: int
    cost: str
    """Empty if no price is known."""
    share: float
    """Of the largest row."""


def show(site: Site, request: Request) -> Response:
    """The overview of a journal."""
    overview = site.journal.overview()
    if overview is None or not overview.conversations:
        return site.page("empty.html", {"home": site.config.home}, title="Welcome")
    activity = site.journal.activity()
    by_day, by_hour = _local_counts(activity.messages_by_hour)
    months = site.journal.usage("month")
    unread = site.journal.unread_files()
    first = _first_day(by_day, integer(request, "year", 0))
    values = {
        "overview": overview,
        "days": _day_cells(site, by_day, first),
        "month_marks": _month_marks(first),
        "years": sorted({day.year for day in by_day}),
        "year": integer(request, "year", 0),
        "active_days": len(by_day),
        "hours": _hour_cells(by_hour),
        "months": _month_bars(site, months),
        "cost": dollars(months.total.cost_usd) if months.total.cost_usd else "",
        "tokens": months.total.total,
        "unpriced": sum(months.notices.unpriced.values()),
        "uncounted": months.notices.uncounted,
        "breakdowns": {
            "Projects": _rows(site, "project"),
            "Models": _rows(site, "model"),
            "Sources": _rows(site, "source"),
        },
        "tools": activity.tools[:_MAX_TOOLS],
        "deleted": [group for group in overview.sources if group.deleted],
        "unread": unread[:_MAX_UNREAD],
        "hidden_unread": max(len(unread) - _MAX_UNREAD, 0),
        "hidden_tools": max(len(activity.tools) - _MAX_TOOLS, 0),
    }
    return site.page("overview.html", values, title="Overview")


def _local_counts(by_hour: Mapping[str, int]) -> tuple[dict[date, int], dict[tuple[int, int], int]]:
    """Messages by day, and by weekday and hour, in the time zone of this machine."""
    days: dict[date, int] = {}
    hours: dict[tuple[int, int], int] = {}
    for text, messages in by_hour.items():
        try:
            local = datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC).astimezone()
        except (ValueError, OverflowError, OSError):
            continue
        days[local.date()] = days.get(local.date(), 0) + messages
        place = local.weekday(), local.hour
        hours[place] = hours.get(place, 0) + messages
    return days, hours


def _first_day(by_day: Mapping[date, int], year: int) -> date:
    """The Monday on which the heat map starts: it ends with a year, or with the newest message."""
    newest = max(by_day, default=datetime.now(UTC).date())
    last = date(year, 12, 31) if date.min.year < year < date.max.year else newest
    return last - timedelta(days=last.weekday(), weeks=_WEEKS - 1)


def _day_cells(site: Site, by_day: Mapping[date, int], first: date) -> list[DayCell]:
    shown = [first + timedelta(days=number) for number in range(_WEEKS * _WEEK_DAYS)]
    levels = _levels([by_day.get(day, 0) for day in shown])
    cells = []
    for number, (day, level) in enumerate(zip(shown, levels, strict=True)):
        messages = by_day.get(day, 0)
        label = f"{day.day} {day:%B %Y}: {messages:,} {'message' if messages == 1 else 'messages'}"
        address = _between(site, day, day + timedelta(days=1)) if messages else ""
        cells.append(DayCell(number // _WEEK_DAYS, number % _WEEK_DAYS, level, label, address))
    return cells


def _between(site: Site, start: date, end: date) -> str:
    """The list of conversations from the start of a day to the start of another one."""
    since, until = (
        datetime.combine(day, time()).astimezone().isoformat("T", "minutes") for day in (start, end)
    )
    return site.urls.of("", parameters={"since": since, "until": until})


def _month_marks(first: date) -> list[tuple[int, str]]:
    """The weeks in which a month begins, with its name."""
    weeks = [(week, first + timedelta(weeks=week)) for week in range(_WEEKS)]
    starts = [next(group) for _, group in groupby(weeks, lambda each: (each[1].year, each[1].month))]
    return [(week, f"{day:%b}") for week, day in starts[1:]]


def _hour_cells(by_hour: Mapping[tuple[int, int], int]) -> list[HourCell]:
    places = [(weekday, hour) for weekday in range(_WEEK_DAYS) for hour in range(24)]
    levels = _levels([by_hour.get(place, 0) for place in places])
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return [
        HourCell(hour, weekday, level, f"{names[weekday]}, {hour}:00: {by_hour.get((weekday, hour), 0):,}")
        for (weekday, hour), level in zip(places, levels, strict=True)
    ]


def _levels(amounts: list[int]) -> list[int]:
    """Levels from 0 to 4, so that each level above 0 has about as many amounts."""
    ranked = sorted(amount for amount in amounts if amount)
    rank_of = {amount: rank for rank, amount in enumerate(ranked)}
    return [1 + rank_of[each] * _MAX_LEVEL // len(ranked) if each else 0 for each in amounts]


def _month_bars(site: Site, report: Report) -> list[MonthBar]:
    sums = {row.name: row.sums for row in report.rows if row.name}
    largest = max((each.cost_usd for each in sums.values()), default=0.0) or 1.0
    bars: list[MonthBar] = []
    start = date.fromisoformat(f"{max(sums)}-01") if sums else date.min
    while sums and len(bars) < _MAX_MONTHS and f"{start:%Y-%m}" >= min(sums):
        month = sums.get(f"{start:%Y-%m}", TokenTotals())
        address = _between(site, start, (start + timedelta(days=31)).replace(day=1))
        label = f"{start:%B %Y}: {dollars(month.cost_usd)}, {month.total:,} tokens"
        bars.insert(
            0,
            MonthBar(
                f"{start:%Y}" if start.month == 1 else f"{start:%b}", month.cost_usd / largest, label, address
            ),
        )
        start = (start - timedelta(days=1)).replace(day=1)
    return bars


def _rows(site: Site, by: By) -> list[UsageRow]:
    report = site.journal.usage(by)
    rows = [row for row in report.rows if row.name][:_MAX_ROWS]
    largest = max((row.sums.total for row in rows), default=0) or 1
    return [_row(site, by, row, largest) for row in rows]


def _row(site: Site, by: By, row: Row, largest: int) -> UsageRow:
    name = row.name or ""
    label = {"source": site.source_title, "project": project_name}.get(by, str)(name)
    cost = dollars(row.sums.cost_usd) if row.sums.cost_usd else ""
    address = site.urls.of("", parameters={by: name})
    return UsageRow(label, address, row.sums.messages, row.sums.total, cost, row.sums.total / largest)
