"""Transcripts of agents: JSON Lines with speakers and blocks, without ids; only prompts have a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Text, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.cursor import agent_messages
from agent_journal.readers.cursor.names import NAME, TOOL_KINDS
from agent_journal.readers.cursor.query import asked, asked_at
from agent_journal.readers.dialects import anthropic_blocks as blocks

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Part
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_FOLDER, _BELOW = "agent-transcripts", "subagents"
_STOPPED = "User aborted"
_ROLES = ("user", "assistant", "system", "tool")


def chat_id_of(source: Source) -> str | None:
    """The chat's id, which is the name of its file; None if somebody gave it another name."""
    steps = _steps(source)
    stem = steps[-1].rpartition(".")[0]
    return stem if ids.is_uuid(stem) or (_FOLDER in steps and stem) else None


def conversation(source: Source, entries: list[Entry], chat_id: str | None) -> Conversation:
    """The chat that the entries of a file are."""
    found = (agent_messages.facts(entry.parts) for entry in entries if isinstance(entry, Message))
    facts = next(filter(None, found), {})
    moments = [entry.at for entry in entries if entry.at is not None]
    return Conversation(
        id=chat_id or ids.made(NAME, [entry.id for entry in entries[:1]]),
        made_id=chat_id is None,
        source=NAME,
        started_at=moments[0] if moments else None,
        updated_at=moments[-1] if moments else None,
        cwd=facts.get("cwd"),
        os=facts.get("os"),
        shell=facts.get("shell"),
        shape="list",
        link=_link(source),
        timeline=entries,
    )


def _link(source: Source) -> Link | None:
    """A sub-agent's file lies in a folder below that of the chat it was started in."""
    steps = _steps(source)
    if len(steps) > 2 and steps[-2] == _BELOW and steps[-3]:  # noqa: PLR2004
        return Link(conversation_id=steps[-3], relation="subagent")
    return None


def _steps(source: Source) -> list[str]:
    return source.label.replace("\\", "/").split("/")


def entries_in(source: Source, chat_id: str | None, note: Notes) -> list[Entry]:
    """What each line says."""
    found: list[Entry] = []
    calls: set[str | None] = {None}
    for number, record in json_stream.lines(source, note):
        if not isinstance(record, dict):
            note(Kind.WRONG_TYPE, number, f"the line is {type(record).__name__}, expected an object")
            continue
        entry_id = ids.made(NAME, chat_id or record, number)
        entry = _entry(Fields(record, note, number), entry_id)
        found.append(entry)
        calls.update(call.call_id for call in tree.calls_in(entry))
        for result in tree.results_in(entry):
            if result.call_id not in calls:
                note(Kind.UNLINKED_RESULT, number, str(result.call_id)[:80])
    return found


def _entry(fields: Fields, entry_id: str) -> Entry:
    role, message = fields.look("role"), fields.look("message")
    if role not in _ROLES or not isinstance(message, dict):
        return _event(fields, entry_id)
    fields.drop("role")
    inner = fields.nested("message")
    content = inner.take("content") if inner else None
    parts = blocks.parts(content, fields.note, fields.where, TOOL_KINDS)
    if role == "user":
        parts = [_typed(part) for part in parts]
    hidden = role == "user" and agent_messages.is_context(parts)
    if role == "user" and not hidden:
        parts = agent_messages.with_context_marked(parts)
    return Message(
        id=entry_id,
        made_id=True,
        role=role,
        at=asked_at(parts) if role == "user" else None,
        model=fields.text("model"),
        hidden=hidden,
        parts=parts,
        native=content if isinstance(content, list) else None,
        extra=fields.rest(),
    )


def _typed(part: Part) -> Part:
    if not isinstance(part, Text):
        return part
    typed = asked(part.text, part.extra)
    return replace(part, text=typed.text, extra=typed.extra)


def _event(fields: Fields, entry_id: str) -> Entry:
    kind = fields.look("type")
    if isinstance(kind, str) and kind:
        fields.drop("type")
        if error := fields.look("error"):
            return _failed(fields, entry_id, kind, error)
        return Event(id=entry_id, made_id=True, name=kind, data=fields.rest())
    fields.note(Kind.UNKNOWN_TYPE, fields.where, "the line has no speaker")
    return Event(id=entry_id, made_id=True, name="line", data=fields.rest())


def _failed(fields: Fields, entry_id: str, kind: str, error: Any) -> Entry:
    """Why an answer broke off, which the editor shows in its place; not if the person stopped it."""
    told = error.get("message") if isinstance(error, dict) else error
    if not isinstance(told, str) or told.startswith(_STOPPED):
        return Event(id=entry_id, made_id=True, name=kind, data=fields.rest())
    if told is error:
        fields.drop("error")
    parts: list[Part] = [Text(text=told, extra={"type": kind})]
    return Message(id=entry_id, made_id=True, role="assistant", parts=parts, extra=fields.rest())
