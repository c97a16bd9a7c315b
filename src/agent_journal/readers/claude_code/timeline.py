"""The entries of one session: unique ids, parents before children, no cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.claude_code.chains import is_sidechain, join_responses, with_parent
from agent_journal.readers.dialects.duplicate_records import DuplicateIds, are_equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.lines import Entry


class Timeline:
    """Entries in the order of the file."""

    def __init__(self, note: Notes) -> None:
        self._by_id: dict[str, Entry] = {}
        self._without_known_parent: list[tuple[str, int | str]] = []
        self._duplicates = DuplicateIds()
        self._note = note

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_id.values())

    def __contains__(self, entry_id: object) -> bool:
        return isinstance(entry_id, str) and entry_id in self._by_id

    def add(self, entry: Entry, location: int | str, line: bytes) -> None:
        """Append an entry; a repeated line is left out, another line with the same id gets a new id."""
        if entry.id in self._by_id:
            if self._is_moved(entry) or self._duplicates.is_repeated(entry, self._by_id[entry.id], line):
                self._note(Kind.REPEATED_RECORD, location, entry.id)
                return
            self._note(Kind.DUPLICATE_ID, location, entry.id)
            entry = _with_new_id(entry, self._duplicates.count(entry.id))
        parent = entry.parent_id
        if parent is not None and parent not in self._by_id:
            self._without_known_parent.append((entry.id, location))
        self._by_id[entry.id] = entry

    def _is_moved(self, entry: Entry) -> bool:
        """Whether an entry repeats one whose parent is missing: then its second line has the true parent.

        A resumed subagent is written again from its beginning, without the lines that were not saved.
        """
        first, parent = self._by_id[entry.id], entry.parent_id
        if first.parent_id is None or first.parent_id in self._by_id or parent not in self._by_id:
            return False
        if not are_equal(replace(entry, parent_id=first.parent_id), first):
            return False
        self._by_id[entry.id] = with_parent(first, parent)
        return True

    def finish(self) -> list[Entry]:
        """Get all entries: parents before children, cycles cut, orphans linked, responses joined."""
        entries = list(self._by_id.values())
        missing = [
            (entry, location)
            for entry, location in self._without_known_parent
            if self._parent(entry) not in self._by_id
        ]
        if missing:
            entry, location = missing[0]
            others = f" ({len(missing)} lines name such a parent)" if len(missing) > 1 else ""
            what = f"{str(self._parent(entry))[:60]!r} is not in this file{others}"
            self._note(Kind.DANGLING_PARENT, location, what)
        if len(missing) < len(self._without_known_parent):
            entries = self._in_order(entries)
        if missing:
            entries = _with_linked_orphans(entries, {entry for entry, _ in missing})
        return join_responses(entries)

    def _parent(self, entry_id: str) -> str | None:
        return self._by_id[entry_id].parent_id

    def _in_order(self, entries: list[Entry]) -> list[Entry]:
        ordered, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "its parent is also its descendant")
        return [with_parent(entry, None) if entry.id in cuts else entry for entry in ordered]


def _with_new_id(entry: Entry, duplicate: int) -> Entry:
    """Give an entry a new id; the source's id stays in its data."""
    new_id, original_id = ids.made(entry.id, duplicate), {"uuid": entry.id}
    if isinstance(entry, Message):
        return replace(entry, id=new_id, made_id=True, extra=original_id | entry.extra)
    return replace(entry, id=new_id, made_id=True, data=original_id | entry.data)


def _with_linked_orphans(entries: list[Entry], orphans: set[str]) -> list[Entry]:
    """Move each orphan below the entry before it.

    The app names lines as parents that it did not write: interrupted answers, and in some versions hook
    output for a subagent. Only a person can go back to something earlier, so a person's lines do not move.
    """
    linked: list[Entry] = []
    last: dict[bool, str] = {}
    for entry in entries:
        on_sidechain = is_sidechain(entry)
        is_orphan = entry.id in orphans and not (isinstance(entry, Message) and entry.role == "user")
        previous = last.get(on_sidechain) if is_orphan else None
        linked.append(entry if previous is None else with_parent(entry, previous))
        # Lines without an id of their own, such as file snapshots, are never parents.
        if not entry.made_id:
            last[on_sidechain] = entry.id
    return linked
