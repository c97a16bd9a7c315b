"""Moments as RFC 3339 strings. A valid one passes untouched; anything else becomes UTC with `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_RFC3339 = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)"
    r"(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Two numbers and a year, hour and minute, perhaps seconds and a fraction, half of the day, zone.
# It is compiled when it is first needed.
_LOCALE = (
    r"(?a)(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?"
    r"(?: ?([AaPp])[Mm])?(?: ?([+-]\d\d:[0-5]\d))?"
)

# A date that two numbers begin: which of them is the month depends on a person's language.
_TWO_NUMBERS = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})[/.-]\d{4}\b", re.ASCII)
_MONTHS = 12
_DEFAULTS = datetime(1, 1, 1), datetime(2, 2, 2)  # noqa: DTZ001 (neither has a zone of its own)

is_date = re.compile(r"\s*\d{4}-\d\d-\d\d\s*", re.ASCII).fullmatch
"""Whether a text is a day without a time: what it gives is true or not."""

is_moment = _RFC3339.fullmatch
"""Whether a text is a moment as it stands: what it gives is true or not."""

# A number below this is seconds since 1970 (up to the year 2286), one above is milliseconds.
SECONDS_BELOW = 10_000_000_000
# Milliseconds end with the year 9999; above that a number can only be microseconds, then nanoseconds.
_MICROSECONDS_FROM = 253_402_300_800_000
_NANOSECONDS_FROM = 253_402_300_800_000_000
_MOST = _NANOSECONDS_FROM * 1000


def moment(value: Any) -> str | None:
    """The moment that `value` states, or None if it states none that can be understood.

    Understood are RFC 3339 and other ISO 8601 strings (without a zone: UTC; without a time: midnight),
    epoch numbers, also as strings, and MongoDB's `{"$date": …}`.
    """
    if isinstance(value, str):
        if _RFC3339.fullmatch(value):
            return value
        return _from_text(value.strip())
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return from_epoch(value)
    if isinstance(value, dict) and "$date" in value:
        return _from_bson(value["$date"])
    return None


def in_zone(text: str, zone: tzinfo | None = None) -> datetime | None:
    """The moment that a text means by the clock of a zone or of the machine (None), unless it has its own.

    A date is its first moment; None if it is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo or zone:
        return at if at.tzinfo else at.replace(tzinfo=zone)
    try:
        return at.astimezone()
    except (ValueError, OverflowError, OSError):  # its clock does not go as far
        return at.replace(tzinfo=UTC)


def from_seconds(seconds: int) -> str:
    """The moment so many seconds after 1970; the first or the last that there is for one beyond these."""
    try:
        return _format(_EPOCH + timedelta(seconds=seconds), 0)
    except OverflowError:
        return "0001-01-01T00:00:00Z" if seconds < 0 else "9999-12-31T23:59:59Z"


def from_epoch(number: float) -> str | None:
    """Seconds below 10^10, else milliseconds (micro- or nanoseconds where nothing else is plausible).

    The precision stays: whole seconds give no fraction, milliseconds give three digits.
    """
    if isinstance(number, int) and SECONDS_BELOW <= number < _MICROSECONDS_FROM:
        minute, rest = divmod(number, 60_000)
        seconds, thousandths = _endings()
        return f"{_minute(minute)}{seconds[rest // 1000]}{thousandths[rest % 1000]}"
    size = abs(number)
    if not size < _MOST:  # also NaN
        return None
    if size < SECONDS_BELOW:
        micros, digits = round(number * 1_000_000), 0 if isinstance(number, int) else 6
    elif size < _MICROSECONDS_FROM:
        micros, digits = round(number * 1000), 3 if float(number).is_integer() else 6
    else:
        micros, digits = round(number if size < _NANOSECONDS_FROM else number / 1000), 6
    try:
        at = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None
    return _format(at, digits)


@lru_cache(maxsize=1024)
def _minute(minute: int) -> str:
    """How the moments of a minute begin: a log has many of each, nearly all in milliseconds."""
    return (_EPOCH + timedelta(minutes=minute)).isoformat()[:17]


@cache
def _endings() -> tuple[list[str], list[str]]:
    """How the moments of a minute end: made once, for formatting a number takes longer than all else."""
    return [f"{second:02d}." for second in range(60)], [f"{part:03d}Z" for part in range(1000)]


def _format(at: datetime, digits: int) -> str:
    if digits == 3:  # noqa: PLR2004 (milliseconds)
        return at.isoformat(timespec="milliseconds")[:23] + "Z"
    whole = at.isoformat()[:19]
    fraction = f"{at.microsecond:06d}".rstrip("0") if digits else ""
    return f"{whole}.{fraction}Z" if fraction else whole + "Z"


def _from_text(text: str) -> str | None:
    if re.fullmatch(r"-?\d{5,20}(\.\d+)?", text, re.ASCII):
        return from_epoch(float(text) if "." in text else int(text))
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2026-01-01") and not is_date(text):
        return None  # a week, or a date without a day
    return _as_utc(at)


def _as_utc(at: datetime) -> str | None:
    try:
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (OverflowError, ValueError):  # a zone that is a day or more away is none
        return None
    return _format(at, 6 if at.microsecond else 0)


def _from_bson(date: Any) -> str | None:
    if isinstance(date, dict):
        date = date.get("$numberLong")
    if isinstance(date, str) and re.fullmatch(r"-?\d{1,20}", date, re.ASCII):
        date = int(date)
    if isinstance(date, int):
        return _milliseconds(date)
    return moment(date)


def _milliseconds(number: int) -> str | None:
    try:
        return _format(_EPOCH + timedelta(milliseconds=number), 3)
    except OverflowError:
        return None


def is_of_locale(text: str) -> bool:
    """Whether a text begins with a date whose day and month stand in the order of some language."""
    return _TWO_NUMBERS.match(text) is not None


def is_day_first(texts: Iterable[str]) -> bool:
    """Whether dates put the day before the month: the first number above 12 tells; dots do so too."""
    for text in texts:
        found = _TWO_NUMBERS.match(text)
        if found and (found[2] == "." or int(found[1]) > _MONTHS):
            return True
        if found and int(found[3]) > _MONTHS:
            return False
    return False


def from_locale(text: str, *, day_first: bool = False) -> str | None:
    """A date as people write it (`2/17/2026 2:36:11 PM +00:00`), also with narrow no-break spaces."""
    plain = text.strip()
    if not text.isascii():
        plain = re.sub(r"[\u00a0\u202f\u2009]", " ", text).replace("\u200e", "").strip()
    if written := re.fullmatch(_LOCALE, plain):
        return _from_numbers(written, day_first=day_first)
    return _from_words(_as_in_english(plain), day_first=day_first)


def _as_in_english(text: str) -> str:
    """The half of the day behind the hour, colons between hours and minutes, zones by distance alone."""
    # Before noon, then after it, in Chinese, Japanese and Korean.
    half = re.search(r"(\u4e0a\u5348|\u5348\u524d|\uc624\uc804)|\u4e0b\u5348|\u5348\u5f8c|\uc624\ud6c4", text)
    if half:
        text = f"{text[: half.start()]} {text[half.end() :]} {'AM' if half[1] else 'PM'}"
    text = re.sub(r"(?<=\d{4})(?:,| klo| kl\.?)? (\d{1,2})\.(\d\d)(?:\.(\d\d))?\b", _with_colons, text)
    # For `dateutil` a sign behind GMT says how to get there, as in POSIX; people and browsers mean the zone.
    return re.sub(r"\b(?:GMT|UTC) ?(?=[+-]\d)", "", text)


def _with_colons(clock: re.Match[str]) -> str:
    return " " + ":".join(filter(None, clock.groups()))


def _from_words(plain: str, *, day_first: bool) -> str | None:
    import warnings  # noqa: PLC0415 (with the parser that warns)

    from dateutil import parser  # noqa: PLC0415 (slow to import, rarely needed)

    try:
        with warnings.catch_warnings():
            # A zone that is not known would be taken for UTC, with a warning; that would be a guess.
            warnings.simplefilter("error", parser.UnknownTimezoneWarning)
            # What the text does not say is taken from the default: of two, the day must be the same.
            at, again = (parser.parse(plain, dayfirst=day_first, default=each) for each in _DEFAULTS)
    except (ValueError, OverflowError, parser.UnknownTimezoneWarning):
        return None
    return _as_utc(at) if at.date() == again.date() else None


def _from_numbers(written: re.Match[str], *, day_first: bool) -> str | None:
    """The usual form, which a large export has in every row, much faster than by `dateutil`."""
    first, second, year, hour, minute, seconds, fraction, half, zone = written.groups()
    month, day = int(first), int(second)
    if (day_first and day <= _MONTHS) or month > _MONTHS:
        month, day = day, month
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:  # noqa: PLR2004 (hours of half a day)
            return None
        hours = hours % 12 + (12 if half in "Pp" else 0)
    try:
        micros = int((fraction or "").ljust(6, "0"))
        at = datetime(int(year), month, day, hours, int(minute), int(seconds or 0), micros, tzinfo=UTC)
    except ValueError:
        return None
    if zone and zone not in ("+00:00", "-00:00"):
        moved = at.isoformat(timespec="microseconds")[:26] + zone
        return _as_utc(datetime.fromisoformat(moved)) if zone[1:] < "24" else None
    return _format(at, 0 if fraction is None else 3 if len(fraction) == 3 else 6)  # noqa: PLR2004 (milliseconds)


def parse(at: str | None) -> datetime | None:
    """The moment as an aware datetime, for arithmetic and comparison; None if it cannot be one.

    A leap second counts as the second before; digits beyond microseconds are cut.
    """
    if at is None:
        return None
    text = at.replace(":60", ":59", 1) if ":60" in at[16:20] else at
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def epoch_ms(at: str | None) -> int | None:
    """Whole milliseconds since 1970."""
    parsed = parse(at)
    return None if parsed is None else (parsed - _EPOCH) // _MILLISECOND


def plus_ms(at: str, milliseconds: float) -> str | None:
    """The moment so much later, in UTC."""
    parsed = parse(at)
    later = None if parsed is None else later_by(parsed, milliseconds)
    return None if later is None else written(later)


def later_by(parsed: datetime, milliseconds: float) -> datetime | None:
    """The same of a parsed moment; None if there is no such moment."""
    try:
        later = parsed + timedelta(milliseconds=milliseconds)
        return later if later.tzinfo is UTC else later.astimezone(UTC)
    except OverflowError:
        return None


def written(utc: datetime) -> str:
    """A moment in UTC as RFC 3339, with milliseconds or, where it has them, microseconds."""
    if utc.microsecond % 1000 == 0:
        return utc.isoformat(timespec="milliseconds")[:23] + "Z"
    return _format(utc, 6)


def iso_ms(at: str | None) -> str | None:
    """ISO 8601 in UTC with exactly three digits and `Z`, as JavaScript's `toISOString` prints it."""
    parsed = parse(at)
    if parsed is None:
        return None
    try:
        utc = parsed.astimezone(timezone.utc)  # noqa: UP017 (one object, compared nowhere)
    except OverflowError:
        return None
    return f"{utc.isoformat()[:19]}.{utc.microsecond // 1000:03d}Z"
