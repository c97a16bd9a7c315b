"""After how long tools delete their own histories, as each person has settled it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agent_journal.config import expanded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.readers import Retention

_MAX_SETTINGS_BYTES = 1 << 20
# Settings of tools may have comments, which JSON has not; strings may have what looks like one.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_PERIOD = re.compile(r"(\d{1,6})([hdwm])")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}


class Deleting(NamedTuple):
    """What a tool does with its own histories."""

    file: str
    """Its settings file, or where that would be."""
    days: float | None
    """After how many days it deletes them; None if it does not."""
    most: int | None
    """How many it leaves, if there is a limit."""
    is_settled: bool
    """Whether the person settled it; else it is the tool's default."""
    trouble: str = ""
    """Why the file could not be read, if so."""


def deleting(retention: Retention, environ: Mapping[str, str]) -> Deleting:
    """What holds for this person."""
    places = [expanded(text, environ) for text in retention.settings]
    places = [place for place in places if not place.startswith("%")]
    file = next((place for place in places if os.path.exists(place)), places[0])
    try:
        settings = _loaded(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        return Deleting(file, retention.days, None, is_settled=False, trouble=(reason or str(error)).lower())
    most = _at(settings, retention.most)
    is_off = bool(retention.switch) and _at(settings, retention.switch) is False
    days = _days(_at(settings, retention.key))
    is_settled = is_off or days is not None
    return Deleting(
        file,
        None if is_off else retention.days if days is None else days,
        most if isinstance(most, int) and not isinstance(most, bool) and not is_off else None,
        is_settled=is_settled,
    )


def _loaded(file: str) -> Any:
    try:
        with open(file, "rb") as stream:
            data = stream.read(_MAX_SETTINGS_BYTES)
    except FileNotFoundError:
        return {}
    text = _COMMENT.sub(lambda match: match[1] or "", data.decode("utf-8-sig"))
    return msgspec.json.decode(text) if text.strip() else {}


def _at(settings: Any, key: str) -> Any:
    """The value that a key leads to, or None."""
    for step in key.split(".") if key else ():
        settings = settings.get(step) if isinstance(settings, dict) else None
    return settings if key else None


def _days(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and value >= 0:
        return float(value)
    period = _PERIOD.fullmatch(value) if isinstance(value, str) else None
    return int(period[1]) * _DAYS[period[2]] if period else None
