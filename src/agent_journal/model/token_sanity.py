"""Implausible token counts. Sources do state them; they are noted and never summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Usage

MAX_TOKENS = 10**11
"""More tokens than any session has used."""
MAX_COST_USD = 10**6
"""More than any response costs."""
_MAX_SHOWN_CHARS = 40
COUNTS = (
    "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "reasoning", "total",
)  # fmt: skip


def implausible_counts(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """The ids of messages with implausible counts, and these counts as text."""
    last: Usage | None = None
    for entry in conversation.timeline:
        if entry.__class__ is not Message:
            continue
        usage = entry.usage
        if usage is None or usage is last:
            continue
        last = usage
        if implausible := [*_in_fields(usage), *_in_extra(usage.extra)]:
            yield entry.id, ", ".join(dict.fromkeys(implausible))


def is_possible(usage: Usage) -> bool:
    """Whether all counts are plausible."""
    return next(_in_fields(usage), None) is None


def is_refused(usage: Usage) -> bool:
    """Whether the source states a token count that is no plausible number, so that no field holds it."""
    return bool(usage.extra) and any(_in_extra(usage.extra))


def _in_fields(usage: Usage) -> Iterator[str]:
    for name in COUNTS:
        value = getattr(usage, name)
        if value is not None and not 0 <= value <= MAX_TOKENS:
            yield f"{name} {_shown(value)}"
    cost = usage.cost_usd
    if cost is not None and not 0 <= cost <= MAX_COST_USD:
        yield f"cost {_shown(cost)}"


def _in_extra(extra: dict[str, Any]) -> Iterator[str]:
    """Token counts of the source that are no plausible numbers, and so are in no field."""
    for name, value in extra.items():
        kind = value.__class__
        if kind is int:
            if not 0 <= value <= MAX_TOKENS and "token" in name.lower():
                yield f"{name} {_shown(value)}"
        elif kind is dict:
            yield from (f"{name}.{inner}" for inner in _in_nested(value))
        elif value is not None and kind in (str, float, bool) and _is_count(name):
            yield f"{name} {_shown(value)}"


def _in_nested(bag: dict[str, Any]) -> Iterator[str]:
    for name, value in bag.items():
        is_count = value.__class__ is int and 0 <= value <= MAX_TOKENS
        if not is_count and value.__class__ in (int, str, float, bool) and _is_count(name):
            yield f"{name} {_shown(value)}"


def _is_count(name: str) -> bool:
    return name.lower().endswith(("tokens", "tokencount"))


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a number of over 30 digits"
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
