"""Find messages that several conversations contain: copies in forks, and duplicates under other ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.archive import duplicates
from agent_journal.archive.bodies import entry_of
from agent_journal.archive.duplicates import Fingerprint, is_duplicate
from agent_journal.archive.sqlite.connection import as_json
from agent_journal.archive.sqlite.entries import CopyOriginal, Entries
from agent_journal.model import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.duplicates import TimedText
    from agent_journal.archive.rows import Row
    from agent_journal.model import Event

    _MessageRow = tuple[int, str | None, str | None, str | None]

_COPIES = (
    "SELECT t.copy_hash, t.key, t.hash, t.block, t.start, t.size FROM json_each(?) j "
    "CROSS JOIN timeline t ON t.copy_hash = j.value AND t.copy_hash IS NOT NULL AND t.copy_of IS NULL "
    "CROSS JOIN conversations c ON c.key = t.conversation AND c.source = ? AND c.key != ?"
)
MESSAGE_TEXTS = (
    "SELECT key, role, text, at FROM timeline WHERE conversation = ? AND earlier = 0 AND text IS NOT NULL"
)
# Conversations of one file are never duplicates of each other. Two ids that one source states are two
# conversations, and thousands may begin alike: the index skips them.
_DUPLICATE_CANDIDATES = (
    "WITH here AS "
    "(SELECT conversation FROM contents WHERE source = ?2 AND (unit = ?3 OR unit = '' OR ?4 = '')), "
    "alike AS ("
    "SELECT key, twin_of FROM conversations WHERE opening = ?1 AND made_id = 1 UNION ALL "
    "SELECT key, twin_of FROM conversations WHERE opening = ?1 AND made_id = 0 AND source < ?5 UNION ALL "
    "SELECT key, twin_of FROM conversations WHERE opening = ?1 AND made_id = 0 AND source > ?5 UNION ALL "
    "SELECT key, twin_of FROM conversations WHERE ?6 AND opening = ?1 AND made_id = 0 AND source = ?5) "
    "SELECT key FROM alike a WHERE twin_of IS NULL AND key NOT IN here "
    "AND NOT EXISTS (SELECT 1 FROM conversations t WHERE t.twin_of = a.key AND t.key IN here) ORDER BY key"
)
_FIRST_TEXTS = "SELECT role, text, at FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
_IDENTIFYING_COLUMNS = ("started_ms", "source", "id", "made_id", "project", "account_id")
# If none of the first rows is a copy, no other row is.
_MAX_PROBED_ROWS = 8


class Copies(Entries):
    """The part of the store that detects copies and duplicates."""

    def _copies(self, key: int, source: str, rows: Sequence[Row]) -> dict[bytes, CopyOriginal]:
        """Return the originals of rows that another conversation of the same source contains, by hash."""
        hashes = [row.copy_hash for row in rows if row.copy_hash is not None]
        if not hashes or not self._originals(key, source, hashes[:_MAX_PROBED_ROWS]):
            return {}
        originals = self._originals(key, source, hashes)
        return {
            row.hash: originals[row.copy_hash]
            for row in rows
            if row.copy_hash is not None and row.copy_hash in originals
        }

    def _originals(self, key: int, source: str, hashes: list[int]) -> dict[int, CopyOriginal]:
        rows = self._rows(_COPIES, as_json(hashes), source, key)
        return {row[0]: CopyOriginal(*row[1:]) for row in rows}

    def _copies_in_duplicate(
        self,
        key: int,
        columns: dict[str, Any],
        rows: list[Row],
        place: tuple[int, str],
        blocks: Sequence[Block] = (),
    ) -> dict[bytes, CopyOriginal]:
        """Return the originals of rows that a duplicate contains, by hash; set `twin_of` in the columns.

        `place` is a source and a file of it: a duplicate is never in the same one.
        """
        texts = ((place, row.role, row.text, row.at) for place, row in enumerate(rows))

        def identified() -> Fingerprint:
            entries = (entry_of(row.body, row.text) for row in self._with_bodies(rows, blocks))
            return _fingerprint(columns, enumerate(entries))

        copies = self._find_duplicate(key, columns, texts, place, identified)
        return {rows[place].hash: self._original(original_key) for place, original_key in copies.items()}

    def _find_late_duplicate(
        self, key: int, place: tuple[int, str], unresolved: Container[int] = ()
    ) -> dict[int, CopyOriginal]:
        """Find the duplicate of a stored conversation that now has enough messages; return originals by key.

        It is not compared with unresolved conversations.
        """
        opening = duplicates.opening_hash(self._rows(_FIRST_TEXTS, key))
        self._db.execute("UPDATE conversations SET opening = ? WHERE key = ?", (opening, key))
        if self._value("SELECT 1 FROM timeline WHERE conversation = ? AND copy_of IS NOT NULL", key):
            return {}
        columns = {"opening": opening, "twin_of": None, **self._identifying(key)}
        texts = self._rows(MESSAGE_TEXTS, key)
        copies = self._find_duplicate(
            key, columns, texts, place, lambda: self._fingerprint(key), unresolved=unresolved
        )
        self._db.execute("UPDATE conversations SET twin_of = ? WHERE key = ?", (columns["twin_of"], key))
        originals = {copy_key: self._original(original_key) for copy_key, original_key in copies.items()}
        return {copy_key: original for copy_key, original in originals.items() if original.key != copy_key}

    def _find_duplicate(
        self,
        key: int,
        columns: dict[str, Any],
        message_rows: Iterable[_MessageRow],
        place: tuple[int, str],
        identified: Callable[[], Fingerprint],
        *,
        unresolved: Container[int] = (),
    ) -> dict[int, int]:
        """Match messages to their copies in a duplicate from another file; set `twin_of` in the columns.

        A source may be a folder of many files; an unknown file may be the same one. `identified` returns what
        distinguishes the conversation from others.
        """
        if columns["opening"] is None:
            return {}
        identity = columns["source"], columns["made_id"]
        source, unit = place
        candidates_found = list(
            self._rows(_DUPLICATE_CANDIDATES, columns["opening"], source, unit, unit, *identity)
        )
        candidates = [other for (other,) in candidates_found if other != key and other not in unresolved]
        if not candidates:
            return {}
        texts = duplicates.timed_texts(message_rows)
        for other in candidates:
            other_texts = duplicates.timed_texts(self._rows(MESSAGE_TEXTS, other))
            copies = duplicates.match_texts(texts, other_texts)
            is_inside, contains_other = (
                duplicates.is_contained(len(copies), len(each)) for each in (texts, other_texts)
            )
            if not (is_inside or contains_other) or not is_duplicate(
                identified(), self._fingerprint(other), copies
            ):
                continue
            if not all(
                self._is_duplicate_of(each, texts, identified()) for each in self._duplicates_of(other)
            ):
                continue  # it could be one or the other
            if is_inside and not (contains_other and _age(columns) < self._age(other)):
                columns["twin_of"] = other
            else:
                self._db.execute(
                    "UPDATE conversations SET twin_of = ? WHERE key = ? OR twin_of = ?", (key, other, other)
                )
            return copies
        return {}

    def _is_duplicate_of(self, other: int, texts: Sequence[TimedText], conversation: Fingerprint) -> bool:
        other_texts = duplicates.timed_texts(self._rows(MESSAGE_TEXTS, other))
        return is_duplicate(
            conversation, self._fingerprint(other), duplicates.match_texts(texts, other_texts)
        )

    def _copies_in_known_duplicates(self, key: int, rows: Sequence[Row]) -> dict[bytes, CopyOriginal]:
        """Return the originals of new rows that a known duplicate already has, by hash."""
        if not rows:
            return {}
        texts = duplicates.timed_texts((index, row.role, row.text, row.at) for index, row in enumerate(rows))
        free = (
            f"{MESSAGE_TEXTS} AND coalesce(copy_of, key) NOT IN "
            "(SELECT coalesce(copy_of, key) FROM timeline WHERE conversation = ?)"
        )
        for other in self._duplicates_of(key):
            copies = duplicates.match_texts(texts, duplicates.timed_texts(self._rows(free, other, key)))
            if copies:
                return {rows[index].hash: self._original(their) for index, their in copies.items()}
        return {}

    def _duplicates_of(self, key: int) -> list[int]:
        sql = (
            "SELECT key FROM conversations WHERE twin_of = ? UNION ALL "
            "SELECT twin_of FROM conversations WHERE key = ? AND twin_of IS NOT NULL"
        )
        return [row[0] for row in self._rows(sql, key, key)]

    def _age(self, key: int) -> tuple[bool, int, str, str]:
        return _age(self._identifying(key))

    def _fingerprint(self, key: int) -> Fingerprint:
        """Return what distinguishes a stored conversation from others."""
        return _fingerprint(self._identifying(key), self.entries(key))

    def _identifying(self, key: int) -> dict[str, Any]:
        sql = f"SELECT {', '.join(_IDENTIFYING_COLUMNS)} FROM conversations WHERE key = ?"
        return dict(zip(_IDENTIFYING_COLUMNS, next(self._rows(sql, key)), strict=True))

    def _original(self, key: int) -> CopyOriginal:
        sql = "SELECT coalesce(copy_of, key), hash, block, start, size FROM timeline WHERE key = ?"
        return CopyOriginal(*next(self._rows(sql, key)))


def _fingerprint(columns: Mapping[str, Any], entries: Iterable[tuple[int, Message | Event]]) -> Fingerprint:
    messages = {key: entry for key, entry in entries if isinstance(entry, Message)}
    return Fingerprint(
        columns["source"],
        columns["id"],
        bool(columns["made_id"]),
        columns["project"],
        columns["account_id"],
        messages,
    )


def _age(columns: Mapping[str, Any]) -> tuple[bool, int, str, str]:
    """Return the sort key of duplicates: the one that began first is shown, in whatever order they came."""
    started_ms = columns["started_ms"]
    return started_ms is None, started_ms or 0, columns["source"], columns["id"]
