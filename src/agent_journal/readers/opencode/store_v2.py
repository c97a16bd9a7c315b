"""The records of the app's second store: each kind of message has its own form and contains its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.model import (
    Code,
    Event,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    ids,
)
from agent_journal.notes import Kind
from agent_journal.readers.opencode.message import stop_reason, take_error
from agent_journal.readers.opencode.names import tool_kind
from agent_journal.readers.opencode.parts import media, take_reasoning_state
from agent_journal.readers.opencode.usage import usage

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.message import Entry
    from agent_journal.readers.opencode.parts import SubagentCalls

# The parts that a result may contain.
Inner: TypeAlias = Text | Code | Reasoning | ToolCall | Media | Other

# The role of each kind of text message, and whether it is hidden.
_TEXT_KINDS: dict[str, tuple[Role, bool]] = {
    "user": ("user", False),
    "synthetic": ("user", True),
    "system": ("system", False),
    "skill": ("system", False),
}
_EVENTS = ("agent-switched", "model-switched", "location-switched", "idle", "compaction")
_DONE_STATUSES = ("completed", "error")


def convert_record(
    raw: dict[str, Any], session: str, subagent_calls: SubagentCalls, note: Notes, where: str
) -> Entry:
    """Convert a record to a message or event. The record is changed in place."""
    fields = Fields(raw, note, where)
    stated, kind = fields.text("id") or None, fields.take("type")
    entry_id = stated or ids.made(session, where)
    time = fields.nested("time") if fields.view("time").__class__ is dict else None
    at = None if time is None else time.timestamp("created")
    if kind.__class__ is str and kind in _TEXT_KINDS:
        role, hidden = _TEXT_KINDS[kind]
        parts = _text_parts(fields)
        if kind == "skill":
            fields.keep("type", kind)
        return Message(
            id=entry_id,
            made_id=not stated,
            role=role,
            at=at,
            hidden=hidden,
            parts=parts,
            extra=fields.rest(),
        )
    if kind == "shell":
        # The user ran it, not the model.
        parts = _shell(fields)
        return Message(id=entry_id, made_id=not stated, role="user", at=at, parts=parts, extra=fields.rest())
    if kind == "assistant":
        return _answer(fields, entry_id, at, subagent_calls, made_id=not stated)
    if kind not in _EVENTS:
        note(Kind.UNKNOWN_TYPE, where, f"message of type {str(kind)[:40]!r}")
    name = kind if kind.__class__ is str else "unknown"
    data = fields.rest() if kind.__class__ is str else {"type": kind, **fields.rest()}
    return Event(id=entry_id, made_id=not stated, at=at, name=name, data=data)


def _text_parts(fields: Fields) -> list[Part]:
    text = fields.text("text")
    parts: list[Part] = [Text(text=text)] if text else []
    for raw in fields.items("files") or ():
        is_file = raw.__class__ is dict
        parts.append(
            _file(Fields(raw, fields.note, fields.where)) if is_file else Other(data=raw, name="file")
        )
    parts.extend(Other(data=raw, name="agent") for raw in fields.items("agents") or ())
    return parts


def _file(file: Fields) -> Media:
    """Convert a file attached to a prompt or returned by a tool."""
    url_key = next((name for name in ("uri", "url", "data") if file.view(name).__class__ is str), "uri")
    return media(file, url_key, "name")


def _shell(fields: Fields) -> list[Part]:
    command, output = fields.text("command"), fields.take("output")
    call_id = fields.text("callID") or fields.text("shellID")
    code = fields.view("exit")
    parts: list[Part] = [ToolCall(name="shell", call_id=call_id, input={"command": command}, kind="shell")]
    if output is not None:
        parts.append(
            ToolResult(
                call_id=call_id,
                name="shell",
                output=output if output.__class__ is str else [Other(data=output, name="output")],
                is_error=bool(code) if code.__class__ is int else None,
                extra={"exit_code": code} if code.__class__ is int else {},
            )
        )
    return parts


def _answer(
    fields: Fields, message_id: str, at: str | None, subagent_calls: SubagentCalls, *, made_id: bool
) -> Message:
    model = fields.nested("model") if fields.view("model").__class__ is dict else None
    content = fields.items("content") or ()
    parts = [part for raw in content for part in _content(raw, fields, message_id, subagent_calls)]
    model_id = None if model is None else model.text("id")
    return Message(
        id=message_id,
        made_id=made_id,
        role="assistant",
        at=at,
        model=model_id,
        stop_reason=stop_reason(fields),
        parts=parts + take_error(fields),
        usage=usage(fields, at, model_id),
        extra=fields.rest(),
    )


def _content(raw: Any, fields: Fields, message: str, subagent_calls: SubagentCalls) -> list[Part]:
    kind = raw.get("type") if raw.__class__ is dict else None
    inner = Fields(raw, fields.note, fields.where) if raw.__class__ is dict else None
    if inner is not None and kind in ("text", "reasoning") and inner.view("text").__class__ is str:
        inner.drop("type")
        text = inner.take("text")
        if kind == "text":
            return [Text(text=text, extra=inner.rest())]
        encrypted, signature = take_reasoning_state(inner, "providerMetadata")
        return [Reasoning(text=text or None, encrypted=encrypted, signature=signature, extra=inner.rest())]
    if inner is not None and kind == "tool" and inner.view("state").__class__ is dict:
        inner.drop("type")
        return _tool(inner, message, subagent_calls)
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"content of type {str(kind)[:40]!r}")
    return [Other(data=raw, name=kind if kind.__class__ is str else None)]


def _tool(tool: Fields, message: str, subagent_calls: SubagentCalls) -> list[Part]:
    call_id, name = tool.text("id"), tool.text("name") or ""
    state = tool.nested("state")
    arguments = None if state is None else state.take("input")
    result = None if state is None else _result(state, call_id, name)
    for facts in () if state is None else (state.view("metadata"), state.view("structured")):
        child = facts.get("sessionID", facts.get("sessionId")) if facts.__class__ is dict else None
        if child.__class__ is str:
            subagent_calls.setdefault(child, (message, call_id))
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=tool_kind(name), extra=tool.rest())
    return [call] if result is None else [call, result]


def _result(state: Fields, call_id: str | None, name: str) -> ToolResult | None:
    status = state.view("status")
    if status not in _DONE_STATUSES:
        return None
    state.drop("status")
    outputs: list[Inner] = [_output(raw, state) for raw in state.items("content") or ()]
    if not outputs and status == "error":
        outputs = _error(state)
    only = outputs[0] if len(outputs) == 1 else None
    is_text = isinstance(only, Text) and not only.extra
    return ToolResult(
        call_id=call_id,
        name=name or None,
        output=only.text if is_text and isinstance(only, Text) else outputs or "",
        is_error=status == "error",
        extra={"status": status},
    )


def _error(state: Fields) -> list[Inner]:
    """Take the error of a call without a result."""
    error = state.view("error")
    if error.__class__ is str:
        return [Text(text=state.take("error"))]
    inner = state.nested("error") if error.__class__ is dict else None
    message = None if inner is None else inner.text("message")
    return [] if message is None else [Text(text=message)]


def _output(raw: Any, state: Fields) -> Inner:
    kind = raw.get("type") if raw.__class__ is dict else None
    if kind == "text" and raw.get("text").__class__ is str:
        fields = Fields(raw, state.note, state.where)
        fields.drop("type")
        return Text(text=fields.take("text"), extra=fields.rest())
    if kind == "file":
        fields = Fields(raw, state.note, state.where)
        fields.drop("type")
        return _file(fields)
    return Other(data=raw, name=kind if kind.__class__ is str else None)
