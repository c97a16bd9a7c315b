"""Find dates in a question, such as "on 3 March 2026", "March 3rd" or "in March"."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

_MONTH_NAMES = re.findall(
    r"\w+",
    """
    january januar janvier enero janeiro gennaio
    february februar février febrero fevereiro febbraio
    march märz mars marzo março marzo
    april april avril abril abril aprile
    may mai mai mayo maio maggio
    june juni juin junio junho giugno
    july juli juillet julio julho luglio
    august august août agosto agosto agosto
    september september septembre septiembre setembro settembre
    october oktober octobre octubre outubro ottobre
    november november novembre noviembre novembro novembre
    december dezember décembre diciembre dezembro dicembre
""",
)
_LANGUAGE_COUNT = 6
_MONTHS = {name: place // _LANGUAGE_COUNT + 1 for place, name in enumerate(_MONTH_NAMES)}
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.|º|er)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = rf"(?P<month>{_NAME})"
_PATTERNS = tuple(
    re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)
    for pattern in (
        r"(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)",
        rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:de\s+)?{_YEAR})?",
        rf"{_MONTH}\s+{_DAY}(?!\d)(?:,?\s+{_YEAR})?",
        rf"{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
        rf"(?:in|during|im|en|em)\s+{_MONTH}",
    )
)


class CalendarDate(NamedTuple):
    """A day or a month, of one year or of any."""

    year: int | None
    month: int
    day: int | None

    def matches(self, at: int) -> bool:
        """Whether a time, in seconds since 1970, is on this day or in this month, in this machine's zone."""
        try:
            when = datetime.fromtimestamp(at)  # noqa: DTZ006 (people mean their own days)
        except (ValueError, OverflowError, OSError):  # of no calendar
            return False
        return self.month == when.month and self.year in {None, when.year} and self.day in {None, when.day}

    def bounds(self) -> tuple[int, int] | None:
        """Return the first second and the one after the last; None if it is of any year, or impossible."""
        if self.year is None:
            return None
        try:
            first = datetime(self.year, self.month, self.day or 1)  # noqa: DTZ001 (as above)
            after = first + timedelta(days=1 if self.day else 31)
            return int(first.timestamp()), int((after if self.day else after.replace(day=1)).timestamp())
        except (ValueError, OverflowError, OSError):
            return None


class DateMention(NamedTuple):
    """A date and where it is in a text."""

    date: CalendarDate
    start: int
    end: int


def find_dates(text: str) -> list[DateMention]:
    """Return the dates in a text; of overlapping ones, that of the more specific form."""
    mentions: list[DateMention] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            overlaps = any(each.start < match.end() and match.start() < each.end for each in mentions)
            if not overlaps and (date := _date(match)) is not None:
                mentions.append(DateMention(date, *match.span()))
    return sorted(mentions, key=lambda each: each.start)


def _date(match: re.Match[str]) -> CalendarDate | None:
    parts = match.groupdict()
    name = parts["month"].lower()
    month = int(name) if name.isdecimal() else _MONTHS[name]
    year, day = (int(parts[part]) if parts.get(part) else None for part in ("year", "day"))
    is_possible = 1 <= month <= 12 and (day is None or 1 <= day <= 31)  # noqa: PLR2004
    return CalendarDate(year, month, day) if is_possible else None
