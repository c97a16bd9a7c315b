"""Adds fields of the source that the draft lacks, under the source's own names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps
from agent_journal.records.forms import OWN_FIELDS
from agent_journal.writers.dialects.agent_records import is_count

if TYPE_CHECKING:
    from collections.abc import Iterable

# Reserved field names, by the kind of entry: their values are not taken from the source.
_ENTRY = {"type", "children", OWN_FIELDS}
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
USAGE = frozenset({"input", "output", "cached", "reasoning", "total", "cost", OWN_FIELDS})
# Fields for which the draft requires a type.
_TYPED = frozenset({"id", "subject", "timestamp"})
SESSION = frozenset(
    {
        "format",
        "session-id",
        "session-start",
        "session-end",
        "agent-meta",
        "environment",
        "entries",
        OWN_FIELDS,
    }
)


def add_source_fields(
    entry: dict[str, Any], extra: dict[str, Any], own_fields: dict[str, Any], reserved: frozenset[str]
) -> None:
    """Add a source's fields; nulls and names with a different meaning in the draft go to the own fields."""
    rest: dict[str, Any] = {}
    for name, value in extra.items():
        if (
            value is None
            or name in reserved
            or name in entry
            or (name in _TYPED and not _is_valid(name, value))
        ):
            rest[name] = value
        else:
            entry[name] = value
    if rest:
        own_fields["extra"] = rest


def add_all_source_fields(
    entry: dict[str, Any],
    extra: dict[str, Any],
    own_fields: dict[str, Any],
    body: str,
    reserved: frozenset[str],
    *,
    excluded: Iterable[str] = (),
) -> None:
    """Add a source's fields, including those in its `body` object, except for `excluded` ones."""
    inner = extra.get(body) if body else None
    if inner.__class__ is not dict or not inner:
        add_source_fields(entry, extra, own_fields, reserved)
        return
    members = {name: value for name, value in inner.items() if name not in extra and name not in excluded}
    own_members: dict[str, Any] = {}
    add_source_fields(entry, members, own_members, reserved)
    rest = own_members.get("extra", {})
    if len(rest) < len(members):
        own_fields["inside"] = {body: [name for name in members if name not in rest] if rest else [*members]}
    outer = extra.copy()
    del outer[body]
    add_source_fields(entry, outer, own_fields, reserved)
    if len(members) < len(inner):
        rest = {name: value for name, value in inner.items() if name not in members} | rest
    if rest:
        own_fields.setdefault("extra", {})[body] = rest


def _is_valid(name: str, value: Any) -> bool:
    """Whether the draft allows a value under a typed name."""
    if name != "timestamp":
        return value.__class__ is str
    return is_count(value) or (value.__class__ is str and bool(timestamps.is_timestamp(value)))
