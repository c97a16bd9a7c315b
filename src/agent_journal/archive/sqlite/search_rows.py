"""What a search shows of rows, and rows to look through where there is no index."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.archive.rows import speaker, texts_of
from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.entries import MEMORY, PLACE, memory_from
from agent_journal.archive.sqlite.indexed import Indexable, remembered, titled
from agent_journal.archive.store import Found, Outline, Placed
from agent_journal.model import Event, Message, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent_journal.archive.store import Indexed
    from agent_journal.model import Part

_TELLING = 60  # bytes of a text that nobody says twice; people say "go on" in many conversations
_NOTHING = "[]"
_SOMETHING = Text(text="…")  # stands for what is said where that is not read
_DEEPEST = 32  # subagents of subagents; who works for each other ends there
# What a subagent said belongs to the conversation it works for in the end, a twin to the other one.
_FAMILY = (
    "coalesce(c.twin_of, CASE c.relation WHEN 'subagent' THEN ("
    "WITH RECURSIVE boss(key, height) AS (SELECT c.key, 0 "
    "UNION ALL SELECT p.key, height + 1 FROM boss "
    "JOIN conversations s ON s.key = boss.key AND s.relation = 'subagent' "
    f"JOIN conversations p ON p.source = s.source AND p.id = s.parent_id WHERE height < {_DEEPEST}) "
    "SELECT key FROM boss ORDER BY height DESC LIMIT 1) END, c.key)"
)


class _Node(NamedTuple):
    key: int
    id: str
    parent_id: str | None
    role: str | None


class Finds(Indexable):
    """The part of the store that shows what was found."""

    def placed(self, keys: Sequence[int]) -> dict[int, Placed]:
        """Where entries that were found stand, without what they say; those that are gone are left out."""
        asked = as_json(keys)
        messages = self._rows(
            f"SELECT t.key, t.conversation, t.id, t.role, t.at, {_FAMILY}, c.id, "
            "octet_length(t.text), CASE WHEN t.text IS NULL THEN t.copy_hash END "
            "FROM timeline t JOIN conversations c ON c.key = t.conversation "
            f"WHERE t.key {AMONG} AND t.role IS NOT NULL",
            asked,
        )
        rows = list(messages)
        same = self._same_texts({row[0]: row[7] for row in rows if (row[7] or 0) >= _TELLING})
        found = {row[0]: Placed._make((*row[:7], same.get(row[0], row[8]))) for row in rows}
        left = as_json(key for key in keys if key not in found)
        titles = f"SELECT c.title_key, c.key, '', '', c.updated_at, {_FAMILY}, c.id FROM conversations c"
        memories = "SELECT key, 0, id, 'memory', at, -key, '' FROM memories"
        for sql in (f"{titles} WHERE c.title_key", f"{memories} WHERE key") if left != _NOTHING else ():
            found.update((row[0], Placed(*row)) for row in self._rows(f"{sql} {AMONG}", left))
        return found

    def _same_texts(self, sizes: dict[int, int]) -> dict[int, str]:
        """The texts of those entries that may say the same as another one: long texts take long to read."""
        count = Counter(sizes.values())
        keys = [key for key, size in sizes.items() if count[size] > 1]
        texts = self._rows(f"SELECT key, CAST(text AS BLOB) FROM timeline WHERE key {AMONG}", as_json(keys))
        return {key: text.decode("utf-8", "replace") for key, text in texts}

    def found(self, keys: Sequence[int]) -> dict[int, Found]:
        """What a search found; what is no longer there is left out."""
        asked = as_json(keys)
        found: dict[int, Found] = {}
        entries = self.entries_by_key(keys)
        places = self._rows(f"SELECT key, conversation, position FROM timeline WHERE key {AMONG}", asked)
        for key, conversation, position in places:
            entry = entries[key]
            if isinstance(entry, Message):
                texts = texts_of(entry)
                shown = "\n\n".join(text for _, text in texts)
                role = speaker(entry.role, hidden=entry.hidden)
                found[key] = Found(key, conversation, entry.id, role, entry.at, shown, position, texts)
        return found | self._found_beside([key for key in keys if key not in found])

    def outline(self, conversation: int) -> Outline:
        """A conversation without what its entries say: who spoke, in which order, and how much that is."""
        calls: dict[int, list[ToolCall]] = {}
        answers: dict[int, list[ToolResult]] = {}
        sql = "SELECT message, answered_by, call_id, name FROM tool_calls WHERE conversation = ?"
        for message, answered_by, call_id, name in self._rows(sql, conversation):
            calls.setdefault(message, []).append(ToolCall(name=name, call_id=call_id))
            if answered_by is not None and answered_by != message:
                answers.setdefault(answered_by, []).append(ToolResult(call_id=call_id, output=""))
        used = self._used(conversation)
        entries: list[Message | Event] = []
        keys, sizes = [], []
        sql = (
            "SELECT key, id, parent_id, role, name, at, model, coalesce(octet_length(text), 0), size "
            "FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
        )
        for key, id_, parent_id, role, name, at, model, said, size in self._rows(sql, conversation):
            keys.append(key)
            sizes.append(said + size)
            if role is None:
                entries.append(Event(id=id_, parent_id=parent_id, name=name, at=at))
                continue
            parts: list[Part] = [_SOMETHING] if said else []
            parts += [*calls.get(key, ()), *answers.get(key, ())]
            if not parts and role == "tool":
                parts.append(ToolResult(output=""))
            usage = used.get(key)
            entries.append(
                Message(id=id_, parent_id=parent_id, role=role, at=at, model=model, parts=parts, usage=usage)
            )
        return Outline(replace(self._detail(conversation), timeline=entries), keys, sizes)

    def _used(self, conversation: int) -> dict[int, Usage]:
        """What the answers of a conversation used, by their keys."""
        names = ("input", "output", "cache_read", "cache_write", "reasoning", "total", "cost_usd")
        sql = f"SELECT message, {', '.join(names)} FROM usage WHERE conversation = ?"
        return {
            message: Usage(**dict(zip(names, counts, strict=True)))
            for message, *counts in self._rows(sql, conversation)
        }

    def size_of(self, conversation: int) -> int:
        """How many bytes the entries of a conversation are."""
        sql = "SELECT sum(size + coalesce(octet_length(text), 0)) FROM timeline WHERE conversation = ?"
        return self._value(sql, conversation) or 0

    def entries_by_key(self, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Entries by their keys; only the blocks in which these lie are read."""
        rows = self._rows(f"SELECT {PLACE} FROM timeline WHERE key {AMONG} ORDER BY block", as_json(keys))
        return dict(self._decoded(rows))

    def said(self, keys: Sequence[int]) -> dict[int, Found]:
        """The same with no more than what was said in words: that is in columns, and nothing is unpacked."""
        sql = "SELECT key, conversation, id, role, at, CAST(text AS BLOB), position FROM timeline"
        rows = self._rows(f"{sql} WHERE key {AMONG} AND role IS NOT NULL", as_json(keys))
        found: dict[int, Found] = {}
        for key, conversation, id_, role, at, said, position in rows:
            text = (said or b"").decode("utf-8", "replace")
            texts = (("text", text),) if text else ()
            found[key] = Found(key, conversation, id_, role, at, text, position, texts)
        return found | self._found_beside([key for key in keys if key not in found])

    def _found_beside(self, keys: Sequence[int]) -> dict[int, Found]:
        """What was found that is no message: titles and memories."""
        if not keys:
            return {}
        asked = as_json(keys)
        titles = self._rows(
            f"SELECT title_key, key, title, updated_at FROM conversations WHERE title_key {AMONG}", asked
        )
        memories = self._rows(f"SELECT key, id, at, text, source FROM memories WHERE key {AMONG}", asked)
        return {
            key: Found(key, conversation, "", "", at, title, 0, (("title", title),))
            for key, conversation, title, at in titles
        } | {
            key: Found(key, 0, id_, "memory", at, text, 0, (("text", text),), source)
            for key, id_, at, text, source in memories
        }

    def around(self, found: Found, count: int) -> tuple[list[Found], list[Found]]:
        """So many messages before an entry that was found, and behind it, in their order.

        In a tree these are the ones on its branch: those that led to it, and those that went on from it.
        """
        if not count or not found.message or not found.conversation:
            return [], []
        shape, head = next(
            self._rows("SELECT shape, head_id FROM conversations WHERE key = ?", found.conversation)
        )
        before, behind = (
            self._on_branch(found, head, count) if shape == "tree" else self._side_by_side(found, count)
        )
        entries = self.found([*before, *behind])
        return [entries[key] for key in before], [entries[key] for key in behind]

    def _side_by_side(self, found: Found, count: int) -> tuple[list[int], list[int]]:
        sql = (
            "SELECT key FROM timeline WHERE conversation = ? AND position {} ? AND role IS NOT NULL "
            "AND earlier = 0 ORDER BY position {} LIMIT ?"
        )
        place = (found.conversation, found.position, count)
        before = [row[0] for row in self._rows(sql.format("<", "DESC"), *place)]
        return before[::-1], [row[0] for row in self._rows(sql.format(">", "ASC"), *place)]

    def _on_branch(self, found: Found, head: str | None, count: int) -> tuple[list[int], list[int]]:
        sql = "SELECT key, id, parent_id, role FROM timeline WHERE conversation = ? AND earlier = 0"
        rows = [_Node(*row) for row in self._rows(f"{sql} ORDER BY position", found.conversation)]
        parents = {row.id: row for row in rows}
        shown = {row.id for row in _chain(parents, head)}
        # Of several that follow, the one that people see goes on, else the last.
        following = {row.parent_id: row for row in rows if row.id not in shown}
        following |= {row.parent_id: row for row in rows if row.id in shown}
        up = _chain(parents, found.message)[1:]
        down = _chain({row.id: row for row in rows}, found.message, following)[1:]
        before, behind = ([row.key for row in side if row.role is not None][:count] for side in (up, down))
        return before[::-1], behind

    def copies(self, keys: Iterable[int]) -> dict[int, list[int]]:
        """The other conversations that hold the same as entries, where there are any."""
        sql = (
            "SELECT t.key, o.conversation FROM timeline t "
            "JOIN timeline o ON o.copy_of = coalesce(t.copy_of, t.key) AND o.key != t.key AND o.earlier = 0 "
            f"WHERE t.key {AMONG} "
            "UNION SELECT t.key, o.conversation FROM timeline t JOIN timeline o ON o.key = t.copy_of "
            f"WHERE t.key {AMONG} ORDER BY 2"
        )
        found: dict[int, list[int]] = {}
        asked = as_json(keys)
        for key, conversation in self._rows(sql, asked, asked):
            found.setdefault(key, []).append(conversation)
        return found

    def copied_into(self, conversations: Collection[int]) -> list[int]:
        """The entries of others of which conversations hold copies."""
        sql = f"SELECT DISTINCT copy_of FROM timeline WHERE conversation {AMONG} AND copy_of IS NOT NULL"
        return [key for (key,) in self._rows(f"{sql} AND earlier = 0", as_json(conversations))]

    def standing(
        self, keys: Sequence[int], within: Collection[int] = (), *, shown: bool = False
    ) -> dict[int, int]:
        """For each entry the key under which its message is wanted: its own, else that of a copy of it."""
        asked = as_json(keys)
        own = f"SELECT key, key, conversation FROM timeline WHERE key {AMONG}"
        copies = f"SELECT copy_of, key, conversation FROM timeline WHERE copy_of {AMONG} AND earlier = 0"
        rows = [*self._rows(own, asked), *self._rows(f"{copies} ORDER BY conversation", asked)]
        seen = cache(self._shown_keys)
        messages = {key for key, _, _ in rows}
        found = {key: key for key in keys if key not in messages}
        for key, place, conversation in rows:
            is_within = not within or conversation in within
            if key not in found and is_within and (not shown or place in seen(conversation)):
                found[key] = place
        return found

    def _shown_keys(self, conversation: int) -> set[int]:
        """The entries of a conversation that people see: of a tree those on one branch.

        Tools that ran side by side hang their results off it; a system prompt stands outside of every branch.
        """
        sql = "SELECT key, id, parent_id, role FROM timeline WHERE conversation = ? AND earlier = 0"
        rows = [_Node(*row) for row in self._rows(f"{sql} ORDER BY position", conversation)]
        sql = "SELECT shape, head_id FROM conversations WHERE key = ?"
        shape, head = next(self._rows(sql, conversation))
        if shape == "tree" and head is None:
            from agent_journal.model import tree  # noqa: PLC0415 (seldom)

            head = tree.newest_leaf([entry for _, entry in self.entries(conversation)])
        chain = _chain({row.id: row for row in rows}, head) if shape == "tree" else []
        if not chain:
            return {row.key for row in rows}
        shown = {row.key for row in chain}
        before = {row.key for row in takewhile(lambda row: row.id != head, rows)}
        answers = "SELECT message, answered_by FROM tool_calls WHERE conversation = ?"
        shown |= {by for call, by in self._rows(answers, conversation) if call in shown and by in before}
        return shown | {row.key for row in rows if row.role == "system" and row.parent_id is None}

    def values(self, kind: str) -> list[str]:
        """What entries are filtered by: `source`, `project`, `branch`, or `tools` by name or kind."""
        return [value for (value,) in self._rows(_VALUES[kind]) if value]

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
        for memory_key, *memory in list(self._rows(f"SELECT key, {MEMORY} FROM memories WHERE key > ?", key)):
            yield remembered(memory_key, memory_from(memory))


_VALUES = {
    "source": "SELECT source FROM conversations UNION SELECT source FROM memories",
    "project": "SELECT DISTINCT project FROM conversations",
    "branch": "SELECT DISTINCT git_branch FROM conversations",
    "tools": "SELECT name FROM tool_calls UNION SELECT kind FROM tool_calls",
}


def _chain(
    nodes: dict[str, _Node], start: str | None, following: dict[str | None, _Node] | None = None
) -> list[_Node]:
    """From an entry to its first ancestor, or on to what follows it; a circle ends it."""
    chain: dict[str, _Node] = {}
    node = nodes.get(start or "")
    while node is not None and node.id not in chain:
        chain[node.id] = node
        node = nodes.get(node.parent_id or "") if following is None else following.get(node.id)
    return list(chain.values())
