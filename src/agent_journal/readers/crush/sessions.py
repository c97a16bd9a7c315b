"""The sessions of a database and their messages.

A session's cost is the sum of its requests, and includes that of its subagents. Its tokens are those of the
last request only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Link, Message, Summary, Text, Usage, roles
from agent_journal.notes import Kind
from agent_journal.readers.crush.names import FILES, MESSAGES, SEPARATOR, SESSIONS, TITLE_PREFIX
from agent_journal.readers.crush.parts import Parts
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    folder = _project(source)
    with sqlite_copy.opened(source) as database:
        rows = [*each_row(database, SESSIONS, note, order=("created_at", ROWID), json_columns=("todos",))]
        known = {row.get("id") for row in rows}
        for row in rows:
            session = row.get("id")
            where = f"session {session}"
            if session.__class__ is not str:
                note(Kind.MISSING_ID, where, "a session has no id")
                continue
            if session.startswith(TITLE_PREFIX):
                note(Kind.IGNORED_FILE, where, "it only made the title of another one")
                continue
            try:
                yield _conversation(database, Fields(row, note, where), known, folder, name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def _project(source: Input) -> str | None:
    """Return the project's folder if the database is in it."""
    if steps_of(source.label)[-2:] != [".crush", "crush.db"] or ".zip" in source.label:
        return None
    folder = source.label[: -len("/.crush/crush.db")]
    is_absolute = folder.startswith(("/", "\\")) or folder[1:2] == ":"  # also of a drive
    return folder if is_absolute else None


def _conversation(
    database: Database, row: Fields, known: set[Any], folder: str | None, name: str
) -> Conversation:
    session = row.text("id") or ""
    note = row.note
    log = SessionLog(session, note, lambda _: False)
    summaries: list[Summary] = []
    order = ("created_at", ROWID)
    for raw in each_row(
        database, MESSAGES, note, where=("session_id", session), order=order, json_columns=("parts",)
    ):
        message = Fields(raw, note, f"message {raw.get('id')}")
        _add(log, message, summaries)
    entries = log.entries
    started_at, updated_at = row.timestamp("created_at"), row.timestamp("updated_at")
    link = _link(session, nonempty_str(row.take("parent_session_id")))
    cost = row.view("cost")
    is_counted = link is None or link.conversation_id not in known
    if is_counted and cost.__class__ in (float, int) and cost > 0:
        row.drop("cost")
        usage = Usage(key=session, cost_usd=float(cost), extra={"cost": cost})
        entries = [
            *entries,
            Message(
                id=f"{session}:usage", made_id=True, role="assistant", at=updated_at, hidden=True, usage=usage
            ),
        ]
    row.drop("message_count")
    files = _files(database, session, note)
    return Conversation(
        id=session,
        source=name,
        title=row.text("title") or None,
        started_at=started_at,
        updated_at=updated_at,
        model=first_model(entries),
        cwd=folder,
        shape="list",
        link=link,
        timeline=entries,
        summaries=summaries,
        extra=row.rest() | ({"files": files} if files else {}),
    )


def _add(log: SessionLog, row: Fields, summaries: list[Summary]) -> None:
    row.drop("session_id")
    label = row.view("role")
    role = roles.role(label)
    if role is None:
        row.note(Kind.UNKNOWN_ROLE, row.where, f"role {str(label)[:40]!r}")
    elif role == label:
        row.drop("role")
    parts = Parts(row)
    parts.add_all(row.take("parts"))
    at, finished_at = row.timestamp("created_at"), row.view("finished_at")
    if finished_at is None or finished_at == 0:
        row.drop("finished_at")
    if row.view("updated_at") == row.view("finished_at") or not row.has("finished_at"):
        row.drop("updated_at")
    provider = row.view("provider")
    if not provider:
        row.drop("provider")
    is_summary = row.take("is_summary_message")
    own_id = row.text("id") or ""
    text = "\n".join(part.text for part in parts.parts if isinstance(part, Text))
    if is_summary and text:
        covered = log.entries[-1].id if log.entries else None
        summaries.append(Summary(text=text, at=at, message_id=covered))
    log.add(
        Message(
            id=own_id,
            role=role or "user",
            at=at,
            model=row.text("model") or None,
            stop_reason=parts.stop_reason,
            hidden=bool(is_summary and text),
            parts=parts.parts,
            extra=row.rest() | parts.rest,
        ),
        f"message {own_id}",
    )


def _link(session: str, parent: str | None) -> Link | None:
    """Link a subagent to the call that started it: its id is made of the message and the call."""
    if parent is None:
        return None
    message, separator, call = session.partition(SEPARATOR)
    if not separator:
        return Link(conversation_id=parent, relation="subagent")
    return Link(conversation_id=parent, relation="subagent", message_id=message, call_id=call or None)


def _files(database: Database, session: str, note: Notes) -> list[dict[str, Any]]:
    """Return which versions of files a session has; their content is the project's."""
    rows = each_row(database, FILES, note, where=("session_id", session), order=("created_at", ROWID))
    return [{"path": row.get("path"), "version": row.get("version")} for row in rows]
