"""Days as people type them, by the clock that they look at."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pytest

from agent_journal.cli import _filters
from agent_journal.search.dates import seconds

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

    assert NOW - 21 * hour == seconds("today", NOW)
    assert NOW - 45 * hour == seconds(" Yesterday", NOW)
    assert NOW - 2 * hour == seconds("2026-11-17", NOW), "a date without a zone is one of UTC"
    assert None is seconds("today"), "nobody knows which day it is"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", "2026-11-16T05:00:00Z"),
        ("yesterday", "2026-11-15T05:00:00Z"),
        ("2026-11", "2026-11-01T04:00:00Z"),
        ("2026", "2026-01-01T05:00:00Z"),
        ("2026-11-16", "2026-11-16T05:00:00Z"),
        ("2026-11-16T05:00:00Z", "2026-11-16T05:00:00Z"),
        ("2h", "2026-11-17T00:00:00Z"),
    ],
)
def test_days_months_and_years_begin_in_the_zone_that_is_reported_in(
    said: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)

    assert meant == _filters.moment_in(ZoneInfo("America/New_York"), said, "--since")
