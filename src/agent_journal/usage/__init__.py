"""What was used and what it cost: each token once, what is estimated apart from what is stated."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from agent_journal.archive.store import Holder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive.store import Spent

By: TypeAlias = Literal["day", "week", "month", "conversation", "model", "project", "source"]
WAYS: tuple[By, ...] = ("day", "week", "month", "conversation", "model", "project", "source")
PERIODS: tuple[By, ...] = ("day", "week", "month")


class Sums(msgspec.Struct, kw_only=True):
    """Tokens, and what they cost."""

    messages: int = 0
    """Answers of models that were counted."""
    input: int = 0
    """Without what a cache gave or was given."""
    output: int = 0
    """With reasoning."""
    cache_read: int = 0
    cache_write: int = 0
    """All of it; what was to stay for 5 minutes or for an hour is a part of it, where that is stated."""
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    total: int = 0
    cost_usd: float = 0.0
    """What the sources state, and for all else what the API would have cost."""
    cost_stated_usd: float = 0.0
    unpriced: int = 0
    """Tokens that have no price, and so are not in the cost."""

    @classmethod
    def of(cls, many: Sequence[Sums]) -> Sums:
        """All of them together."""
        if len(many) <= 1:
            return many[0] if many else cls()
        return cls(**{name: sum(map(attrgetter(name), many)) for name in cls.__struct_fields__})

    def take(self, spent: Spent, cost_usd: float, unpriced: int) -> None:
        """Add what was used, with what it cost and how much of it has no price."""
        self.messages += spent.answers
        self.input += spent.input
        self.output += spent.output
        self.cache_read += spent.cache_read
        self.cache_write += spent.cache_write
        self.cache_write_5m += spent.cache_write_5m
        self.cache_write_1h += spent.cache_write_1h
        self.reasoning += spent.reasoning
        self.total += spent.total
        self.cost_usd += cost_usd
        if spent.is_stated:
            self.cost_stated_usd += cost_usd
        self.unpriced += unpriced


class Row(msgspec.Struct, kw_only=True):
    """One line of a report."""

    name: str | None
    """The day, the model, …; None where the source does not tell."""
    is_estimated: bool = False
    sums: Sums = msgspec.field(default_factory=Sums)
    models: dict[str | None, Sums] = {}
    holder: Holder | None = None
    """The conversation, if it is the line of one."""


class Notices(msgspec.Struct, kw_only=True):
    """What a report does not pass over in silence."""

    unpriced: dict[str, int] = {}
    """Tokens by model, where no price is known; the name is empty where no model is."""
    impossible: dict[str, int] = {}
    """By source: answers whose counts cannot be true and are left out."""
    refused: dict[str, int] = {}
    """By source: answers of which some count is no count, and only the others are summed."""
    without_counts: dict[str, int] = {}
    """By source: answers that tell no counts."""
    uncounted: dict[str, int] = {}
    """By source: conversations that are left out because it tells no counts of any of their answers."""
    estimated: dict[str, int] = {}
    """By source: answers that are left out because it only estimates their counts."""
    undated: int = 0
    """Answers without a time."""
    misdated: int = 0
    """Answers dated before 2020 or after tomorrow."""
    undercounts: dict[str, str] = {}
    """By source: what it is known to count too low."""


class Report(msgspec.Struct, kw_only=True):
    """What was used, line by line and in sum; estimates have lines and a sum of their own."""

    by: By
    rows: list[Row]
    total: Sums
    estimated: Sums
    notices: Notices
