"""Entries of timelines: written in blocks, read again, taken away."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from agent_journal.archive.bodies import Blocks, entry_of, whole
from agent_journal.archive.rows import content_hash, conversation_of, memory_hash, memory_of
from agent_journal.archive.sqlite.connection import Base
from agent_journal.archive.store import Unsound
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
# What is no text, because it is damaged, must not keep the rows around it from being read.
PLACE = "key, CAST(text AS BLOB), hash, block, start, size, " + ", ".join(
    f"CAST({column} AS BLOB)" for column in ("id", "parent_id", "role", "name", "at", "model")
)
MEMORY = "source, id, kind, about, at, CAST(text AS BLOB), hash, body"
_ROLES = {"user", "assistant", "system", "tool"}
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
        self.stood_in: dict[int, bytes] = {}
        """Entries, by key, that were asked for and are damaged: what columns have was given instead."""

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
        """A conversation with its timeline, as it was read (but for `native`).

        In place of an entry whose content is damaged stands what the columns have of it; `unsound` tells.
        """
        timeline = [entry for _, entry in self.entries(key)]
        return replace(self._detail(key), timeline=timeline)

    def conversation_without_entries(self, key: int) -> Conversation:
        """All that is known of a conversation but its timeline."""
        return self._detail(key)

    def unsound(self, conversation: int) -> Unsound:
        """What is damaged of a conversation."""
        sql = f"SELECT {PLACE} FROM timeline WHERE conversation = ? ORDER BY position"
        found = {
            each.key: (each.id, each.hash)
            for each, entry in self._read(self._rows(sql, conversation))
            if entry is None
        }
        return Unsound(found, self._sound_detail(conversation) is None)

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
        """Entries with their keys; what the columns have stands for one that is damaged."""
        for place, entry in self._read(rows):
            if entry is None:
                self.stood_in[place.key] = place.hash
            yield place.key, place.from_columns() if entry is None else entry

    def _read(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[_Place, Message | Event | None]]:
        """Entries where they lie; None for one that cannot be read, or is not what was stored.

        Of each block only as much is unpacked as is asked for, and one at a time is held.
        """
        for block, group in groupby(map(_place, rows), attrgetter("block")):
            lying = list(group)
            try:
                data = self._block(block, upto=self._end_of(lying))
            except DamagedArchive:
                data = b""
            for place in lying:
                yield place, place.entry_in(data)

    def _end_of(self, places: Iterable[_Place]) -> int:
        """Where the last of some entries ends in its block."""
        with self._telling_damage():
            end: int = max(place.start + place.size for place in places)
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
        yield from map(memory_from, self._rows(f"SELECT {MEMORY} FROM memories ORDER BY source, id"))

    def memories_of(self, source: int) -> list[Memory]:
        """The memories that a source gave."""
        sql = (
            f"SELECT {MEMORY} FROM memories m WHERE given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = m.key AND a.source = ?) ORDER BY key"
        )
        return [memory_from(row) for row in self._rows(sql, source, source)]

    def _detail(self, key: int) -> Conversation:
        """All that is known of a conversation but its timeline; what columns have, if that is damaged."""
        found = self._sound_detail(key)
        return self._from_columns(key) if found is None else found

    def _sound_detail(self, key: int) -> Conversation | None:
        digest, detail = next(self._rows("SELECT hash, detail FROM conversations WHERE key = ?", key))
        try:
            with self._telling_damage():
                body = self._blocks.unpacked(detail)
                return conversation_of(body) if content_hash(body, None) == digest else None
        except DamagedArchive:
            return None

    def _from_columns(self, key: int) -> Conversation:
        sql = (
            "SELECT source, id, title, project, git_branch, model, started_at, updated_at, shape, head_id, "
            "parent_id, relation, only_prompts FROM conversations WHERE key = ?"
        )
        source, id_, title, cwd, branch, model, begun, updated, shape, head, parent, relation, prompts = next(
            self._rows(sql, key)
        )
        link = {"conversation_id": parent, "relation": relation} if parent and relation else None
        with self._telling_damage():
            return msgspec.convert(
                {
                    "source": source, "id": id_, "title": title, "cwd": cwd, "git_branch": branch,
                    "model": model, "started_at": begun, "updated_at": updated, "shape": shape,
                    "head_id": head, "only_prompts": bool(prompts),
                    "link": link,
                },
                Conversation,
            )  # fmt: skip


class _Place(NamedTuple):
    """Where an entry lies, and what its columns have."""

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
        """The entry that lies in a block; None if that is not what was stored."""
        try:
            body = whole(data[self.start : self.start + self.size], self[6:])
            text = None if self.text is None else self.text.decode()
            return entry_of(body, text) if content_hash(body, text) == self.hash else None
        except (msgspec.MsgspecError, *BAD_VALUES):
            return None

    def from_columns(self) -> Message | Event:
        """As much of the entry as its columns have."""
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


def _place(row: tuple[Any, ...]) -> _Place:
    columns = (None if each is None else each.decode("utf-8", "replace") for each in row[6:])
    return _Place(*row[:6], *columns)


def memory_from(row: Sequence[Any]) -> Memory:
    """A memory; what the columns have, if its body is damaged."""
    source, id_, kind, about, at, text, digest, body = row
    try:
        memory = memory_of(body)
        if memory_hash(memory) == digest:
            return memory
    except (msgspec.MsgspecError, *BAD_VALUES):
        pass
    return Memory(
        id=str(id_), source=str(source), kind=kind, about=about, at=at, text=text.decode("utf-8", "replace")
    )
