"""The chain of events: every id once, each event behind the one it follows, no circles.

An event names the one before it; a file says the same by its order. Where both disagree, the names count.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events.names import MODEL_EVENTS
from agent_journal.readers.dialects.duplicate_records import Twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry


class Chain:
    """Entries in the order of the file, then in their own."""

    def __init__(self, note: Notes) -> None:
        self._by_id: dict[str, Entry] = {}
        self._twins = Twins()
        self._ahead: set[str] = set()
        self._roots = 0
        self._circles: set[str] = set()
        self._last: str | None = None
        self.is_straight = True
        """Whether each event follows the one that stands before it."""
        self._note = note

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_id.values())

    def add(self, entry: Entry, where: int | str, line: bytes) -> None:
        """Put an entry at the end; the same again is left out, another one of that id gets a new id."""
        if entry.id in self._by_id:
            if self._twins.has_again(entry, self._by_id[entry.id], line):
                self._note(Kind.REPEATED_RECORD, where, entry.id)
                return
            self._note(Kind.DUPLICATE_ID, where, entry.id)
            entry = _renamed(entry, self._twins.count(entry.id))
        parent = entry.parent_id
        if parent != self._last:
            self.is_straight = False
        self._last = entry.id
        if parent is None:
            self._roots += 1
        elif parent not in self._by_id:
            self._ahead.add(parent)
        self._by_id[entry.id] = entry

    def settled(self) -> list[Entry]:
        """All entries in the order of the chain; what follows nothing known follows what stands before it."""
        entries = list(self._by_id.values())
        late = [parent for parent in self._ahead if parent in self._by_id]
        if late:
            entries = self._in_order(entries, len(late))
        if self._roots > 1 or self._circles or len(late) < len(self._ahead):
            entries = self._joined(entries)
        return entries

    def _in_order(self, entries: list[Entry], late: int) -> list[Entry]:
        placed, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "it follows what follows it")
        if placed != entries:
            self._note(Kind.REORDERED, "", f"events that stand behind what follows them: {late}")
        self._circles = set(cuts)
        return [following(entry, None) if entry.id in self._circles else entry for entry in placed]

    def _joined(self, entries: list[Entry]) -> list[Entry]:
        unnamed = 0
        missing: list[str] = []
        joined = entries[:1]
        if joined and joined[0].parent_id is not None and joined[0].parent_id not in self._by_id:
            missing.append(joined[0].parent_id)
        for before, entry in pairwise(entries):
            parent = entry.parent_id
            if parent is not None and parent in self._by_id:
                joined.append(entry)
                continue
            if _is_a_models(entry):
                pass
            elif parent is None:
                unnamed += entry.id not in self._circles
            else:
                missing.append(parent)
            joined.append(following(entry, before.id))
        self._note_joints(unnamed, missing)
        return joined

    def _note_joints(self, unnamed: int, missing: list[str]) -> None:
        if unnamed:
            self._note(Kind.DANGLING_PARENT, "", f"events that name none: {unnamed}")
        if missing:
            more = f" ({len(missing)} events name such a one)" if len(missing) > 1 else ""
            self._note(Kind.DANGLING_PARENT, "", f"{missing[0][:60]!r} is not in this file{more}")


def _is_a_models(entry: Entry) -> bool:
    return not isinstance(entry, Message) and entry.name.startswith(MODEL_EVENTS)


def _renamed(entry: Entry, twin: int) -> Entry:
    return _with(replace(entry, id=ids.made(entry.id, twin), made_id=True), {"id": entry.id})


def following(entry: Entry, parent: str | None) -> Entry:
    """The entry behind another one; what the source said it follows stays beside it."""
    said = {} if entry.parent_id is None else {"parentId": entry.parent_id}
    return _with(replace(entry, parent_id=parent), said)


def _with(entry: Entry, said: dict[str, Any]) -> Entry:
    if isinstance(entry, Message):
        return replace(entry, extra=said | entry.extra)
    return replace(entry, data=said | entry.data)
