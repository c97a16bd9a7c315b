"""Read rows for search results, and for searching without an index."""

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
from agent_journal.readers import fold_product

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.model import Part

_DISTINCTIVE_TEXT_BYTES = 60  # shorter texts, such as "go on", may be equal by chance
_EMPTY_JSON_LIST = "[]"
_UNREAD_TEXT = Text(text="…")  # stands for a text that is not read
_MAX_SUBAGENT_DEPTH = 32  # of subagents of subagents; a cycle ends here
# Entries of a subagent belong to the conversation that started it in the end, those of a duplicate to the
# original.
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
    """The part of the store that reads entries for search results."""

    def entry_locations(self, keys: Sequence[int]) -> dict[int, EntryLocation]:
        """Return where entries are, without their texts; missing ones are left out."""
        json_keys = as_json(keys)
        messages = self._rows(
            f"SELECT t.key, t.conversation, t.id, t.role, t.at, {_FAMILY}, c.id, "
            "octet_length(t.text), CASE WHEN t.text IS NULL THEN t.copy_hash END "
            "FROM timeline t JOIN conversations c ON c.key = t.conversation "
            f"WHERE t.key {IN_VALUES} AND t.role IS NOT NULL",
            json_keys,
        )
        rows = list(messages)
        texts = self._same_texts({row[0]: row[7] for row in rows if (row[7] or 0) >= _DISTINCTIVE_TEXT_BYTES})
        locations = {row[0]: EntryLocation._make((*row[:7], texts.get(row[0], row[8]))) for row in rows}
        remaining = as_json(key for key in keys if key not in locations)
        titles = f"SELECT c.title_key, c.key, '', '', c.updated_at, {_FAMILY}, c.id FROM conversations c"
        memories = "SELECT key, 0, id, 'memory', at, -key, '' FROM memories"
        for sql in (
            (f"{titles} WHERE c.title_key", f"{memories} WHERE key") if remaining != _EMPTY_JSON_LIST else ()
        ):
            locations.update(
                (row[0], EntryLocation(*row)) for row in self._rows(f"{sql} {IN_VALUES}", remaining)
            )
        return locations

    def _same_texts(self, sizes: dict[int, int]) -> dict[int, str]:
        """Return the texts of entries of equal size, which may be copies; others are not read."""
        count = Counter(sizes.values())
        keys = [key for key, size in sizes.items() if count[size] > 1]
        texts = self._rows(
            f"SELECT key, CAST(text AS BLOB) FROM timeline WHERE key {IN_VALUES}", as_json(keys)
        )
        return {key: text.decode("utf-8", "replace") for key, text in texts}

    def entry_views(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return entries as search results show them, by key; missing ones are left out."""
        json_keys = as_json(keys)
        views: dict[int, EntryView] = {}
        entries = self.entries_by_key(keys)
        places = self._rows(
            f"SELECT key, conversation, position FROM timeline WHERE key {IN_VALUES}", json_keys
        )
        for key, conversation, position in places:
            entry = entries[key]
            if isinstance(entry, Message):
                texts = texts_by_field(entry)
                shown = "\n\n".join(text for _, text in texts)
                role = speaker(entry.role, hidden=entry.hidden)
                views[key] = EntryView(key, conversation, entry.id, role, entry.at, shown, position, texts)
        return views | self._title_and_memory_views([key for key in keys if key not in views])

    def outline(self, conversation: int) -> Outline:
        """Return a conversation without the content of its entries: roles, order and sizes."""
        calls: dict[int, list[ToolCall]] = {}
        answers: dict[int, list[ToolResult]] = {}
        sql = "SELECT message, answered_by, call_id, name FROM tool_calls WHERE conversation = ?"
        for message, answered_by, call_id, name in self._rows(sql, conversation):
            calls.setdefault(message, []).append(ToolCall(name=name, call_id=call_id))
            if answered_by is not None and answered_by != message:
                answers.setdefault(answered_by, []).append(ToolResult(call_id=call_id, output=""))
        usage_by_key = self._usage_by_key(conversation)
        entries: list[Message | Event] = []
        keys, sizes = [], []
        sql = (
            "SELECT key, id, parent_id, role, name, at, model, coalesce(octet_length(text), 0), size "
            "FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
        )
        for key, id_, parent_id, role, name, at, model, text_size, size in self._rows(sql, conversation):
            keys.append(key)
            sizes.append(text_size + size)
            if role is None:
                entries.append(Event(id=id_, parent_id=parent_id, name=name, at=at))
                continue
            parts: list[Part] = [_UNREAD_TEXT] if text_size else []
            parts += [*calls.get(key, ()), *answers.get(key, ())]
            if not parts and role == "tool":
                parts.append(ToolResult(output=""))
            usage = usage_by_key.get(key)
            entries.append(
                Message(id=id_, parent_id=parent_id, role=role, at=at, model=model, parts=parts, usage=usage)
            )
        return Outline(replace(self._detail(conversation), timeline=entries), keys, sizes)

    def _usage_by_key(self, conversation: int) -> dict[int, Usage]:
        """Return the usage of a conversation's answers, by key."""
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

    def failed_calls(self, keys: Sequence[int]) -> dict[int, set[str]]:
        """Return the ids of the tool calls in messages that failed, by the key of the message."""
        sql = (
            "SELECT c.message, c.call_id FROM timeline t "
            "JOIN tool_calls c ON c.conversation = t.conversation AND c.message = t.key "
            f"WHERE t.key {IN_VALUES} AND c.is_error AND c.call_id IS NOT NULL"
        )
        failed: dict[int, set[str]] = {}
        for message, call_id in self._rows(sql, as_json(keys)):
            failed.setdefault(message, set()).add(call_id)
        return failed

    def message_texts(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return the messages with their visible text alone, which is a column: no block is decompressed."""
        sql = "SELECT key, conversation, id, role, at, CAST(text AS BLOB), position FROM timeline"
        rows = self._rows(f"{sql} WHERE key {IN_VALUES} AND role IS NOT NULL", as_json(keys))
        views: dict[int, EntryView] = {}
        for key, conversation, id_, role, at, text_bytes, position in rows:
            text = (text_bytes or b"").decode("utf-8", "replace")
            texts = (("text", text),) if text else ()
            views[key] = EntryView(key, conversation, id_, role, at, text, position, texts)
        return views | self._title_and_memory_views([key for key in keys if key not in views])

    def _title_and_memory_views(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return the views of titles and memories."""
        if not keys:
            return {}
        json_keys = as_json(keys)
        titles = self._rows(
            f"SELECT title_key, key, title, updated_at FROM conversations WHERE title_key {IN_VALUES}",
            json_keys,
        )
        memories = self._rows(
            f"SELECT key, id, at, text, source FROM memories WHERE key {IN_VALUES}", json_keys
        )
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
        before, after = (
            self._branch_neighbors(entry, head, count)
            if shape == "tree"
            else self._linear_neighbors(entry, count)
        )
        views = self.entry_views([*before, *after])
        return [views[key] for key in before], [views[key] for key in after]

    def _linear_neighbors(self, entry: EntryView, count: int) -> tuple[list[int], list[int]]:
        sql = (
            "SELECT key FROM timeline WHERE conversation = ? AND position {} ? AND role IS NOT NULL "
            "AND earlier = 0 ORDER BY position {} LIMIT ?"
        )
        place = (entry.conversation, entry.position, count)
        before = [row[0] for row in self._rows(sql.format("<", "DESC"), *place)]
        return before[::-1], [row[0] for row in self._rows(sql.format(">", "ASC"), *place)]

    def _branch_neighbors(
        self, entry: EntryView, head: str | None, count: int
    ) -> tuple[list[int], list[int]]:
        sql = "SELECT key, id, parent_id, role FROM timeline WHERE conversation = ? AND earlier = 0"
        rows = [_Node(*row) for row in self._rows(f"{sql} ORDER BY position", entry.conversation)]
        parents = {row.id: row for row in rows}
        shown = {row.id for row in _chain(parents, head)}
        # Of several children, the one on the shown branch is next, or else the last.
        following = {row.parent_id: row for row in rows if row.id not in shown}
        following |= {row.parent_id: row for row in rows if row.id in shown}
        ancestors = _chain(parents, entry.message)[1:]
        descendants = _chain({row.id: row for row in rows}, entry.message, following)[1:]
        before, after = (
            [row.key for row in side if row.role is not None][:count] for side in (ancestors, descendants)
        )
        return before[::-1], after

    def copies(self, keys: Iterable[int]) -> dict[int, list[int]]:
        """Return, by key, the other conversations that contain a copy of an entry, if any."""
        sql = (
            "SELECT t.key, o.conversation FROM timeline t "
            "JOIN timeline o ON o.copy_of = coalesce(t.copy_of, t.key) AND o.key != t.key AND o.earlier = 0 "
            f"WHERE t.key {IN_VALUES} "
            "UNION SELECT t.key, o.conversation FROM timeline t JOIN timeline o ON o.key = t.copy_of "
            f"WHERE t.key {IN_VALUES} ORDER BY 2"
        )
        conversations: dict[int, list[int]] = {}
        json_keys = as_json(keys)
        for key, conversation in self._rows(sql, json_keys, json_keys):
            conversations.setdefault(key, []).append(conversation)
        return conversations

    def originals_copied_into(self, conversations: Collection[int]) -> list[int]:
        """Return the originals of the copies that conversations contain."""
        sql = f"SELECT DISTINCT copy_of FROM timeline WHERE conversation {IN_VALUES} AND copy_of IS NOT NULL"
        return [key for (key,) in self._rows(f"{sql} AND earlier = 0", as_json(conversations))]

    def resolve_copies(
        self, keys: Sequence[int], conversations: Collection[int] = (), *, only_shown: bool = False
    ) -> dict[int, int]:
        """Return, by key, the key to show an entry under: its own, or that of a copy."""
        json_keys = as_json(keys)
        own = f"SELECT key, key, conversation FROM timeline WHERE key {IN_VALUES}"
        copies = f"SELECT copy_of, key, conversation FROM timeline WHERE copy_of {IN_VALUES} AND earlier = 0"
        rows = [*self._rows(own, json_keys), *self._rows(f"{copies} ORDER BY conversation", json_keys)]
        shown_keys = cache(self._shown_keys)
        messages = {key for key, _, _ in rows}
        resolved = {key: key for key in keys if key not in messages}
        for key, candidate, conversation in rows:
            is_within = not conversations or conversation in conversations
            if (
                key not in resolved
                and is_within
                and (not only_shown or candidate in shown_keys(conversation))
            ):
                resolved[key] = candidate
        return resolved

    def _shown_keys(self, conversation: int) -> set[int]:
        """Return the entries of a conversation that users see: of a tree, those on one branch.

        Results of parallel tool calls hang off the branch; a system prompt is outside of every branch.
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

    def has_product(self, name: str) -> bool:
        """Whether a conversation is of a product with this in its name."""
        sql = "SELECT DISTINCT product FROM conversations WHERE product IS NOT NULL"
        return any(fold_product(name) in fold_product(product) for (product,) in self._rows(sql))

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
    """Follow an entry to its first ancestor, or to its last descendant; a cycle ends the chain."""
    chain: dict[str, _Node] = {}
    node = nodes.get(start or "")
    while node is not None and node.id not in chain:
        chain[node.id] = node
        node = nodes.get(node.parent_id or "") if following is None else following.get(node.id)
    return list(chain.values())
