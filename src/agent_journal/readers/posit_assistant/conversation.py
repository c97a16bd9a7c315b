"""A tree as a conversation. Its nodes have one or more messages of the model, which are in another file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.model import Conversation, Event, Link, Message, Summary, Text, Usage, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.ai_sdk_parts import parse_parts
from agent_journal.readers.dialects.documents import load_companion, load_document
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.posit_assistant import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_LINES = "lm-messages.jsonl"
# Notes of the model about the conversation, which the app does not show.
_NOTES = re.compile(r"\s*<(MESSAGESUMMARY|CONVERSATIONSUMMARY)>.*?</\1>", re.DOTALL)


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a tree."""
    document = load_document(source, note)
    root = document.nested("root") or Fields({}, note, "root")
    session = root.text("id") or source.name
    facts = root.nested("metadata") or Fields({}, note, "root.metadata")
    lines = _lines(source, note)
    log = SessionLog(session, note, lambda _: False)
    active: str | None = None
    ends: dict[str, str | None] = {session: None}
    for index, raw in enumerate(document.items("messages") or ()):
        where = f"messages[{index}]"
        if raw.__class__ is not dict:
            log.add_value(raw, where)
            continue
        node = Fields(raw, note, where)
        is_active = node.take("isActive")
        end = _add_node(log, node, lines, ends)
        if is_active and end is not None:
            active = end
    for own_id, line in lines.items():
        note(Kind.DANGLING_PARENT, f"line {own_id}", "no message of the tree has this one")
        log.add(Event(id="", name="unknown", data={"value": line}), f"line {own_id}")
    entries = log.link({})
    first, last = tree.span(entries)
    title, summary = root.text("title") or facts.text("title"), root.text("summary")
    started_at = root.timestamp("timestamp")
    parent, kind = facts.text("parentTreeId"), facts.take("kind")
    branch = facts.text("gitBranch")
    model = facts.view("model")
    model_id = nonempty_str(model.get("id")) if model.__class__ is dict else None
    workspace = load_companion(source.companion("..", "workspace.json"), note, "workspace.json")
    if kind not in ("main", "subagent", None):
        facts.keep("kind", kind)
    head = active if active is not None and any(entry.id == active for entry in entries) else None
    return Conversation(
        id=session,
        source=name,
        title=title or summary or None,
        started_at=started_at or first,
        updated_at=last,
        model=first_model(entries) or model_id,
        cwd=nonempty_str(workspace.view("path")),
        git_branch=branch or None,
        head_id=head or tree.newest_leaf(entries),
        link=Link(conversation_id=parent, relation="subagent") if parent else None,
        timeline=entries,
        summaries=[Summary(text=summary)] if summary and title else [],
        extra=document.rest(),
    )


def _lines(source: Input, note: Notes) -> dict[Any, dict[str, Any]]:
    """Return the messages of the model by their number."""
    file = source.companion(_LINES)
    if file is None:
        note(Kind.MISSING_FILE, "", f"{_LINES}, which has the messages")
        return {}
    about = note.about(file.label)
    lines: dict[Any, dict[str, Any]] = {}
    for number, line in json_stream.lines(file, about):
        if line.__class__ is dict and line.get("message").__class__ is dict:
            lines[line.get("id")] = line["message"]
        else:
            about(Kind.WRONG_TYPE, number, "a line is no message")
    return lines


def _add_node(
    log: SessionLog, node: Fields, lines: dict[Any, dict[str, Any]], ends: dict[str, str | None]
) -> str | None:
    """Add the messages of a node, one below the other, and return the last one."""
    own_id, parent = node.text("id") or f"{log.session}:{node.where}", node.text("parentId")
    at = node.timestamp("timestamp")
    numbers = node.items("lmMessageIds") or []
    below = ends.get(parent, parent) if parent is not None else None
    for index, number in enumerate(numbers):
        raw = lines.pop(number, None) if number.__class__ in (int, str) else None
        if raw is None:
            node.note(Kind.MISSING_FIELD, node.where, f"message {str(number)[:20]} is not there")
            continue
        message = _message(Fields(raw, node.note, f"line {number}"))
        entry_id = own_id if index == 0 else f"{own_id}:{number}"
        log.add(
            replace(message, id=entry_id, made_id=index > 0, parent_id=below, at=message.at or at), node.where
        )
        below = entry_id
    rest = node.rest()
    if rest or not numbers:
        event_id = own_id if not numbers else f"{own_id}:node"
        log.add(
            Event(id=event_id, made_id=bool(numbers), name="node", parent_id=below, at=at, data=rest),
            node.where,
        )
        below = event_id
    ends[own_id] = below
    return below


def _message(fields: Fields) -> Message:
    label = fields.view("role")
    role = roles.role(label)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(label)[:40]!r}")
    elif role == label:
        fields.drop("role")
    options = fields.nested("providerOptions")
    metadata = options.nested("providerMetadata") if options is not None else None
    facts = metadata.nested("positai") if metadata is not None else None
    at = model = usage = None
    if facts is not None:
        at, model = facts.timestamp("timestamp"), facts.text("modelId")
        usage = _usage(facts.view("usage"))
        if usage is not None:
            facts.drop("usage")
    parts = parse_parts(fields.take("content"), fields.note, fields.where, TOOL_KINDS)
    parts = [_without_notes(part) if isinstance(part, Text) else part for part in parts]
    return Message(
        id="", role=role or "user", at=at, model=model, parts=parts, usage=usage, extra=fields.rest()
    )


def _without_notes(part: Text) -> Text:
    """Return a text without the model's notes, which stay in its data."""
    shown = _NOTES.sub("", part.text)
    return part if shown == part.text else replace(part, text=shown, extra={**part.extra, "text": part.text})


def _usage(raw: Any) -> Usage | None:
    """Return token counts, whose input does not include what a cache had."""
    if raw.__class__ is not dict:
        return None
    return Usage(
        input=counted(raw.get("inputTokens")),
        output=counted(raw.get("outputTokens")),
        cache_read=counted(raw.get("cacheReadTokens")),
        cache_write=counted(raw.get("cacheWriteTokens")),
        cache_write_5m=counted(raw.get("cacheWrite5mTokens")),
        cache_write_1h=counted(raw.get("cacheWrite1hTokens")),
        total=counted(raw.get("totalTokens")),
        extra=raw,
    )
