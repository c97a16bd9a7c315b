"""Messages: their order, parents and times, tokens and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Event, Message, Usage
from agent_journal.model.leftovers import Leftovers
from agent_journal.writers.unified.own_fields import OWN_KEY

if TYPE_CHECKING:
    from agent_journal.model import Bag
    from agent_journal.writers.unified.content import Content
    from agent_journal.writers.unified.own_fields import OwnFields

_METADATA_TYPES = {"user_type": str, "edit_count": int, "model_override": str}
# Fields of a message's metadata other than the source's own.
_METADATA_FIELDS = frozenset(
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
_KNOWN_TIERS = ("standard", "premium")
# The fields of counts by their names in the schema.
_TOKEN_FIELDS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_write",
    "cache_read_input_tokens": "cache_read",
}
_CACHE_FIELDS = {"ephemeral_5m_input_tokens": "cache_write_5m", "ephemeral_1h_input_tokens": "cache_write_1h"}
# Names that the schema does not define, and the fields to reset if only the source has a value under them.
_EXTENSION_FIELDS: dict[str, dict[str, Any]] = {
    "reasoning_tokens": {"reasoning": None},
    "total_tokens": {"total": None},
    "estimated": {"estimated": False},
}
_MESSAGE_LEFTOVERS = Leftovers(
    Message,
    represented=(
        "id",
        "role",
        "made_id",
        "parent_id",
        "at",
        "model",
        "stop_reason",
        "hidden",
        "sidechain",
        "response_id",
        "parts",
        "usage",
        "native",
        "extra",
    ),
)
_EVENT_LEFTOVERS = Leftovers(Event, represented=("id", "name", "made_id", "parent_id", "at", "data"))
_USAGE_LEFTOVERS = Leftovers(
    Usage,
    represented=(
        "key",
        *_TOKEN_FIELDS.values(),
        *_CACHE_FIELDS.values(),
        "reasoning",
        "total",
        "cost_usd",
        "estimated",
        "extra",
    ),
)
_WRITTEN_NAMES = frozenset({*_TOKEN_FIELDS, "cache_creation", *_EXTENSION_FIELDS})
# The largest plausible count, duration or price; sums up to it are exact.
_MAX_COUNTED_UNITS = 10**12


def count(value: int | None) -> int | None:
    """A valid count of the schema, else None."""
    return value if value is not None and 0 <= value <= _MAX_COUNTED_UNITS else None


def amount(value: float | None) -> float | None:
    """A valid price or duration of the schema, else None."""
    return value if value is not None and 0 <= value <= _MAX_COUNTED_UNITS else None


def messages(
    conversation: Conversation,
    timeline_times: list[str | None],
    created_at: str,
    content: Content,
    own_fields: OwnFields,
) -> tuple[list[dict[str, Any]], int]:
    """The messages, and how many of them have no time.

    `timeline_times` are the times of the timeline. A message without one gets the conversation's. Its parent
    is the nearest message above it.
    """
    result: list[dict[str, Any]] = []
    message_above: dict[str | None, str | None] = {}
    missing = 0
    for entry, time in zip(conversation.timeline, timeline_times, strict=True):
        parent = message_above.get(entry.parent_id, entry.parent_id)
        if isinstance(entry, Event):
            message_above[entry.id] = parent
            continue
        missing += time is None
        own_values = entry_own_fields(entry, time)
        if parent != entry.parent_id:
            own_values["parent_id"] = entry.parent_id
        metadata = _metadata(entry, inferred=time is None)
        blocks, parts = content.blocks(entry)
        if parts:
            own_values["parts"] = parts
        if not blocks:
            # The mapping document forbids a message without content.
            blocks, own_values["empty"] = [{"type": "text", "text": ""}], True
        message: dict[str, Any] = {
            "message_id": entry.id,
            "parent_message_id": parent,
            "role": _role(entry),
            "timestamp": time or created_at,
            "content": blocks,
        }
        _add_details(message, entry, metadata, own_values, own_fields)
        result.append(message)
    return result, missing


def _role(entry: Message) -> str:
    """The role; the schema has `function` in addition to `tool`, for sources that use this name."""
    return _FUNCTION if entry.role == "tool" and entry.extra.get("role") == _FUNCTION else entry.role


def entry_own_fields(entry: Message | Event, time: str | None) -> dict[str, Any]:
    """The own fields of an entry: whether its id was generated, its original time, and leftover fields."""
    own_values = (_MESSAGE_LEFTOVERS if entry.__class__ is Message else _EVENT_LEFTOVERS).of(entry)
    if entry.made_id:
        own_values["made_id"] = True
    if time != entry.at:
        own_values["at"] = entry.at
    return own_values


def _add_details(
    message: dict[str, Any],
    entry: Message,
    metadata: dict[str, Any],
    own_values: dict[str, Any],
    own_fields: OwnFields,
) -> None:
    """Add tokens, metadata and own fields to a message."""
    usage = entry.usage
    usage_fields = {} if usage is None else _add_usage(message, metadata, usage, own_fields)
    if entry.extra:
        own_values |= own_fields.add(metadata, entry.extra, _METADATA_FIELDS, _METADATA_TYPES)
    if usage is not None:
        if usage.key != _key(entry, metadata):
            usage_fields["key"] = usage.key
        if usage_fields or not ("tokens" in message or "cost" in message):
            own_values["usage"] = usage_fields
    if metadata:
        message["metadata"] = metadata
    if own_values:
        message[OWN_KEY] = own_values


def _key(entry: Message, metadata: dict[str, Any]) -> str | None:
    """The default usage key of a response: its id, and that of its request."""
    request_id = metadata.get("request_id")
    if entry.response_id is None or request_id.__class__ is not str:
        return entry.response_id
    return f"{entry.response_id}:{request_id}"


def _metadata(entry: Message, *, inferred: bool) -> dict[str, Any]:
    """The fields of a message that go into the metadata."""
    metadata: dict[str, Any] = {}
    if entry.model is not None:
        metadata["model_override"] = entry.model
    if entry.response_id is not None:
        metadata["response_id"] = entry.response_id
    if entry.stop_reason is not None:
        metadata["stop_reason"] = entry.stop_reason
    if entry.hidden:
        metadata["hidden"] = True
    if entry.sidechain:
        metadata["sidechain"] = True
    if inferred:
        metadata["timestamp_inferred"] = True
    return metadata


def _add_usage(
    message: dict[str, Any], metadata: dict[str, Any], usage: Usage, own_fields: OwnFields
) -> dict[str, Any]:
    """Add tokens and cost; returns the fields of the usage that they cannot represent."""
    own_values = _USAGE_LEFTOVERS.of(usage)
    tokens = _tokens(usage, own_values)
    own_values |= own_fields.repeated(_add_source_usage(tokens, metadata, usage.extra, own_values))
    if tokens:
        message["tokens"] = tokens
    if usage.cost_usd is not None:
        cost = amount(usage.cost_usd)
        if cost is not None:
            cost = round(cost, 6)
            message["cost"] = {"amount": cost, "currency": "USD"}
        if cost != usage.cost_usd:
            own_values["cost_usd"] = usage.cost_usd
    return own_values


def _tokens(usage: Usage, own_values: dict[str, Any]) -> dict[str, Any]:
    """The counts under the schema's names; invalid counts go to `own_values`."""
    tokens = _valid_counts(usage, _TOKEN_FIELDS, own_values)
    if cached := _valid_counts(usage, _CACHE_FIELDS, own_values):
        tokens["cache_creation"] = cached
    # The schema does not define these, but allows additional names.
    if usage.reasoning is not None:
        tokens["reasoning_tokens"] = usage.reasoning
    if usage.total is not None:
        tokens["total_tokens"] = usage.total
    if usage.estimated:
        tokens["estimated"] = True
    return tokens


def _valid_counts(usage: Usage, names: dict[str, str], own_values: dict[str, Any]) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    for name, field in names.items():
        value = getattr(usage, field)
        if value is None:
            continue
        if 0 <= value <= _MAX_COUNTED_UNITS:
            counts[name] = value
        else:
            own_values[field] = value
    return counts


def _add_source_usage(
    tokens: dict[str, Any], metadata: dict[str, Any], extra: Bag, own_values: dict[str, Any]
) -> list[str]:
    """Add the other fields of the source's usage object to the tokens, or to the metadata if they conflict.

    Returns the names that repeat a value of the tokens.
    """
    repeated: list[str] = []
    conflicting: dict[str, Any] = {}
    omitted: dict[str, Any] = {}
    for name, value in extra.items():
        if name not in _WRITTEN_NAMES:
            if name != "service_tier" or value in _KNOWN_TIERS:
                tokens[name] = value
            elif value is None:
                omitted[name] = value
            else:
                metadata[name] = value
        elif name not in tokens and name in _EXTENSION_FIELDS:
            tokens[name] = value
            repeated.append(name)
            own_values |= _EXTENSION_FIELDS[name]
        elif name in tokens and repr(tokens[name]) == repr(value):
            repeated.append(name)
        elif value is None or tokens.get(name) == value:
            omitted[name] = value
        else:
            conflicting[name] = value
    if conflicting:
        metadata["usage"] = conflicting
    if omitted:
        own_values["extra"] = omitted
    return repeated
