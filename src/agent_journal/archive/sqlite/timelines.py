"""Read parts of a timeline, without reading all of it."""

from __future__ import annotations

from agent_journal.archive.sqlite.search_rows import SearchRows
from agent_journal.archive.store import EntryView, TimelineState

_MAX_PROMPT_CHARS = 400  # of which the first line is shown


class Timelines(SearchRows):
    """The part of the store that reads a range of a timeline."""

    def timeline_state(self, conversation: int) -> TimelineState:
        """Return the shape of a timeline and its number of entries, without reading any."""
        shape, head, entries, updated = next(
            self._rows(
                "SELECT shape, head_id, messages + events, updated_ms FROM conversations WHERE key = ?",
                conversation,
            )
        )
        newest = self._value("SELECT max(key) FROM timeline WHERE conversation = ?", conversation)
        return TimelineState(shape == "tree", head, entries, updated, newest or 0)

    def entry_keys(self, conversation: int, start: int, limit: int) -> list[int]:
        """Return the keys of the current entries from a position on, in order."""
        sql = (
            "SELECT key FROM timeline WHERE conversation = ? AND position >= ? AND position < ? "
            "AND NOT earlier ORDER BY position"
        )
        return [key for (key,) in self._rows(sql, conversation, start, start + limit)]

    def position_of(self, conversation: int, entry_id: str) -> int | None:
        """Return the position of a current entry; None if there is none with this id."""
        sql = "SELECT position FROM timeline WHERE conversation = ? AND id = ? AND NOT earlier"
        position: int | None = self._value(sql, conversation, entry_id)
        return position

    def prompts(self, conversation: int) -> dict[int, EntryView]:
        """Return the user's prompts by key, in order, each with the beginning of its text."""
        sql = (
            "SELECT key, id, at, substr(CAST(text AS BLOB), 1, ?), position FROM timeline "
            "WHERE conversation = ? AND role = 'user' AND text IS NOT NULL AND NOT earlier ORDER BY position"
        )
        rows = list(self._rows(sql, _MAX_PROMPT_CHARS, conversation))
        hidden = self._hidden_among([row[0] for row in rows])
        return {
            key: EntryView(key, conversation, id_, "user", at, text.decode("utf-8", "replace"), position)
            for key, id_, at, text, position in rows
            if key not in hidden and text
        }
