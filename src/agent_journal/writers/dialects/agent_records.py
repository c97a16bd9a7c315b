"""What both profiles of agent records say of a conversation as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps, tree
from agent_journal.model.content_blocks import DEEDS, parts_in
from agent_journal.records.forms import TOKEN_COUNT, UNKNOWN, provider_of

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Event, Message, ToolCall
    from agent_journal.records.forms import RecordForm
    from agent_journal.writers import Run


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def recording_agent(run: Run) -> dict[str, Any]:
    """Who made the record."""
    name, _, version = run.program.partition("/")
    return without_nulls({"name": name, "version": version or None})


def start(conversation: Conversation) -> str | None:
    """When it began: as stated, or the first time in it if that is earlier."""
    moments = (timestamps.moment(entry.at) for entry in conversation.timeline)
    first = next((at for at in moments if at is not None), None)
    stated = timestamps.moment(conversation.started_at)
    if first is None or stated is None:
        return stated or first
    return min(stated, first, key=lambda at: timestamps.epoch_ms(at) or 0)


def agent_meta(conversation: Conversation, form: RecordForm, run: Run) -> dict[str, Any]:
    """The agent and its models: the one that answered last is the agent's."""
    seen = [message.model for message in tree.messages(conversation) if message.model]
    model = seen[-1] if seen else conversation.model or UNKNOWN
    models = sorted({*seen, *([conversation.model] if conversation.model else ())})
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
    """Who ran the model, where the source says so."""
    if not field:
        return None
    bags = [conversation.extra, *(message.extra for message in tree.messages(conversation))]
    stated = (bag.get(field) for bag in reversed(bags))
    return next((name for name in stated if isinstance(name, str) and name), None)


def is_told(message: Message) -> bool:
    """Whether the content says by itself what was called, answered and thought."""
    if message.native is None:
        return False
    told = sum(isinstance(part, DEEDS) for part in parts_in(message.native, []))
    return told == sum(isinstance(part, DEEDS) for part in message.parts)


def value_at(bag: Any, place: tuple[str, ...]) -> Any:
    """What lies at a place in nested objects; None if it is nowhere."""
    for name in place:
        bag = bag.get(name) if isinstance(bag, dict) else None
    return bag if place else None


def is_separate(message: Message, form: RecordForm) -> bool:
    """Whether a message is nothing but calls and thoughts, which are records of their own in the source."""
    is_model = form.separate and message.role == "assistant" and message.native is None
    return is_model and bool(message.parts) and all(isinstance(part, DEEDS) for part in message.parts)


def echoed(event: Event, form: RecordForm) -> tuple[str, str] | None:
    """What an event shows again: the type of its entry, and the words."""
    if event.name not in form.echoes:
        return None
    kind, field = form.echoes[event.name]
    words = _of_event(event, field, form)
    return (kind, words) if isinstance(words, str) else None


def token_counts(event: Event, form: RecordForm) -> dict[str, int]:
    """The draft's token counts, where the event is a token count that states them."""
    stated = counted_in(event, form)
    counts = ((name, stated.get(theirs)) for theirs, name in form.usage_names.items())
    return {name: value for name, value in counts if value is not None and is_count(value)}


def counted_in(event: Event, form: RecordForm) -> dict[str, Any]:
    """What a token count states of one response, under the source's names; empty if it is none."""
    if event.name != TOKEN_COUNT or not form.usage_in:
        return {}
    counts = _of_event(event, form.usage_in, form)
    shares = (value_at(counts, (name,)) for name in form.usage_of)
    return next((share for share in shares if isinstance(share, dict)), {})


def _of_event(event: Event, field: str, form: RecordForm) -> Any:
    """A field of an event's own; None if its envelope has one of that name, too."""
    body = form.event_body
    if not body:
        return event.data.get(field)
    return None if field in event.data else value_at(event.data, (body, field))


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from zero up."""
    return value.__class__ is int and value >= 0


def unanswered(call: ToolCall | None, form: RecordForm) -> dict[str, Any] | None:
    """How a call goes that nothing came back of, where the source says so."""
    status = None if call is None else value_at(call.extra, form.status_at)
    if call is None or not isinstance(status, str) or not status:
        return None
    return without_nulls({"type": "tool-result", "output": "", "status": status, "call-id": call.call_id})
