"""What the index is given of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.rows import row_of, speaker
from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.entries import MEMORY, PLACE, Entries, memory_from
from agent_journal.archive.store import Indexed
from agent_journal.model import Message, timestamps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from agent_journal.archive.rows import Call, Row
    from agent_journal.model import Conversation, Memory

    Called: TypeAlias = dict[str, tuple[str, str | None]]  # by the call's id: name and kind of the tool


class Indexable(Entries):
    """The part of the store that the index is made from."""

    def indexed_since(self, key: int) -> Iterator[Indexed]:
        """What the index must be given beyond a key, conversation by conversation."""
        sql = "SELECT DISTINCT conversation FROM timeline WHERE key > ? ORDER BY conversation"
        for (number,) in list(self._rows(sql, key)):
            yield from self._indexed_of(number, key)
        for number, title_key in list(
            self._rows("SELECT key, title_key FROM conversations WHERE title_key > ?", key)
        ):
            yield titled(title_key, number, self._detail(number))
        for memory_key, *memory in list(self._rows(f"SELECT key, {MEMORY} FROM memories WHERE key > ?", key)):
            yield remembered(memory_key, memory_from(memory))

    def newest_first(self, key: int) -> Iterator[tuple[int, list[int]]]:
        """Conversations, newest first, with keys beyond one that the index is given; 0 holds memories."""
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

    def indexed_of(self, conversation: int, keys: Collection[int]) -> Iterator[Indexed]:
        """What the index is given of entries of a conversation, or of memories (0); what is gone is not."""
        if not conversation:
            for key in keys:
                for row in list(self._rows(f"SELECT {MEMORY} FROM memories WHERE key = ?", key)):
                    yield remembered(key, memory_from(row))
            return
        for (title_key,) in list(
            self._rows("SELECT title_key FROM conversations WHERE key = ?", conversation)
        ):
            yield from (e for e in self._indexed_of(conversation, min(keys, default=0) - 1) if e.key in keys)
            if title_key in keys:
                yield titled(title_key, conversation, self._detail(conversation))

    def asked_before(self, conversation: int, keys: Collection[int]) -> dict[int, str]:
        """By key, the beginning of what a person had said last before an entry that is not theirs."""
        sql = (
            "SELECT key, role, substr(text, 1, 1000) FROM timeline WHERE conversation = ? "
            "AND role IS NOT NULL ORDER BY position, key"
        )
        rows = list(self._rows(sql, conversation))
        hidden = self._hidden_among([key for key, role, text in rows if role == "user" and text])
        asked, found = "", {}
        for key, role, text in rows:
            if role == "user" and text and key not in hidden:
                asked = text
            elif asked and key in keys:
                found[key] = asked
        return found

    def _hidden_among(self, keys: Sequence[int]) -> set[int]:
        """Those of some messages that a program wrote in the person's name."""
        rows = self._rows(f"SELECT {PLACE} FROM timeline WHERE key {AMONG} ORDER BY block", as_json(keys))
        return {key for key, entry in self._decoded(rows) if isinstance(entry, Message) and entry.hidden}

    def index_keys(self, among: Iterable[int] | None = None) -> list[int]:
        """Every key that a whole index has; only of these, if some are given."""
        tables = (
            ("key", "timeline WHERE role IS NOT NULL AND copy_of IS NULL"),
            ("title_key", "conversations WHERE title_key IS NOT NULL"),
            ("key", "memories WHERE 1"),
        )
        if among is None:
            return [key for name, rows in tables for (key,) in self._rows(f"SELECT {name} FROM {rows}")]
        asked = as_json(among)
        sql = f"SELECT {{0}} FROM {{1}} AND {{0}} {AMONG}"
        return [key for name, rows in tables for (key,) in self._rows(sql.format(name, rows), asked)]

    def _indexed_of(self, conversation: int, key: int) -> list[Indexed]:
        sql = (
            f"SELECT {PLACE} FROM timeline WHERE conversation = ? AND key > ? AND copy_of IS NULL "
            "AND role IS NOT NULL"
        )
        rows = ((k, row_of(entry)) for k, entry in self._decoded(self._rows(sql, conversation, key)))
        return indexed(conversation, self._detail(conversation), rows, self._called(conversation))

    def _called(self, conversation: int) -> Called:
        """The tools that a conversation called."""
        sql = "SELECT call_id, name, kind FROM tool_calls WHERE conversation = ? AND call_id IS NOT NULL"
        return {call_id: (name, kind) for call_id, name, kind in self._rows(sql, conversation)}


def indexed(
    key: int, conversation: Conversation, rows: Iterable[tuple[int, Row]], called: Called
) -> list[Indexed]:
    """What the index is given of the messages among rows with their keys."""
    source, project, branch = conversation.source, conversation.cwd or "", conversation.git_branch or ""
    began = conversation.started_at
    return [
        Indexed(
            row_key, key, speaker(row.role, hidden=row.hidden), source, project, row.model or "",
            _seconds(row.at or began), row.text or "", row.thinking, row.tool, row.output, row.attached, "",
            branch,
            *((_tools(row.calls, called), _has_error(row.calls)) if row.calls else ()),
        )
        for row_key, row in rows
        if row.role is not None
    ]  # fmt: skip


def _tools(calls: Iterable[Call], called: Called) -> tuple[str, ...]:
    """Names and kinds of the tools that a message calls, or that answer in it."""
    tools = [called.get(call.call_id or "") or (call.name, call.kind) for call in calls]
    return tuple(dict.fromkeys(each for tool in tools for each in tool if each))


def _has_error(calls: Iterable[Call]) -> bool:
    return any(call.is_error for call in calls)


def titled(key: int, number: int, conversation: Conversation) -> Indexed:
    """What it is given of a title, which has a key of its own."""
    at = _seconds(conversation.updated_at)
    return Indexed(
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


def remembered(key: int, memory: Memory) -> Indexed:
    """What it is given of a memory."""
    at, nothing = _seconds(memory.at), ("", "", "", "")
    return Indexed(key, 0, "", memory.source, "", "", at, memory.text, *nothing, memory.about or "")


def _seconds(at: str | None) -> int:
    return (timestamps.epoch_ms(at) or 0) // 1000
