"""Messages: their order, parents and times, tokens and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Event, Message, Usage
from agent_journal.writers.unified.own_fields import NAME

if TYPE_CHECKING:
    from agent_journal.model import Bag
    from agent_journal.writers.unified.content import Content
    from agent_journal.writers.unified.own_fields import Untold

_METADATA_TYPES = {"user_type": str, "edit_count": int, "model_override": str}
# What a message's metadata holds beside what only the source has a name for.
_FACTS = frozenset(
    {
        "model_override",
        "response_id",
        "stop_reason",
        "hidden",
        "sidechain",
        "timestamp_inferred",
        "usage",
        "service_tier",
    }
)
_FUNCTION = "function"
_TIERS = ("standard", "premium")
# Counts by their names in the schema.
_COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_write",
    "cache_read_input_tokens": "cache_read",
}
_CACHED = {"ephemeral_5m_input_tokens": "cache_write_5m", "ephemeral_1h_input_tokens": "cache_write_1h"}
# Names that the schema leaves open. A value under them that is only the source's makes no count of ours.
_OPEN: dict[str, dict[str, Any]] = {
    "reasoning_tokens": {"reasoning": None},
    "total_tokens": {"total": None},
    "estimated": {"estimated": False},
}
_TOLD = frozenset({*_COUNTS, "cache_creation", *_OPEN})
# Beyond this a number is no count of tokens or milliseconds, and no price: sums of them stay exact.
_LARGEST = 10**12


def count(value: int | None) -> int | None:
    """A number that the schema takes for a count."""
    return value if value is not None and 0 <= value <= _LARGEST else None


def amount(value: float | None) -> float | None:
    """A number that the schema takes for a price or a duration."""
    return value if value is not None and 0 <= value <= _LARGEST else None


def messages(
    conversation: Conversation, moments: list[str | None], created_at: str, content: Content, untold: Untold
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
        left = untold_of(entry, moment)
        if parent != entry.parent_id:
            left["parent_id"] = entry.parent_id
        metadata = _facts(entry, inferred=moment is None)
        blocks, parts = content.blocks(entry)
        if parts:
            left["parts"] = parts
        if not blocks:
            # The rules of the mapping document refuse a message without content.
            blocks, left["empty"] = [{"type": "text", "text": ""}], True
        said: dict[str, Any] = {
            "message_id": entry.id,
            "parent_message_id": parent,
            "role": _role(entry),
            "timestamp": moment or created_at,
            "content": blocks,
        }
        _complete(said, entry, metadata, left, untold)
        found.append(said)
    return found, missing


def _role(entry: Message) -> str:
    """The role; the schema has `function` beside `tool`, for sources that call it so."""
    return _FUNCTION if entry.role == "tool" and entry.extra.get("role") == _FUNCTION else entry.role


def untold_of(entry: Message | Event, moment: str | None) -> dict[str, Any]:
    """What the schema's form of an entry does not tell: that its id was made, and its time as it was."""
    left: dict[str, Any] = {"made_id": True} if entry.made_id else {}
    if moment != entry.at:
        left["at"] = entry.at
    return left


def _complete(
    said: dict[str, Any],
    entry: Message,
    metadata: dict[str, Any],
    left: dict[str, Any],
    untold: Untold,
) -> None:
    """Add tokens and metadata to a message, and what all of it does not tell."""
    usage = entry.usage
    uncounted = {} if usage is None else _add_usage(said, metadata, usage, untold)
    if entry.extra:
        left |= untold.add(metadata, entry.extra, _FACTS, _METADATA_TYPES)
    if usage is not None:
        if usage.key != _key(entry, metadata):
            uncounted["key"] = usage.key
        if uncounted or not ("tokens" in said or "cost" in said):
            left["usage"] = uncounted
    if metadata:
        said["metadata"] = metadata
    if left:
        said[NAME] = left


def _key(entry: Message, metadata: dict[str, Any]) -> str | None:
    """What a response is known by, where nothing else is stated: its id, and that of its request."""
    request_id = metadata.get("request_id")
    if entry.response_id is None or request_id.__class__ is not str:
        return entry.response_id
    return f"{entry.response_id}:{request_id}"


def _facts(entry: Message, *, inferred: bool) -> dict[str, Any]:
    """What the model knows of a message and the schema leaves to the metadata."""
    found: dict[str, Any] = {}
    if entry.model is not None:
        found["model_override"] = entry.model
    if entry.response_id is not None:
        found["response_id"] = entry.response_id
    if entry.stop_reason is not None:
        found["stop_reason"] = entry.stop_reason
    if entry.hidden:
        found["hidden"] = True
    if entry.sidechain:
        found["sidechain"] = True
    if inferred:
        found["timestamp_inferred"] = True
    return found


def _add_usage(
    said: dict[str, Any], metadata: dict[str, Any], usage: Usage, untold: Untold
) -> dict[str, Any]:
    """Add tokens and cost; what they do not tell of the usage is given back."""
    left: dict[str, Any] = {}
    tokens = _tokens(usage, left)
    left |= untold.repeated(_add_stated_by_source(tokens, metadata, usage.extra, left))
    if tokens:
        said["tokens"] = tokens
    if usage.cost_usd is not None:
        cost = amount(usage.cost_usd)
        if cost is not None:
            cost = round(cost, 6)
            said["cost"] = {"amount": cost, "currency": "USD"}
        if cost != usage.cost_usd:
            left["cost_usd"] = usage.cost_usd
    return left


def _tokens(usage: Usage, left: dict[str, Any]) -> dict[str, Any]:
    """The counts by their names here; what the schema does not take for a count is left."""
    tokens = _counted(usage, _COUNTS, left)
    if cached := _counted(usage, _CACHED, left):
        tokens["cache_creation"] = cached
    # The schema has no names for these; it is open.
    if usage.reasoning is not None:
        tokens["reasoning_tokens"] = usage.reasoning
    if usage.total is not None:
        tokens["total_tokens"] = usage.total
    if usage.estimated:
        tokens["estimated"] = True
    return tokens


def _counted(usage: Usage, names: dict[str, str], left: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in names.items():
        value = getattr(usage, field)
        if value is None:
            continue
        if 0 <= value <= _LARGEST:
            found[name] = value
        else:
            left[field] = value
    return found


def _add_stated_by_source(
    tokens: dict[str, Any], metadata: dict[str, Any], extra: Bag, left: dict[str, Any]
) -> list[str]:
    """Add what else the source's usage object says, to the tokens or where it has no place there beside them.

    Given back are the names of what the tokens say already.
    """
    repeated: list[str] = []
    beside: dict[str, Any] = {}
    unsaid: dict[str, Any] = {}
    for name, value in extra.items():
        if name not in _TOLD:
            if name != "service_tier" or value in _TIERS:
                tokens[name] = value
            elif value is None:
                unsaid[name] = value
            else:
                metadata[name] = value
        elif name not in tokens and name in _OPEN:
            tokens[name] = value
            repeated.append(name)
            left |= _OPEN[name]
        elif name in tokens and repr(tokens[name]) == repr(value):
            repeated.append(name)
        elif value is None or tokens.get(name) == value:
            unsaid[name] = value
        else:
            beside[name] = value
    if beside:
        metadata["usage"] = beside
    if unsaid:
        left["extra"] = unsaid
    return repeated
