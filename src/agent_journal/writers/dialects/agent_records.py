"""What both profiles of agent records state about a conversation as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps as times
from agent_journal.model import tree
from agent_journal.model.content_blocks import ACTIONS, parts_in
from agent_journal.records.forms import TOKEN_COUNT, UNKNOWN, provider_of

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Event, Message, ToolCall
    from agent_journal.records.forms import RecordForm
    from agent_journal.writers import Run


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def recording_agent(run: Run) -> dict[str, Any]:
    """The program that created the record."""
    name, _, version = run.program.partition("/")
    return without_nulls({"name": name, "version": version or None})


def started_at(conversation: Conversation) -> str | None:
    """When the conversation started: as stated, or its first timestamp if that is earlier."""
    timestamps = (times.parse_timestamp(entry.at) for entry in conversation.timeline)
    first = next((timestamp for timestamp in timestamps if timestamp is not None), None)
    stated = times.parse_timestamp(conversation.started_at)
    if first is None or stated is None:
        return stated or first
    return min(stated, first, key=lambda timestamp: times.epoch_ms(timestamp) or 0)


def agent_meta(conversation: Conversation, form: RecordForm, run: Run) -> dict[str, Any]:
    """The agent and its models; the agent's model is the one that answered last."""
    used = [message.model for message in tree.messages(conversation) if message.model]
    model = used[-1] if used else conversation.model or UNKNOWN
    models = sorted({*used, *([conversation.model] if conversation.model else ())})
    return without_nulls(
        {
            "model-id": model,
            "model-provider": _provider(conversation, form.provider) or provider_of(model),
            "models": models if len(models) > 1 else None,
            "cli-name": run.name_of(conversation.source, "record"),
            "cli-version": conversation.app_version,
        }
    )


def _provider(conversation: Conversation, field: str) -> str | None:
    """The provider of the model, if the source states it."""
    if not field:
        return None
    extras = [conversation.extra, *(message.extra for message in tree.messages(conversation))]
    stated = (extra.get(field) for extra in reversed(extras))
    return next((name for name in stated if isinstance(name, str) and name), None)


def is_content_complete(message: Message) -> bool:
    """Whether the native content includes every tool call, result and reasoning of the message."""
    if message.native is None:
        return False
    in_native = sum(isinstance(part, ACTIONS) for part in parts_in(message.native, []))
    return in_native == sum(isinstance(part, ACTIONS) for part in message.parts)


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path in nested objects; None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if path else None


def is_separate(message: Message, form: RecordForm) -> bool:
    """Whether a message has only calls, results and reasoning, which are separate records in the source."""
    is_model = form.separate and message.role == "assistant" and message.native is None
    return is_model and bool(message.parts) and all(isinstance(part, ACTIONS) for part in message.parts)


def echoed_text(event: Event, form: RecordForm) -> tuple[str, str] | None:
    """The type and text of the entry that an event repeats; None if it repeats none."""
    if event.name not in form.echoes:
        return None
    kind, field = form.echoes[event.name]
    text = _event_field(event, field, form)
    return (kind, text) if isinstance(text, str) else None


def token_counts(event: Event, form: RecordForm) -> dict[str, int]:
    """Token counts under the draft's names, if the event is a token count; else empty."""
    stated = stated_usage(event, form)
    counts = ((name, stated.get(native_name)) for native_name, name in form.usage_names.items())
    return {name: value for name, value in counts if value is not None and is_count(value)}


def stated_usage(event: Event, form: RecordForm) -> dict[str, Any]:
    """The token counts of one response under the source's names; empty if the event has none."""
    if event.name != TOKEN_COUNT or not form.usage_in:
        return {}
    counts = _event_field(event, form.usage_in, form)
    shares = (value_at(counts, (name,)) for name in form.usage_of)
    return next((share for share in shares if isinstance(share, dict)), {})


def _event_field(event: Event, field: str, form: RecordForm) -> Any:
    """A field of an event's own data; None if its envelope has a field of that name, too."""
    body = form.event_body
    if not body:
        return event.data.get(field)
    return None if field in event.data else value_at(event.data, (body, field))


def is_count(value: Any) -> bool:
    """Whether a value is a non-negative integer."""
    return value.__class__ is int and value >= 0


def missing_result(call: ToolCall | None, form: RecordForm) -> dict[str, Any] | None:
    """A result entry for a call without a result, if the source records the call's status."""
    status = None if call is None else value_at(call.extra, form.status_at)
    if call is None or not isinstance(status, str) or not status:
        return None
    return without_nulls({"type": "tool-result", "output": "", "status": status, "call-id": call.call_id})
