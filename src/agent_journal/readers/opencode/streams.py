"""Exports (a session and its messages in one object) and streams (sessions, messages, parts one by one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream, spill
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind
from agent_journal.readers.opencode.detect import EXPORT, is_export, is_wrapped
from agent_journal.readers.opencode.message import Record, created, of_parts_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_MESSAGE, _PART = 0, 1


def conversations(source: Source, version: str, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Every session of a file: of exports as they come, of streams the oldest first."""
    stream = Stream(note)
    is_any = False
    for where, value in json_stream.values(source, note):
        if is_export(value):
            is_any = True
            yield _exported(value, sessions, note)
        else:
            stream.add(value, where)
    if version == EXPORT and not is_any:
        yield from _salvaged(source, sessions, note)
        return
    is_any = is_any or stream.is_one
    yield from stream.conversations(sessions)
    if not is_any:
        raise UnreadableSource(source.label, "no record in it is one of a session")


def _exported(value: dict[str, Any], sessions: Sessions, note: Notes) -> Conversation:
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


def _salvaged(source: Source, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """What is left of an export that was cut."""
    value: dict[str, Any] = {"info": {}, "messages": []}
    for key, index, found in json_stream.members(source, note):
        if index is None:
            value[key] = found
        elif isinstance(value.setdefault(key, []), list):
            value[key].append(found)
    if value["info"].__class__ is not dict or value["messages"].__class__ is not list:
        raise UnreadableSource(source.label, "no session is left in it")
    if value["info"] or value["messages"]:
        yield _exported(value, sessions, note)


class Stream:
    """Takes records in any order, then tells the sessions they are of."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._infos: dict[str, dict[str, Any]] = {}
        self._projects: dict[str, dict[str, Any]] = {}
        self._shares: list[dict[str, Any]] = []
        self._records = spill.Grouped()
        # The sessions that records name, in the order in which they do.
        self._named: dict[str, None] = {}
        self._last = ""

    @property
    def is_one(self) -> bool:
        """Whether any record was known to be of a session."""
        return bool(self._named or self._infos)

    def add(self, value: Any, where: str) -> None:
        """Take a record."""
        if value.__class__ is list:
            self._info(self._last).setdefault("lists", []).append(value)
        elif value.__class__ is not dict:
            self._unknown(value, where)
        elif is_wrapped(value):
            self._add_wrapped(value, where)
        elif _has_texts(value, "messageID", "type"):
            self._keep(_PART, value, where)
        elif _has_texts(value, "role", "id"):
            self._keep(_MESSAGE, value, where)
        elif "worktree" in value and _has_texts(value, "id"):
            self._projects[value["id"]] = value
        elif "secret" in value and "url" in value:
            # Who has the secret of a shared session can change it.
            self._shares.append({name: kept for name, kept in value.items() if name != "secret"})
        elif _has_texts(value, "id") and ("projectID" in value or "directory" in value or "title" in value):
            self._begin(value)
        else:
            self._unknown(value, where)

    def _begin(self, value: dict[str, Any]) -> None:
        session = value["id"]
        known = self._infos.get(session, {})
        self._infos[session] = known | value
        self._last = session

    def _add_wrapped(self, event: dict[str, Any], where: str) -> None:
        """Take the part that an event brings; what the event says else is kept with it."""
        part = event.pop("part")
        session = event.pop("sessionID")
        part.setdefault("sessionID", session)
        if event:
            part["event"] = event
        if _has_texts(part, "messageID"):
            self._keep(_PART, part, where)
        else:
            self._unknown(part, where)

    def _keep(self, kind: int, value: dict[str, Any], where: str) -> None:
        session = value.get("sessionID")
        session = session if isinstance(session, str) else self._last
        self._last = session
        self._named[session] = None
        try:
            self._records.add(session, kind, [kind, value, where])
        except RecursionError:  # it could just be decoded
            self._note(Kind.BAD_RECORD, where, "nested too deeply")

    def _unknown(self, value: Any, where: str) -> None:
        self._note(Kind.UNKNOWN_TYPE, where, "a record that is of no known kind")
        self._info(self._last).setdefault("unknown", []).append(value)

    def _info(self, session: str) -> dict[str, Any]:
        return self._infos.setdefault(session, {"id": session} if session else {})

    def conversations(self, sessions: Sessions) -> Iterator[Conversation]:
        """Every session, the oldest first."""
        self._place_shares()
        infos = {name: self._infos.get(name, {"id": name} if name else {}) for name in self._all()}
        for name in sorted(infos, key=lambda name: created(infos[name])):
            info = infos[name]
            project = self._projects.get(str(info.get("projectID", "")))
            if project is not None:
                info["project"] = project
            yield sessions.conversation(info, self._messages(name))

    def _all(self) -> list[str]:
        """The sessions; what came before any of them was named belongs to the first."""
        names = list(self._named | dict.fromkeys(self._infos))
        if "" in names and len(names) > 1 and "" not in self._named:
            names.remove("")
            self._infos[names[0]] = self._infos.pop("") | self._infos.get(names[0], {"id": names[0]})
        return names

    def _place_shares(self) -> None:
        """Put what a session was shared as to it: its id ends with the share's."""
        for share in self._shares:
            name = share.get("id")
            ends = [full for full in self._all() if isinstance(name, str) and name and full.endswith(name)]
            self._info(ends[0] if ends else self._last).setdefault("shares", []).append(share)

    def _messages(self, session: str) -> list[Record]:
        """The messages of a session in the order of their times, each with its parts."""
        infos: dict[str, Record] = {}
        parts: dict[str, dict[str, dict[str, Any]]] = {}
        for kind, value, where in self._records.of(session):
            if kind == _MESSAGE:
                infos[value["id"]] = Record(self._newest(infos, value), [], where)
            else:
                of_message = parts.setdefault(value["messageID"], {})
                name = value.get("id")
                name = name if isinstance(name, str) and name else where
                of_message[name] = _newest(of_message.get(name), value)
        found = sorted(infos.values(), key=lambda record: (created(record.info), record.info["id"]))
        for record in found:
            record.parts.extend(_in_order(parts.pop(record.info["id"], {})))
        for name, left in parts.items():
            self._note(Kind.DANGLING_PARENT, f"message {name}", "only its parts are there")
            found.append(of_parts_alone(name, _in_order(left)))
        return found

    def _newest(self, infos: dict[str, Record], value: dict[str, Any]) -> dict[str, Any]:
        before = infos.get(value["id"])
        return _newest(None if before is None else before.info, value)


def _has_texts(value: dict[str, Any], *names: str) -> bool:
    return all(value.get(name).__class__ is str for name in names)


def _newest(before: dict[str, Any] | None, value: dict[str, Any]) -> dict[str, Any]:
    """A record that came again, with what it was before if that was something else."""
    if before is None or before == value:
        return value
    return {**value, "$replaced": [*before.pop("$replaced", ()), before]}


def _in_order(parts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts in the order of their ids, which count up; as they came where an id is none of the app's."""
    if all(name.startswith("prt_") for name in parts):
        return [parts[name] for name in sorted(parts)]
    return list(parts.values())
