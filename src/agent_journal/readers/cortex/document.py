"""A document as a conversation. A block has its content under the name of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Message, Part, Text, ToolResult, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.cortex import TOOL_KINDS
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, mark_injected_parts
from agent_journal.readers.dialects.session_log import SessionLog

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_TAGS = Tags(HARNESS_TAGS)
_INTERNAL = "internalOnly"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a document."""
    own_name = source.name.removesuffix(".json")
    document = load_document(source, note)
    log = SessionLog(document.text("session_id") or own_name, note, lambda _: False)
    history: list[tuple[int | str, Any]]
    history = [(f"history[{index}]", raw) for index, raw in enumerate(document.items("history") or ())]
    lines = source.companion(f"{own_name}.history.jsonl")
    if not history and lines is not None:
        history = [*json_stream.lines(lines, note.about(lines.label))]
    for where, raw in history:
        if raw.__class__ is dict:
            _add(log, Fields(raw, note, where))
        else:
            log.add_value(raw, where)
    entries = log.entries
    first, last = tree.span(entries)
    created_at, updated_at = document.timestamp("created_at"), document.timestamp("last_updated")
    document.drop("history_length", "permission_cache")
    return Conversation(
        id=log.session,
        source=name,
        title=document.text("title") or None,
        started_at=created_at or first,
        updated_at=updated_at or last,
        cwd=document.text("working_directory") or None,
        git_branch=document.text("git_branch") or None,
        shape="list",
        timeline=entries,
        extra=document.rest(),
    )


def _add(log: SessionLog, message: Fields) -> None:
    label = message.view("role")
    role = roles.role(label)
    if role is None:
        message.note(Kind.UNKNOWN_ROLE, message.where, f"role {str(label)[:40]!r}")
    elif role == label:
        message.drop("role")
    raw = message.take("content")
    content = [_flat(block) for block in raw] if raw.__class__ is list else raw
    parts = [_marked(part) for part in parse_blocks(content, message.note, message.where, TOOL_KINDS)]
    hidden = False
    if role == "user":
        parts, hidden = mark_injected_parts(parts, _TAGS.is_all)
    hidden = hidden or (bool(parts) and all(isinstance(part, Text) and part.injected for part in parts))
    is_result = bool(parts) and all(isinstance(part, ToolResult) for part in parts)
    log.add(
        Message(
            id=message.text("id") or "",
            role="tool" if is_result else role or "user",
            at=message.timestamp("user_sent_time"),
            hidden=hidden,
            parts=parts,
            extra=message.rest(),
        ),
        message.where,
    )


def _flat(block: Any) -> Any:
    """Return a block in Anthropic's form."""
    kind = block.get("type") if block.__class__ is dict else None
    inner = block.get(kind) if kind.__class__ is str else None
    if inner.__class__ is not dict:
        return block
    rest = {name: value for name, value in block.items() if name not in ("type", kind)}
    inner = dict(inner)
    if kind == "tool_use" and "tool_use_id" in inner:
        inner["id"] = inner.pop("tool_use_id")
    if kind == "tool_result" and inner.get("status") in ("success", "error"):
        inner["is_error"] = inner.pop("status") == "error"
    return {"type": kind, **inner, **rest}


def _marked(part: Part) -> Part:
    """Mark a text that the user did not write or see."""
    if not isinstance(part, Text):
        return part
    extra = dict(part.extra)
    is_internal = extra.pop(_INTERNAL, None) is True
    extra.pop("is_user_prompt", None)
    return replace(part, injected=part.injected or is_internal, extra=extra)
