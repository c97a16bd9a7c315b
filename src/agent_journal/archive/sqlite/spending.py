"""What was used: sums for reports, and which answers nobody counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import apsw

from agent_journal import times
from agent_journal.archive.sqlite.lists import Lists, conditions
from agent_journal.archive.store import Filter, Holder, Spent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SUMMED = (
    "answers", "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h",
    "reasoning", "other", "cost_usd",
)  # fmt: skip
SLOT_MS = 900_000


class Spending(Lists):
    """The part of the store that tells what was used."""

    def usage(
        self,
        wanted: Filter,
        bucket: Callable[[int | None], int],
        *,
        sizes: Sequence[int] = (),
        by_conversation: bool = False,
    ) -> Iterator[Spent]:
        """What was used, summed up by bucket, source, model and state, and by conversation if asked for.

        `bucket` is given quarters of an hour since 1970, None where the time is not known. What is wanted by
        its time is so to the quarter of an hour. Of `sizes`, prompts are told by the largest they are above.
        """
        where, values = _conditions(wanted)
        cases = " ".join(f"WHEN s.above >= {size:d} THEN {size:d}" for size in sorted(sizes, reverse=True))
        above = f"CASE {cases} ELSE 0 END" if cases else "0"
        groups = f"{'s.conversation' if by_conversation else '0'}, bucket(s.slot), c.source, s.model, {above}"
        sums = ", ".join(f"sum(s.{name})" for name in _SUMMED)
        sql = (
            f"SELECT {groups}, s.estimated, s.state, s.is_stated, {sums} "
            "FROM usage_sums s CROSS JOIN conversations c ON c.key = s.conversation "
            f"WHERE {' AND '.join(where) or '1'} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
        )
        self._db.create_scalar_function("bucket", cast("Any", bucket), 1, deterministic=True)
        try:
            for row in self._rows(sql, *values):
                yield Spent(*row)
        except apsw.Error as error:
            raise self._told(error) from error

    def used_models(self) -> list[str]:
        """Every model that something was used of."""
        sql = "SELECT DISTINCT model FROM usage_sums WHERE model IS NOT NULL ORDER BY model"
        return [row[0] for row in self._rows(sql)]

    def holders(self) -> dict[int, Holder]:
        """Every conversation by its key, as far as reports name it."""
        sql = (
            "SELECT c.key, c.source, c.id, coalesce(c.title, c.summary), c.project, c.started_at, p.key "
            "FROM conversations c LEFT JOIN conversations p ON c.relation = 'subagent' "
            "AND p.source = c.source AND p.id = c.parent_id AND p.key != c.key"
        )
        return {row[0]: Holder(*row) for row in self._rows(sql)}

    def copied(self, conversation: int) -> set[int]:
        """Keys of those entries of a conversation that repeat another's."""
        sql = "SELECT key FROM timeline WHERE conversation = ? AND copy_of IS NOT NULL"
        return {row[0] for row in self._rows(sql, conversation)}


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
    since, until = times.epoch_ms(wanted.since), times.epoch_ms(wanted.until)
    if since is not None:
        where.append("s.slot >= ?")
        values.append(since // SLOT_MS)
    if until is not None:
        where.append("s.slot < ?")
        values.append(-(-until // SLOT_MS))
    return where, values
