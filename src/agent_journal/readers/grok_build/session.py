"""A session as a conversation, with what the summary next to it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Link, ids, tree
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of
from agent_journal.readers.grok_build import names
from agent_journal.readers.grok_build.detect import UPDATES
from agent_journal.readers.grok_build.history import History
from agent_journal.readers.grok_build.updates import Updates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversation(
    source: Input, version: str, lines: Iterable[tuple[int, Any]], note: Notes, name: str
) -> Conversation:
    """Make the conversation of a file."""
    facts = load_companion(source.companion("summary.json"), note, "summary.json")
    info = facts.nested("info") or Fields({}, note, "summary.json")
    session = info.text("id")
    is_made = False
    log = SessionLog(session or "", note, (names.EVENTS | names.CHUNKS).__contains__)
    reader = Updates(log, note) if version == UPDATES else History(log, note)
    for number, line in lines:
        if not log.session:
            stated = _stated_session(line) or _folder_name(source)
            log.session, is_made = stated or ids.made(name, line), stated is None
        if line.__class__ is dict:
            reader.add(Fields(line, note, number))
        else:
            log.add_value(line, number)
    reader.close()
    entries = log.entries
    first, last = tree.span(entries)
    title = facts.text("generated_title") or nonempty_str(facts.view("session_summary"))
    if title == facts.view("session_summary"):
        facts.drop("session_summary")
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("updated_at")
    model = facts.text("current_model_id")
    parent = facts.text("parent_session_id")
    relation = "subagent" if facts.view("session_kind") == "subagent" else "fork"
    branch, commit = facts.text("head_branch"), facts.text("head_commit")
    folder = info.text("cwd")
    rest = facts.rest()
    return Conversation(
        id=log.session,
        made_id=is_made,
        source=name,
        title=title or nonempty_str(rest.get("firstPrompt")),
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=first_model(entries) or model,
        cwd=folder or None,
        git_branch=branch or None,
        git_commit=commit or None,
        shape="list",
        link=Link(conversation_id=parent, relation=relation) if parent else None,  # type: ignore[arg-type] # one of two
        timeline=entries,
        extra={"summary": rest} if rest else {},
    )


def _stated_session(line: Any) -> str | None:
    params = line.get("params") if line.__class__ is dict else None
    return nonempty_str(params.get("sessionId")) if params.__class__ is dict else None


def _folder_name(source: Input) -> str | None:
    """Return the name of the folder if it is one of a session: an id."""
    steps = steps_of(source.label)
    return steps[-2] if len(steps) > 1 and ids.is_uuid(steps[-2]) else None
