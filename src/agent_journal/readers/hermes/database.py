"""The database: sessions, their messages, and totals of tokens for each session and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Link, Message, Relation, Summary, Text, Usage, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, head_of
from agent_journal.readers.hermes.messages import message_of
from agent_journal.readers.hermes.names import MESSAGES, META, PROMPTS, SESSIONS, USAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

_COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}
_JSON = (
    "tool_calls",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "display_metadata",
)


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        rows = each_row(database, SESSIONS, note, order=("started_at", ROWID), json_columns=("model_config",))
        sessions = {str(row.get("id")): row for row in rows}
        for (session,) in [
            *database.rows(f"SELECT DISTINCT session_id FROM {MESSAGES} ORDER BY 1")  # noqa: S608 (constant)
        ]:
            if session.__class__ is str:
                sessions.setdefault(session, {"id": session})
            else:
                note(Kind.MISSING_ID, MESSAGES, "messages without a session are left out")
        reasons = {session: row.get("end_reason") for session, row in sessions.items()}
        prompts = {row.get("hash"): row.get("prompt") for row in each_row(database, PROMPTS, note)}
        for session, row in sessions.items():
            where = f"session {session}"
            try:
                prompt = prompts.get(row.get("system_prompt_hash"))
                if prompt is not None:
                    row["system_prompt"] = prompt
                yield _conversation(database, Fields(row, note, where), reasons, name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def session_ids(source: Input) -> set[str]:
    """Return the ids of the sessions in a database; empty if it is not this tool's."""
    try:
        with sqlite_copy.glanced(source) as database:
            if MESSAGES not in database.tables or "session_id" not in database.columns(MESSAGES):
                return set()
            query = f"SELECT DISTINCT session_id FROM {MESSAGES}"  # noqa: S608 (constant)
            return {session for (session,) in database.rows(query) if session.__class__ is str}
    except UnreadableSource:
        return set()


def _conversation(database: Database, facts: Fields, reasons: dict[str, Any], name: str) -> Conversation:
    session = str(facts.take("id"))
    prompt = nonempty_str(facts.view("system_prompt"))
    note = facts.note
    log = SessionLog(session, note, {META}.__contains__)
    summaries: list[Summary] = []
    if prompt is not None:
        facts.drop("system_prompt", "system_prompt_hash")
        system = Message(id=f"{session}:system", made_id=True, role="system", parts=[Text(text=prompt)])
        log.add(system, "system prompt")
    is_rewound = _add_messages(database, log, summaries, note)
    model = facts.text("model") or None
    entries = [
        replace(entry, model=model) if isinstance(entry, Message) and entry.role == "assistant" else entry
        for entry in log.entries
    ]
    main = len(entries)
    started_at, ended_at = facts.timestamp("started_at"), facts.timestamp("ended_at")
    first, last = tree.span(entries)
    last_active = next((entry.id for entry in reversed(entries) if isinstance(entry, Message)), None)
    entries += _usages(database, session, facts, model, last or ended_at)
    if is_rewound:
        entries = _as_tree(entries)
        last_active = next(
            (
                entry.id
                for entry in reversed(entries[:main])
                if isinstance(entry, Message) and entry.extra.get("active") != 0
            ),
            None,
        )
    link = _link(facts, reasons)
    archived = facts.take("archived")
    return Conversation(
        id=session,
        source=name,
        title=facts.text("title") or None,
        started_at=started_at or first,
        updated_at=last or ended_at,
        model=model,
        cwd=facts.text("cwd") or None,
        git_branch=facts.text("git_branch") or None,
        archived=True if archived else None,
        shape="tree" if is_rewound else "list",
        head_id=head_of(entries[:main], last_active) if is_rewound else None,
        link=link,
        timeline=entries,
        summaries=summaries,
        extra=facts.rest(),
    )


def _add_messages(database: Database, log: SessionLog, summaries: list[Summary], note: Notes) -> bool:
    """Add the messages of a session, and return whether some were taken back."""
    is_rewound = False
    for row in each_row(
        database,
        MESSAGES,
        note,
        where=("session_id", log.session),
        order=("timestamp", "id", ROWID),
        json_columns=_JSON,
    ):
        own_id = row.pop("id", None)
        row.pop("session_id", None)
        fields = Fields(row, note, f"message {own_id}")
        entry_id = f"{log.session}:{own_id}" if own_id is not None else ""
        if row.get("role") == META:
            at = fields.timestamp("timestamp")
            log.add_event(fields.take("role"), fields.rest(), fields.where, at=at, entry_id=entry_id)
            continue
        if fields.view("active") == 0:
            is_rewound = True
        elif fields.view("active") == 1:
            fields.drop("active")
        if not fields.view("compacted"):
            fields.drop("compacted")
        if not fields.view("observed"):
            fields.drop("observed")
        is_summary = fields.view("_compressed_summary")
        if not is_summary:
            fields.drop("_compressed_summary")
        message, parts = message_of(fields, note)
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        if is_summary and text:
            covered = log.entries[-1].id if log.entries else None
            summaries.append(Summary(text=text, at=message.at, message_id=covered))
            message = replace(message, hidden=True)
        log.add(replace(message, id=entry_id), fields.where)
    return is_rewound


def _as_tree(entries: list[Any]) -> list[Any]:
    """Return entries as a tree: what was taken back is a branch."""
    linked: list[Any] = []
    active = previous = None
    for entry in entries:
        is_active = not isinstance(entry, Message) or entry.extra.get("active") != 0
        linked.append(replace(entry, parent_id=active if is_active else previous))
        previous = entry.id
        if is_active:
            active = entry.id
    return linked


def _usages(
    database: Database, session: str, facts: Fields, model: str | None, at: str | None
) -> list[Message]:
    """Return hidden messages with the totals of a session: one per model, else one of all."""
    rows = [*each_row(database, USAGES, facts.note, where=("session_id", session), order=(ROWID,))]
    totals = facts.take_all((*_COUNTS.values(), "actual_cost_usd"))
    named = [
        (f"{session}:usage:{index}", row, nonempty_str(row.get("model"))) for index, row in enumerate(rows)
    ]
    messages: list[Message] = []
    for own_id, row, own_model in named or [(f"{session}:usage", totals, model)]:
        counts = {field: counted(row.get(column)) for field, column in _COUNTS.items()}
        if not any(counts.values()):
            continue
        cost = row.get("actual_cost_usd")
        # A cost of 0 without a source is none.
        usage = Usage(
            key=own_id,
            cost_usd=float(cost) if cost.__class__ in (int, float) and cost > 0 else None,
            extra={field: value for field, value in row.items() if field != "session_id"},
            **counts,  # type: ignore[arg-type] # counts only
        )
        messages.append(
            Message(
                id=own_id,
                made_id=True,
                role="assistant",
                at=at,
                model=own_model or model,
                hidden=True,
                usage=usage,
            )
        )
    return messages


def _link(facts: Fields, reasons: dict[str, Any]) -> Link | None:
    """Link a session to the one that it continues, that it branched from, or that started it."""
    parent = nonempty_str(facts.take("parent_session_id"))
    settings = facts.view("model_config")
    settings = settings if settings.__class__ is dict else {}
    if parent is None or settings.get("_reset_from"):
        return None
    relation: Relation = "continues"
    if settings.get("_delegate_from") or facts.view("source") == "tool":
        relation = "subagent"
    elif settings.get("_branched_from") or reasons.get(parent) == "branched":
        relation = "fork"
    return Link(conversation_id=parent, relation=relation)
