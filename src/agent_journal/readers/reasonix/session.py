"""A file of chat messages as a conversation. Messages have neither times nor ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.model import Conversation, Message, Part, ToolCall
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.openai_messages import parse_message
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.reasonix import SUFFIX, TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    facts = load_companion(source.companion(f"{source.name}{SUFFIX}"), note, "meta")
    log = SessionLog(facts.text("id") or source.name.removesuffix(".jsonl"), note, lambda _: False)
    model = facts.text("model") or None
    for number, line in json_stream.lines(source, note):
        if line.__class__ is not dict:
            log.add_value(line, number)
            continue
        parsed = parse_message(line, note, number)
        parts: list[Part] = [
            replace(part, kind=TOOL_KINDS.get(part.name)) if isinstance(part, ToolCall) else part
            for part in parsed.parts
        ]
        own_model = model if parsed.role == "assistant" else None
        log.add(Message(id="", role=parsed.role, model=own_model, parts=parts, extra=parsed.extra), number)
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("updated_at")
    title, folder = facts.text("topic_title"), facts.text("workspace_root")
    rest = facts.rest()
    return Conversation(
        id=log.session,
        source=name,
        title=title or None,
        started_at=created_at,
        updated_at=updated_at or created_at,
        model=model,
        cwd=folder or None,
        shape="list",
        timeline=log.entries,
        extra={"meta": rest} if rest else {},
    )
