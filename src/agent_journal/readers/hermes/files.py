"""Sessions in files: lines of messages, or one document. The database has those of newer versions, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Message, Text, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.openai_messages import parse_tool
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.hermes import database
from agent_journal.readers.hermes.detect import LINES
from agent_journal.readers.hermes.messages import message_of
from agent_journal.readers.hermes.names import META

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversations(source: Input, version: str, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the session of a file, unless the database or a file with times has it."""
    stem = source.name.removesuffix(".jsonl").removesuffix(".json")
    facts = Fields({}, note, "")
    lines: Iterable[tuple[int | str, Any]] = ()
    if version == LINES:
        lines = json_stream.lines(source, note)
    else:
        value = json_stream.load(source, note)
        if value.__class__ is not dict:
            raise UnreadableSource(source.label, "it has no session")
        facts = Fields(value, note, "")
        lines = [(f"messages[{index}]", raw) for index, raw in enumerate(facts.items("messages") or ())]
    session = facts.text("session_id") or stem.removeprefix("session_")
    if version != LINES and source.companion(f"{session}.jsonl") is not None:
        note(Kind.IGNORED_FILE, "", "the file of lines next to it has this session")
        return
    store = source.companion("..", "state.db")
    if store is not None and session in database.session_ids(store):
        note(Kind.IGNORED_FILE, "", "the database has this session")
        return
    yield _conversation(session, facts, lines, name)


def _conversation(
    session: str, facts: Fields, lines: Iterable[tuple[int | str, Any]], name: str
) -> Conversation:
    note = facts.note
    log = SessionLog(session, note, {META}.__contains__)
    model = facts.text("model") or None
    prompt = facts.text("system_prompt")
    if prompt:
        log.add(Message(id="", role="system", parts=[Text(text=prompt)]), "system prompt")
    raw_tools: Any = facts.view("tools")
    for where, line in lines:
        if line.__class__ is not dict:
            log.add_value(line, where)
            continue
        fields = Fields(line, note, where)
        if line.get("role") == META:
            at = fields.timestamp("timestamp")
            model = model or fields.text("model")
            raw_tools = raw_tools or fields.take("tools")
            fields.drop("role")
            log.add_event(META, fields.rest(), where, at=at)
            continue
        message, _ = message_of(fields, note)
        log.add(message, where)
    entries = [
        replace(entry, model=model) if isinstance(entry, Message) and entry.role == "assistant" else entry
        for entry in log.entries
    ]
    first, last = tree.span(entries)
    tools = [parse_tool(tool, note, "tools") for tool in objects(raw_tools)]
    if tools:
        facts.drop("tools")
    settings = facts.view("model_config")
    folder = facts.text("cwd") or (settings.get("cwd") if settings.__class__ is dict else None)
    facts.drop("message_count")
    return Conversation(
        id=session,
        source=name,
        title=facts.text("title") or None,
        started_at=facts.timestamp("session_start") or first,
        updated_at=last or facts.timestamp("last_updated"),
        model=model,
        cwd=folder if folder.__class__ is str and folder else None,
        shape="list",
        timeline=entries,
        tools=tools,
        extra=facts.rest(),
    )
