"""Times as lists show them, in the time zone of this machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Callable

_SECOND_MS, _MINUTE_S, _HOUR_S, _DAY_S, _WEEK_DAYS = 1000, 60, 3600, 86_400, 7


class Clock:
    """Formats times relative to now."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now

    def ago(self, at: str | None) -> str:
        """`now`, `5 min`, `3 h`, `2 d`, `12 Mar`, `12 Mar 2024`; empty without a time."""
        local_time = _local(at)
        if local_time is None:
            return ""
        now = self._today()
        seconds = (now - local_time).total_seconds()
        if 0 <= seconds < _MINUTE_S:
            return "now"
        if 0 <= seconds < _HOUR_S:
            return f"{seconds // _MINUTE_S:.0f} min"
        if 0 <= seconds < _DAY_S:
            return f"{seconds // _HOUR_S:.0f} h"
        if 0 <= seconds < _WEEK_DAYS * _DAY_S:
            return f"{seconds // _DAY_S:.0f} d"
        year = "" if local_time.year == now.year else f" {local_time.year}"
        return f"{local_time.day} {local_time:%b}{year}"

    def day(self, at: str | None) -> str:
        """`Today`, `Yesterday`, `Monday`, `March 2026`: the heading in a list that is in order of time."""
        local_time = _local(at)
        if local_time is None:
            return "Undated"
        today = self._today().date()
        date = local_time.date()
        if date == today:
            return "Today"
        if date == today - timedelta(days=1):
            return "Yesterday"
        if today - timedelta(days=_WEEK_DAYS) < date < today:
            return f"{local_time:%A}"
        return f"{local_time:%B %Y}"

    def full(self, at: str | None) -> str:
        """`Thursday 12 March 2026, 10:05`; empty without a time."""
        local_time = _local(at)
        return f"{local_time:%A} {local_time.day} {local_time:%B %Y, %H:%M}" if local_time is not None else ""

    def _today(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC).astimezone()


def _local(at: str | None) -> datetime | None:
    """A time in the zone of this machine; None if it is not known or out of range."""
    epoch_ms = timestamps.epoch_ms(at)
    if epoch_ms is None:
        return None
    try:
        return datetime.fromtimestamp(epoch_ms / _SECOND_MS, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return None
