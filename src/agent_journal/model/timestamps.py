"""Timestamps as RFC 3339 strings. A valid one passes untouched; anything else becomes UTC with `Z`."""

from __future__ import annotations

import re
import sys
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
# Two numbers and a year, hour and minute, optional seconds and fraction, AM or PM, zone.
# It is compiled when it is first needed.
_LOCALE = (
    r"(?a)(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?"
    r"(?: ?([AaPp])[Mm])?(?: ?([+-]\d\d:[0-5]\d))?"
)

# A date that starts with two numbers: which of them is the month depends on the language.
_TWO_NUMBERS = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})[/.-]\d{4}\b", re.ASCII)
_MAX_MONTHS = 12
_DEFAULTS = datetime(1, 1, 1), datetime(2, 2, 2)  # noqa: DTZ001 (placeholders without a zone)

is_date = re.compile(r"\s*\d{4}-\d\d-\d\d\s*", re.ASCII).fullmatch
"""Whether a text is a date without a time (truthy or not)."""

is_timestamp = _RFC3339.fullmatch
"""Whether a text is a valid RFC 3339 timestamp (truthy or not)."""

# A number below this is seconds since 1970 (up to the year 2286), one above is milliseconds.
MIN_EPOCH_MS = 10_000_000_000
# Milliseconds end with the year 9999; larger numbers can only be microseconds, then nanoseconds.
_MIN_EPOCH_US = 253_402_300_800_000
_MIN_EPOCH_NS = 253_402_300_800_000_000
_MAX_EPOCH_NS = _MIN_EPOCH_NS * 1000


def parse_timestamp(value: Any) -> str | None:
    """The timestamp that `value` states, or None if it is not understood.

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
    """A date or time as an aware datetime, in this zone or the machine's (None) unless it states its own.

    A date is its midnight; None if the text is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if at.tzinfo or zone:
        return at if at.tzinfo else at.replace(tzinfo=zone)
    try:
        return at.astimezone()
    except (ValueError, OverflowError, OSError):  # outside of the range of the machine's clock
        return at.replace(tzinfo=UTC)


def from_seconds(seconds: int) -> str:
    """The timestamp for seconds since 1970, clamped to the years 1 to 9999."""
    try:
        return _format(_EPOCH + timedelta(seconds=seconds), 0)
    except OverflowError:
        return "0001-01-01T00:00:00Z" if seconds < 0 else "9999-12-31T23:59:59Z"


def from_epoch(number: float) -> str | None:
    """The timestamp for seconds below 10^10, else milliseconds (or micro- or nanoseconds if only these fit).

    The precision is preserved: whole seconds give no fraction, milliseconds give three digits.
    """
    if isinstance(number, int) and MIN_EPOCH_MS <= number < _MIN_EPOCH_US:
        minute, rest = divmod(number, 60_000)
        seconds, milliseconds = _suffixes()
        return f"{_minute(minute)}{seconds[rest // 1000]}{milliseconds[rest % 1000]}"
    size = abs(number)
    if not size < _MAX_EPOCH_NS:  # also NaN
        return None
    if size < MIN_EPOCH_MS:
        micros, digits = round(number * 1_000_000), 0 if isinstance(number, int) else 6
    elif size < _MIN_EPOCH_US:
        micros, digits = round(number * 1000), 3 if float(number).is_integer() else 6
    else:
        micros, digits = round(number if size < _MIN_EPOCH_NS else number / 1000), 6
    try:
        at = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None
    return _format(at, digits)


@lru_cache(maxsize=1024)
def _minute(minute: int) -> str:
    """The prefix of all timestamps of a minute: logs have many of each, nearly all in milliseconds."""
    return (_EPOCH + timedelta(minutes=minute)).isoformat()[:17]


@cache
def _suffixes() -> tuple[list[str], list[str]]:
    """Seconds and milliseconds as text: formatted once, because formatting takes longer than all else."""
    return [f"{second:02d}." for second in range(60)], [f"{millisecond:03d}Z" for millisecond in range(1000)]


def _format(at: datetime, digits: int) -> str:
    if digits == 3:  # noqa: PLR2004 (milliseconds)
        return at.isoformat(timespec="milliseconds")[:23] + "Z"
    to_second = at.isoformat()[:19]
    fraction = f"{at.microsecond:06d}".rstrip("0") if digits else ""
    return f"{to_second}.{fraction}Z" if fraction else to_second + "Z"


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
    except (OverflowError, ValueError):  # an offset of a day or more is no zone
        return None
    return _format(at, 6 if at.microsecond else 0)


def _from_bson(date: Any) -> str | None:
    if isinstance(date, dict):
        date = date.get("$numberLong")
    if isinstance(date, str) and re.fullmatch(r"-?\d{1,20}", date, re.ASCII):
        date = int(date)
    if isinstance(date, int):
        return _milliseconds(date)
    return parse_timestamp(date)


def _milliseconds(number: int) -> str | None:
    try:
        return _format(_EPOCH + timedelta(milliseconds=number), 3)
    except OverflowError:
        return None


def is_of_locale(text: str) -> bool:
    """Whether a text starts with a date whose order of day and month depends on the language."""
    return _TWO_NUMBERS.match(text) is not None


def is_day_first(texts: Iterable[str]) -> bool:
    """Whether dates put the day before the month: decided by the first number above 12, or by dots."""
    for text in texts:
        date = _TWO_NUMBERS.match(text)
        if date and (date[2] == "." or int(date[1]) > _MAX_MONTHS):
            return True
        if date and int(date[3]) > _MAX_MONTHS:
            return False
    return False


def from_locale(text: str, *, day_first: bool = False) -> str | None:
    """A date as people write it (`2/17/2026 2:36:11 PM +00:00`), also with narrow no-break spaces."""
    plain = text.strip()
    if not text.isascii():
        plain = re.sub(r"[\u00a0\u202f\u2009]", " ", text).replace("\u200e", "").strip()
    if numbers := re.fullmatch(_LOCALE, plain):
        return _from_numbers(numbers, day_first=day_first)
    return _from_words(_to_english(plain), day_first=day_first)


def _to_english(text: str) -> str:
    """Move AM or PM after the hour, put colons between hours and minutes, write zones as offsets."""
    # Before noon, then after it, in Chinese, Japanese and Korean.
    half = re.search(r"(\u4e0a\u5348|\u5348\u524d|\uc624\uc804)|\u4e0b\u5348|\u5348\u5f8c|\uc624\ud6c4", text)
    if half:
        text = f"{text[: half.start()]} {text[half.end() :]} {'AM' if half[1] else 'PM'}"
    text = re.sub(r"(?<=\d{4})(?:,| klo| kl\.?)? (\d{1,2})\.(\d\d)(?:\.(\d\d))?\b", _with_colons, text)
    # `dateutil` reads the sign after GMT as POSIX does, the opposite of what people and browsers mean.
    return re.sub(r"\b(?:GMT|UTC) ?(?=[+-]\d)", "", text)


def _with_colons(clock: re.Match[str]) -> str:
    return " " + ":".join(filter(None, clock.groups()))


def _from_words(plain: str, *, day_first: bool) -> str | None:
    import warnings  # noqa: PLC0415 (with the parser that warns)

    from dateutil import parser  # noqa: PLC0415 (slow to import, rarely needed)

    try:
        with warnings.catch_warnings():
            # An unknown zone would be taken for UTC, with a warning; that would be a guess.
            warnings.simplefilter("error", parser.UnknownTimezoneWarning)
            # Missing fields come from the default: a stated date is the same with two different defaults.
            at, other = (parser.parse(plain, dayfirst=day_first, default=default) for default in _DEFAULTS)
    except (ValueError, OverflowError, parser.UnknownTimezoneWarning):
        return None
    return _as_utc(at) if at.date() == other.date() else None


def _from_numbers(numbers: re.Match[str], *, day_first: bool) -> str | None:
    """Parse the common form, which a large export has in every row, much faster than `dateutil` does."""
    first, second, year, hour, minute, seconds, fraction, half, zone = numbers.groups()
    month, day = int(first), int(second)
    if (day_first and day <= _MAX_MONTHS) or month > _MAX_MONTHS:
        month, day = day, month
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:  # noqa: PLR2004 (a 12-hour clock)
            return None
        hours = hours % 12 + (12 if half in "Pp" else 0)
    try:
        micros = int((fraction or "").ljust(6, "0"))
        at = datetime(int(year), month, day, hours, int(minute), int(seconds or 0), micros, tzinfo=UTC)
    except ValueError:
        return None
    if zone and zone not in ("+00:00", "-00:00"):
        with_zone = at.isoformat(timespec="microseconds")[:26] + zone
        return _as_utc(datetime.fromisoformat(with_zone)) if zone[1:] < "24" else None
    return _format(at, 0 if fraction is None else 3 if len(fraction) == 3 else 6)  # noqa: PLR2004 (milliseconds)


def parse(at: str | None) -> datetime | None:
    """The timestamp as an aware datetime; None if it is no valid one.

    A leap second counts as the second before; digits beyond microseconds are dropped.
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
    """The timestamp so many milliseconds later, in UTC."""
    parsed = parse(at)
    later = None if parsed is None else later_by(parsed, milliseconds)
    return None if later is None else written(later)


def later_by(parsed: datetime, milliseconds: float) -> datetime | None:
    """The datetime so many milliseconds later, in UTC; None if it is out of range."""
    try:
        later = parsed + timedelta(milliseconds=milliseconds)
        return later if later.tzinfo is UTC else later.astimezone(UTC)
    except OverflowError:
        return None


def written(utc: datetime) -> str:
    """A UTC datetime as RFC 3339, with milliseconds or, if it has them, microseconds."""
    if utc.microsecond % 1000 == 0:
        return utc.isoformat(timespec="milliseconds")[:23] + "Z"
    return _format(utc, 6)


def iso_ms(at: str | None) -> str | None:
    """The timestamp in UTC with exactly three digits and `Z`, as JavaScript's `toISOString` prints it."""
    parsed = parse(at)
    if parsed is None:
        return None
    try:
        utc = parsed.astimezone(timezone.utc)  # noqa: UP017 (one object, compared nowhere)
    except OverflowError:
        return None
    return f"{utc.isoformat()[:19]}.{utc.microsecond // 1000:03d}Z"


if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):  # the import system asks for `__path__`
            raise AttributeError(name)
        from agent_journal.moved import renamed  # noqa: PLC0415 (only for old names)

        return renamed(sys.modules[__name__], "model.timestamps", name)
