"""Replays the log of a session: messages, repeated messages, changes, rewinds.

The app drops what was rewound or replaced; a conversation keeps it. A rewound message is on another branch,
and values that a repeated message no longer has are in its `extra`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.gemini_cli import relist, repeats
from agent_journal.readers.gemini_cli.message import MessagePosition, message
from agent_journal.readers.gemini_cli.relist import is_equal as _is_equal

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_CHANGE, _REWIND, _MESSAGES = "$set", "$rewindTo", "messages"
# Fields that every message changes; the last value counts.
_VOLATILE_FIELDS = {"lastUpdated"}
# A resume (0.61) gives this suffix to the ids of messages that repeat the results of another's calls.
_REBUILT_SUFFIX = "_response"
# The field of earlier values; the source has no such field, but others of this form.
_REPLACED = "$replaced"


class _MessageEntry:
    """A message's record, and the values that only earlier records of it have."""

    __slots__ = ("earlier", "id", "parent", "record", "where")

    def __init__(
        self, record: dict[str, Any], location: int | str, parent: int | None, identity: str | None
    ) -> None:
        self.record = record
        self.where = location
        self.parent = parent
        self.id = identity
        self.earlier: list[dict[str, Any]] = []


class _EventEntry:
    """A change or a rewind."""

    __slots__ = ("data", "name", "parent", "where")

    def __init__(self, name: str, data: dict[str, Any], location: int | str, parent: int | None) -> None:
        self.name = name
        self.data = data
        self.where = location
        self.parent = parent


class Replay:
    """Collects the records of one session in order, and turns them into a timeline."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self.head: dict[str, Any] = {}
        """The session's own fields, each with its last value."""
        self._entries: list[_MessageEntry | _EventEntry] = []
        # Indexes of the messages in the current history, by id.
        self._current: dict[str, int] = {}
        # And of those that a replaced history omits.
        self._omitted: dict[str, int] = {}
        self._rewound: set[str] = set()
        self._previous: int | None = None
        self.is_tree = False

    @property
    def has_known_records(self) -> bool:
        """Whether any record is known to belong to a session."""
        return bool(self.head) or any(isinstance(entry, _MessageEntry) for entry in self._entries)

    def add(self, record: Any, location: int | str) -> None:
        """Add a line of a log."""
        if record.__class__ is not dict:
            self._add_unknown({"value": record}, location)
        elif record.get(_REWIND).__class__ is str:
            self._rewind(record, location)
        elif record.get("id").__class__ is str or ("content" in record and "type" in record):
            self.add_message(record, location)
        elif record.get(_CHANGE).__class__ is dict:
            self._apply_change(record, location)
        elif record.get("sessionId").__class__ is str:
            self.begin(record, location)
        else:
            self._add_unknown(record, location)

    def begin(self, record: dict[str, Any], location: int | str) -> None:
        """Add the first line of a log, or a document with its messages."""
        if record.get(_MESSAGES).__class__ is list:
            for index, raw in enumerate(record.pop(_MESSAGES)):
                if raw.__class__ is dict:
                    self.add_message(raw, f"messages[{index}]")
                else:
                    self._add_unknown({"value": raw}, f"messages[{index}]")
        if self.head:
            self._add_event("metadata", dict(record), location)
        self.head = record | self.head

    def _relist(self, raw: Any, location: int | str) -> None:
        """Add a message of a replaced history."""
        if raw.__class__ is not dict:
            self._add_unknown({"value": raw}, location)
            return
        known = self._known_record(_id(raw))
        self.add_message(raw if known is None else relist.merge_repeated(known, raw), location)

    def _known_record(self, identity: str | None) -> dict[str, Any] | None:
        """Get the record of a message in the current history, or omitted by a replaced one."""
        if identity is None:
            return None
        index = self._current.get(identity, self._omitted.get(identity))
        entry = None if index is None else self._entries[index]
        return entry.record if isinstance(entry, _MessageEntry) else None

    def add_message(self, record: dict[str, Any], location: int | str) -> None:
        """Add a message; a repeated one replaces its earlier record."""
        identity = _id(record) or None
        if identity is not None and identity in self._omitted:
            self._current[identity] = self._omitted.pop(identity)
        if identity is not None and identity in self._current:
            self._replace(self._current[identity], record, location)
            return
        if identity is not None and identity in self._rewound:
            self._note(Kind.DUPLICATE_ID, location, f"{identity[:60]!r} was rewound")
            identity = None
        self._append(_MessageEntry(record, location, self._previous, identity))
        index = len(self._entries) - 1
        self._current[identity or f"\0{index}"] = index

    def _append(self, entry: _MessageEntry | _EventEntry) -> None:
        self._previous = len(self._entries)
        self._entries.append(entry)

    def _replace(self, index: int, record: dict[str, Any], location: int | str) -> None:
        entry = self._entries[index]
        if isinstance(entry, _MessageEntry):
            record = relist.with_usage(entry.record, record)
            removed = removed_values(entry.record, record)
            if removed:
                entry.earlier.append(removed)
            entry.record, entry.where = record, location

    def _rewind(self, record: dict[str, Any], location: int | str) -> None:
        """Rewind to before a message; like the app, rewind all messages if it is unknown."""
        identity = record[_REWIND]
        self._add_event(_REWIND, record, location)
        self.is_tree = True
        index = self._current.get(identity)
        if index is None:
            self._note(
                Kind.DANGLING_PARENT, location, f"{identity[:60]!r} does not exist; all messages are rewound"
            )
            self._rewound.update(self._current)
            self._current.clear()
            self._previous = None
            return
        self._previous = self._entries[index].parent
        while (last := self._current.popitem()[0]) != identity:
            self._rewound.add(last)
        self._rewound.add(identity)

    def _apply_change(self, record: dict[str, Any], location: int | str) -> None:
        """Add new fields of the session; if its messages are replaced, the omitted ones remain earlier."""
        values = dict(record[_CHANGE])
        history = values.pop(_MESSAGES, None)
        if history.__class__ is list:
            listed = [self._listed_message(raw, values.get("lastUpdated")) for raw in history]
            self._add_event(_CHANGE, {**record, _CHANGE: {**values, _MESSAGES: listed}}, location)
            first_new = len(self._entries)
            for index, raw in enumerate(history):
                self._relist(raw, f"line {location} messages[{index}]")
            self._keep_current(history, first_new)
        elif len(record) > 1 or not values.keys() <= _VOLATILE_FIELDS:
            self._add_event(_CHANGE, record, location)
        self._update_head(values)

    def _listed_message(self, raw: Any, listed_at: Any) -> Any:
        """Describe a message in the event of a replaced history: its id, and a time that nothing else has."""
        identity = _id(raw)
        known = self._known_record(identity)
        at = None if known is None else raw.get("timestamp")
        if known is None or at in (None, known.get("timestamp"), listed_at):
            return identity
        return {"id": identity, "timestamp": at}

    def _keep_current(self, history: list[Any], first_new: int) -> None:
        """Make a history the current one, in its order; it added the entries from index `first_new` on."""
        current = self._current
        listed = [identity for raw in history if (identity := _id(raw)) is not None]
        self._current = {identity: current[identity] for identity in listed if identity in current}
        self._current |= {name: index for name, index in current.items() if index >= first_new}
        self._omitted |= {name: current[name] for name in current.keys() - self._current.keys()}

    def _update_head(self, values: dict[str, Any]) -> None:
        known = {name: self.head[name] for name in values.keys() - _VOLATILE_FIELDS if name in self.head}
        removed = removed_values(known, values)
        self.head |= values
        if removed:
            self.head.setdefault(_REPLACED, []).append(removed)

    def _add_unknown(self, data: dict[str, Any], location: int | str) -> None:
        self._note(Kind.UNKNOWN_TYPE, location, "neither a message nor a change of a session")
        self._add_event("unknown", data, location)

    def _add_event(self, name: str, data: dict[str, Any], location: int | str) -> None:
        self._append(_EventEntry(name, data, location, self._previous))

    def timeline(self, owner: str) -> list[Message | Event]:
        """Build all messages and events; missing ids are made from the owner's id."""
        names = [self._name(entry, owner) for entry in self._entries]
        results = self._results_by_call()
        timeline: list[Message | Event] = []
        for entry, name in zip(self._entries, names, strict=True):
            parent = None if entry.parent is None or not self.is_tree else names[entry.parent]
            timeline.append(self._to_entry(entry, name, parent, results))
        return timeline

    def _results_by_call(self) -> dict[str, list[Any]]:
        """Map all calls to their results."""
        results: dict[str, list[Any]] = {}
        for entry in self._entries:
            if isinstance(entry, _MessageEntry) and "toolCalls" in entry.record:
                results |= relist.results_by_call(entry.record)
        return results

    def head_id(self, timeline: list[Message | Event]) -> str | None:
        """Get the last message that was not rewound."""
        remaining = (timeline[index] for index in sorted(self._current.values(), reverse=True))
        return next((entry.id for entry in remaining if isinstance(entry, Message)), None)

    def _name(self, entry: _MessageEntry | _EventEntry, owner: str) -> str:
        if isinstance(entry, _MessageEntry) and entry.id is not None:
            return entry.id
        return ids.made(owner, entry.where)

    def _to_entry(
        self, entry: _MessageEntry | _EventEntry, name: str, parent: str | None, results: dict[str, list[Any]]
    ) -> Message | Event:
        if isinstance(entry, _EventEntry):
            at = _changed_at(entry.data)
            return Event(id=name, made_id=True, parent_id=parent, at=at, name=entry.name, data=entry.data)
        record = entry.record
        if entry.id is not None:
            del record["id"]
        elif not record.get("id"):
            self._note(Kind.MISSING_ID, entry.where, "a message has no id")
        if entry.earlier:
            record[_REPLACED] = entry.earlier
        position = MessagePosition(name, entry.id is None, parent)
        content = record.get("content")
        if not results or record.get("type") != "user" or content.__class__ is not list:
            return message(record, position, self._note, entry.where)
        if calls := repeats.answered_calls(content, results, is_rebuilt=name.endswith(_REBUILT_SUFFIX)):
            at = Fields(record, self._note, entry.where).timestamp("timestamp")
            if repeats.is_repeated(content, calls, results):
                record["content"] = calls
            return Event(
                id=name,
                made_id=position.made_id,
                parent_id=parent,
                at=at,
                name=repeats.RESULT_FIELD,
                data=record,
            )
        record["content"] = repeats.without_results(content, results)
        return replace(message(record, position, self._note, entry.where), native=content)


def _id(raw: Any) -> str | None:
    identity = raw.get("id") if raw.__class__ is dict else None
    return identity if identity.__class__ is str else None


def _changed_at(data: dict[str, Any]) -> str | None:
    values = data.get(_CHANGE)
    return timestamps.parse_timestamp(values.get("lastUpdated")) if values.__class__ is dict else None


def removed_values(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Get the values of a record that its replacement lacks; usually there are none."""
    removed: dict[str, Any] = {}
    for name, value in old.items():
        current = new.get(name)
        if not value or value is current or _is_equal(value, current):
            continue
        if value.__class__ is list and current.__class__ is list:
            value = _removed_items(value, current)  # noqa: PLW2901 (what remains of it)
        if value:
            removed[name] = value
    return removed


def _removed_items(old: list[Any], new: list[Any]) -> list[Any]:
    """List the items that no longer exist, and the earlier values of changed calls."""
    if _is_equal(old, new[: len(old)]):
        return []
    by_id = {identity: item for item in new if (identity := _id(item)) is not None}
    removed: list[Any] = []
    for index, item in enumerate(old):
        identity = _id(item)
        current = by_id.get(identity) if identity is not None else new[index] if index < len(new) else None
        if _is_equal(item, current):
            continue
        if identity is not None and current is not None:
            changed = {name: value for name, value in item.items() if not _is_equal(value, current.get(name))}
            removed.append({"id": identity, **changed})
        else:
            removed.append(item)
    return removed
