"""A document as a conversation: messages with Anthropic's blocks, without times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Link, Message, Part, Text, ToolResult, Usage, roles
from agent_journal.notes import Kind
from agent_journal.readers.deepseek_tui import TOOL_KINDS
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.dialects.session_log import SessionLog

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    document = load_document(source, note)
    facts = document.nested("metadata") or Fields({}, note, "metadata")
    log = SessionLog(facts.text("id") or source.name.removesuffix(".json"), note, lambda _: False)
    model = facts.text("model") or None
    prompt = document.text("system_prompt")
    if prompt:
        system = Message(id=f"{log.session}:system", made_id=True, role="system", parts=[Text(text=prompt)])
        log.add(system, "system_prompt")
    for index, raw in enumerate(document.items("messages") or ()):
        where = f"messages[{index}]"
        if raw.__class__ is dict:
            _add(log, Fields(dict(raw), note, where), f"{log.session}:{index}", model)
        else:
            log.add_value(raw, where)
    entries = log.entries
    updated_at = facts.timestamp("updated_at")
    cost = facts.view("cost")
    dollars = cost.get("session_cost_usd") if cost.__class__ is dict else None
    if dollars.__class__ in (int, float) and dollars > 0:
        usage = Usage(key=log.session, cost_usd=float(dollars), extra=dict(cost))
        entries = [
            *entries,
            Message(
                id=f"{log.session}:usage",
                made_id=True,
                role="assistant",
                at=updated_at,
                model=model,
                hidden=True,
                usage=usage,
            ),
        ]
    parent, count = facts.text("parent_session_id"), facts.view("forked_from_message_count")
    fork_point = f"{parent}:{count - 1}" if count.__class__ is int and count > 0 else None
    title, folder = facts.text("title"), facts.text("workspace")
    started_at = facts.timestamp("created_at")
    facts.drop("message_count")
    return Conversation(
        id=log.session,
        source=name,
        title=title or None,
        started_at=started_at,
        updated_at=updated_at or started_at,
        model=model,
        cwd=folder or None,
        shape="list",
        link=Link(conversation_id=parent, relation="fork", message_id=fork_point) if parent else None,
        timeline=entries,
        extra=document.rest(),
    )


def _add(log: SessionLog, fields: Fields, own_id: str, model: str | None) -> None:
    label = fields.view("role")
    role = roles.role(label)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(label)[:40]!r}")
    elif role == label:
        fields.drop("role")
    parts: list[Part] = parse_blocks(fields.take("content"), fields.note, fields.where, TOOL_KINDS)
    is_result = role == "user" and bool(parts) and all(isinstance(part, ToolResult) for part in parts)
    message = Message(
        id=own_id,
        made_id=True,
        role="tool" if is_result else role or "user",
        model=model if role == "assistant" else None,
        parts=parts,
        extra=fields.rest(),
    )
    log.add(message, fields.where)
