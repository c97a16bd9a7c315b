"""Entries of sources with separate parts: the parts, the events about the message, then the message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Event, Message, Text, ToolCall, ToolResult
from agent_journal.model.content_blocks import ACTIONS
from agent_journal.model.leftovers import Leftovers
from agent_journal.records.forms import OWN_FIELDS, PATCH
from agent_journal.writers.agent_record_v3.actions import action_entry, repeat_call_field
from agent_journal.writers.agent_record_v3.entries import (
    RecordContext,
    add_message_fields,
    add_position,
    event_entry,
    event_leftovers,
    timeline_entry,
    with_own_fields,
)
from agent_journal.writers.agent_record_v3.passthrough import (
    MESSAGE,
    PATCHED,
    TEXT,
    add_all_source_fields,
    add_source_fields,
)
from agent_journal.writers.dialects.agent_records import missing_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Part
    from agent_journal.records.forms import RecordForm

# Texts with any other field are not written as entries.
_TEXT_OF_ENTRY = Leftovers(Text, represented=("text", "extra"))


def entries_with_separate_parts(
    timeline: Sequence[Message | Event], form: RecordForm
) -> Iterator[dict[str, Any]]:
    """Yield each message after its parts and the events that refer to it."""
    context = RecordContext(timeline, form)
    waiting: Message | None = None
    envelope: dict[str, Any] = {}
    for item in timeline:
        if waiting and not (isinstance(item, Event) and item.data.get(form.part_of) == waiting.id):
            yield envelope
            waiting = None
        if isinstance(item, Event):
            yield _patch(item, context) if item.name == PATCH else event_entry(item, context)
            if waiting:
                envelope[OWN_FIELDS]["beside"][1] += 1
        elif item.role in ("user", "assistant"):
            parts, indexes = _parts(item, form)
            yield from parts
            waiting, envelope = item, _envelope(item, len(parts), indexes, context)
        else:
            yield timeline_entry(item, context)
    if waiting:
        yield envelope


def _parts(message: Message, form: RecordForm) -> tuple[list[dict[str, Any]], list[int | Part]]:
    """The entries of parts, and all parts in order: an index into the entries, or the part itself."""
    entries: list[dict[str, Any]] = []
    indexes: list[int | Part] = []
    call: ToolCall | None = None
    for part in message.parts:
        if isinstance(part, ToolCall):
            _add_missing_result(entries, call, form)
            call = part
        if isinstance(part, ACTIONS):
            indexes.append(len(entries))
            entries.append(action_entry(part, None, call, message, form))
        elif isinstance(part, Text) and not _TEXT_OF_ENTRY.exist_in(part):
            indexes.append(len(entries))
            entries.append(_text(part, message))
        else:
            indexes.append(part)
        if isinstance(part, ToolResult):
            call = None
    _add_missing_result(entries, call, form)
    return entries, indexes


def _add_missing_result(entries: list[dict[str, Any]], call: ToolCall | None, form: RecordForm) -> None:
    """Add an entry for a call without a result, if the source records its status; it is no part."""
    if result := missing_result(call, form):
        repeat_call_field(result, call, {}, form)
        entries.append(result)


def _text(text: Text, message: Message) -> dict[str, Any]:
    own_fields: dict[str, Any] = {}
    entry = {"type": message.role, "content": text.text}
    add_source_fields(entry, text.extra, own_fields, TEXT)
    return with_own_fields(entry, own_fields)


def _envelope(
    message: Message, count: int, indexes: list[int | Part], context: RecordContext
) -> dict[str, Any]:
    """The entry of the message; `beside` counts its part entries and the event entries before it."""
    own_fields: dict[str, Any] = {"beside": [count, 0]}
    if indexes != [*range(count)]:
        own_fields["parts"] = indexes
    entry: dict[str, Any] = {"type": message.role}
    if message.native is not None:
        entry["content"] = message.native
    add_message_fields(entry, message, own_fields, context)
    form, extra = context.form, message.extra
    stated = extra.get(form.parent)
    if isinstance(stated, str) and "parent-id" not in entry:
        entry["parent-id"] = stated
        own_fields["parent"] = form.parent
        extra = {name: value for name, value in extra.items() if name != form.parent}
    add_all_source_fields(entry, extra, own_fields, form.body, MESSAGE)
    return with_own_fields(entry, own_fields)


def _patch(event: Event, context: RecordContext) -> dict[str, Any]:
    """A patch event as the result of an edit."""
    own_fields = {"event": event.name, **event_leftovers(event)}
    entry = {"type": "tool-result", "output": "", "status": "success"}
    add_position(entry, event, own_fields, context)
    data = event.data
    if data.get("diff") is not None:
        own_fields["output"] = "diff"
        entry["output"] = data["diff"]
        data = {name: value for name, value in data.items() if name != "diff"}
    add_source_fields(entry, data, own_fields, PATCHED)
    return with_own_fields(entry, own_fields)
