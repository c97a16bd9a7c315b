"""A file of lines as a conversation: a header, messages, and ends of answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Link, Message, Part, Text, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.ai_sdk_parts import parse_parts
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.zencoder import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_FOLDER = re.compile(r"^\s*Working directory:\s*(\S[^\n]*)", re.MULTILINE)
_TYPED = ("", "user-input", None)
_EVENTS = frozenset({"finish", "permission"})


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    log = SessionLog(source.name.removesuffix(".jsonl"), note, _EVENTS.__contains__)
    header = Fields({}, note, "")
    is_begun = False
    for number, line in json_stream.lines(source, note):
        if line.__class__ is not dict:
            log.add_value(line, number)
            continue
        if not is_begun and "creationReason" in line:
            header = Fields(line, note, number)
            log.session = header.text("id") or log.session
        else:
            _add(log, Fields(line, note, number))
        is_begun = True
    if not header.has("creationReason"):
        note(Kind.MISSING_FIELD, "", "the first line, which has the id, is missing")
    entries = log.entries
    first, last = tree.span(entries)
    parent, reason = nonempty_str(header.take("parentId")), header.view("creationReason")
    created_at, updated_at = header.timestamp("createdAt"), header.timestamp("updatedAt")
    relation = "fork" if reason == "newChat" else "continues"
    return Conversation(
        id=log.session,
        source=name,
        started_at=created_at or first,
        updated_at=last or updated_at,
        cwd=_folder(entries),
        shape="list",
        link=Link(conversation_id=parent, relation=relation) if parent else None,  # type: ignore[arg-type] # one of two
        timeline=entries,
        extra=header.rest(),
    )


def _add(log: SessionLog, line: Fields) -> None:
    at = line.timestamp("createdAt")
    label = line.view("role")
    if label in _EVENTS:
        line.drop("role")
        log.add_event(label, line.rest(), line.where, at=at)
        return
    role = roles.role(label)
    if role is None:
        line.note(Kind.UNKNOWN_ROLE, line.where, f"role {str(label)[:40]!r}")
    elif role == label:
        line.drop("role")
    content = line.take("content")
    parts = parse_parts(_with_skills(content), line.note, line.where, TOOL_KINDS)
    hidden = False
    if role == "user":
        parts = [_marked(part) for part in parts]
        hidden = bool(parts) and all(isinstance(part, Text) and part.injected for part in parts)
    message = Message(
        id=line.text("id") or "", role=role or "user", at=at, hidden=hidden, parts=parts, extra=line.rest()
    )
    log.add(message, line.where)


def _with_skills(content: Any) -> Any:
    """Return content with the text of a skill, which the tool adds, as a text with a tag."""
    if content.__class__ is not list:
        return content
    return [
        {"type": "text", "text": part["content"], "tag": "skill", "name": part.get("name")}
        if part.__class__ is dict and part.get("type") == "skill" and part.get("content").__class__ is str
        else part
        for part in content
    ]


def _marked(part: Part) -> Part:
    """Mark a text that the tool added."""
    if not isinstance(part, Text):
        return part
    if part.extra.get("tag") in _TYPED:
        return replace(part, extra={name: value for name, value in part.extra.items() if name != "tag"})
    return replace(part, injected=True)


def _folder(entries: list[Any]) -> str | None:
    """Return the folder that the instructions state."""
    for entry in entries:
        if isinstance(entry, Message) and entry.role == "system":
            for part in entry.parts:
                if isinstance(part, Text) and (stated := _FOLDER.search(part.text)):
                    return stated[1].strip()
    return None
