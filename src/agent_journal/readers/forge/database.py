"""The table of conversations: each row has all messages as one JSON document, without times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.openai_messages import parse_tool
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.forge.messages import message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every conversation of a database; a row without messages is none."""
    with sqlite_copy.opened(source) as database:
        for row in each_row(
            database,
            "conversations",
            note,
            order=("created_at", ROWID),
            json_columns=("context", "metrics"),
        ):
            where = f"conversation {row.get('conversation_id')}"
            context = row.pop("context", None)
            if context is None:
                continue
            if context.__class__ is not dict:
                note(Kind.BAD_RECORD, where, "its context is no object")
                continue
            yield _conversation(Fields(context, note, where), Fields(row, note, where), name)


def _conversation(context: Fields, row: Fields, name: str) -> Conversation:
    note = row.note
    messages = context.items("messages") or []
    stated_id = row.text("conversation_id") or nonempty_str(context.view("conversation_id"))
    context.drop("conversation_id")
    log = SessionLog(stated_id or ids.made(name, messages), note, lambda _: False)
    for index, raw in enumerate(messages):
        where = f"{log.session} message {index}"
        message = message_of(raw, note, where, f"{log.session}:{index}")
        if message is None:
            note(Kind.UNKNOWN_TYPE, where, "a message of an unknown form")
            log.add(Event(id="", name="unknown", data={"value": raw}), where)
        else:
            log.add(message, where)
    raw_tools: Any = context.view("tools")
    tools = []
    if raw_tools.__class__ is list and all(tool.__class__ is dict for tool in raw_tools):
        context.drop("tools")
        tools = [parse_tool(tool, note, "tools") for tool in raw_tools]
    entries = log.entries
    rest, row_rest = context.rest(), row
    title = row_rest.text("title")
    created_at, updated_at = row_rest.timestamp("created_at"), row_rest.timestamp("updated_at")
    return Conversation(
        id=log.session,
        made_id=stated_id is None,
        source=name,
        title=title or None,
        started_at=created_at,
        updated_at=updated_at or created_at,
        model=first_model(entries),
        shape="list",
        timeline=entries,
        tools=tools,
        extra=row_rest.rest() | ({"context": rest} if rest else {}),
    )
