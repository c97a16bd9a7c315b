"""A session as a conversation: pairs of a message and its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Message, Part, ToolCall, ToolResult, ids, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.dialects.session_log import SessionLog, steps_of
from agent_journal.readers.qwenpaw import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_SESSIONS = "sessions"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    document = load_document(source, note)
    agent = document.nested("agent") or Fields({}, note, "agent")
    memory = agent.nested("memory") or Fields({}, note, "memory")
    contents = memory.items("content") or []
    own_id = _id_of(source)
    log = SessionLog(own_id or ids.made(name, contents), note, lambda _: False)
    for index, raw in enumerate(contents):
        where = f"content[{index}]"
        message, marks = raw, None
        if raw.__class__ is list and raw:
            message, marks = raw[0], raw[1] if len(raw) > 1 else None
        if message.__class__ is dict:
            _add(log, Fields(message, note, where), marks)
        else:
            log.add_value(raw, where)
    entries = log.entries
    first, last = tree.span(entries)
    return Conversation(
        id=log.session,
        made_id=own_id is None,
        source=name,
        started_at=first,
        updated_at=last,
        shape="list",
        timeline=entries,
        extra=document.rest(),
    )


def _id_of(source: Input) -> str | None:
    """Return the names of the workspace, channel and file, which together are unique."""
    steps = steps_of(source.label)
    if _SESSIONS not in steps[:-1]:
        return None
    at = len(steps) - 2 - steps[:-1][::-1].index(_SESSIONS)
    return ":".join([*steps[at - 1 : at], *steps[at + 1 : -1], source.name.removesuffix(".json")])


def _add(log: SessionLog, message: Fields, marks: Any) -> None:
    label = message.view("role")
    role = roles.role(label)
    if role is None:
        message.note(Kind.UNKNOWN_ROLE, message.where, f"role {str(label)[:40]!r}")
    at, own_id = message.timestamp("timestamp"), message.text("id") or ""
    raw = message.take("content")
    parts = [_converted(part) for part in parse_blocks(raw, message.note, message.where, TOOL_KINDS)]
    is_result = bool(parts) and all(isinstance(part, ToolResult) for part in parts)
    if role == label and not (is_result and role == "system"):
        message.drop("role")
    elif is_result:
        message.drop("role")  # results are in the name of the system
    if marks:
        message.keep("marks", marks)
    if not message.view("metadata"):
        message.drop("metadata")
    log.add(
        Message(
            id=own_id, role="tool" if is_result else role or "user", at=at, parts=parts, extra=message.rest()
        ),
        message.where,
    )


def _converted(part: Part) -> Part:
    """Return a call with its raw input, and a result with its call and output, which have their own names."""
    extra = dict(part.extra) if isinstance(part, ToolCall | ToolResult) else {}
    if isinstance(part, ToolCall) and nonempty_str(extra.get("raw_input")) and not part.input:
        return replace(part, input=extra.pop("raw_input"), extra=extra)
    if isinstance(part, ToolCall):
        extra.pop("raw_input", None)
        return replace(part, extra=extra)
    if isinstance(part, ToolResult) and part.call_id is None:
        output = extra.pop("output", None)
        blocks: Any = output
        if output.__class__ is list:
            texts = [
                block.get("text")
                for block in output
                if block.__class__ is dict and block.get("type") == "text"
            ]
            is_text = len(texts) == len(output) == 1 and texts[0].__class__ is str
            blocks = texts[0] if is_text else parse_blocks(output, _quiet(), "", {})
        call_id = nonempty_str(extra.pop("id", None))
        return replace(
            part, call_id=call_id, output=blocks if blocks is not None else part.output, extra=extra
        )
    return part


def _quiet() -> Notes:
    from agent_journal.notes import Notes  # noqa: PLC0415 (only for results with several blocks)

    return Notes(keep=0)
