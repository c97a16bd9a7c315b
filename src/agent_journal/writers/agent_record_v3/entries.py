"""Messages and events as entries that can be read back; data that the draft lacks is under the own key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Event, Message, Reasoning, Text, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import ACTIONS, exactly, parts_in, same
from agent_journal.model.leftovers import Leftovers
from agent_journal.records.forms import OWN_FIELDS
from agent_journal.writers.agent_record_v3.actions import children, result_entry, separate_entry
from agent_journal.writers.agent_record_v3.passthrough import (
    ANSWER,
    ECHO,
    EVENT,
    MESSAGE,
    SEPARATE_CALL,
    SEPARATE_REASONING,
    USAGE,
    add_all_source_fields,
    add_source_fields,
)
from agent_journal.writers.agent_record_v3.usage import counts
from agent_journal.writers.dialects.agent_records import (
    echoed_text,
    is_content_complete,
    is_separate,
    stated_usage,
    token_counts,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Part, Usage
    from agent_journal.model.content_blocks import Action
    from agent_journal.records.forms import RecordForm

_EVENT_LEFTOVERS = Leftovers(Event, represented=("id", "name", "made_id", "parent_id", "at", "data"))
_MESSAGE_LEFTOVERS = Leftovers(
    Message,
    represented=(
        "id",
        "role",
        "made_id",
        "parent_id",
        "at",
        "model",
        "parts",
        "usage",
        "native",
        "extra",
    ),
)
# Parts with any other field are not restored from their block.
_TEXT_OF_BLOCK = Leftovers(Text, represented=("text",))


class RecordContext:
    """The context of a conversation's entries: the form of its records, and facts about its timeline."""

    def __init__(self, timeline: Sequence[Message | Event], form: RecordForm) -> None:
        self.form = form
        self.parents = {item.parent_id for item in timeline}
        self.stated_counts = _stated_counts(timeline, form)
        self._usage: Usage | None = None
        self._counts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def counts(self, usage: Usage) -> tuple[dict[str, Any], dict[str, Any]]:
        """The token counts of a message; messages of one response share them."""
        if usage is not self._usage:
            self._usage, self._counts = usage, counts(usage)
        return self._counts

    def is_stated(self, usage: Usage) -> bool:
        """Whether an event states the token counts of a message, which are not repeated then."""
        return _as_key(usage.extra) in self.stated_counts


def _stated_counts(timeline: Sequence[Message | Event], form: RecordForm) -> set[bytes]:
    if not form.usage_in:
        return set()
    events = (item for item in timeline if isinstance(item, Event) and token_counts(item, form))
    return {_as_key(stated_usage(event, form)) for event in events}


def _as_key(counts: dict[str, Any]) -> bytes:
    return msgspec.json.encode(counts, order="deterministic")


def entries_in_order(timeline: Sequence[Message | Event], form: RecordForm) -> Iterator[dict[str, Any]]:
    """Yield each message and event as one entry."""
    context = RecordContext(timeline, form)
    return (timeline_entry(item, context) for item in timeline)


def timeline_entry(item: Message | Event, context: RecordContext) -> dict[str, Any]:
    """The entry of a message or event."""
    if isinstance(item, Event):
        return event_entry(item, context)
    if item.role == "tool":
        match item.parts:
            case [ToolResult() as result]:
                return _tool_message(item, result, context)
    if context.form.separate and is_separate(item, context.form):
        return _separate(item, context)
    return _message(item, context)


def event_entry(event: Event, context: RecordContext) -> dict[str, Any]:
    """The entry of an event."""
    form = context.form
    if echo := echoed_text(event, form):
        return _echo(event, *echo, context)
    own_fields = event_leftovers(event)
    entry: dict[str, Any] = {"type": "system-event", "event-type": event.name}
    add_position(entry, event, own_fields, context)
    data = event.data
    if counts := token_counts(event, form):
        data = _add_counts(entry, counts, data, own_fields, form)
    add_all_source_fields(entry, data, own_fields, form.event_body, EVENT)
    if counts:
        _record_inside(form.event_body, form.usage_in, own_fields)
    return with_own_fields(entry, own_fields)


def event_leftovers(event: Event) -> dict[str, Any]:
    """The fields of an event that no entry has."""
    return _EVENT_LEFTOVERS.of(event)


def _add_counts(
    entry: dict[str, Any],
    counts: dict[str, int],
    data: dict[str, Any],
    own_fields: dict[str, Any],
    form: RecordForm,
) -> dict[str, Any]:
    """Add the token counts of an event, and return its data without them."""
    source_counts, data = _take_out(data, form.event_body, form.usage_in)
    own_counts: dict[str, Any] = {}
    entry["token-usage"] = counts
    add_source_fields(counts, source_counts, own_counts, USAGE)
    own_fields["usage"] = form.usage_in
    if own_counts:
        own_fields["usage_extra"] = own_counts["extra"]
    return data


def _echo(event: Event, kind: str, text: str, context: RecordContext) -> dict[str, Any]:
    """An event that repeats a text, as an entry of that text's type."""
    form = context.form
    field = form.echoes[event.name][1]
    own_fields = {"event": event.name, "content": field, **event_leftovers(event)}
    entry: dict[str, Any] = {"type": kind, "content": text}
    add_position(entry, event, own_fields, context)
    _, data = _take_out(event.data, form.event_body, field)
    add_all_source_fields(entry, data, own_fields, form.event_body, ECHO)
    _record_inside(form.event_body, field, own_fields)
    return with_own_fields(entry, own_fields)


def _record_inside(body: str, field: str, own_fields: dict[str, Any]) -> None:
    """Record that the source has a field in its `body` object."""
    if body:
        own_fields.setdefault("inside", {}).setdefault(body, []).append(field)


def _take_out(data: dict[str, Any], body: str, field: str) -> tuple[Any, dict[str, Any]]:
    """A value of an event's data, and the data without it."""
    inner = data[body] if body else data
    remaining = {name: value for name, value in inner.items() if name != field}
    return inner[field], {**data, body: remaining} if body else remaining


def add_position(
    entry: dict[str, Any], item: Message | Event, own_fields: dict[str, Any], context: RecordContext
) -> None:
    """Add id, parent and time. A generated id goes under the own key, unless another entry refers to it."""
    if not item.made_id:
        entry["id"] = item.id
    elif item.id in context.parents:
        entry["id"] = item.id
        own_fields["made_id"] = True
    else:
        own_fields["id"] = item.id
    if item.at is not None and (time := timestamps.parse_timestamp(item.at)) is not None:
        entry["timestamp"] = time
    if item.parent_id is not None:
        entry["parent-id"] = item.parent_id


def with_own_fields(entry: dict[str, Any], own_fields: dict[str, Any]) -> dict[str, Any]:
    """The entry with its own fields, if there are any."""
    if own_fields:
        entry[OWN_FIELDS] = own_fields
    return entry


def add_message_fields(
    entry: dict[str, Any], message: Message, own_fields: dict[str, Any], context: RecordContext
) -> None:
    """Add the fields that every message has, whatever its kind of entry."""
    _MESSAGE_LEFTOVERS.add(message, own_fields)
    add_position(entry, message, own_fields, context)
    if message.model is not None:
        entry["model-id"] = message.model
    usage = message.usage
    if usage is None:
        return
    if context.stated_counts and context.is_stated(usage):
        own_fields["counts"] = usage
    else:
        entry["token-usage"], own_counts = context.counts(usage)
        if own_counts:
            own_fields["usage"] = own_counts


def _message(message: Message, context: RecordContext) -> dict[str, Any]:
    """A message with its content, and with its calls, results and reasoning as children."""
    own_fields: dict[str, Any] = {}
    form = context.form
    content = message.native if message.native is not None else exactly(message.parts)
    actions = [part for part in message.parts if part.__class__ is not Text and isinstance(part, ACTIONS)]
    if form.omits_repeats and actions and is_content_complete(message):
        actions = []
    entry = _content_entry(message, content, form, own_fields)
    _record_parts(message, content, actions, own_fields)
    add_message_fields(entry, message, own_fields, context)
    if actions:
        entry["children"] = children(message, actions, form)
    reserved = ANSWER if message.role == "tool" else MESSAGE
    add_all_source_fields(entry, message.extra, own_fields, form.body, reserved)
    return with_own_fields(entry, own_fields)


def _content_entry(
    message: Message, content: Any, form: RecordForm, own_fields: dict[str, Any]
) -> dict[str, Any]:
    """An entry with role and content; the draft has only the roles user and assistant."""
    role = message.role
    if role in ("user", "assistant"):
        return {"type": role} if content is None else {"type": role, "content": content}
    own_fields["role"] = role
    speaker = form.system_as or role if role == "system" else role
    match speaker:
        case "system":
            data = None if content is None else {"content": content}
            return without_nulls({"type": "system-event", "event-type": "system-message", "data": data})
        case "tool":
            if content == "":
                own_fields["content"] = content
            return {"type": "tool-result", "output": "" if content is None else content}
    return {"type": speaker} if content is None else {"type": speaker, "content": content}


def _record_parts(message: Message, content: Any, actions: list[Action], own_fields: dict[str, Any]) -> None:
    """Record the parts if they cannot be derived from the content and the children."""
    if message.native is None and all(map(_is_plain, message.parts)):
        return  # the content was derived from the parts, and they can be derived from it
    if not same(parts_in(content, actions), message.parts):
        indexes = iter(range(len(actions)))
        own_fields["parts"] = [
            next(indexes, part) if isinstance(part, ACTIONS) else part for part in message.parts
        ]
    if message.native is not None and same(exactly(message.parts), content):
        own_fields["native"] = True


def _is_plain(part: Part) -> bool:
    """Whether a part can certainly be restored from its block of content."""
    kind = part.__class__
    if kind is ToolCall:
        return part.call_id.__class__ is str and not part.extra  # type: ignore[union-attr] # a call
    if kind is ToolResult:
        return part.call_id.__class__ is str and part.output.__class__ is str and not part.extra  # type: ignore[union-attr]
    if kind is Reasoning:
        return part.text.__class__ is str and not part.extra  # type: ignore[union-attr] # reasoning
    return kind is Text and not _TEXT_OF_BLOCK.exist_in(part) and part.text != ""  # type: ignore[union-attr]


def _separate(message: Message, context: RecordContext) -> dict[str, Any]:
    """A message with calls, results and reasoning only, which are separate entries."""
    own_fields: dict[str, Any] = {}
    actions = [part for part in message.parts if isinstance(part, ACTIONS)]
    entry = separate_entry(message, actions, context.form, own_fields)
    add_message_fields(entry, message, own_fields, context)
    reserved = SEPARATE_REASONING if isinstance(actions[0], Reasoning) else SEPARATE_CALL
    add_all_source_fields(entry, message.extra, own_fields, context.form.body, reserved)
    return with_own_fields(entry, own_fields)


def _tool_message(message: Message, result: ToolResult, context: RecordContext) -> dict[str, Any]:
    """A tool message with one result: one entry for both."""
    own_fields: dict[str, Any] = {}
    result_fields: dict[str, Any] = {}
    entry = result_entry(result, None, result_fields, context.form, ANSWER)
    if fields := [name for name in entry if name not in ANSWER]:
        result_fields["fields"] = fields
    if result_fields:
        own_fields["result"] = result_fields
    if message.native is not None:
        own_fields["content"] = message.native
        _record_parts(message, message.native, [result], own_fields)
    add_message_fields(entry, message, own_fields, context)
    add_all_source_fields(entry, message.extra, own_fields, context.form.body, ANSWER)
    return with_own_fields(entry, own_fields)
