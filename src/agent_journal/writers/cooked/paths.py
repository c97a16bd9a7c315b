"""Ways through one conversation, from one index of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Message, tree

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from agent_journal.model import Conversation


class Paths:
    """What was in view at an entry; in a list that is all before it."""

    def __init__(self, conversation: Conversation) -> None:
        timeline = conversation.timeline
        self._entries = {entry.id: entry for entry in timeline}
        self._order = {entry.id: place for place, entry in enumerate(timeline)}
        if conversation.shape == "list":
            ids = [entry.id for entry in timeline]
            self._parents = dict(zip(ids[1:], ids, strict=False))
        else:
            known = self._entries
            self._parents = {entry.id: entry.parent_id for entry in timeline if entry.parent_id in known}
        self._answers: dict[str, list[Message]] = {}
        for message in tree.messages(conversation):
            for result in tree.results_in(message):
                if result.call_id is not None:
                    self._answers.setdefault(result.call_id, []).append(message)
        self.forks = len(set(self._parents.values())) + 1 < len(timeline)

    def message(self, entry_id: str) -> Message | None:
        """The message of that id."""
        entry = self._entries.get(entry_id)
        return entry if isinstance(entry, Message) else None

    def parent_of(self, entry_id: str) -> str | None:
        """The entry before it."""
        return self._parents.get(entry_id)

    def message_before(self, entry_id: str) -> Message | None:
        """The nearest message before it."""
        above = (self._entries[above] for above in self._upwards(self.parent_of(entry_id)))
        return next((entry for entry in above if isinstance(entry, Message)), None)

    def down_to(self, entry_id: str | None, known: Container[str] = ()) -> tuple[str | None, list[Message]]:
        """The nearest known entry, and the messages from below it (or from the root) down to an entry."""
        found: list[Message] = []
        for above in self._upwards(entry_id):
            if above in known:
                return above, found[::-1]
            entry = self._entries[above]
            if isinstance(entry, Message):
                found.append(entry)
        return None, found[::-1]

    def between(self, first_id: str, last_id: str | None) -> list[Message]:
        """The messages from one entry down to another."""
        found: list[Message] = []
        for above in self._upwards(last_id):
            entry = self._entries[above]
            if isinstance(entry, Message):
                found.append(entry)
            if above == first_id:
                break
        return found[::-1]

    def before(self, entry_id: str) -> list[Message]:
        """The messages above an entry and the results of their calls, wherever the source hung them."""
        _, chain = self.down_to(self.parent_of(entry_id))
        strays = self._strays(chain, self._order[entry_id]) if self.forks else []
        return sorted([*chain, *strays], key=lambda entry: self._order[entry.id]) if strays else chain

    def _upwards(self, entry_id: str | None) -> Iterator[str]:
        """The entry and all above it; a cycle ends the walk."""
        seen: set[str] = set()
        while entry_id in self._entries and entry_id not in seen:
            seen.add(entry_id)
            yield entry_id
            entry_id = self._parents.get(entry_id)

    def _strays(self, chain: list[Message], before: int) -> list[Message]:
        answered = {result.call_id for message in chain for result in tree.results_in(message)}
        open_calls = {call.call_id for message in chain for call in tree.calls_in(message)} - answered
        on_chain = {message.id for message in chain}
        strays = {
            message.id: message
            for call_id in open_calls
            if call_id is not None
            for message in self._answers.get(call_id, ())
            if message.id not in on_chain and self._order[message.id] < before
        }
        return list(strays.values())
