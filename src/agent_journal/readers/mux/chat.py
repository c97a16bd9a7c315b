"""A file of messages as a conversation, with the title and folder of its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Message, ids, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.ai_sdk_parts import parse_parts, parse_usage
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of
from agent_journal.readers.mux import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_SUBAGENTS = "subagent-transcripts"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    steps = steps_of(source.label)
    is_subagent = len(steps) > 3 and steps[-3] == _SUBAGENTS  # noqa: PLR2004 (workspace, folder, id, file)
    is_main = not is_subagent and len(steps) > 2 and steps[-3] == "sessions"  # noqa: PLR2004
    session = steps[-2] if is_subagent or is_main else ""
    log = SessionLog(session, note, lambda _: False)
    for number, line in json_stream.lines(source, note):
        if not log.session:
            log.session = ids.made(name, line)
        if line.__class__ is dict:
            _add(log, Fields(line, note, number))
        else:
            log.add_value(line, number)
    entries = log.entries
    first, last = tree.span(entries)
    title, folder = _workspace(source, session, note) if is_main else (None, None)
    return Conversation(
        id=log.session,
        made_id=not session,
        source=name,
        title=title,
        started_at=first,
        updated_at=last,
        model=first_model(entries),
        cwd=folder,
        shape="list",
        link=Link(conversation_id=steps[-4], relation="subagent") if is_subagent else None,
        timeline=entries,
    )


def _add(log: SessionLog, line: Fields) -> None:
    own_id = line.text("id") or ""
    label = line.view("role")
    role = roles.role(label)
    if role is None:
        line.note(Kind.UNKNOWN_ROLE, line.where, f"role {str(label)[:40]!r}")
    elif role == label:
        line.drop("role")
    metadata = line.nested("metadata") or Fields({}, line.note, line.where)
    at = metadata.timestamp("timestamp")
    model = metadata.text("model")
    usage = parse_usage(metadata.view("usage"), own_id or None)
    if usage is not None:
        metadata.drop("usage")
    metadata.drop("historySequence")
    hidden = metadata.view("synthetic") is True
    parts = parse_parts(line.take("parts"), line.note, line.where, TOOL_KINDS)
    message = Message(
        id=own_id,
        role=role or "user",
        at=at,
        # The service before the colon; a model may have one in its name.
        model=model.partition(":")[2] or model if model else None,
        hidden=hidden,
        parts=parts,
        usage=usage,
        extra=line.rest() | ({"model": model} if model and ":" in model else {}),
    )
    log.add(message, line.where)


def _workspace(source: Input, session: str, note: Notes) -> tuple[str | None, str | None]:
    """Return the name and folder that the app's settings state for a workspace."""
    file = source.companion("..", "..", "config.json")
    if file is None:
        return None, None
    about = note.about(file.label)
    value: Any = None
    try:
        value = json_stream.load(file, about)
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
    projects = value.get("projects") if value.__class__ is dict else None
    for project in projects if projects.__class__ is list else []:
        settings = project[1] if project.__class__ is list and len(project) > 1 else {}
        for workspace in objects(settings.get("workspaces") if settings.__class__ is dict else None):
            if workspace.get("id") == session:
                return nonempty_str(workspace.get("title") or workspace.get("name")), nonempty_str(
                    workspace.get("path")
                )
    return None, None
