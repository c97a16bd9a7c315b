"""The user's prompt: the agent wraps it, and puts the time and other context in front."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Text, timestamps
from agent_journal.readers.dialects.injected_text import SENT_TEXT_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Bag, Part

_OPEN, _CLOSE, _TAG = "<user_query>", "</user_query>", "<timestamp>"
# Since June 2026, always in English: `Monday, Jun 29, 2026, 1:39 PM (UTC-7)`.
_STAMP = re.compile(
    r"<timestamp>\w{6,9}, (\w{3}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d)\s([AP])M"
    r" \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)</timestamp>\s*"
)
# The names of attached images come before the timestamp.
_IMAGES = re.compile(r"\s*<image_files>.*?</image_files>\s*", re.DOTALL)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HALF_DAY_HOURS = 12


def unwrap_prompt(text: str, extra: Bag | None = None) -> Text:
    """Return the user's prompt; the text as sent to the model is in `extra`."""
    start, end = text.find(_OPEN), text.rfind(_CLOSE)
    if 0 <= start <= end:
        typed = text[start + len(_OPEN) : end].removeprefix("\n").removesuffix("\n")
    elif (stamp := _stamp(text)) is not None:
        typed = text[stamp.end() :]
    else:
        return Text(text=text, extra=extra or {})
    return Text(text=typed, extra={**(extra or {}), SENT_TEXT_KEY: text})


def is_query(sent: Any) -> bool:
    """Whether a sent text marks the part that the user typed."""
    return isinstance(sent, str) and 0 <= sent.find(_OPEN) <= sent.rfind(_CLOSE)


def prompt_time(parts: Iterable[Part]) -> str | None:
    """Return when a prompt was typed according to its sent text, to the minute."""
    for part in parts:
        if isinstance(part, Text) and isinstance(sent := part.extra.get(SENT_TEXT_KEY), str):
            stamp = _stamp(sent)
            if stamp is not None and stamp[1] in _MONTHS:
                return timestamps.parse_timestamp(_iso_time(stamp))
    return None


def _stamp(text: str) -> re.Match[str] | None:
    """Match the timestamp in front of the prompt; one that the user pasted comes later."""
    if (end := text.find(_OPEN)) >= 0:
        return _STAMP.match(text, max(0, text.rfind(_TAG, 0, end)))
    images = _IMAGES.match(text) if _TAG in text else None
    return _STAMP.match(text, images.end() if images else 0)


def _iso_time(stamp: re.Match[str]) -> str:
    month, day, year, hour, minute, half, sign, offset_hours, offset_minutes = stamp.groups()
    hour_of_day = int(hour) % _HALF_DAY_HOURS + _HALF_DAY_HOURS * (half == "P")
    date = f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}"
    offset = f"{sign or '+'}{int(offset_hours or 0):02}:{offset_minutes or '00'}"
    return f"{date}T{hour_of_day:02}:{minute}:00{offset}"
