"""Passing on what a source says and the draft has no field for, under the source's own names."""

from __future__ import annotations

from typing import Any

from agent_journal import times
from agent_journal.records import OURS

# Names whose value is ours to give, by what they are names in.
_ENTRY = {"type", "children", OURS}
_PLACE = {"id", "timestamp", "parent-id", "model-id", "token-usage", "stop-reason"}
MESSAGE = frozenset({"content", "event-type", "data", *_PLACE, *_ENTRY})
CALL = frozenset({"name", "input", "call-id", *_ENTRY})
RESULT = frozenset({"name", "output", "call-id", "status", "is-error", *_ENTRY})
ANSWER = RESULT | _PLACE
REASONING = frozenset({"content", "encrypted", "summary", "signature", *_ENTRY})
USAGE = frozenset({"input", "output", "cached", "reasoning", "total", "cost", OURS})
SESSION = frozenset(
    {"format", "session-id", "session-start", "session-end", "agent-meta", "environment", "entries", OURS}
)


def pass_on(
    entry: dict[str, Any], extra: dict[str, Any], ours: dict[str, Any], taken: frozenset[str]
) -> None:
    """Put fields beside those of the draft; nulls, and names that have another meaning there, go to ours."""
    kept: dict[str, Any] = {}
    for name, value in extra.items():
        if value is None or name in taken or name in entry or not _is_valid(name, value):
            kept[name] = value
        else:
            entry[name] = value
    if kept:
        ours["extra"] = kept


def _is_valid(name: str, value: Any) -> bool:
    """Whether the draft allows a value under a name that it knows."""
    if name in ("id", "subject"):
        return value.__class__ is str
    if name == "timestamp":
        return is_count(value) or (value.__class__ is str and bool(times.is_moment(value)))
    return True


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from zero up."""
    return value.__class__ is int and value >= 0
