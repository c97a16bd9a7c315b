"""Times of exports: plain numbers of seconds, converted all at once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from agent_journal.model.timestamps import MIN_EPOCH_MS

Bag = dict[str, Any]


class _Times(msgspec.Struct):
    at: list[datetime | None]


def epoch_seconds(value: Any) -> float | None:
    """Get a number of seconds since 1970; None for zero and for numbers that are not plausibly seconds."""
    if (value.__class__ is float or value.__class__ is int) and 0 < value < MIN_EPOCH_MS:
        return value
    return None


def format_times(numbers: list[float | None]) -> list[str | None]:
    """Format seconds since 1970 as RFC 3339 with as many digits as they have.

    All times of a conversation at once: one by one, this would take as long as the rest of a message.
    """
    formatted: list[str | None] = msgspec.to_builtins(
        msgspec.convert({"at": numbers}, _Times, strict=False).at
    )
    return [
        _without_trailing_zeros(text) if text is not None and text[-2] == "0" else text for text in formatted
    ]


def _without_trailing_zeros(text: str) -> str:
    return text[:-1].rstrip("0").rstrip(".") + "Z" if "." in text else text
