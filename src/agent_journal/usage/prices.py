"""Choose prices: the user's own take precedence over the catalog's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import timestamps
from agent_journal.model.token_sanity import is_possible
from agent_journal.pricing import SLOTS_PER_DAY, Offer, find_rates, rates_at
from agent_journal.pricing.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.config import Config
    from agent_journal.model import Message
    from agent_journal.pricing import Rates

_SLOT_MS = 86_400_000 // SLOTS_PER_DAY
PRICE_CACHE_FILE = "prices-kept.json"


class Prices:
    """Prices of tokens by model and time."""

    def __init__(self, config: Config) -> None:
        self._own_rates = {model: price.rates() for model, price in config.prices.items()}
        self._catalog = Catalog(config.home / PRICE_CACHE_FILE)
        self._offers_by_model: dict[str, list[Offer]] = {}
        self._rates_cache: dict[tuple[str, int | None, int], Rates | None] = {}

    def vary_by_hour(self, models: Iterable[str]) -> bool:
        """Whether the price of any model depends on the hour."""
        return any(offer.hours for model in models for offer in self._offers(model))

    def change_slots(self, models: Iterable[str]) -> set[int]:
        """Return the slots (quarters of an hour since 1970) at which the price of a model changes."""
        offers = (offer for model in models for offer in self._offers(model))
        return {offer.since * SLOTS_PER_DAY for offer in offers if offer.since is not None}

    def price_tiers(self, models: Iterable[str]) -> dict[str, list[int]]:
        """By model: the prompt sizes above which the price differs."""
        thresholds = {
            model: {threshold for offer in self._offers(model) for threshold, _ in offer.rates} - {0}
            for model in models
        }
        return {model: sorted(tiers) for model, tiers in thresholds.items() if tiers}

    def rates(self, model: str | None, slot: int | None, size: int) -> Rates | None:
        """Return the rates of a model at a time, for prompts above a size; None if unknown."""
        if model is None:
            return None
        place = (model, slot, size)
        if place not in self._rates_cache:
            offers = self._offers(model)
            self._rates_cache[place] = rates_at(offers, slot, size) if offers else None
        return self._rates_cache[place]

    def answer_cost(self, answer: Message, *, sums_requests: bool = False) -> float | None:
        """Return what the API would have charged for an answer; None if unknown.

        If the counts are sums over several requests, the size of each prompt is unknown.
        """
        usage = answer.usage
        if usage is None or usage.estimated or not is_possible(usage):
            return None
        prompt = (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
        if not prompt and not usage.output:
            return None
        at = timestamps.epoch_ms(answer.at)
        slot = None if at is None else at // _SLOT_MS
        sizes = {} if sums_requests or answer.model is None else self.price_tiers([answer.model])
        tiers = [size for each in sizes.values() for size in each if size < prompt]
        rates = self.rates(answer.model, slot, max(tiers, default=0))
        return None if rates is None else rates.cost(usage)

    def save_cache(self) -> None:
        """Save prices that were looked up."""
        self._catalog.save_cache()

    def _offers(self, model: str) -> list[Offer]:
        """Return the offers of a model. The user's own prices apply at any time and size."""
        offers = self._offers_by_model.get(model)
        if offers is None:
            own = find_rates(self._own_rates, model)
            offers = [Offer([(0, own)])] if own else self._catalog.offers(model) or []
            self._offers_by_model[model] = offers
        return offers
