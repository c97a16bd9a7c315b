from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from dateutil import parser
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.model import timestamps


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # A valid RFC 3339 string passes untouched.
        ("2026-02-10T17:27:10.484Z", "2026-02-10T17:27:10.484Z"),
        ("2026-02-10T17:27:10+02:00", "2026-02-10T17:27:10+02:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"),
        ("2026-02-10T17:27:10.123456789Z", "2026-02-10T17:27:10.123456789Z"),
        # Seconds below 10^10, else milliseconds; the precision it had.
        (1770000000, "2026-02-02T02:40:00Z"),
        (1770000000.5, "2026-02-02T02:40:00.5Z"),
        (1770000000123, "2026-02-02T02:40:00.123Z"),
        (9_999_999_999, "2286-11-20T17:46:39Z"),
        (10_000_000_000, "1970-04-26T17:46:40.000Z"),
        (0, "1970-01-01T00:00:00Z"),
        (-1.5, "1969-12-31T23:59:58.5Z"),
        ("1770000000", "2026-02-02T02:40:00Z"),
        ("1770000000.25", "2026-02-02T02:40:00.25Z"),
        (1770000000123456, "2026-02-02T02:40:00.123456Z"),
        ("1770000000123456789", "2026-02-02T02:40:00.123457Z"),
        # ISO 8601 that is not RFC 3339; without a zone it is UTC.
        ("2026-02-17T14:36:11", "2026-02-17T14:36:11Z"),
        ("2026-02-17 14:36:11.250", "2026-02-17T14:36:11.25Z"),
        ("2026-02-17T14:36:11+0200", "2026-02-17T12:36:11Z"),
        ("20260217T143611Z", "2026-02-17T14:36:11Z"),
        # BSON.
        ({"$date": {"$numberLong": "1770000000123"}}, "2026-02-02T02:40:00.123Z"),
        ({"$date": {"$numberLong": 1770000000123}}, "2026-02-02T02:40:00.123Z"),
        ({"$date": "2026-02-02T02:40:00Z"}, "2026-02-02T02:40:00Z"),
        ({"$date": 5}, "1970-01-01T00:00:00.005Z"),
        # No moment.
        ("2026-02-17", "2026-02-17T00:00:00Z"),
        (" 2026-02-17 ", "2026-02-17T00:00:00Z"),
        ({"$date": "2026-02-17"}, "2026-02-17T00:00:00Z"),
        ("2026-02-30", None),
        ("2026-W08-2", None),
        ("2026-02", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (1e300, None),
        (10**400, None),
        ([1], None),
        ({"$date": None}, None),
        ({"$date": {"$numberLong": "9" * 30}}, None),
        ("2026-13-01T00:00:00Z", None),
    ],
)
def test_moment(value: Any, expected: str | None) -> None:
    assert expected == timestamps.parse_timestamp(value)


@pytest.mark.parametrize(
    ("text", "day_first", "expected"),
    [
        ("2/17/2026 2:36:11 PM +00:00", False, "2026-02-17T14:36:11Z"),
        ("2/17/2026 14:36:11 +02:00", False, "2026-02-17T12:36:11Z"),
        ("1/5/2026, 2:36:11.090 PM", False, "2026-01-05T14:36:11.090Z"),
        ("1/5/2026, 12:00:00.5 AM +02:00", False, "2026-01-04T22:00:00.5Z"),
        ("17.02.2026 14:36:11", True, "2026-02-17T14:36:11Z"),
        ("Feb 17, 2026, 2:36:11\u202fPM UTC", False, "2026-02-17T14:36:11Z"),
        ("no date", False, None),
        ("Feb 17, 2026, 2:36:11 PM XYZT", False, None),
        ("2:36 PM", False, None),
        # As browsers print a moment: so much ahead of Greenwich, not so much to be added to reach it.
        ("Tue Feb 17 2026 14:36:11 GMT+0100 (CET)", False, "2026-02-17T13:36:11Z"),
        ("2/17/2026 14:36:11 UTC-05:00", False, "2026-02-17T19:36:11Z"),
        ("2/17/2026 14:36:11 GMT", False, "2026-02-17T14:36:11Z"),
        # The half of the day stands before the hour; hours and minutes have dots between them.
        ("2026/2/17 \u4e0b\u53482:36:11", False, "2026-02-17T14:36:11Z"),
        ("2026/2/17 \u4e0a\u534812:36:11", False, "2026-02-17T00:36:11Z"),
        ("2026/2/17 \u5348\u5f8c2:36:11", False, "2026-02-17T14:36:11Z"),
        ("2026. 2. 17. \uc624\ud6c4 2:36:11.090", False, "2026-02-17T14:36:11.09Z"),
        ("2026. 2. 17. \uc624\uc804 2:36:11", False, "2026-02-17T02:36:11Z"),
        ("17.2.2026 klo 14.36.11", True, "2026-02-17T14:36:11Z"),
        ("3.2.2026, 14.36", True, "2026-02-03T14:36:00Z"),
        # A month or a year is no moment.
        ("2/2026", False, None),
        ("2026", False, None),
    ],
)
def test_dates_as_people_write_them(text: str, day_first: bool, expected: str | None) -> None:
    assert expected == timestamps.from_locale(text, day_first=day_first)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-12, 12))  # noqa: DTZ001
def test_iso_ms_is_what_javascript_prints(naive: datetime, hours: int) -> None:
    at = naive.replace(tzinfo=timezone(timedelta(hours=hours)))
    utc = at.astimezone(UTC)

    expected = f"{utc.year:04d}" + utc.strftime("-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"
    assert expected == timestamps.iso_ms(at.isoformat())


@given(st.floats(0, 9_999_999_999, allow_nan=False))
def test_epoch_seconds_survive_to_the_microsecond(seconds: float) -> None:
    at = timestamps.parse_timestamp(seconds)

    parsed = timestamps.parse(at)
    assert parsed is not None
    assert abs(parsed.timestamp() - seconds) < 2e-6


def test_arithmetic() -> None:
    assert timestamps.plus_ms("2026-02-20T10:00:00Z", 1200) == "2026-02-20T10:00:01.200Z"
    assert timestamps.plus_ms("no", 1) is None
    assert timestamps.plus_ms("9999-12-31T23:59:59Z", 10**12) is None
    assert timestamps.epoch_ms("2026-02-20T10:00:00.5Z") == 1771581600500
    assert timestamps.epoch_ms("2016-12-31T23:59:60Z") == timestamps.epoch_ms("2016-12-31T23:59:59Z")
    assert timestamps.epoch_ms(None) is None
    assert timestamps.iso_ms(None) is None


@given(
    st.datetimes(datetime(1000, 1, 1), datetime(9998, 12, 30)),  # noqa: DTZ001
    st.sampled_from(["%m/%d/%Y %H:%M:%S", "%d/%m/%Y %I:%M %p", "%m/%d/%Y, %I:%M:%S %p"]),
    st.sampled_from(["", " +00:00", " +05:30", " -08:00"]),
    st.booleans(),
)
def test_common_dates_are_parsed_like_dateutil_does(
    at: datetime, form: str, zone: str, day_first: bool
) -> None:
    text = at.strftime(form) + zone
    parsed = parser.parse(text, dayfirst=day_first)
    expected = parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)

    assert expected == timestamps.parse(timestamps.from_locale(text, day_first=day_first))
    assert timestamps.from_locale(text.replace(" ", "\u202f"), day_first=day_first) is not None


@pytest.mark.parametrize(
    "text", ["13/13/2026 10:00", "2/30/2026 10:00", "2/3/2026 25:00", "2/3/2026 13:00 PM"]
)
def test_numbers_that_are_no_date_are_none(text: str) -> None:
    assert timestamps.from_locale(text) is None


@pytest.mark.parametrize(
    ("number", "at"),
    [
        (10_000_000_000, "1970-04-26T17:46:40.000Z"),
        (1_771_000_000_007, "2026-02-13T16:26:40.007Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        # Not whole, or no longer milliseconds.
        (1_771_000_000_000.5, "2026-02-13T16:26:40.0005Z"),
        (1_771_000_000_000_000, "2026-02-13T16:26:40Z"),
    ],
)
def test_milliseconds_have_three_digits(number: float, at: str) -> None:
    assert timestamps.from_epoch(number) == at


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
        (253_402_214_400, "9999-12-31T00:00:00Z"),
        (-(10**15), "0001-01-01T00:00:00Z"),
        (10**15, "9999-12-31T23:59:59Z"),
    ],
)
def test_seconds_are_seconds_however_many(seconds: int, at: str) -> None:
    assert timestamps.from_seconds(seconds) == at
