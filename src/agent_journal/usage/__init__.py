"""Token usage and its cost: each token is counted once, estimates separately from stated counts."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import asdict

from agent_journal.archive.store import UsageConversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive.store import UsageSum

By: TypeAlias = Literal["day", "week", "month", "conversation", "model", "project", "source"]
GROUPINGS: tuple[By, ...] = ("day", "week", "month", "conversation", "model", "project", "source")
PERIODS: tuple[By, ...] = ("day", "week", "month")


class TokenTotals(msgspec.Struct, kw_only=True):
    """Sums of tokens and their cost."""

    messages: int = 0
    """The number of counted answers of models."""
    input: int = 0
    """Without tokens read from or written to a cache."""
    output: int = 0
    """Including reasoning."""
    cache_read: int = 0
    cache_write: int = 0
    """All cache writes; those for 5 minutes and for an hour are parts of it, where stated."""
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    total: int = 0
    cost_usd: float = 0.0
    """The stated cost where there is one, else what the API would have cost."""
    cost_stated_usd: float = 0.0
    unpriced: int = 0
    """Tokens without a known price, which are not in the cost."""

    @classmethod
    def combine(cls, totals: Sequence[TokenTotals]) -> TokenTotals:
        """Add up several totals."""
        if len(totals) <= 1:
            return totals[0] if totals else cls()
        return cls(**{name: sum(map(attrgetter(name), totals)) for name in cls.__struct_fields__})

    def add(self, usage: UsageSum, cost_usd: float, unpriced: int) -> None:
        """Add usage with its cost and the number of its tokens without a price."""
        self.messages += usage.answers
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        self.cache_write_5m += usage.cache_write_5m
        self.cache_write_1h += usage.cache_write_1h
        self.reasoning += usage.reasoning
        self.total += usage.total
        self.cost_usd += cost_usd
        if usage.is_stated:
            self.cost_stated_usd += cost_usd
        self.unpriced += unpriced

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values, dollars to the millionth."""
        values: dict[str, Any] = asdict(self)
        for name in ("cost_usd", "cost_stated_usd"):
            values[name] = round(values[name], 6)
        return values


class Row(msgspec.Struct, kw_only=True):
    """A row of a report."""

    name: str | None
    """The day, the model, …; None where the source does not state it."""
    is_estimated: bool = False
    sums: TokenTotals = msgspec.field(default_factory=TokenTotals)
    models: dict[str | None, TokenTotals] = {}
    holder: UsageConversation | None = None
    """The conversation, in a report by conversation."""

    def to_dict(self, by: By) -> dict[str, Any]:
        """Return this as JSON values; `by` is what the report is by, which names the row."""
        values: dict[str, Any] = {by: self.name}
        if self.holder is not None:
            holder = self.holder
            values |= {"source": holder.source, "title": holder.title, "project": holder.project}
        values |= self.sums.to_dict()
        values["models"] = sorted(model for model in self.models if model is not None)
        if self.is_estimated:
            values["estimated"] = True
        return values


class Notices(msgspec.Struct, kw_only=True):
    """What readers of a report should know."""

    unpriced: dict[str, int] = {}
    """Tokens by model, where no price is known; the name is empty if the model is unknown."""
    impossible: dict[str, int] = {}
    """By source: answers with impossible counts, which are left out."""
    refused: dict[str, int] = {}
    """By source: answers with an invalid count; only their other counts are summed."""
    without_counts: dict[str, int] = {}
    """By source: answers without counts."""
    uncounted: dict[str, int] = {}
    """By source: conversations that are left out because none of their answers has counts."""
    estimated: dict[str, int] = {}
    """By source: answers that are left out because their counts are only estimates."""
    undated: int = 0
    """Answers without a time."""
    misdated: int = 0
    """Answers dated before 2020 or after tomorrow."""
    undercounts: dict[str, str] = {}
    """By source: what it is known to undercount."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class Report(msgspec.Struct, kw_only=True):
    """Usage by row and in total; estimates have their own rows and total."""

    by: By
    rows: list[Row]
    total: TokenTotals
    estimated: TokenTotals
    notices: Notices

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "by": self.by,
            "rows": [row.to_dict(self.by) for row in self.rows],
            "total": self.total.to_dict(),
            "estimated": self.estimated.to_dict(),
            "notices": self.notices.to_dict(),
        }
