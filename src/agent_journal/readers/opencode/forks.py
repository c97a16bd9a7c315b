"""Forks: the app copies messages with new ids but with their times, and does not name the original.

A session that begins with a message older than itself is a fork, and its original is the session with most of
the copied messages.
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

    __slots__ = ("ids", "session", "times")

    def __init__(self, session: str, messages: list[Message]) -> None:
        self.session = session
        self.times = array("q", (timestamps.epoch_ms(message.at) or 0 for message in messages))
        self.ids = [message.id for message in messages]

    def count_shared(self, other_times: array[int]) -> int:
        """Count the messages that two sessions have in common at their beginning."""
        count = 0
        for own, other in zip(self.times, other_times, strict=False):
            if own != other:
                break
            count += 1
        return count


class Forks:
    """Remembers the sessions of one unit, the oldest first, to find the original of a fork."""

    def __init__(self) -> None:
        self._by_first_time: dict[int, list[_Candidate]] = {}

    def add(self, session: str, started_at: str | None, entries: Iterable[Entry]) -> Link | None:
        """Remember a session; return the link to its original if it is a fork."""
        messages = [entry for entry in entries if isinstance(entry, Message) and not entry.made_id]
        if not messages or not messages[0].at:
            return None
        candidate = _Candidate(session, messages)
        others = self._by_first_time.setdefault(candidate.times[0], [])
        created = timestamps.epoch_ms(started_at)
        is_fork = created is not None and candidate.times[0] < created
        link = _link_to(others, candidate) if is_fork else None
        others.append(candidate)
        return link


def _link_to(others: list[_Candidate], fork: _Candidate) -> Link | None:
    """Return the link to the session that shares most messages; of equals, the oldest."""
    if not others:
        return None
    original = max(others, key=lambda other: other.count_shared(fork.times))
    last_id = original.ids[original.count_shared(fork.times) - 1]
    return Link(conversation_id=original.session, relation="fork", message_id=last_id)
