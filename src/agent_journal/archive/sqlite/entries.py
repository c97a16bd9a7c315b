"""Entries of timelines: written in blocks, read again, taken away."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_journal.archive.bodies import Blocks, entry_of, whole
from agent_journal.archive.rows import conversation_of, memory_of
from agent_journal.archive.sqlite.connection import Base
from agent_journal.errors import DamagedArchive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation, Event, Link, Memory, Message

_INSERT = (
    "INSERT INTO timeline (key, conversation, position, earlier, id, parent_id, role, name, at, "
    "model, text, hash, "
    "copy_hash, copy_of, block, start, size, given_by) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
PLACE = "key, text, block, start, size, id, parent_id, role, name, at, model"
# What values of another type or size than were written lead to.
BAD_VALUES = (TypeError, ValueError, AttributeError, OverflowError, MemoryError, StopIteration, RuntimeError)


class Original(NamedTuple):
    """The message that another one is a copy of."""

    key: int
    hash: bytes
    block: int
    start: int
    size: int


class Entries(Base):
    """The part of the store that holds entries."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._blocks = Blocks()

    def _insert(
        self,
        conversation: int,
        rows: list[tuple[int, int, Row]],
        copies: dict[bytes, Original],
        source: int,
        blocks: Sequence[Block] = (),
    ) -> list[tuple[int, Row]]:
        """Write entries (position, earlier version or 0, row) that a source gives; their keys."""
        first = self.last_key() + 1
        self._last_key = first + len(rows) - 1
        places = self._put_blocks(blocks) if blocks else self._pack([row for _, _, row in rows], copies)
        values = [
            (
                key, conversation, position, earlier, row.id, row.parent_id, row.role, row.name, row.at,
                row.model, row.text, row.hash, row.copy_hash,
                copies[row.hash].key if row.hash in copies else None, *place, source,
            )
            for key, (position, earlier, row), place in zip(count(first), rows, places, strict=False)
        ]  # fmt: skip
        self._many(_INSERT, values)
        return [(value[0], row) for value, (_, _, row) in zip(values, rows, strict=True)]

    def _pack(self, rows: list[Row], copies: dict[bytes, Original]) -> list[tuple[int, int, int]]:
        """Where each row's body lies: that of a copy where its original's does, if they are the same."""
        places: dict[int, tuple[int, int, int]] = {}
        own: list[int] = []
        for index, row in enumerate(rows):
            original = copies.get(row.hash)
            if original is not None and original.hash == row.hash:
                places[index] = (original.block, original.start, original.size)
            else:
                own.append(index)
        packed = self._blocks.packed(rows[index].stored for index in own)
        places.update(zip(own, self._put_blocks(packed), strict=True))
        return [places[index] for index in range(len(rows))]

    def _put_blocks(self, blocks: Iterable[Block]) -> list[tuple[int, int, int]]:
        """Write blocks; where each of their bodies lies."""
        places = []
        for data, spans in blocks:
            block = self._db_insert("INSERT INTO blocks (data) VALUES (?)", data)
            places += [(block, start, size) for start, size in spans]
        return places

    def _db_insert(self, sql: str, *values: Any) -> int:
        self._db.execute(sql, values)
        return self._db.last_insert_rowid()

    def _with_bodies(self, rows: list[Row], blocks: Sequence[Block]) -> list[Row]:
        if not blocks:
            return rows
        pairs = zip(rows, self._blocks.bodies(blocks), strict=True)
        return [row.with_stored(body) for row, body in pairs]

    def _drop_calls(self, conversation: int, keys: Sequence[int]) -> None:
        self._many(
            "DELETE FROM tool_calls WHERE conversation = ? AND message = ?",
            [(conversation, key) for key in keys],
        )

    def _remove(self, conversation: int, keys: Sequence[int]) -> None:
        """Take away entries, and blocks that nothing lies in any more."""
        blocks = {self._value("SELECT block FROM timeline WHERE key = ?", key) for key in keys}
        self._drop_calls(conversation, keys)
        self._many("UPDATE timeline SET copy_of = NULL WHERE copy_of = ?", [(key,) for key in keys])
        self._many("DELETE FROM timeline WHERE key = ?", [(key,) for key in keys])
        self._many("DELETE FROM also_given WHERE key = ?", [(key,) for key in keys])
        for block in blocks:
            if self._value("SELECT 1 FROM timeline WHERE block = ? LIMIT 1", block) is None:
                self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))

    def conversation(self, key: int) -> Conversation:
        """A conversation with its timeline, as it was read (but for `native`)."""
        detail = self._value("SELECT detail FROM conversations WHERE key = ?", key)
        timeline = [entry for _, entry in self.entries(key)]
        return replace(self._detail_of(detail), timeline=timeline)

    def link(self, key: int) -> Link | None:
        """Where a conversation came from; its timeline is not read."""
        return self._detail(key).link

    def entries(self, conversation: int) -> Iterator[tuple[int, Message | Event]]:
        """The current entries of a conversation with their keys, in order."""
        sql = f"SELECT {PLACE} FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
        yield from self._decoded(self._rows(sql, conversation))

    def _entry(self, key: int) -> Message | Event:
        rows = self._rows(f"SELECT {PLACE} FROM timeline WHERE key = ?", key)
        return next(self._decoded(rows))[1]

    def _decoded(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Message | Event]]:
        for block, group in groupby(list(rows), itemgetter(2)):
            lying = list(group)
            data = self._block(block, upto=self._end_of(lying))
            for key, text, _, start, size, *columns in lying:
                with self._telling_damage():
                    entry = entry_of(whole(data[start : start + size], columns), text)
                yield key, entry

    def _end_of(self, rows: Iterable[tuple[Any, ...]]) -> int:
        """Where the last of some entries ends in its block."""
        with self._telling_damage():
            end: int = max(start + size for _, _, _, start, size, *_ in rows)
            return end

    def _block(self, key: int, upto: int | None = None) -> bytes:
        data = self._value("SELECT data FROM blocks WHERE key = ?", key)
        with self._telling_damage():
            return self._blocks.unpacked(data) if upto is None else self._blocks.begun(data, upto)

    @contextmanager
    def _telling_damage(self) -> Iterator[None]:
        """What cannot be unpacked or decoded is not what was put there."""
        try:
            yield
        except (msgspec.MsgspecError, *BAD_VALUES) as error:
            raise DamagedArchive(str(self._path), f"what is stored cannot be read ({error})") from error

    def memories(self) -> Iterator[Memory]:
        """Every memory."""
        for (body,) in self._rows("SELECT body FROM memories ORDER BY source, id"):
            with self._telling_damage():
                memory = memory_of(body)
            yield memory

    def _detail(self, key: int) -> Conversation:
        return self._detail_of(self._value("SELECT detail FROM conversations WHERE key = ?", key))

    def _detail_of(self, detail: bytes) -> Conversation:
        with self._telling_damage():
            return conversation_of(self._blocks.unpacked(detail))
