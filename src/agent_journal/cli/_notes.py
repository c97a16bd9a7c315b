"""Prints notes: the first few of each kind and file as they come, then how many more there are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent_journal.terminal import say

if TYPE_CHECKING:
    from agent_journal.notes import Note, Notes

_MAX_SHOWN_PER_FILE = 5
_MAX_SHOWN_PER_KIND = 40


class NotePrinter:
    """Prints notes on standard error without flooding it."""

    def __init__(self, *, everything: bool = False) -> None:
        self._everything = everything
        self._per_file: Counter[tuple[str, str]] = Counter()
        self._per_kind: Counter[str] = Counter()
        self._hidden: Counter[str] = Counter()

    def __call__(self, note: Note) -> None:
        """Print a note, or count it if enough of its kind were printed."""
        self._per_file[note.file, note.kind] += 1
        self._per_kind[note.kind] += 1
        is_one_too_many = (
            self._per_file[note.file, note.kind] > _MAX_SHOWN_PER_FILE
            or self._per_kind[note.kind] > _MAX_SHOWN_PER_KIND
        )
        if is_one_too_many and not self._everything:
            self._hidden[note.kind] += 1
        else:
            say(f"note: {note}")

    def finish(self, notes: Notes) -> None:
        """Print how many notes were not shown."""
        for kind, count in sorted(notes.counts.items(), key=lambda row: row[0].label):
            shown = self._per_kind[kind.label] - self._hidden[kind.label]
            if count > shown:
                say(f"note: {count - shown:,} more {kind.label} ({kind.meaning}); --all-notes shows them")
