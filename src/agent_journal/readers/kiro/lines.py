"""Sessions with one line per message: those of the command line, and those of the editor since version 1.

A file next to the lines states the folder, title and model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Conversation,
    Event,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.openai_messages import parse_content
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of
from agent_journal.readers.kiro import names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Role
    from agent_journal.notes import Notes

_ROLES: dict[str, Role] = {names.PROMPT: "user", names.ANSWER: "assistant", names.RESULTS: "tool"}
_CALL_IDS = ("toolCallId", "toolUseId", "callId")
_CALL_INPUTS = ("input", "args", "arguments", "toolInput")


def of_cli(source: Input, lines: Iterable[tuple[int, Any]], note: Notes, name: str) -> Conversation:
    """Make the conversation of a session of the command line."""
    own_name = source.name.removesuffix(".jsonl")
    facts = load_companion(source.companion(f"{own_name}.json"), note, "session")
    # A copy of a file has another name.
    session = facts.text("session_id") or own_name
    log = SessionLog(session, note, names.LINES.__contains__)
    for number, line in lines:
        if line.__class__ is dict:
            _add_cli_line(log, Fields(line, note, number))
        else:
            log.add_value(line, number)
    state = facts.view("session_state")
    model_state = state.get("rts_model_state") if state.__class__ is dict else None
    model_info = model_state.get("model_info") if model_state.__class__ is dict else None
    model = nonempty_str(model_info.get("model_id")) if model_info.__class__ is dict else None
    return _make(log, facts, name, model, facts.text("cwd"))


def _add_cli_line(log: SessionLog, line: Fields) -> None:
    kind = line.view("kind")
    data = line.nested("data")
    role = _ROLES.get(kind) if kind.__class__ is str else None
    if role is None or data is None:
        line.drop("kind")
        log.add_event(kind, line.rest(), line.where)
        return
    line.drop("kind", "version")
    meta = data.nested("meta")
    at = meta.timestamp("timestamp") if meta is not None else None
    content = data.items("content") or []
    parts = [_block(block, line) for block in content]
    message = Message(
        id=data.text("message_id") or "",
        role=role,
        at=at or data.timestamp("timestamp"),
        model=data.text("model_id") if role == "assistant" else None,
        parts=parts,
        extra=line.rest(),
    )
    log.add(message, line.where)


def _block(raw: Any, line: Fields) -> Part:
    kind, data = (raw.get("kind"), raw.get("data")) if raw.__class__ is dict else (None, None)
    match kind, data:
        case "text", str():
            return Text(text=data)
        case "thinking", str():
            return Reasoning(text=data)
        case "toolUse", dict():
            call = Fields(dict(data), line.note, line.where)
            name = call.text("name") or ""
            return ToolCall(
                call_id=call.text("toolUseId"),
                name=name,
                input=call.take("input"),
                kind=names.TOOL_KINDS.get(name),
                extra=call.rest(),
            )
        case "toolResult", dict():
            return _result(Fields(dict(data), line.note, line.where))
    line.note(Kind.UNKNOWN_TYPE, line.where, f"content {str(kind)[:40]!r}")
    return Other(data=raw, name=nonempty_str(kind))


def _result(result: Fields) -> Part:
    status = nonempty_str(result.view("status"))
    is_known = status is not None and status.lower() in ("success", "error")
    if is_known:
        result.drop("status")
    return ToolResult(
        call_id=result.text("toolUseId"),
        output=_output(result.take("content")),
        is_error=status is not None and status.lower() == "error" if is_known else None,
        extra=result.rest(),
    )


def _output(content: Any) -> Any:
    if content.__class__ is str or content is None:
        return content or ""
    blocks = content if content.__class__ is list else [content]
    parts = [
        Text(text=block["data"])
        if block.__class__ is dict and block.get("kind") == "text" and block.get("data").__class__ is str
        else Other(data=block)
        for block in blocks
    ]
    only = parts[0] if len(parts) == 1 else None
    return only.text if isinstance(only, Text) else parts


def of_editor(source: Input, lines: Iterable[tuple[int, Any]], note: Notes, name: str) -> Conversation:
    """Make the conversation of a session of the editor."""
    facts = load_companion(source.companion("session.json"), note, "session")
    steps = steps_of(source.label)
    folder_name = steps[-2] if len(steps) > 1 and steps[-2].startswith("sess_") else None
    session = facts.text("sessionId") or facts.text("id") or folder_name or source.name.removesuffix(".jsonl")
    log = SessionLog(session, note, names.EVENTS.__contains__)
    for number, line in lines:
        if line.__class__ is dict:
            _add_editor_line(log, Fields(line, note, number))
        else:
            log.add_value(line, number)
    paths = facts.view("workspacePaths")
    folder = nonempty_str(paths[0]) if paths.__class__ is list and paths else None
    if folder is not None and len(paths) == 1:
        facts.drop("workspacePaths")
    return _make(log, facts, name, facts.text("modelId"), folder)


def _add_editor_line(log: SessionLog, line: Fields) -> None:
    entry_id, at = line.text("id") or "", line.timestamp("timestamp")
    payload = line.nested("payload")
    kind = None if payload is None else payload.take("type")
    role: Role
    parts: list[Part]
    match kind:
        case "user" | "assistant" if payload is not None:
            role = kind
            parts = parse_content(payload.take("content"), line.note, line.where)
            if payload.view("operationType") == "Reasoning":
                payload.drop("operationType")
                parts = [Reasoning(text=part.text) if isinstance(part, Text) else part for part in parts]
        case "tool_call" if payload is not None:
            role, parts = "assistant", [_editor_call(payload)]
        case "tool_result" if payload is not None:
            role, parts = "tool", [_editor_result(payload)]
        case _:
            log.add_event(kind, line.rest(), line.where, at=at, entry_id=entry_id)
            return
    log.add(Message(id=entry_id, role=role, at=at, parts=parts, extra=line.rest()), line.where)


def _editor_call(payload: Fields) -> Part:
    name = payload.text("toolName") or ""
    field = next((field for field in _CALL_INPUTS if payload.has(field)), "input")
    return ToolCall(
        call_id=_call_id(payload), name=name, input=payload.take(field), kind=names.TOOL_KINDS.get(name)
    )


def _editor_result(payload: Fields) -> Part:
    parts = parse_content(payload.take("content"), payload.note, payload.where)
    output: Any = parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else parts
    return ToolResult(
        call_id=_call_id(payload),
        output=output or "",
        is_error=payload.flag("isError"),
        name=payload.text("toolName"),
    )


def _call_id(payload: Fields) -> str | None:
    return next((payload.text(field) for field in _CALL_IDS if nonempty_str(payload.view(field))), None)


def _make(log: SessionLog, facts: Fields, name: str, model: str | None, folder: str | None) -> Conversation:
    entries: list[Message | Event] = log.entries
    first, last = tree.span(entries)
    title = facts.text("title")
    created_at, updated_at = _time(facts, "created_at", "createdAt"), _time(facts, "updated_at", "updatedAt")
    rest = facts.rest()
    return Conversation(
        id=log.session,
        source=name,
        title=title or None,
        started_at=created_at or first,
        updated_at=updated_at or last,
        model=first_model(entries) or model,
        cwd=folder or None,
        shape="list",
        timeline=entries,
        extra={"session": rest} if rest else {},
    )


def _time(facts: Fields, *fields: str) -> str | None:
    return next((at for field in fields if (at := facts.timestamp(field))), None)
