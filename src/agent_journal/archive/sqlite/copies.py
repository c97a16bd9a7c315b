"""Messages that stand in several conversations: copies in forks, and twins under other ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.archive import message_matching
from agent_journal.archive.bodies import entry_of
from agent_journal.archive.duplicates import Candidate, is_duplicate
from agent_journal.archive.sqlite.connection import as_json
from agent_journal.archive.sqlite.entries import Entries, Original
from agent_journal.model import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.message_matching import Said
    from agent_journal.archive.rows import Row
    from agent_journal.model import Event

    _Told = tuple[int, str | None, str | None, str | None]

_COPIES = (
    "SELECT t.copy_hash, t.key, t.hash, t.block, t.start, t.size FROM json_each(?) j "
    "CROSS JOIN timeline t ON t.copy_hash = j.value AND t.copy_hash IS NOT NULL AND t.copy_of IS NULL "
    "CROSS JOIN conversations c ON c.key = t.conversation AND c.source = ? AND c.key != ?"
)
SAID = "SELECT key, role, text, at FROM timeline WHERE conversation = ? AND earlier = 0 AND text IS NOT NULL"
# Of a file that holds several alike, one is the twin of another file's: two of one file never become one.
# Two ids that one source states are two conversations, and thousands may begin alike: the index passes over
# them.
_TWINS = (
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
_FIRST_SAID = "SELECT role, text, at FROM timeline WHERE conversation = ? AND NOT earlier ORDER BY position"
_IDENTIFYING = ("started_ms", "source", "id", "made_id", "project", "account_id")
# Whether a conversation repeats another's messages shows in its first ones.
_FIRST = 8


class Copies(Entries):
    """The part of the store that knows what is there already."""

    def _copies(self, key: int, source: str, rows: Sequence[Row]) -> dict[bytes, Original]:
        """Rows that stand in another conversation of the same source already, by hash."""
        hashes = [row.copy_hash for row in rows if row.copy_hash is not None]
        if not hashes or not self._originals(key, source, hashes[:_FIRST]):
            return {}
        originals = self._originals(key, source, hashes)
        return {
            row.hash: originals[row.copy_hash]
            for row in rows
            if row.copy_hash is not None and row.copy_hash in originals
        }

    def _originals(self, key: int, source: str, hashes: list[int]) -> dict[int, Original]:
        found = self._rows(_COPIES, as_json(hashes), source, key)
        return {row[0]: Original(*row[1:]) for row in found}

    def _twin_of(
        self,
        key: int,
        columns: dict[str, Any],
        rows: list[Row],
        place: tuple[int, str],
        blocks: Sequence[Block] = (),
    ) -> dict[bytes, Original]:
        """Rows that stand in a twin from another place; the columns are told whose twin it is.

        A place is a source and the file of it.
        """
        ours = ((place, row.role, row.text, row.at) for place, row in enumerate(rows))

        def identified() -> Candidate:
            entries = (entry_of(row.body, row.text) for row in self._with_bodies(rows, blocks))
            return _candidate(columns, enumerate(entries))

        same = self._met(key, columns, ours, place, identified)
        return {rows[place].hash: self._original(their) for place, their in same.items()}

    def _twin_met_late(
        self, key: int, place: tuple[int, str], unresolved: Container[int] = ()
    ) -> dict[int, Original]:
        """The same for a conversation that says enough only now, as it was said since it came: by key.

        With those that are unresolved it is not compared.
        """
        opening = message_matching.opening_of(self._rows(_FIRST_SAID, key))
        self._db.execute("UPDATE conversations SET opening = ? WHERE key = ?", (opening, key))
        if self._value("SELECT 1 FROM timeline WHERE conversation = ? AND copy_of IS NOT NULL", key):
            return {}
        columns = {"opening": opening, "twin_of": None, **self._identifying(key)}
        said = self._rows(SAID, key)
        same = self._met(key, columns, said, place, lambda: self._candidate(key), unresolved=unresolved)
        self._db.execute("UPDATE conversations SET twin_of = ? WHERE key = ?", (columns["twin_of"], key))
        originals = {ours: self._original(their) for ours, their in same.items()}
        return {ours: original for ours, original in originals.items() if original.key != ours}

    def _met(
        self,
        key: int,
        columns: dict[str, Any],
        said: Iterable[_Told],
        place: tuple[int, str],
        identified: Callable[[], Candidate],
        *,
        unresolved: Container[int] = (),
    ) -> dict[int, int]:
        """Messages and their copies in a twin from another file; the columns are told whose twin it is.

        A source may be a folder of many files. Where it is not known which of them, it may be the same.
        `identified` gives the conversation with all that tells it from another one.
        """
        if columns["opening"] is None:
            return {}
        known = columns["source"], columns["made_id"]
        source, unit = place
        found = list(self._rows(_TWINS, columns["opening"], source, unit, unit, *known))
        candidates = [other for (other,) in found if other != key and other not in unresolved]
        if not candidates:
            return {}
        ours = message_matching.said_in(said)
        for other in candidates:
            theirs = message_matching.said_in(self._rows(SAID, other))
            same = message_matching.matches(ours, theirs)
            is_in, holds = (message_matching.are_twins(len(same), len(each)) for each in (ours, theirs))
            if not (is_in or holds) or not is_duplicate(identified(), self._candidate(other), same):
                continue
            if not all(self._is_duplicate_of(each, ours, identified()) for each in self._twins(other)):
                continue  # it could be one or the other
            if is_in and not (holds and _age(columns) < self._age(other)):
                columns["twin_of"] = other
            else:
                self._db.execute(
                    "UPDATE conversations SET twin_of = ? WHERE key = ? OR twin_of = ?", (key, other, other)
                )
            return same
        return {}

    def _is_duplicate_of(self, other: int, said: Sequence[Said], conversation: Candidate) -> bool:
        theirs = message_matching.said_in(self._rows(SAID, other))
        return is_duplicate(conversation, self._candidate(other), message_matching.matches(said, theirs))

    def _copies_of_twin(self, key: int, rows: Sequence[Row]) -> dict[bytes, Original]:
        """New rows of a conversation that its twin has got already."""
        if not rows:
            return {}
        ours = message_matching.said_in((place, row.role, row.text, row.at) for place, row in enumerate(rows))
        free = (
            f"{SAID} AND coalesce(copy_of, key) NOT IN "
            "(SELECT coalesce(copy_of, key) FROM timeline WHERE conversation = ?)"
        )
        for other in self._twins(key):
            same = message_matching.matches(ours, message_matching.said_in(self._rows(free, other, key)))
            if same:
                return {rows[place].hash: self._original(their) for place, their in same.items()}
        return {}

    def _twins(self, key: int) -> list[int]:
        sql = (
            "SELECT key FROM conversations WHERE twin_of = ? UNION ALL "
            "SELECT twin_of FROM conversations WHERE key = ? AND twin_of IS NOT NULL"
        )
        return [row[0] for row in self._rows(sql, key, key)]

    def _age(self, key: int) -> tuple[bool, int, str, str]:
        return _age(self._identifying(key))

    def _candidate(self, key: int) -> Candidate:
        """A stored conversation with all that tells it from another one."""
        return _candidate(self._identifying(key), self.entries(key))

    def _identifying(self, key: int) -> dict[str, Any]:
        sql = f"SELECT {', '.join(_IDENTIFYING)} FROM conversations WHERE key = ?"
        return dict(zip(_IDENTIFYING, next(self._rows(sql, key)), strict=True))

    def _original(self, key: int) -> Original:
        sql = "SELECT coalesce(copy_of, key), hash, block, start, size FROM timeline WHERE key = ?"
        return Original(*next(self._rows(sql, key)))


def _candidate(columns: Mapping[str, Any], entries: Iterable[tuple[int, Message | Event]]) -> Candidate:
    messages = {key: entry for key, entry in entries if isinstance(entry, Message)}
    return Candidate(
        columns["source"],
        columns["id"],
        bool(columns["made_id"]),
        columns["project"],
        columns["account_id"],
        messages,
    )


def _age(columns: Mapping[str, Any]) -> tuple[bool, int, str, str]:
    """Of twins that say the same the one is shown that began first, whichever came first."""
    started_ms = columns["started_ms"]
    return started_ms is None, started_ms or 0, columns["source"], columns["id"]
