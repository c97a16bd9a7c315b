"""Counts of tokens that cannot be true. Sources have them; they are noted and never summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Usage

MOST = 10**11
"""More tokens than any session has seen."""
DEAREST = 10**6
"""More dollars than any answer costs."""
COUNTS = (
    "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "reasoning", "total",
)  # fmt: skip


def odd_counts(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Messages, by id, whose counts cannot be true, and what is stated."""
    last: Usage | None = None
    for entry in conversation.timeline:
        if entry.__class__ is not Message:
            continue
        usage = entry.usage
        if usage is None or usage is last:
            continue
        last = usage
        if odd := [*_mapped(usage), *_stated(usage.extra)]:
            yield entry.id, ", ".join(dict.fromkeys(odd))


def is_possible(usage: Usage) -> bool:
    """Whether all of its counts can be true."""
    return next(_mapped(usage), None) is None


def is_refused(usage: Usage) -> bool:
    """Whether something that the source states as a count of tokens is none, and so is not in the counts."""
    return bool(usage.extra) and any(_stated(usage.extra))


def _mapped(usage: Usage) -> Iterator[str]:
    for name in COUNTS:
        value = getattr(usage, name)
        if value is not None and not 0 <= value <= MOST:
            yield f"{name} {_shown(value)}"
    cost = usage.cost_usd
    if cost is not None and not 0 <= cost <= DEAREST:
        yield f"cost {_shown(cost)}"


def _stated(extra: dict[str, Any]) -> Iterator[str]:
    """What a source states of tokens that is no count; it does not get into the mapped counts."""
    for name, value in extra.items():
        kind = value.__class__
        if kind is int:
            if not 0 <= value <= MOST and "token" in name.lower():
                yield f"{name} {_shown(value)}"
        elif kind is dict:
            yield from (f"{name}.{inner}" for inner in _stated_inside(value))
        elif value is not None and kind in (str, float, bool) and _is_count(name):
            yield f"{name} {_shown(value)}"


def _stated_inside(bag: dict[str, Any]) -> Iterator[str]:
    for name, value in bag.items():
        is_count = value.__class__ is int and 0 <= value <= MOST
        if not is_count and value.__class__ in (int, str, float, bool) and _is_count(name):
            yield f"{name} {_shown(value)}"


def _is_count(name: str) -> bool:
    return name.lower().endswith(("tokens", "tokencount"))


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a number of over 30 digits"
    return text if len(text) <= 40 else f"{text[:40]}…"  # noqa: PLR2004
