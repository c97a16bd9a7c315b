"""Record which source gave which entry, so that a re-import replaces what came only from its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.merge import MergePlan, StoredEntry
    from agent_journal.archive.rows import Row

# Whether contents `n` have all that is known of `c`: a list of prompts only counts if nothing else does.
IS_FULL_CONTENT = "(n.only_prompts = 0 OR c.only_prompts)"


class ReimportState:
    """What a source has given since its re-import began."""

    def __init__(self) -> None:
        self.keys: set[int] = set()
        self.conversations: set[int] = set()


class Provenance(Entries):
    """The part of the store that knows the sources of entries. Most have one, which is in their row."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._reimports: dict[int, ReimportState] = {}

    def begin_reimport(self, source: int) -> None:
        """From now until `end_reimport`, what is stored is everything that a source contains."""
        self._reimports[source] = ReimportState()

    def _record_given(self, source: int, conversation: int, keys: Iterable[int]) -> None:
        """Record that a source gave entries of a conversation, or a memory (conversation 0)."""
        state = self._reimports.get(source)
        if state is not None:
            state.keys.update(keys)
            state.conversations.add(conversation)

    def _starts_over(self, source: int, conversation: int) -> bool:
        """Whether a conversation is replaced: it came only from a source that is re-imported."""
        state = self._reimports.get(source)
        if state is None or conversation in state.conversations:
            return False
        others = (
            "SELECT 1 FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.conversation = ? AND n.source != ? AND {IS_FULL_CONTENT} LIMIT 1"
        )
        return self._value(others, conversation, source) is None

    def _rekey(self, conversation: int, new: Mapping[int, int]) -> None:
        """Change the keys of entries wherever they are referenced."""
        moved = [(new_key, old) for old, new_key in new.items()]
        self._many("UPDATE timeline SET key = ? WHERE key = ?", moved)
        self._many("UPDATE timeline SET copy_of = ? WHERE copy_of = ?", moved)
        self._many("UPDATE also_given SET key = ? WHERE key = ?", moved)
        for table in ("tool_calls", "usage"):
            self._many(
                f"UPDATE {table} SET message = ? WHERE conversation = ? AND message = ?",
                [(new_key, conversation, old) for new_key, old in moved],
            )
        sql = "SELECT answered_by, message, slot FROM tool_calls WHERE conversation = ?"
        answered = [row for row in self._rows(sql, conversation) if row[0] in new]
        self._many(
            "UPDATE tool_calls SET answered_by = ? WHERE conversation = ? AND message = ? AND slot = ?",
            [(new[by], conversation, message, slot) for by, message, slot in answered],
        )
        for state in self._reimports.values():
            state.keys.update(new_key for old, new_key in new.items() if old in state.keys)

    def _record_sources(
        self, source: int, stored: Sequence[StoredEntry], plan: MergePlan, keys: list[tuple[int, Row]]
    ) -> None:
        """Record that stored entries also came from this source."""
        source_by_key = {entry.key: entry.given_by for entry in stored}
        for key in plan.unchanged:
            self._record_source(key, source_by_key[key], source)
        new_keys = {row.hash: key for key, row in keys} if plan.replaced else {}
        for old, row in plan.replaced:
            self._transfer_sources(old, source_by_key[old], new_keys[row.hash], source)

    def _record_source(self, key: int, owner: int | None, source: int) -> None:
        if owner is not None and owner != source:
            self._db.execute("INSERT OR IGNORE INTO also_given VALUES (?, ?)", (key, source))

    def _transfer_sources(self, old: int, owner: int | None, new: int, source: int) -> None:
        """Pass the sources of a replaced entry on to the entry that replaces it."""
        if owner is None:
            for table in ("timeline", "memories"):
                self._db.execute(f"UPDATE {table} SET given_by = NULL WHERE key = ?", (new,))
            return
        others = [row[0] for row in self._rows("SELECT source FROM also_given WHERE key = ?", old)]
        self._many(
            "INSERT OR IGNORE INTO also_given VALUES (?, ?)",
            [(new, other) for other in (owner, *others) if other != source],
        )
        self._db.execute("DELETE FROM also_given WHERE key = ?", (old,))

    def _current_rows(self, conversation: int) -> list[tuple[int, Row]]:
        """Return the current rows of a conversation with their keys."""
        return [(key, row_of(entry)) for key, entry in self.entries(conversation)]

    def _sizes(self, conversation: int) -> dict[str, int]:
        """Count the current messages and events of a conversation."""
        sql = (
            "SELECT count(role), count(*) - count(role) FROM timeline WHERE conversation = ? AND NOT earlier"
        )
        messages, events = next(self._rows(sql, conversation))
        return {"messages": messages, "events": events}
