"""Which price holds: a person's own goes before a catalog's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal import times
from agent_journal.counts import is_possible
from agent_journal.pricing import QUARTERS, rates_at, settled
from agent_journal.pricing.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.config import Config
    from agent_journal.model import Message
    from agent_journal.pricing import Offer, Rates

_SLOT_MS = 86_400_000 // QUARTERS
KEPT = "prices-kept.json"


class Prices:
    """What tokens cost at a time."""

    def __init__(self, config: Config) -> None:
        self._own = {model: price.rates() for model, price in config.prices.items()}
        self._catalog = Catalog(config.home / KEPT)
        self._known: dict[tuple[str, int | None, int], Rates | None] = {}

    def change_by_hour(self, models: Iterable[str]) -> bool:
        """Whether the price of some model depends on the hour."""
        return any(offer.hours for model in models for offer in self._offers(model))

    def sizes(self, models: Iterable[str]) -> list[int]:
        """The sizes of prompts above which some model has another price."""
        offers = (offer for model in models for offer in self._offers(model))
        return sorted({above for offer in offers for above, _ in offer.rates} - {0})

    def rates(self, model: str | None, slot: int | None, size: int) -> Rates | None:
        """The prices of a model at a time, for prompts above a size; None where none are known."""
        if model is None:
            return None
        place = (model, slot, size)
        if place not in self._known:
            offers = self._offers(model)
            own = settled(self._own, model)
            self._known[place] = own or (rates_at(offers, slot, size) if offers else None)
        return self._known[place]

    def of_answer(self, answer: Message, *, sums_requests: bool = False) -> float | None:
        """What the API would have asked for an answer; None if that is not known.

        Where its tokens are of several requests, nobody knows how large the prompt of each was.
        """
        usage = answer.usage
        if usage is None or usage.estimated or not is_possible(usage):
            return None
        prompt = (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
        if not prompt and not usage.output:
            return None
        at = times.epoch_ms(answer.at)
        slot = None if at is None else at // _SLOT_MS
        above = [] if sums_requests or answer.model is None else self.sizes([answer.model])
        rates = self.rates(answer.model, slot, max((size for size in above if size < prompt), default=0))
        return None if rates is None else rates.cost(usage)

    def keep(self) -> None:
        """Write down what was looked up."""
        self._catalog.keep()

    def _offers(self, model: str) -> list[Offer]:
        return [] if settled(self._own, model) else self._catalog.offers(model) or []
