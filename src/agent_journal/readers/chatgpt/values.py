"""Looking at values from outside, without taking them and without trusting their types."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from agent_journal.model.timestamps import SECONDS_BELOW

Bag = dict[str, Any]


class _Moments(msgspec.Struct):
    at: list[datetime | None]


def seconds(value: Any) -> float | None:
    """A number of seconds since 1970; zero is none, and what is not plausibly seconds is left to others."""
    if (value.__class__ is float or value.__class__ is int) and 0 < value < SECONDS_BELOW:
        return value
    return None


def moments(numbers: list[float | None]) -> list[str | None]:
    """Seconds since 1970 as RFC 3339 with the digits they have.

    All of a conversation at once: one by one this would take as long as everything else about a message.
    """
    found: list[str | None] = msgspec.to_builtins(msgspec.convert({"at": numbers}, _Moments, strict=False).at)
    return [_shortened(text) if text is not None and text[-2] == "0" else text for text in found]


def _shortened(text: str) -> str:
    return text[:-1].rstrip("0").rstrip(".") + "Z" if "." in text else text
