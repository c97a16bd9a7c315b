"""Tool calls with their answers, and usage, which is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.archive.sqlite.copies import Copies

if TYPE_CHECKING:
    from agent_journal.archive.rows import Row
    from agent_journal.archive.sqlite.entries import Original
    from agent_journal.model import Conversation

_MOST = (1 << 63) - 1

USAGE = (
    "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    # Counted once, the last word wins; whose it is does not change when a copy repeats it.
    "ON CONFLICT (source, key) DO UPDATE SET at = excluded.at, model = excluded.model, input = "
    "excluded.input, "
    "output = excluded.output, cache_read = excluded.cache_read, cache_write = excluded.cache_write, "
    "cache_write_5m = excluded.cache_write_5m, cache_write_1h = excluded.cache_write_1h, "
    "reasoning = excluded.reasoning, total = excluded.total, cost_usd = excluded.cost_usd, "
    "estimated = excluded.estimated WHERE at IS NULL OR excluded.at >= at"
)


class Counting(Copies):
    """The part of the store that counts."""

    def _count(
        self,
        conversation: Conversation,
        key: int,
        keys: list[tuple[int, Row]],
        copies: dict[bytes, Original],
    ) -> None:
        """Tool calls, joined with their answers, and usage, which copies do not have again."""
        self._count_calls(key, keys)
        own = [
            (message, row)
            for message, row in keys
            if row.usage is not None and not self._is_counted(copies.get(row.hash))
        ]
        self._many(USAGE, usages(conversation, key, own))

    def _count_calls(self, key: int, keys: list[tuple[int, Row]]) -> None:
        answers: dict[str, tuple[int | None, bool | None]] = {
            call.call_id: (message, call.is_error)
            for message, row in keys
            for call in row.calls
            if call.name is None and call.call_id is not None
        }
        calls = []
        for message, row in keys:
            for slot, call in enumerate(row.calls):
                if call.name is not None:
                    answer, is_error = answers.pop(call.call_id or "", (None, None))
                    calls.append(
                        (key, message, slot, call.call_id, call.name, call.kind, row.at, is_error, answer)
                    )
        self._many("INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", calls)
        self._many(
            "UPDATE tool_calls SET is_error = ?, answered_by = ? WHERE conversation = ? AND call_id = ?",
            [(is_error, message, key, call_id) for call_id, (message, is_error) in answers.items()],
        )

    def _is_counted(self, original: Original | None) -> bool:
        if original is None:
            return False
        sql = (
            "SELECT 1 FROM timeline t JOIN usage u ON u.conversation = t.conversation AND u.message = t.key "
            "WHERE t.key = ?"
        )
        return self._value(sql, original.key) is not None


def usages(conversation: Conversation, key: int, keys: list[tuple[int, Row]]) -> list[tuple[Any, ...]]:
    """The rows of the usage table for entries of a conversation."""
    found = {}
    for message, row in keys:
        usage = row.usage
        if usage is None:
            continue
        name = usage.key or f"{conversation.id}\0{row.id}"
        counts = (
            usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cache_write_5m,
            usage.cache_write_1h, usage.reasoning, usage.total,
        )  # fmt: skip
        found[name] = (
            conversation.source, name, key, message, row.at, row.model or conversation.model,
            *map(_storable, counts), usage.cost_usd, usage.estimated,
        )  # fmt: skip
    return list(found.values())


def _storable(number: int | None) -> int | float | None:
    """SQLite's integers have 64 bits."""
    return float(number) if number is not None and abs(number) > _MOST else number
