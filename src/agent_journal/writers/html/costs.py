"""What the answers of a conversation took: tokens, and what they cost or would have cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import tree
from agent_journal.text import describe
from agent_journal.text.humanize import count, dollars
from agent_journal.writers.html.markup import Markup, element

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Message
    from agent_journal.writers import Run

_MEANING = "What the API would have asked for, by the prices that vendors publish. Nobody need have paid it."


class Bill:
    """Tokens and costs; messages that were counted as one are told of at the last of them."""

    def __init__(self, conversation: Conversation, run: Run) -> None:
        self._counted = {_key(each): each for each in tree.messages(conversation) if each.usage is not None}
        self._prices = {
            id(each): price
            for each in self._counted.values()
            if each.usage is not None and each.usage.cost_usd is None
            if (price := run.list_price(conversation.source, each)) is not None
        }

    def of(self, message: Message) -> str:
        """What a message took; nothing if that is told elsewhere or nowhere."""
        if message.usage is None or self._counted[_key(message)] is not message:
            return ""
        tokens = describe.tokens([message.usage])
        price = self._prices.get(id(message))
        return tokens if price is None else f"{tokens}, list price {dollars(price)}"

    def total(self) -> list[Markup]:
        """What all of them took."""
        usages = [each.usage for each in self._counted.values() if each.usage is not None]
        tokens = describe.tokens(usages)
        told = [element("li", "", f"tokens: {tokens}")] if tokens else []
        if self._prices:
            priced = len(self._prices) + sum(usage.cost_usd is not None for usage in usages)
            rest = f", {count(len(usages) - priced, 'answer')} without" if priced < len(usages) else ""
            price = dollars(sum(self._prices.values()))
            told.append(element("li", {"title": _MEANING}, f"list price of the API: {price}{rest}"))
        return told


def _key(message: Message) -> object:
    return message.usage.key if message.usage and message.usage.key is not None else message.id
