"""What happened in a session, as its file tells it: messages, messages again, changes, steps back.

The app forgets what was taken back or replaced; here it stays. A message that was taken back is on another
branch, and what a message said before it was written again is kept where the new one does not say it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.gemini_cli import relist, repeats
from agent_journal.readers.gemini_cli.message import Place, message
from agent_journal.readers.gemini_cli.relist import is_equal as _is_equal

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_CHANGE, _BACK, _MESSAGES = "$set", "$rewindTo", "messages"
# What every message changes; the last one counts.
_PASSING = {"lastUpdated"}
# The id of a message in which a resume repeats what the calls of another gave ends with this (0.61).
_REBUILT = "_response"
# Where earlier values are kept; in the form of the source's own words, of which it is none.
_REPLACED = "$replaced"


class _Said:
    """A message's record, and what earlier records of it said that it does not."""

    __slots__ = ("earlier", "id", "parent", "record", "where")

    def __init__(
        self, record: dict[str, Any], where: int | str, parent: int | None, identity: str | None
    ) -> None:
        self.record = record
        self.where = where
        self.parent = parent
        self.id = identity
        self.earlier: list[dict[str, Any]] = []


class _Happened:
    """A change or a step back."""

    __slots__ = ("data", "name", "parent", "where")

    def __init__(self, name: str, data: dict[str, Any], where: int | str, parent: int | None) -> None:
        self.name = name
        self.data = data
        self.where = where
        self.parent = parent


class Replay:
    """Takes the records of one session in their order, then tells its timeline."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self.head: dict[str, Any] = {}
        """What is known of the session as a whole, the last word each."""
        self._entries: list[_Said | _Happened] = []
        # Places of the messages that count now, by id.
        self._current: dict[str, int] = {}
        # And of those that a replaced history left out.
        self._left_out: dict[str, int] = {}
        self._taken_back: set[str] = set()
        self._before: int | None = None
        self.is_tree = False

    @property
    def is_one(self) -> bool:
        """Whether anything in the file was known to be of a session."""
        return bool(self.head) or any(isinstance(entry, _Said) for entry in self._entries)

    def add(self, record: Any, where: int | str) -> None:
        """Take a line of a log."""
        if record.__class__ is not dict:
            self._unknown({"value": record}, where)
        elif record.get(_BACK).__class__ is str:
            self._step_back(record, where)
        elif record.get("id").__class__ is str or ("content" in record and "type" in record):
            self.say(record, where)
        elif record.get(_CHANGE).__class__ is dict:
            self._change(record, where)
        elif record.get("sessionId").__class__ is str:
            self.begin(record, where)
        else:
            self._unknown(record, where)

    def begin(self, record: dict[str, Any], where: int | str) -> None:
        """Take the first line of a log, or what a document has beside its messages."""
        if record.get(_MESSAGES).__class__ is list:
            for index, raw in enumerate(record.pop(_MESSAGES)):
                if raw.__class__ is dict:
                    self.say(raw, f"messages[{index}]")
                else:
                    self._unknown({"value": raw}, f"messages[{index}]")
        if self.head:
            self._happened("metadata", dict(record), where)
        self.head = record | self.head

    def _relist(self, raw: Any, where: int | str) -> None:
        """Take a message of a history that is written as a whole."""
        if raw.__class__ is not dict:
            self._unknown({"value": raw}, where)
            return
        known = self._known(_id(raw))
        self.say(raw if known is None else relist.fuller(known, raw), where)

    def _known(self, identity: str | None) -> dict[str, Any] | None:
        """The record of a message that counts, or did until a replaced history left it out."""
        if identity is None:
            return None
        place = self._current.get(identity, self._left_out.get(identity))
        entry = None if place is None else self._entries[place]
        return entry.record if isinstance(entry, _Said) else None

    def say(self, record: dict[str, Any], where: int | str) -> None:
        """Take a message; one that is written again takes the place of what it was."""
        identity = _id(record) or None
        if identity is not None and identity in self._left_out:
            self._current[identity] = self._left_out.pop(identity)
        if identity is not None and identity in self._current:
            self._replace(self._current[identity], record, where)
            return
        if identity is not None and identity in self._taken_back:
            self._note(Kind.DUPLICATE_ID, where, f"{identity[:60]!r} was taken back")
            identity = None
        self._append(_Said(record, where, self._before, identity))
        place = len(self._entries) - 1
        self._current[identity or f"\0{place}"] = place

    def _append(self, entry: _Said | _Happened) -> None:
        self._before = len(self._entries)
        self._entries.append(entry)

    def _replace(self, place: int, record: dict[str, Any], where: int | str) -> None:
        entry = self._entries[place]
        if isinstance(entry, _Said):
            record = relist.with_usage(entry.record, record)
            gone = only_before(entry.record, record)
            if gone:
                entry.earlier.append(gone)
            entry.record, entry.where = record, where

    def _step_back(self, record: dict[str, Any], where: int | str) -> None:
        """Take back a message and all that follow it; all messages if it is not known, as the app does."""
        identity = record[_BACK]
        self._happened(_BACK, record, where)
        self.is_tree = True
        place = self._current.get(identity)
        if place is None:
            self._note(Kind.DANGLING_PARENT, where, f"{identity[:60]!r} is not there; all is taken back")
            self._taken_back.update(self._current)
            self._current.clear()
            self._before = None
            return
        self._before = self._entries[place].parent
        while (last := self._current.popitem()[0]) != identity:
            self._taken_back.add(last)
        self._taken_back.add(identity)

    def _change(self, record: dict[str, Any], where: int | str) -> None:
        """Take new facts about the session; where its messages are replaced, those that went stay before."""
        values = dict(record[_CHANGE])
        history = values.pop(_MESSAGES, None)
        if history.__class__ is list:
            listed = [self._listed(raw, values.get("lastUpdated")) for raw in history]
            self._happened(_CHANGE, {**record, _CHANGE: {**values, _MESSAGES: listed}}, where)
            new = len(self._entries)
            for index, raw in enumerate(history):
                self._relist(raw, f"line {where} messages[{index}]")
            self._keep_current(history, new)
        elif len(record) > 1 or not values.keys() <= _PASSING:
            self._happened(_CHANGE, record, where)
        self._know(values)

    def _listed(self, raw: Any, listed_at: Any) -> Any:
        """What the event of a replaced history says of a message: its id, and a time found nowhere else."""
        identity = _id(raw)
        known = self._known(identity)
        at = None if known is None else raw.get("timestamp")
        if known is None or at in (None, known.get("timestamp"), listed_at):
            return identity
        return {"id": identity, "timestamp": at}

    def _keep_current(self, history: list[Any], new: int) -> None:
        """Let only the messages of a history count, in its order; those from place `new` on came with it."""
        current = self._current
        named = [identity for raw in history if (identity := _id(raw)) is not None]
        self._current = {identity: current[identity] for identity in named if identity in current}
        self._current |= {name: place for name, place in current.items() if place >= new}
        self._left_out |= {name: current[name] for name in current.keys() - self._current.keys()}

    def _know(self, values: dict[str, Any]) -> None:
        known = {name: self.head[name] for name in values.keys() - _PASSING if name in self.head}
        gone = only_before(known, values)
        self.head |= values
        if gone:
            self.head.setdefault(_REPLACED, []).append(gone)

    def _unknown(self, data: dict[str, Any], where: int | str) -> None:
        self._note(Kind.UNKNOWN_TYPE, where, "no message and no change of a session")
        self._happened("unknown", data, where)

    def _happened(self, name: str, data: dict[str, Any], where: int | str) -> None:
        self._append(_Happened(name, data, where, self._before))

    def timeline(self, owner: str) -> list[Message | Event]:
        """All messages and events; ids that the source does not have are made of the owner's."""
        names = [self._name(entry, owner) for entry in self._entries]
        given = self._given()
        told: list[Message | Event] = []
        for entry, name in zip(self._entries, names, strict=True):
            parent = None if entry.parent is None or not self.is_tree else names[entry.parent]
            told.append(self._told(entry, name, parent, given))
        return told

    def _given(self) -> dict[str, list[Any]]:
        """What each call gave, by the call's id."""
        given: dict[str, list[Any]] = {}
        for entry in self._entries:
            if isinstance(entry, _Said) and "toolCalls" in entry.record:
                given |= relist.results(entry.record)
        return given

    def head_id(self, timeline: list[Message | Event]) -> str | None:
        """The last message that was not taken back."""
        left = (timeline[place] for place in sorted(self._current.values(), reverse=True))
        return next((entry.id for entry in left if isinstance(entry, Message)), None)

    def _name(self, entry: _Said | _Happened, owner: str) -> str:
        if isinstance(entry, _Said) and entry.id is not None:
            return entry.id
        return ids.made(owner, entry.where)

    def _told(
        self, entry: _Said | _Happened, name: str, parent: str | None, given: dict[str, list[Any]]
    ) -> Message | Event:
        if isinstance(entry, _Happened):
            at = _changed_at(entry.data)
            return Event(id=name, made_id=True, parent_id=parent, at=at, name=entry.name, data=entry.data)
        record = entry.record
        if entry.id is not None:
            del record["id"]
        elif not record.get("id"):
            self._note(Kind.MISSING_ID, entry.where, "a message has no id")
        if entry.earlier:
            record[_REPLACED] = entry.earlier
        place = Place(name, entry.id is None, parent)
        content = record.get("content")
        if not given or record.get("type") != "user" or content.__class__ is not list:
            return message(record, place, self._note, entry.where)
        if calls := repeats.calls_answered(content, given, is_rebuilt=name.endswith(_REBUILT)):
            at = Fields(record, self._note, entry.where).moment("timestamp")
            if repeats.is_known(content, calls, given):
                record["content"] = calls
            return Event(
                id=name, made_id=place.made_id, parent_id=parent, at=at, name=repeats.GIVEN, data=record
            )
        record["content"] = repeats.without_results(content, given)
        return replace(message(record, place, self._note, entry.where), native=content)


def _id(raw: Any) -> str | None:
    identity = raw.get("id") if raw.__class__ is dict else None
    return identity if identity.__class__ is str else None


def _changed_at(data: dict[str, Any]) -> str | None:
    values = data.get(_CHANGE)
    return timestamps.moment(values.get("lastUpdated")) if values.__class__ is dict else None


def only_before(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What a record said that the one in its place does not say; mostly that only says more."""
    gone: dict[str, Any] = {}
    for name, value in old.items():
        now = new.get(name)
        if not value or value is now or _is_equal(value, now):
            continue
        if value.__class__ is list and now.__class__ is list:
            value = _items_gone(value, now)  # noqa: PLW2901 (what is left of it)
        if value:
            gone[name] = value
    return gone


def _items_gone(old: list[Any], new: list[Any]) -> list[Any]:
    """The items that are not there any longer; of a call that is, what it said else."""
    if _is_equal(old, new[: len(old)]):
        return []
    by_id = {identity: item for item in new if (identity := _id(item)) is not None}
    gone: list[Any] = []
    for place, item in enumerate(old):
        identity = _id(item)
        now = by_id.get(identity) if identity is not None else new[place] if place < len(new) else None
        if _is_equal(item, now):
            continue
        if identity is not None and now is not None:
            changed = {name: value for name, value in item.items() if not _is_equal(value, now.get(name))}
            gone.append({"id": identity, **changed})
        else:
            gone.append(item)
    return gone
