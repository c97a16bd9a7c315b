"""Aider: the chat history in a project's folder, many sessions in one Markdown file.

Other files may be next to it: the prompts with their times (`.aider.input.history`) and, if enabled, a log of
the calls of the model (`.aider.llm.history`) and one of events (`--analytics-log`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.readers import ReaderInfo
from agent_journal.readers.aider.detect import ANALYTICS, CALLS, CHAT, SOURCE, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
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
    # It writes to the folder it is started in: the current folder, and those named by other histories.
    # The variables have file names for the same folders, or paths.
    homes=(
        *(f"./{name}" for name in _HISTORIES),
        *("%AIDER_CHAT_HISTORY_FILE%", "%AIDER_LLM_HISTORY_FILE%", "%AIDER_ANALYTICS_LOG%"),
    ),
    in_projects=_HISTORIES,
    companions=("*/.aider.input.history",),
    # They are made of the second of the start and the first line, which parallel runs share.
    ids_may_repeat=True,
    tool_kinds={"edit": "edit", "write": "write", "run": "shell"},
    resume="aider --restore-chat-history",
    evidence="the vendor's public source as of 2026 and the history of its own development (1,133 sessions "
    "of 2024); verified November 2026. Logs of calls and of events are known only from the source",
)


def sniff(peek: Peek) -> str | None:
    """Claim a chat history by its headings, a log of calls by its first line, events by their fields."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each session of a history."""
    from agent_journal.readers.aider import (  # noqa: PLC0415 (only reading needs it)
        analytics,
        calls,
        history,
    )

    readers = {CALLS: calls.conversations, ANALYTICS: analytics.conversations}
    folder = _project(source)
    for conversation in readers.get(version, history.conversations)(source, note):
        has_folder = folder is None or conversation.cwd is not None
        yield conversation if has_folder else replace(conversation, cwd=folder)


def _project(source: Input) -> str | None:
    """Get the folder of a history, which is the project's if the file was not moved."""
    folder = source.label.removesuffix(source.name)[:-1]
    is_absolute = folder.startswith(("/", "\\")) or folder[1:2] == ":"  # also of a drive
    return folder if source.name in _HISTORIES and is_absolute and ".zip" not in folder else None
