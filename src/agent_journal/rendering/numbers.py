"""Token usage and costs of a conversation's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import tree
from agent_journal.rendering.markup import Markup, element
from agent_journal.text import describe
from agent_journal.text.humanize import count, dollars

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Message
    from agent_journal.rendering.context import ListPrice

_LIST_PRICE_HINT = "What the API would have charged at published list prices; not necessarily what was paid."


class Costs:
    """Tokens and costs. Messages that share one usage count show it at the last of them."""

    def __init__(self, conversation: Conversation, list_price: ListPrice) -> None:
        self._last_counted = {
            _usage_key(message): message
            for message in tree.messages(conversation)
            if message.usage is not None
        }
        self._list_prices = {
            id(message): price
            for message in self._last_counted.values()
            if message.usage is not None and message.usage.cost_usd is None
            if (price := list_price(conversation.source, message)) is not None
        }

    def of_message(self, message: Message) -> str:
        """The tokens and cost of a message; empty if unknown or shown at another message."""
        if message.usage is None or self._last_counted[_usage_key(message)] is not message:
            return ""
        tokens = describe.tokens([message.usage])
        price = self._list_prices.get(id(message))
        return tokens if price is None else f"{tokens}, list price {dollars(price)}"

    def total(self) -> list[Markup]:
        """List items with the tokens and costs of all answers."""
        usages = [message.usage for message in self._last_counted.values() if message.usage is not None]
        tokens = describe.tokens(usages)
        items = [element("li", "", f"tokens: {tokens}")] if tokens else []
        if self._list_prices:
            priced = len(self._list_prices) + sum(usage.cost_usd is not None for usage in usages)
            unpriced = f", {count(len(usages) - priced, 'answer')} not priced" if priced < len(usages) else ""
            price = dollars(sum(self._list_prices.values()))
            items.append(element("li", {"title": _LIST_PRICE_HINT}, f"API list price: {price}{unpriced}"))
        return items


def _usage_key(message: Message) -> object:
    return message.usage.key if message.usage and message.usage.key is not None else message.id
