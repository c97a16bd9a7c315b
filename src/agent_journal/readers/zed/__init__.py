"""Zed: the threads of its agent panel, each a JSON document in one database.

Threads with agents of other vendors (Claude Code, Codex, Gemini CLI) are only in those agents' own files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.zed.detect import DATABASE, THREAD, version_of
from agent_journal.readers.zed.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="zed",
    title="Zed",
    category="editors",
    versions=(DATABASE, THREAD),
    names={"record": "zed"},
    config_key="zed",
    env=("AJ_ZED_PATH", "XDG_DATA_HOME"),
    homes=tuple(
        f"{folder}/threads/threads.db"
        for folder in (
            "~/Library/Application Support/Zed",
            "~/.local/share/zed",
            "~/.var/app/dev.zed.Zed/data/zed",  # Flatpak
            "%LOCALAPPDATA%/Zed",
        )
    ),
    companions=("*/threads/threads.db-*",),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    undercounts="the editor states the tokens of the last request of each prompt, and a total for the thread",
    evidence=(
        "the vendor's public source of 2026, and a real compressed thread; verified November 2026. Whether "
        "the counts of all vendors' models exclude cached tokens is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the table of threads, and single threads by the form of their messages."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each thread as a conversation, the oldest first."""
    from agent_journal.readers.zed import database, thread  # noqa: PLC0415 (only reading needs it)

    if version == DATABASE:
        yield from database.conversations(source, note, INFO.name)
    else:
        yield thread.from_file(source, note, INFO.name)
