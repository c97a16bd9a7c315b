"""Sessions of 2023, stored by a Python server: steps with a description, most of them the model's.

`{"session_state": {"history": [step…], "context_items": […]}, "title": …, "workspace_directory": …}` since
November of that year; before, `{"history": {"timeline": [{"step": {…}}…]}, "session_info": {…}, "active": …}`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Event, Message, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.names import SOURCE
from agent_journal.readers.continue_dev.values import path_of, title_of

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.companions import Companions

_PROMPT_STEP = "UserInputStep"


def make_conversation(document: Bag, source: Input, companions: Companions, note: Notes) -> Conversation:
    """Make the conversation of a session."""
    fields = Fields(document, note, "")
    info = fields.nested("session_info") or fields
    state = fields.nested("session_state") or fields
    stem = source.name.removesuffix(".json")
    stated = info.text("session_id") or nonempty_str(fields.view("session_id"))
    stated = stated or (stem if ids.is_uuid(stem) else None)
    if stated is None:
        note(Kind.MISSING_ID, "", "no session_id")
    entry = companions.entry(stated)
    session_id = stated or ids.made(SOURCE, document)
    timeline = [
        _entry(raw, f"history[{index}]", session_id, note) for index, raw in enumerate(_history(state))
    ]
    folder = info.text("workspace_directory") or nonempty_str(entry.get("workspace_directory"))
    return Conversation(
        id=session_id,
        made_id=stated is None,
        source=SOURCE,
        title=title_of(info, entry),
        started_at=info.timestamp("date_created") or Fields(entry, note, "").timestamp("date_created"),
        cwd=None if folder is None else path_of(folder),
        shape="list",
        timeline=timeline,
        extra=fields.rest(),
    )


def _history(state: Fields) -> list[Any]:
    if state.view("history").__class__ is dict:
        nodes = state.nested("history")
        return (nodes.items("timeline") if nodes is not None else None) or []
    return state.items("history") or []


def _entry(raw: Any, where: str, session_id: str, note: Notes) -> Message | Event:
    entry_id = ids.made(SOURCE, session_id, where, raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a step is {type(raw).__name__}")
        return Event(id=entry_id, made_id=True, name="step", data={"value": raw})
    node = Fields(raw, note, where)
    step = node.nested("step") or node
    kind = nonempty_str(step.view("step_type")) or nonempty_str(step.view("class_name"))
    params = step.nested("params")
    prompt = nonempty_str(step.view("user_input")) or (
        nonempty_str(params.view("user_input")) if params is not None else None
    )
    text = step.text("description")
    if kind == _PROMPT_STEP and prompt is not None and text in (prompt, "", None, f"`{prompt}`"):
        text = prompt
        for holder in (step, params):
            if holder is not None and holder.view("user_input") == prompt:
                holder.drop("user_input")
    parts: list[Part] = [Text(text=text)] if text else []
    return Message(
        id=entry_id,
        made_id=True,
        role="user" if kind == _PROMPT_STEP else "assistant",
        hidden=step.view("hide") is True,
        parts=parts,
        extra=node.rest(),
    )
