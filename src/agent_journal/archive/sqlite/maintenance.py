"""Looking after the rows: what no longer fits together, erasing, copying."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import msgspec
from msgspec.structs import replace

from agent_journal.archive.bodies import entry_of, whole
from agent_journal.archive.rows import content_hash, detail_of, memory_hash, memory_of, row_of
from agent_journal.archive.sqlite.connection import AMONG, as_json, created
from agent_journal.archive.sqlite.entries import BAD_VALUES, PLACE
from agent_journal.archive.sqlite.ledger import Ledger
from agent_journal.archive.sqlite.prompts import tombstone
from agent_journal.archive.sqlite.provenance import TELLS
from agent_journal.archive.sqlite.reimport import Again
from agent_journal.archive.sqlite.schema import SUMS, bring_up
from agent_journal.archive.sqlite.spending import Spending
from agent_journal.archive.store import Erasing
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.model import Event, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation, Message


class Care(Spending, Again, Ledger):
    """The part of the store that keeps it whole."""

    # Forgetting

    def forget(self, key: int, at: str) -> list[int]:
        """Erase a conversation and remember that it must not come back; keys the index must lose.

        What other conversations copied from it stays theirs.
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
        """Erase every memory and remember that they must not come back; keys the index must lose."""
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
        """Let a block hold only what is still needed of it."""
        rows = list(self._rows("SELECT key, start, size FROM timeline WHERE block = ?", block))
        if not rows:
            return
        try:
            data = self._block(block)
        except DamagedArchive:
            return  # nothing of it can be read, so nothing of it is left that could be taken away
        bodies = {(start, size): data[start : start + size] for _, start, size in rows}
        left = iter(bodies)
        moved = {}
        for packed, spans in self._blocks.packed(bodies.values()):
            new = self._db_insert("INSERT INTO blocks (data) VALUES (?)", packed)
            moved.update({next(left): (new, *span) for span in spans})
        self._many(
            "UPDATE timeline SET block = ?, start = ?, size = ? WHERE key = ?",
            [(*moved[start, size], key) for key, start, size in rows],
        )
        self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))

    def is_forgotten(self, source: str, id_: str) -> bool:
        """Whether a person asked that this conversation or memory be erased."""
        return self._value("SELECT 1 FROM tombstones WHERE id_hash = ?", tombstone(source, id_)) is not None

    def was_forgotten(self, name: str) -> bool:
        """Whether a person asked that a conversation of this `source:id`, or id, be erased."""
        source, _, id_ = name.partition(":")
        known = [each for (each,) in self._rows("SELECT DISTINCT reader FROM sources")]
        return any(self.is_forgotten(*each) for each in [(source, id_), *((one, name) for one in known)])

    def has_forgotten(self) -> bool:
        """Whether anything was ever forgotten."""
        return self._value("SELECT 1 FROM tombstones LIMIT 1") is not None

    def erasing(self) -> Erasing | None:
        """What is left to be erased; None if nothing is."""
        found = self._value("SELECT value FROM journal WHERE name = 'erasing'")
        return None if found is None else msgspec.json.decode(found, type=Erasing)

    def set_erasing(self, what: Erasing | None) -> None:
        """Remember what is left to be erased."""
        if what is None:
            self._db.execute("DELETE FROM journal WHERE name = 'erasing'")
        else:
            value = msgspec.json.encode(what).decode()
            self._db.execute("INSERT OR REPLACE INTO journal VALUES ('erasing', ?)", (value,))

    def sources_of(self, conversation: int) -> list[int]:
        """The sources that hold a conversation."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT source FROM contents WHERE conversation = ?", conversation)
        ]

    def units_of(self, conversation: int) -> list[tuple[int, str]]:
        """The units that tell a conversation, each with its source; of some, only that is known."""
        sql = (
            "SELECT n.source, n.unit FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.conversation = ? AND {TELLS} ORDER BY n.source, n.unit"
        )
        return [(source, unit) for source, unit in self._rows(sql, conversation)]

    def holds_nothing(self, source: int) -> bool:
        """Whether no conversation and no memory is there that a source gave."""
        memories = (
            "SELECT 1 FROM memories m WHERE given_by = ? OR EXISTS "
            "(SELECT 1 FROM also_given a WHERE a.key = m.key AND a.source = ?) LIMIT 1"
        )
        return not self.conversations_of(source) and self._value(memories, source, source) is None

    def conversations_of(self, source: int) -> list[int]:
        """The conversations that a source holds."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT conversation FROM contents WHERE source = ?", source)
        ]

    def told_by(self, source: int, unit: str) -> list[int]:
        """The conversations that a unit of a source tells, as far as that is known."""
        others = as_json(each for each in self.units(source) if each != unit)
        sql = (
            "SELECT DISTINCT n.conversation FROM contents n JOIN conversations c ON c.key = n.conversation "
            f"WHERE n.source = ? AND n.unit NOT {AMONG} AND {TELLS} "
            "ORDER BY n.conversation"
        )
        return [key for (key,) in self._rows(sql, source, others)]

    def key_of(self, source: str, id_: str) -> int | None:
        """The key of a conversation."""
        key: int | None = self._value(
            "SELECT key FROM conversations WHERE source = ? AND id = ?", source, id_
        )
        return key

    def drop_snapshots(self, source: int) -> None:
        """Forget what a source consisted of."""
        self._db.execute("DELETE FROM snapshots WHERE source = ?", (source,))

    def drop_blobs(self, blobs: list[bytes]) -> None:
        """Forget where blobs lie."""
        self._many("DELETE FROM blobs WHERE hash = ?", [(blob,) for blob in blobs])

    def needed_blobs(self) -> set[bytes]:
        """Every blob that a snapshot consists of."""
        return {
            blob
            for (source,) in list(self._rows("SELECT DISTINCT source FROM snapshots"))
            for snapshot in self.snapshots(source)
            for blob in snapshot.manifest.blobs()
        }

    # Mending

    def mend(self, conversation: int, item: Conversation, rows: Sequence[Row]) -> int:
        """Write again what is damaged of a conversation and sound in these rows; how many entries."""
        unsound = self.unsound(conversation)
        sound = {row.hash: row for row in rows}
        mended = {key: sound[digest] for key, (_, digest) in unsound.entries.items() if digest in sound}
        places = self._pack([*mended.values()], {})
        held = {self._value("SELECT block FROM timeline WHERE key = ?", key) for key in mended}
        self._many(
            "UPDATE timeline SET id = ?, parent_id = ?, role = ?, name = ?, at = ?, model = ?, text = ?, "
            "block = ?, start = ?, size = ? WHERE key = ?",
            [(*row[:7], *place, key) for (key, row), place in zip(mended.items(), places, strict=True)],
        )
        for block in held:
            if self._value("SELECT 1 FROM timeline WHERE block = ? LIMIT 1", block) is None:
                self._db.execute("DELETE FROM blocks WHERE key = ?", (block,))
        if unsound.detail:
            self._write_detail(conversation, item)
        return len(mended)

    def _write_detail(self, conversation: int, item: Conversation) -> None:
        """Write what is known of a conversation again, as an item has it; columns that differ came later."""
        columns = self._from_columns(conversation)
        parent = columns.link.conversation_id if columns.link else None
        is_linked_so = parent == (item.link.conversation_id if item.link else None)
        whole = replace(
            item,
            title=columns.title,
            cwd=columns.cwd,
            git_branch=columns.git_branch,
            shape=columns.shape,
            head_id=columns.head_id,
            link=item.link if is_linked_so else columns.link,
            only_prompts=columns.only_prompts,
        )
        detail = detail_of(whole)
        self._db.execute(
            "UPDATE conversations SET hash = ?, detail = ? WHERE key = ?",
            (content_hash(detail, None), self._blocks.small(detail), conversation),
        )

    def settle_for_columns(self, conversation: int) -> None:
        """Let what the columns have of damaged entries be all that there is of them."""
        unsound = self.unsound(conversation)
        sql = f"SELECT {PLACE} FROM timeline WHERE conversation = ? ORDER BY position"
        bare = {
            place.key: row_of(place.from_columns())
            for place, entry in self._read(self._rows(sql, conversation))
            if entry is None
        }
        self._many(
            "UPDATE timeline SET hash = ? WHERE key = ?", [(row.hash, key) for key, row in bare.items()]
        )
        self.mend(conversation, self._detail(conversation), [*bare.values()])
        if unsound.detail:
            self._write_detail(conversation, self._from_columns(conversation))

    def mend_indexes(self) -> bool:
        """Make the indexes of tables again if one does not fit its table; whether one did not."""
        try:
            found = [text for (text,) in self._rows("PRAGMA integrity_check(20)") if text != "ok"]
        except DamagedArchive:
            return False
        if not found:
            return False
        try:
            with self.transaction():
                self._db.execute("REINDEX")
        except (DamagedArchive, CannotWrite):
            return False
        return list(self._rows("PRAGMA integrity_check(20)")) == [("ok",)]

    def mend_links(self) -> int:
        """Let nothing point to what is not there, and sums and counts be those of the rows; how many were."""
        before = self._db.total_changes()
        for table, column, others, instead in _LOOSE:
            if instead:
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
        """Whether the database itself does not fit together, whatever is in it."""
        try:
            is_whole = list(self._rows("PRAGMA integrity_check(5)")) == [("ok",)]
            return not is_whole or set(self._rows(_SCHEMA)) != _expected_schema()
        except DamagedArchive:
            return True

    def all_conversations(self) -> list[int]:
        """The keys of all conversations."""
        return [key for (key,) in self._rows("SELECT key FROM conversations ORDER BY key")]

    # The index's account

    def removed(self) -> list[int]:
        """Keys that the index must lose."""
        return [row[0] for row in self._rows("SELECT key FROM removed")]

    def index_upto(self) -> int:
        """Up to which key the index was said to know everything."""
        return int(self._value("SELECT value FROM journal WHERE name = 'index_upto'") or 0)

    def index_is_at(self, upto: int, lost: list[int]) -> None:
        """The index knows everything up to a key, and has lost these."""
        self._db.execute("INSERT OR REPLACE INTO journal VALUES ('index_upto', ?)", (upto,))
        self._many("DELETE FROM removed WHERE key = ?", [(key,) for key in lost])

    def indexable(self) -> int:
        """How many entries a whole index has."""
        total: int = self._value(
            "SELECT (SELECT count(*) FROM timeline WHERE role IS NOT NULL AND copy_of IS NULL) "
            "+ (SELECT count(title_key) FROM conversations) + (SELECT count(*) FROM memories)"
        )
        return total

    # Checking

    def problems(self) -> Iterator[tuple[str, str]]:
        """Everything in the rows that does not fit together: where, and what. Damage is told, not raised."""
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
            yield from self._guarded(check(), str(self._path))

    def _guarded(self, found: Iterator[tuple[str, str]], where: str) -> Iterator[tuple[str, str]]:
        """Problems, and as the last of them what made it impossible to look further."""
        try:
            yield from found
        except DamagedArchive as error:
            yield where, error.reason
        except (apsw.Error, msgspec.MsgspecError, *BAD_VALUES) as error:
            yield where, f"the database is damaged ({type(error).__name__}: {error})"

    def _problems_of_file(self) -> Iterator[tuple[str, str]]:
        for (text,) in self._rows("PRAGMA integrity_check(20)"):
            if text != "ok":
                yield str(self._path), str(text)
        if set(self._rows(_SCHEMA)) != _expected_schema():
            yield str(self._path), "its tables and views are not those of this version"

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
        """What is read in lists and reports, and never decoded otherwise."""
        for table in ("journal", "tool_calls", "usage", "usage_sums"):
            for _ in self._rows(f"SELECT * FROM {table}"):
                pass
        sql = "SELECT source, id, started_at, started_ms, updated_at, updated_ms, * FROM conversations"
        for source, id_, started_at, started_ms, updated_at, updated_ms, *_ in self._rows(sql):
            if (timestamps.epoch_ms(started_at), timestamps.epoch_ms(updated_at)) != (started_ms, updated_ms):
                yield f"{source}:{id_}", "its times are not what was stored"

    def _problems_of_sums(self) -> Iterator[tuple[str, str]]:
        """Sums are integers but for what sources say it cost, which is added in another order each time."""
        columns = ", ".join(f"c{place}" for place in range(16))
        sql = (
            f"WITH s({columns}, cost) AS ({SUMS.format('1')}), "
            f"t({columns}, cost) AS (SELECT * FROM usage_sums), "
            f"more AS (SELECT {columns} FROM s EXCEPT SELECT {columns} FROM t), "
            f"less AS (SELECT {columns} FROM t EXCEPT SELECT {columns} FROM s) "
            "SELECT (SELECT count(*) FROM more) + (SELECT count(*) FROM less)"
        )
        if self._value(sql):
            yield "usage_sums", "the sums of what was used are not those of the usage table"

    def _problems_of_conversations(self) -> Iterator[tuple[str, str]]:
        for key, source, id_ in list(self._rows("SELECT key, source, id FROM conversations")):
            name = f"{source}:{id_}"
            yield from self._guarded(self._problems_of_detail(key, name), name)
            yield from self._guarded(self._problems_of_timeline(key, name), name)

    def _problems_of_detail(self, key: int, name: str) -> Iterator[tuple[str, str]]:
        sql = (
            "SELECT source, id, title, project, git_branch, shape, head_id, parent_id, only_prompts, "
            "made_id, hash, detail FROM conversations WHERE key = ?"
        )
        *columns, digest, detail = next(self._rows(sql, key))
        with self._telling_damage():
            is_sound = content_hash(self._blocks.unpacked(detail), None) == digest
        if not is_sound:
            yield name, "what is known of it is damaged"
            return
        known = self._detail(key)
        parent = known.link.conversation_id if known.link else None
        if columns != [
            known.source, known.id, known.title, known.cwd, known.git_branch, known.shape, known.head_id,
            parent, known.only_prompts, known.made_id,
        ]:  # fmt: skip
            yield name, "its columns are not what was stored"

    def _problems_of_timeline(self, key: int, name: str) -> Iterator[tuple[str, str]]:
        """Every entry is decoded, hashed, and compared with the columns that people read."""
        places: list[int] = []
        counts = [0, 0]
        held, data = None, b""
        sql = (
            "SELECT id, parent_id, role, name, at, model, text, hash, position, earlier, block, start, size "
            "FROM timeline WHERE conversation = ?"
        )
        for *columns, text, digest, position, earlier, block, start, size in list(self._rows(sql, key)):
            where = f"{name}@{columns[0]}"
            if not earlier:
                places.append(position)
                counts[columns[2] is None] += 1
            try:
                if block != held:
                    held, data = block, b""
                    data = self._block(block)
            except DamagedArchive as error:
                yield where, error.reason
            body = whole(data[start : start + size], columns)
            if content_hash(body, text) != digest:
                yield where, "its content is not what was stored"
            elif columns != _columns_of(entry_of(body, text)):
                yield where, "its columns are not what was stored"
        stated = next(self._rows("SELECT messages, events FROM conversations WHERE key = ?", key))
        if stated != tuple(counts):
            found = f"{counts[0]} messages and {counts[1]} events"
            yield name, f"{found}, but {stated[0]} and {stated[1]} were counted"
        if sorted(places) != list(range(len(places))):
            yield name, "its entries do not stand one behind the other"

    def _problems_of_memories(self) -> Iterator[tuple[str, str]]:
        sql = "SELECT source, id, kind, about, at, text, hash, body FROM memories"
        for *columns, digest, body in list(self._rows(sql)):
            yield from self._guarded(_problems_of_memory(columns, digest, body), f"{columns[0]}:{columns[1]}")

    # Copying

    def backup(self, path: Path) -> None:
        """A copy of the database of one moment, while others read and write."""
        created(path)  # SQLite would let others read it
        try:
            self._db.execute("VACUUM INTO ?", (str(path),))
        except (apsw.FullError, apsw.IOError) as error:
            raise CannotWrite(str(path), str(error)) from error  # it is the copy that has no room
        except apsw.CorruptError:
            self._copy_pages(path)
        except apsw.Error as error:
            raise self._told(error) from error

    def _copy_pages(self, path: Path) -> None:
        """Copy the database as it is, damage and all: what is around that is worth keeping."""
        path.unlink()
        created(path)
        try:
            with (
                closing(apsw.Connection(str(path))) as copy,
                copy.backup("main", self._db, "main") as copying,
            ):
                while not copying.done:
                    copying.step(1000)
        except apsw.Error as error:
            raise self._told(error) from error

    def compact(self) -> None:
        """Give back what was erased, so that nothing of it is left in the file or beside it."""
        try:
            self._db.execute("VACUUM")
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.LockedError) as error:
            reason = (
                "somebody reads the journal, so what is erased is still there; the next 'aj sync' goes on"
            )
            raise CannotWrite(f"{self._path}-wal", reason) from error
        except apsw.Error as error:
            raise self._told(error) from error


# What may point to nothing, to what, and whether that is then unknown, or else all there is to it goes.
_LOOSE = (
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
_GIVEN = "(SELECT key FROM timeline UNION ALL SELECT key FROM memories)"
_ORPHANS = (
    ("timeline", "conversation", "conversations", "an entry of no conversation"),
    ("timeline", "block", "blocks", "an entry whose content is missing"),
    ("timeline", "copy_of", "timeline", "a copy without its original"),
    ("blocks", "key", "(SELECT block AS key FROM timeline)", "content of no entry"),
    ("tool_calls", "message", "timeline", "a tool call of no message"),
    ("usage", "message", "timeline", "usage of no message"),
    ("usage", "conversation", "conversations", "usage of no conversation"),
    ("usage_sums", "conversation", "conversations", "usage of no conversation"),
    ("conversations", "twin_of", "conversations", "a twin of no conversation"),
    ("contents", "source", "sources", "content of no source"),
    ("contents", "conversation", "conversations", "a source's conversation that is not there"),
    ("answered", "conversation", "conversations", "a prompt that nothing tells"),
    ("timeline", "given_by", "sources", "an entry of no source"),
    ("memories", "given_by", "sources", "a memory of no source"),
    ("also_given", "source", "sources", "something that no source gave"),
    ("also_given", "key", _GIVEN, "a source of nothing"),
    ("snapshots", "source", "sources", "a snapshot of no source"),
)


def _columns_of(entry: Message | Event) -> list[str | None]:
    """What the columns say of an entry."""
    if isinstance(entry, Event):
        return [entry.id, entry.parent_id, None, entry.name, entry.at, None]
    return [entry.id, entry.parent_id, entry.role, None, entry.at, entry.model]


def _problems_of_memory(columns: list[str | None], digest: bytes, body: bytes) -> Iterator[tuple[str, str]]:
    memory = memory_of(body)
    if memory_hash(memory) != digest:
        yield f"{columns[0]}:{columns[1]}", "its content is not what was stored"
    elif columns != [memory.source, memory.id, memory.kind, memory.about, memory.at, memory.text]:
        yield f"{columns[0]}:{columns[1]}", "its columns are not what was stored"


_SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"


def _expected_schema() -> set[tuple[str, str, str]]:
    with closing(apsw.Connection(":memory:")) as empty:
        bring_up(empty, 0)
        return set(empty.execute(_SCHEMA))
