"""The records of the app's second store: each kind of message has a form of its own, parts are inside."""

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
from agent_journal.readers.opencode.message import ending, failure
from agent_journal.readers.opencode.names import kind_of
from agent_journal.readers.opencode.parts import media, sealed
from agent_journal.readers.opencode.usage import usage

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.message import Entry
    from agent_journal.readers.opencode.parts import Spawned

# What a result may hold.
Inner: TypeAlias = Text | Code | Reasoning | ToolCall | Media | Other

# Who speaks, and whether it is shown as something that was said.
_TEXTS: dict[str, tuple[Role, bool]] = {
    "user": ("user", False),
    "synthetic": ("user", True),
    "system": ("system", False),
    "skill": ("system", False),
}
_EVENTS = ("agent-switched", "model-switched", "location-switched", "idle", "compaction")
_DONE = ("completed", "error")


def told(raw: dict[str, Any], session: str, spawned: Spawned, note: Notes, where: str) -> Entry:
    """The message or event that a record is. The record is changed in place."""
    fields = Fields(raw, note, where)
    identity, kind = fields.text("id") or None, fields.take("type")
    name = identity or ids.made(session, where)
    time = fields.nested("time") if fields.look("time").__class__ is dict else None
    at = None if time is None else time.moment("created")
    if kind.__class__ is str and kind in _TEXTS:
        role, hidden = _TEXTS[kind]
        said = _said(fields)
        if kind == "skill":
            fields.keep("type", kind)
        return Message(
            id=name, made_id=not identity, role=role, at=at, hidden=hidden, parts=said, extra=fields.rest()
        )
    if kind == "shell":
        # The person ran it, not the model.
        ran = _shell(fields)
        return Message(id=name, made_id=not identity, role="user", at=at, parts=ran, extra=fields.rest())
    if kind == "assistant":
        return _answer(fields, name, at, spawned, made=not identity)
    if kind not in _EVENTS:
        note(Kind.UNKNOWN_TYPE, where, f"message of type {str(kind)[:40]!r}")
    named = kind if kind.__class__ is str else "unknown"
    data = fields.rest() if kind.__class__ is str else {"type": kind, **fields.rest()}
    return Event(id=name, made_id=not identity, at=at, name=named, data=data)


def _said(fields: Fields) -> list[Part]:
    text = fields.text("text")
    said: list[Part] = [Text(text=text)] if text else []
    for raw in fields.items("files") or ():
        is_file = raw.__class__ is dict
        said.append(
            _attached(Fields(raw, fields.note, fields.where)) if is_file else Other(data=raw, name="file")
        )
    said.extend(Other(data=raw, name="agent") for raw in fields.items("agents") or ())
    return said


def _attached(file: Fields) -> Media:
    """A file that came with a prompt or out of a tool."""
    address = next((name for name in ("uri", "url", "data") if file.look(name).__class__ is str), "uri")
    return media(file, address, "name")


def _shell(fields: Fields) -> list[Part]:
    command, output = fields.text("command"), fields.take("output")
    call_id = fields.text("callID") or fields.text("shellID")
    code = fields.look("exit")
    ran: list[Part] = [ToolCall(name="shell", call_id=call_id, input={"command": command}, kind="shell")]
    if output is not None:
        ran.append(
            ToolResult(
                call_id=call_id,
                name="shell",
                output=output if output.__class__ is str else [Other(data=output, name="output")],
                is_error=bool(code) if code.__class__ is int else None,
                extra={"exit_code": code} if code.__class__ is int else {},
            )
        )
    return ran


def _answer(fields: Fields, name: str, at: str | None, spawned: Spawned, *, made: bool) -> Message:
    model = fields.nested("model") if fields.look("model").__class__ is dict else None
    content = fields.items("content") or ()
    parts = [part for raw in content for part in _content(raw, fields, name, spawned)]
    called = None if model is None else model.text("id")
    return Message(
        id=name,
        made_id=made,
        role="assistant",
        at=at,
        model=called,
        stop_reason=ending(fields),
        parts=parts + failure(fields),
        usage=usage(fields, at, called),
        extra=fields.rest(),
    )


def _content(raw: Any, fields: Fields, message: str, spawned: Spawned) -> list[Part]:
    kind = raw.get("type") if raw.__class__ is dict else None
    inner = Fields(raw, fields.note, fields.where) if raw.__class__ is dict else None
    if inner is not None and kind in ("text", "reasoning") and inner.look("text").__class__ is str:
        inner.drop("type")
        text = inner.take("text")
        if kind == "text":
            return [Text(text=text, extra=inner.rest())]
        encrypted, signature = sealed(inner, "providerMetadata")
        return [Reasoning(text=text or None, encrypted=encrypted, signature=signature, extra=inner.rest())]
    if inner is not None and kind == "tool" and inner.look("state").__class__ is dict:
        inner.drop("type")
        return _tool(inner, message, spawned)
    fields.note(Kind.UNKNOWN_TYPE, fields.where, f"content of type {str(kind)[:40]!r}")
    return [Other(data=raw, name=kind if kind.__class__ is str else None)]


def _tool(tool: Fields, message: str, spawned: Spawned) -> list[Part]:
    call_id, name = tool.text("id"), tool.text("name") or ""
    state = tool.nested("state")
    arguments = None if state is None else state.take("input")
    result = None if state is None else _result(state, call_id, name)
    for facts in () if state is None else (state.look("metadata"), state.look("structured")):
        child = facts.get("sessionID", facts.get("sessionId")) if facts.__class__ is dict else None
        if child.__class__ is str:
            spawned.setdefault(child, (message, call_id))
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=tool.rest())
    return [call] if result is None else [call, result]


def _result(state: Fields, call_id: str | None, name: str) -> ToolResult | None:
    status = state.look("status")
    if status not in _DONE:
        return None
    state.drop("status")
    found: list[Inner] = [_output(raw, state) for raw in state.items("content") or ()]
    if not found and status == "error":
        found = _error(state)
    only = found[0] if len(found) == 1 else None
    is_plain = isinstance(only, Text) and not only.extra
    return ToolResult(
        call_id=call_id,
        name=name or None,
        output=only.text if is_plain and isinstance(only, Text) else found or "",
        is_error=status == "error",
        extra={"status": status},
    )


def _error(state: Fields) -> list[Inner]:
    """Why there is no result."""
    error = state.look("error")
    if error.__class__ is str:
        return [Text(text=state.take("error"))]
    inside = state.nested("error") if error.__class__ is dict else None
    message = None if inside is None else inside.text("message")
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
        return _attached(fields)
    return Other(data=raw, name=kind if kind.__class__ is str else None)
