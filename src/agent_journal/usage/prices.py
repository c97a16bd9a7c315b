"""Which price holds: a person's own goes before a catalog's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.pricing import rates_at, settled
from agent_journal.pricing.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.config import Config
    from agent_journal.pricing import Offer, Rates

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

    def keep(self) -> None:
        """Write down what was looked up."""
        self._catalog.keep()

    def _offers(self, model: str) -> list[Offer]:
        return [] if settled(self._own, model) else self._catalog.offers(model) or []
