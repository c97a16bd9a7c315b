"""Forks: the app copies messages under new ids but with their times, and names no original.

A session that begins with a message older than itself is such a copy, and the original is the session that
has most of the copied messages.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from agent_journal.model import Link, Message, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.readers.opencode.message import Entry


class _Candidate:
    """The times of a session's messages in milliseconds, and their ids."""

    __slots__ = ("ids", "moments", "session")

    def __init__(self, session: str, messages: list[Message]) -> None:
        self.session = session
        self.moments = array("q", (timestamps.epoch_ms(message.at) or 0 for message in messages))
        self.ids = [message.id for message in messages]

    def shared_with(self, moments: array[int]) -> int:
        """How many messages two sessions have in common from their beginning on."""
        count = 0
        for own, other in zip(self.moments, moments, strict=False):
            if own != other:
                break
            count += 1
        return count


class Forks:
    """Remembers the sessions of one unit, the oldest first, and finds what a session was forked from."""

    def __init__(self) -> None:
        self._by_beginning: dict[int, list[_Candidate]] = {}

    def add(self, session: str, began: str | None, entries: Iterable[Entry]) -> Link | None:
        """Remember a session; the result is the link to its original if it is a fork."""
        messages = [entry for entry in entries if isinstance(entry, Message) and not entry.made_id]
        if not messages or not messages[0].at:
            return None
        own = _Candidate(session, messages)
        others = self._by_beginning.setdefault(own.moments[0], [])
        created = timestamps.epoch_ms(began)
        is_copy = created is not None and own.moments[0] < created
        link = _link_to(others, own) if is_copy else None
        others.append(own)
        return link


def _link_to(others: list[_Candidate], fork: _Candidate) -> Link | None:
    """The link to the one that shares most; of equals, the oldest."""
    if not others:
        return None
    original = max(others, key=lambda other: other.shared_with(fork.moments))
    last = original.ids[original.shared_with(fork.moments) - 1]
    return Link(conversation_id=original.session, relation="fork", message_id=last)
