"""Exports (a session with its messages in one object) and streams (sessions, messages, parts one by one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream, spill
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind
from agent_journal.readers.opencode.detect import EXPORT, is_export, is_wrapped
from agent_journal.readers.opencode.message import Record, created, record_from_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_MESSAGE, _PART = 0, 1


def read_file(source: Input, version: str, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Yield every session of a file: exports in file order, streams the oldest first."""
    stream = Stream(note)
    has_export = False
    for where, value in json_stream.values(source, note):
        if is_export(value):
            has_export = True
            yield _convert_export(value, sessions, note)
        else:
            stream.add(value, where)
    if version == EXPORT and not has_export:
        yield from _salvage(source, sessions, note)
        return
    has_session = has_export or stream.has_session
    yield from stream.conversations(sessions)
    if not has_session:
        raise UnreadableSource(source.label, "it contains no record of a session")


def _convert_export(value: dict[str, Any], sessions: Sessions, note: Notes) -> Conversation:
    info, messages = value.pop("info"), value.pop("messages")
    if value:
        info = {**value, **info}
    return sessions.conversation(info, [_record(raw, index, note) for index, raw in enumerate(messages)])


def _record(raw: Any, index: int, note: Notes) -> Record:
    where = f"messages[{index}]"
    if raw.__class__ is not dict or raw.get("info").__class__ is not dict:
        note(Kind.WRONG_TYPE, where, "a message has no info")
        return Record({"value": raw}, [], where)
    info, parts = raw.pop("info"), raw.pop("parts", None)
    if parts.__class__ is not list:
        parts = [] if parts is None else [parts]
    return Record({**raw, **info}, parts, where)


def _salvage(source: Input, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Yield the session of a truncated export, as far as it can be read."""
    export: dict[str, Any] = {"info": {}, "messages": []}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            export[key] = value
        elif isinstance(export.setdefault(key, []), list):
            export[key].append(value)
    if export["info"].__class__ is not dict or export["messages"].__class__ is not list:
        raise UnreadableSource(source.label, "no session in it can be read")
    if export["info"] or export["messages"]:
        yield _convert_export(export, sessions, note)


class Stream:
    """Collects records in any order, then yields their sessions."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._infos: dict[str, dict[str, Any]] = {}
        self._projects: dict[str, dict[str, Any]] = {}
        self._shares: list[dict[str, Any]] = []
        self._records = spill.Grouped()
        # The sessions that records name, in order of appearance.
        self._named: dict[str, None] = {}
        self._last = ""

    @property
    def has_session(self) -> bool:
        """Whether any record belongs to a session."""
        return bool(self._named or self._infos)

    def add(self, value: Any, where: str) -> None:
        """Add a record."""
        if value.__class__ is list:
            self._info(self._last).setdefault("lists", []).append(value)
        elif value.__class__ is not dict:
            self._add_unknown(value, where)
        elif is_wrapped(value):
            self._add_wrapped(value, where)
        elif _has_texts(value, "messageID", "type"):
            self._add_record(_PART, value, where)
        elif _has_texts(value, "role", "id"):
            self._add_record(_MESSAGE, value, where)
        elif "worktree" in value and _has_texts(value, "id"):
            self._projects[value["id"]] = value
        elif "secret" in value and "url" in value:
            # The secret of a shared session allows to change it.
            self._shares.append({name: field for name, field in value.items() if name != "secret"})
        elif _has_texts(value, "id") and ("projectID" in value or "directory" in value or "title" in value):
            self._add_session(value)
        else:
            self._add_unknown(value, where)

    def _add_session(self, value: dict[str, Any]) -> None:
        session = value["id"]
        known = self._infos.get(session, {})
        self._infos[session] = known | value
        self._last = session

    def _add_wrapped(self, event: dict[str, Any], where: str) -> None:
        """Add the part in an event; the other fields of the event are stored with it."""
        part = event.pop("part")
        session = event.pop("sessionID")
        part.setdefault("sessionID", session)
        if event:
            part["event"] = event
        if _has_texts(part, "messageID"):
            self._add_record(_PART, part, where)
        else:
            self._add_unknown(part, where)

    def _add_record(self, kind: int, value: dict[str, Any], where: str) -> None:
        session = value.get("sessionID")
        session = session if isinstance(session, str) else self._last
        self._last = session
        self._named[session] = None
        try:
            self._records.add(session, kind, [kind, value, where])
        except RecursionError:  # decoding allows slightly deeper nesting than encoding
            self._note(Kind.BAD_RECORD, where, "nested too deeply")

    def _add_unknown(self, value: Any, where: str) -> None:
        self._note(Kind.UNKNOWN_TYPE, where, "a record of an unknown kind")
        self._info(self._last).setdefault("unknown", []).append(value)

    def _info(self, session: str) -> dict[str, Any]:
        return self._infos.setdefault(session, {"id": session} if session else {})

    def conversations(self, sessions: Sessions) -> Iterator[Conversation]:
        """Yield every session, the oldest first."""
        self._assign_shares()
        infos = {name: self._infos.get(name, {"id": name} if name else {}) for name in self._session_ids()}
        for name in sorted(infos, key=lambda name: created(infos[name])):
            info = infos[name]
            project = self._projects.get(str(info.get("projectID", "")))
            if project is not None:
                info["project"] = project
            yield sessions.conversation(info, self._messages(name))

    def _session_ids(self) -> list[str]:
        """Return the session ids; records before the first id belong to the first session."""
        names = list(self._named | dict.fromkeys(self._infos))
        if "" in names and len(names) > 1 and "" not in self._named:
            names.remove("")
            self._infos[names[0]] = self._infos.pop("") | self._infos.get(names[0], {"id": names[0]})
        return names

    def _assign_shares(self) -> None:
        """Add each share to its session, whose id ends with the share's id."""
        for share in self._shares:
            name = share.get("id")
            matching = [
                session
                for session in self._session_ids()
                if isinstance(name, str) and name and session.endswith(name)
            ]
            self._info(matching[0] if matching else self._last).setdefault("shares", []).append(share)

    def _messages(self, session: str) -> list[Record]:
        """Return the messages of a session in the order of their times, with their parts."""
        infos: dict[str, Record] = {}
        parts: dict[str, dict[str, dict[str, Any]]] = {}
        for kind, value, where in self._records.of(session):
            if kind == _MESSAGE:
                infos[value["id"]] = Record(self._newest(infos, value), [], where)
            else:
                message_parts = parts.setdefault(value["messageID"], {})
                name = value.get("id")
                name = name if isinstance(name, str) and name else where
                message_parts[name] = _newest(message_parts.get(name), value)
        records = sorted(infos.values(), key=lambda record: (created(record.info), record.info["id"]))
        for record in records:
            record.parts.extend(_in_order(parts.pop(record.info["id"], {})))
        for name, orphans in parts.items():
            self._note(Kind.DANGLING_PARENT, f"message {name}", "only its parts exist")
            records.append(record_from_parts(name, _in_order(orphans)))
        return records

    def _newest(self, infos: dict[str, Record], value: dict[str, Any]) -> dict[str, Any]:
        before = infos.get(value["id"])
        return _newest(None if before is None else before.info, value)


def _has_texts(value: dict[str, Any], *names: str) -> bool:
    return all(value.get(name).__class__ is str for name in names)


def _newest(before: dict[str, Any] | None, value: dict[str, Any]) -> dict[str, Any]:
    """Return a repeated record, with its previous version if that was different."""
    if before is None or before == value:
        return value
    return {**value, "$replaced": [*before.pop("$replaced", ()), before]}


def _in_order(parts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort parts by their ids, which are in order; keep the order of arrival if an id is not the app's."""
    if all(name.startswith("prt_") for name in parts):
        return [parts[name] for name in sorted(parts)]
    return list(parts.values())
