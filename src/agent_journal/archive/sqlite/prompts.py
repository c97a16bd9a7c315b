"""Conversations of which only the prompts are known: they stand in where nothing better is, and yield to it.

A list of prompts outlives the sessions in which they were asked. Where a session is known itself, whichever
came first, the list adds nothing. A prompt of no session is looked for in those of its time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from agent_journal.archive import message_matching
from agent_journal.archive.duplicates import are_in_different_folders
from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.provenance import Givers
from agent_journal.model import Message, tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agent_journal.archive.message_matching import Said
    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation

_WITHIN = (
    "SELECT key, id, project FROM conversations WHERE source = ? AND only_prompts = ? "
    "AND updated_ms >= ? AND started_ms <= ?"
)
_ANY_PROMPTS = "SELECT 1 FROM conversations WHERE source = ? AND only_prompts = 1 LIMIT 1"
_ASKED = (
    "SELECT key, role, text, at FROM timeline WHERE conversation = ? AND role = 'user' AND earlier = 0 "
    "AND text IS NOT NULL"
)
_HELD = "SELECT 1 FROM contents WHERE source = ? AND conversation = ? AND unit = ? AND only_prompts"
_HOLD = (
    "INSERT INTO contents VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT DO UPDATE SET only_prompts = ?4 WHERE only_prompts != ?4"
)
# An older version did not know in which file of a source a conversation is.
_TOLD_BY_OTHERS = (
    "SELECT 1 FROM contents WHERE conversation = ? AND NOT only_prompts "
    "AND NOT (source = ? AND unit IN ('', ?)) LIMIT 1"
)


def tombstone(source: str, id_: str, prompt: str | None = None) -> bytes:
    """What is left of the name of something that is forgotten, or of one prompt in a list."""
    name = f"{source}\0{id_}" if prompt is None else f"{source}\0{id_}\0{prompt}"
    return hashlib.sha256(name.encode()).digest()


class Prompts(Givers):
    """The part of the store that knows what is told by lists of prompts alone."""

    def forgets_some(self, conversation: Conversation, rows: Sequence[Row]) -> bool:
        """Whether prompts of a list were asked in a conversation that a person asked to be erased."""
        return conversation.only_prompts and bool(self._forgotten(_names(conversation, rows)))

    def _forgotten(self, names: Iterable[bytes]) -> set[bytes]:
        sql = "SELECT 1 FROM tombstones WHERE id_hash = ?"
        return {name for name in names if self._value(sql, name) is not None}

    def _hold(self, source: int, conversation: int, unit: str, *, only_prompts: bool) -> None:
        """Learn which file of a source holds a conversation, or only its prompts."""
        self._db.execute(_HOLD, (source, conversation, unit, only_prompts))

    def _is_told(self, conversation: int, source: int, unit: str) -> bool:
        """Whether others than this file tell of a conversation, and more than its prompts."""
        return self._value(_TOLD_BY_OTHERS, conversation, source, unit) is not None

    def _is_held(self, source: int, conversation: int, unit: str, rows: Sequence[Row]) -> bool:
        """Whether a list that was read before has got nothing new of a conversation."""
        if source in self._anew or self._value(_HELD, source, conversation, unit) is None:
            return False
        sql = "SELECT id, hash FROM timeline WHERE conversation = ?"
        stored = set(self._rows(sql, conversation))
        return all((row.id, row.hash) in stored for row in rows)

    def _cleared(self, conversation: int) -> list[int]:
        """Take away prompts, and what is known with them, for what tells more; keys the index must lose."""
        title_key = self._value("SELECT title_key FROM conversations WHERE key = ?", conversation)
        keys = [row[0] for row in self._rows("SELECT key FROM timeline WHERE conversation = ?", conversation)]
        self._remove(conversation, keys)
        self._db.execute("DELETE FROM conversations WHERE key = ?", (conversation,))
        return [*keys, title_key] if title_key else keys

    # Prompts of no session

    def _unanswered(
        self, conversation: Conversation, rows: Sequence[Row], source: int, unit: str
    ) -> tuple[list[Row], list[int]]:
        """Prompts that are not forgotten, nor known to be told elsewhere; and who tells others."""
        named = list(zip(_names(conversation, rows), rows, strict=True))
        forgotten = self._forgotten(name for name, _ in named)
        sql = "SELECT conversation FROM answered WHERE prompt = ?"
        found = [(self._value(sql, name), row) for name, row in named if name not in forgotten]
        tellers = list(dict.fromkeys(key for key, _ in found if key is not None))
        self._hold_prompts(source, unit, tellers)
        return [row for key, row in found if key is None], tellers

    def _newly_answered(
        self, conversation: Conversation, rows: list[Row], source: int, unit: str
    ) -> tuple[list[Row], list[int]]:
        """The same for prompts that come for the first time."""
        asked = message_matching.said_in(
            (place, row.role, row.text, row.at) for place, row in enumerate(rows)
        )
        found = self._answers(conversation, asked)
        names = _names(conversation, rows)
        self._note_answered({names[place]: key for place, key in found.items()})
        tellers = list(dict.fromkeys(found.values()))
        self._hold_prompts(source, unit, tellers)
        return [row for place, row in enumerate(rows) if place not in found], tellers

    def _answers(self, prompts: Conversation, asked: Sequence[Said]) -> dict[int, int]:
        """Prompts by key, with the conversation of their source in which they were asked."""
        found: dict[int, int] = {}
        for key, _ in self._within(prompts, asked, only_prompts=False):
            told = message_matching.said_in(self._rows(_ASKED, key))
            found |= {prompt: key for prompt in message_matching.told_in(asked, told) if prompt not in found}
        return found

    def _take_prompts(self, conversation: Conversation, key: int, rows: Sequence[Row]) -> list[int]:
        """Take away prompts of no session that a conversation tells; keys the index must lose."""
        if self._value(_ANY_PROMPTS, conversation.source) is None:
            return []
        told = message_matching.said_in(
            (place, row.role, row.text, row.at) for place, row in enumerate(rows) if row.role == "user"
        )
        removed: list[int] = []
        for other, id_ in self._within(conversation, told, only_prompts=True):
            if not self._detail(other).made_id:
                continue  # a session that is known by its own id
            asked = message_matching.said_in(self._rows(_ASKED, other))
            if found := message_matching.told_in(asked, told):
                self._note_answered(dict.fromkeys(self._prompt_names(conversation.source, id_, found), key))
                for source, unit in self._units(other):
                    self._hold_prompts(source, unit, [key])
                removed += [*found, *self._without(other, found)]
        return removed

    def _within(
        self, conversation: Conversation, said: Sequence[Said], *, only_prompts: bool
    ) -> list[tuple[int, str]]:
        """Conversations of a source, of that kind, that went on when something was said.

        Those in other folders are left out: agents in several of them may be given one prompt at once.
        """
        moments = [each.at_ms for each in said if each.at_ms is not None]
        if not moments:
            return []
        first, last = min(moments) - message_matching.WINDOW_MS, max(moments) + message_matching.WINDOW_MS
        return [
            (key, id_)
            for key, id_, folder in self._rows(_WITHIN, conversation.source, only_prompts, first, last)
            if not are_in_different_folders(folder, conversation.cwd)
        ]

    def _prompt_names(self, source: str, id_: str, keys: Collection[int]) -> list[bytes]:
        sql = f"SELECT id FROM timeline WHERE key {AMONG}"
        return [tombstone(source, id_, prompt) for (prompt,) in self._rows(sql, as_json(keys))]

    def _note_answered(self, prompts: dict[bytes, int]) -> None:
        self._many("INSERT OR REPLACE INTO answered VALUES (?, ?)", list(prompts.items()))

    def _hold_prompts(self, source: int, unit: str, conversations: Iterable[int]) -> None:
        """Learn that a list tells prompts of conversations, unless the same file tells all of them."""
        for conversation in conversations:
            self._came(source, conversation, ())
            self._db.execute(
                "INSERT OR IGNORE INTO contents VALUES (?, ?, ?, 1)", (source, conversation, unit)
            )

    def _units(self, conversation: int) -> list[tuple[int, str]]:
        sql = "SELECT source, unit FROM contents WHERE conversation = ?"
        return [(source, unit) for source, unit in self._rows(sql, conversation)]

    def _without(self, conversation: int, prompts: Collection[int]) -> list[int]:
        """Let a conversation be without some prompts, or not be; other keys that the index must lose."""
        self._remove(conversation, list(prompts))
        if self._value("SELECT 1 FROM timeline WHERE conversation = ? LIMIT 1", conversation) is None:
            return self._drop_conversation(conversation)
        self._close_ranks(conversation)
        columns = {**self._sizes(conversation), "summary": self._first_words(conversation)}
        changes = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(
            f"UPDATE conversations SET {changes} WHERE key = ?", (*columns.values(), conversation)
        )
        return []

    def _drop_conversation(self, key: int) -> list[int]:
        """Take away a conversation that has no entries; the keys that the index must lose."""
        title_key = self._value("SELECT title_key FROM conversations WHERE key = ?", key)
        for table in ("usage", "usage_sums", "contents", "answered"):
            self._db.execute(f"DELETE FROM {table} WHERE conversation = ?", (key,))
        self._db.execute("UPDATE conversations SET twin_of = NULL WHERE twin_of = ?", (key,))
        self._db.execute("DELETE FROM conversations WHERE key = ?", (key,))
        return [title_key] if title_key else []

    def _close_ranks(self, conversation: int) -> None:
        sql = (
            "SELECT key, position FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position, key"
        )
        moved = [
            (place, key)
            for place, (key, position) in enumerate(list(self._rows(sql, conversation)))
            if place != position
        ]
        self._many("UPDATE timeline SET position = ? WHERE key = ?", moved)

    def _first_words(self, key: int) -> str | None:
        """What a person said first in a conversation, whichever file brought it."""
        sql = (
            "SELECT key, text FROM timeline WHERE conversation = ? AND role = 'user' AND text IS NOT NULL "
            "AND NOT earlier ORDER BY position"
        )
        return tree.title_from(text for number, text in self._rows(sql, key) if not self._is_hidden(number))

    def _is_hidden(self, key: int) -> bool:
        entry = self._entry(key)
        return isinstance(entry, Message) and entry.hidden


def _names(conversation: Conversation, rows: Iterable[Row]) -> list[bytes]:
    """What prompts of a list are known by where they are told elsewhere, or forgotten."""
    return [tombstone(conversation.source, conversation.id, row.id) for row in rows]
