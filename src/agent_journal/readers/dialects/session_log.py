"""Session logs: one record per line, each a message or an event, with an id and its parent's id or neither.

Many agents write such logs. This gives each record an id of its own, skips what is repeated, and links the
records to a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec.structs import replace

from agent_journal.model import Event, Message, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.duplicate_records import are_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_journal.notes import Notes

Entry: TypeAlias = Message | Event
_AnyEntry = TypeVar("_AnyEntry", Message, Event, Message | Event)
_MAX_SHOWN_CHARS = 60


class SessionLog:
    """Collects the entries of one session, in the order of the log."""

    def __init__(self, session: str, note: Notes, is_known: Callable[[str], bool]) -> None:
        self.session = session
        self.entries: list[Entry] = []
        self._note = note
        self._is_known = is_known
        self._unknown_events: set[str] = set()
        self._by_id: dict[str, Entry] = {}

    def add(self, entry: Entry, location: int | str) -> None:
        """Add an entry; without an id (or with that of another one) it gets one made of its location."""
        known = self._by_id.get(entry.id) if entry.id else None
        if known is not None and are_equal(known, entry):
            self._note(Kind.REPEATED_RECORD, location, entry.id[:_MAX_SHOWN_CHARS])
            return
        if known is not None:
            self._note(Kind.DUPLICATE_ID, location, entry.id[:_MAX_SHOWN_CHARS])
        if known is not None or not entry.id:
            entry = with_new_id(entry, f"{self.session}:{location}")
        self._by_id[entry.id] = entry
        self.entries.append(entry)

    def is_repeated(self, entry: Entry) -> bool:
        """Whether an entry is there already."""
        known = self._by_id.get(entry.id)
        return known is not None and are_equal(known, entry)

    def add_event(
        self,
        name: Any,
        data: dict[str, Any],
        location: int | str,
        *,
        at: str | None = None,
        entry_id: str | None = None,
        parent_id: str | None = None,
    ) -> None:
        """Add a record that is no message; each unknown type is noted once."""
        known_name = name if name.__class__ is str and name else "unknown"
        if known_name not in self._unknown_events and not self._is_known(known_name):
            self._unknown_events.add(known_name)
            self._note(Kind.UNKNOWN_TYPE, location, f"record {str(name)[:_MAX_SHOWN_CHARS]!r}")
        event = Event(id=entry_id or "", name=known_name, parent_id=parent_id, at=at, data=data)
        self.add(event, location)

    def add_value(self, value: Any, location: int | str) -> None:
        """Add a record that is no object."""
        self._note(Kind.WRONG_TYPE, location, f"a record is {type(value).__name__}, not an object")
        self.add(Event(id="", name="unknown", data={"value": value}), location)

    def find_message(self, entry_id: str | None) -> Message | None:
        """Find the nearest message at or above an entry."""
        visited: set[str] = set()
        while entry_id is not None and entry_id not in visited:
            visited.add(entry_id)
            entry = self._by_id.get(entry_id)
            if entry is None or isinstance(entry, Message):
                return entry
            entry_id = entry.parent_id
        return None

    def link(self, aliases: Mapping[str, str | None]) -> list[Entry]:
        """Link the entries to a tree, with parents before children.

        `aliases` are other names of parents, such as the id of a call; None is for names of the root.
        """
        linked = [self._with_known_parent(entry, aliases) for entry in self.entries]
        if _has_parents_first(linked):
            return linked
        ordered, cut = tree.in_order(linked)
        for entry_id in cut:
            self._note(Kind.CYCLE, "", entry_id[:_MAX_SHOWN_CHARS])
        return [replace(entry, parent_id=None) if entry.id in cut else entry for entry in ordered]

    def _with_known_parent(self, entry: Entry, aliases: Mapping[str, str | None]) -> Entry:
        parent = entry.parent_id
        if parent is None or parent in self._by_id:
            return entry
        if parent not in aliases:
            self._note(Kind.DANGLING_PARENT, entry.id[:_MAX_SHOWN_CHARS], parent[:_MAX_SHOWN_CHARS])
            entry = _with_field(entry, "parent_id", parent)
        known = aliases.get(parent)
        return replace(entry, parent_id=None if known == entry.id else known)


def _has_parents_first(entries: Iterable[Entry]) -> bool:
    seen: set[str | None] = {None}
    for entry in entries:
        if entry.parent_id not in seen:
            return False
        seen.add(entry.id)
    return True


def with_new_id(entry: _AnyEntry, new_id: str) -> _AnyEntry:
    """Return an entry with another id; its own one stays in its data."""
    if entry.id:
        entry = _with_field(entry, "id", entry.id)
    return replace(entry, id=new_id, made_id=True)


def _with_field(entry: _AnyEntry, name: str, value: str) -> _AnyEntry:
    """Return an entry with a field of the source in its data."""
    if isinstance(entry, Message):
        return replace(entry, extra={name: value, **entry.extra})
    return replace(entry, data={name: value, **entry.data})


def first_model(entries: Iterable[Entry]) -> str | None:
    """Return the model of the first answer; hidden ones are of requests outside of the conversation."""
    answers = (entry for entry in entries if isinstance(entry, Message) and not entry.hidden)
    return next((answer.model for answer in answers if answer.model), None)


def head_of(entries: list[Entry], last: str | None) -> str | None:
    """Return the last message of the branch that the last record belongs to."""
    branch = tree.chain_to(entries, last) if last is not None else []
    on_branch = (entry.id for entry in reversed(branch) if isinstance(entry, Message))
    return next(on_branch, None) or tree.newest_leaf(entries)


def steps_of(label: str) -> list[str]:
    """Return the steps of a path, whatever separates them."""
    return label.replace("\\", "/").split("/")
