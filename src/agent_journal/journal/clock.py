"""The current time as the journal writes it."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the current time in UTC with milliseconds, as in the ledger."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
