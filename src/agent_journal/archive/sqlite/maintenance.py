"""Maintain the rows: forget, repair, check and copy them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import msgspec
from msgspec.structs import replace

from agent_journal.archive.bodies import entry_of, restore_columns
from agent_journal.archive.rows import content_hash, detail_of, memory_hash, memory_of, row_of
from agent_journal.archive.sqlite.activity import Activity
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json, create_private_file
from agent_journal.archive.sqlite.entries import DECODE_ERRORS, ENTRY_COLUMNS
from agent_journal.archive.sqlite.ledger import Ledger
from agent_journal.archive.sqlite.prompts import tombstone
from agent_journal.archive.sqlite.provenance import IS_FULL_CONTENT
from agent_journal.archive.sqlite.reimport import Reimport
from agent_journal.archive.sqlite.schema import SUMS, migrate
from agent_journal.archive.store import Erasing, Namesake
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.model import Event, ids, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation, Message


class Maintenance(Activity, Reimport, Ledger):
    """The part of the store that forgets, repairs, checks and copies."""

    # Forgetting

    def forget(self, key: int, at: str) -> list[int]:
        """Erase a conversation for good; return the keys to remove from the index.

        Copies in other conversations stay.
        """
        source, id_ = next(self._rows("SELECT source, id FROM conversations WHERE key = ?", key))
        removed = [row[0] for row in self._rows("SELECT key FROM timeline WHERE conversation = ?", key)]
        blocks = list(self._rows("SELECT DISTINCT block FROM timeline WHERE conversation = ?", key))
        originals = self._originals_of(removed)
        promoted = self._promote_copies(removed)
        self._remove(key, removed)
        for (block,) in blocks:
            self._repack(block)
        for table in ("usage", "usage_sums"):
            self._db.execute(f"DELETE FROM {table} WHERE conversation = ?", (key,))
        self._recount([*promoted, *originals])
        self._db.execute(
            "INSERT OR REPLACE INTO tombstones SELECT prompt, ? FROM answered WHERE conversation = ?",
            (at, key),
        )
        removed += self._drop_conversation(key)
        self._db.execute("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", (tombstone(source, id_), at))
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(gone,) for gone in removed])
        return removed

    def forget_memories(self, at: str) -> list[int]:
        """Erase every memory for good; return the keys to remove from the index."""
        memories = list(self._rows("SELECT key, source, id FROM memories"))
        removed = [(key,) for key, _, _ in memories]
        self._many(
            "INSERT OR REPLACE INTO tombstones VALUES (?, ?)",
            [(tombstone(source, id_), at) for _, source, id_ in memories],
        )
        self._db.execute("DELETE FROM memories")
        self._many("DELETE FROM also_given WHERE key = ?", removed)
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", removed)
        return [key for key, _, _ in memories]

    def _repack(self, block: int) -> None:
        """Write a block again with only what is still needed of it."""
        rows = list(self._rows("SELECT key, start, size FROM timeline WHERE block = ?", block))
        if not rows:
            return
        try:
            data = self._block(block)
        except DamagedArchive:
            return  # nothing of it is readable, so there is nothing to remove
        bodies = {(start, size): data[start : start + size] for _, start, size in rows}
        packed = self._blocks.pack(bodies.values())
        new_spans = dict(zip(bodies, self._put_blocks(packed), strict=True))
        self._many(
            "UPDATE timeline SET block = ?, start = ?, size = ? WHERE key = ?",
            [(*new_spans[start, size], key) for key, start, size in rows],
        )
        self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))

    def is_forgotten(self, source: str, id_: str) -> bool:
        """Whether the user has forgotten this conversation or memory."""
        return self._value("SELECT 1 FROM tombstones WHERE id_hash = ?", tombstone(source, id_)) is not None

    def was_forgotten(self, name: str) -> bool:
        """Whether the user has forgotten a conversation with this `source:id` or id."""
        source, _, id_ = name.partition(":")
        known = [each for (each,) in self._rows("SELECT DISTINCT reader FROM sources")]
        return any(self.is_forgotten(*each) for each in [(source, id_), *((one, name) for one in known)])

    def has_forgotten(self) -> bool:
        """Whether anything was ever forgotten."""
        return self._value("SELECT 1 FROM tombstones LIMIT 1") is not None

    def pending_erasure(self) -> Erasing | None:
        """Return what is still to be erased; None if nothing is."""
        value = self._value("SELECT value FROM journal WHERE name = 'erasing'")
        return None if value is None else msgspec.json.decode(value, type=Erasing)

    def set_pending_erasure(self, erasure: Erasing | None) -> None:
        """Store what is still to be erased."""
        if erasure is None:
            self._db.execute("DELETE FROM journal WHERE name = 'erasing'")
        else:
            value = msgspec.json.encode(erasure).decode()
            self._db.execute("INSERT OR REPLACE INTO journal VALUES ('erasing', ?)", (value,))

    def sources_of(self, conversation: int) -> list[int]:
        """Return the sources that contain a conversation."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT source FROM contents WHERE conversation = ?", conversation)
        ]

    def units_of(self, conversation: int) -> list[tuple[int, str]]:
        """Return the units that contain a conversation, as source and unit; the unit may be unknown."""
        sql = (
            "SELECT n.source, n.unit FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.conversation = ? AND {IS_FULL_CONTENT} ORDER BY n.source, n.unit"
        )
        return [(source, unit) for source, unit in self._rows(sql, conversation)]

    def is_empty_source(self, source: int) -> bool:
        """Whether the rows hold no conversation and no memory from a source."""
        memories = (
            "SELECT 1 FROM memories m WHERE given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = m.key AND a.source = ?) LIMIT 1"
        )
        return not self.conversations_of(source) and self._value(memories, source, source) is None

    def conversations_of(self, source: int) -> list[int]:
        """Return the conversations that a source contains."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT conversation FROM contents WHERE source = ?", source)
        ]

    def conversations_of_unit(self, source: int, unit: str) -> list[int]:
        """Return the conversations in a unit of a source, as far as known."""
        others = as_json(each for each in self.units(source) if each != unit)
        sql = (
            "SELECT DISTINCT n.conversation FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.source = ? AND n.unit NOT {IN_VALUES} AND {IS_FULL_CONTENT} "
            "ORDER BY n.conversation"
        )
        return [key for (key,) in self._rows(sql, source, others)]

    def namesakes(self, source: str, id_: str) -> list[Namesake]:
        """Return the conversations with this id, alone or with a folder (`ids.in_folder`)."""
        sql = (
            "SELECT c.id, c.project, n.source, n.unit, s.path FROM conversations c "
            "JOIN contents n ON n.conversation = c.key JOIN sources s ON s.key = n.source "
            "WHERE c.source = ? AND (c.id = ? OR c.id GLOB ?) ORDER BY c.id"
        )
        by_id: dict[str, Namesake] = {}
        pattern = f"{id_}.{'[0-9a-f]' * ids.FOLDER_DIGITS}"
        for name, folder, from_source, unit, path in self._rows(sql, source, id_, pattern):
            namesake = by_id.setdefault(name, Namesake(name, folder, set(), set()))
            namesake.units.add((from_source, unit))
            namesake.paths.add(path)
        return [*by_id.values()]

    def key_of(self, source: str, id_: str) -> int | None:
        """Return the key of a conversation, if it is stored."""
        key: int | None = self._value(
            "SELECT key FROM conversations WHERE source = ? AND id = ?", source, id_
        )
        return key

    def drop_snapshots(self, source: int) -> None:
        """Delete the snapshots of a source."""
        self._db.execute("DELETE FROM snapshots WHERE source = ?", (source,))

    def drop_blobs(self, blobs: list[bytes]) -> None:
        """Delete blobs from the catalog."""
        self._many("DELETE FROM blobs WHERE hash = ?", [(blob,) for blob in blobs])

    def needed_blobs(self) -> set[bytes]:
        """Return every blob that a snapshot needs."""
        return {
            blob
            for (source,) in list(self._rows("SELECT DISTINCT source FROM snapshots"))
            for snapshot in self.snapshots(source)
            for blob in snapshot.manifest.blobs()
        }

    # Repairing

    def repair_entries(
        self, conversation: int, item: Conversation, rows: list[Row], blocks: Sequence[Block] = ()
    ) -> int:
        """Write damaged entries again from intact rows; return how many.

        The bodies of the rows may be in blocks, as for `put`.
        """
        damaged_rows = self.damaged_rows(conversation)
        if not damaged_rows:
            return 0
        sound = {row.hash: row for row in self._with_bodies(rows, blocks)}
        repaired = {
            key: sound[digest] for key, (_, digest) in damaged_rows.entries.items() if digest in sound
        }
        places = self._pack([*repaired.values()], {})
        old_blocks = {self._value("SELECT block FROM timeline WHERE key = ?", key) for key in repaired}
        self._many(
            "UPDATE timeline SET id = ?, parent_id = ?, role = ?, name = ?, at = ?, model = ?, text = ?, "
            "block = ?, start = ?, size = ? WHERE key = ?",
            [(*row[:7], *place, key) for (key, row), place in zip(repaired.items(), places, strict=True)],
        )
        for block in old_blocks:
            if self._value("SELECT 1 FROM timeline WHERE block = ? LIMIT 1", block) is None:
                self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))
        if damaged_rows.detail:
            self._write_detail(conversation, item)
        return len(repaired)

    def _write_detail(self, conversation: int, item: Conversation) -> None:
        """Write the details of a conversation again from an item; columns that differ are newer and win."""
        columns = self._from_columns(conversation)
        parent = columns.link.conversation_id if columns.link else None
        has_same_link = parent == (item.link.conversation_id if item.link else None)
        merged = replace(
            item,
            title=columns.title,
            cwd=columns.cwd,
            git_branch=columns.git_branch,
            shape=columns.shape,
            head_id=columns.head_id,
            link=item.link if has_same_link else columns.link,
            only_prompts=columns.only_prompts,
        )
        detail = detail_of(merged)
        self._db.execute(
            "UPDATE conversations SET hash = ?, detail = ? WHERE key = ?",
            (content_hash(detail, None), self._blocks.compress(detail), conversation),
        )

    def accept_columns(self, conversation: int) -> None:
        """Replace damaged entries by what their columns have."""
        damaged_rows = self.damaged_rows(conversation)
        sql = f"SELECT {ENTRY_COLUMNS} FROM timeline WHERE conversation = ? ORDER BY position"
        bare = {
            stored_entry.key: row_of(stored_entry.from_columns())
            for stored_entry, entry in self._read(self._rows(sql, conversation))
            if entry is None
        }
        self._many(
            "UPDATE timeline SET hash = ? WHERE key = ?", [(row.hash, key) for key, row in bare.items()]
        )
        self.repair_entries(conversation, self._detail(conversation), [*bare.values()])
        if damaged_rows.detail:
            self._write_detail(conversation, self._from_columns(conversation))

    def rebuild_damaged_indexes(self) -> bool:
        """Rebuild the indexes of tables if one is damaged; return whether one was."""
        try:
            problems = [text for (text,) in self._rows("PRAGMA integrity_check(20)") if text != "ok"]
        except DamagedArchive:
            return False
        if not problems:
            return False
        try:
            with self.transaction():
                self._db.execute("REINDEX")
        except (DamagedArchive, CannotWrite):
            return False
        return list(self._rows("PRAGMA integrity_check(20)")) == [("ok",)]

    def repair_links(self) -> int:
        """Remove dangling references and correct sums and counts; return how many rows changed."""
        before = self._db.total_changes()
        for table, column, others, is_nullable in _DANGLING:
            if is_nullable:
                sql = f"UPDATE {table} SET {column} = NULL WHERE {column} NOT IN (SELECT key FROM {others})"
            else:
                sql = f"DELETE FROM {table} WHERE {column} NOT IN (SELECT key FROM {others})"
            self._db.execute(sql)
        if list(self._problems_of_sums()):
            self._db.execute("DELETE FROM usage_sums")
            self._db.execute(f"INSERT INTO usage_sums {SUMS.format('1')}")
        self._db.execute(
            "UPDATE conversations SET messages = n.messages, events = n.events FROM (SELECT conversation, "
            "count(role) AS messages, count(*) - count(role) AS events FROM timeline WHERE NOT earlier "
            "GROUP BY conversation) n WHERE n.conversation = conversations.key "
            "AND (conversations.messages, conversations.events) != (n.messages, n.events)"
        )
        return self._db.total_changes() - before

    def is_damaged(self) -> bool:
        """Whether the database file itself is damaged, regardless of its content."""
        try:
            is_intact = list(self._rows("PRAGMA integrity_check(5)")) == [("ok",)]
            return not is_intact or set(self._rows(_SCHEMA)) != _expected_schema()
        except DamagedArchive:
            return True

    def all_conversations(self) -> list[int]:
        """Return the keys of all conversations."""
        return [key for (key,) in self._rows("SELECT key FROM conversations ORDER BY key")]

    # The state of the index

    def removed(self) -> list[int]:
        """Return the keys that must be removed from the index."""
        return [row[0] for row in self._rows("SELECT key FROM removed")]

    def indexed_up_to(self) -> int:
        """Return the key up to which the index is complete."""
        return int(self._value("SELECT value FROM journal WHERE name = 'index_upto'") or 0)

    def mark_indexed(self, upto: int, lost: list[int]) -> None:
        """Record that the index is complete up to a key, and that these keys are removed from it."""
        self._db.execute("INSERT OR REPLACE INTO journal VALUES ('index_upto', ?)", (upto,))
        self._many("DELETE FROM removed WHERE key = ?", [(key,) for key in lost])

    def indexable(self) -> int:
        """Return how many entries a complete index has."""
        total: int = self._value(
            "SELECT (SELECT count(*) FROM timeline WHERE role IS NOT NULL AND copy_of IS NULL) "
            "+ (SELECT count(title_key) FROM conversations) + (SELECT count(*) FROM memories)"
        )
        return total

    # Checking

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield every inconsistency of the rows as (where, what); damage is reported, not raised."""
        checks = (
            self._problems_of_file,
            self._problems_of_ledger,
            self._orphans,
            self._problems_of_values,
            self._problems_of_sums,
            self._problems_of_conversations,
            self._problems_of_memories,
        )
        for check in checks:
            yield from self._stop_at_damage(check(), str(self._path))

    def _stop_at_damage(self, problems: Iterator[tuple[str, str]], where: str) -> Iterator[tuple[str, str]]:
        """Yield problems, and as the last one the error that ended the check, if any."""
        try:
            yield from problems
        except DamagedArchive as error:
            yield where, error.reason
        except (apsw.Error, msgspec.MsgspecError, *DECODE_ERRORS) as error:
            yield where, f"the database is damaged ({type(error).__name__}: {error})"

    def _problems_of_file(self) -> Iterator[tuple[str, str]]:
        for (text,) in self._rows("PRAGMA integrity_check(20)"):
            if text != "ok":
                yield str(self._path), str(text)
        if set(self._rows(_SCHEMA)) != _expected_schema():
            yield str(self._path), "its tables and views differ from those of this version"

    def _problems_of_ledger(self) -> Iterator[tuple[str, str]]:
        for (path,) in self._rows("SELECT path FROM sources WHERE imported + defects != size"):
            yield path, "imported bytes and defects do not add up to its size"
        for (key,) in list(self._rows("SELECT key FROM sources")):
            path = self.source_by_key(key).path
            for damage in filter(None, (each.manifest.damage for each in self.snapshots(key))):
                yield path, damage

    def _orphans(self) -> Iterator[tuple[str, str]]:
        for table, column, others, what in _ORPHANS:
            count = self._value(
                f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT key FROM {others})"
            )
            if count:
                yield table, f"{what} ({count:,})"

    def _problems_of_values(self) -> Iterator[tuple[str, str]]:
        """Read the values that are otherwise only used in lists and reports."""
        for table in ("journal", "tool_calls", "usage", "usage_sums"):
            for _ in self._rows(f"SELECT * FROM {table}"):
                pass
        sql = "SELECT source, id, started_at, started_ms, updated_at, updated_ms, * FROM conversations"
        for source, id_, started_at, started_ms, updated_at, updated_ms, *_ in self._rows(sql):
            if (timestamps.epoch_ms(started_at), timestamps.epoch_ms(updated_at)) != (started_ms, updated_ms):
                yield f"{source}:{id_}", "its times differ from what was stored"

    def _problems_of_sums(self) -> Iterator[tuple[str, str]]:
        """Compare sums, except costs: adding floats in another order gives other results."""
        columns = ", ".join(f"c{number}" for number in range(16))
        sql = (
            f"WITH s({columns}, cost) AS ({SUMS.format('1')}), "
            f"t({columns}, cost) AS (SELECT * FROM usage_sums), "
            f"more AS (SELECT {columns} FROM s EXCEPT SELECT {columns} FROM t), "
            f"less AS (SELECT {columns} FROM t EXCEPT SELECT {columns} FROM s) "
            "SELECT (SELECT count(*) FROM more) + (SELECT count(*) FROM less)"
        )
        if self._value(sql):
            yield "usage_sums", "the sums differ from the usage table"

    def _problems_of_conversations(self) -> Iterator[tuple[str, str]]:
        for key, source, id_ in list(self._rows("SELECT key, source, id FROM conversations")):
            name = f"{source}:{id_}"
            yield from self._stop_at_damage(self._problems_of_detail(key, name), name)
            yield from self._stop_at_damage(self._problems_of_timeline(key, name), name)

    def _problems_of_detail(self, key: int, name: str) -> Iterator[tuple[str, str]]:
        sql = (
            "SELECT source, id, title, project, git_branch, shape, head_id, parent_id, only_prompts, "
            "made_id, hash, detail FROM conversations WHERE key = ?"
        )
        *columns, digest, detail = next(self._rows(sql, key))
        with self._decode_errors_as_damage():
            is_sound = content_hash(self._blocks.decompress(detail), None) == digest
        if not is_sound:
            yield name, "its metadata is damaged"
            return
        known = self._detail(key)
        parent = known.link.conversation_id if known.link else None
        if columns != [
            known.source, known.id, known.title, known.cwd, known.git_branch, known.shape, known.head_id,
            parent, known.only_prompts, known.made_id,
        ]:  # fmt: skip
            yield name, "its columns differ from its content"

    def _problems_of_timeline(self, key: int, name: str) -> Iterator[tuple[str, str]]:
        """Decode and hash every entry, and compare it with its columns."""
        positions: list[int] = []
        counts = [0, 0]
        current_block, data = None, b""
        sql = (
            "SELECT id, parent_id, role, name, at, model, text, hash, position, earlier, block, start, size "
            "FROM timeline WHERE conversation = ?"
        )
        for *columns, text, digest, position, earlier, block, start, size in list(self._rows(sql, key)):
            where = f"{name}@{columns[0]}"
            if not earlier:
                positions.append(position)
                counts[columns[2] is None] += 1
            try:
                if block != current_block:
                    current_block, data = block, b""
                    data = self._block(block)
            except DamagedArchive as error:
                yield where, error.reason
            body = restore_columns(data[start : start + size], columns)
            if content_hash(body, text) != digest:
                yield where, "its content differs from what was stored"
            elif columns != _columns_of(entry_of(body, text)):
                yield where, "its columns differ from its content"
        stated = next(self._rows("SELECT messages, events FROM conversations WHERE key = ?", key))
        if stated != tuple(counts):
            counted = f"{counts[0]} messages and {counts[1]} events"
            yield name, f"{counted}, but {stated[0]} and {stated[1]} are stated"
        if sorted(positions) != list(range(len(positions))):
            yield name, "the positions of its entries are not consecutive"

    def _problems_of_memories(self) -> Iterator[tuple[str, str]]:
        sql = "SELECT source, id, kind, about, at, text, hash, body FROM memories"
        for *columns, digest, body in list(self._rows(sql)):
            yield from self._stop_at_damage(
                _problems_of_memory(columns, digest, body), f"{columns[0]}:{columns[1]}"
            )

    # Copying

    def backup(self, path: Path) -> None:
        """Copy the database as of one moment, while others read and write."""
        create_private_file(path)  # SQLite would create it readable for others
        try:
            self._db.execute("VACUUM INTO ?", (str(path),))
        except (apsw.FullError, apsw.IOError) as error:
            raise CannotWrite(
                str(path), str(error)
            ) from error  # the copy is on the full disk, not the journal
        except apsw.CorruptError:
            self._copy_pages(path)
        except apsw.Error as error:
            raise self._public_error(error) from error

    def _copy_pages(self, path: Path) -> None:
        """Copy the database page by page with its damage, because everything else is worth keeping."""
        path.unlink()
        create_private_file(path)
        try:
            with (
                closing(apsw.Connection(str(path))) as copy,
                copy.backup("main", self._db, "main") as copying,
            ):
                while not copying.done:
                    copying.step(1000)
        except apsw.Error as error:
            raise self._public_error(error) from error

    def compact(self) -> None:
        """Free the space of what was erased, so that nothing of it is left in the file or its log."""
        try:
            self._db.execute("VACUUM")
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.LockedError) as error:
            reason = (
                "another process is reading the journal, so the erased bytes are still on disk; "
                "the next 'aj sync' removes them"
            )
            raise CannotWrite(f"{self._path}-wal", reason) from error
        except apsw.Error as error:
            raise self._public_error(error) from error


# References that may dangle: table, column, referenced table, and whether to clear the column or delete the
# row.
_DANGLING = (
    ("timeline", "given_by", "sources", True),
    ("memories", "given_by", "sources", True),
    ("timeline", "copy_of", "timeline", True),
    ("conversations", "twin_of", "conversations", True),
    ("also_given", "source", "sources", False),
    ("also_given", "key", "(SELECT key FROM timeline UNION ALL SELECT key FROM memories)", False),
    ("answered", "conversation", "conversations", False),
    ("tool_calls", "message", "timeline", False),
    ("usage", "message", "timeline", False),
    ("usage", "conversation", "conversations", False),
    ("blocks", "key", "(SELECT block AS key FROM timeline)", False),
)
_ENTRIES_AND_MEMORIES = "(SELECT key FROM timeline UNION ALL SELECT key FROM memories)"
_ORPHANS = (
    ("timeline", "conversation", "conversations", "entry without a conversation"),
    ("timeline", "block", "blocks", "entry without content"),
    ("timeline", "copy_of", "timeline", "copy without its original"),
    ("blocks", "key", "(SELECT block AS key FROM timeline)", "content without an entry"),
    ("tool_calls", "message", "timeline", "tool call without a message"),
    ("usage", "message", "timeline", "usage without a message"),
    ("usage", "conversation", "conversations", "usage without a conversation"),
    ("usage_sums", "conversation", "conversations", "usage without a conversation"),
    ("conversations", "twin_of", "conversations", "duplicate of a missing conversation"),
    ("contents", "source", "sources", "content without a source"),
    ("contents", "conversation", "conversations", "missing conversation of a source"),
    ("answered", "conversation", "conversations", "prompt without a conversation"),
    ("timeline", "given_by", "sources", "entry without a source"),
    ("memories", "given_by", "sources", "memory without a source"),
    ("also_given", "source", "sources", "provenance without a source"),
    ("also_given", "key", _ENTRIES_AND_MEMORIES, "provenance without an entry"),
    ("snapshots", "source", "sources", "snapshot without a source"),
)


def _columns_of(entry: Message | Event) -> list[str | None]:
    """Return the columns of an entry."""
    if isinstance(entry, Event):
        return [entry.id, entry.parent_id, None, entry.name, entry.at, None]
    return [entry.id, entry.parent_id, entry.role, None, entry.at, entry.model]


def _problems_of_memory(columns: list[str | None], digest: bytes, body: bytes) -> Iterator[tuple[str, str]]:
    memory = memory_of(body)
    if memory_hash(memory) != digest:
        yield f"{columns[0]}:{columns[1]}", "its content differs from what was stored"
    elif columns != [memory.source, memory.id, memory.kind, memory.about, memory.at, memory.text]:
        yield f"{columns[0]}:{columns[1]}", "its columns differ from its content"


_SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"


def _expected_schema() -> set[tuple[str, str, str]]:
    with closing(apsw.Connection(":memory:")) as empty:
        migrate(empty, 0)
        return set(empty.execute(_SCHEMA))
