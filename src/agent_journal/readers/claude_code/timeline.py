"""The entries of one session: every id once, parents before children, no circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal import ids, tree
from agent_journal.model import Message
from agent_journal.notes import Kind
from agent_journal.readers._twins import Twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.lines import Entry


class Timeline:
    """Entries in the order of the file."""

    def __init__(self, note: Notes) -> None:
        self._by_id: dict[str, Entry] = {}
        self._ahead: list[tuple[str, int | str]] = []
        self._twins = Twins()
        self._note = note

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_id.values())

    def __contains__(self, entry_id: object) -> bool:
        return isinstance(entry_id, str) and entry_id in self._by_id

    def add(self, entry: Entry, where: int | str, line: bytes) -> None:
        """Put an entry at the end; the same line again is left out, another one of that id gets a new id."""
        if entry.id in self._by_id:
            if self._twins.has_again(entry, self._by_id[entry.id], line):
                self._note(Kind.REPEATED_RECORD, where, entry.id)
                return
            self._note(Kind.DUPLICATE_ID, where, entry.id)
            entry = _renamed(entry, self._twins.count(entry.id))
        parent = entry.parent_id
        if parent is not None and parent not in self._by_id:
            self._ahead.append((parent, where))
        self._by_id[entry.id] = entry

    def settled(self) -> list[Entry]:
        """All entries: parents before children even where the file has it otherwise, and circles cut."""
        entries = list(self._by_id.values())
        missing = [(parent, where) for parent, where in self._ahead if parent not in self._by_id]
        if missing:
            parent, where = missing[0]
            all_told = f" ({len(missing)} lines name such a parent)" if len(missing) > 1 else ""
            self._note(Kind.DANGLING_PARENT, where, f"{parent[:60]!r} is not in this file{all_told}")
        return entries if len(missing) == len(self._ahead) else self._in_order(entries)

    def _in_order(self, entries: list[Entry]) -> list[Entry]:
        placed, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "its parent is also its descendant")
        return [_without_parent(entry) if entry.id in cuts else entry for entry in placed]


def _renamed(entry: Entry, twin: int) -> Entry:
    """The entry with an id of its own; the one the source gave it stays beside it."""
    made, said = ids.made(entry.id, twin), {"uuid": entry.id}
    if isinstance(entry, Message):
        return replace(entry, id=made, made_id=True, extra=said | entry.extra)
    return replace(entry, id=made, made_id=True, data=said | entry.data)


def _without_parent(entry: Entry) -> Entry:
    """The entry as a root; what the source called its parent stays beside it."""
    said = {"parentUuid": entry.parent_id}
    if isinstance(entry, Message):
        return replace(entry, parent_id=None, extra=said | entry.extra)
    return replace(entry, parent_id=None, data=said | entry.data)
