"""What a sync or an import did, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.archive.store import Status

if TYPE_CHECKING:
    from agent_journal.archive.candidates import Result


class ImportTotals(msgspec.Struct, kw_only=True):
    """Sums of the results of files."""

    files: int = 0
    """The number of files that were read or could not be read."""
    unchanged: int = 0
    missing: int = 0
    """The number of known files that are gone from disk."""
    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    new_memories: int = 0
    unreadable: int = 0
    """The number of files of which not everything could be read."""
    pending: int = 0
    """The number of files of which only the beginning of the first record is written."""
    bytes: int = 0

    def add(self, result: Result) -> None:
        """Add the result of a file."""
        if result.status == Status.UNCHANGED:
            return
        self.files += result.status != Status.FORGOTTEN
        self.conversations += result.conversations
        self.messages += result.messages
        self.new_messages += result.new_messages
        self.new_memories += result.new_memories
        self.bytes += result.bytes
        self.pending += result.status == Status.PENDING
        self.unreadable += is_problem(result)

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


def is_problem(result: Result) -> bool:
    """Whether not everything in a file could be read."""
    return result.status in {Status.PARTLY, Status.UNREADABLE, Status.UNKNOWN}
