"""Entries of sources that keep parts apart: the parts, what followed them, and then their message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Event, Message, Text, ToolCall, ToolResult
from agent_journal.model.content_blocks import DEEDS
from agent_journal.records.forms import OURS, PATCH
from agent_journal.writers.agent_record_v3.actions import tell_again, told
from agent_journal.writers.agent_record_v3.entries import (
    Whole,
    as_event,
    entry,
    tell_facts,
    tell_place,
    with_ours,
)
from agent_journal.writers.agent_record_v3.passthrough import MESSAGE, PATCHED, TEXT, pass_on, pass_on_all
from agent_journal.writers.dialects.agent_records import unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Part
    from agent_journal.records.forms import RecordForm


def told_apart(timeline: Sequence[Message | Event], form: RecordForm) -> Iterator[dict[str, Any]]:
    """Each message behind its parts and the events that name it."""
    whole = Whole(timeline, form)
    waiting: Message | None = None
    envelope: dict[str, Any] = {}
    for one in timeline:
        if waiting and not (isinstance(one, Event) and one.data.get(form.part_of) == waiting.id):
            yield envelope
            waiting = None
        if isinstance(one, Event):
            yield _patch(one, whole) if one.name == PATCH else as_event(one, whole)
            if waiting:
                envelope[OURS]["beside"][1] += 1
        elif one.role in ("user", "assistant"):
            parts, places = _parts(one, form)
            yield from parts
            waiting, envelope = one, _envelope(one, len(parts), places, whole)
        else:
            yield entry(one, whole)
    if waiting:
        yield envelope


def _parts(message: Message, form: RecordForm) -> tuple[list[dict[str, Any]], list[int | Part]]:
    """The parts that are entries; and all parts, those by their places among the entries."""
    found: list[dict[str, Any]] = []
    places: list[int | Part] = []
    call: ToolCall | None = None
    for part in message.parts:
        if isinstance(part, ToolCall):
            _tell_open(found, call, form)
            call = part
        if isinstance(part, DEEDS):
            places.append(len(found))
            found.append(told(part, None, call, message, form))
        elif isinstance(part, Text) and not part.citations and not part.injected:
            places.append(len(found))
            found.append(_text(part, message))
        else:
            places.append(part)
        if isinstance(part, ToolResult):
            call = None
    _tell_open(found, call, form)
    return found, places


def _tell_open(found: list[dict[str, Any]], call: ToolCall | None, form: RecordForm) -> None:
    """Say how a call goes that nothing came back of; that is no part."""
    if is_open := unanswered(call, form):
        tell_again(is_open, call, {}, form)
        found.append(is_open)


def _text(text: Text, message: Message) -> dict[str, Any]:
    ours: dict[str, Any] = {}
    found = {"type": message.role, "content": text.text}
    pass_on(found, text.extra, ours, TEXT)
    return with_ours(found, ours)


def _envelope(message: Message, count: int, places: list[int | Part], whole: Whole) -> dict[str, Any]:
    """The message itself; `beside` counts the entries before it that are its parts, and those between."""
    ours: dict[str, Any] = {"beside": [count, 0]}
    if places != [*range(count)]:
        ours["parts"] = places
    found: dict[str, Any] = {"type": message.role}
    if message.native is not None:
        found["content"] = message.native
    tell_facts(found, message, ours, whole)
    form, extra = whole.form, message.extra
    stated = extra.get(form.parent)
    if isinstance(stated, str) and "parent-id" not in found:
        found["parent-id"] = stated
        ours["parent"] = form.parent
        extra = {name: value for name, value in extra.items() if name != form.parent}
    pass_on_all(found, extra, ours, form.body, MESSAGE)
    return with_ours(found, ours)


def _patch(event: Event, whole: Whole) -> dict[str, Any]:
    """What was changed in files, which is the result of an edit."""
    ours: dict[str, Any] = {"event": event.name}
    found = {"type": "tool-result", "output": "", "status": "success"}
    tell_place(found, event, ours, whole)
    data = event.data
    if data.get("diff") is not None:
        ours["output"] = "diff"
        found["output"] = data["diff"]
        data = {name: value for name, value in data.items() if name != "diff"}
    pass_on(found, data, ours, PATCHED)
    return with_ours(found, ours)
