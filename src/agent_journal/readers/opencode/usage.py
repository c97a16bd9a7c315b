"""Tokens and cost as the app states them for each answer.

A fork repeats earlier messages with new ids but the same times and counts; the usage key is made from these,
so that each answer is counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Usage
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from typing import Any

    from agent_journal.decoding.fields import Fields

_COUNT_KEYS = ("input", "output", "reasoning", "total")


def usage(fields: Fields, at: str | None, model: str | None) -> Usage | None:
    """Take the usage of an answer; `input` is without cached tokens, `output` without reasoning."""
    raw, cost = fields.view("tokens"), fields.view("cost")
    counts = _counts(raw)
    if counts is None:
        if raw is not None:
            fields.note(Kind.WRONG_TYPE, fields.where, "tokens are not counts")
        counts = dict.fromkeys((*_COUNT_KEYS, "read", "write"))
    else:
        fields.drop("tokens")
    is_cost = cost.__class__ in (int, float) and cost >= 0
    if is_cost:
        fields.drop("cost")
    if not is_cost and all(count is None for count in counts.values()):
        return None
    out, reasoning = counts["output"], counts["reasoning"]
    stated = [str(counts[name]) for name in ("input", "output", "reasoning", "read", "write")]
    return Usage(
        key=":".join((at, model or "", *stated)) if at is not None and out else None,
        input=counts["input"],
        output=None if out is None and reasoning is None else (out or 0) + (reasoning or 0),
        cache_read=counts["read"],
        cache_write=counts["write"],
        reasoning=reasoning,
        total=counts["total"],
        cost_usd=float(cost) if is_cost else None,
        extra=raw if not fields.has("tokens") and raw else {},
    )


def _counts(raw: Any) -> dict[str, int | None] | None:
    """Return the counts by name; None if a value is not a count."""
    if raw.__class__ is not dict:
        return None
    cache = raw.get("cache")
    if cache is not None and cache.__class__ is not dict:
        return None
    values = {name: raw.get(name) for name in _COUNT_KEYS}
    values |= {name: None if cache is None else cache.get(name) for name in ("read", "write")}
    counts: dict[str, int | None] = {}
    for name, value in values.items():
        if value.__class__ is float and value.is_integer():
            value = int(value)  # noqa: PLW2901 (the vendor's numbers may be floats)
        if value is not None and (value.__class__ is not int or value < 0):
            return None
        counts[name] = value
    return counts
