"""Store conversations of which only the prompts are known, until a source has more of them.

A list of prompts outlives its sessions. If a session itself is known, whichever came first, the list adds
nothing. A prompt without a session is looked up in the sessions of its time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from agent_journal.archive import duplicates
from agent_journal.archive.duplicates import are_in_different_folders
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.provenance import Provenance
from agent_journal.model import Message, tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agent_journal.archive.duplicates import TimedText
    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation

_CONVERSATIONS_BETWEEN = (
    "SELECT key, id, project FROM conversations WHERE source = ? AND only_prompts = ? "
    "AND updated_ms >= ? AND started_ms <= ?"
)
_ANY_PROMPTS = "SELECT 1 FROM conversations WHERE source = ? AND only_prompts = 1 LIMIT 1"
_PROMPT_TEXTS = (
    "SELECT key, role, text, at FROM timeline WHERE conversation = ? AND role = 'user' AND earlier = 0 "
    "AND text IS NOT NULL"
)
_CONTENT_LINK = "SELECT 1 FROM contents WHERE source = ? AND conversation = ? AND unit = ? AND only_prompts"
_INSERT_CONTENT_LINK = (
    "INSERT INTO contents VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT DO UPDATE SET only_prompts = ?4 WHERE only_prompts != ?4"
)
# Older versions did not store which file of a source contains a conversation.
_FULL_CONTENT_ELSEWHERE = (
    "SELECT 1 FROM contents WHERE conversation = ? AND NOT only_prompts "
    "AND NOT (source = ? AND unit IN ('', ?)) LIMIT 1"
)


def tombstone(source: str, id_: str, prompt: str | None = None) -> bytes:
    """Hash the name of something forgotten, or of one prompt in a list."""
    name = f"{source}\0{id_}" if prompt is None else f"{source}\0{id_}\0{prompt}"
    return hashlib.sha256(name.encode()).digest()


class Prompts(Provenance):
    """The part of the store that handles lists of prompts."""

    def has_forgotten_prompts(self, conversation: Conversation, rows: Sequence[Row]) -> bool:
        """Whether a list of prompts contains some of a conversation that the user has forgotten."""
        return conversation.only_prompts and bool(self._forgotten(_prompt_hashes(conversation, rows)))

    def _forgotten(self, names: Iterable[bytes]) -> set[bytes]:
        sql = "SELECT 1 FROM tombstones WHERE id_hash = ?"
        return {name for name in names if self._value(sql, name) is not None}

    def _link_content(self, source: int, conversation: int, unit: str, *, only_prompts: bool) -> None:
        """Record which file of a source contains a conversation, or only its prompts."""
        self._db.execute(_INSERT_CONTENT_LINK, (source, conversation, unit, only_prompts))

    def _has_full_content_elsewhere(self, conversation: int, source: int, unit: str) -> bool:
        """Whether another file contains more of a conversation than its prompts."""
        return self._value(_FULL_CONTENT_ELSEWHERE, conversation, source, unit) is not None

    def _is_linked(self, source: int, conversation: int, unit: str, rows: Sequence[Row]) -> bool:
        """Whether a list that was read before has got nothing new of a conversation."""
        if source in self._reimports or self._value(_CONTENT_LINK, source, conversation, unit) is None:
            return False
        sql = "SELECT id, hash FROM timeline WHERE conversation = ?"
        stored = set(self._rows(sql, conversation))
        return all((row.id, row.hash) in stored for row in rows)

    def _clear_prompts(self, conversation: int) -> list[int]:
        """Remove prompts that a session replaces; return the keys to remove from the index."""
        title_key = self._value("SELECT title_key FROM conversations WHERE key = ?", conversation)
        keys = [row[0] for row in self._rows("SELECT key FROM timeline WHERE conversation = ?", conversation)]
        self._remove(conversation, keys)
        self._db.execute("DELETE FROM conversations WHERE key = ?", (conversation,))
        return [*keys, title_key] if title_key else keys

    # Prompts without a session

    def _prompts_without_session(
        self, conversation: Conversation, rows: Sequence[Row], source: int, unit: str
    ) -> tuple[list[Row], list[int]]:
        """Return prompts that are not forgotten and in no known session, and the sessions of the others."""
        named_rows = list(zip(_prompt_hashes(conversation, rows), rows, strict=True))
        forgotten = self._forgotten(name for name, _ in named_rows)
        sql = "SELECT conversation FROM answered WHERE prompt = ?"
        sessions = [(self._value(sql, name), row) for name, row in named_rows if name not in forgotten]
        session_keys = list(dict.fromkeys(key for key, _ in sessions if key is not None))
        self._link_prompts(source, unit, session_keys)
        return [row for key, row in sessions if key is None], session_keys

    def _match_new_prompts(
        self, conversation: Conversation, rows: list[Row], source: int, unit: str
    ) -> tuple[list[Row], list[int]]:
        """Look new prompts up in sessions; return those in none, and the sessions of the others."""
        texts = duplicates.timed_texts((index, row.role, row.text, row.at) for index, row in enumerate(rows))
        sessions = self._find_sessions(conversation, texts)
        names = _prompt_hashes(conversation, rows)
        self._record_answered({names[index]: key for index, key in sessions.items()})
        session_keys = list(dict.fromkeys(sessions.values()))
        self._link_prompts(source, unit, session_keys)
        return [row for index, row in enumerate(rows) if index not in sessions], session_keys

    def _find_sessions(self, prompts: Conversation, texts: Sequence[TimedText]) -> dict[int, int]:
        """Return, by prompt key, the conversation of the same source that contains the prompt."""
        sessions: dict[int, int] = {}
        for key, _ in self._conversations_during(prompts, texts, only_prompts=False):
            candidates = duplicates.timed_texts(self._rows(_PROMPT_TEXTS, key))
            sessions |= {
                prompt: key for prompt in duplicates.find_prompts(texts, candidates) if prompt not in sessions
            }
        return sessions

    def _take_over_prompts(self, conversation: Conversation, key: int, rows: Sequence[Row]) -> list[int]:
        """Remove prompts that a conversation contains from lists; return the keys to unindex."""
        if self._value(_ANY_PROMPTS, conversation.source) is None:
            return []
        texts = duplicates.timed_texts(
            (index, row.role, row.text, row.at) for index, row in enumerate(rows) if row.role == "user"
        )
        removed: list[int] = []
        for other, id_ in self._conversations_during(conversation, texts, only_prompts=True):
            if not self._detail(other).made_id:
                continue  # a session with an id of its own
            prompts = duplicates.timed_texts(self._rows(_PROMPT_TEXTS, other))
            if contained := duplicates.find_prompts(prompts, texts):
                self._record_answered(
                    dict.fromkeys(self._prompt_names(conversation.source, id_, contained), key)
                )
                for source, unit in self._units(other):
                    self._link_prompts(source, unit, [key])
                removed += [*contained, *self._remove_prompts(other, contained)]
        return removed

    def _conversations_during(
        self, conversation: Conversation, texts: Sequence[TimedText], *, only_prompts: bool
    ) -> list[tuple[int, str]]:
        """Return conversations of a source and kind that were active at the time of the texts.

        Those in other folders are left out: agents in several folders may get the same prompt at once.
        """
        times = [each.at_ms for each in texts if each.at_ms is not None]
        if not times:
            return []
        first, last = min(times) - duplicates.MATCH_WINDOW_MS, max(times) + duplicates.MATCH_WINDOW_MS
        return [
            (key, id_)
            for key, id_, folder in self._rows(
                _CONVERSATIONS_BETWEEN, conversation.source, only_prompts, first, last
            )
            if not are_in_different_folders(folder, conversation.cwd)
        ]

    def _prompt_names(self, source: str, id_: str, keys: Collection[int]) -> list[bytes]:
        sql = f"SELECT id FROM timeline WHERE key {IN_VALUES}"
        return [tombstone(source, id_, prompt) for (prompt,) in self._rows(sql, as_json(keys))]

    def _record_answered(self, prompts: dict[bytes, int]) -> None:
        self._many("INSERT OR REPLACE INTO answered VALUES (?, ?)", list(prompts.items()))

    def _link_prompts(self, source: int, unit: str, conversations: Iterable[int]) -> None:
        """Record that a list contains prompts of conversations, unless the same file contains all of them."""
        for conversation in conversations:
            self._record_given(source, conversation, ())
            self._db.execute(
                "INSERT OR IGNORE INTO contents VALUES (?, ?, ?, 1)", (source, conversation, unit)
            )

    def _units(self, conversation: int) -> list[tuple[int, str]]:
        sql = "SELECT source, unit FROM contents WHERE conversation = ?"
        return [(source, unit) for source, unit in self._rows(sql, conversation)]

    def _remove_prompts(self, conversation: int, prompts: Collection[int]) -> list[int]:
        """Remove prompts from a conversation, or all of it; return other keys to remove from the index."""
        self._remove(conversation, list(prompts))
        if self._value("SELECT 1 FROM timeline WHERE conversation = ? LIMIT 1", conversation) is None:
            return self._drop_conversation(conversation)
        self._renumber(conversation)
        columns = {**self._sizes(conversation), "summary": self._title_from_prompts(conversation)}
        changes = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(
            f"UPDATE conversations SET {changes} WHERE key = ?", (*columns.values(), conversation)
        )
        return []

    def _drop_conversation(self, key: int) -> list[int]:
        """Delete a conversation without entries; return the keys to remove from the index."""
        title_key = self._value("SELECT title_key FROM conversations WHERE key = ?", key)
        for table in ("usage", "usage_sums", "contents", "answered"):
            self._db.execute(f"DELETE FROM {table} WHERE conversation = ?", (key,))
        self._db.execute("UPDATE conversations SET twin_of = NULL WHERE twin_of = ?", (key,))
        self._db.execute("DELETE FROM conversations WHERE key = ?", (key,))
        return [title_key] if title_key else []

    def _renumber(self, conversation: int) -> None:
        sql = (
            "SELECT key, position FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position, key"
        )
        moved = [
            (number, key)
            for number, (key, position) in enumerate(list(self._rows(sql, conversation)))
            if number != position
        ]
        self._many("UPDATE timeline SET position = ? WHERE key = ?", moved)

    def _title_from_prompts(self, key: int) -> str | None:
        """Make a title from the first prompt of a conversation."""
        sql = (
            "SELECT key, text FROM timeline WHERE conversation = ? AND role = 'user' AND text IS NOT NULL "
            "AND NOT earlier ORDER BY position"
        )
        return tree.title_from(text for number, text in self._rows(sql, key) if not self._is_hidden(number))

    def _is_hidden(self, key: int) -> bool:
        entry = self._entry(key)
        return isinstance(entry, Message) and entry.hidden


def _prompt_hashes(conversation: Conversation, rows: Iterable[Row]) -> list[bytes]:
    """Return the hashes of prompts in a list, by which sessions and tombstones refer to them."""
    return [tombstone(conversation.source, conversation.id, row.id) for row in rows]
