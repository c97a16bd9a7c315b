"""What the index is given of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agent_journal import times
from agent_journal.archive.rows import row_of
from agent_journal.archive.sqlite.entries import PLACE, Entries
from agent_journal.archive.store import Indexed
from agent_journal.model import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation


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
        for memory_key, body in list(self._rows("SELECT key, body FROM memories WHERE key > ?", key)):
            yield remembered(memory_key, msgspec.msgpack.decode(body, type=Memory))

    def _indexed_of(self, conversation: int, key: int) -> list[Indexed]:
        sql = (
            f"SELECT {PLACE} FROM timeline WHERE conversation = ? AND key > ? AND copy_of IS NULL "
            "AND role IS NOT NULL"
        )
        rows = ((k, row_of(entry)) for k, entry in self._decoded(self._rows(sql, conversation, key)))
        return indexed(conversation, self._detail(conversation), rows)


def indexed(key: int, conversation: Conversation, rows: Iterable[tuple[int, Row]]) -> list[Indexed]:
    """What the index is given of the messages among rows with their keys."""
    source, project = conversation.source, conversation.cwd or ""
    return [
        Indexed(
            row_key, key, row.role, source, project, row.model or "", _seconds(row.at), row.text or "",
            row.thinking, row.tool, "",
        )
        for row_key, row in rows
        if row.role is not None
    ]  # fmt: skip


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
        conversation.title or "",
    )


def remembered(key: int, memory: Memory) -> Indexed:
    """What it is given of a memory."""
    return Indexed(
        key, 0, "", memory.source, "", "", _seconds(memory.at), memory.text, "", "", memory.about or ""
    )


def _seconds(at: str | None) -> int:
    return (times.epoch_ms(at) or 0) // 1000
