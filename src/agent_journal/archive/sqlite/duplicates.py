"""Conversations that were taken for duplicates, judged again when more is known of them."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING

from agent_journal.archive import message_matching
from agent_journal.archive.duplicates import is_duplicate
from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.copies import SAID
from agent_journal.archive.sqlite.counting import Counting
from agent_journal.archive.sqlite.provenance import Givers
from agent_journal.errors import DamagedArchive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

UNRESOLVED = "unresolved_duplicates"
"""The name in the journal table under which a migration leaves that all of them must be judged again."""

# Copies in duplicates, as `c` of the original `o`: a copy in a fork has the id that the source gave both.
_COPIED_BY_WORDS = "(c.id != o.id OR c.copy_hash IS NULL OR o.copy_hash IS NULL)"
_FOLDED = (
    "SELECT c.key, c.conversation, c.copy_of, c.copy_hash, c.earlier FROM timeline c "
    "JOIN timeline o ON o.key = c.copy_of "
    f"WHERE c.copy_of IS NOT NULL AND {_COPIED_BY_WORDS} "
    f"AND (c.conversation {AMONG} OR o.conversation {AMONG}) ORDER BY c.key"
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


class Duplicates(Givers, Counting):
    """The part of the store that takes conversations apart that are no duplicates."""

    def has_unresolved_duplicates(self) -> bool:
        """Whether duplicates are as a version left them that knew less of what tells conversations apart."""
        return self._value("SELECT 1 FROM journal WHERE name = ?", UNRESOLVED) is not None

    def resolve_duplicates(self) -> None:
        """Take apart what is no duplicate, so that all is as if it were imported now."""
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

    def _judge_twins(self, key: int) -> list[int]:
        """Twins that went on: the one that has all of the other is shown, or both if each has more.

        Of several, all are twins of the one that is shown: one that goes on later is compared with that.
        Those that turn out to be no duplicates come apart; the keys of entries that the index lacks then.
        """
        others = self._twins(key)
        family = self._family(key)
        if not all(self._are_duplicates(key, other) for other in family if other != key):
            return self._resolve(family)
        for other in others:
            ours, theirs = (message_matching.said_in(self._rows(SAID, each)) for each in (key, other))
            same = len(message_matching.matches(ours, theirs))
            is_in, holds = (message_matching.are_twins(same, len(each)) for each in (ours, theirs))
            is_inner = is_in and not (holds and self._age(key) < self._age(other))
            inner, outer = (key, other) if is_inner else (other, key)
            whole = is_in or holds
            self._many(
                "UPDATE conversations SET twin_of = ? WHERE key = ?",
                [(outer if whole else None, inner), (None, outer)],
            )
            if whole:
                self._db.execute("UPDATE conversations SET twin_of = ? WHERE twin_of = ?", (outer, inner))
            if whole and inner == key:
                break
        return []

    def _are_duplicates(self, key: int, other: int) -> bool:
        ours, theirs = (message_matching.said_in(self._rows(SAID, each)) for each in (key, other))
        return is_duplicate(
            self._candidate(key), self._candidate(other), message_matching.matches(ours, theirs)
        )

    def _family(self, key: int) -> set[int]:
        """A conversation and all that are its duplicates, or of which it is one."""
        return {row[0] for row in self._rows(_FAMILY, key)}

    def _resolve(self, conversations: Collection[int]) -> list[int]:
        """Find out anew which of some conversations are duplicates; keys of entries that the index lacks."""
        if not conversations:
            return []
        new = self._unfold(conversations)
        those = as_json(conversations)
        self._db.execute(f"UPDATE conversations SET twin_of = NULL WHERE key {AMONG}", (those,))
        unresolved = set(conversations)
        folded: set[int] = set()
        for key in sorted(conversations):
            copies = self._twin_met_late(key, self._first_place(key), unresolved)
            unresolved.discard(key)
            if copies:
                self._fold(self._detail(key), key, copies)
                folded.update(copies)
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in folded])
        return [key for key in new if key not in folded]

    def _first_place(self, conversation: int) -> tuple[int, str]:
        """A source that holds a conversation, and the file of it."""
        sql = (
            "SELECT source, unit FROM contents WHERE conversation = ? ORDER BY only_prompts, source, unit "
            "LIMIT 1"
        )
        return next(((source, unit) for source, unit in self._rows(sql, conversation)), (0, ""))

    def _unfold(self, conversations: Iterable[int]) -> list[int]:
        """Let entries be no copies that only say the same as others; their new keys, for the index."""
        those = as_json(conversations)
        leaders: dict[tuple[int, int], int] = {}
        unfolded: list[int] = []
        counted: list[int] = []
        for key, number, original, copy_hash, earlier in list(self._rows(_FOLDED, those, those)):
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
        """Count what entries used: that may have been counted with copies or originals of them that went."""
        for key in keys:
            number = self._value("SELECT conversation FROM timeline WHERE key = ?", key)
            self._use(self._detail(number), number, [(key, row_of(self._entry(key)))])
