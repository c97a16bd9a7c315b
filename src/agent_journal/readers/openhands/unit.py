"""The folder or file of a conversation: its events in their order, and what other files state about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.openhands import names
from agent_journal.readers.openhands.detect import V1
from agent_journal.readers.openhands.events import Events
from agent_journal.readers.openhands.events_v0 import OldEvents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_NUMBER = re.compile(r"\d+")


def conversation(source: Input, version: str, note: Notes, name: str) -> Conversation:
    """Make the conversation of a folder or file."""
    facts = _facts(source, version, note)
    stated_id = nonempty_str(facts.take("id")) or nonempty_str(facts.take("conversation_id"))
    session = stated_id or (source.name if source.is_folder else None)
    log = SessionLog(session or "", note, (names.KINDS | names.OLD_EVENTS).__contains__)
    reader = Events(log, note) if version == V1 else OldEvents(log, note)
    is_made = session is None
    for where, value in _events(source, note):
        if is_made:
            log.session, is_made = ids.made(name, value), False
        if value.__class__ is dict:
            reader.add(Fields(value, note, where))
        else:
            log.add_value(value, where)
    model, llm = None, facts.view("agent")
    llm = llm.get("llm") if llm.__class__ is dict else None
    if llm.__class__ is dict:
        model = nonempty_str(llm.get("model"))
    entries = reader.finish(facts.take("stats"), model)
    workspace = facts.nested("workspace")
    folder = workspace.text("working_dir") if workspace is not None else None
    title = facts.text("title")
    branch = facts.text("selected_branch")
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("last_updated_at")
    first, last = tree.span(entries)
    rest = facts.rest()
    return Conversation(
        id=log.session,
        made_id=session is None,
        source=name,
        title=title or None,
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=first_model(entries) or model,
        cwd=folder or None,
        git_branch=branch or None,
        shape="list",
        timeline=entries,
        summaries=reader.summaries,
        tools=reader.tools,
        extra={"state": rest} if rest else {},
    )


def _facts(source: Input, version: str, note: Notes) -> Fields:
    """Return what the file next to the events states."""
    name = names.STATE if version == V1 else names.METADATA
    return load_companion(source.companion(name) if source.is_folder else None, note, "state")


def _events(source: Input, note: Notes) -> Iterator[tuple[int | str, Any]]:
    """Yield each event of a folder, in the order of the files' numbers, or of a file."""
    if not source.is_folder:
        yield from json_stream.values(source, note)
        return
    files = [file for file in source.companions(names.EVENTS) if file.name.endswith(".json")]
    for file in sorted(files, key=_number):
        about = note.about(file.label)
        try:
            value = json_stream.load(file, about)
        except UnreadableSource as error:
            about(Kind.UNREADABLE_FILE, "", error.reason)
            continue
        if value is not json_stream.BAD:
            yield file.name.removesuffix(".json"), value


def _number(file: Input) -> tuple[int, str]:
    digits = _NUMBER.search(file.name)
    return int(digits[0]) if digits else -1, file.name
