"""Conversations and memories: brought in, and merged with what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.archive import encoded, message_matching
from agent_journal.archive.bodies import entry_of
from agent_journal.archive.merge import Says, Stored, merged_detail, planned, preference
from agent_journal.archive.rows import content_hash, detail_of, memory_hash, messages_in, says_all
from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.copies import SAID
from agent_journal.archive.sqlite.counting import name_of
from agent_journal.archive.sqlite.duplicates import Duplicates
from agent_journal.archive.sqlite.indexed import Indexable, indexed, remembered, titled
from agent_journal.archive.sqlite.prompts import Prompts
from agent_journal.archive.store import Change
from agent_journal.model import timestamps, tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.merge import Plan
    from agent_journal.archive.rows import Row
    from agent_journal.archive.sqlite.entries import Original
    from agent_journal.archive.store import Indexed
    from agent_journal.model import Conversation, Memory

_KNOWN = (
    "SELECT key, detail, title, title_key, opening, reader, version, model, project, git_branch, started_at, "
    "updated_at, only_prompts, messages FROM conversations WHERE source = ? AND id = ?"
)
_NEVER = (1 << 63) - 1


class _Known(NamedTuple):
    key: int
    detail: bytes
    title: str | None
    title_key: int | None
    opening: bytes | None
    reader: str | None
    version: str | None
    model: str | None
    project: str | None
    git_branch: str | None
    started_at: str | None
    updated_at: str | None
    only_prompts: int
    messages: int

    @property
    def tells(self) -> bool:
        """Whether something is known that was said beyond prompts."""
        return bool(self.messages and not self.only_prompts)


class Conversations(Prompts, Duplicates, Indexable):
    """The part of the store that brings in what was said."""

    def put(
        self,
        conversation: Conversation,
        rows: list[Row],
        source: int,
        blocks: Sequence[Block] = (),
        *,
        is_past: bool = False,
    ) -> Change:
        """Bring in a conversation, or merge it with what is there.

        Bodies of the rows may be in blocks already; the rows have none then. What is of the past does not
        stand above what is there, whatever its time.
        """
        row = next(self._rows(_KNOWN, conversation.source, conversation.id), None)
        known = None if row is None else _Known(*row)
        if conversation.only_prompts:
            return self._put_prompts(conversation, rows, known, source, blocks, is_past=is_past)
        gone: list[int] = []
        if known is None:
            change = self._add(conversation, rows, source, blocks)
        elif known.only_prompts and messages_in(rows):
            gone = self._cleared(known.key)
            change = self._add(conversation, rows, source, blocks, known.key)
        else:
            rows = self._with_bodies(rows, blocks)
            change = self._merge(conversation, rows, known, source, is_past=is_past)
        self._hold(source, change.conversation, unit_of(conversation), only_prompts=False)
        if change.added:
            gone += self._take_prompts(conversation, change.conversation, rows)
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in gone])
        return change._replace(removed=[*change.removed, *gone]) if gone else change

    def _put_prompts(
        self,
        conversation: Conversation,
        rows: list[Row],
        known: _Known | None,
        source: int,
        blocks: Sequence[Block],
        *,
        is_past: bool,
    ) -> Change:
        """Bring in what a list of prompts tells, as far as nothing tells more."""
        unit, there = unit_of(conversation), known.key if known else 0
        if known is not None and known.tells and self._is_told(there, source, unit):
            self._hold(source, there, unit, only_prompts=True)
            self._came(source, there, ())
            return Change(there, 0, 0, [], [])
        all_rows, tellers = rows, list[int]()
        if conversation.made_id:
            rows, blocks = self._with_bodies(rows, blocks), ()
            rows, tellers = self._unanswered(conversation, rows, source, unit)
        is_called_so = known is not None and conversation.title in {None, known.title}
        if is_called_so and self._is_held(source, there, unit, rows):
            return Change(there, 0, 0, [], [])
        if conversation.made_id:
            rows, new = self._newly_answered(conversation, rows, source, unit)
            if all_rows and not rows:
                return Change(next(iter((*tellers, *new)), there), 0, 0, [], [])
            conversation = _narrowed(conversation, rows) if len(rows) < len(all_rows) else conversation
        if known is None:
            change = self._add(conversation, rows, source, blocks)
        else:
            rows = self._with_bodies(rows, blocks)
            change = self._merge(conversation, rows, known, source, is_past=is_past)
        self._hold(source, change.conversation, unit, only_prompts=True)
        return change

    def _add(
        self,
        conversation: Conversation,
        rows: list[Row],
        source: int,
        blocks: Sequence[Block],
        free: int | None = None,
    ) -> Change:
        """Bring in a conversation that is not there, under a key that is free, else under a new one."""
        key: int = free or self._value("SELECT coalesce(max(key), 0) + 1 FROM conversations")
        title_key = self._new_key() if conversation.title else None
        columns = {
            "key": key,
            "source": conversation.source,
            "id": conversation.id,
            "title_key": title_key,
            "opening": _opening_of(conversation, rows),
            "messages": messages_in(rows),
            "events": len(rows) - messages_in(rows),
            **self._columns(conversation, rows),
        }
        copies = self._copies(key, conversation.source, rows) or self._twin_of(
            key, columns, rows, (source, unit_of(conversation)), blocks
        )
        places = ", ".join("?" * len(columns))
        self._db.execute(
            f"INSERT INTO conversations ({', '.join(columns)}) VALUES ({places})", tuple(columns.values())
        )
        if copies:
            rows, blocks = self._with_bodies(rows, blocks), ()
        keys = self._insert(key, [(place, 0, row) for place, row in enumerate(rows)], copies, source, blocks)
        self._came(source, key, (new for new, _ in keys))
        self._count(conversation, key, keys, copies)
        entries = self._new_entries(key, conversation, keys, copies)
        if title_key:
            entries.append(titled(title_key, key, conversation))
        return Change(key, messages_in(rows), 0, entries, [])

    def _merge(
        self, conversation: Conversation, rows: list[Row], known: _Known, source: int, *, is_past: bool
    ) -> Change:
        key = known.key
        wanted = self._preference(conversation, known, source)
        is_anew = self._begins_anew(source, key)
        is_newer = wanted > 0 or (
            not (wanted or is_past) and (is_anew or _is_newer(conversation, rows, known.updated_at))
        )
        whole = conversation if is_anew else self._whole(conversation, known, is_newer=is_newer)
        if conversation.only_prompts or known.only_prompts:
            # What was pasted into a prompt may be gone by now; what was there of it stays.
            whole, is_newer = replace(whole, only_prompts=True), False
        is_filed_anew = (whole.cwd, whole.git_branch) != (known.project, known.git_branch)
        last = self.last_key() if is_filed_anew else 0
        removed = self._file_anew(key) if is_filed_anew else []
        stored = self._stored(key)
        same = self._same(key, stored, rows) if wanted else {}
        again = source if source in self._anew else None
        plan = planned(stored, rows, is_newer=is_newer, compare=self._compared, same=same, again=again)
        added = [row for _, row in plan.added]
        copies = self._copies(key, conversation.source, added) or self._copies_of_twin(key, added)
        self._carry_out(key, plan)
        keys = self._insert(key, _additions(plan), copies, source)
        self._came(source, key, (*plan.given, *(new for new, _ in keys)))
        self._note_givers(source, stored, plan, keys)
        pairs = _pairs(plan, keys)
        self._let_go(key, [(old, new, name_of(conversation, row)) for old, new, row in pairs])
        self._count(conversation, key, keys[: len(added)], copies, _there(stored, rows))
        removed += self._replace(key, pairs)
        title_key = known.title_key
        if is_titled_anew := is_filed_anew or whole.title != known.title:
            removed += [title_key] if title_key else []
            title_key = self._new_key() if whole.title else None
        self._update(key, whole, rows, title_key, None if is_anew else known)
        entries = (
            self._indexed_of(key, last) if is_filed_anew else self._new_entries(key, whole, keys, copies)
        )
        if is_titled_anew and title_key:
            entries.append(titled(title_key, key, whole))
        if added and known.opening is None and not whole.only_prompts:
            late = self._twin_met_late(key, (source, unit_of(conversation)))
            if late:
                self._fold(conversation, key, late)
                removed += late
                entries = [entry for entry in entries if entry.key not in late]
        if added or is_filed_anew:
            entries += self._indexed_by_key(self._judge_twins(key))
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(gone,) for gone in removed])
        changed = messages_in(row for _, row in plan.replaced) + len(plan.superseded)
        new = max(0, messages_in(added) - changed)
        return Change(key, new, changed + len(plan.earlier), entries, removed, plan.leaves)

    def _file_anew(self, conversation: int) -> list[int]:
        """Give entries new keys, under which the index learns by what else they are found; the old keys."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND copy_of IS NULL AND role IS NOT NULL"
        old = sorted(key for (key,) in self._rows(sql, conversation))
        self._rekey(conversation, {key: self._new_key() for key in old})
        return old

    def _preference(self, conversation: Conversation, known: _Known, source: int) -> int:
        """Which of two forms is shown; a file that turns out to be of another version as it grows is one."""
        wanted = preference(conversation.origin, known.reader, known.version)
        unit = unit_of(conversation)
        if not (wanted and unit):
            return wanted
        elsewhere = (
            "SELECT 1 FROM contents WHERE conversation = ? AND (source, unit) != (?, ?) "
            "AND NOT only_prompts LIMIT 1"
        )
        return 0 if self._value(elsewhere, known.key, source, unit) is None else wanted

    def _new_entries(
        self,
        key: int,
        conversation: Conversation,
        keys: list[tuple[int, Row]],
        copies: dict[bytes, Original],
    ) -> list[Indexed]:
        """What the index is given of new rows; copies are found where their originals are."""
        new = [(number, row) for number, row in keys if row.hash not in copies]
        called = self._called(key) if any(row.calls for _, row in new) else {}
        return indexed(key, conversation, new, called)

    def _indexed_by_key(self, keys: Collection[int]) -> list[Indexed]:
        """What the index is given of entries, in the order of their keys."""
        sql = f"SELECT DISTINCT conversation FROM timeline WHERE key {AMONG}"
        numbers = [row[0] for row in self._rows(sql, as_json(keys))] if keys else []
        found = [entry for number in numbers for entry in self.indexed_of(number, set(keys))]
        return sorted(found, key=lambda entry: entry.key)

    def _whole(self, conversation: Conversation, known: _Known, *, is_newer: bool) -> Conversation:
        before = self._detail(known.key)
        return merged_detail(conversation, before) if is_newer else merged_detail(before, conversation)

    def _stored(self, key: int) -> list[Stored]:
        sql = (
            "SELECT key, id, earlier, hash, position, given_by, at FROM timeline WHERE conversation = ? "
            "ORDER BY position"
        )
        return [Stored(*row) for row in self._rows(sql, key)]

    def _compared(self, key: int, row: Row) -> Says:
        old, new = self._entry(key), entry_of(row.body, row.text)
        return Says(says_all(new, old), says_all(old, new))

    def _same(self, key: int, stored: list[Stored], rows: list[Row]) -> dict[int, int]:
        """Rows of another form of the conversation, by place, that are stored under other ids, by key."""
        ids = {entry.id for entry in stored}
        ours = ((place, row.role, row.text, row.at) for place, row in enumerate(rows) if row.id not in ids)
        theirs = message_matching.said_in(self._rows(SAID, key), at_any_time=True)
        came = {row.id for row in rows}
        taken = {entry.key for entry in stored if entry.id in came}
        return message_matching.matches(
            message_matching.said_in(ours, at_any_time=True),
            [each for each in theirs if each.key not in taken],
        )

    def _carry_out(self, conversation: int, plan: Plan) -> None:
        self._many("UPDATE timeline SET position = ? WHERE key = ?", [(to, key) for key, to in plan.moved])
        self._many(
            "UPDATE timeline SET earlier = ? WHERE key = ?", [(to, key) for key, to in plan.superseded]
        )
        # What is counted is what is shown.
        self._drop_calls(conversation, [key for key, _ in plan.superseded])

    def _replace(self, conversation: int, pairs: list[tuple[int, int, Row]]) -> list[int]:
        """Let what points to replaced entries point to those in their place; keys the index must lose."""
        self._many("UPDATE timeline SET copy_of = ? WHERE copy_of = ?", [(new, old) for old, new, _ in pairs])
        self._many(
            "UPDATE tool_calls SET answered_by = ? WHERE conversation = ? AND answered_by = ?",
            [(new, conversation, old) for old, new, _ in pairs],
        )
        replaced = [old for old, _, _ in pairs]
        self._remove(conversation, replaced)
        return replaced

    def _columns(
        self, conversation: Conversation, rows: Sequence[Row], known: _Known | None = None
    ) -> dict[str, Any]:
        link, origin = conversation.link, conversation.origin
        detail = detail_of(conversation)
        columns: dict[str, Any] = {
            "title": conversation.title,
            "summary": _summary_of(conversation),
            "project": conversation.cwd,
            "git_branch": conversation.git_branch,
            "model": conversation.model,
            "app_version": conversation.app_version,
            "account_id": conversation.account_id,
            "started_at": conversation.started_at,
            "updated_at": conversation.updated_at,
            "shape": conversation.shape,
            "head_id": conversation.head_id,
            "parent_id": link.conversation_id if link else None,
            "relation": link.relation if link else None,
            "archived": conversation.archived,
            "only_prompts": conversation.only_prompts,
            "made_id": conversation.made_id,
            "reader": origin.reader if origin else None,
            "version": origin.version if origin else None,
            "revision": origin.revision if origin else None,
            "hash": content_hash(detail, None),
            "detail": self._blocks.small(detail),
        }
        if known is not None:  # what its entries told so far
            columns["model"] = columns["model"] or known.model
            columns["summary"] = columns["summary"] or self._first_words(known.key)
        for row in rows:
            columns["model"] = columns["model"] or row.model
            if columns["model"] and columns["summary"]:
                break
            if row.role == "user" and row.text and not (row.hidden or columns["summary"]):
                columns["summary"] = tree.title_from([row.text])
        if columns["started_at"] is None:
            first = next((row.at for row in rows if row.at), None)
            columns["started_at"] = _earliest(first, known.started_at if known else None)
        if columns["updated_at"] is None:
            told = (*(row.at for row in rows), known.updated_at if known else None)
            # Some sources tell no more than when a conversation was begun.
            columns["updated_at"] = _latest(*told) or columns["started_at"]
        columns["started_ms"] = timestamps.epoch_ms(columns["started_at"])
        columns["updated_ms"] = timestamps.epoch_ms(columns["updated_at"])
        return columns

    def _update(
        self,
        key: int,
        whole: Conversation,
        rows: Sequence[Row],
        title_key: int | None,
        known: _Known | None,
    ) -> None:
        columns = {"title_key": title_key, **self._sizes(key), **self._columns(whole, rows, known)}
        if whole.only_prompts:
            columns["opening"] = None
        changes = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(f"UPDATE conversations SET {changes} WHERE key = ?", (*columns.values(), key))

    def put_memory(self, memory: Memory, source: int) -> Change:
        """Bring in a memory; another with the same id is replaced if it says something else."""
        body = encoded.encode(memory)
        digest = memory_hash(memory)
        known = next(
            self._rows(
                "SELECT key, hash, at, given_by FROM memories WHERE source = ? AND id = ?",
                memory.source,
                memory.id,
            ),
            None,
        )
        if known is not None and (known[1] == digest or _is_before(memory.at, known[2])):
            self._came(source, 0, known[:1])
            self._note_giver(known[0], known[3], source)
            return Change(0, 0, 0, [], [])
        removed = [] if known is None else [known[0]]
        self._many("DELETE FROM memories WHERE key = ?", [(key,) for key in removed])
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in removed])
        key = self._new_key()
        self._db.execute(
            "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key, memory.source, memory.id, memory.kind, memory.about, memory.at, memory.text, digest,
                body, source,
            ),
        )  # fmt: skip
        self._came(source, 0, (key,))
        if known is not None:
            self._hand_over(known[0], known[3], key, source)
        return Change(0, not removed, len(removed), [remembered(key, memory)], removed)


def _opening_of(conversation: Conversation, rows: Sequence[Row]) -> bytes | None:
    """What twins are known by; prompts without answers are no twins of anything."""
    if conversation.only_prompts:
        return None
    return message_matching.opening_of((row.role, row.text, row.at) for row in rows)


def _narrowed(conversation: Conversation, rows: Sequence[Row]) -> Conversation:
    """A conversation of some of its rows, which are of their times."""
    moments = [row.at for row in rows]
    return replace(conversation, started_at=_earliest(*moments), updated_at=_latest(*moments))


def unit_of(conversation: Conversation) -> str:
    """Which file of its source a conversation is in; empty if that is not known."""
    return (conversation.origin.file or "") if conversation.origin else ""


def _additions(plan: Plan) -> list[tuple[int, int, Row]]:
    current = [(place, 0, row) for place, row in plan.added]
    return current + [(place, version, row) for place, row, version in plan.earlier]


def _there(stored: Sequence[Stored], rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Incoming rows that are shown as they are, with their keys."""
    shown = {(entry.id, entry.hash): entry.key for entry in stored if not entry.version}
    return [(shown[name], row) for row in rows if (name := (row.id, row.hash)) in shown]


def _pairs(plan: Plan, keys: list[tuple[int, Row]]) -> list[tuple[int, int, Row]]:
    """Replaced entries by key, with the keys of those in their place."""
    now = {row.hash: key for key, row in keys}
    return [(old, now[row.hash], row) for old, row in plan.replaced]


def _is_newer(conversation: Conversation, rows: Sequence[Row], updated_at: str | None) -> bool:
    """Whether a conversation is as it was later than at that time, as far as can be told."""
    ours = timestamps.epoch_ms(conversation.updated_at or _latest(*(row.at for row in rows)))
    return ours is None or ours >= (timestamps.epoch_ms(updated_at) or 0)


def _is_before(at: str | None, other: str | None) -> bool:
    ours, theirs = timestamps.epoch_ms(at), timestamps.epoch_ms(other)
    return ours is not None and theirs is not None and ours < theirs


def _latest(*moments: str | None) -> str | None:
    return max((at for at in moments if at), key=lambda at: timestamps.epoch_ms(at) or 0, default=None)


def _summary_of(conversation: Conversation) -> str | None:
    """The source's last summary of a conversation; one for the model, at a compaction, is no title."""
    about = (each.text for each in reversed(conversation.summaries) if each.kind != "system")
    return next(about, None)


def _earliest(*moments: str | None) -> str | None:
    return min((at for at in moments if at), key=lambda at: timestamps.epoch_ms(at) or _NEVER, default=None)
