"""Which price holds: a person's own goes before a catalog's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import timestamps
from agent_journal.model.token_sanity import is_possible
from agent_journal.pricing import QUARTERS, Offer, rates_at, settled
from agent_journal.pricing.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.config import Config
    from agent_journal.model import Message
    from agent_journal.pricing import Rates

_SLOT_MS = 86_400_000 // QUARTERS
KEPT = "prices-kept.json"


class Prices:
    """What tokens cost at a time."""

    def __init__(self, config: Config) -> None:
        self._own = {model: price.rates() for model, price in config.prices.items()}
        self._catalog = Catalog(config.home / KEPT)
        self._found: dict[str, list[Offer]] = {}
        self._known: dict[tuple[str, int | None, int], Rates | None] = {}

    def change_by_hour(self, models: Iterable[str]) -> bool:
        """Whether the price of some model depends on the hour."""
        return any(offer.hours for model in models for offer in self._offers(model))

    def changes(self, models: Iterable[str]) -> set[int]:
        """The quarters of an hour since 1970 from which on the price of some model is another."""
        offers = (offer for model in models for offer in self._offers(model))
        return {offer.since * QUARTERS for offer in offers if offer.since is not None}

    def sizes(self, models: Iterable[str]) -> dict[str, list[int]]:
        """By model: the sizes of prompts above which it has another price."""
        found = {
            model: {above for offer in self._offers(model) for above, _ in offer.rates} - {0}
            for model in models
        }
        return {model: sorted(sizes) for model, sizes in found.items() if sizes}

    def rates(self, model: str | None, slot: int | None, size: int) -> Rates | None:
        """The prices of a model at a time, for prompts above a size; None where none are known."""
        if model is None:
            return None
        place = (model, slot, size)
        if place not in self._known:
            offers = self._offers(model)
            self._known[place] = rates_at(offers, slot, size) if offers else None
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
        at = timestamps.epoch_ms(answer.at)
        slot = None if at is None else at // _SLOT_MS
        sizes = {} if sums_requests or answer.model is None else self.sizes([answer.model])
        above = [size for each in sizes.values() for size in each if size < prompt]
        rates = self.rates(answer.model, slot, max(above, default=0))
        return None if rates is None else rates.cost(usage)

    def keep(self) -> None:
        """Write down what was looked up."""
        self._catalog.keep()

    def _offers(self, model: str) -> list[Offer]:
        """A person's own prices hold always, whatever the size."""
        offers = self._found.get(model)
        if offers is None:
            own = settled(self._own, model)
            offers = [Offer([(0, own)])] if own else self._catalog.offers(model) or []
            self._found[model] = offers
        return offers
