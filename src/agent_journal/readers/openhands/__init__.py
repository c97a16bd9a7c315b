"""OpenHands: a folder per conversation, with one file per event.

Version 1 (the SDK, since autumn 2025) and version 0 (also known as OpenDevin) have different events. Both are
also exported as one file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.openhands.detect import V0, V1, version_of
from agent_journal.readers.openhands.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="openhands",
    title="OpenHands",
    versions=(V1, V0),
    names={"record": "openhands"},
    config_key="openhands",
    env=("AJ_OPENHANDS_PATH", "OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR"),
    # The same folders on Linux, macOS and Windows.
    homes=(
        "~/.openhands/conversations/*/",
        "%OPENHANDS_CONVERSATIONS_DIR%/*/",
        "%OPENHANDS_PERSISTENCE_DIR%/conversations/*/",
        "~/.openhands/sessions/*/",
        "~/.openhands-state/sessions/*/",
    ),
    tool_kinds=TOOL_KINDS,
    resume="openhands --resume {id}",
    evidence=(
        "the vendor's public source of 2026 (SDK) and 2025 (version 0), and what CLI 1.16 writes; verified "
        "November 2026. Times have no zone and are read as UTC, although they are local"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim folders by their events, and files by the fields of events."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a folder or file."""
    from agent_journal.readers.openhands import unit  # noqa: PLC0415 (only reading needs it)

    yield unit.conversation(source, version, note, INFO.name)
