"""Make index entries from rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from agent_journal.archive.index_entry import IndexEntry
from agent_journal.archive.rows import row_of, speaker
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.entries import ENTRY_COLUMNS, MEMORY_COLUMNS, Entries, memory_from
from agent_journal.model import Message, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from agent_journal.archive.rows import Call, Row
    from agent_journal.model import Conversation, Memory

    ToolsByCall: TypeAlias = dict[str, tuple[str, str | None]]  # by the call's id: name and kind of the tool


class IndexEntries(Entries):
    """The part of the store that provides index entries."""

    def index_entries_since(self, key: int) -> Iterator[IndexEntry]:
        """Yield the index entries after a key, conversation by conversation."""
        sql = "SELECT DISTINCT conversation FROM timeline WHERE key > ? ORDER BY conversation"
        for (number,) in list(self._rows(sql, key)):
            yield from self._indexed_of(number, key)
        for number, title_key in list(
            self._rows("SELECT key, title_key FROM conversations WHERE title_key > ?", key)
        ):
            yield title_entry(title_key, number, self._detail(number))
        for memory_key, *memory in list(
            self._rows(f"SELECT key, {MEMORY_COLUMNS} FROM memories WHERE key > ?", key)
        ):
            yield memory_entry(memory_key, memory_from(memory))

    def newest_first(self, key: int) -> Iterator[tuple[int, list[int]]]:
        """Yield conversations, newest first, with their index keys after one; memories are under 0."""
        memories = [each for (each,) in self._rows("SELECT key FROM memories WHERE key > ?", key)]
        if memories:
            yield 0, memories
        sql = (
            "SELECT key FROM timeline WHERE conversation = ?1 AND key > ?2 AND copy_of IS NULL "
            "AND role IS NOT NULL "
            "UNION ALL SELECT title_key FROM conversations WHERE key = ?1 AND title_key > ?2"
        )
        newest = (
            "SELECT key FROM conversations WHERE title_key > ?1 "
            "OR key IN (SELECT conversation FROM timeline WHERE key > ?1) ORDER BY updated_ms DESC, key DESC"
        )
        for (number,) in list(self._rows(newest, key)):
            keys = [each for (each,) in self._rows(sql, number, key)]
            if keys:
                yield number, keys

    def index_entries_of(self, conversation: int, keys: Collection[int]) -> Iterator[IndexEntry]:
        """Yield the index entries of a conversation, or of memories (0); missing ones are left out."""
        if not conversation:
            for key in keys:
                for row in list(self._rows(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE key = ?", key)):
                    yield memory_entry(key, memory_from(row))
            return
        for (title_key,) in list(
            self._rows("SELECT title_key FROM conversations WHERE key = ?", conversation)
        ):
            yield from (e for e in self._indexed_of(conversation, min(keys, default=0) - 1) if e.key in keys)
            if title_key in keys:
                yield title_entry(title_key, conversation, self._detail(conversation))

    def preceding_prompts(self, conversation: int, keys: Collection[int]) -> dict[int, str]:
        """Return, by key, the beginning of the last user prompt before an entry."""
        sql = (
            "SELECT key, role, substr(text, 1, 1000) FROM timeline WHERE conversation = ? "
            "AND role IS NOT NULL ORDER BY position, key"
        )
        rows = list(self._rows(sql, conversation))
        hidden = self._hidden_among([key for key, role, text in rows if role == "user" and text])
        prompt, prompts = "", {}
        for key, role, text in rows:
            if role == "user" and text and key not in hidden:
                prompt = text
            elif prompt and key in keys:
                prompts[key] = prompt
        return prompts

    def _hidden_among(self, keys: Sequence[int]) -> set[int]:
        """Return those of the messages that a program wrote in the user's name."""
        rows = self._rows(
            f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE key {IN_VALUES} ORDER BY block", as_json(keys)
        )
        return {key for key, entry in self._decoded(rows) if isinstance(entry, Message) and entry.hidden}

    def index_keys(self, candidates: Iterable[int] | None = None) -> list[int]:
        """Return every key that a complete index has, or those of the given keys."""
        tables = (
            ("key", "timeline WHERE role IS NOT NULL AND copy_of IS NULL"),
            ("title_key", "conversations WHERE title_key IS NOT NULL"),
            ("key", "memories WHERE 1"),
        )
        if candidates is None:
            return [key for name, rows in tables for (key,) in self._rows(f"SELECT {name} FROM {rows}")]
        asked = as_json(candidates)
        sql = f"SELECT {{0}} FROM {{1}} AND {{0}} {IN_VALUES}"
        return [key for name, rows in tables for (key,) in self._rows(sql.format(name, rows), asked)]

    def _indexed_of(self, conversation: int, key: int) -> list[IndexEntry]:
        sql = (
            f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE conversation = ? AND key > ? AND copy_of IS NULL "
            "AND role IS NOT NULL"
        )
        rows = ((k, row_of(entry)) for k, entry in self._decoded(self._rows(sql, conversation, key)))
        tools = self._tools_by_call(conversation)
        return [*message_entries(conversation, self._detail(conversation), rows, tools)]

    def _tools_by_call(self, conversation: int) -> ToolsByCall:
        """Return the tools that a conversation called, by call id."""
        sql = "SELECT call_id, name, kind FROM tool_calls WHERE conversation = ? AND call_id IS NOT NULL"
        return {call_id: (name, kind) for call_id, name, kind in self._rows(sql, conversation)}


def message_entries(
    key: int, conversation: Conversation, rows: Iterable[tuple[int, Row]], tools_by_call: ToolsByCall
) -> Iterator[IndexEntry]:
    """Yield the index entries of the messages among rows."""
    source, project, branch = conversation.source, conversation.cwd or "", conversation.git_branch or ""
    began = conversation.started_at
    return (
        IndexEntry(
            row_key, key, speaker(row.role, hidden=row.hidden), source, project, row.model or "",
            _seconds(row.at or began), row.text or "", row.thinking, row.tool, row.output, row.attached, "",
            branch,
            *((_tools(row.calls, tools_by_call), _has_error(row.calls)) if row.calls else ()),
        )
        for row_key, row in rows
        if row.role is not None
    )  # fmt: skip


class NewIndexEntries(Collection[IndexEntry]):
    """The index entries of a new conversation, made from its rows on each iteration.

    For a million messages, they would take half as much memory as the rows.
    """

    def __init__(
        self,
        key: int,
        conversation: Conversation,
        rows: Iterable[tuple[int, Row]],
        tools_by_call: ToolsByCall,
        title_key: int | None,
    ) -> None:
        self._key = key
        self._conversation = conversation
        self._tools_by_call = tools_by_call
        self._rows = [(row_key, row) for row_key, row in rows if row.role is not None]
        self._title_entries = [title_entry(title_key, key, conversation)] if title_key else []

    def __iter__(self) -> Iterator[IndexEntry]:
        yield from message_entries(self._key, self._conversation, self._rows, self._tools_by_call)
        yield from self._title_entries

    def __len__(self) -> int:
        return len(self._rows) + len(self._title_entries)

    def __contains__(self, entry: object) -> bool:
        return any(entry == each for each in self)


def _tools(calls: Iterable[Call], tools_by_call: ToolsByCall) -> tuple[str, ...]:
    """Return names and kinds of the tools that a message calls or has results of."""
    tools = [tools_by_call.get(call.call_id or "") or (call.name, call.kind) for call in calls]
    return tuple(dict.fromkeys(each for tool in tools for each in tool if each))


def _has_error(calls: Iterable[Call]) -> bool:
    return any(call.is_error for call in calls)


def title_entry(key: int, number: int, conversation: Conversation) -> IndexEntry:
    """Return the index entry of a title, which has a key of its own."""
    at = _seconds(conversation.updated_at)
    return IndexEntry(
        key,
        number,
        "",
        conversation.source,
        conversation.cwd or "",
        "",
        at,
        "",
        "",
        "",
        "",
        "",
        conversation.title or "",
        conversation.git_branch or "",
    )


def memory_entry(key: int, memory: Memory) -> IndexEntry:
    """Return the index entry of a memory."""
    at, nothing = _seconds(memory.at), ("", "", "", "")
    return IndexEntry(key, 0, "", memory.source, "", "", at, memory.text, *nothing, memory.about or "")


def _seconds(at: str | None) -> int:
    return (timestamps.epoch_ms(at) or 0) // 1000
