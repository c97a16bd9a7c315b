"""What a search shows of rows, and rows to look through where there is no index."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from agent_journal.archive.rows import texts_of
from agent_journal.archive.sqlite.entries import PLACE
from agent_journal.archive.sqlite.indexed import Indexable, remembered, titled
from agent_journal.archive.store import Found, Placed
from agent_journal.model import Memory, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.archive.store import Indexed

_TELLING = 60  # bytes of a text that nobody says twice; people say "go on" in many conversations
_AMONG = "IN (SELECT value FROM json_each(?))"
_NOTHING = "[]"
# What a subagent said belongs to the conversation it works for, a twin to the other one.
_FAMILY = (
    "coalesce(c.twin_of, (SELECT p.key FROM conversations p WHERE c.relation = 'subagent' "
    "AND p.source = c.source AND p.id = c.parent_id), c.key)"
)
_AROUND = (
    "SELECT key FROM timeline WHERE conversation = ? AND position {} ? AND role IS NOT NULL "
    "AND earlier = 0 ORDER BY position {} LIMIT ?"
)


class Finds(Indexable):
    """The part of the store that shows what was found."""

    def placed(self, keys: Sequence[int]) -> dict[int, Placed]:
        """Where entries that were found stand, without what they say; those that are gone are left out."""
        asked = _as_json(keys)
        messages = self._rows(
            f"SELECT t.key, t.conversation, t.id, t.role, t.at, {_FAMILY}, c.id, "
            "octet_length(t.text), CASE WHEN t.text IS NULL THEN t.copy_hash END "
            "FROM timeline t JOIN conversations c ON c.key = t.conversation "
            f"WHERE t.key {_AMONG} AND t.role IS NOT NULL",
            asked,
        )
        rows = list(messages)
        same = self._same_texts({row[0]: row[7] for row in rows if (row[7] or 0) >= _TELLING})
        found = {row[0]: Placed._make((*row[:7], same.get(row[0], row[8]))) for row in rows}
        left = _as_json(key for key in keys if key not in found)
        titles = f"SELECT c.title_key, c.key, '', '', c.updated_at, {_FAMILY}, c.id FROM conversations c"
        memories = "SELECT key, 0, id, 'memory', at, -key, '' FROM memories"
        for sql in (f"{titles} WHERE c.title_key", f"{memories} WHERE key") if left != _NOTHING else ():
            found.update((row[0], Placed(*row)) for row in self._rows(f"{sql} {_AMONG}", left))
        return found

    def _same_texts(self, sizes: dict[int, int]) -> dict[int, str]:
        """The texts of those entries that may say the same as another one: long texts take long to read."""
        count = Counter(sizes.values())
        keys = [key for key, size in sizes.items() if count[size] > 1]
        return dict(self._rows(f"SELECT key, text FROM timeline WHERE key {_AMONG}", _as_json(keys)))

    def found(self, keys: Sequence[int]) -> dict[int, Found]:
        """What a search found; what is no longer there is left out."""
        asked = _as_json(keys)
        found: dict[int, Found] = {}
        bodies = self._rows(f"SELECT {PLACE} FROM timeline WHERE key {_AMONG} ORDER BY block", asked)
        entries = dict(self._decoded(bodies))
        places = self._rows(f"SELECT key, conversation, position FROM timeline WHERE key {_AMONG}", asked)
        for key, conversation, position in places:
            entry = entries[key]
            if isinstance(entry, Message):
                texts = texts_of(entry)
                shown = "\n\n".join(text for _, text in texts)
                found[key] = Found(key, conversation, entry.id, entry.role, entry.at, shown, position, texts)
        left = _as_json(key for key in keys if key not in found)
        return found if left == _NOTHING else found | self._found_beside(left)

    def _found_beside(self, asked: str) -> dict[int, Found]:
        """What was found that is no message: titles and memories."""
        titles = self._rows(
            f"SELECT title_key, key, title, updated_at FROM conversations WHERE title_key {_AMONG}", asked
        )
        memories = self._rows(f"SELECT key, id, at, text FROM memories WHERE key {_AMONG}", asked)
        return {
            key: Found(key, conversation, "", "", at, title, 0, (("title", title),))
            for key, conversation, title, at in titles
        } | {
            key: Found(key, 0, id_, "memory", at, text, 0, (("text", text),))
            for key, id_, at, text in memories
        }

    def around(self, found: Found, count: int) -> tuple[list[Found], list[Found]]:
        """So many messages before an entry that was found, and behind it, in their order."""
        if not count or not found.message or not found.conversation:
            return [], []
        sides = []
        for side in (_AROUND.format("<", "DESC"), _AROUND.format(">", "ASC")):
            keys = [row[0] for row in self._rows(side, found.conversation, found.position, count)]
            sides.append(sorted(self.found(keys).values(), key=lambda each: each.position))
        return sides[0], sides[1]

    def copies(self, keys: Iterable[int]) -> dict[int, list[int]]:
        """The conversations that hold copies of entries, where there are any."""
        sql = (
            f"SELECT DISTINCT copy_of, conversation FROM timeline WHERE copy_of {_AMONG} AND earlier = 0 "
            "ORDER BY conversation"
        )
        found: dict[int, list[int]] = {}
        for key, conversation in self._rows(sql, _as_json(keys)):
            found.setdefault(key, []).append(conversation)
        return found

    def indexed_newest(self, key: int) -> Iterator[Indexed]:
        """What the index is given of entries beyond a key, the newest conversations first."""
        newest = (
            "SELECT key, title_key FROM conversations WHERE title_key > ?1 "
            "OR key IN (SELECT conversation FROM timeline WHERE key > ?1) ORDER BY updated_ms DESC, key DESC"
        )
        for number, title_key in list(self._rows(newest, key)):
            if (title_key or 0) > key:
                yield titled(title_key, number, self._detail(number))
            yield from self._indexed_of(number, key)
        for memory_key, body in list(self._rows("SELECT key, body FROM memories WHERE key > ?", key)):
            yield remembered(memory_key, msgspec.msgpack.decode(body, type=Memory))


def _as_json(keys: Iterable[int]) -> str:
    return msgspec.json.encode(list(keys)).decode()
