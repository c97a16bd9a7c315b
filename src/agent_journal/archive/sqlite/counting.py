"""Tool calls with their answers, and usage, which is counted once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.copies import Copies
from agent_journal.archive.sqlite.schema import SUMS, usage_name
from agent_journal.model import timestamps
from agent_journal.model.token_sanity import is_refused

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.rows import Row
    from agent_journal.archive.sqlite.entries import Original
    from agent_journal.model import Conversation

_MOST = (1 << 63) - 1
_Answers = dict[str, tuple[bool | None, int | None]]
# The last call of an id, if there are several.
_ANSWERED = (
    "UPDATE tool_calls SET is_error = ?1, answered_by = ?2 WHERE conversation = ?3 AND (message, slot) = "
    "(SELECT message, slot FROM tool_calls WHERE conversation = ?3 AND call_id = ?4 "
    "ORDER BY message DESC, slot DESC LIMIT 1)"
)
_KNOWN = "SELECT u.* FROM json_each(?) j CROSS JOIN usage u ON u.name = j.value"


class Used(NamedTuple):
    """A row of the usage table."""

    name: int
    """What is counted once, as a number."""
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
    """When it was said first."""
    counted_ms: int | None
    """When the counts that hold were stated."""
    refused: bool
    """Whether something that the source states as a count is none."""


class Counting(Copies):
    """The part of the store that counts."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._to_sum_up: set[int] = set()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is written inside; what it counted is summed up at its end."""
        self._to_sum_up.clear()
        with super().transaction():
            yield
            self._sum_up()

    def _count(
        self,
        conversation: Conversation,
        key: int,
        keys: list[tuple[int, Row]],
        copies: dict[bytes, Original],
        there: Sequence[tuple[int, Row]] = (),
    ) -> None:
        """Tool calls, joined with their answers, and usage, which copies do not have again."""
        self._count_calls(key, keys, there)
        own = [
            (message, row)
            for message, row in keys
            if row.usage is not None and not self._is_counted(copies.get(row.hash), conversation)
        ]
        self._use(conversation, key, own)

    def _count_calls(
        self, key: int, keys: list[tuple[int, Row]], there: Sequence[tuple[int, Row]] = ()
    ) -> None:
        """Tool calls of entries that are new; their answers are new as well, or `there` already.

        Some programs call one after the other by the same id: what answers is for the last one before it.
        """
        known, early = _answers(there), _Answers()
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

    def _is_counted(self, original: Original | None, conversation: Conversation) -> bool:
        """Whether what a copy used is counted with its original, and that did not come out of this one."""
        if original is None:
            return False
        sql = (
            "SELECT t.conversation FROM timeline t "
            "JOIN usage u ON u.conversation = t.conversation AND u.message = t.key WHERE t.key = ?"
        )
        place = self._value(sql, original.key)
        return place is not None and place not in self._branches(conversation, [place])

    def _fold(self, conversation: Conversation, key: int, copies: dict[int, Original]) -> None:
        """Let entries that are there be copies; what they used is counted with their originals."""
        counted = [ours for ours, original in copies.items() if self._is_counted(original, conversation)]
        self._many(
            "UPDATE timeline SET copy_of = ?1 WHERE key = ?2 OR copy_of = ?2",
            [(original.key, ours) for ours, original in copies.items()],
        )
        self._many(
            "DELETE FROM usage WHERE conversation = ? AND message = ?", [(key, ours) for ours in counted]
        )
        self._to_sum_up.add(key)

    def _branches(self, conversation: Conversation, keys: Collection[int]) -> set[int]:
        """Those of some conversations that came out of another one."""
        if not keys:
            return set()
        sql = f"SELECT key FROM conversations WHERE key {AMONG} AND source = ? AND parent_id = ?"
        return {row[0] for row in self._rows(sql, as_json(keys), conversation.source, conversation.id)}

    def _use(
        self,
        conversation: Conversation,
        key: int,
        keys: list[tuple[int, Row]],
        only: Container[int] | None = None,
    ) -> None:
        """Count what entries of a conversation used, all or only some by name."""
        came = usages(conversation, key, keys)
        if only is not None:
            came = [used for used in came if used.name in only]
        if not came:
            return
        names = as_json(used.name for used in came)
        known = {row[0]: Used(*row) for row in self._rows(_KNOWN, names)}
        branches = self._branches(conversation, {used.conversation for used in known.values()} - {key})
        places = ", ".join("?" * len(Used._fields))
        self._many(
            f"INSERT OR REPLACE INTO usage VALUES ({places})",
            [settled(known[used.name], used, branches) if used.name in known else used for used in came],
        )
        self._to_sum_up.update((key, *(used.conversation for used in known.values())))

    def _let_go(self, conversation: int, replaced: Sequence[tuple[int, int, int | None]]) -> None:
        """Let usage of entries (old, new, what is counted now) be that of those in their place.

        What was counted of an entry under another name was the same tokens: that is no longer counted.
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
        """Bring sums up to what is counted: of all conversations at once, as each beginning takes long."""
        if self._to_sum_up:
            numbers, those = as_json(sorted(self._to_sum_up)), f"conversation {AMONG}"
            self._db.execute(f"DELETE FROM usage_sums WHERE {those}", (numbers,))
            self._db.execute(f"INSERT INTO usage_sums {SUMS.format(those)}", (numbers,))


def _answers(keys: Sequence[tuple[int, Row]]) -> _Answers:
    """By the id of a call: whether it failed, and the entry that answers it."""
    return {
        call.call_id: (call.is_error, message)
        for message, row in keys
        for call in row.calls
        if call.name is None and call.call_id is not None
    }


def usages(conversation: Conversation, key: int, keys: list[tuple[int, Row]]) -> list[Used]:
    """The rows of the usage table for entries of a conversation; of those with one name the last."""
    found: dict[int, Used] = {}
    for message, row in keys:
        usage, name = row.usage, name_of(conversation, row)
        if usage is None or name is None:
            continue
        at_ms = counted_ms = timestamps.epoch_ms(row.at)
        before = found.get(name)
        if before is not None and _is_before(before.at_ms, at_ms):
            at_ms = before.at_ms
        found[name] = Used(
            name, key, message, row.model or conversation.model,
            _storable(usage.input), _storable(usage.output), _storable(usage.cache_read),
            _storable(usage.cache_write), _storable(usage.cache_write_5m), _storable(usage.cache_write_1h),
            _storable(usage.reasoning), _storable(usage.total), usage.cost_usd, usage.estimated,
            at_ms, counted_ms, is_refused(usage),
        )  # fmt: skip
    return list(found.values())


def name_of(conversation: Conversation, row: Row) -> int | None:
    """What a row's usage is counted by: the source's key, or the message itself."""
    if row.usage is None:
        return None
    return usage_name(conversation.source, row.usage.key or f"{conversation.id}\0{row.id}")


def settled(old: Used, new: Used, branches: Container[int] = ()) -> Used:
    """One of two statements about the same tokens; `branches` came out of the conversation of the new one.

    The last counts hold. The tokens are those of the conversation that told of them first: a fork may repeat
    them long after, with the time at which it was made, or with theirs.
    """
    counts = new if _holds(old, new) else old
    is_first = new.at_ms == old.at_ms and old.conversation in branches
    place = new if is_first or _is_before(new.at_ms, old.at_ms) else old
    return counts._replace(
        conversation=place.conversation,
        message=counts.message if old.conversation == new.conversation else place.message,
        at_ms=place.at_ms,
        model=counts.model or place.model,
    )


def _holds(old: Used, new: Used) -> bool:
    """Whether the new counts are the last word: they are later, or as late and no less."""
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
    if number is None or -_MOST <= number <= _MOST:
        return number
    return 1e300 if number > 0 else -1e300
