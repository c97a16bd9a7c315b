"""The cost of tokens: by the user's own prices, or by the vendors' API prices.

A price applies from a day on or at some hours only, and may depend on the size of the prompt. Nothing here
uses the network: prices come from a package (`catalog.py`) or from the configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOKENS_PER_PRICE = 1_000_000
SLOTS_PER_DAY = 96
"""A slot is a quarter of an hour."""
# Vendors append the date of a version to its name: claude-sonnet-4-5-20250929, gpt-4o-2024-08-06.
_VERSION_DATE = re.compile(r"[-@]20\d\d-?[01]\d-?[0-3]\d$")


class Tokens(Protocol):
    """Counts as in `Usage`: input without the cache, output including reasoning."""

    @property
    def input(self) -> int | None: ...  # noqa: D102
    @property
    def output(self) -> int | None: ...  # noqa: D102
    @property
    def cache_read(self) -> int | None: ...  # noqa: D102
    @property
    def cache_write(self) -> int | None: ...  # noqa: D102
    @property
    def cache_write_1h(self) -> int | None: ...  # noqa: D102


class Rates(Struct, frozen=True, array_like=True):
    """US dollars per million tokens; cache writes are for 5 minutes unless they are for an hour."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float

    def cost(self, tokens: Tokens) -> float:
        """Return the cost of tokens in US dollars."""
        written, hour = tokens.cache_write or 0, tokens.cache_write_1h or 0
        return (
            (tokens.input or 0) * self.input
            + (tokens.output or 0) * self.output
            + (tokens.cache_read or 0) * self.cache_read
            + max(written - hour, 0) * self.cache_write
            + hour * self.cache_write_1h
        ) / _TOKENS_PER_PRICE


class Offer(Struct, frozen=True, array_like=True):
    """Prices that apply from a day on, or at some hours of each day."""

    rates: list[tuple[int, Rates]]
    """Rates with the prompt size above which they apply, smallest first."""
    since: int | None = None
    """Days since 1970, UTC."""
    hours: tuple[int, int] | None = None
    """Minutes of the day, UTC; the range may cross midnight."""

    def applies_at(self, slot: int) -> bool:
        """Whether the offer applies in a slot (quarters of an hour since 1970)."""
        day, quarter = divmod(slot, SLOTS_PER_DAY)
        if self.since is not None:
            return day >= self.since
        if self.hours is None:
            return True
        first, last = self.hours
        minute = quarter * 15
        return first <= minute < last if first <= last else minute >= first or minute < last

    def rates_above(self, size: int) -> Rates:
        """Return the rates for prompts larger than a size."""
        return [rates for threshold, rates in self.rates if threshold <= size][-1]


def rates_at(offers: Sequence[Offer], slot: int | None, size: int = 0) -> Rates:
    """Return the rates in a slot: those of the last offer that applies; without a time, the newest."""
    if slot is None:
        return offers[-1].rates_above(size)
    applicable = [offer for offer in offers if offer.applies_at(slot)]
    return (applicable[-1] if applicable else offers[0]).rates_above(size)


def find_rates(prices: Mapping[str, Rates], model: str) -> Rates | None:
    """Return the user's own rates of a model; those of a name also apply to its dated versions."""
    return prices.get(model) or prices.get(_VERSION_DATE.sub("", model))


class Cost(NamedTuple):
    """The cost of tokens, and whether it is by the user's own prices."""

    usd: float
    is_settled: bool


def calculate_cost(tokens: Tokens, model: str, prices: Mapping[str, Rates]) -> float:
    """Return the cost of tokens by a table of prices; 0 if the model is not in the table.

    Document 000 defines it so. Reports list such models instead.
    """
    rates = find_rates(prices, model)
    return 0.0 if rates is None else rates.cost(tokens)
