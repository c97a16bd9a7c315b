"""Sessions of 2023, when a Python server kept them: steps of which most are the model's, with a description.

`{"session_state": {"history": [step…], "context_items": […]}, "title": …, "workspace_directory": …}` since
November of that year; before, `{"history": {"timeline": [{"step": {…}}…]}, "session_info": {…}, "active": …}`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Conversation, Event, Message, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.names import SOURCE
from agent_journal.readers.continue_dev.values import path_of, title_of

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.companions import Beside

_ASKED = "UserInputStep"


def conversation(document: Bag, source: Source, beside: Beside, note: Notes) -> Conversation:
    """The conversation that a session is."""
    fields = Fields(document, note, "")
    info = fields.nested("session_info") or fields
    state = fields.nested("session_state") or fields
    called = source.name.removesuffix(".json")
    stated = info.text("session_id") or words(fields.look("session_id"))
    session_id = stated or (called if ids.is_uuid(called) else None)
    if session_id is None:
        note(Kind.MISSING_ID, "", "no session_id")
    entry = beside.entry(session_id)
    known_as = session_id or ids.made(SOURCE, document)
    timeline = [_entry(raw, f"history[{place}]", known_as, note) for place, raw in enumerate(_history(state))]
    place = info.text("workspace_directory") or words(entry.get("workspace_directory"))
    return Conversation(
        id=known_as,
        made_id=session_id is None,
        source=SOURCE,
        title=title_of(info, entry),
        started_at=info.moment("date_created") or Fields(entry, note, "").moment("date_created"),
        cwd=None if place is None else path_of(place),
        shape="list",
        timeline=timeline,
        extra=fields.rest(),
    )


def _history(state: Fields) -> list[Any]:
    if state.look("history").__class__ is dict:
        nodes = state.nested("history")
        return (nodes.items("timeline") if nodes is not None else None) or []
    return state.items("history") or []


def _entry(raw: Any, where: str, session_id: str, note: Notes) -> Message | Event:
    made = ids.made(SOURCE, session_id, where, raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a step is {type(raw).__name__}")
        return Event(id=made, made_id=True, name="step", data={"value": raw})
    node = Fields(raw, note, where)
    step = node.nested("step") or node
    kind = words(step.look("step_type")) or words(step.look("class_name"))
    params = step.nested("params")
    asked = words(step.look("user_input")) or (
        words(params.look("user_input")) if params is not None else None
    )
    text = step.text("description")
    if kind == _ASKED and asked is not None and text in (asked, "", None, f"`{asked}`"):
        text = asked
        for holder in (step, params):
            if holder is not None and holder.look("user_input") == asked:
                holder.drop("user_input")
    parts: list[Part] = [Text(text=text)] if text else []
    return Message(
        id=made,
        made_id=True,
        role="user" if kind == _ASKED else "assistant",
        hidden=step.look("hide") is True,
        parts=parts,
        extra=node.rest(),
    )
