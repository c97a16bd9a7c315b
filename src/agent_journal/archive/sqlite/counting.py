"""Store tool calls with their results, and usage, which is counted once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.copies import Copies
from agent_journal.archive.sqlite.schema import SUMS, usage_name
from agent_journal.model import timestamps
from agent_journal.model.token_sanity import is_refused

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.rows import Row
    from agent_journal.archive.sqlite.entries import CopyOriginal
    from agent_journal.model import Conversation

_SQLITE_INT_LIMIT = (1 << 63) - 1
_Answers = dict[str, tuple[bool | None, int | None]]
# The last call of an id, if there are several.
_ANSWERED = (
    "UPDATE tool_calls SET is_error = ?1, answered_by = ?2 WHERE conversation = ?3 AND (message, slot) = "
    "(SELECT message, slot FROM tool_calls WHERE conversation = ?3 AND call_id = ?4 "
    "ORDER BY message DESC, slot DESC LIMIT 1)"
)
_KNOWN = "SELECT u.* FROM json_each(?) j CROSS JOIN usage u ON u.name = j.value"


class UsageRow(NamedTuple):
    """A row of the usage table."""

    name: int
    """The identity of what is counted once, as a number."""
    conversation: int
    message: int
    model: str | None
    input: int | float | None
    output: int | float | None
    cache_read: int | float | None
    cache_write: int | float | None
    cache_write_5m: int | float | None
    cache_write_1h: int | float | None
    reasoning: int | float | None
    total: int | float | None
    cost_usd: float | None
    estimated: bool
    at_ms: int | None
    """The time of its first message."""
    counted_ms: int | None
    """The time of the message whose counts are used."""
    refused: bool
    """Whether the source states a count that is not a valid number."""


class Counting(Copies):
    """The part of the store that counts tool calls and usage."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._to_sum_up: set[int] = set()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside, or nothing; usage sums are updated at its end."""
        self._to_sum_up.clear()
        with super().transaction():
            yield
            self._sum_up()

    def _count_calls_and_usage(
        self,
        conversation: Conversation,
        key: int,
        keys: list[tuple[int, Row]],
        copies: dict[bytes, CopyOriginal],
        there: Sequence[tuple[int, Row]] = (),
    ) -> None:
        """Store tool calls with their results, and usage, except that of copies."""
        self._count_calls(key, keys, there)
        own = [
            (message, row)
            for message, row in keys
            if row.usage is not None and not self._is_counted(copies.get(row.hash), conversation)
        ]
        self._count_usage(conversation, key, own)

    def _count_calls(
        self, key: int, keys: list[tuple[int, Row]], there: Sequence[tuple[int, Row]] = ()
    ) -> None:
        """Store tool calls of new entries; their results are new as well, or already `there`.

        Some programs use the same id for several calls: a result belongs to the last call before it.
        """
        known, early = _find_sessions(there), _Answers()
        calls: list[list[Any]] = []
        last: dict[str, list[Any]] = {}
        for message, row in keys:
            for slot, call in enumerate(row.calls):
                id_ = call.call_id or ""
                if call.name is not None:
                    answer = early.pop(id_, known.get(id_, (None, None)))
                    last[id_] = [key, message, slot, call.call_id, call.name, call.kind, row.at, *answer]
                    calls.append(last[id_])
                elif id_ in last:
                    last[id_][-2:] = call.is_error, message
                elif id_:
                    early[id_] = call.is_error, message
        self._many("INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", calls)
        self._many(_ANSWERED, [(*answer, key, call_id) for call_id, answer in early.items()])

    def _is_counted(self, original: CopyOriginal | None, conversation: Conversation) -> bool:
        """Whether a copy's usage is counted with its original, which is in no branch of this conversation."""
        if original is None:
            return False
        sql = (
            "SELECT t.conversation FROM timeline t "
            "JOIN usage u ON u.conversation = t.conversation AND u.message = t.key WHERE t.key = ?"
        )
        place = self._value(sql, original.key)
        return place is not None and place not in self._branches(conversation, [place])

    def _mark_as_copies(self, conversation: Conversation, key: int, copies: dict[int, CopyOriginal]) -> None:
        """Mark stored entries as copies; their usage is counted with their originals."""
        counted = [
            copy_key for copy_key, original in copies.items() if self._is_counted(original, conversation)
        ]
        self._many(
            "UPDATE timeline SET copy_of = ?1 WHERE key = ?2 OR copy_of = ?2",
            [(original.key, copy_key) for copy_key, original in copies.items()],
        )
        self._many(
            "DELETE FROM usage WHERE conversation = ? AND message = ?",
            [(key, copy_key) for copy_key in counted],
        )
        self._to_sum_up.add(key)

    def _branches(self, conversation: Conversation, keys: Collection[int]) -> set[int]:
        """Return those of the conversations that were started from this one."""
        if not keys:
            return set()
        sql = f"SELECT key FROM conversations WHERE key {IN_VALUES} AND source = ? AND parent_id = ?"
        return {row[0] for row in self._rows(sql, as_json(keys), conversation.source, conversation.id)}

    def _count_usage(
        self,
        conversation: Conversation,
        key: int,
        keys: list[tuple[int, Row]],
        only: Container[int] | None = None,
    ) -> None:
        """Count the usage of entries of a conversation: all of it, or only some by name."""
        new_usage = usage_rows(conversation, key, keys)
        if only is not None:
            new_usage = [used for used in new_usage if used.name in only]
        if not new_usage:
            return
        names = as_json(used.name for used in new_usage)
        known = {row[0]: UsageRow(*row) for row in self._rows(_KNOWN, names)}
        branches = self._branches(conversation, {used.conversation for used in known.values()} - {key})
        places = ", ".join("?" * len(UsageRow._fields))
        self._many(
            f"INSERT OR REPLACE INTO usage VALUES ({places})",
            [
                merge_usage(known[used.name], used, branches) if used.name in known else used
                for used in new_usage
            ],
        )
        self._to_sum_up.update((key, *(used.conversation for used in known.values())))

    def _move_usage(self, conversation: int, replaced: Sequence[tuple[int, int, int | None]]) -> None:
        """Move usage of replaced entries (old key, new key, usage name) to their replacements.

        Usage of an entry under another name was for the same tokens, and is no longer counted.
        """
        self._many(
            "DELETE FROM usage WHERE conversation = ? AND message = ? AND name IS NOT ?",
            [(conversation, old, name) for old, _, name in replaced],
        )
        self._many(
            "UPDATE usage SET message = ? WHERE conversation = ? AND message = ?",
            [(new, conversation, old) for old, new, _ in replaced],
        )
        if replaced:
            self._to_sum_up.add(conversation)

    def _sum_up(self) -> None:
        """Update the usage sums of all changed conversations at once, which is faster."""
        if self._to_sum_up:
            numbers, those = as_json(sorted(self._to_sum_up)), f"conversation {IN_VALUES}"
            self._db.execute(f"DELETE FROM usage_sums WHERE {those}", (numbers,))
            self._db.execute(f"INSERT INTO usage_sums {SUMS.format(those)}", (numbers,))


def _find_sessions(keys: Sequence[tuple[int, Row]]) -> _Answers:
    """Return, by call id, whether the call failed and the entry with its result."""
    return {
        call.call_id: (call.is_error, message)
        for message, row in keys
        for call in row.calls
        if call.name is None and call.call_id is not None
    }


def usage_rows(conversation: Conversation, key: int, keys: list[tuple[int, Row]]) -> list[UsageRow]:
    """Return the rows of the usage table for entries of a conversation; the last of each name."""
    by_name: dict[int, UsageRow] = {}
    for message, row in keys:
        usage, name = row.usage, name_of(conversation, row)
        if usage is None or name is None:
            continue
        at_ms = counted_ms = timestamps.epoch_ms(row.at)
        before = by_name.get(name)
        if before is not None and _is_before(before.at_ms, at_ms):
            at_ms = before.at_ms
        by_name[name] = UsageRow(
            name, key, message, row.model or conversation.model,
            _storable(usage.input), _storable(usage.output), _storable(usage.cache_read),
            _storable(usage.cache_write), _storable(usage.cache_write_5m), _storable(usage.cache_write_1h),
            _storable(usage.reasoning), _storable(usage.total), usage.cost_usd, usage.estimated,
            at_ms, counted_ms, is_refused(usage),
        )  # fmt: skip
    return list(by_name.values())


def name_of(conversation: Conversation, row: Row) -> int | None:
    """Return the name under which a row's usage is counted: the source's key, or the message itself."""
    if row.usage is None:
        return None
    return usage_name(conversation.source, row.usage.key or f"{conversation.id}\0{row.id}")


def merge_usage(old: UsageRow, new: UsageRow, branches: Container[int] = ()) -> UsageRow:
    """Merge two statements about the same tokens; `branches` were started from the new one's conversation.

    The last counts are used. The tokens belong to the conversation that stated them first: a fork may repeat
    them much later, with its own time or with the original's.
    """
    counts = new if _replaces_counts(old, new) else old
    is_first = new.at_ms == old.at_ms and old.conversation in branches
    first = new if is_first or _is_before(new.at_ms, old.at_ms) else old
    return counts._replace(
        conversation=first.conversation,
        message=counts.message if old.conversation == new.conversation else first.message,
        at_ms=first.at_ms,
        model=counts.model or first.model,
    )


def _replaces_counts(old: UsageRow, new: UsageRow) -> bool:
    """Whether the new counts replace the old ones: they are later, or of the same time and not lower."""
    if new.message == old.message or old.counted_ms is None:
        return True
    if new.counted_ms is None or new.counted_ms < old.counted_ms:
        return False
    is_later = new.counted_ms > old.counted_ms or new.conversation == old.conversation
    return is_later or (new.output or 0) >= (old.output or 0)


def _is_before(one: int | None, other: int | None) -> bool:
    return one is not None and (other is None or one < other)


def _storable(number: int | None) -> int | float | None:
    """SQLite's integers have 64 bits."""
    if number is None or -_SQLITE_INT_LIMIT <= number <= _SQLITE_INT_LIMIT:
        return number
    return 1e300 if number > 0 else -1e300
