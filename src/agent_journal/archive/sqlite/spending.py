"""What was used: sums for reports, and which answers nobody counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import apsw
from msgspec.structs import replace

from agent_journal.archive.sqlite.lists import Lists, conditions
from agent_journal.archive.store import Filter, Holder, Spent
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SUMMED = (
    "answers", "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h",
    "reasoning", "other", "cost_usd",
)  # fmt: skip
SLOT_MS = 900_000
# Whether none of a conversation's answers is counted, and it has some that it does not repeat from another
# one. Forks and subagents of a counted conversation may repeat it in words that are not known as copies.
_UNCOUNTED = """
    c.twin_of IS NULL
    AND c.key NOT IN (SELECT conversation FROM usage_sums)
    AND EXISTS (SELECT 1 FROM timeline a
      WHERE a.conversation = c.key AND a.role = 'assistant' AND a.copy_of IS NULL)
    AND NOT EXISTS (SELECT 1 FROM conversations p JOIN usage_sums s ON s.conversation = p.key
      WHERE p.source = c.source AND p.id = c.parent_id)
"""


class Spending(Lists):
    """The part of the store that tells what was used."""

    def usage(
        self,
        wanted: Filter,
        bucket: Callable[[int | None], int],
        *,
        sizes: Mapping[str, Sequence[int]] | None = None,
        per: Literal["conversation", "project"] | None = None,
    ) -> Iterator[Spent]:
        """What was used, summed up by bucket, source, model and state, and per conversation or project.

        `bucket` is given quarters of an hour since 1970, None where the time is not known. What is wanted by
        its time is so to the quarter of an hour. Of the `sizes` of a model, its prompts are told by the
        largest they are above.
        """
        above, models = _above(sizes or {})
        where, values = _conditions(wanted)
        conversation = "s.conversation" if per == "conversation" else "0"
        project = "c.project" if per == "project" else "NULL"
        sums = ", ".join(f"sum(s.{name})" for name in _SUMMED)
        # SQLite sorts by all of these: first comes what differs most, what is always the same is left out.
        groups = {"conversation": "1, ", "project": "2, ", None: ""}[per] + "3, 6, 5, 4, 7, 8, 9"
        sql = (
            f"SELECT {conversation}, {project}, bucket(s.slot), c.source, s.model, {above}, s.estimated, "
            f"s.state, s.is_stated, {sums} "
            "FROM usage_sums s CROSS JOIN conversations c ON c.key = s.conversation "
            f"WHERE {' AND '.join(where) or '1'} GROUP BY {groups}"
        )
        self._db.create_scalar_function("bucket", cast("Any", bucket), 1, deterministic=True)
        try:
            yield from map(Spent._make, self._rows(sql, *models, *values))
        except apsw.Error as error:
            raise self._told(error) from error

    def used_models(self) -> list[str]:
        """Every model that something was used of."""
        # With ORDER BY, SQLite would sort every row before it looks which are the same.
        sql = "SELECT DISTINCT model FROM usage_sums WHERE model IS NOT NULL"
        return sorted(row[0] for row in self._rows(sql))

    def uncounted(self, wanted: Filter) -> dict[str, int]:
        """By source: how many conversations hold answers of their own, none of which is counted."""
        where, values = conditions(replace(wanted, with_children=True))
        sql = (
            "SELECT c.source, count(*) FROM conversations c "
            f"WHERE {' AND '.join([_UNCOUNTED, *where])} GROUP BY 1 ORDER BY 1"
        )
        return dict(self._rows(sql, *values))

    def holders(self) -> dict[int, Holder]:
        """Every conversation by its key, as far as reports name it."""
        sql = (
            "SELECT c.key, c.source, c.id, coalesce(c.title, c.summary), c.project, c.started_at, "
            "coalesce(c.twin_of, p.key) "
            "FROM conversations c LEFT JOIN conversations p ON c.relation = 'subagent' "
            "AND p.source = c.source AND p.id = c.parent_id AND p.key != c.key"
        )
        return {row[0]: Holder(*row) for row in self._rows(sql)}

    def copied(self, conversation: int) -> set[int]:
        """Keys of those entries of a conversation that repeat another's."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND copy_of IS NOT NULL"
        return {row[0] for row in self._rows(sql, conversation)}


def _above(sizes: Mapping[str, Sequence[int]]) -> tuple[str, list[str]]:
    """The SQL by which prompts are told by their size, and its values: models that have such prices."""
    cases: list[str] = []
    models: list[str] = []
    for size in sorted({size for each in sizes.values() for size in each}, reverse=True):
        having = [model for model, each in sizes.items() if size in each]
        places = ", ".join("?" * len(having))
        cases.append(f"WHEN s.above >= {size:d} AND s.model IN ({places}) THEN {size:d}")
        models += having
    return (f"CASE {' '.join(cases)} ELSE 0 END" if cases else "0"), models


def _conditions(wanted: Filter) -> tuple[list[str], list[Any]]:
    """Conversations by what they are, tokens by their own time and model."""
    of_conversations = Filter(
        source=wanted.source,
        project=wanted.project,
        title=wanted.title,
        only_missing=wanted.only_missing,
        with_children=True,
    )
    where, values = conditions(of_conversations)
    if wanted.model:
        where.append("instr(lower(s.model), lower(?))")
        values.append(wanted.model)
    since, until = timestamps.epoch_ms(wanted.since), timestamps.epoch_ms(wanted.until)
    if since is not None:
        where.append("s.slot >= ?")
        values.append(since // SLOT_MS)
    if until is not None:
        where.append("s.slot < ?")
        values.append(-(-until // SLOT_MS))
    return where, values
