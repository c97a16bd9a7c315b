"""The tables of sessions, messages, tokens and compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Message, Summary, Usage, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.ai_sdk_parts import parse_parts
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.grok_cli import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

_MICROS_PER_USD = 1_000_000


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        workspaces = {row.get("id"): row for row in each_row(database, "workspaces", note)}
        for row in [*each_row(database, "sessions", note, order=("created_at", ROWID))]:
            where = f"session {row.get('id')}"
            if row.get("id") is None:
                note(Kind.MISSING_ID, where, "a session has no id")
                continue
            workspace = workspaces.get(row.get("workspace_id"), {})
            try:
                yield _conversation(database, Fields(row, note, where), workspace, name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def _conversation(database: Database, facts: Fields, workspace: dict[str, Any], name: str) -> Conversation:
    note = facts.note
    own_id = facts.view("id")
    session = str(facts.take("id"))
    model = facts.text("model") or None
    log = SessionLog(session, note, lambda _: False)
    usages = _usages(database, session, own_id, note)
    key = ("session_id", own_id)
    for row in each_row(
        database, "messages", note, where=key, order=("seq", ROWID), json_columns=("message_json",)
    ):
        _add(log, row, note, model, usages)
    entries = log.entries
    first, last = tree.span(entries)
    for usage, used_model, at in usages.values():
        entries.append(
            Message(
                id=f"{usage.key}:usage",
                made_id=True,
                role="assistant",
                at=at or last,
                model=used_model or model,
                hidden=True,
                usage=usage,
            )
        )
    compactions = each_row(database, "compactions", note, where=key, order=("created_at", ROWID))
    summaries = [
        Summary(text=text, at=Fields(dict(row), note, "compactions").timestamp("created_at"))
        for row in compactions
        if (text := nonempty_str(row.get("summary")))
    ]
    if recap := facts.text("recap_text"):
        summaries.append(Summary(text=recap))
    folder = facts.text("cwd_at_start") or nonempty_str(workspace.get("canonical_path"))
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("updated_at")
    return Conversation(
        id=session,
        source=name,
        title=facts.text("title") or None,
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=model,
        cwd=folder or None,
        shape="list",
        timeline=entries,
        summaries=summaries,
        extra=facts.rest(),
    )


_Usages = dict[Any, tuple[Usage, str | None, str | None]]


def _usages(database: Database, session: str, own_id: Any, note: Notes) -> _Usages:
    """Return the tokens of requests by the message that they are of, or by their row."""
    usages: _Usages = {}
    for index, row in enumerate(
        each_row(database, "usage_events", note, where=("session_id", own_id), order=("id", ROWID))
    ):
        micros = row.get("cost_micros")
        usage = Usage(
            key=f"{session}:{row.get('id', index)}",
            input=counted(row.get("input_tokens")),
            output=counted(row.get("output_tokens")),
            total=counted(row.get("total_tokens")),
            cost_usd=micros / _MICROS_PER_USD if micros.__class__ is int and micros > 0 else None,
            extra={field: value for field, value in row.items() if field != "session_id"},
        )
        at = Fields({"at": row.get("created_at")}, note, "usage_events").timestamp("at")
        sequence = row.get("message_seq")
        place: Any = sequence if sequence is not None and sequence not in usages else f"row {index}"
        usages[place] = (usage, nonempty_str(row.get("model")), at)
    return usages


def _add(log: SessionLog, row: dict[str, Any], note: Notes, model: str | None, usages: _Usages) -> None:
    sequence = row.get("seq")
    where = f"message {sequence}"
    raw = row.get("message_json")
    fields = Fields(raw if raw.__class__ is dict else {"content": raw}, note, where)
    label = fields.view("role") or row.get("role")
    role = roles.role(label)
    if role is None:
        note(Kind.UNKNOWN_ROLE, where, f"role {str(label)[:40]!r}")
    else:
        fields.drop("role")
    at = Fields({"at": row.get("created_at")}, note, where).timestamp("at")
    parts = parse_parts(fields.take("content"), note, where, TOOL_KINDS)
    is_answer = role == "assistant"
    usage, used_model, _ = usages.pop(sequence, (None, None, None)) if is_answer else (None, None, None)
    message = Message(
        id=f"{log.session}:{sequence}",
        made_id=True,
        role=role or "user",
        at=at,
        model=used_model or model if is_answer else None,
        parts=parts,
        usage=usage,
        extra=fields.rest(),
    )
    log.add(message, where)
