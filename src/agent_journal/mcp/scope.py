"""Which conversations the server may return: what its user chose at the start, whatever an agent asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agent_journal.errors import NoSuchConversation
from agent_journal.journal import Filter

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent_journal.journal import Journal, Listed

_MAX_CANDIDATES = 5


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What may be returned, and the project that the agent works in."""

    folder: str
    """The folder of the agent's project."""
    limits: Filter = Filter()
    """Conversations that it does not select do not exist for the agent."""

    @property
    def is_limited(self) -> bool:
        """Whether anything is left out."""
        return self.limits != Filter()

    def within(self, wanted: Filter) -> Filter:
        """Return a filter that selects nothing outside of the scope."""
        return msgspec.structs.replace(wanted, within=self.limits) if self.is_limited else wanted

    def visible(self, journal: Journal, keys: Collection[int]) -> set[int]:
        """Return those of some conversations that may be returned."""
        if not keys or not self.is_limited:
            return set(keys)
        return journal.selected(self.within(Filter(with_children=True)), keys)

    def find(self, journal: Journal, name: str) -> Listed:
        """Return a conversation by its id or the beginning of one; outside of the scope there is none."""
        matches = journal.find(name)
        keys = self.visible(journal, {each.key for each in matches})
        visible = [each for each in matches if each.key in keys]
        if len(visible) > 1:
            visible = [each for each in visible if each.relation != "subagent"] or visible
        if len(visible) != 1:
            raise NoSuchConversation(name, [f"{each.source}:{each.id}" for each in visible[:_MAX_CANDIDATES]])
        return visible[0]
