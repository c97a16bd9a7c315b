"""The chain of events: every id once, each event after its parent, no cycles.

An event names its parent, and the order of the file usually agrees. Where they differ, the names count.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events.names import MODEL_EVENTS
from agent_journal.readers.dialects.duplicate_records import DuplicateIds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry


class Chain:
    """Collects entries in the order of the file and returns them in the order of their parents."""

    def __init__(self, note: Notes) -> None:
        self._by_id: dict[str, Entry] = {}
        self._duplicates = DuplicateIds()
        self._forward_parents: set[str] = set()
        self._roots = 0
        self._cycle_ids: set[str] = set()
        self._last: str | None = None
        self.is_straight = True
        """Whether the parent of each event is the previous event of the file."""
        self._note = note

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_id.values())

    def add(self, entry: Entry, location: int | str, line: bytes) -> None:
        """Add an entry; a repeated one is dropped, a different one with the same id gets a new id."""
        if entry.id in self._by_id:
            if self._duplicates.is_repeated(entry, self._by_id[entry.id], line):
                self._note(Kind.REPEATED_RECORD, location, entry.id)
                return
            self._note(Kind.DUPLICATE_ID, location, entry.id)
            entry = _renamed(entry, self._duplicates.count(entry.id))
        parent = entry.parent_id
        if parent != self._last:
            self.is_straight = False
        self._last = entry.id
        if parent is None:
            self._roots += 1
        elif parent not in self._by_id:
            self._forward_parents.add(parent)
        self._by_id[entry.id] = entry

    def ordered_entries(self) -> list[Entry]:
        """Return all entries in order; one without a known parent follows the previous entry."""
        entries = list(self._by_id.values())
        found_later = [parent for parent in self._forward_parents if parent in self._by_id]
        if found_later:
            entries = self._in_order(entries, len(found_later))
        if self._roots > 1 or self._cycle_ids or len(found_later) < len(self._forward_parents):
            entries = self._joined(entries)
        return entries

    def _in_order(self, entries: list[Entry], late: int) -> list[Entry]:
        ordered, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "its chain of parents leads back to it")
        if ordered != entries:
            self._note(Kind.REORDERED, "", f"events placed after their children: {late}")
        self._cycle_ids = set(cuts)
        return [following(entry, None) if entry.id in self._cycle_ids else entry for entry in ordered]

    def _joined(self, entries: list[Entry]) -> list[Entry]:
        unnamed = 0
        missing: list[str] = []
        joined = entries[:1]
        if joined and joined[0].parent_id is not None and joined[0].parent_id not in self._by_id:
            missing.append(joined[0].parent_id)
        for previous, entry in pairwise(entries):
            parent = entry.parent_id
            if parent is not None and parent in self._by_id:
                joined.append(entry)
                continue
            if _is_model_event(entry):
                pass
            elif parent is None:
                unnamed += entry.id not in self._cycle_ids
            else:
                missing.append(parent)
            joined.append(following(entry, previous.id))
        self._note_missing_parents(unnamed, missing)
        return joined

    def _note_missing_parents(self, unnamed: int, missing: list[str]) -> None:
        if unnamed:
            self._note(Kind.DANGLING_PARENT, "", f"events without a parent: {unnamed}")
        if missing:
            more = f" ({len(missing)} events have a missing parent)" if len(missing) > 1 else ""
            self._note(Kind.DANGLING_PARENT, "", f"{missing[0][:60]!r} is not in this file{more}")


def _is_model_event(entry: Entry) -> bool:
    return not isinstance(entry, Message) and entry.name.startswith(MODEL_EVENTS)


def _renamed(entry: Entry, number: int) -> Entry:
    return _with_fields(replace(entry, id=ids.made(entry.id, number), made_id=True), {"id": entry.id})


def following(entry: Entry, parent: str | None) -> Entry:
    """Return the entry with another parent; the source's own parent id stays in its other fields."""
    original = {} if entry.parent_id is None else {"parentId": entry.parent_id}
    return _with_fields(replace(entry, parent_id=parent), original)


def _with_fields(entry: Entry, fields: dict[str, Any]) -> Entry:
    if isinstance(entry, Message):
        return replace(entry, extra=fields | entry.extra)
    return replace(entry, data=fields | entry.data)
