"""Warp: the conversations of its agent, in the terminal's database.

The messages of a conversation are in its tasks, which are Protocol Buffers. A task that another one started
is a conversation of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.dialects.database_rows import has_columns
from agent_journal.readers.warp.schema import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

DATABASE = "database"
_MAC = "~/Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application Support"

INFO = ReaderInfo(
    name="warp",
    title="Warp",
    versions=(DATABASE,),
    names={"record": "warp"},
    config_key="warp",
    env=("AJ_WARP_PATH", "XDG_STATE_HOME"),
    homes=(
        *(
            f"{folder}/dev.warp.Warp-{channel}/warp.sqlite"
            for folder in (_MAC, "~/Library/Application Support")
            for channel in ("Stable", "Preview")
        ),
        "~/.local/state/warp-terminal/warp.sqlite",
        "~/.local/state/warp-terminal-preview/warp.sqlite",
        "%LOCALAPPDATA%/warp/Warp/data/warp.sqlite",
        "%LOCALAPPDATA%/warp/WarpPreview/data/warp.sqlite",
    ),
    companions=("*/warp.sqlite-*",),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states the tokens of each model in total, without what was sent and received",
    evidence=(
        "the vendor's public source as of August 2026 and its public definition of tasks; no real database "
        "was seen; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the tables of conversations and tasks, or of prompts."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    is_own = has_columns(peek, "agent_tasks", ("conversation_id", "task")) or has_columns(
        peek, "ai_queries", ("exchange_id", "conversation_id", "input")
    )
    return DATABASE if is_own else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each conversation, with those of its subagents."""
    from agent_journal.readers.warp import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
