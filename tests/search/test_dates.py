"""Days as people type them, by the clock that they look at."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pytest

from agent_journal.cli import _filters
from agent_journal.model import timestamps
from agent_journal.search import query
from agent_journal.search.dates import to_epoch_seconds

# In New York it is still the evening of the 16th.
NOW = 1_794_880_800  # 2026-11-17T02:00:00Z


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if os.name == "nt":
        pytest.skip("the zone of a process cannot be chosen there")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
def test_today_is_the_day_of_this_machine() -> None:
    hour = 3600

    assert NOW - 21 * hour == to_epoch_seconds("today", NOW)
    assert NOW - 45 * hour == to_epoch_seconds(" Yesterday", NOW)
    assert None is to_epoch_seconds("today"), "nobody knows which day it is"
    assert to_epoch_seconds("today", NOW) == to_epoch_seconds("2026-11-16", NOW)


@pytest.mark.usefixtures("in_new_york")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-11-16", "2026-11-16T05:00:00Z"),
        ("2026-11", "2026-11-01T04:00:00Z"),  # of summer time
        ("2026-7", "2026-07-01T04:00:00Z"),
        ("2026", "2026-01-01T05:00:00Z"),
        ("2026-11-16T09:30", "2026-11-16T14:30:00Z"),
        ("2026-11-16 09:30:15", "2026-11-16T14:30:15Z"),
        ("2026-11-16T09:30:00Z", "2026-11-16T09:30:00Z"),
        ("2026-11-16t09:30:00+09:00", "2026-11-16T00:30:00Z"),
        ("9998-12-31", "9998-12-31T05:00:00Z"),
    ],
)
def test_dates_are_those_of_this_machine_unless_they_have_a_zone(said: str, meant: str) -> None:
    assert timestamps.from_seconds(to_epoch_seconds(said) or 0) == meant
    assert query.parse(f"since:{said.replace(' ', 'T')}").filters.since == to_epoch_seconds(said)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("said", ["0001-01-01", "0001", "9999-12-31T23:59:59"])
def test_the_first_and_the_last_day_are_dates_everywhere(said: str, zone: str) -> None:
    assert to_epoch_seconds(said, zone=ZoneInfo(zone)) is not None
    assert to_epoch_seconds(said) is not None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", "2026-11-16T05:00:00Z"),
        ("yesterday", "2026-11-15T05:00:00Z"),
        ("2026-11", "2026-11-01T04:00:00Z"),
        ("2026", "2026-01-01T05:00:00Z"),
        ("2026-11-16", "2026-11-16T05:00:00Z"),
        ("2026-11-16T05:00:00Z", "2026-11-16T05:00:00Z"),
        ("2026-11-16T09:30", "2026-11-16T14:30:00Z"),
        ("2h", "2026-11-17T00:00:00Z"),
    ],
)
def test_days_months_and_years_begin_in_the_zone_that_is_reported_in(
    said: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)

    assert meant == _filters.timestamp_in(ZoneInfo("America/New_York"), said, "--since")
