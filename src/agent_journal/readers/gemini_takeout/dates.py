"""Parses times of an activity log's page: in the account's language, with an abbreviated time zone.

`Jul 26, 2026, 8:07:57 PM EDT`, `26.04.2026, 10:11:12 MESZ`, `2 de mar. de 2026, 10:11:12 BRT`,
`2026/05/21 17:47:55 JST`, `2026. 8. 1. 오후 3:22:10 KST`, `2026年3月2日 10:11:12 CST`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

_MAX_TIME_CHARS = 80
_SPACES = re.compile(r"[\s\u00a0\u202f\u2009\u200e\u200f]+")
_CLOCK = re.compile(r"(?<!\d)(\d{1,2})[:.](\d{2})[:.](\d{2})(?!\d)", re.ASCII)
_NUMBERS = re.compile(r"\d+", re.ASCII)
_WORDS = re.compile(r"[^\W\d_]+")
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?\Z", re.ASCII)
_PM = re.compile(r"\b(?:pm|p\.\s?m\.)|오후|午後|下午|晚上|μ\.μ\.", re.IGNORECASE)
_AM = re.compile(r"\b(?:am|a\.\s?m\.)|오전|午前|上午|凌晨|π\.μ\.", re.IGNORECASE)
# Beginnings of month names without accents, in the languages with this order of abbreviations.
_MONTHS = (
    "jan janv ene gen sty led oca ocak янв ιαν tammi",
    "feb fev fevr febr lut uno sub subat фев φεβ helmi",
    "mar mars marz marc maart mrt mart brez мар μαρ maalis",
    "apr avr abr kwi dub nis апр απρ huhti",
    "may mai maj mag mei maio kve mayis май мая μαι touko",
    "jun juin giu cze cerv haz haziran июн ιουν kesa",
    "jul juil lug lip cervc tem temmuz июл ιουλ heina",
    "aug aou aout ago sie srp agu avg agustos авг αυγ elo",
    "sep sept set wrz zar eyl eylul сен сент σεπ syys",
    "oct okt ott out paz rij eki ekim окт οκτ loka",
    "nov lis kas kasim ноя нояб νοε marras",
    "dec dez dic gru pro ara aralik дек δεκ joulu",
)
_MONTH = {name: month for month, names in enumerate(_MONTHS, 1) for name in names.split()}
# Minutes from UTC. Ambiguous letters mean the zone of most people; for CST, the date decides.
_ZONE_LETTERS = (
    (0, "UTC GMT Z WET"),
    (60, "CET MEZ BST WEST WAT"),
    (120, "CEST MESZ EET SAST CAT"),
    (180, "EEST MSK TRT EAT"),
    (300, "PKT"),
    (330, "IST"),
    (420, "WIB ICT"),
    (480, "HKT SGT PHT AWST"),
    (540, "JST KST"),
    (570, "ACST"),
    (600, "AEST"),
    (630, "ACDT"),
    (660, "AEDT"),
    (720, "NZST"),
    (780, "NZDT"),
    (-120, "BRST"),
    (-150, "NDT"),
    (-180, "BRT ART CLST ADT"),
    (-210, "NST"),
    (-240, "CLT AST EDT"),
    (-300, "COT PET EST CDT"),
    (-360, "CST MDT"),
    (-420, "MST PDT"),
    (-480, "PST AKDT"),
    (-540, "AKST"),
    (-600, "HST"),
)
_ZONES = {letters: minutes for minutes, row in _ZONE_LETTERS for letters in row.split()}
_CHINA_OFFSET_MINUTES = 480


class ParsedTime(NamedTuple):
    """A time in UTC; `unknown_zone` has the text of a time zone that could not be read."""

    at: str
    unknown_zone: str | None


def is_time(text: str) -> bool:
    """Whether a line is a time and nothing else."""
    return len(text) < _MAX_TIME_CHARS and parse_time(text) is not None


@lru_cache(maxsize=64)
def parse_time(text: str) -> ParsedTime | None:
    """Parse a time; None if the text is not one."""
    plain = _SPACES.sub(" ", text).strip()
    clock = _CLOCK.search(plain)
    if clock is None or len(plain) >= _MAX_TIME_CHARS:
        return None
    date, rest = plain[: clock.start()], plain[clock.end() :]
    day = _day(date)
    if day is None:
        return None
    hours, minutes, seconds = (int(part) for part in clock.groups())
    halves = f"{date} {rest}"
    if _PM.search(halves):
        hours = hours % 12 + 12
    elif _AM.search(halves):
        hours = hours % 12
    offset, unknown = _zone(rest, is_chinese="年" in date)
    try:
        at = datetime(*day, hours, minutes, seconds, tzinfo=timezone(timedelta(minutes=offset)))
        utc = at.astimezone(timezone.utc)  # noqa: UP017 (one object, compared nowhere)
    except (ValueError, OverflowError):
        return None
    return ParsedTime(f"{utc.isoformat()[:19]}Z", unknown)


def _day(date: str) -> tuple[int, int, int] | None:
    """Get year, month and day, in any order. English writes month names, so with numbers the day is first."""
    numbers = [int(number) for number in _NUMBERS.findall(date) if len(number) <= 4]  # noqa: PLR2004 (of a year)
    months = [month for word in _WORDS.findall(date.lower()) if (month := _month(word))]
    years = [number for number in numbers if number > 1900]  # noqa: PLR2004 (no day or month)
    if len(years) != 1:
        return None
    year = years[0]
    others = [number for number in numbers if number != year]
    if len(others) == 1 and months:
        return year, months[0], others[0]
    if len(others) != 2:  # noqa: PLR2004 (month and day)
        return None
    first, second = others
    if numbers[0] == year or second > 12:  # noqa: PLR2004 (months of a year)
        return year, first, second
    return year, second, first


def _month(word: str) -> int | None:
    plain = "".join(c for c in normalize("NFD", word) if not "\u0300" <= c <= "\u036f")
    return next((month for size in (5, 4, 3) if (month := _MONTH.get(plain[:size]))), None)


def _zone(rest: str, *, is_chinese: bool) -> tuple[int, str | None]:
    """Get the minutes from UTC, and the text of the zone if it is unknown."""
    words = [word for word in rest.replace(",", " ").split(" ") if word]
    last = words[-1] if words else ""
    if is_chinese and last == "CST":
        return _CHINA_OFFSET_MINUTES, None
    if last.upper() in _ZONES:
        return _ZONES[last.upper()], None
    if offset := _OFFSET.match(last):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return (minutes if offset[1] == "+" else -minutes) if minutes < 24 * 60 else 0, None
    return 0, last
