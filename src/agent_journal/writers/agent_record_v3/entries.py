"""Messages and events as entries that can be read back; what the draft cannot tell is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Event, Message, Reasoning, Text, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import DEEDS, exactly, parts_in, same
from agent_journal.records.forms import OURS
from agent_journal.writers.agent_record_v3.actions import answered_by, children, separate
from agent_journal.writers.agent_record_v3.passthrough import (
    ANSWER,
    ECHO,
    EVENT,
    MESSAGE,
    SEPARATE_CALL,
    SEPARATE_REASONING,
    USAGE,
    pass_on,
    pass_on_all,
)
from agent_journal.writers.agent_record_v3.usage import counts
from agent_journal.writers.dialects.agent_records import (
    counted_in,
    echoed,
    is_separate,
    is_told,
    token_counts,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Part, Usage
    from agent_journal.model.content_blocks import Deed
    from agent_journal.records.forms import RecordForm


class Whole:
    """What entries of one conversation depend on: the form of its records, and what else is in it."""

    def __init__(self, timeline: Sequence[Message | Event], form: RecordForm) -> None:
        self.form = form
        self.parents = {told.parent_id for told in timeline}
        self._stated = _stated_counts(timeline, form)
        self._usage: Usage | None = None
        self._counts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def counts(self, usage: Usage) -> tuple[dict[str, Any], dict[str, Any]]:
        """The token counts of a message; those of one response share them."""
        if usage is not self._usage:
            self._usage, self._counts = usage, counts(usage)
        return self._counts

    def is_stated(self, usage: Usage) -> bool:
        """Whether an event states the token counts of a message: they are told once."""
        return bool(self._stated) and _as_key(usage.extra) in self._stated


def _stated_counts(timeline: Sequence[Message | Event], form: RecordForm) -> set[bytes]:
    if not form.usage_in:
        return set()
    events = (told for told in timeline if isinstance(told, Event) and token_counts(told, form))
    return {_as_key(counted_in(event, form)) for event in events}


def _as_key(counts: dict[str, Any]) -> bytes:
    return msgspec.json.encode(counts, order="deterministic")


def told_in_order(timeline: Sequence[Message | Event], form: RecordForm) -> Iterator[dict[str, Any]]:
    """Each message and event as one entry."""
    whole = Whole(timeline, form)
    return (entry(told, whole) for told in timeline)


def entry(told: Message | Event, whole: Whole) -> dict[str, Any]:
    """A message or event."""
    if isinstance(told, Event):
        return as_event(told, whole)
    if told.role == "tool":
        match told.parts:
            case [ToolResult() as result]:
                return _answer(told, result, whole)
    return _separate(told, whole) if is_separate(told, whole.form) else _message(told, whole)


def as_event(event: Event, whole: Whole) -> dict[str, Any]:
    """Something that happened, with what the source tells of it."""
    form = whole.form
    if echo := echoed(event, form):
        return _echo(event, *echo, whole)
    ours: dict[str, Any] = {}
    found: dict[str, Any] = {"type": "system-event", "event-type": event.name}
    tell_place(found, event, ours, whole)
    data = event.data
    if counts := token_counts(event, form):
        data = _tell_counts(found, counts, data, ours, form)
    pass_on_all(found, data, ours, form.event_body, EVENT)
    if counts:
        _tell_inside(form.event_body, form.usage_in, ours)
    return with_ours(found, ours)


def _tell_counts(
    found: dict[str, Any],
    counts: dict[str, int],
    data: dict[str, Any],
    ours: dict[str, Any],
    form: RecordForm,
) -> dict[str, Any]:
    """Tell the tokens that an event counts, and return its data without them."""
    stated, data = _moved(data, form.event_body, form.usage_in)
    left: dict[str, Any] = {}
    found["token-usage"] = counts
    pass_on(counts, stated, left, USAGE)
    ours["usage"] = form.usage_in
    if left:
        ours["usage_extra"] = left["extra"]
    return data


def _echo(event: Event, kind: str, words: str, whole: Whole) -> dict[str, Any]:
    """An event that shows again what was said, as the entry of that."""
    form = whole.form
    field = form.echoes[event.name][1]
    ours: dict[str, Any] = {"event": event.name, "content": field}
    found: dict[str, Any] = {"type": kind, "content": words}
    tell_place(found, event, ours, whole)
    _, data = _moved(event.data, form.event_body, field)
    pass_on_all(found, data, ours, form.event_body, ECHO)
    _tell_inside(form.event_body, field, ours)
    return with_ours(found, ours)


def _tell_inside(body: str, field: str, ours: dict[str, Any]) -> None:
    """Say that a field that is told otherwise is the source's in an object."""
    if body:
        ours.setdefault("inside", {}).setdefault(body, []).append(field)


def _moved(data: dict[str, Any], body: str, field: str) -> tuple[Any, dict[str, Any]]:
    """A value of an event's, and its data without it."""
    inner = data[body] if body else data
    left = {name: value for name, value in inner.items() if name != field}
    return inner[field], {**data, body: left} if body else left


def tell_place(found: dict[str, Any], told: Message | Event, ours: dict[str, Any], whole: Whole) -> None:
    """Id, parent and time; an id that no source gave is ours, unless somebody else refers to it."""
    if not told.made_id:
        found["id"] = told.id
    elif told.id in whole.parents:
        found["id"] = told.id
        ours["made_id"] = True
    else:
        ours["id"] = told.id
    if told.at is not None and (at := timestamps.moment(told.at)) is not None:
        found["timestamp"] = at
    if told.parent_id is not None:
        found["parent-id"] = told.parent_id


def with_ours(found: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """An entry, with what is ours if there is any."""
    if ours:
        found[OURS] = ours
    return found


def tell_facts(found: dict[str, Any], message: Message, ours: dict[str, Any], whole: Whole) -> None:
    """What every message says, whatever kind of entry it is."""
    if message.stop_reason is not None:
        ours["stop_reason"] = message.stop_reason
    if message.response_id is not None:
        ours["response_id"] = message.response_id
    if message.hidden:
        ours["hidden"] = True
    if message.sidechain:
        ours["sidechain"] = True
    tell_place(found, message, ours, whole)
    if message.model is not None:
        found["model-id"] = message.model
    if message.usage is not None and whole.is_stated(message.usage):
        ours["counts"] = message.usage
    elif message.usage is not None:
        found["token-usage"], left = whole.counts(message.usage)
        if left:
            ours["usage"] = left


def _message(message: Message, whole: Whole) -> dict[str, Any]:
    """A message with its content, and beside that its calls, results and thoughts."""
    ours: dict[str, Any] = {}
    form = whole.form
    content = message.native if message.native is not None else exactly(message.parts)
    deeds = [part for part in message.parts if part.__class__ is not Text and isinstance(part, DEEDS)]
    if form.told_once and deeds and is_told(message):
        deeds = []
    found = _spoken(message, content, form, ours)
    _tell_parts(message, content, deeds, ours)
    tell_facts(found, message, ours, whole)
    if deeds:
        found["children"] = children(message, deeds, form)
    taken = ANSWER if message.role == "tool" else MESSAGE
    pass_on_all(found, message.extra, ours, form.body, taken)
    return with_ours(found, ours)


def _spoken(message: Message, content: Any, form: RecordForm, ours: dict[str, Any]) -> dict[str, Any]:
    """Who speaks and what is said: the draft knows two speakers."""
    role = message.role
    if role in ("user", "assistant"):
        return {"type": role} if content is None else {"type": role, "content": content}
    ours["role"] = role
    speaker = form.system_as or role if role == "system" else role
    match speaker:
        case "system":
            data = None if content is None else {"content": content}
            return without_nulls({"type": "system-event", "event-type": "system-message", "data": data})
        case "tool":
            if content == "":
                ours["content"] = content
            return {"type": "tool-result", "output": "" if content is None else content}
    return {"type": speaker} if content is None else {"type": speaker, "content": content}


def _tell_parts(message: Message, content: Any, deeds: list[Deed], ours: dict[str, Any]) -> None:
    """Say what the parts are where that does not follow from the content and what is told beside it."""
    if message.native is None and all(map(_is_plain, message.parts)):
        return  # the content was made of them, and they can be made of it
    if not same(parts_in(content, deeds), message.parts):
        places = iter(range(len(deeds)))
        ours["parts"] = [next(places, part) if isinstance(part, DEEDS) else part for part in message.parts]
    if message.native is not None and same(exactly(message.parts), content):
        ours["native"] = True


def _is_plain(part: Part) -> bool:
    """Whether a part is the same when it was a block of the content, with no doubt."""
    kind = part.__class__
    if kind is ToolCall:
        return part.call_id.__class__ is str and not part.extra  # type: ignore[union-attr] # a call
    if kind is ToolResult:
        return part.call_id.__class__ is str and part.output.__class__ is str and not part.extra  # type: ignore[union-attr]
    if kind is Reasoning:
        return part.text.__class__ is str and not part.extra  # type: ignore[union-attr] # a thought
    if kind is not Text or part.injected:  # type: ignore[union-attr] # a text
        return False
    return not part.extra and not part.citations and part.text != ""  # type: ignore[union-attr]


def _separate(message: Message, whole: Whole) -> dict[str, Any]:
    """A message that is nothing but calls and thoughts: entries of their own."""
    ours: dict[str, Any] = {}
    deeds = [part for part in message.parts if isinstance(part, DEEDS)]
    found = separate(message, deeds, whole.form, ours)
    tell_facts(found, message, ours, whole)
    taken = SEPARATE_REASONING if isinstance(deeds[0], Reasoning) else SEPARATE_CALL
    pass_on_all(found, message.extra, ours, whole.form.body, taken)
    return with_ours(found, ours)


def _answer(message: Message, result: ToolResult, whole: Whole) -> dict[str, Any]:
    """The message of a tool that says one result: one entry for both."""
    ours: dict[str, Any] = {}
    of_result: dict[str, Any] = {}
    found = answered_by(result, None, of_result, whole.form, ANSWER)
    if fields := [name for name in found if name not in ANSWER]:
        of_result["fields"] = fields
    if of_result:
        ours["result"] = of_result
    if message.native is not None:
        ours["content"] = message.native
        _tell_parts(message, message.native, [result], ours)
    tell_facts(found, message, ours, whole)
    pass_on_all(found, message.extra, ours, whole.form.body, ANSWER)
    return with_ours(found, ours)
