"""Records of a log that share an id: the same once more, or another one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import Event, Message


class Twins:
    """The lines that came under an id that was taken."""

    def __init__(self) -> None:
        self._seen: dict[str, set[bytes]] = {}

    def has_again(self, entry: Message | Event, first: Message | Event, line: bytes) -> bool:
        """Whether an entry is the first one of its id again, or one of those that were given another."""
        if is_same(entry, first):
            return True
        seen = self._seen.setdefault(entry.id, set())
        digest = hashlib.sha256(line).digest()
        if digest in seen:
            return True
        seen.add(digest)
        return False

    def count(self, entry_id: str) -> int:
        """How many others there are of an id."""
        return len(self._seen[entry_id])


def is_same(one: Message | Event, other: Message | Event) -> bool:
    """Whether two entries are equal; those that are nested too deep to tell are not."""
    try:
        return one == other
    except RecursionError:
        return False
