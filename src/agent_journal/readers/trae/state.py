"""The chats in the state of the editor: one JSON document with all sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Message, Part, Text, ids, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import each_row
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.trae import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_TEXTS = ("content", "text", "proposal")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every chat of a state."""
    workspace = load_companion(source.companion("workspace.json"), note, "workspace.json")
    folder = _path(nonempty_str(workspace.view("folder")))
    with sqlite_copy.opened(source) as database:
        rows = [*each_row(database, "ItemTable", note, where=("key", KEY), json_columns=("value",))]
    for row in rows:
        value = row.get("value")
        sessions = value.get("list") if value.__class__ is dict else None
        if sessions.__class__ is not list:
            note(Kind.WRONG_TYPE, KEY, "it has no list of sessions")
            continue
        for index, raw in enumerate(sessions):
            where = f"list[{index}]"
            if raw.__class__ is dict and raw.get("messages") == []:
                continue  # a chat that was opened and not used
            if raw.__class__ is dict:
                yield _conversation(Fields(raw, note, where), folder, name)
            else:
                note(Kind.BAD_RECORD, where, f"a session is {type(raw).__name__}")


def _path(uri: str | None) -> str | None:
    """Return the path of a `file:` URI."""
    if uri is None or not uri.startswith("file:"):
        return uri
    path = unquote(urlsplit(uri).path)
    return path[1:] if path[2:3] == ":" else path  # a drive of Windows


def _conversation(facts: Fields, folder: str | None, name: str) -> Conversation:
    note = facts.note
    stated_id = facts.text("sessionId")
    messages = facts.items("messages") or []
    model = facts.text("model") or None
    log = SessionLog(stated_id or ids.made(name, folder, messages), note, lambda _: False)
    for index, raw in enumerate(messages):
        where = f"{facts.where}.messages[{index}]"
        if raw.__class__ is dict:
            _add(log, Fields(raw, note, where), f"{log.session}:{index}", model)
        else:
            log.add_value(raw, where)
    entries = log.entries
    first, last = tree.span(entries)
    return Conversation(
        id=log.session,
        made_id=stated_id is None,
        source=name,
        title=facts.text("title") or None,
        started_at=facts.timestamp("createdAt") or first,
        updated_at=facts.timestamp("updatedAt") or last,
        model=first_model(entries) or model,
        cwd=folder,
        shape="list",
        timeline=entries,
        extra=facts.rest(),
    )


def _add(log: SessionLog, message: Fields, own_id: str, model: str | None) -> None:
    label = message.view("role")
    role = roles.role(label)
    if role is None:
        message.note(Kind.UNKNOWN_ROLE, message.where, f"role {str(label)[:40]!r}")
    elif role == label:
        message.drop("role")
    own_model = message.text("model")
    at = message.timestamp("timestamp")
    text = message.text("content")
    parts: list[Part] = [Text(text=text)] if text else []
    task = message.nested("agentTaskContent")
    if task is not None and not parts:
        field = next((field for field in _TEXTS if nonempty_str(task.view(field))), None)
        parts = [Text(text=task.take(field))] if field is not None else []
        parts += _plan(task.view("guideline"))
        if parts and task.view("guideline").__class__ is dict:
            task.drop("guideline")
    log.add(
        Message(
            id=own_id,
            made_id=True,
            role=role or "user",
            at=at,
            model=(own_model or model) if role == "assistant" else None,
            parts=parts,
            extra=message.rest(),
        ),
        message.where,
    )


def _plan(guideline: Any) -> list[Part]:
    items = guideline.get("planItems") if guideline.__class__ is dict else None
    texts = [text for item in objects(items) if (text := nonempty_str(item.get("content")))]
    return [Text(text=text) for text in texts]
