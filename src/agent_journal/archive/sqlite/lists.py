"""List and count conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.archive.sqlite.connection import IN_VALUES, as_json
from agent_journal.archive.sqlite.conversations import Conversations
from agent_journal.archive.sqlite.provenance import IS_FULL_CONTENT
from agent_journal.archive.sqlite.timelines import Timelines
from agent_journal.archive.store import Counts, Listed, Status
from agent_journal.model import timestamps
from agent_journal.readers import fold_product

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agent_journal.archive.store import Filter, Sort

# A conversation is missing if every file that contains it is gone.
_MISSING = (
    "EXISTS (SELECT 1 FROM contents n WHERE n.conversation = c.key) AND NOT EXISTS "
    "(SELECT 1 FROM contents n JOIN sources s ON s.key = n.source WHERE n.conversation = c.key "
    f"AND s.missing_since IS NULL AND {IS_FULL_CONTENT})"
)
_LISTED = (
    "SELECT c.key, c.id, c.source, coalesce(c.title, c.summary), c.project, c.started_at, "
    "c.updated_at, c.messages, "
    "c.model, c.git_branch, c.parent_id, c.relation, "
    "(SELECT count(*) FROM conversations k WHERE k.source = c.source AND k.parent_id = c.id AND "
    "k.key != c.key), "
    "(SELECT o.source || ':' || o.id FROM conversations o WHERE o.key = c.twin_of), "
    f"{_MISSING}, c.only_prompts, c.product FROM conversations c"
)
# The order of equal ones does not depend on the order of their import.
_NAME = "c.source, c.id"
_SORTS = {
    "updated": f"c.updated_ms {{}} NULLS LAST, {_NAME}",
    "started": f"c.started_ms {{}} NULLS LAST, {_NAME}",
    "messages": f"c.messages {{}}, {_NAME}",
    "title": f"folded(coalesce(c.title, c.summary)) {{}} NULLS LAST, {_NAME}",
    "project": f"folded(c.project) {{}} NULLS LAST, c.updated_ms DESC, {_NAME}",
}
_TEXT_SORTS = {"title", "project"}
# Without this hint SQLite would sort all rows instead of equal ones only.
_INDEX_HINTS = {("updated", True): "INDEXED BY conversations_by_time"}
# A subagent's conversation is shown with the one that started it, if that is stored.
_IS_TOP_LEVEL = (
    "c.twin_of IS NULL AND NOT (c.relation = 'subagent' AND EXISTS (SELECT 1 FROM conversations p "
    "WHERE p.source = c.source AND p.id = c.parent_id))"
)


class Lists(Conversations, Timelines):
    """The part of the store that lists and counts conversations."""

    def conversations(
        self,
        filters: Filter,
        sort: Sort = "updated",
        limit: int | None = None,
        *,
        descending: bool | None = None,
        offset: int = 0,
    ) -> Iterator[Listed]:
        """Yield conversations in the requested order, newest first by default."""
        where, values = conditions(filters)
        if descending is None:
            descending = sort not in _TEXT_SORTS
        chosen = f"{_INDEX_HINTS.get((sort, descending), '')} WHERE {' AND '.join(where) or '1'}"
        order = _SORTS[sort].format("DESC" if descending else "ASC")
        sql = f"{_LISTED} {chosen} ORDER BY {order} LIMIT ? OFFSET ?"
        for row in self._rows(sql, *values, -1 if limit is None else limit, offset):
            yield _listed(row)

    def count_conversations(self, filters: Filter) -> int:
        """Count the conversations that filters select."""
        where, values = conditions(filters)
        count: int = self._value(
            f"SELECT count(*) FROM conversations c WHERE {' AND '.join(where) or '1'}", *values
        )
        return count

    def selected(self, filters: Filter, keys: Collection[int] | None = None) -> set[int]:
        """Return those of some conversations, or of all, that filters select."""
        where, values = conditions(filters)
        if keys is not None:
            where.append(f"c.key {IN_VALUES}")
            values.append(as_json(keys))
        sql = f"SELECT c.key FROM conversations c WHERE {' AND '.join(where) or '1'}"
        return {row[0] for row in self._rows(sql, *values)}

    def find(self, name: str) -> list[Listed]:
        """Return conversations with this id or `source:id`, or else those whose id begins with it."""
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
        """Return conversations as lists show them, by key; missing ones are left out."""
        rows = self._rows(f"{_LISTED} WHERE c.key {IN_VALUES}", as_json(keys))
        return {row[0]: _listed(row) for row in rows}

    def children(self, key: int) -> list[Listed]:
        """Return the conversations that were started from one."""
        sql = (
            f"{_LISTED} WHERE (c.source, c.parent_id) = (SELECT source, id FROM conversations WHERE key = ?) "
            f"AND c.key != ? ORDER BY c.started_ms, {_NAME}"
        )
        return [_listed(row) for row in self._rows(sql, key, key)]

    def subagents(self, keys: Collection[int]) -> set[int]:
        """Return the conversations of subagents that some conversations started."""
        sql = (
            "SELECT k.key FROM conversations p JOIN conversations k ON k.source = p.source "
            f"AND k.parent_id = p.id AND k.key != p.key WHERE k.relation = 'subagent' AND p.key {IN_VALUES}"
        )
        return {row[0] for row in self._rows(sql, as_json(keys))}

    def projects(self) -> list[str]:
        """Return every project folder that a conversation names."""
        return [
            row[0]
            for row in self._rows("SELECT DISTINCT project FROM conversations WHERE project IS NOT NULL")
        ]

    def counts(self) -> Counts:
        """How much the archive holds."""
        by_source = {
            source: {"conversations": conversations, "messages": messages, "updated_at": updated_at}
            # With a single max(), SQLite takes the other columns from the row with the maximum.
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
            hidden_from_lists=self._value(
                f"SELECT count(*) FROM conversations c WHERE NOT ({_IS_TOP_LEVEL})"
            ),
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


# The source has this name, or contains it if none has exactly this name. Without such a source, the product.
_MATCHES_SOURCE = (
    "(lower(c.source) = lower(?) OR (instr(lower(c.source), lower(?)) AND NOT EXISTS "
    "(SELECT 1 FROM conversations x WHERE lower(x.source) = lower(?))) "
    "OR (instr(replace(replace(lower(c.product), ' ', ''), '-', ''), ?) AND NOT EXISTS "
    "(SELECT 1 FROM conversations x WHERE instr(lower(x.source), lower(?)))))"
)


def conditions(filters: Filter) -> tuple[list[str], list[Any]]:
    """Return the SQL conditions that select conversations `c`, and their values."""
    where: list[str] = []
    values: list[Any] = []
    if filters.source:
        where.append(_MATCHES_SOURCE)
        values += [filters.source] * 3 + [fold_product(filters.source), filters.source]
    for column, text in (("c.project", filters.project), ("coalesce(c.title, c.summary)", filters.title)):
        if text:
            where.append(f"instr(folded({column}), folded(?))")
            values.append(text)
    if filters.model:
        where.append(
            "EXISTS (SELECT 1 FROM timeline t WHERE t.conversation = c.key AND "
            "instr(lower(t.model), lower(?))) "
            "OR instr(lower(c.model), lower(?))"
        )
        where[-1] = f"({where[-1]})"
        values += [filters.model, filters.model]
    if filters.since:
        where.append("c.updated_ms >= ?")
        values.append(timestamps.epoch_ms(filters.since))
    if filters.until:
        where.append("c.started_ms < ?")
        values.append(timestamps.epoch_ms(filters.until))
    if filters.folder:
        where.append("substr(replace(c.project, '\\', '/') || '/', 1, ?) = ?")
        folder = filters.folder.replace("\\", "/").rstrip("/") + "/"
        values += [len(folder), folder]
    if filters.within is not None:
        more, their_values = conditions(replace(filters.within, with_children=True))
        where += more
        values += their_values
    if not filters.with_children:
        where.append(_IS_TOP_LEVEL)
    if filters.only_missing:
        where.append(_MISSING)
    return where, values


def _listed(row: tuple[Any, ...]) -> Listed:
    (key, id_, source, title, project, started_at, updated_at, messages, model, branch, parent, relation,
     children, twin_of, missing, only_prompts, product) = row  # fmt: skip
    return Listed(
        key=key,
        id=id_,
        source=source,
        product=product,
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
