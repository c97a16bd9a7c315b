"""What is in a journal, how large it is, and which files could not be read completely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agent_journal.archive import checking
from agent_journal.archive.store import Counts, Status
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.journal.embeddings import State
from agent_journal.journal.upkeep import disk_usage

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.archive.activity import ToolSum
    from agent_journal.config import Config


class JournalStatus(msgspec.Struct, kw_only=True):
    """The state of a journal."""

    home: str
    counts: Counts
    disk: dict[str, int]
    """The bytes of each part on disk."""
    damaged_blobs: int
    """The number of pieces of the vault that are known to be damaged or missing."""
    vault_read_at: str | None
    """When all of the vault had been read last."""
    index: dict[str, Any]
    """The number of `entries` in the index, whether these are all (`whole`), and the `problem`, if any."""
    embeddings: State

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        counts = self.counts
        return {
            "home": self.home,
            "conversations": counts.conversations,
            "aside": counts.hidden_from_lists,
            "messages": counts.messages,
            "tool_calls": counts.tool_calls,
            "memories": counts.memories,
            "sources": counts.by_source,
            "files": counts.sources,
            "missing": counts.missing,
            "partly": counts.partly,
            "unread": counts.unread,
            "bytes": counts.bytes,
            "disk": self.disk,
            "vault": {"damaged": self.damaged_blobs, "read_at": self.vault_read_at},
            "index": self.index,
            "vectors": self.embeddings.to_dict(),
        }


class UnreadFile(msgspec.Struct, kw_only=True):
    """A file of which not everything could be read."""

    file: str
    status: str
    bytes: int
    """How many bytes were not read."""
    notes: list[dict[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"file": self.file, "status": self.status, "bytes": self.bytes, "notes": self.notes}


class Activity(NamedTuple):
    """When messages were written, and how often tools were called and failed."""

    messages_by_hour: dict[str, int]
    """By hour in UTC: `2026-03-12T10`."""
    tools: list[ToolSum]
    """The most called one first."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"messages_by_hour": self.messages_by_hour, "tools": [each._asdict() for each in self.tools]}


def read_activity(archive: Archive) -> Activity:
    """Return the activity in all of a journal."""
    return Activity(messages_by_hour=archive.store.messages_by_hour(), tools=archive.store.tool_sums())


def read_status(archive: Archive, config: Config) -> JournalStatus:
    """Return the state of a journal."""
    return JournalStatus(
        home=str(config.home),
        counts=archive.store.counts(),
        disk=disk_usage(config),
        damaged_blobs=len(checking.vault_damage(archive)),
        vault_read_at=checking.vault_read_at(archive),
        index=index_upkeep.read_state(archive, config),
        embeddings=embeddings.read_state(archive, config),
    )


def unread_files(archive: Archive) -> list[UnreadFile]:
    """Return the files of which not everything could be read, and why."""
    return [
        UnreadFile(
            file=row.path,
            status=row.status,
            bytes=row.defects,
            notes=archive.store.source_by_key(row.key).notes,
        )
        for row in archive.store.sources()
        if row.status not in {Status.IMPORTED, Status.FORGOTTEN}
    ]
