"""Reassess duplicates when more is known of them."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING

from agent_journal.archive import duplicates
from agent_journal.archive.duplicates import is_duplicate
from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.copies import MESSAGE_TEXTS
from agent_journal.archive.sqlite.counting import Counting
from agent_journal.archive.sqlite.provenance import Provenance
from agent_journal.errors import DamagedArchive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

UNRESOLVED = "unresolved_duplicates"
"""The name in the journal table by which a migration requests that all duplicates are reassessed."""

# Copies in duplicates, as `c` of the original `o`: a copy in a fork has the id that the source gave both.
_COPIED_BY_WORDS = "(c.id != o.id OR c.copy_hash IS NULL OR o.copy_hash IS NULL)"
_DUPLICATE_COPIES = (
    "SELECT c.key, c.conversation, c.copy_of, c.copy_hash, c.earlier FROM timeline c "
    "JOIN timeline o ON o.key = c.copy_of "
    f"WHERE c.copy_of IS NOT NULL AND {_COPIED_BY_WORDS} "
    f"AND (c.conversation {IN_VALUES} OR o.conversation {IN_VALUES}) ORDER BY c.key"
)
_FAMILY = (
    "WITH first AS (SELECT coalesce(twin_of, key) AS key FROM conversations WHERE key = ?) "
    "SELECT c.key FROM conversations c JOIN first f WHERE f.key IN (c.key, c.twin_of)"
)
_PAIRS = (
    "SELECT key, twin_of FROM conversations WHERE twin_of IS NOT NULL UNION "
    "SELECT c.conversation, o.conversation FROM timeline c JOIN timeline o ON o.key = c.copy_of "
    f"WHERE c.copy_of IS NOT NULL AND {_COPIED_BY_WORDS}"
)


class Duplicates(Provenance, Counting):
    """The part of the store that undoes wrong duplicates."""

    def has_unresolved_duplicates(self) -> bool:
        """Whether an older version, with weaker criteria, marked the duplicates."""
        return self._value("SELECT 1 FROM journal WHERE name = ?", UNRESOLVED) is not None

    def resolve_duplicates(self) -> None:
        """Undo wrong duplicates, as if everything were imported now."""
        for (key,) in list(self._rows("SELECT key FROM conversations")):
            if self._detail(key).made_id:
                self._db.execute("UPDATE conversations SET made_id = 1 WHERE key = ?", (key,))
        wrong: set[int] = set()
        for key, other in list(self._rows(_PAIRS)):
            if key == other or {key, other} <= wrong:
                continue
            family = self._family(key) | self._family(other)
            with suppress(DamagedArchive):
                if not all(self._are_duplicates(*pair) for pair in combinations(sorted(family), 2)):
                    wrong |= family
        self._resolve(wrong)
        self._db.execute("DELETE FROM journal WHERE name = ?", (UNRESOLVED,))

    def _reassess_duplicates(self, key: int) -> list[int]:
        """Reassess duplicates that have grown: the one that contains the other is shown, or both.

        Of several, all are duplicates of the one that is shown, and later compared with it. Wrong duplicates
        are undone; the keys of entries to add to the index are returned.
        """
        others = self._duplicates_of(key)
        family = self._family(key)
        if not all(self._are_duplicates(key, other) for other in family if other != key):
            return self._resolve(family)
        for other in others:
            texts, other_texts = (
                duplicates.timed_texts(self._rows(MESSAGE_TEXTS, each)) for each in (key, other)
            )
            copies = len(duplicates.match_texts(texts, other_texts))
            is_inside, contains_other = (
                duplicates.is_contained(copies, len(each)) for each in (texts, other_texts)
            )
            is_inner = is_inside and not (contains_other and self._age(key) < self._age(other))
            inner, outer = (key, other) if is_inner else (other, key)
            is_duplicate_of_one = is_inside or contains_other
            self._many(
                "UPDATE conversations SET twin_of = ? WHERE key = ?",
                [(outer if is_duplicate_of_one else None, inner), (None, outer)],
            )
            if is_duplicate_of_one:
                self._db.execute("UPDATE conversations SET twin_of = ? WHERE twin_of = ?", (outer, inner))
            if is_duplicate_of_one and inner == key:
                break
        return []

    def _are_duplicates(self, key: int, other: int) -> bool:
        texts, other_texts = (
            duplicates.timed_texts(self._rows(MESSAGE_TEXTS, each)) for each in (key, other)
        )
        return is_duplicate(
            self._fingerprint(key), self._fingerprint(other), duplicates.match_texts(texts, other_texts)
        )

    def _family(self, key: int) -> set[int]:
        """Return a conversation with all of its duplicates."""
        return {row[0] for row in self._rows(_FAMILY, key)}

    def _resolve(self, conversations: Collection[int]) -> list[int]:
        """Determine again which conversations are duplicates; return the entry keys to add to the index."""
        if not conversations:
            return []
        new = self._unmark_copies(conversations)
        those = as_json(conversations)
        self._db.execute(f"UPDATE conversations SET twin_of = NULL WHERE key {IN_VALUES}", (those,))
        unresolved = set(conversations)
        folded: set[int] = set()
        for key in sorted(conversations):
            copies = self._find_late_duplicate(key, self._first_location(key), unresolved)
            unresolved.discard(key)
            if copies:
                self._mark_as_copies(self._detail(key), key, copies)
                folded.update(copies)
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in folded])
        return [key for key in new if key not in folded]

    def _first_location(self, conversation: int) -> tuple[int, str]:
        """Return a source that contains a conversation, and its file."""
        sql = (
            "SELECT source, unit FROM contents WHERE conversation = ? ORDER BY only_prompts, source, unit "
            "LIMIT 1"
        )
        return next(((source, unit) for source, unit in self._rows(sql, conversation)), (0, ""))

    def _unmark_copies(self, conversations: Iterable[int]) -> list[int]:
        """Undo copies that only have equal texts; return their new keys, for the index."""
        those = as_json(conversations)
        leaders: dict[tuple[int, int], int] = {}
        unfolded: list[int] = []
        counted: list[int] = []
        for key, number, original, copy_hash, earlier in list(self._rows(_DUPLICATE_COPIES, those, those)):
            leader = None if copy_hash is None else leaders.get((original, copy_hash))
            self._db.execute("UPDATE timeline SET copy_of = ? WHERE key = ?", (leader, key))
            if leader is not None:
                continue
            new = self._new_key()
            self._rekey(number, {key: new})
            unfolded.append(new)
            if copy_hash is not None:
                leaders[original, copy_hash] = new
            if not earlier:
                counted.append(new)
        self._recount(counted)
        return unfolded

    def _recount(self, keys: list[int]) -> None:
        """Count the usage of entries that may have been counted with copies or originals now removed."""
        for key in keys:
            number = self._value("SELECT conversation FROM timeline WHERE key = ?", key)
            self._count_usage(self._detail(number), number, [(key, row_of(self._entry(key)))])
