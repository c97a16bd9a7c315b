"""Token counts by the draft's names, as the source states them where it uses the same names."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from agent_journal.records.forms import TOKEN_COUNTS
from agent_journal.writers.agent_record_v3.passthrough import USAGE, pass_on
from agent_journal.writers.dialects.agent_records import is_count

if TYPE_CHECKING:
    from agent_journal.model import Usage

_COUNTS = {**TOKEN_COUNTS, "cost": "cost_usd"}
_OTHER_COUNTS = ("key", "cache_write", "cache_write_5m", "cache_write_1h", "estimated")
_counts_of = attrgetter(*_COUNTS.values())
_others_of = attrgetter(*_OTHER_COUNTS)
# What one vendor calls the draft's counts; they are not said twice.
_SYNONYMS = {"input_tokens": "input", "output_tokens": "output", "cache_read_input_tokens": "cached"}


def counts(usage: Usage) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `token-usage` of a message, and what that cannot tell."""
    own = usage.extra
    found: dict[str, Any] = {}
    others = zip(_OTHER_COUNTS, _others_of(usage), strict=True)
    ours = {name: value for name, value in others if value is not None and value is not False}
    names: dict[str, str] = {}
    for name, value in zip(_COUNTS, _counts_of(usage), strict=True):
        if name in own and _is_valid(name, own[name]):
            found[name] = own[name]
            names[name] = name
            if value != own[name]:
                ours[_COUNTS[name]] = value
        elif value is None:
            continue
        elif _is_valid(name, value):
            found[name] = value
        else:
            ours[_COUNTS[name]] = value
    left: dict[str, Any] = {}
    for name, value in own.items():
        told = _SYNONYMS.get(name)
        if told is not None and value.__class__ is int and value == found.get(told):
            names[name] = told
        elif name not in names:
            left[name] = value
    if names:
        ours["names"] = names
    if left:
        pass_on(found, left, ours, USAGE)
    return found, ours


def _is_valid(name: str, value: Any) -> bool:
    return value.__class__ in (int, float) if name == "cost" else is_count(value)
