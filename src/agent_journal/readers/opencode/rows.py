"""The app's database: a row for each session, message and part, with most fields as JSON in one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.opencode.message import Record, created, record_from_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_decode = msgspec.json.Decoder().decode
# Columns of sessions and projects that hold JSON.
_JSON_COLUMNS = (
    "model",
    "metadata",
    "revert",
    "permission",
    "summary_diffs",
    "sandboxes",
    "commands",
)
_MESSAGES_V1, _PARTS, _MESSAGES_V2, _WAITING_PROMPTS = "message", "part", "session_message", "session_input"
# Early versions had other columns.
_PROMPT_COLUMNS = {"id", "session_id", "prompt", "delivery", "admitted_seq", "promoted_seq", "time_created"}


def read_database(source: Input, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Yield every session of a database, the oldest first; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as opened:
        store = Store(opened, note)
        for info in store.infos():
            try:
                yield store.conversation(info, sessions)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, f"session {info.get('id')}", error.reason)


def session_ids(source: Input) -> set[str]:
    """Return the ids of the sessions in a database; empty if it is not this app's."""
    try:
        with sqlite_copy.glanced(source) as opened:
            if "session" not in opened.tables:
                return set()
            return {name for (name,) in opened.rows("SELECT id FROM session") if isinstance(name, str)}
    except UnreadableSource:
        return set()


class Store:
    """The rows of one database."""

    def __init__(self, opened: Database, note: Notes) -> None:
        self._database = opened
        self._note = note
        self._tables = opened.tables
        self._projects = {row["id"]: row for row in self._all("project") if isinstance(row.get("id"), str)}
        self._todos: dict[str, list[dict[str, Any]]] = {}
        for row in self._all("todo", "position"):
            self._todos.setdefault(str(row.pop("session_id", "")), []).append(row)

    def infos(self) -> Iterator[dict[str, Any]]:
        """Yield the record of each session; also of those that only have messages."""
        yield from self._all("session", "time_created", "id")
        for table in (_MESSAGES_V1, _MESSAGES_V2):
            if table in self._tables:
                orphans = (
                    f"SELECT DISTINCT session_id FROM {table}"  # noqa: S608 (one of two names)
                    " WHERE session_id NOT IN (SELECT id FROM session) ORDER BY 1"
                )
                for (session,) in [*self._database.rows(orphans)]:
                    if isinstance(session, str):
                        self._note(Kind.DANGLING_PARENT, f"session {session}", "only its messages exist")
                        yield {"id": session}

    def _all(self, table: str, *order: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a small table as records, without null values."""
        if table not in self._tables:
            return
        columns = self._database.columns(table)
        by = ", ".join(name for name in order if name in columns)
        query = f"SELECT * FROM {table}" + (f" ORDER BY {by}" if by else "")  # noqa: S608 (constant names)
        for row in self._database.rows(query):
            values = zip(columns, row, strict=False)
            yield {name: self._value(name, value, table) for name, value in values if value is not None}

    def _value(self, name: str, value: Any, table: str) -> Any:
        value = _decode_text(value)
        if name in _JSON_COLUMNS and isinstance(value, str):
            decoded = json_stream.decode(value.encode("utf-8", "replace"), self._note, f"{table} {name}")
            return value if decoded is json_stream.BAD else decoded
        return value

    def conversation(self, info: dict[str, Any], sessions: Sessions) -> Conversation:
        """Return a session with its messages, from the store with the later messages."""
        session = info.get("id")
        key = session if isinstance(session, str) else ""
        project = info.get("project_id")
        if isinstance(project, str) and project in self._projects:
            info["project"] = self._projects[project]
        if todos := self._todos.get(key):
            info["todo"] = todos
        if self._is_in_v2(key):
            records = self._records_v2(key)
            return sessions.conversation_v2(info, records, self._earlier_records(records, key))
        return sessions.conversation(info, self._records_v1(key))

    def _is_in_v2(self, session: str) -> bool:
        """Whether a session is read from the second store: the first one has fewer messages, or none."""
        last_v1, last_v2 = self._last_time(_MESSAGES_V1, session), self._last_time(_MESSAGES_V2, session)
        if last_v1 is not None and last_v2 is not None:
            where = f"session {session}"
            self._note(
                Kind.REPEATED_RECORD, where, "it is in both stores; the one with later messages is read"
            )
        return last_v2 is not None and (last_v1 is None or last_v2 > last_v1)

    def _earlier_records(self, records_v2: list[tuple[dict[str, Any], str]], session: str) -> list[Record]:
        """Return records of the first store from before the second, which the app does not always migrate.

        A prompt without an answer does not count: both stores may have it, with different ids and times.
        """
        if _MESSAGES_V1 not in self._tables:
            return []
        known = {raw["id"] for raw, _ in records_v2 if raw["id"].__class__ is str}
        first = min((created(raw) for raw, _ in records_v2), default=0)
        earlier = [record for record in self._records_v1(session) if created(record.info) < first]
        has_answer = any(record.info.get("role") == "assistant" for record in earlier)
        return [record for record in earlier if record.info["id"] not in known] if has_answer else []

    def _last_time(self, table: str, session: str) -> int | None:
        if table not in self._tables:
            return None
        query = f"SELECT max(time_created) FROM {table} WHERE session_id = ?"  # noqa: S608 (one of two names)
        (last,) = next(iter(self._database.rows(query, session)), (None,))
        return last if isinstance(last, int) else None

    def _records_v2(self, session: str) -> list[tuple[dict[str, Any], str]]:
        query = (
            "SELECT id, type, time_created, CAST(data AS BLOB) FROM session_message"
            " WHERE session_id = ? ORDER BY seq, id"
        )
        records = []
        for *columns, data in self._database.rows(query, session):
            name, kind, created = map(_decode_text, columns)
            record = self._decode_object(data, f"message {name}")
            if record is not None:
                record = {"id": name, "type": kind, "time": {"created": created}} | record
                records.append((record, f"message {name}"))
        known = {record["id"] for record, _ in records}
        return records + [entry for entry in self._waiting_prompts(session) if entry[0]["id"] not in known]

    def _waiting_prompts(self, session: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield prompts that wait for the model; they become messages with the same id."""
        if (
            _WAITING_PROMPTS not in self._tables
            or not set(self._database.columns(_WAITING_PROMPTS)) >= _PROMPT_COLUMNS
        ):
            return
        query = (
            "SELECT id, delivery, time_created, CAST(prompt AS BLOB) FROM session_input"
            " WHERE session_id = ? AND promoted_seq IS NULL ORDER BY admitted_seq, id"
        )
        for *columns, data in self._database.rows(query, session):
            name, delivery, created = map(_decode_text, columns)
            prompt = self._decode_object(data, f"prompt {name}")
            if prompt is not None:
                record = {"id": name, "type": "user", "time": {"created": created}, "delivery": delivery}
                yield prompt | record, f"prompt {name}"

    def _records_v1(self, session: str) -> list[Record]:
        parts: dict[str, list[Any]] = {}
        if _PARTS in self._tables:
            query = "SELECT message_id, id, CAST(data AS BLOB) FROM part WHERE session_id = ? ORDER BY id"
            for message, name, data in self._database.rows(query, session):
                record = self._decode_object(data, f"part {name}")
                if record is not None:
                    record["id"] = _decode_text(name)
                    parts.setdefault(_decode_text(message), []).append(record)
        if _MESSAGES_V1 not in self._tables:
            return []
        query = (
            "SELECT id, time_created, CAST(data AS BLOB) FROM message WHERE session_id = ?"
            " ORDER BY time_created, id"
        )
        records: list[Record] = []
        for *columns, data in self._database.rows(query, session):
            name, created = map(_decode_text, columns)
            where = f"message {name}"
            info = {"time": {"created": created}} | (self._decode_object(data, where) or {})
            info["id"] = name
            records.append(Record(info, parts.pop(name, []), where))
        for message, orphans in parts.items():
            name = str(message)
            self._note(Kind.DANGLING_PARENT, f"message {name}", "only its parts exist")
            records.append(record_from_parts(name, orphans))
        return records

    def _decode_object(self, data: Any, where: str) -> dict[str, Any] | None:
        """Decode the object in a column."""
        if not isinstance(data, bytes):
            self._note(Kind.BAD_RECORD, where, "its data is null")
            return None
        try:
            value = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            value = json_stream.decode(data, self._note, where)
        if value is json_stream.BAD:
            return None
        if value.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"its data is {type(value).__name__}")
            return {"data": value}
        return value


def _decode_text(value: Any) -> Any:
    """Return the value of a column; bytes are decoded to text."""
    return value.decode("utf-8", "replace") if value.__class__ is bytes else value
