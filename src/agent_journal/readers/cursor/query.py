"""What a person typed: the agent wraps it, and puts before it when it was and what it sends along."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Text, timestamps
from agent_journal.readers.dialects.injected_text import SENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Bag, Part

_OPEN, _CLOSE, _TAG = "<user_query>", "</user_query>", "<timestamp>"
# Since June 2026, in English whatever the system speaks: `Monday, Jun 29, 2026, 1:39 PM (UTC-7)`.
_STAMP = re.compile(
    r"<timestamp>\w{6,9}, (\w{3}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d)\s([AP])M"
    r" \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)</timestamp>\s*"
)
# Pictures that were sent along are named before that.
_IMAGES = re.compile(r"\s*<image_files>.*?</image_files>\s*", re.DOTALL)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HOURS = 12


def asked(text: str, extra: Bag | None = None) -> Text:
    """What was typed, with the whole text as it was sent beside it."""
    start, end = text.find(_OPEN), text.rfind(_CLOSE)
    if 0 <= start <= end:
        typed = text[start + len(_OPEN) : end].removeprefix("\n").removesuffix("\n")
    elif (stamp := _stamp(text)) is not None:
        typed = text[stamp.end() :]
    else:
        return Text(text=text, extra=extra or {})
    return Text(text=typed, extra={**(extra or {}), SENT: text})


def is_query(sent: Any) -> bool:
    """Whether a text that was sent says what of it was typed."""
    return isinstance(sent, str) and 0 <= sent.find(_OPEN) <= sent.rfind(_CLOSE)


def asked_at(parts: Iterable[Part]) -> str | None:
    """When it was typed, as the text says that was sent; to the minute."""
    for part in parts:
        if isinstance(part, Text) and isinstance(sent := part.extra.get(SENT), str):
            stamp = _stamp(sent)
            if stamp is not None and stamp[1] in _MONTHS:
                return timestamps.moment(_written(stamp))
    return None


def _stamp(text: str) -> re.Match[str] | None:
    """The moment before what was typed; one that the person pasted is behind."""
    if (end := text.find(_OPEN)) >= 0:
        return _STAMP.match(text, max(0, text.rfind(_TAG, 0, end)))
    images = _IMAGES.match(text) if _TAG in text else None
    return _STAMP.match(text, images.end() if images else 0)


def _written(stamp: re.Match[str]) -> str:
    month, day, year, hour, minute, half, sign, hours, minutes = stamp.groups()
    o_clock = int(hour) % _HOURS + _HOURS * (half == "P")
    date = f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}"
    return f"{date}T{o_clock:02}:{minute}:00{sign or '+'}{int(hours or 0):02}:{minutes or '00'}"
