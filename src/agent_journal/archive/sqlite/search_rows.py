"""What a search shows of rows, and rows to look through where there is no index."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.archive.rows import speaker, texts_by_field
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.entries import ENTRY_COLUMNS, MEMORY_COLUMNS, memory_from
from agent_journal.archive.sqlite.index_entries import IndexEntries, memory_entry, title_entry
from agent_journal.archive.store import EntryLocation, EntryView, Outline
from agent_journal.model import Event, Message, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent_journal.archive.store import IndexEntry
    from agent_journal.model import Part

_DISTINCTIVE_TEXT_BYTES = (
    60  # bytes of a text that nobody says twice; people say "go on" in many conversations
)
_EMPTY_JSON_LIST = "[]"
_UNREAD_TEXT = Text(text="…")  # stands for what is said where that is not read
_MAX_SUBAGENT_DEPTH = 32  # subagents of subagents; who works for each other ends there
# What a subagent said belongs to the conversation it works for in the end, a twin to the other one.
_FAMILY = (
    "coalesce(c.twin_of, CASE c.relation WHEN 'subagent' THEN ("
    "WITH RECURSIVE boss(key, height) AS (SELECT c.key, 0 "
    "UNION ALL SELECT p.key, height + 1 FROM boss "
    "JOIN conversations s ON s.key = boss.key AND s.relation = 'subagent' "
    "JOIN conversations p ON p.source = s.source AND p.id = s.parent_id "
    f"WHERE height < {_MAX_SUBAGENT_DEPTH}) "
    "SELECT key FROM boss ORDER BY height DESC LIMIT 1) END, c.key)"
)


class _Node(NamedTuple):
    key: int
    id: str
    parent_id: str | None
    role: str | None


class SearchRows(IndexEntries):
    """The part of the store that shows what was found."""

    def entry_locations(self, keys: Sequence[int]) -> dict[int, EntryLocation]:
        """Return where entries are, without their texts; missing ones are left out."""
        asked = as_json(keys)
        messages = self._rows(
            f"SELECT t.key, t.conversation, t.id, t.role, t.at, {_FAMILY}, c.id, "
            "octet_length(t.text), CASE WHEN t.text IS NULL THEN t.copy_hash END "
            "FROM timeline t JOIN conversations c ON c.key = t.conversation "
            f"WHERE t.key {IN_VALUES} AND t.role IS NOT NULL",
            asked,
        )
        rows = list(messages)
        same = self._same_texts({row[0]: row[7] for row in rows if (row[7] or 0) >= _DISTINCTIVE_TEXT_BYTES})
        found = {row[0]: EntryLocation._make((*row[:7], same.get(row[0], row[8]))) for row in rows}
        left = as_json(key for key in keys if key not in found)
        titles = f"SELECT c.title_key, c.key, '', '', c.updated_at, {_FAMILY}, c.id FROM conversations c"
        memories = "SELECT key, 0, id, 'memory', at, -key, '' FROM memories"
        for sql in (
            (f"{titles} WHERE c.title_key", f"{memories} WHERE key") if left != _EMPTY_JSON_LIST else ()
        ):
            found.update((row[0], EntryLocation(*row)) for row in self._rows(f"{sql} {IN_VALUES}", left))
        return found

    def _same_texts(self, sizes: dict[int, int]) -> dict[int, str]:
        """The texts of those entries that may say the same as another one: long texts take long to read."""
        count = Counter(sizes.values())
        keys = [key for key, size in sizes.items() if count[size] > 1]
        texts = self._rows(
            f"SELECT key, CAST(text AS BLOB) FROM timeline WHERE key {IN_VALUES}", as_json(keys)
        )
        return {key: text.decode("utf-8", "replace") for key, text in texts}

    def entry_views(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return entries as search results show them, by key; missing ones are left out."""
        asked = as_json(keys)
        found: dict[int, EntryView] = {}
        entries = self.entries_by_key(keys)
        places = self._rows(f"SELECT key, conversation, position FROM timeline WHERE key {IN_VALUES}", asked)
        for key, conversation, position in places:
            entry = entries[key]
            if isinstance(entry, Message):
                texts = texts_by_field(entry)
                shown = "\n\n".join(text for _, text in texts)
                role = speaker(entry.role, hidden=entry.hidden)
                found[key] = EntryView(key, conversation, entry.id, role, entry.at, shown, position, texts)
        return found | self._title_and_memory_views([key for key in keys if key not in found])

    def outline(self, conversation: int) -> Outline:
        """Return a conversation without the content of its entries: roles, order and sizes."""
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
            parts: list[Part] = [_UNREAD_TEXT] if said else []
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
        """Return the size of a conversation's entries in bytes."""
        sql = "SELECT sum(size + coalesce(octet_length(text), 0)) FROM timeline WHERE conversation = ?"
        return self._value(sql, conversation) or 0

    def entries_by_key(self, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Return entries by their keys; only the blocks that contain them are read."""
        rows = self._rows(
            f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE key {IN_VALUES} ORDER BY block", as_json(keys)
        )
        return dict(self._decoded(rows))

    def message_texts(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """The same with no more than what was said in words: that is in columns, and nothing is unpacked."""
        sql = "SELECT key, conversation, id, role, at, CAST(text AS BLOB), position FROM timeline"
        rows = self._rows(f"{sql} WHERE key {IN_VALUES} AND role IS NOT NULL", as_json(keys))
        found: dict[int, EntryView] = {}
        for key, conversation, id_, role, at, said, position in rows:
            text = (said or b"").decode("utf-8", "replace")
            texts = (("text", text),) if text else ()
            found[key] = EntryView(key, conversation, id_, role, at, text, position, texts)
        return found | self._title_and_memory_views([key for key in keys if key not in found])

    def _title_and_memory_views(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """What was found that is no message: titles and memories."""
        if not keys:
            return {}
        asked = as_json(keys)
        titles = self._rows(
            f"SELECT title_key, key, title, updated_at FROM conversations WHERE title_key {IN_VALUES}", asked
        )
        memories = self._rows(f"SELECT key, id, at, text, source FROM memories WHERE key {IN_VALUES}", asked)
        return {
            key: EntryView(key, conversation, "", "", at, title, 0, (("title", title),))
            for key, conversation, title, at in titles
        } | {
            key: EntryView(key, 0, id_, "memory", at, text, 0, (("text", text),), source)
            for key, id_, at, text, source in memories
        }

    def surrounding_entries(self, entry: EntryView, count: int) -> tuple[list[EntryView], list[EntryView]]:
        """Return up to `count` messages before an entry and after it, in order.

        In a tree these are the messages on its branch: its ancestors, and those that follow from it.
        """
        if not count or not entry.message or not entry.conversation:
            return [], []
        shape, head = next(
            self._rows("SELECT shape, head_id FROM conversations WHERE key = ?", entry.conversation)
        )
        before, behind = (
            self._branch_neighbors(entry, head, count)
            if shape == "tree"
            else self._linear_neighbors(entry, count)
        )
        entries = self.entry_views([*before, *behind])
        return [entries[key] for key in before], [entries[key] for key in behind]

    def _linear_neighbors(self, found: EntryView, count: int) -> tuple[list[int], list[int]]:
        sql = (
            "SELECT key FROM timeline WHERE conversation = ? AND position {} ? AND role IS NOT NULL "
            "AND earlier = 0 ORDER BY position {} LIMIT ?"
        )
        place = (found.conversation, found.position, count)
        before = [row[0] for row in self._rows(sql.format("<", "DESC"), *place)]
        return before[::-1], [row[0] for row in self._rows(sql.format(">", "ASC"), *place)]

    def _branch_neighbors(
        self, found: EntryView, head: str | None, count: int
    ) -> tuple[list[int], list[int]]:
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
        """Return, by key, the other conversations that contain a copy of an entry, if any."""
        sql = (
            "SELECT t.key, o.conversation FROM timeline t "
            "JOIN timeline o ON o.copy_of = coalesce(t.copy_of, t.key) AND o.key != t.key AND o.earlier = 0 "
            f"WHERE t.key {IN_VALUES} "
            "UNION SELECT t.key, o.conversation FROM timeline t JOIN timeline o ON o.key = t.copy_of "
            f"WHERE t.key {IN_VALUES} ORDER BY 2"
        )
        found: dict[int, list[int]] = {}
        asked = as_json(keys)
        for key, conversation in self._rows(sql, asked, asked):
            found.setdefault(key, []).append(conversation)
        return found

    def originals_copied_into(self, conversations: Collection[int]) -> list[int]:
        """Return the originals of the copies that conversations contain."""
        sql = f"SELECT DISTINCT copy_of FROM timeline WHERE conversation {IN_VALUES} AND copy_of IS NOT NULL"
        return [key for (key,) in self._rows(f"{sql} AND earlier = 0", as_json(conversations))]

    def resolve_copies(
        self, keys: Sequence[int], conversations: Collection[int] = (), *, only_shown: bool = False
    ) -> dict[int, int]:
        """Return, by key, the key to show an entry under: its own, or that of a copy."""
        asked = as_json(keys)
        own = f"SELECT key, key, conversation FROM timeline WHERE key {IN_VALUES}"
        copies = f"SELECT copy_of, key, conversation FROM timeline WHERE copy_of {IN_VALUES} AND earlier = 0"
        rows = [*self._rows(own, asked), *self._rows(f"{copies} ORDER BY conversation", asked)]
        seen = cache(self._shown_keys)
        messages = {key for key, _, _ in rows}
        found = {key: key for key in keys if key not in messages}
        for key, place, conversation in rows:
            is_within = not conversations or conversation in conversations
            if key not in found and is_within and (not only_shown or place in seen(conversation)):
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
        """Return the values to filter by: `source`, `project`, `branch`, or `tools` by name or kind."""
        return [value for (value,) in self._rows(_VALUES[kind]) if value]

    def newest_index_entries(self, key: int) -> Iterator[IndexEntry]:
        """Yield the index entries after a key, newest conversations first."""
        newest = (
            "SELECT key, title_key FROM conversations WHERE title_key > ?1 "
            "OR key IN (SELECT conversation FROM timeline WHERE key > ?1) ORDER BY updated_ms DESC, key DESC"
        )
        for number, title_key in list(self._rows(newest, key)):
            if (title_key or 0) > key:
                yield title_entry(title_key, number, self._detail(number))
            yield from self._indexed_of(number, key)
        for memory_key, *memory in list(
            self._rows(f"SELECT key, {MEMORY_COLUMNS} FROM memories WHERE key > ?", key)
        ):
            yield memory_entry(memory_key, memory_from(memory))


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
