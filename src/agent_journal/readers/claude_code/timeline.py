"""The entries of one session: every id once, parents before children, no circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.claude_code.chains import is_aside, joined, under
from agent_journal.readers.dialects.duplicate_records import Twins, is_same

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
            if self._is_moved(entry) or self._twins.has_again(entry, self._by_id[entry.id], line):
                self._note(Kind.REPEATED_RECORD, where, entry.id)
                return
            self._note(Kind.DUPLICATE_ID, where, entry.id)
            entry = _renamed(entry, self._twins.count(entry.id))
        parent = entry.parent_id
        if parent is not None and parent not in self._by_id:
            self._ahead.append((entry.id, where))
        self._by_id[entry.id] = entry

    def _is_moved(self, entry: Entry) -> bool:
        """Whether an entry is there already, under a parent that is not: its second line tells the true one.

        A sub-agent that goes on is written once more from its beginning, without what was not kept of it.
        """
        first, parent = self._by_id[entry.id], entry.parent_id
        if first.parent_id is None or first.parent_id in self._by_id or parent not in self._by_id:
            return False
        if not is_same(replace(entry, parent_id=first.parent_id), first):
            return False
        self._by_id[entry.id] = under(first, parent)
        return True

    def settled(self) -> list[Entry]:
        """All entries: parents before children even where the file has it otherwise, and circles cut."""
        entries = list(self._by_id.values())
        missing = [(entry, where) for entry, where in self._ahead if self._parent(entry) not in self._by_id]
        if missing:
            entry, where = missing[0]
            all_told = f" ({len(missing)} lines name such a parent)" if len(missing) > 1 else ""
            what = f"{str(self._parent(entry))[:60]!r} is not in this file{all_told}"
            self._note(Kind.DANGLING_PARENT, where, what)
        if len(missing) < len(self._ahead):
            entries = self._in_order(entries)
        if missing:
            entries = _with_linked_orphans(entries, {entry for entry, _ in missing})
        return joined(entries)

    def _parent(self, entry_id: str) -> str | None:
        return self._by_id[entry_id].parent_id

    def _in_order(self, entries: list[Entry]) -> list[Entry]:
        placed, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "its parent is also its descendant")
        return [under(entry, None) if entry.id in cuts else entry for entry in placed]


def _renamed(entry: Entry, twin: int) -> Entry:
    """The entry with an id of its own; the one the source gave it stays beside it."""
    made, said = ids.made(entry.id, twin), {"uuid": entry.id}
    if isinstance(entry, Message):
        return replace(entry, id=made, made_id=True, extra=said | entry.extra)
    return replace(entry, id=made, made_id=True, data=said | entry.data)


def _with_linked_orphans(entries: list[Entry], orphans: set[str]) -> list[Entry]:
    """The entries, with those whose parent was not kept below what is before them.

    The app names lines as parents that it did not write: answers that broke off, and in some versions what
    hooks told a sub-agent. Only a person may go back to something earlier; her lines stay as they are.
    """
    linked: list[Entry] = []
    last: dict[bool, str] = {}
    for entry in entries:
        aside = is_aside(entry)
        is_orphan = entry.id in orphans and not (isinstance(entry, Message) and entry.role == "user")
        before = last.get(aside) if is_orphan else None
        linked.append(entry if before is None else under(entry, before))
        # Lines without an id of their own, as snapshots of files, are nobody's parents.
        if not entry.made_id:
            last[aside] = entry.id
    return linked
