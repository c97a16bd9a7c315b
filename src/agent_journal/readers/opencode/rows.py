"""The app's database: a row for each session, message and part, with most of it as JSON in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.opencode.message import Record, created, of_parts_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_decode = msgspec.json.Decoder().decode
# Columns of sessions and projects that hold JSON.
_JSON = (
    "model",
    "metadata",
    "revert",
    "permission",
    "summary_diffs",
    "sandboxes",
    "commands",
)
_OLDER, _PARTS, _NEWER, _WAITING = "message", "part", "session_message", "session_input"
# Early versions had others.
_OF_PROMPTS = {"id", "session_id", "prompt", "delivery", "admitted_seq", "promoted_seq", "time_created"}


def conversations(source: Source, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Every session of a database, the oldest first; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as opened:
        store = Store(opened, note)
        for info in store.infos():
            try:
                yield store.conversation(info, sessions)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, f"session {info.get('id')}", error.reason)


def session_ids(source: Source) -> set[str]:
    """The sessions that a database has, or none if it is not this app's."""
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
        """What the database knows of each session; also of those that only have messages."""
        yield from self._all("session", "time_created", "id")
        for table in (_OLDER, _NEWER):
            if table in self._tables:
                lost = (
                    f"SELECT DISTINCT session_id FROM {table}"  # noqa: S608 (one of two names)
                    " WHERE session_id NOT IN (SELECT id FROM session) ORDER BY 1"
                )
                for (session,) in [*self._database.rows(lost)]:
                    if isinstance(session, str):
                        self._note(Kind.DANGLING_PARENT, f"session {session}", "only its messages are there")
                        yield {"id": session}

    def _all(self, table: str, *order: str) -> Iterator[dict[str, Any]]:
        """The rows of a small table as records, without what is null."""
        if table not in self._tables:
            return
        columns = self._database.columns(table)
        by = ", ".join(name for name in order if name in columns)
        query = f"SELECT * FROM {table}" + (f" ORDER BY {by}" if by else "")  # noqa: S608 (names of our own)
        for row in self._database.rows(query):
            values = zip(columns, row, strict=False)
            yield {name: self._value(name, value, table) for name, value in values if value is not None}

    def _value(self, name: str, value: Any, table: str) -> Any:
        value = _plain(value)
        if name in _JSON and isinstance(value, str):
            decoded = json_stream.decode(value.encode("utf-8", "replace"), self._note, f"{table} {name}")
            return value if decoded is json_stream.BAD else decoded
        return value

    def conversation(self, info: dict[str, Any], sessions: Sessions) -> Conversation:
        """A session with its messages, from the store that goes further."""
        session = info.get("id")
        key = session if isinstance(session, str) else ""
        project = info.get("project_id")
        if isinstance(project, str) and project in self._projects:
            info["project"] = self._projects[project]
        if todos := self._todos.get(key):
            info["todo"] = todos
        if self._is_newer(key):
            newer = self._newer(key)
            return sessions.newer(info, newer, self._before(newer, key))
        return sessions.conversation(info, self._older(key))

    def _is_newer(self, session: str) -> bool:
        """Whether a session is to be read from the second store: the first one has less of it, or nothing."""
        older, newer = self._last(_OLDER, session), self._last(_NEWER, session)
        if older is not None and newer is not None:
            where = f"session {session}"
            self._note(Kind.REPEATED_RECORD, where, "it is in both stores; the one that goes further is read")
        return newer is not None and (older is None or newer > older)

    def _before(self, newer: list[tuple[dict[str, Any], str]], session: str) -> list[Record]:
        """What the first store has from before the second began: the app does not always take it over.

        A prompt alone is no sign of that: both may have it, under ids and at times of their own.
        """
        if _OLDER not in self._tables:
            return []
        known = {raw["id"] for raw, _ in newer if raw["id"].__class__ is str}
        first = min((created(raw) for raw, _ in newer), default=0)
        before = [each for each in self._older(session) if created(each.info) < first]
        is_answered = any(each.info.get("role") == "assistant" for each in before)
        return [each for each in before if each.info["id"] not in known] if is_answered else []

    def _last(self, table: str, session: str) -> int | None:
        if table not in self._tables:
            return None
        query = f"SELECT max(time_created) FROM {table} WHERE session_id = ?"  # noqa: S608 (one of two names)
        (last,) = next(iter(self._database.rows(query, session)), (None,))
        return last if isinstance(last, int) else None

    def _newer(self, session: str) -> list[tuple[dict[str, Any], str]]:
        query = (
            "SELECT id, type, time_created, CAST(data AS BLOB) FROM session_message"
            " WHERE session_id = ? ORDER BY seq, id"
        )
        found = []
        for *columns, data in self._database.rows(query, session):
            name, kind, created = map(_plain, columns)
            record = self._decoded(data, f"message {name}")
            if record is not None:
                record = {"id": name, "type": kind, "time": {"created": created}} | record
                found.append((record, f"message {name}"))
        known = {record["id"] for record, _ in found}
        return found + [each for each in self._waiting(session) if each[0]["id"] not in known]

    def _waiting(self, session: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Prompts that wait until the model is free; they become messages of the same id."""
        if _WAITING not in self._tables or not set(self._database.columns(_WAITING)) >= _OF_PROMPTS:
            return
        query = (
            "SELECT id, delivery, time_created, CAST(prompt AS BLOB) FROM session_input"
            " WHERE session_id = ? AND promoted_seq IS NULL ORDER BY admitted_seq, id"
        )
        for *columns, data in self._database.rows(query, session):
            name, delivery, created = map(_plain, columns)
            prompt = self._decoded(data, f"prompt {name}")
            if prompt is not None:
                record = {"id": name, "type": "user", "time": {"created": created}, "delivery": delivery}
                yield prompt | record, f"prompt {name}"

    def _older(self, session: str) -> list[Record]:
        parts: dict[str, list[Any]] = {}
        if _PARTS in self._tables:
            query = "SELECT message_id, id, CAST(data AS BLOB) FROM part WHERE session_id = ? ORDER BY id"
            for message, name, data in self._database.rows(query, session):
                record = self._decoded(data, f"part {name}")
                if record is not None:
                    record["id"] = _plain(name)
                    parts.setdefault(_plain(message), []).append(record)
        if _OLDER not in self._tables:
            return []
        query = (
            "SELECT id, time_created, CAST(data AS BLOB) FROM message WHERE session_id = ?"
            " ORDER BY time_created, id"
        )
        found: list[Record] = []
        for *columns, data in self._database.rows(query, session):
            name, created = map(_plain, columns)
            where = f"message {name}"
            info = {"time": {"created": created}} | (self._decoded(data, where) or {})
            info["id"] = name
            found.append(Record(info, parts.pop(name, []), where))
        for message, left in parts.items():
            name = str(message)
            self._note(Kind.DANGLING_PARENT, f"message {name}", "only its parts are there")
            found.append(of_parts_alone(name, left))
        return found

    def _decoded(self, data: Any, where: str) -> dict[str, Any] | None:
        """The object in a column."""
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


def _plain(value: Any) -> Any:
    """The value of a column; bytes where there should be text are read as text."""
    return value.decode("utf-8", "replace") if value.__class__ is bytes else value
