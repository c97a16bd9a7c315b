"""Sessions as conversations, from the rows of a database or the lines of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Link, Message, Summary, Text, Usage, roles, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.goose.detect import LEDGER, MESSAGES, SESSIONS, is_header
from agent_journal.readers.goose.parts import parse_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_JSON = ("extension_data", "recipe_json", "user_recipe_values_json", "model_config_json")
_SUBAGENT = "sub_agent"
_SUM, _LAST = "accumulated_", ("total_tokens", "input_tokens", "output_tokens")
_MODEL_NAMES = ("model_name", "modelName", "model")
_VISIBLE = {"userVisible": True, "agentVisible": True}
_DATABASE_NAME = "sessions.db"


def read_database(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        for row in [*each_row(database, SESSIONS, note, order=("created_at", ROWID), json_columns=_JSON)]:
            session = row.get("id")
            where = f"session {session}"
            if session.__class__ is not str:
                note(Kind.MISSING_ID, where, "a session has no id")
                continue
            own = ("session_id", session)
            order = ("id",)
            json_columns = ("content_json", "metadata_json")
            try:
                messages = each_row(
                    database, MESSAGES, note, where=own, order=order, json_columns=json_columns
                )
                entries = [(f"message {raw.get('id')}", _as_line(raw)) for raw in messages]
                ledger = [*each_row(database, LEDGER, note, where=own, order=order)]
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)
                continue
            yield _conversation(Fields(row, note, where), session, entries, ledger, name)


def read_lines(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the session of a file, unless the database next to it has it, too."""
    header: dict[str, Any] = {}
    entries: list[tuple[str, Any]] = []
    for number, line in json_stream.lines(source, note):
        if not header and line.__class__ is dict and is_header(line):
            header = line
        else:
            entries.append((f"line {number}", line))
    session = nonempty_str(header.pop("id", None)) or source.name.removesuffix(".jsonl")
    if _is_in_database(source, session):
        note(Kind.IGNORED_FILE, "", "the database next to it has the same session")
        return
    yield _conversation(Fields(header, note, ""), session, entries, [], name)


def _is_in_database(source: Input, session: str) -> bool:
    database = source.companion(_DATABASE_NAME)
    if database is None:
        return False
    try:
        with sqlite_copy.opened(database) as rows:
            return any(rows.rows("SELECT 1 FROM sessions WHERE id = ?", session))
    except UnreadableSource:
        return False


def _as_line(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the messages as the line of a file."""
    line = {key: value for key, value in row.items() if key not in ("id", "session_id", "timestamp")}
    renamed = {"message_id": "id", "content_json": "content", "created_timestamp": "created"}
    return {renamed.get(key, key.removesuffix("_json")): value for key, value in line.items()}


def _conversation(
    row: Fields, session: str, messages: Iterable[tuple[str, Any]], ledger: list[dict[str, Any]], name: str
) -> Conversation:
    row.drop("id", "message_count")
    log = SessionLog(session, row.note, lambda _: False)
    summaries: list[Summary] = []
    for where, raw in messages:
        if raw.__class__ is dict:
            _add(log, Fields(raw, row.note, where), summaries)
        else:
            log.add_value(raw, where)
    first, last = tree.span(log.entries)
    started_at = row.timestamp("created_at") or first
    updated_at = row.timestamp("updated_at") or last
    model = _model(row.view("model_config_json"))
    counted_requests = _ledger(session, ledger) or _total(session, row, model, updated_at)
    parent = nonempty_str(row.view("parent_session_id"))
    if parent is not None:
        row.drop("parent_session_id")
    title = nonempty_str(row.take("name")) or nonempty_str(row.view("description"))
    if title == row.view("description"):
        row.drop("description")
    return Conversation(
        id=session,
        source=name,
        title=title,
        started_at=started_at,
        updated_at=updated_at,
        model=model
        or first_model([*log.entries, *counted_requests])
        or next((each.model for each in counted_requests), None),
        cwd=row.text("working_dir") or None,
        archived=True if row.view("archived") in (1, True) else None,
        shape="list",
        link=None if parent is None else Link(conversation_id=parent, relation=_relation(row)),
        timeline=[*log.entries, *counted_requests],
        summaries=summaries,
        extra=row.rest(),
    )


def _relation(row: Fields) -> Any:
    return "subagent" if row.view("session_type") in (None, _SUBAGENT) else "fork"


def _add(log: SessionLog, fields: Fields, summaries: list[Summary]) -> None:
    label = fields.view("role")
    role = roles.role(label)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(label)[:40]!r}")
    elif role == label:
        fields.drop("role")
    parts = parse_content(fields.take("content"), fields.note, str(fields.where))
    at = fields.timestamp("created")
    metadata = fields.view("metadata")
    is_hidden = metadata.__class__ is dict and metadata.get("userVisible") is False
    if metadata == _VISIBLE:
        fields.drop("metadata")
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    # What only the model sees replaces the conversation before it.
    if is_hidden and text and metadata.get("agentVisible") is True and role == "assistant":
        covered = log.entries[-1].id if log.entries else None
        summaries.append(Summary(text=text, at=at, message_id=covered))
    own_id = fields.text("id") or ""
    log.add(
        Message(id=own_id, role=role or "user", at=at, hidden=is_hidden, parts=parts, extra=fields.rest()),
        fields.where,
    )


def _model(config: Any) -> str | None:
    if config.__class__ is not dict:
        return None
    return next(filter(None, (nonempty_str(config.get(name)) for name in _MODEL_NAMES)), None)


def _ledger(session: str, rows: list[dict[str, Any]]) -> list[Message]:
    """Return the tokens of each request; the ledger does not say which message answers it."""
    return [
        _hidden(
            f"{session}:usage:{number}",
            _usage(f"{session}:{row.get('id', number)}", row, cost=row.get("cost")),
            model=nonempty_str(row.get("model")),
            at=timestamps.parse_timestamp(row.get("created_timestamp")),
        )
        for number, row in enumerate(rows)
    ]


def _total(session: str, row: Fields, model: str | None, at: str | None) -> list[Message]:
    """Return the tokens of the whole session; without their sum, those of the last request are all."""
    names = [_SUM + name for name in (*_LAST, "cache_read_tokens", "cache_write_tokens", "cost")]
    sums = {name.removeprefix(_SUM): row.view(name) for name in names if row.view(name) is not None}
    if not counted(sums.get("input_tokens")) and not counted(sums.get("output_tokens")):
        return []
    row.drop(*names)
    usage = _usage(session, sums, cost=sums.get("cost"))
    return [_hidden(f"{session}:usage", usage, model=model, at=at)]


def _hidden(own_id: str, usage: Usage, *, model: str | None, at: str | None) -> Message:
    return Message(id=own_id, made_id=True, role="assistant", at=at, model=model, hidden=True, usage=usage)


def _usage(key: str, raw: dict[str, Any], *, cost: Any) -> Usage:
    """Convert counts; the prompt's include those of the cache."""
    sent, read, written = (
        counted(raw.get(f"{name}_tokens")) for name in ("input", "cache_read", "cache_write")
    )
    cached = (read or 0) + (written or 0)
    return Usage(
        key=key,
        input=sent if sent is None or sent < cached else sent - cached,
        output=counted(raw.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        total=counted(raw.get("total_tokens")),
        cost_usd=float(cost) if cost.__class__ in (int, float) and cost >= 0 else None,
        extra=raw,
    )
