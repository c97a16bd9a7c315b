"""Unified Conversation Schema: documents of other programs, and our own, which are restored.

A file is one document, an array of them, or one per line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="unified",
    title="Unified Conversation Schema",
    category="datasets",
    versions=("1.0.0",),
    revision=3,
    evidence="the JSON Schema, version 1.0.0 of December 2025, and the mapping document published with it",
)


def sniff(peek: Peek) -> str | None:
    """Claim objects with a document's version, id, platform and messages."""
    if peek.keys.isdisjoint({"schema_version", "platform"}):
        return None
    from agent_journal.validation import unified  # noqa: PLC0415 (few inputs need it)

    return "1.0.0" if any(map(unified.is_unified, peek.records)) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (one version)
    """Yield the conversation of each document."""
    from agent_journal.readers.unified.documents import conversations  # noqa: PLC0415 (imported when something is read)

    yield from conversations(source, note)
