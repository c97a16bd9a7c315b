"""Token counts by the draft's names, as the source states them where it uses the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.writers.agent_record_v3.passing import USAGE, is_count, pass_on

if TYPE_CHECKING:
    from agent_journal.model import Usage

_COUNTS = (
    ("input", "input"),
    ("output", "output"),
    ("cached", "cache_read"),
    ("reasoning", "reasoning"),
    ("total", "total"),
    ("cost", "cost_usd"),
)
_OTHER_COUNTS = ("key", "cache_write", "cache_write_5m", "cache_write_1h", "estimated")
# What one vendor calls the draft's counts; they are not said twice.
_SYNONYMS = {"input_tokens": "input", "output_tokens": "output", "cache_read_input_tokens": "cached"}


def counts(usage: Usage, ours_of_message: dict[str, Any]) -> dict[str, Any]:
    """The `token-usage` of a message; what it cannot tell is put among what is ours."""
    own = usage.extra
    found: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, field in _COUNTS:
        value = getattr(usage, field)
        if name in own and _is_valid(name, own[name]):
            found[name] = own[name]
            names[name] = name
            if value != own[name]:
                ours[field] = value
        elif value is not None and _is_valid(name, value):
            found[name] = value
        elif value is not None:
            ours[field] = value
    for name in _OTHER_COUNTS:
        value = getattr(usage, name)
        if value is not None and value is not False:
            ours[name] = value
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
    if ours:
        ours_of_message["usage"] = ours
    return found


def _is_valid(name: str, value: Any) -> bool:
    return value.__class__ in (int, float) if name == "cost" else is_count(value)
