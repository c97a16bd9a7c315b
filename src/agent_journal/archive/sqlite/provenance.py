"""Which source gave which entry, so that reading one again replaces what it alone gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.merge import Plan, Stored
    from agent_journal.archive.rows import Row

# Of a conversation that is known itself, a list of prompts tells nothing: contents as `n`, of `c`.
TELLS = "(n.only_prompts = 0 OR c.only_prompts)"


class Anew:
    """What a source has given since it began to be read again."""

    def __init__(self) -> None:
        self.keys: set[int] = set()
        self.conversations: set[int] = set()


class Givers(Entries):
    """The part of the store that knows whose an entry is: mostly one source's, which is in its row."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._anew: dict[int, Anew] = {}

    def begin_again(self, source: int) -> None:
        """What is put from now on is all that a source gives, until `end_again`."""
        self._anew[source] = Anew()

    def _came(self, source: int, conversation: int, keys: Iterable[int]) -> None:
        """Learn that a source gave entries of a conversation, or a memory, which is in none (0)."""
        anew = self._anew.get(source)
        if anew is not None:
            anew.keys.update(keys)
            anew.conversations.add(conversation)

    def _begins_anew(self, source: int, conversation: int) -> bool:
        """Whether nothing that was known of a conversation holds: whoever alone gave it is read again."""
        anew = self._anew.get(source)
        if anew is None or conversation in anew.conversations:
            return False
        others = (
            "SELECT 1 FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.conversation = ? AND n.source != ? AND {TELLS} LIMIT 1"
        )
        return self._value(others, conversation, source) is None

    def _rekey(self, conversation: int, new: Mapping[int, int]) -> None:
        """Let entries of a conversation have other keys, wherever they are named."""
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
        for anew in self._anew.values():
            anew.keys.update(new_key for old, new_key in new.items() if old in anew.keys)

    def _note_givers(
        self, source: int, stored: Sequence[Stored], plan: Plan, keys: list[tuple[int, Row]]
    ) -> None:
        """Learn that what is stored came from this source too."""
        givers = {entry.key: entry.given_by for entry in stored}
        for key in plan.given:
            self._note_giver(key, givers[key], source)
        now = {row.hash: key for key, row in keys} if plan.replaced else {}
        for old, row in plan.replaced:
            self._hand_over(old, givers[old], now[row.hash], source)

    def _note_giver(self, key: int, giver: int | None, source: int) -> None:
        if giver is not None and giver != source:
            self._db.execute("INSERT OR IGNORE INTO also_given VALUES (?, ?)", (key, source))

    def _hand_over(self, old: int, giver: int | None, new: int, source: int) -> None:
        """Whoever gave what was replaced gave what contains it."""
        if giver is None:
            for table in ("timeline", "memories"):
                self._db.execute(f"UPDATE {table} SET given_by = NULL WHERE key = ?", (new,))
            return
        others = [row[0] for row in self._rows("SELECT source FROM also_given WHERE key = ?", old)]
        self._many(
            "INSERT OR IGNORE INTO also_given VALUES (?, ?)",
            [(new, other) for other in (giver, *others) if other != source],
        )
        self._db.execute("DELETE FROM also_given WHERE key = ?", (old,))

    def _shown(self, conversation: int) -> list[tuple[int, Row]]:
        """The rows of a conversation that are shown, with their keys."""
        return [(key, row_of(entry)) for key, entry in self.entries(conversation)]

    def _sizes(self, conversation: int) -> dict[str, int]:
        """How many messages and events of a conversation are shown."""
        sql = (
            "SELECT count(role), count(*) - count(role) FROM timeline WHERE conversation = ? AND NOT earlier"
        )
        messages, events = next(self._rows(sql, conversation))
        return {"messages": messages, "events": events}
