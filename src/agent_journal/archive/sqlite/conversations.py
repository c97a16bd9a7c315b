"""Store conversations and memories, or merge them with what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.archive import duplicates, encoded
from agent_journal.archive.bodies import entry_of
from agent_journal.archive.merge import Comparison, StoredEntry, merge_detail, plan_merge, preference
from agent_journal.archive.rows import contains_all, content_hash, detail_of, memory_hash, message_count
from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.copies import MESSAGE_TEXTS
from agent_journal.archive.sqlite.counting import name_of
from agent_journal.archive.sqlite.duplicates import Duplicates
from agent_journal.archive.sqlite.index_entries import (
    IndexEntries,
    NewIndexEntries,
    memory_entry,
    message_entries,
    title_entry,
)
from agent_journal.archive.sqlite.prompts import Prompts
from agent_journal.archive.store import Change
from agent_journal.model import timestamps, tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.archive.merge import MergePlan
    from agent_journal.archive.rows import Row
    from agent_journal.archive.sqlite.entries import CopyOriginal
    from agent_journal.archive.sqlite.index_entries import ToolsByCall
    from agent_journal.model import Conversation, Memory

_STORED_CONVERSATION = (
    "SELECT key, detail, title, title_key, opening, reader, version, model, project, git_branch, started_at, "
    "updated_at, only_prompts, messages FROM conversations WHERE source = ? AND id = ?"
)
_MAX_MS = (1 << 63) - 1


class _StoredConversation(NamedTuple):
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
    def has_more_than_prompts(self) -> bool:
        """Whether more than prompts is known of it."""
        return bool(self.messages and not self.only_prompts)


class Conversations(Prompts, Duplicates, IndexEntries):
    """The part of the store that stores conversations and memories."""

    def put(
        self,
        conversation: Conversation,
        rows: list[Row],
        source: int,
        blocks: Sequence[Block] = (),
        *,
        is_past: bool = False,
    ) -> Change:
        """Store a conversation, or merge it with what is stored.

        The bodies of the rows may already be packed in blocks; then the rows have none. With `is_past`,
        stored content is never replaced, whatever the times.
        """
        row = next(self._rows(_STORED_CONVERSATION, conversation.source, conversation.id), None)
        stored = None if row is None else _StoredConversation(*row)
        if conversation.only_prompts:
            return self._put_prompts(conversation, rows, stored, source, blocks, is_past=is_past)
        gone: list[int] = []
        if stored is None:
            change = self._add(conversation, rows, source, blocks)
        elif stored.only_prompts and message_count(rows):
            gone = self._clear_prompts(stored.key)
            change = self._add(conversation, rows, source, blocks, stored.key)
        else:
            rows = self._with_bodies(rows, blocks)
            change = self._merge(conversation, rows, stored, source, is_past=is_past)
        self._link_content(source, change.conversation, unit_of(conversation), only_prompts=False)
        if change.added:
            gone += self._take_over_prompts(conversation, change.conversation, rows)
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(key,) for key in gone])
        return change._replace(removed=[*change.removed, *gone]) if gone else change

    def _put_prompts(
        self,
        conversation: Conversation,
        rows: list[Row],
        stored: _StoredConversation | None,
        source: int,
        blocks: Sequence[Block],
        *,
        is_past: bool,
    ) -> Change:
        """Store a list of prompts, except those of conversations that another source contains."""
        unit, key = unit_of(conversation), stored.key if stored else 0
        if (
            stored is not None
            and stored.has_more_than_prompts
            and self._has_full_content_elsewhere(key, source, unit)
        ):
            self._link_content(source, key, unit, only_prompts=True)
            self._record_given(source, key, ())
            return Change(key, 0, 0, [], [])
        all_rows, others = rows, list[int]()
        if conversation.made_id:
            rows, blocks = self._with_bodies(rows, blocks), ()
            rows, others = self._prompts_without_session(conversation, rows, source, unit)
        has_same_title = stored is not None and conversation.title in {None, stored.title}
        if has_same_title and self._is_linked(source, key, unit, rows):
            return Change(key, 0, 0, [], [])
        if conversation.made_id:
            rows, new = self._match_new_prompts(conversation, rows, source, unit)
            if all_rows and not rows:
                return Change(next(iter((*others, *new)), key), 0, 0, [], [])
            conversation = _narrowed(conversation, rows) if len(rows) < len(all_rows) else conversation
        if stored is None:
            change = self._add(conversation, rows, source, blocks)
        else:
            rows = self._with_bodies(rows, blocks)
            change = self._merge(conversation, rows, stored, source, is_past=is_past)
        self._link_content(source, change.conversation, unit, only_prompts=True)
        return change

    def _add(
        self,
        conversation: Conversation,
        rows: list[Row],
        source: int,
        blocks: Sequence[Block],
        free: int | None = None,
    ) -> Change:
        """Store a new conversation under a free key, if given, or else under a new one."""
        key: int = free or self._value("SELECT coalesce(max(key), 0) + 1 FROM conversations")
        title_key = self._new_key() if conversation.title else None
        columns = {
            "key": key,
            "source": conversation.source,
            "id": conversation.id,
            "title_key": title_key,
            "opening": _opening_of(conversation, rows),
            "messages": message_count(rows),
            "events": len(rows) - message_count(rows),
            **self._columns(conversation, rows),
        }
        copies = self._copies(key, conversation.source, rows) or self._copies_in_duplicate(
            key, columns, rows, (source, unit_of(conversation)), blocks
        )
        places = ", ".join("?" * len(columns))
        self._db.execute(
            f"INSERT INTO conversations ({', '.join(columns)}) VALUES ({places})", tuple(columns.values())
        )
        if copies:
            rows, blocks = self._with_bodies(rows, blocks), ()
        keys = self._insert(key, rows, copies, source, blocks)
        self._record_given(source, key, (new for new, _ in keys))
        self._count_calls_and_usage(conversation, key, keys, copies)
        new = [each for each in keys if each[1].hash not in copies]
        entries = NewIndexEntries(key, conversation, new, self._called_tools(key, new), title_key)
        return Change(key, message_count(rows), 0, entries, [])

    def _merge(
        self,
        conversation: Conversation,
        rows: list[Row],
        stored_conversation: _StoredConversation,
        source: int,
        *,
        is_past: bool,
    ) -> Change:
        key = stored_conversation.key
        version_preference = self._preference(conversation, stored_conversation, source)
        is_replaced = self._starts_over(source, key)
        is_newer = version_preference > 0 or (
            not (version_preference or is_past)
            and (is_replaced or _is_newer(conversation, rows, stored_conversation.updated_at))
        )
        merged = (
            conversation
            if is_replaced
            else self._merge_detail(conversation, stored_conversation, is_newer=is_newer)
        )
        if conversation.only_prompts or stored_conversation.only_prompts:
            # What was pasted into a prompt may be gone by now; what is stored of it stays.
            merged, is_newer = replace(merged, only_prompts=True), False
        is_rekeyed = (merged.cwd, merged.git_branch) != (
            stored_conversation.project,
            stored_conversation.git_branch,
        )
        last = self.last_key() if is_rekeyed else 0
        removed = self._rekey_for_index(key) if is_rekeyed else []
        stored = self._stored(key)
        same = self._match_other_form(key, stored, rows) if version_preference else {}
        reimported_source = source if source in self._reimports else None
        plan = plan_merge(
            stored,
            rows,
            is_newer=is_newer,
            compare=self._compare,
            same_entries=same,
            reimported_source=reimported_source,
        )
        added = [row for _, row in plan.added]
        copies = self._copies(key, conversation.source, added) or self._copies_in_known_duplicates(key, added)
        self._apply(key, plan)
        new_rows, positions = _additions(plan)
        keys = self._insert(key, new_rows, copies, source, positions=positions)
        self._record_given(source, key, (*plan.unchanged, *(new for new, _ in keys)))
        self._record_sources(source, stored, plan, keys)
        pairs = _replacements(plan, keys)
        self._move_usage(key, [(old, new, name_of(conversation, row)) for old, new, row in pairs])
        self._count_calls_and_usage(
            conversation, key, keys[: len(added)], copies, _unchanged_rows(stored, rows)
        )
        removed += self._replace(key, pairs)
        title_key = stored_conversation.title_key
        if has_new_title := is_rekeyed or merged.title != stored_conversation.title:
            removed += [title_key] if title_key else []
            title_key = self._new_key() if merged.title else None
        self._update(key, merged, rows, title_key, None if is_replaced else stored_conversation)
        entries = self._indexed_of(key, last) if is_rekeyed else self._new_entries(key, merged, keys, copies)
        if has_new_title and title_key:
            entries.append(title_entry(title_key, key, merged))
        if added and stored_conversation.opening is None and not merged.only_prompts:
            late_copies = self._find_late_duplicate(key, (source, unit_of(conversation)))
            if late_copies:
                self._mark_as_copies(conversation, key, late_copies)
                removed += late_copies
                entries = [entry for entry in entries if entry.key not in late_copies]
        if added or is_rekeyed:
            entries += self._index_entries_by_key(self._reassess_duplicates(key))
        self._many("INSERT OR IGNORE INTO removed VALUES (?)", [(gone,) for gone in removed])
        changed = message_count(row for _, row in plan.replaced) + len(plan.superseded)
        new = max(0, message_count(added) - changed)
        return Change(key, new, changed + len(plan.earlier), entries, removed, plan.misses_entries)

    def _rekey_for_index(self, conversation: int) -> list[int]:
        """Give entries new keys, so that the index takes up their new filter values; return the old keys."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND copy_of IS NULL AND role IS NOT NULL"
        old = sorted(key for (key,) in self._rows(sql, conversation))
        self._rekey(conversation, {key: self._new_key() for key in old})
        return old

    def _preference(self, conversation: Conversation, stored: _StoredConversation, source: int) -> int:
        """Compare two formats of a conversation; a growing file whose version changes is only one."""
        result = preference(conversation.origin, stored.reader, stored.version)
        unit = unit_of(conversation)
        if not (result and unit):
            return result
        elsewhere = (
            "SELECT 1 FROM contents WHERE conversation = ? AND (source, unit) != (?, ?) "
            "AND NOT only_prompts LIMIT 1"
        )
        return 0 if self._value(elsewhere, stored.key, source, unit) is None else result

    def _new_entries(
        self,
        key: int,
        conversation: Conversation,
        keys: list[tuple[int, Row]],
        copies: dict[bytes, CopyOriginal],
    ) -> list[IndexEntry]:
        """Return the index entries of new rows; copies are found through their originals."""
        new = [(number, row) for number, row in keys if row.hash not in copies]
        return [*message_entries(key, conversation, new, self._called_tools(key, new))]

    def _called_tools(self, conversation: int, keys: Iterable[tuple[int, Row]]) -> ToolsByCall:
        """Return the tools that a conversation called, by call id, if any of the rows need them."""
        return self._tools_by_call(conversation) if any(row.calls for _, row in keys) else {}

    def _index_entries_by_key(self, keys: Collection[int]) -> list[IndexEntry]:
        """Return the index entries of entries, in the order of their keys."""
        sql = f"SELECT DISTINCT conversation FROM timeline WHERE key {IN_VALUES}"
        numbers = [row[0] for row in self._rows(sql, as_json(keys))] if keys else []
        entries = [entry for number in numbers for entry in self.index_entries_of(number, set(keys))]
        return sorted(entries, key=lambda entry: entry.key)

    def _merge_detail(
        self, conversation: Conversation, stored_conversation: _StoredConversation, *, is_newer: bool
    ) -> Conversation:
        stored = self._detail(stored_conversation.key)
        return merge_detail(conversation, stored) if is_newer else merge_detail(stored, conversation)

    def _stored(self, key: int) -> list[StoredEntry]:
        sql = (
            "SELECT key, id, earlier, hash, position, given_by, at FROM timeline WHERE conversation = ? "
            "ORDER BY position"
        )
        return [StoredEntry(*row) for row in self._rows(sql, key)]

    def _compare(self, key: int, row: Row) -> Comparison:
        old, new = self._entry(key), entry_of(row.body, row.text)
        return Comparison(contains_all(new, old), contains_all(old, new))

    def _match_other_form(self, key: int, stored: list[StoredEntry], rows: list[Row]) -> dict[int, int]:
        """Match rows of another format, by position, to stored entries with other ids, by key."""
        ids = {entry.id for entry in stored}
        incoming = (
            (position, row.role, row.text, row.at) for position, row in enumerate(rows) if row.id not in ids
        )
        texts = duplicates.timed_texts(self._rows(MESSAGE_TEXTS, key), at_any_time=True)
        incoming_ids = {row.id for row in rows}
        taken = {entry.key for entry in stored if entry.id in incoming_ids}
        return duplicates.match_texts(
            duplicates.timed_texts(incoming, at_any_time=True),
            [each for each in texts if each.key not in taken],
        )

    def _apply(self, conversation: int, plan: MergePlan) -> None:
        self._many("UPDATE timeline SET position = ? WHERE key = ?", [(to, key) for key, to in plan.moved])
        self._many(
            "UPDATE timeline SET earlier = ? WHERE key = ?", [(to, key) for key, to in plan.superseded]
        )
        # Only current entries are counted.
        self._drop_calls(conversation, [key for key, _ in plan.superseded])

    def _replace(self, conversation: int, pairs: list[tuple[int, int, Row]]) -> list[int]:
        """Redirect references to replaced entries; return the keys to remove from the index."""
        self._many("UPDATE timeline SET copy_of = ? WHERE copy_of = ?", [(new, old) for old, new, _ in pairs])
        self._many(
            "UPDATE tool_calls SET answered_by = ? WHERE conversation = ? AND answered_by = ?",
            [(new, conversation, old) for old, new, _ in pairs],
        )
        replaced = [old for old, _, _ in pairs]
        self._remove(conversation, replaced)
        return replaced

    def _columns(
        self, conversation: Conversation, rows: Sequence[Row], stored: _StoredConversation | None = None
    ) -> dict[str, Any]:
        link, origin = conversation.link, conversation.origin
        detail = detail_of(conversation)
        columns: dict[str, Any] = {
            "product": conversation.product,
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
            "detail": self._blocks.compress(detail),
        }
        if stored is not None:  # from its stored entries
            columns["model"] = columns["model"] or stored.model
            columns["summary"] = columns["summary"] or self._title_from_prompts(stored.key)
        for row in rows:
            columns["model"] = columns["model"] or row.model
            if columns["model"] and columns["summary"]:
                break
            if row.role == "user" and row.text and not (row.hidden or columns["summary"]):
                columns["summary"] = tree.title_from([row.text])
        if columns["started_at"] is None:
            first = next((row.at for row in rows if row.at), None)
            columns["started_at"] = _earliest(first, stored.started_at if stored else None)
        if columns["updated_at"] is None:
            times = (*(row.at for row in rows), stored.updated_at if stored else None)
            # Some sources state only when a conversation was begun.
            columns["updated_at"] = _latest(*times) or columns["started_at"]
        columns["started_ms"] = timestamps.epoch_ms(columns["started_at"])
        columns["updated_ms"] = timestamps.epoch_ms(columns["updated_at"])
        return columns

    def _update(
        self,
        key: int,
        whole: Conversation,
        rows: Sequence[Row],
        title_key: int | None,
        known: _StoredConversation | None,
    ) -> None:
        columns = {"title_key": title_key, **self._sizes(key), **self._columns(whole, rows, known)}
        if whole.only_prompts:
            columns["opening"] = None
        changes = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(f"UPDATE conversations SET {changes} WHERE key = ?", (*columns.values(), key))

    def put_memory(self, memory: Memory, source: int) -> Change:
        """Store a memory; one with the same id and other content is replaced."""
        body = encoded.encode(memory)
        digest = memory_hash(memory)
        stored = next(
            self._rows(
                "SELECT key, hash, at, given_by FROM memories WHERE source = ? AND id = ?",
                memory.source,
                memory.id,
            ),
            None,
        )
        if stored is not None and (stored[1] == digest or _is_before(memory.at, stored[2])):
            self._record_given(source, 0, stored[:1])
            self._record_source(stored[0], stored[3], source)
            return Change(0, 0, 0, [], [])
        removed = [] if stored is None else [stored[0]]
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
        self._record_given(source, 0, (key,))
        if stored is not None:
            self._transfer_sources(stored[0], stored[3], key, source)
        return Change(0, not removed, len(removed), [memory_entry(key, memory)], removed)


def _opening_of(conversation: Conversation, rows: Sequence[Row]) -> bytes | None:
    """Return the hash by which duplicates are found; prompts without answers have no duplicates."""
    if conversation.only_prompts:
        return None
    return duplicates.opening_hash((row.role, row.text, row.at) for row in rows)


def _narrowed(conversation: Conversation, rows: Sequence[Row]) -> Conversation:
    """Limit a conversation's times to those of some of its rows."""
    times = [row.at for row in rows]
    return replace(conversation, started_at=_earliest(*times), updated_at=_latest(*times))


def unit_of(conversation: Conversation) -> str:
    """Return the file of its source that contains a conversation; empty if unknown."""
    return (conversation.origin.file or "") if conversation.origin else ""


def _additions(plan: MergePlan) -> tuple[list[Row], list[tuple[int, int]]]:
    """Return the new rows, and the position and version of each."""
    rows = [row for _, row in plan.added] + [row for _, row, _ in plan.earlier]
    current = [(position, 0) for position, _ in plan.added]
    return rows, current + [(position, version) for position, _, version in plan.earlier]


def _unchanged_rows(stored: Sequence[StoredEntry], rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Return incoming rows that are stored unchanged, with their keys."""
    shown = {(entry.id, entry.hash): entry.key for entry in stored if not entry.version}
    return [(shown[name], row) for row in rows if (name := (row.id, row.hash)) in shown]


def _replacements(plan: MergePlan, keys: list[tuple[int, Row]]) -> list[tuple[int, int, Row]]:
    """Return replaced entries by key, with the keys of their replacements."""
    now = {row.hash: key for key, row in keys}
    return [(old, now[row.hash], row) for old, row in plan.replaced]


def _is_newer(conversation: Conversation, rows: Sequence[Row], updated_at: str | None) -> bool:
    """Whether a conversation is not older than that time, as far as known."""
    updated_ms = timestamps.epoch_ms(conversation.updated_at or _latest(*(row.at for row in rows)))
    return updated_ms is None or updated_ms >= (timestamps.epoch_ms(updated_at) or 0)


def _is_before(at: str | None, other: str | None) -> bool:
    first, second = timestamps.epoch_ms(at), timestamps.epoch_ms(other)
    return first is not None and second is not None and first < second


def _latest(*times: str | None) -> str | None:
    return max((at for at in times if at), key=lambda at: timestamps.epoch_ms(at) or 0, default=None)


def _summary_of(conversation: Conversation) -> str | None:
    """Return the source's last summary of a conversation; not one made for the model at a compaction."""
    about = (each.text for each in reversed(conversation.summaries) if each.kind != "system")
    return next(about, None)


def _earliest(*times: str | None) -> str | None:
    return min((at for at in times if at), key=lambda at: timestamps.epoch_ms(at) or _MAX_MS, default=None)
