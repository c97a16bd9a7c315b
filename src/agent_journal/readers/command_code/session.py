"""A file of lines as a conversation, with what the file next to it states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Message, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.command_code import TOOL_KINDS
from agent_journal.readers.dialects.ai_sdk_parts import parse_parts
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.session_log import SessionLog

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_FOLDERS = ("cwd", "projectPath")


class _Facts:
    """What the lines state about the session."""

    session: str | None = None
    folder: str | None = None
    branch: str | None = None


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    own_name = source.name.removesuffix(".jsonl")
    log = SessionLog(own_name, note, lambda _: False)
    facts = _Facts()
    for number, line in json_stream.lines(source, note):
        if line.__class__ is dict:
            _add(log, Fields(line, note, number), facts)
        else:
            log.add_value(line, number)
    entries = log.entries
    first, last = tree.span(entries)
    stated = load_companion(source.companion(f"{own_name}.meta.json"), note, "meta")
    title = stated.text("title")
    folder = stated.text("cwd") or stated.text("projectPath") or facts.folder
    stated.drop("projectPath")
    rest = stated.rest()
    return Conversation(
        id=log.session,
        source=name,
        title=title or None,
        started_at=first,
        updated_at=last,
        cwd=folder or None,
        git_branch=facts.branch,
        shape="list",
        timeline=entries,
        extra={"meta": rest} if rest else {},
    )


def _add(log: SessionLog, line: Fields, facts: _Facts) -> None:
    session = nonempty_str(line.take("sessionId"))
    if facts.session is None and session is not None:
        facts.session = log.session = session
    elif session != facts.session:
        line.keep("sessionId", session)
    branch = nonempty_str(line.view("gitBranch"))
    facts.branch = facts.branch or branch
    if branch == facts.branch:
        line.drop("gitBranch")
    metadata = line.nested("metadata") or Fields({}, line.note, line.where)
    context = metadata.nested("context")
    for place in (metadata, *(() if context is None else (context,))):
        for field in _FOLDERS:
            folder = nonempty_str(place.view(field))
            facts.folder = facts.folder or folder
            if folder is not None and folder == facts.folder:
                place.drop(field)
    label = line.view("role")
    role = roles.role(label)
    if role is None:
        line.note(Kind.UNKNOWN_ROLE, line.where, f"role {str(label)[:40]!r}")
    elif role == label:
        line.drop("role")
    at = line.timestamp("timestamp")
    own_id = line.text("id") or ""
    parts = parse_parts(line.take("content"), line.note, line.where, TOOL_KINDS)
    log.add(Message(id=own_id, role=role or "user", at=at, parts=parts, extra=line.rest()), line.where)
