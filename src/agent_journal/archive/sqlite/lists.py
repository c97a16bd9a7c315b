"""Lists of conversations, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.archive.sqlite.connection import AMONG, as_json
from agent_journal.archive.sqlite.conversations import Conversations
from agent_journal.archive.sqlite.provenance import TELLS
from agent_journal.archive.sqlite.search_rows import Finds
from agent_journal.archive.store import Counts, Listed, Status
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agent_journal.archive.store import Filter

# Missing is what no file tells any more.
_MISSING = (
    "EXISTS (SELECT 1 FROM contents n WHERE n.conversation = c.key) AND NOT EXISTS "
    "(SELECT 1 FROM contents n JOIN sources s ON s.key = n.source WHERE n.conversation = c.key "
    f"AND s.missing_since IS NULL AND {TELLS})"
)
_LISTED = (
    "SELECT c.key, c.id, c.source, coalesce(c.title, c.summary), c.project, c.started_at, "
    "c.updated_at, c.messages, "
    "c.model, c.git_branch, c.parent_id, c.relation, "
    "(SELECT count(*) FROM conversations k WHERE k.source = c.source AND k.parent_id = c.id AND "
    "k.key != c.key), "
    "(SELECT o.source || ':' || o.id FROM conversations o WHERE o.key = c.twin_of), "
    f"{_MISSING}, c.only_prompts FROM conversations c"
)
# Which of several alike goes first does not depend on the order in which they were imported.
_NAME = "c.source, c.id"
_SORTS = {
    "updated": f"c.updated_ms DESC NULLS LAST, {_NAME}",
    "started": f"c.started_ms DESC NULLS LAST, {_NAME}",
    "messages": f"c.messages DESC, {_NAME}",
    "title": f"folded(coalesce(c.title, c.summary)) NULLS LAST, {_NAME}",
    "project": f"folded(c.project) NULLS LAST, c.updated_ms DESC, {_NAME}",
}
SORTS = tuple(_SORTS)
# SQLite would sort all of them rather than those alike.
_IN_ORDER = {"updated": "INDEXED BY conversations_by_time"}
# A subagent's conversation is shown with the one it works for, if that is there.
_ITS_OWN = (
    "c.twin_of IS NULL AND NOT (c.relation = 'subagent' AND EXISTS (SELECT 1 FROM conversations p "
    "WHERE p.source = c.source AND p.id = c.parent_id))"
)


class Lists(Conversations, Finds):
    """The part of the store that answers what there is."""

    def conversations(
        self, wanted: Filter, sort: str = "updated", limit: int | None = None
    ) -> Iterator[Listed]:
        """Conversations in the order asked for, newest first by default."""
        where, values = conditions(wanted)
        chosen = f"{_IN_ORDER.get(sort, '')} WHERE {' AND '.join(where) or '1'}"
        sql = f"{_LISTED} {chosen} ORDER BY {_SORTS[sort]} LIMIT ?"
        for row in self._rows(sql, *values, -1 if limit is None else limit):
            yield _listed(row)

    def find(self, name: str) -> list[Listed]:
        """Conversations whose id, or `source:id`, is this, else those where it begins so."""
        source, _, id_ = name.partition(":")
        exact = [
            *self._rows(f"{_LISTED} WHERE c.id = ?", name),
            *self._rows(f"{_LISTED} WHERE c.source = ? AND c.id = ?", source, id_),
        ]
        if exact or not name:
            return [_listed(row) for row in exact]
        begins = self._rows(
            f"{_LISTED} WHERE substr(c.id, 1, ?) = ? OR (c.source = ? AND substr(c.id, 1, ?) = "
            "?) ORDER BY c.key",
            len(name), name, source, len(id_) or 1, id_,
        )  # fmt: skip
        return [_listed(row) for row in begins]

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Conversations as lists show them; those that are no longer there are left out."""
        rows = self._rows(f"{_LISTED} WHERE c.key {AMONG}", as_json(keys))
        return {row[0]: _listed(row) for row in rows}

    def children(self, key: int) -> list[Listed]:
        """Conversations that came out of one."""
        sql = (
            f"{_LISTED} WHERE (c.source, c.parent_id) = (SELECT source, id FROM conversations WHERE key = ?) "
            f"AND c.key != ? ORDER BY c.started_ms, {_NAME}"
        )
        return [_listed(row) for row in self._rows(sql, key, key)]

    def projects(self) -> list[str]:
        """Every project folder that a conversation names."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT project FROM conversations WHERE project IS NOT NULL")
        ]

    def counts(self) -> Counts:
        """How much there is."""
        by_source = {
            source: {"conversations": conversations, "messages": messages, "updated_at": updated_at}
            # With one max(), SQLite takes what stands beside it from the row that has it.
            for source, conversations, messages, updated_at, _ in self._rows(
                "SELECT source, count(*), sum(messages), updated_at, max(updated_ms) FROM conversations "
                "GROUP BY source ORDER BY count(*) DESC, source"
            )
        }
        sources, missing, partly, unread, size = next(
            self._rows(
                "SELECT count(*), count(missing_since), coalesce(sum(status = ?), 0), "
                "coalesce(sum(status IN (?, ?)), 0), coalesce(sum(size), 0) FROM sources",
                Status.PARTLY,
                Status.UNREADABLE,
                Status.UNKNOWN,
            )
        )
        return Counts(
            conversations=self._value("SELECT count(*) FROM conversations"),
            aside=self._value(f"SELECT count(*) FROM conversations c WHERE NOT ({_ITS_OWN})"),
            messages=self._value("SELECT coalesce(sum(messages), 0) FROM conversations"),
            events=self._value("SELECT coalesce(sum(events), 0) FROM conversations"),
            tool_calls=self._value("SELECT count(*) FROM tool_calls"),
            memories=self._value("SELECT count(*) FROM memories"),
            sources=sources,
            missing=missing,
            partly=partly,
            unread=unread,
            bytes=size,
            by_source=by_source,
        )


# A source is called so; or in part, if none is called just so.
_OF_SOURCE = (
    "(lower(c.source) = lower(?) OR (instr(lower(c.source), lower(?)) AND NOT EXISTS "
    "(SELECT 1 FROM conversations x WHERE lower(x.source) = lower(?))))"
)


def conditions(wanted: Filter) -> tuple[list[str], list[Any]]:
    """The SQL by which conversations, as `c`, are chosen, and its values."""
    where: list[str] = []
    values: list[Any] = []
    if wanted.source:
        where.append(_OF_SOURCE)
        values += [wanted.source] * 3
    for column, text in (("c.project", wanted.project), ("coalesce(c.title, c.summary)", wanted.title)):
        if text:
            where.append(f"instr(folded({column}), folded(?))")
            values.append(text)
    if wanted.model:
        where.append(
            "EXISTS (SELECT 1 FROM timeline t WHERE t.conversation = c.key AND "
            "instr(lower(t.model), lower(?))) "
            "OR instr(lower(c.model), lower(?))"
        )
        where[-1] = f"({where[-1]})"
        values += [wanted.model, wanted.model]
    if wanted.since:
        where.append("c.updated_ms >= ?")
        values.append(timestamps.epoch_ms(wanted.since))
    if wanted.until:
        where.append("c.started_ms < ?")
        values.append(timestamps.epoch_ms(wanted.until))
    if not wanted.with_children:
        where.append(_ITS_OWN)
    if wanted.only_missing:
        where.append(_MISSING)
    return where, values


def _listed(row: tuple[Any, ...]) -> Listed:
    (key, id_, source, title, project, started_at, updated_at, messages, model, branch, parent, relation,
     children, twin_of, missing, only_prompts) = row  # fmt: skip
    return Listed(
        key=key,
        id=id_,
        source=source,
        title=title,
        project=project,
        started_at=started_at,
        updated_at=updated_at,
        messages=messages,
        model=model,
        git_branch=branch,
        parent_id=parent,
        relation=relation,
        children=children,
        twin_of=twin_of,
        source_missing=bool(missing),
        only_prompts=bool(only_prompts),
    )
