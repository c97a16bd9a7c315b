"""The tables of conversations and messages. Contents are Anthropic's blocks with Go's names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import (
    Conversation,
    Link,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_usage
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.shelley import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Usage
    from agent_journal.notes import Notes

_ROLES: dict[Any, Role] = {
    "user": "user",
    "agent": "assistant",
    "tool": "tool",
    "system": "system",
    "error": "system",
}
_JSON = ("llm_data", "user_data", "usage_data", "display_data", "other_usage")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every conversation of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        order = ("created_at", ROWID)
        for row in [
            *each_row(database, "conversations", note, order=order, json_columns=("options", "tags"))
        ]:
            where = f"conversation {row.get('conversation_id')}"
            try:
                yield _conversation(database, Fields(row, note, where), name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def _conversation(database: Database, facts: Fields, name: str) -> Conversation:
    note = facts.note
    session = facts.text("conversation_id") or ""
    log = SessionLog(session, note, lambda _: True)
    key = ("conversation_id", session)
    order = ("sequence_id", ROWID)
    for row in each_row(database, "messages", note, where=key, order=order, json_columns=_JSON):
        _add(log, Fields(row, note, f"message {row.get('message_id')}"))
    entries = log.entries
    first, last = tree.span(entries)
    parent = facts.text("parent_conversation_id")
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("updated_at")
    archived = facts.take("archived")
    model = facts.text("model") or None
    return Conversation(
        id=session,
        source=name,
        title=facts.text("slug") or None,
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=first_model(entries) or model,
        cwd=facts.text("cwd") or None,
        archived=True if archived else None,
        shape="list",
        link=Link(conversation_id=parent, relation="subagent") if parent else None,
        timeline=entries,
        extra=facts.rest(),
    )


def _add(log: SessionLog, row: Fields) -> None:
    row.drop("conversation_id", "sequence_id")
    own_id, at, kind = row.text("message_id") or "", row.timestamp("created_at"), row.view("type")
    data = row.view("llm_data")
    role = _ROLES.get(kind) if kind.__class__ is str else None
    if data.__class__ is not dict:
        row.drop("type")
        log.add_event(kind, row.rest(), row.where, at=at, entry_id=own_id)
        return
    content = Fields(dict(row.take("llm_data")), row.note, row.where)
    if role is None:
        role = "assistant" if content.view("Role") == 1 else "user"
    else:
        row.drop("type")
    blocks = content.take("Content")
    blocks = blocks if blocks.__class__ is list else [blocks] if blocks is not None else []
    parts = [_part(raw, row.note, row.where) for raw in blocks]
    if role in ("user", "tool") and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    content.drop("Role", "EndOfTurn")
    usage, used_model = _usage(row, own_id)
    if rest := {name: value for name, value in content.rest().items() if value not in (None, "", 0, False)}:
        row.keep("llm_data", rest)
    model = row.text("model") or used_model
    message = Message(
        id=own_id,
        role=role,
        at=at,
        model=model if role == "assistant" else None,
        parts=parts,
        usage=usage,
        extra=row.rest(),
    )
    log.add(message, row.where)


def _usage(row: Fields, own_id: str) -> tuple[Usage | None, str | None]:
    """Return the tokens and model of an answer; prompts have empty counts."""
    raw = row.view("usage_data")
    usage = parse_usage(raw, own_id or None)
    if usage is None or not (usage.input or usage.output or usage.cache_read or usage.cache_write):
        if raw.__class__ is dict and not any(raw.values()):
            row.drop("usage_data")
        return None, None
    row.drop("usage_data")
    cost = raw.get("cost_usd")
    usage = replace(usage, cost_usd=float(cost) if cost.__class__ in (int, float) and cost > 0 else None)
    return usage, nonempty_str(raw.get("model"))


def _part(raw: Any, note: Notes, where: int | str) -> Part:
    """Return the part of one block, without the empty fields that Go writes."""
    if raw.__class__ is not dict:
        return Other(data=raw)
    filled = {name: value for name, value in raw.items() if value not in (None, "", 0, False)}
    block = Fields(filled, note, where)
    kind = block.take("Type")
    match kind:
        case 2 if block.view("MediaType"):
            return Media(
                kind="image", mime=block.text("MediaType"), data=block.text("Data"), extra=block.rest()
            )
        case 2:
            return Text(text=block.text("Text") or "", extra=block.rest())
        case 3:
            return Reasoning(
                text=block.text("Thinking"), signature=block.text("Signature"), extra=block.rest()
            )
        case 4:
            return Reasoning(
                encrypted=block.text("Data"), signature=block.text("Signature"), extra=block.rest()
            )
        case 5 | 7:
            name = block.text("ToolName") or ""
            call_input = block.take("ToolInput")
            call_id = block.text("ID")
            return ToolCall(
                call_id=call_id, name=name, input=call_input, kind=TOOL_KINDS.get(name), extra=block.rest()
            )
        case 6 | 8:
            return _result(block, note, where)
    note(Kind.UNKNOWN_TYPE, where, f"block {str(kind)[:40]!r}")
    return Other(data=raw)


def _result(block: Fields, note: Notes, where: int | str) -> Part:
    inner = block.take("ToolResult")
    parts: list[Any] = [_part(raw, note, where) for raw in (inner if inner.__class__ is list else [])]
    only = parts[0] if len(parts) == 1 else None
    output: Any = only.text if isinstance(only, Text) and not only.extra else parts or ""
    call_id, name = block.text("ToolUseID"), block.text("ToolName")
    is_error = block.take("ToolError") is True
    return ToolResult(call_id=call_id, name=name, output=output, is_error=is_error, extra=block.rest())
