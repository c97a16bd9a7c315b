"""Sum up usage for reports, and find answers without usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import apsw
from msgspec.structs import replace

from agent_journal.archive.sqlite.lists import Lists, conditions
from agent_journal.archive.store import Filter, UsageConversation, UsageSum
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SUMMED = (
    "answers", "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h",
    "reasoning", "other", "cost_usd",
)  # fmt: skip
SLOT_MS = 900_000
# Whether none of a conversation's answers has usage, and some are not copies. Forks and subagents of a
# conversation with usage may repeat it in words that are not recognized as copies.
_UNCOUNTED = """
    c.twin_of IS NULL
    AND c.key NOT IN (SELECT conversation FROM usage_sums)
    AND EXISTS (SELECT 1 FROM timeline a
      WHERE a.conversation = c.key AND a.role = 'assistant' AND a.copy_of IS NULL)
    AND NOT EXISTS (SELECT 1 FROM conversations p JOIN usage_sums s ON s.conversation = p.key
      WHERE p.source = c.source AND p.id = c.parent_id)
"""


class Spending(Lists):
    """The part of the store that sums up usage."""

    def usage(
        self,
        filters: Filter,
        bucket: Callable[[int | None], int],
        *,
        sizes: Mapping[str, Sequence[int]] | None = None,
        per: Literal["conversation", "project"] | None = None,
    ) -> Iterator[UsageSum]:
        """Yield usage summed by bucket, source, model and state, and per conversation or project.

        `bucket` maps quarters of an hour since 1970 (None: unknown time) to a bucket. Filters by time are
        accurate to the quarter of an hour. `sizes` are the price tiers of models: prompts are grouped by the
        highest tier that they exceed.
        """
        tier_sql, models = _price_tier_sql(sizes or {})
        where, values = _conditions(filters)
        conversation = "s.conversation" if per == "conversation" else "0"
        project = "c.project" if per == "project" else "NULL"
        sums = ", ".join(f"sum(s.{name})" for name in _SUMMED)
        # SQLite sorts by all of these: put the most selective first, and leave out constants.
        groups = {"conversation": "1, ", "project": "2, ", None: ""}[per] + "3, 6, 5, 4, 7, 8, 9"
        sql = (
            f"SELECT {conversation}, {project}, bucket(s.slot), c.source, s.model, {tier_sql}, s.estimated, "
            f"s.state, s.is_stated, {sums} "
            "FROM usage_sums s CROSS JOIN conversations c ON c.key = s.conversation "
            f"WHERE {' AND '.join(where) or '1'} GROUP BY {groups}"
        )
        self._db.create_scalar_function("bucket", cast("Any", bucket), 1, deterministic=True)
        try:
            yield from map(UsageSum._make, self._rows(sql, *models, *values))
        except apsw.Error as error:
            raise self._public_error(error) from error

    def used_models(self) -> list[str]:
        """Return every model with usage."""
        # With ORDER BY, SQLite would sort every row before it removes duplicates.
        sql = "SELECT DISTINCT model FROM usage_sums WHERE model IS NOT NULL"
        return sorted(row[0] for row in self._rows(sql))

    def uncounted(self, filters: Filter) -> dict[str, int]:
        """Return, by source, how many conversations have answers of their own but no usage."""
        where, values = conditions(replace(filters, with_children=True))
        sql = (
            "SELECT c.source, count(*) FROM conversations c "
            f"WHERE {' AND '.join([_UNCOUNTED, *where])} GROUP BY 1 ORDER BY 1"
        )
        return dict(self._rows(sql, *values))

    def usage_conversations(self) -> dict[int, UsageConversation]:
        """Return every conversation as reports show it, by key."""
        sql = (
            "SELECT c.key, c.source, c.id, coalesce(c.title, c.summary), c.project, c.started_at, "
            "coalesce(c.twin_of, p.key) "
            "FROM conversations c LEFT JOIN conversations p ON c.relation = 'subagent' "
            "AND p.source = c.source AND p.id = c.parent_id AND p.key != c.key"
        )
        return {row[0]: UsageConversation(*row) for row in self._rows(sql)}

    def copied_keys(self, conversation: int) -> set[int]:
        """Return the keys of a conversation's entries that are copies of others."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND copy_of IS NOT NULL"
        return {row[0] for row in self._rows(sql, conversation)}


def _price_tier_sql(sizes: Mapping[str, Sequence[int]]) -> tuple[str, list[str]]:
    """Return the SQL for the price tier of prompts, and its values: the models with such tiers."""
    cases: list[str] = []
    models: list[str] = []
    for size in sorted({size for each in sizes.values() for size in each}, reverse=True):
        tiered_models = [model for model, each in sizes.items() if size in each]
        places = ", ".join("?" * len(tiered_models))
        cases.append(f"WHEN s.above >= {size:d} AND s.model IN ({places}) THEN {size:d}")
        models += tiered_models
    return (f"CASE {' '.join(cases)} ELSE 0 END" if cases else "0"), models


def _conditions(filters: Filter) -> tuple[list[str], list[Any]]:
    """Return SQL conditions: conversations by their properties, usage by its own time and model."""
    of_conversations = Filter(
        source=filters.source,
        project=filters.project,
        title=filters.title,
        only_missing=filters.only_missing,
        with_children=True,
        folder=filters.folder,
        within=filters.within,
    )
    where, values = conditions(of_conversations)
    if filters.model:
        where.append("instr(lower(s.model), lower(?))")
        values.append(filters.model)
    since, until = timestamps.epoch_ms(filters.since), timestamps.epoch_ms(filters.until)
    if since is not None:
        where.append("s.slot >= ?")
        values.append(since // SLOT_MS)
    if until is not None:
        where.append("s.slot < ?")
        values.append(-(-until // SLOT_MS))
    return where, values
