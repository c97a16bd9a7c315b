"""The databases of Kiro CLI and Amazon Q, and a conversation that `/save` wrote to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.kiro.conversation import conversation
from agent_journal.readers.kiro.names import OLD_TABLE, TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the conversations of a database or the one of a file."""
    with source.open() as stream:
        is_database = stream.read(len(sqlite_copy.MAGIC)) == sqlite_copy.MAGIC
    if not is_database:
        yield conversation(load_document(source, note), Fields({}, note, ""), note, name)
        return
    with sqlite_copy.opened(source) as database:
        known: set[Any] = set()
        for table in (TABLE, OLD_TABLE):
            for row in _newest(database, table, note):
                where = f"{table} {row.get('key')}"
                state = row.pop("value", None)
                if state.__class__ is not dict:
                    note(Kind.BAD_RECORD, where, "its value is no conversation")
                    continue
                own_id = state.get("conversation_id")
                if own_id.__class__ is str and own_id in known:
                    note(Kind.REPEATED_RECORD, where, "the newer table has this conversation")
                    continue
                known.add(own_id if own_id.__class__ is str else None)
                yield conversation(Fields(state, note, where), Fields(row, note, where), note, name)


def _newest(database: Database, table: str, note: Notes) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, of several with one conversation the one that was changed last.

    A conversation that goes on in another folder gets a second row.
    """
    columns = database.columns(table) if table in database.tables else ()
    last: dict[Any, Any] = {}
    if "conversation_id" in columns and "updated_at" in columns:
        query = f"SELECT conversation_id, max(updated_at) FROM {table} GROUP BY conversation_id"  # noqa: S608
        last = dict(database.rows(query))
    order = ("created_at", ROWID) if "created_at" in columns else (ROWID,)
    for row in each_row(database, table, note, order=order, json_columns=("value",)):
        if last.get(row.get("conversation_id")) == row.get("updated_at") or not last:
            yield row
