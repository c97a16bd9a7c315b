"""Transcripts of agents: JSON Lines with roles and blocks, without ids; only prompts have a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Text, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.cursor import agent_messages
from agent_journal.readers.cursor.names import NAME, TOOL_KINDS
from agent_journal.readers.cursor.query import prompt_time, unwrap_prompt
from agent_journal.readers.dialects import anthropic_blocks as blocks

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Part
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_FOLDER, _SUBAGENTS_FOLDER = "agent-transcripts", "subagents"
_ABORT_MESSAGE = "User aborted"
_ROLES = ("user", "assistant", "system", "tool")


def chat_id_of(source: Input) -> str | None:
    """Return the chat's id, which is the name of its file; None if the file was renamed."""
    path = _path(source)
    stem = path[-1].rpartition(".")[0]
    return stem if ids.is_uuid(stem) or (_FOLDER in path and stem) else None


def make_conversation(source: Input, entries: list[Entry], chat_id: str | None) -> Conversation:
    """Make the conversation of a file's entries."""
    all_facts = (
        agent_messages.environment_facts(entry.parts) for entry in entries if isinstance(entry, Message)
    )
    facts = next(filter(None, all_facts), {})
    times = [entry.at for entry in entries if entry.at is not None]
    return Conversation(
        id=chat_id or ids.made(NAME, [entry.id for entry in entries[:1]]),
        made_id=chat_id is None,
        source=NAME,
        started_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        cwd=facts.get("cwd"),
        os=facts.get("os"),
        shell=facts.get("shell"),
        shape="list",
        link=_link(source),
        timeline=entries,
    )


def _link(source: Input) -> Link | None:
    """Return the link of a subagent, whose file is in a folder below that of its parent chat."""
    path = _path(source)
    if len(path) > 2 and path[-2] == _SUBAGENTS_FOLDER and path[-3]:  # noqa: PLR2004
        return Link(conversation_id=path[-3], relation="subagent")
    return None


def _path(source: Input) -> list[str]:
    return source.label.replace("\\", "/").split("/")


def read_entries(source: Input, chat_id: str | None, note: Notes) -> list[Entry]:
    """Return an entry for each line."""
    entries: list[Entry] = []
    calls: set[str | None] = {None}
    for number, record in json_stream.lines(source, note):
        if not isinstance(record, dict):
            note(Kind.WRONG_TYPE, number, f"the line is {type(record).__name__}, expected an object")
            continue
        entry_id = ids.made(NAME, chat_id or record, number)
        entry = _entry(Fields(record, note, number), entry_id)
        entries.append(entry)
        calls.update(call.call_id for call in tree.calls_in(entry))
        for result in tree.results_in(entry):
            if result.call_id not in calls:
                note(Kind.UNLINKED_RESULT, number, str(result.call_id)[:80])
    return entries


def _entry(fields: Fields, entry_id: str) -> Entry:
    role, message = fields.view("role"), fields.view("message")
    if role not in _ROLES or not isinstance(message, dict):
        return _event(fields, entry_id)
    fields.drop("role")
    inner = fields.nested("message")
    content = inner.take("content") if inner else None
    parts = blocks.parse_blocks(content, fields.note, fields.where, TOOL_KINDS)
    if role == "user":
        parts = [_unwrap_part(part) for part in parts]
    hidden = role == "user" and agent_messages.is_context(parts)
    if role == "user" and not hidden:
        parts = agent_messages.mark_context(parts)
    return Message(
        id=entry_id,
        made_id=True,
        role=role,
        at=prompt_time(parts) if role == "user" else None,
        model=fields.text("model"),
        hidden=hidden,
        parts=parts,
        native=content if isinstance(content, list) else None,
        extra=fields.rest(),
    )


def _unwrap_part(part: Part) -> Part:
    if not isinstance(part, Text):
        return part
    typed = unwrap_prompt(part.text, part.extra)
    return replace(part, text=typed.text, extra=typed.extra)


def _event(fields: Fields, entry_id: str) -> Entry:
    kind = fields.view("type")
    if isinstance(kind, str) and kind:
        fields.drop("type")
        if error := fields.view("error"):
            return _error_entry(fields, entry_id, kind, error)
        return Event(id=entry_id, made_id=True, name=kind, data=fields.rest())
    fields.note(Kind.UNKNOWN_TYPE, fields.where, "the line has no role")
    return Event(id=entry_id, made_id=True, name="line", data=fields.rest())


def _error_entry(fields: Fields, entry_id: str, kind: str, error: Any) -> Entry:
    """Convert the error that ended an answer, as the editor shows it; an event if the user aborted it."""
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str) or message.startswith(_ABORT_MESSAGE):
        return Event(id=entry_id, made_id=True, name=kind, data=fields.rest())
    if message is error:
        fields.drop("error")
    parts: list[Part] = [Text(text=message, extra={"type": kind})]
    return Message(id=entry_id, made_id=True, role="assistant", parts=parts, extra=fields.rest())
