"""The tables of sessions, messages, parts and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import (
    Conversation,
    Link,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.zcode import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

_TEXTS = ("text", "content", "thinking")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        for row in [*each_row(database, "session", note, order=("time_created", ROWID))]:
            where = f"session {row.get('id')}"
            if row.get("id").__class__ is not str:
                note(Kind.MISSING_ID, where, "a session has no id")
                continue
            try:
                yield _conversation(database, Fields(row, note, where), name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def _conversation(database: Database, facts: Fields, name: str) -> Conversation:
    note = facts.note
    session = facts.text("id") or ""
    log = SessionLog(session, note, lambda _: False)
    key = ("session_id", session)
    parts: dict[Any, list[dict[str, Any]]] = {}
    for row in each_row(
        database, "part", note, where=key, order=("time_created", "id"), json_columns=("data",)
    ):
        parts.setdefault(row.get("message_id"), []).append(row)
    for row in each_row(
        database, "message", note, where=key, order=("time_created", ROWID), json_columns=("data",)
    ):
        _add(log, Fields(row, note, f"message {row.get('id')}"), parts.pop(row.get("id"), []))
    for message, rows in parts.items():
        note(Kind.DANGLING_PARENT, f"message {message}", "only its parts exist")
        _add(log, Fields({"id": message, "data": {}}, note, f"message {message}"), rows)
    entries = log.entries
    first, last = tree.span(entries)
    entries = [*entries, *_usages(database, session, note)]
    parent = facts.text("parent_id")
    created_at, updated_at = facts.timestamp("time_created"), facts.timestamp("time_updated")
    return Conversation(
        id=session,
        source=name,
        title=facts.text("title") or None,
        started_at=created_at or first,
        updated_at=updated_at or last,
        model=first_model(entries),
        cwd=facts.text("directory") or None,
        shape="list",
        link=Link(conversation_id=parent, relation="subagent") if parent else None,
        timeline=entries,
        extra=facts.rest(),
    )


def _add(log: SessionLog, row: Fields, rows: list[dict[str, Any]]) -> None:
    note, where = row.note, row.where
    own_id, at = row.text("id") or "", row.timestamp("time_created")
    data = row.view("data")
    if data.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"its data is {type(data).__name__}")
        data = {"data": data} if data is not None else {}
    fields = Fields(data, note, where)
    label = fields.view("role")
    role = roles.role(label)
    if role is None:
        note(Kind.UNKNOWN_ROLE, where, f"role {str(label)[:40]!r}")
    elif role == label:
        fields.drop("role")
    model = fields.text("modelID")
    named = fields.view("model")
    if model is None and named.__class__ is dict:
        model = nonempty_str(named.get("id")) or nonempty_str(named.get("name"))
    parts: list[Part] = []
    for part in rows:
        parts += _parts(part.get("data"), note, f"part {part.get('id')}")
    log.add(
        Message(
            id=own_id,
            role=role or "user",
            at=at,
            model=model if role == "assistant" else None,
            parts=parts,
            extra=fields.rest(),
        ),
        where,
    )


def _parts(raw: Any, note: Notes, where: str) -> list[Part]:
    if raw.__class__ is not dict:
        return [Other(data=raw)]
    fields = Fields(dict(raw), note, where)
    kind = fields.take("type")
    text = next((name for name in _TEXTS if fields.view(name).__class__ is str), None)
    match kind:
        case "text" if text is not None:
            return [Text(text=fields.take(text), extra=fields.rest())]
        case "thinking" | "reasoning" if text is not None:
            return [Reasoning(text=fields.take(text), extra=fields.rest())]
        case "tool" | "tool_use":
            return _call(fields)
        case "tool_result":
            call_id = fields.text("callID") or fields.text("id")
            output = fields.take(text) if text is not None else fields.take("output")
            return [ToolResult(call_id=call_id, output=_output(output), extra=fields.rest())]
    note(Kind.UNKNOWN_TYPE, where, f"part {str(kind)[:40]!r}")
    return [Other(data=raw, name=nonempty_str(kind))]


def _call(fields: Fields) -> list[Part]:
    name = fields.text("tool") or fields.text("name") or ""
    call_id = fields.text("callID") or fields.text("id")
    state = fields.nested("state") or Fields({}, fields.note, fields.where)
    call_input = state.take("input") if state.has("input") else fields.take("input")
    status, error, output = state.view("status"), state.take("error"), state.take("output")
    if status in ("completed", "error"):
        state.drop("status")
    rest = fields.rest()
    call = ToolCall(
        call_id=call_id, name=name, input=call_input, kind=TOOL_KINDS.get(name.lower()), extra=rest
    )
    is_error = status == "error" or bool(error)
    if output is None and not is_error:
        return [call]
    result = ToolResult(
        call_id=call_id, name=name, output=_output(error if is_error and error else output), is_error=is_error
    )
    return [call, result]


def _output(value: Any) -> Any:
    return value if value.__class__ is str else [Other(data=value)] if value else ""


def _usages(database: Database, session: str, note: Notes) -> list[Message]:
    """Return hidden messages with the tokens of each request, whose input includes what a cache had."""
    messages: list[Message] = []
    key = ("session_id", session)
    for index, row in enumerate(
        each_row(database, "model_usage", note, where=key, order=("started_at", ROWID))
    ):
        sent, output, reasoning, written, read = (
            counted(row.get(f"{column}_tokens"))
            for column in ("input", "output", "reasoning", "cache_creation_input", "cache_read_input")
        )
        own_id = f"{session}:usage:{row.get('id', index)}"
        at = Fields({"at": row.get("completed_at", row.get("started_at"))}, note, own_id).timestamp("at")
        usage = Usage(
            key=own_id,
            input=None if sent is None else max(sent - (read or 0) - (written or 0), 0),
            output=output,
            cache_read=read,
            cache_write=written,
            reasoning=reasoning,
            total=counted(row.get("computed_total_tokens")),
            extra={name: value for name, value in row.items() if name != "session_id"},
        )
        messages.append(
            Message(
                id=own_id,
                made_id=True,
                role="assistant",
                at=at,
                model=nonempty_str(row.get("model_id")),
                hidden=True,
                usage=usage,
            )
        )
    return messages
