"""Passing on what a source says and the draft has no field for, under the source's own names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps
from agent_journal.records.forms import OURS
from agent_journal.writers.dialects.agent_records import is_count

if TYPE_CHECKING:
    from collections.abc import Iterable

# Names whose value is ours to give, by what they are names in.
_ENTRY = {"type", "children", OURS}
_PLACE = {"id", "timestamp", "parent-id", "model-id", "token-usage", "stop-reason"}
MESSAGE = frozenset({"content", "event-type", "data", *_PLACE, *_ENTRY})
EVENT = frozenset({"event-type", "data", "id", "timestamp", "parent-id", *_ENTRY})
TEXT = frozenset({"content", "model-id", "parent-id", "token-usage", *_ENTRY})
CALL = frozenset({"name", "input", "call-id", *_ENTRY})
RESULT = frozenset({"name", "output", "call-id", "status", "is-error", *_ENTRY})
ANSWER = RESULT | _PLACE
PATCHED = frozenset({"output", "call-id", "status", "is-error", "id", "timestamp", "parent-id", *_ENTRY})
REASONING = frozenset({"content", "encrypted", "summary", "signature", *_ENTRY})
SEPARATE_CALL = CALL | _PLACE
SEPARATE_REASONING = REASONING | _PLACE
ECHO = MESSAGE | REASONING
USAGE = frozenset({"input", "output", "cached", "reasoning", "total", "cost", OURS})
# Names of fields that the draft demands a type of.
_TYPED = frozenset({"id", "subject", "timestamp"})
SESSION = frozenset(
    {"format", "session-id", "session-start", "session-end", "agent-meta", "environment", "entries", OURS}
)


def pass_on(
    entry: dict[str, Any], extra: dict[str, Any], ours: dict[str, Any], taken: frozenset[str]
) -> None:
    """Put fields beside those of the draft; nulls, and names that have another meaning there, go to ours."""
    kept: dict[str, Any] = {}
    for name, value in extra.items():
        if value is None or name in taken or name in entry or (name in _TYPED and not _is_valid(name, value)):
            kept[name] = value
        else:
            entry[name] = value
    if kept:
        ours["extra"] = kept


def pass_on_all(
    entry: dict[str, Any],
    extra: dict[str, Any],
    ours: dict[str, Any],
    body: str,
    taken: frozenset[str],
    *,
    told: Iterable[str] = (),
) -> None:
    """Pass on fields, also those that the source has in an object, but for those that are told otherwise."""
    inner = extra.get(body) if body else None
    if inner.__class__ is not dict or not inner:
        pass_on(entry, extra, ours, taken)
        return
    beside = {name: value for name, value in inner.items() if name not in extra and name not in told}
    left: dict[str, Any] = {}
    pass_on(entry, beside, left, taken)
    kept = left.get("extra", {})
    if len(kept) < len(beside):
        ours["inside"] = {body: [name for name in beside if name not in kept] if kept else [*beside]}
    outer = extra.copy()
    del outer[body]
    pass_on(entry, outer, ours, taken)
    if len(beside) < len(inner):
        kept = {name: value for name, value in inner.items() if name not in beside} | kept
    if kept:
        ours.setdefault("extra", {})[body] = kept


def _is_valid(name: str, value: Any) -> bool:
    """Whether the draft allows a value under a name that it knows."""
    if name != "timestamp":
        return value.__class__ is str
    return is_count(value) or (value.__class__ is str and bool(timestamps.is_moment(value)))
