"""Records of a log that share an id: repetitions of a record, or different records."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import Event, Message


class DuplicateIds:
    """The different records found for each id after its first record."""

    def __init__(self) -> None:
        self._digests: dict[str, set[bytes]] = {}

    def is_repeated(self, entry: Message | Event, first: Message | Event, line: bytes) -> bool:
        """Return whether an entry repeats the first entry of its id or an earlier different one."""
        if are_equal(entry, first):
            return True
        digests = self._digests.setdefault(entry.id, set())
        digest = hashlib.sha256(line).digest()
        if digest in digests:
            return True
        digests.add(digest)
        return False

    def count(self, entry_id: str) -> int:
        """Count the different records of an id after the first."""
        return len(self._digests[entry_id])


def are_equal(left: Message | Event, right: Message | Event) -> bool:
    """Return whether two entries are equal; False if they are nested too deeply to compare."""
    try:
        return left == right
    except RecursionError:
        return False
