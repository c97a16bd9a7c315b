"""A source that is read again: what it alone gave, and gives no longer, is taken away.

A later revision of a reader may name entries otherwise, or find others in the same bytes. What another source
gave too stays, and so does everything if the source could not be read whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.conversations import Conversations
from agent_journal.archive.store import Change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent_journal.archive.sqlite.provenance import Anew
    from agent_journal.archive.store import Indexed

_NOTHING = Change(0, 0, 0, [], [])
# An older version did not know in which file of a source a conversation is.
_NAMELESS = (
    "DELETE FROM contents WHERE source = ? AND unit = '' AND conversation IN "
    "(SELECT conversation FROM contents WHERE source = ? AND unit != '')"
)
_LISTS_COUNT_AS_CHANGED = (
    "UPDATE sources SET read_at = '' WHERE key IN "
    "(SELECT source FROM contents WHERE conversation = ? AND only_prompts)"
)


class Again(Conversations):
    """The part of the store that takes away what came of an older reading."""

    def end_again(self, source: int, *, is_whole: bool) -> Change:
        """Take away what only this source gave and did not give again, if it was read whole."""
        anew = self._anew.pop(source, None)
        if anew is None or not is_whole:
            return _NOTHING
        last = self.last_key()
        held = [
            row[0]
            for row in self._rows("SELECT DISTINCT conversation FROM contents WHERE source = ?", source)
        ]
        gone = {number: self._left_by(source, number, anew) for number in held}
        every = [key for keys in gone.values() for key in keys]
        originals = self._originals_of(every)
        promoted = self._promote_copies(every)
        uncounted = self._uncount(gone)
        for number, keys in gone.items():
            self._remove(number, keys)
        self._recount([*promoted, *originals])
        removed = every + self._forsaken_memories(source, anew)
        for number, keys in gone.items():
            removed += self._settled(number, source, anew, promoted, is_changed=bool(keys))
        self._count_again(anew.conversations, uncounted)
        self._db.execute(_NAMELESS, (source, source))
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in removed])
        return Change(0, 0, len(every), self._indexed_beyond(last, promoted), removed)

    def _left_by(self, source: int, conversation: int, anew: Anew) -> list[int]:
        """Entries of a conversation that nobody gives any more."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND given_by = ?"
        own = [row[0] for row in self._rows(sql, conversation, source) if row[0] not in anew.keys]
        sql = (
            "SELECT a.key FROM also_given a JOIN timeline t ON t.key = a.key "
            "WHERE t.conversation = ? AND a.source = ?"
        )
        shared = [row[0] for row in self._rows(sql, conversation, source) if row[0] not in anew.keys]
        self._many("DELETE FROM also_given WHERE key = ? AND source = ?", [(key, source) for key in shared])
        return [key for key in own if not self._is_anothers("timeline", key)]

    def _is_anothers(self, table: str, key: int) -> bool:
        """Whether another source gave it too; it is that one's from now on."""
        other = self._value("SELECT min(source) FROM also_given WHERE key = ?", key)
        if other is None:
            return False
        self._db.execute(f"UPDATE {table} SET given_by = ? WHERE key = ?", (other, key))
        self._db.execute("DELETE FROM also_given WHERE key = ? AND source = ?", (key, other))
        return True

    def _forsaken_memories(self, source: int, anew: Anew) -> list[int]:
        own = [row[0] for row in self._rows("SELECT key FROM memories WHERE given_by = ?", source)]
        gone = [key for key in own if key not in anew.keys and not self._is_anothers("memories", key)]
        self._many("DELETE FROM memories WHERE key = ?", [(key,) for key in gone])
        return gone

    def _settled(
        self, conversation: int, source: int, anew: Anew, promoted: list[int], *, is_changed: bool
    ) -> list[int]:
        """Let a conversation be whole without what was taken away; keys of the index that went with it.

        Keys that the index lacks are added to those of promoted entries.
        """
        if conversation not in anew.conversations and not self._gives(source, conversation):
            self._db.execute(
                "DELETE FROM contents WHERE conversation = ? AND source = ?", (conversation, source)
            )
            if self._value("SELECT 1 FROM timeline WHERE conversation = ? LIMIT 1", conversation) is None:
                # Of prompts that are known of it, the lists tell when they are read the next time.
                self._db.execute(_LISTS_COUNT_AS_CHANGED, (conversation,))
                return self._drop_conversation(conversation)
        if is_changed:
            self._show_earlier(conversation)
            self._close_ranks(conversation)
            self._db.execute("DELETE FROM tool_calls WHERE conversation = ?", (conversation,))
            self._count_calls(conversation, self._shown(conversation))
            self._db.execute(
                "UPDATE conversations SET messages = ?, events = ? WHERE key = ?",
                (*self._sizes(conversation).values(), conversation),
            )
            promoted += self._judge_twins(conversation)
        return []

    def _gives(self, source: int, conversation: int) -> bool:
        """Whether a source gives, or may give, anything of a conversation."""
        sql = (
            "SELECT 1 FROM timeline t WHERE conversation = ? AND (given_by IS NULL OR given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = t.key AND a.source = ?)) LIMIT 1"
        )
        return self._value(sql, conversation, source, source) is not None

    def _show_earlier(self, conversation: int) -> None:
        """Where the current version of an entry went, the last one before it is shown again."""
        sql = (
            "SELECT key, max(earlier) FROM timeline WHERE conversation = ? AND earlier AND id NOT IN "
            "(SELECT id FROM timeline WHERE conversation = ? AND NOT earlier) GROUP BY id"
        )
        shown = [(key,) for key, _ in list(self._rows(sql, conversation, conversation))]
        self._many("UPDATE timeline SET earlier = 0 WHERE key = ?", shown)

    # Copies and counts

    def _promote_copies(self, gone: Collection[int]) -> list[int]:
        """Of each that goes, the first copy becomes the original, under a new key that the index takes up."""
        sql = (
            "SELECT min(c.key), c.conversation, c.copy_of FROM json_each(?) j "
            "CROSS JOIN timeline c ON c.copy_of = j.value AND c.copy_of IS NOT NULL "
            f"WHERE c.key NOT {AMONG} GROUP BY c.copy_of"
        )
        keys = as_json(gone)
        promoted = []
        for copy, number, original in list(self._rows(sql, keys, keys)):
            new = self._new_key()
            self._db.execute(
                "UPDATE timeline SET copy_of = ? WHERE copy_of = ? AND key != ?", (new, original, copy)
            )
            self._db.execute("UPDATE timeline SET copy_of = NULL WHERE key = ?", (copy,))
            self._rekey(number, {copy: new})
            promoted.append(new)
        return promoted

    def _originals_of(self, gone: Collection[int]) -> list[int]:
        """The entries that stay and of which those that go are copies."""
        keys = as_json(gone)
        sql = f"SELECT DISTINCT copy_of FROM timeline WHERE key {AMONG} AND copy_of NOT {AMONG}"
        return [row[0] for row in self._rows(sql, keys, keys)]

    def _uncount(self, gone: dict[int, list[int]]) -> set[int]:
        """Take away what entries used; what is counted once may be counted with another."""
        sql = "DELETE FROM usage WHERE conversation = ? AND message = ? RETURNING name"
        uncounted = {
            name for number, keys in gone.items() for key in keys for (name,) in self._rows(sql, number, key)
        }
        self._to_sum_up.update(number for number, keys in gone.items() if keys)
        return uncounted

    def _count_again(self, conversations: Iterable[int], uncounted: set[int]) -> None:
        if not uncounted:
            return
        for number in conversations:
            if number and self._value("SELECT 1 FROM conversations WHERE key = ?", number):
                self._use(self._detail(number), number, self._shown(number), uncounted)

    def _indexed_beyond(self, last: int, promoted: Iterable[int]) -> list[Indexed]:
        sql = "SELECT conversation FROM timeline WHERE key = ?"
        numbers = sorted({self._value(sql, key) for key in promoted})
        entries = [entry for number in numbers for entry in self._indexed_of(number, last)]
        return sorted(entries, key=lambda entry: entry.key)
