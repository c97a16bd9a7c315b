"""Messages: their order, parents and times, tokens and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Event, Message, Usage
from agent_journal.writers.unified.metadata import add, stated

if TYPE_CHECKING:
    from agent_journal.writers.unified.content import Content

_METADATA_TYPES = {"user_type": str, "edit_count": int, "model_override": str}
_TIERS = ("standard", "premium")
_COUNTS = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "cache_creation",
    }
)
# Beyond this a number is no count of tokens or milliseconds, and no price: sums of them stay exact.
_LARGEST = 10**12


def count(value: int | None) -> int | None:
    """A number that the schema takes for a count."""
    return value if value is not None and 0 <= value <= _LARGEST else None


def amount(value: float | None) -> float | None:
    """A number that the schema takes for a price or a duration."""
    return value if value is not None and 0 <= value <= _LARGEST else None


def messages(
    conversation: Conversation, moments: list[str | None], created_at: str, content: Content
) -> tuple[list[dict[str, Any]], int]:
    """The messages, and how many of them had no time of their own.

    `moments` are the times of the timeline. A message without one has the conversation's. Its parent is the
    nearest message above it.
    """
    found: list[dict[str, Any]] = []
    message_above: dict[str | None, str | None] = {}
    missing = 0
    for entry, moment in zip(conversation.timeline, moments, strict=True):
        parent = message_above.get(entry.parent_id, entry.parent_id)
        if isinstance(entry, Event):
            message_above[entry.id] = parent
            continue
        missing += moment is None
        metadata = _facts(entry, inferred=moment is None)
        found.append(_message(entry, parent, moment or created_at, content.blocks(entry), metadata))
    return found, missing


def _message(
    entry: Message,
    parent: str | None,
    at: str,
    content: list[dict[str, Any]],
    metadata: dict[str, Any],
) -> dict[str, Any]:
    said: dict[str, Any] = {
        "message_id": entry.id,
        "parent_message_id": parent,
        "role": entry.role,
        "timestamp": at,
        "content": content,
    }
    if entry.usage is not None:
        _add_usage(said, metadata, entry.usage)
    add(metadata, entry.extra, _METADATA_TYPES)
    if metadata:
        said["metadata"] = metadata
    return said


def _facts(entry: Message, *, inferred: bool) -> dict[str, Any]:
    return stated(
        {
            "model_override": entry.model,
            "response_id": entry.response_id,
            "stop_reason": entry.stop_reason,
            "hidden": entry.hidden or None,
            "sidechain": entry.sidechain or None,
            "timestamp_inferred": inferred or None,
        }
    )


def _add_usage(said: dict[str, Any], metadata: dict[str, Any], usage: Usage) -> None:
    tokens = _tokens(usage)
    left = _add_stated_by_source(tokens, usage)
    if tokens:
        said["tokens"] = tokens
    cost = amount(usage.cost_usd)
    if cost is not None:
        said["cost"] = {"amount": round(cost, 6), "currency": "USD"}
    if "service_tier" in left:
        metadata["service_tier"] = left.pop("service_tier")
    if left:
        metadata["usage"] = left


def _tokens(usage: Usage) -> dict[str, Any]:
    cached = {
        "ephemeral_5m_input_tokens": count(usage.cache_write_5m),
        "ephemeral_1h_input_tokens": count(usage.cache_write_1h),
    }
    return stated(
        {
            "input_tokens": count(usage.input),
            "output_tokens": count(usage.output),
            "cache_creation_input_tokens": count(usage.cache_write),
            "cache_read_input_tokens": count(usage.cache_read),
            "cache_creation": stated(cached) or None,
            # The schema has no names for these; it is open.
            "reasoning_tokens": usage.reasoning,
            "total_tokens": usage.total,
            "estimated": usage.estimated or None,
        }
    )


def _add_stated_by_source(tokens: dict[str, Any], usage: Usage) -> dict[str, Any]:
    """Add what else the source's usage object says; what has no place among the tokens is given back."""
    left: dict[str, Any] = {}
    for name, value in usage.extra.items():
        has_place = value in _TIERS if name == "service_tier" else name not in _COUNTS
        if has_place and name not in tokens:
            tokens[name] = value
        elif value is not None and tokens.get(name) != value:
            left[name] = value
    return left
