"""OpenClaw's database since September 2026: each line of a session is a row.

The same file has the user's credentials, so only the tables of sessions are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.pi.companions import listed_facts, product
from agent_journal.readers.pi.names import CLAW
from agent_journal.readers.pi.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes

_WINDOWS, _NODES = "session_windows", "session_nodes"
_WINDOW_COLUMNS = ("session_id", "session_key", "display_name")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        windows = _windows(database)
        keys = {row.get("session_key") or "": session for session, row in windows.items()}
        entries = _entries(database, note)
        ids = "SELECT DISTINCT session_id FROM transcript_events ORDER BY 1"
        for (session,) in [*database.rows(ids)]:
            reader = Session(note, name, _text(session))
            try:
                reader.add_all(_lines(database, session, note))
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, f"session {session}", error.reason)
            facts = listed_facts(entries.get(_text(session) or "", {}), {**keys})
            yield reader.conversation(_display_name(windows, session) | facts, product(source) or CLAW)


def _display_name(windows: dict[str, dict[str, str | None]], session: Any) -> dict[str, Any]:
    name = windows.get(session, {}).get("display_name")
    return {"title": name} if name else {}


def _lines(database: Database, session: Any, note: Notes) -> Iterator[tuple[str, Any]]:
    query = (
        "SELECT seq, CAST(event_json AS BLOB) FROM transcript_events WHERE session_id = ? ORDER BY seq, rowid"
    )
    for seq, data in database.rows(query, session):
        where = f"session {session} event {seq}"
        value = json_stream.decode(data or b"", note, where)
        if value is not json_stream.BAD:
            yield where, value


def _windows(database: Database) -> dict[str, dict[str, str | None]]:
    """Return what the list of sessions states, by session."""
    columns = [name for name in database.columns(_WINDOWS) if name in _WINDOW_COLUMNS]
    if "session_id" not in columns:
        return {}
    windows: dict[str, dict[str, str | None]] = {}
    for row in database.rows(f"SELECT {', '.join(columns)} FROM {_WINDOWS}"):  # noqa: S608 (constant names)
        window = {name: _text(value) for name, value in zip(columns, row, strict=True)}
        windows[window["session_id"] or ""] = window
    return windows


def _entries(database: Database, note: Notes) -> dict[str, dict[str, Any]]:
    """Return the entries of the tree of sessions, by session."""
    columns = database.columns(_NODES)
    if not {"current_session_id", "entry_json"} <= set(columns):
        return {}
    label = "label" if "label" in columns else "NULL"
    query = f"SELECT current_session_id, {label}, CAST(entry_json AS BLOB) FROM {_NODES}"  # noqa: S608 (constants)
    entries: dict[str, dict[str, Any]] = {}
    for session, own_label, data in database.rows(query):
        entry = json_stream.decode(data, note, f"{_NODES} {session}") if data else {}
        if entry.__class__ is dict and (name := _text(session)):
            entries[name] = entry | ({"label": own_label} if nonempty_str(own_label) else {})
    return entries


def _text(value: Any) -> str | None:
    value = value.decode("utf-8", "replace") if value.__class__ is bytes else value
    return nonempty_str(value)
