"""Paths through one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Message, tree

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from agent_journal.model import Conversation


class Paths:
    """The messages above each entry; in a list these are all before it."""

    def __init__(self, conversation: Conversation) -> None:
        timeline = conversation.timeline
        self._entries = {entry.id: entry for entry in timeline}
        self._order = {entry.id: index for index, entry in enumerate(timeline)}
        if conversation.shape == "list":
            ids = [entry.id for entry in timeline]
            self._parents = dict(zip(ids[1:], ids, strict=False))
        else:
            entries = self._entries
            self._parents = {entry.id: entry.parent_id for entry in timeline if entry.parent_id in entries}
        self._result_messages: dict[str, list[Message]] = {}
        for message in tree.messages(conversation):
            for result in tree.results_in(message):
                if result.call_id is not None:
                    self._result_messages.setdefault(result.call_id, []).append(message)
        self.has_forks = len(set(self._parents.values())) + 1 < len(timeline)

    def message(self, entry_id: str) -> Message | None:
        """The message with an id; None for an event."""
        entry = self._entries.get(entry_id)
        return entry if isinstance(entry, Message) else None

    def parent_of(self, entry_id: str) -> str | None:
        """The id of the parent entry."""
        return self._parents.get(entry_id)

    def message_before(self, entry_id: str) -> Message | None:
        """The nearest message above an entry."""
        ancestors = (self._entries[ancestor] for ancestor in self._upwards(self.parent_of(entry_id)))
        return next((entry for entry in ancestors if isinstance(entry, Message)), None)

    def messages_down_to(
        self, entry_id: str | None, known_ids: Container[str] = ()
    ) -> tuple[str | None, list[Message]]:
        """The nearest known ancestor, and the messages from below it (or from the root) down to an entry."""
        messages: list[Message] = []
        for ancestor_id in self._upwards(entry_id):
            if ancestor_id in known_ids:
                return ancestor_id, messages[::-1]
            entry = self._entries[ancestor_id]
            if isinstance(entry, Message):
                messages.append(entry)
        return None, messages[::-1]

    def messages_between(self, first_id: str, last_id: str | None) -> list[Message]:
        """The messages from one entry down to another."""
        messages: list[Message] = []
        for ancestor_id in self._upwards(last_id):
            entry = self._entries[ancestor_id]
            if isinstance(entry, Message):
                messages.append(entry)
            if ancestor_id == first_id:
                break
        return messages[::-1]

    def messages_in_view(self, entry_id: str) -> list[Message]:
        """The messages above an entry, and the results of their calls on other branches."""
        _, chain = self.messages_down_to(self.parent_of(entry_id))
        detached_results = self._detached_results(chain, self._order[entry_id]) if self.has_forks else []
        return (
            sorted([*chain, *detached_results], key=lambda entry: self._order[entry.id])
            if detached_results
            else chain
        )

    def _upwards(self, entry_id: str | None) -> Iterator[str]:
        """The ids of an entry and its ancestors; a cycle ends the walk."""
        visited: set[str] = set()
        while entry_id in self._entries and entry_id not in visited:
            visited.add(entry_id)
            yield entry_id
            entry_id = self._parents.get(entry_id)

    def _detached_results(self, chain: list[Message], end: int) -> list[Message]:
        cook_response = {result.call_id for message in chain for result in tree.results_in(message)}
        open_calls = {call.call_id for message in chain for call in tree.calls_in(message)} - cook_response
        on_chain = {message.id for message in chain}
        detached_results = {
            message.id: message
            for call_id in open_calls
            if call_id is not None
            for message in self._result_messages.get(call_id, ())
            if message.id not in on_chain and self._order[message.id] < end
        }
        return list(detached_results.values())
