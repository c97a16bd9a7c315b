"""Write, read and delete the entries of timelines, which are stored in blocks."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count, groupby, islice, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from agent_journal.archive.bodies import Blocks, entry_of, restore_columns
from agent_journal.archive.rows import content_hash, conversation_of, memory_hash, memory_of
from agent_journal.archive.sqlite.connection import Base
from agent_journal.archive.store import DamagedRows
from agent_journal.errors import DamagedArchive
from agent_journal.model import Conversation, Event, Memory, Message, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import apsw

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.rows import Row
    from agent_journal.model import Link, Role

_INSERT = (
    "INSERT INTO timeline (key, conversation, position, earlier, id, parent_id, role, name, at, "
    "model, text, hash, "
    "copy_hash, copy_of, block, start, size, given_by) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# Cast to BLOB, because invalid text in one damaged row would make the rows around it unreadable.
ENTRY_COLUMNS = "key, CAST(text AS BLOB), hash, block, start, size, " + ", ".join(
    f"CAST({column} AS BLOB)" for column in ("id", "parent_id", "role", "name", "at", "model")
)
MEMORY_COLUMNS = "source, id, kind, about, at, CAST(text AS BLOB), hash, body"
# Rows of so many entries are made and written at a time.
_INSERT_BATCH_COUNT = 10_000
_ROLES = {"user", "assistant", "system", "tool"}
# Errors that values of an unexpected type or size cause.
DECODE_ERRORS = (
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    MemoryError,
    StopIteration,
    RuntimeError,
)


class CopyOriginal(NamedTuple):
    """The original of a copy."""

    key: int
    hash: bytes
    block: int
    start: int
    size: int


class Entries(Base):
    """The part of the store that stores entries."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._blocks = Blocks()
        self.substituted: dict[int, bytes] = {}
        """The hashes, by key, of damaged entries that were rebuilt from their columns."""

    def _insert(
        self,
        conversation: int,
        rows: Sequence[Row],
        copies: dict[bytes, CopyOriginal],
        source: int,
        blocks: Sequence[Block] = (),
        *,
        positions: Iterable[tuple[int, int]] | None = None,
    ) -> list[tuple[int, Row]]:
        """Write the entries of a source, and return their keys.

        `positions` has the position and version of each (0: current); without it they are numbered in order.
        """
        first = self.last_key() + 1
        self._last_key = first + len(rows) - 1
        keys = [*zip(count(first), rows, strict=False)]
        placed = zip(count(), repeat(0), strict=False) if positions is None else positions
        places = self._put_blocks(blocks) if blocks else self._pack(rows, copies)
        values = (
            (
                key, conversation, *position, row.id, row.parent_id, row.role, row.name, row.at,
                row.model, row.text, row.hash, row.copy_hash,
                copies[row.hash].key if row.hash in copies else None, *place, source,
            )
            for (key, row), position, place in zip(keys, placed, places, strict=False)
        )  # fmt: skip
        while batch := [*islice(values, _INSERT_BATCH_COUNT)]:
            self._many(_INSERT, batch)
        return keys

    def _pack(self, rows: Sequence[Row], copies: dict[bytes, CopyOriginal]) -> list[tuple[int, int, int]]:
        """Pack the bodies of rows and return where each is; an equal copy shares its original's body."""
        places: dict[int, tuple[int, int, int]] = {}
        own: list[int] = []
        for index, row in enumerate(rows):
            original = copies.get(row.hash)
            if original is not None and original.hash == row.hash:
                places[index] = (original.block, original.start, original.size)
            else:
                own.append(index)
        packed = self._blocks.pack(rows[index].stored for index in own)
        places.update(zip(own, self._put_blocks(packed), strict=True))
        return [places[index] for index in range(len(rows))]

    def _put_blocks(self, blocks: Iterable[Block]) -> Iterator[tuple[int, int, int]]:
        """Write blocks one by one, and yield where each of their bodies is."""
        for each in blocks:
            block = self._db_insert("INSERT INTO blocks (data) VALUES (?)", each.data)
            for start, size in each.spans:
                yield block, start, size

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
        """Delete entries, and blocks that no entry needs any more."""
        blocks = {self._value("SELECT block FROM timeline WHERE key = ?", key) for key in keys}
        self._drop_calls(conversation, keys)
        self._many("UPDATE timeline SET copy_of = NULL WHERE copy_of = ?", [(key,) for key in keys])
        self._many("DELETE FROM timeline WHERE key = ?", [(key,) for key in keys])
        self._many("DELETE FROM also_given WHERE key = ?", [(key,) for key in keys])
        for block in blocks:
            if self._value("SELECT 1 FROM timeline WHERE block = ? LIMIT 1", block) is None:
                self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))

    def conversation(self, key: int) -> Conversation:
        """Return a conversation with its timeline, as it was read (except `native`).

        An entry whose content is damaged is rebuilt from its columns; `damaged_rows` lists these.
        """
        timeline = [entry for _, entry in self.entries(key)]
        return replace(self._detail(key), timeline=timeline)

    def conversation_without_entries(self, key: int) -> Conversation:
        """Return a conversation without its timeline."""
        return self._detail(key)

    def damaged_rows(self, conversation: int) -> DamagedRows:
        """Return the damage to a conversation."""
        sql = f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE conversation = ? ORDER BY position"
        damaged = {
            each.key: (each.id, each.hash)
            for each, entry in self._read(self._rows(sql, conversation))
            if entry is None
        }
        return DamagedRows(damaged, self._intact_detail(conversation) is None)

    def link(self, key: int) -> Link | None:
        """Return the link to the conversation it came from, without reading its timeline."""
        return self._detail(key).link

    def entries(self, conversation: int) -> Iterator[tuple[int, Message | Event]]:
        """Yield the current entries of a conversation with their keys, in order."""
        sql = f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
        yield from self._decoded(self._rows(sql, conversation))

    def _entry(self, key: int) -> Message | Event:
        rows = self._rows(f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE key = ?", key)
        return next(self._decoded(rows))[1]

    def _decoded(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Message | Event]]:
        """Yield entries with their keys; damaged ones are rebuilt from their columns."""
        for stored_entry, entry in self._read(rows):
            if entry is None:
                self.substituted[stored_entry.key] = stored_entry.hash
            yield stored_entry.key, stored_entry.from_columns() if entry is None else entry

    def _read(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[_StoredEntry, Message | Event | None]]:
        """Yield stored entries with their content, which is None if it is damaged.

        Each block is decompressed only as far as needed, and only one is in memory.
        """
        for block, group in groupby(map(_stored_entry, rows), attrgetter("block")):
            in_block = list(group)
            try:
                data = self._block(block, upto=self._end_of(in_block))
            except DamagedArchive:
                data = b""
            for stored_entry in in_block:
                yield stored_entry, stored_entry.entry_in(data)

    def _end_of(self, places: Iterable[_StoredEntry]) -> int:
        """Return where the last of the entries ends in its block."""
        with self._decode_errors_as_damage():
            end: int = max(place.start + place.size for place in places)
            return end

    def _block(self, key: int, upto: int | None = None) -> bytes:
        data = self._value("SELECT data FROM blocks WHERE key = ?", key)
        with self._decode_errors_as_damage():
            return (
                self._blocks.decompress(data) if upto is None else self._blocks.decompress_start(data, upto)
            )

    @contextmanager
    def _decode_errors_as_damage(self) -> Iterator[None]:
        """Report what cannot be decompressed or decoded as damage."""
        try:
            yield
        except (msgspec.MsgspecError, *DECODE_ERRORS) as error:
            raise DamagedArchive(str(self._path), f"the stored content cannot be read ({error})") from error

    def memories(self) -> Iterator[Memory]:
        """Yield every memory."""
        yield from map(memory_from, self._rows(f"SELECT {MEMORY_COLUMNS} FROM memories ORDER BY source, id"))

    def memories_of(self, source: int) -> list[Memory]:
        """Return the memories from a source."""
        sql = (
            f"SELECT {MEMORY_COLUMNS} FROM memories m WHERE given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = m.key AND a.source = ?) ORDER BY key"
        )
        return [memory_from(row) for row in self._rows(sql, source, source)]

    def _detail(self, key: int) -> Conversation:
        """Return a conversation without its timeline; if it is damaged, rebuild it from its columns."""
        detail = self._intact_detail(key)
        return self._from_columns(key) if detail is None else detail

    def _intact_detail(self, key: int) -> Conversation | None:
        digest, detail = next(self._rows("SELECT hash, detail FROM conversations WHERE key = ?", key))
        try:
            with self._decode_errors_as_damage():
                body = self._blocks.decompress(detail)
                return conversation_of(body) if content_hash(body, None) == digest else None
        except DamagedArchive:
            return None

    def _from_columns(self, key: int) -> Conversation:
        sql = (
            "SELECT source, id, title, project, git_branch, model, started_at, updated_at, shape, head_id, "
            "parent_id, relation, only_prompts, product FROM conversations WHERE key = ?"
        )
        (source, id_, title, cwd, branch, model, begun, updated, shape, head, parent, relation, prompts,
         product) = next(self._rows(sql, key))  # fmt: skip
        link = {"conversation_id": parent, "relation": relation} if parent and relation else None
        with self._decode_errors_as_damage():
            return msgspec.convert(
                {
                    "source": source, "id": id_, "title": title, "cwd": cwd, "git_branch": branch,
                    "model": model, "started_at": begun, "updated_at": updated, "shape": shape,
                    "head_id": head, "only_prompts": bool(prompts),
                    "link": link, "product": product,
                },
                Conversation,
            )  # fmt: skip


class _StoredEntry(NamedTuple):
    """Where the body of an entry is, and its columns."""

    key: int
    text: bytes | None
    hash: bytes
    block: int
    start: int
    size: int
    id: str
    parent_id: str | None
    role: str | None
    name: str | None
    at: str | None
    model: str | None

    def entry_in(self, data: bytes) -> Message | Event | None:
        """Decode the entry from its block; None if it is damaged."""
        try:
            body = restore_columns(data[self.start : self.start + self.size], self[6:])
            text = None if self.text is None else self.text.decode()
            return entry_of(body, text) if content_hash(body, text) == self.hash else None
        except (msgspec.MsgspecError, *DECODE_ERRORS):
            return None

    def from_columns(self) -> Message | Event:
        """Rebuild the entry from its columns."""
        if self.role is None:
            return Event(id=str(self.id), parent_id=self.parent_id, name=str(self.name), at=self.at)
        text = None if self.text is None else self.text.decode("utf-8", "replace")
        return Message(
            id=str(self.id),
            parent_id=self.parent_id,
            role=cast("Role", self.role if self.role in _ROLES else "user"),
            at=self.at,
            model=self.model,
            parts=[Text(text=text)] if text else [],
        )


def _stored_entry(row: tuple[Any, ...]) -> _StoredEntry:
    columns = (None if each is None else each.decode("utf-8", "replace") for each in row[6:])
    return _StoredEntry(*row[:6], *columns)


def memory_from(row: Sequence[Any]) -> Memory:
    """Return a memory; if its body is damaged, rebuild it from its columns."""
    source, id_, kind, about, at, text, digest, body = row
    try:
        memory = memory_of(body)
        if memory_hash(memory) == digest:
            return memory
    except (msgspec.MsgspecError, *DECODE_ERRORS):
        pass
    return Memory(
        id=str(id_), source=str(source), kind=kind, about=about, at=at, text=text.decode("utf-8", "replace")
    )
