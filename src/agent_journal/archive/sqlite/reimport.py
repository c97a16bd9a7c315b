"""Re-import a source: remove what came only from it and is no longer read.

A later revision of a reader may give entries other ids, or read other entries from the same bytes. What also
came from another source stays, and everything stays if the source could not be read completely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.conversations import Conversations
from agent_journal.archive.store import Change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.archive.sqlite.provenance import ReimportState

_NO_CHANGE = Change(0, 0, 0, [], [])
# Older versions did not store which file of a source contains a conversation.
_DELETE_UNNAMED_CONTENT = (
    "DELETE FROM contents WHERE source = ? AND unit = '' AND conversation IN "
    "(SELECT conversation FROM contents WHERE source = ? AND unit != '')"
)
_LISTS_COUNT_AS_CHANGED = (
    "UPDATE sources SET read_at = '' WHERE key IN "
    "(SELECT source FROM contents WHERE conversation = ? AND only_prompts)"
)


class Reimport(Conversations):
    """The part of the store that removes what only an older reading gave."""

    def end_reimport(self, source: int, *, is_complete: bool) -> Change:
        """Remove what came only from this source and was not read again, if it was read completely."""
        state = self._reimports.pop(source, None)
        if state is None or not is_complete:
            return _NO_CHANGE
        last = self.last_key()
        conversations = [
            row[0]
            for row in self._rows("SELECT DISTINCT conversation FROM contents WHERE source = ?", source)
        ]
        gone_by_conversation = {
            number: self._no_longer_given(source, number, state) for number in conversations
        }
        gone_keys = [key for keys in gone_by_conversation.values() for key in keys]
        originals = self._originals_of(gone_keys)
        promoted = self._promote_copies(gone_keys)
        uncounted = self._remove_usage(gone_by_conversation)
        for number, keys in gone_by_conversation.items():
            self._remove(number, keys)
        self._recount([*promoted, *originals])
        removed = gone_keys + self._drop_ungiven_memories(source, state)
        for number, keys in gone_by_conversation.items():
            removed += self._clean_up(number, source, state, promoted, is_changed=bool(keys))
        self._recount_usage(state.conversations, uncounted)
        self._db.execute(_DELETE_UNNAMED_CONTENT, (source, source))
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in removed])
        return Change(0, 0, len(gone_keys), self._indexed_beyond(last, promoted), removed)

    def _no_longer_given(self, source: int, conversation: int, state: ReimportState) -> list[int]:
        """Return the entries of a conversation that no source gives any more."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND given_by = ?"
        own = [row[0] for row in self._rows(sql, conversation, source) if row[0] not in state.keys]
        sql = (
            "SELECT a.key FROM also_given a JOIN timeline t ON t.key = a.key "
            "WHERE t.conversation = ? AND a.source = ?"
        )
        shared = [row[0] for row in self._rows(sql, conversation, source) if row[0] not in state.keys]
        self._many("DELETE FROM also_given WHERE key = ? AND source = ?", [(key, source) for key in shared])
        return [key for key in own if not self._reassign("timeline", key)]

    def _reassign(self, table: str, key: int) -> bool:
        """Make another source that also gave an entry its owner; return whether there is one."""
        other = self._value("SELECT min(source) FROM also_given WHERE key = ?", key)
        if other is None:
            return False
        self._db.execute(f"UPDATE {table} SET given_by = ? WHERE key = ?", (other, key))
        self._db.execute("DELETE FROM also_given WHERE key = ? AND source = ?", (key, other))
        return True

    def _drop_ungiven_memories(self, source: int, state: ReimportState) -> list[int]:
        own = [row[0] for row in self._rows("SELECT key FROM memories WHERE given_by = ?", source)]
        gone = [key for key in own if key not in state.keys and not self._reassign("memories", key)]
        self._many("DELETE FROM memories WHERE key = ?", [(key,) for key in gone])
        return gone

    def _clean_up(
        self, conversation: int, source: int, state: ReimportState, promoted: list[int], *, is_changed: bool
    ) -> list[int]:
        """Make a conversation consistent after the removal; return the keys to remove from the index.

        Keys that the index must add are appended to `promoted`.
        """
        if conversation not in state.conversations and not self._gives(source, conversation):
            self._db.execute(
                "DELETE FROM contents WHERE conversation = ? AND source = ?", (conversation, source)
            )
            if self._value("SELECT 1 FROM timeline WHERE conversation = ? LIMIT 1", conversation) is None:
                # Lists of prompts that contain it are read again, and then provide its prompts.
                self._db.execute(_LISTS_COUNT_AS_CHANGED, (conversation,))
                return self._drop_conversation(conversation)
        if is_changed:
            self._show_earlier(conversation)
            self._renumber(conversation)
            self._db.execute("DELETE FROM tool_calls WHERE conversation = ?", (conversation,))
            self._count_calls(conversation, self._current_rows(conversation))
            self._db.execute(
                "UPDATE conversations SET messages = ?, events = ? WHERE key = ?",
                (*self._sizes(conversation).values(), conversation),
            )
            promoted += self._reassess_duplicates(conversation)
        return []

    def _gives(self, source: int, conversation: int) -> bool:
        """Whether an entry of a conversation came, or may have come, from a source."""
        sql = (
            "SELECT 1 FROM timeline t WHERE conversation = ? AND (given_by IS NULL OR given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = t.key AND a.source = ?)) LIMIT 1"
        )
        return self._value(sql, conversation, source, source) is not None

    def _show_earlier(self, conversation: int) -> None:
        """Show the last earlier version of an entry whose current version is gone."""
        sql = (
            "SELECT key, max(earlier) FROM timeline WHERE conversation = ? AND earlier AND id NOT IN "
            "(SELECT id FROM timeline WHERE conversation = ? AND NOT earlier) GROUP BY id"
        )
        shown = [(key,) for key, _ in list(self._rows(sql, conversation, conversation))]
        self._many("UPDATE timeline SET earlier = 0 WHERE key = ?", shown)

    # Copies and counts

    def _promote_copies(self, gone: Collection[int]) -> list[int]:
        """Make the first copy of each removed entry the original, under a new key for the index."""
        sql = (
            "SELECT min(c.key), c.conversation, c.copy_of FROM json_each(?) j "
            "CROSS JOIN timeline c ON c.copy_of = j.value AND c.copy_of IS NOT NULL "
            f"WHERE c.key NOT {IN_VALUES} GROUP BY c.copy_of"
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
        """Return the remaining originals of removed copies."""
        keys = as_json(gone)
        sql = f"SELECT DISTINCT copy_of FROM timeline WHERE key {IN_VALUES} AND copy_of NOT {IN_VALUES}"
        return [row[0] for row in self._rows(sql, keys, keys)]

    def _remove_usage(self, gone: dict[int, list[int]]) -> set[int]:
        """Remove the usage of entries; it may have to be counted with other entries."""
        sql = "DELETE FROM usage WHERE conversation = ? AND message = ? RETURNING name"
        uncounted = {
            name for number, keys in gone.items() for key in keys for (name,) in self._rows(sql, number, key)
        }
        self._to_sum_up.update(number for number, keys in gone.items() if keys)
        return uncounted

    def _recount_usage(self, conversations: Iterable[int], uncounted: set[int]) -> None:
        if not uncounted:
            return
        for number in conversations:
            if number and self._value("SELECT 1 FROM conversations WHERE key = ?", number):
                self._count_usage(self._detail(number), number, self._current_rows(number), uncounted)

    def _indexed_beyond(self, last: int, promoted: Iterable[int]) -> list[IndexEntry]:
        sql = "SELECT conversation FROM timeline WHERE key = ?"
        numbers = sorted({self._value(sql, key) for key in promoted})
        entries = [entry for number in numbers for entry in self._indexed_of(number, last)]
        return sorted(entries, key=lambda entry: entry.key)
