"""Verifiable agent records (drafts 2.0.0 and 3.0.0) of any program: one record is one conversation.

Complete records that this program wrote are restored to the original conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.agent_record.detect import V2, V3, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="agent-record",
    title="Verifiable agent record",
    category="trajectories",
    versions=(V3, V2),
    revision=1,
    evidence=(
        "draft-birkholz-verifiable-agent-conversations-00, its CDDL of 2.0.0-draft and 3.0.0-draft, and "
        "records that its reference wrote (February 2026); verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim records by their session, which names the agent."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (the same for both)
    """Yield one conversation per record."""
    from agent_journal.readers.agent_record.record import (  # noqa: PLC0415 (imported when something is read)
        conversations,
    )

    yield from conversations(source, INFO.name, note)
