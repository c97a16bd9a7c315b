"""What tokens cost: by a person's own prices, or by those that vendors ask of users of their API.

A price holds from a day on, perhaps at some hours only, and may depend on how large a prompt is. Nothing here
touches the network: prices come with a package (`catalog.py`) or from the configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MILLION = 1_000_000
QUARTERS = 96
"""Quarters of an hour in a day."""
# Vendors put the day of a version behind its name: claude-sonnet-4-5-20250929, gpt-4o-2024-08-06.
_DATED = re.compile(r"[-@]20\d\d-?[01]\d-?[0-3]\d$")


class Tokens(Protocol):
    """Counts as `Usage` has them: input without the cache, output with reasoning."""

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
    """US dollars for a million tokens; a write to the cache is for 5 minutes unless it is for an hour."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float

    def cost(self, tokens: Tokens) -> float:
        """What so many tokens cost."""
        written, hour = tokens.cache_write or 0, tokens.cache_write_1h or 0
        return (
            (tokens.input or 0) * self.input
            + (tokens.output or 0) * self.output
            + (tokens.cache_read or 0) * self.cache_read
            + max(written - hour, 0) * self.cache_write
            + hour * self.cache_write_1h
        ) / _MILLION


class Offer(Struct, frozen=True, array_like=True):
    """Prices that hold from a day on, or at some hours of each day."""

    rates: list[tuple[int, Rates]]
    """By the size of the prompt that they begin above, smallest first."""
    since: int | None = None
    """Days since 1970, UTC."""
    hours: tuple[int, int] | None = None
    """Minutes of the day, UTC; they may go over midnight."""

    def holds(self, slot: int) -> bool:
        """Whether it holds in a quarter of an hour since 1970."""
        day, quarter = divmod(slot, QUARTERS)
        if self.since is not None:
            return day >= self.since
        if self.hours is None:
            return True
        first, last = self.hours
        minute = quarter * 15
        return first <= minute < last if first <= last else minute >= first or minute < last

    def rates_above(self, size: int) -> Rates:
        """The prices for prompts larger than a size."""
        return [rates for above, rates in self.rates if above <= size][-1]


def rates_at(offers: Sequence[Offer], slot: int | None, size: int = 0) -> Rates:
    """The prices of a quarter of an hour: of all that hold the last; without a time the newest."""
    if slot is None:
        return offers[-1].rates_above(size)
    holding = [offer for offer in offers if offer.holds(slot)]
    return (holding[-1] if holding else offers[0]).rates_above(size)


def settled(prices: Mapping[str, Rates], model: str) -> Rates | None:
    """A person's own prices of a model; those of a name hold for its dated versions too."""
    return prices.get(model) or prices.get(_DATED.sub("", model))


class Cost(NamedTuple):
    """What tokens cost, and whether that is by prices that a person settled."""

    usd: float
    is_settled: bool


def calculate_cost(tokens: Tokens, model: str, prices: Mapping[str, Rates]) -> float:
    """What tokens cost by a table of prices; nothing where the table does not have the model.

    So document 000 has it. Reports name such models instead.
    """
    rates = settled(prices, model)
    return 0.0 if rates is None else rates.cost(tokens)
