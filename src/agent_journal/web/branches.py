"""Where a conversation forks: which branches continue from a message, in the order of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import Message
from agent_journal.rendering.outline import ConversationOutline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Event
    from agent_journal.web.journal_access import OpenConversation

_MAX_LABEL_ENTRIES = 10


class Alternative(NamedTuple):
    """A branch that continues from a fork: a part of the conversation, and where in it."""

    part: int
    position: int
    message_id: str
    words: str
    """Its first words; empty if it has none."""


class Fork(NamedTuple):
    """A message from which several branches continue, and which of them a reader follows."""

    alternatives: list[Alternative]
    current: int | None
    """None if the reader's branch ends at the message."""

    def neighbor(self, way: int) -> Alternative | None:
        """The alternative before or after the current one; None at the end."""
        if self.current is None:
            return None
        place = self.current + way
        return self.alternatives[place] if 0 <= place < len(self.alternatives) else None


def forks_in(opened: OpenConversation, part: int) -> set[str]:
    """The ids of the messages of a part from which other branches continue."""
    return {
        other.after
        for number, other in enumerate(opened.parts)
        if number != part and other.kind != "subagent" and other.after is not None
    }


def fork_at(opened: OpenConversation, message_id: str | None, part: int) -> Fork | None:
    """The fork at a message, as readers of a part see it; None if there is none.

    Without a message, the fork is at the start of the conversation.
    """
    places = sorted(_continuations(opened, message_id))
    current = next((place for place, (_, number, _) in enumerate(places) if number == part), None)
    if len(places) < (1 if current is None else 2):
        return None
    return Fork([_alternative(opened, number, position) for _, number, position in places], current)


def subagents_at(opened: OpenConversation, message_id: str) -> list[Alternative]:
    """The work of subagents within the conversation that a message started."""
    return [
        _alternative(opened, number, 0)
        for number, part in enumerate(opened.parts)
        if part.kind == "subagent" and part.after == message_id
    ]


def _continuations(opened: OpenConversation, message_id: str | None) -> Iterator[tuple[int, int, int]]:
    """Of each branch its place in the source's order, its part, and where it starts in that."""
    for number, part in enumerate(opened.parts):
        if part.kind != "subagent" and part.after == message_id and part.total:
            yield part.keys[0], number, 0
    if message_id is not None:
        number, position = opened.locate(message_id)
        part = opened.parts[number]
        if position + 1 < part.total:
            yield part.keys[position + 1], number, position + 1


def _alternative(opened: OpenConversation, part: int, position: int) -> Alternative:
    entries = opened.entries(part, position, _MAX_LABEL_ENTRIES).entries
    words = next(filter(None, map(first_words, entries)), "")
    return Alternative(part, position, entries[0].id if entries else "", words)


def first_words(entry: Message | Event) -> str:
    """The first words of a prompt or an answer; empty if there are none."""
    if not isinstance(entry, Message) or entry.hidden:
        return ""
    outline = ConversationOutline()
    outline.add(0, entry if entry.role == "user" else Message(id="", role="user", parts=entry.parts))
    return outline.prompts[0].words if outline.prompts else ""
