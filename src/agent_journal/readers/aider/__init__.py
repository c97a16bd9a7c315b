"""Aider: the chat history that lies in a project's folder, many sessions in one file of Markdown.

Beside it may lie the prompts with their times (`.aider.input.history`) and, where people ask for it, a log
of what was sent to the model (`.aider.llm.history`) and one of events (`--analytics-log`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.readers import ReaderInfo
from agent_journal.readers.aider.detect import ANALYTICS, CALLS, CHAT, SOURCE, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_HISTORIES = (".aider.chat.history.md", ".aider.llm.history")
INFO = ReaderInfo(
    name=SOURCE,
    title="Aider",
    versions=(CHAT, CALLS, ANALYTICS),
    revision=7,
    names={"unified": "aider", "pam": "aider", "record": "aider"},
    config_key="aider",
    env=("AJ_AIDER_PATH", "AIDER_CHAT_HISTORY_FILE", "AIDER_LLM_HISTORY_FILE", "AIDER_ANALYTICS_LOG"),
    # It writes where it is started: the current folder is looked at, and those that other histories name.
    # The variables hold names for the same folders, or paths.
    homes=(
        *(f"./{name}" for name in _HISTORIES),
        *("%AIDER_CHAT_HISTORY_FILE%", "%AIDER_LLM_HISTORY_FILE%", "%AIDER_ANALYTICS_LOG%"),
    ),
    in_projects=_HISTORIES,
    companions=("*/.aider.input.history",),
    tool_kinds={"edit": "edit", "write": "write", "run": "shell"},
    resume="aider --restore-chat-history",
    evidence="the vendor's public source as of 2026 and the history of its own development (1,133 sessions "
    "of 2024); verified November 2026. Logs of calls and of events are known from the source alone",
)


def sniff(peek: Peek) -> str | None:
    """Claim a chat history by its headings, a log of calls by its first line, events by their fields."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield each session of a history."""
    from agent_journal.readers.aider import (  # noqa: PLC0415 (imported when something is read)
        analytics,
        calls,
        history,
    )

    ways = {CALLS: calls.conversations, ANALYTICS: analytics.conversations}
    folder = _project(source)
    for conversation in ways.get(version, history.conversations)(source, note):
        is_placed = folder is None or conversation.cwd is not None
        yield conversation if is_placed else replace(conversation, cwd=folder)


def _project(source: Source) -> str | None:
    """The folder that a history lies in, which is the project's, as long as it is where it was written."""
    folder = source.label.removesuffix(source.name)[:-1]
    is_whole = folder.startswith(("/", "\\")) or folder[1:2] == ":"  # of the machine, or of a drive
    return folder if source.name in _HISTORIES and is_whole and ".zip" not in folder else None
