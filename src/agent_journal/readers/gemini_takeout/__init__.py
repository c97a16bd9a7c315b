"""Gemini, from Google Takeout: the activity log as JSON or HTML, conversations in Workspace, Gems.

A log has one record per prompt and its answer, newest first. Before August 2026 it does not state which
records belong together: there, a pause of more than half an hour ends a conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.gemini_takeout.detect import (
    ACTIVITY,
    DOCUMENTED,
    PAGE,
    SETTINGS,
    SOURCE,
    WORKSPACE,
    version_of,
    version_of_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Gemini (Google Takeout)",
    category="chat apps",
    versions=(ACTIVITY, PAGE, WORKSPACE, SETTINGS, DOCUMENTED),
    revision=7,
    names={"pam": "gemini", "record": "gemini"},
    # The files come only from takeout.google.com, so they have no fixed location on any system.
    companions=("*/conversation_*_turn_*_images_*",),
    resume="https://gemini.google.com/app/{id}",
    evidence="activity logs of 2025 to September 2026 in English, French, German, Japanese, Korean, "
    "Portuguese and Swedish, their HTML pages, and conversations in Workspace, as open-source readers of "
    "real exports describe them; one sample; version documented: as Portable AI Memory states it (February "
    "2026), not seen in real exports; the vendor documents nothing; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim activity logs that name Gemini (JSON, HTML, or their folder), and documents of Workspace."""
    return version_of_folder(peek) if peek.is_folder else version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each conversation, oldest message first; for settings, each Gem."""
    from agent_journal.readers.gemini_takeout import (  # noqa: PLC0415 (only reading needs it)
        log,
        settings,
        workspace,
    )

    if version == WORKSPACE:
        yield from workspace.conversations(source, note)
    elif version == SETTINGS:
        yield from settings.memories(source, note)
    else:
        yield from log.conversations(source, note)
