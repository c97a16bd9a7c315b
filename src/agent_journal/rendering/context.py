"""What a page knows besides the conversation: addresses, names of sources, and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent_journal.model import Message
    from agent_journal.rendering.addresses import Addresses

ListPrice: TypeAlias = "Callable[[str, Message], float | None]"
"""What the vendor's API would have charged for an answer of a source, in US dollars; None if unknown."""


class Context(NamedTuple):
    """What a page knows besides the conversation."""

    title: str
    addresses: Addresses
    source_titles: Mapping[str, str]
    """The display name of each source."""
    list_price: ListPrice

    def source_title(self, source: str) -> str:
        """The display name of a source."""
        return self.source_titles.get(source, source)
