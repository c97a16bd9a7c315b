"""ZCode, the command line of Z.ai: sessions in one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.dialects.database_rows import has_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

DATABASE = "database"
TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "read": "read",
    "edit": "edit",
    "multiedit": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "list": "search",
    "webfetch": "web",
    "websearch": "web",
    "task": "agent",
    "todowrite": "plan",
    "todoread": "plan",
}

INFO = ReaderInfo(
    name="zcode",
    title="ZCode",
    versions=(DATABASE,),
    names={"record": "zcode"},
    config_key="zcode",
    env=("AJ_ZCODE_PATH",),
    # The same folders on Linux, macOS and Windows; the second is that of older versions.
    homes=("~/.zcode/cli/db/db.sqlite", "~/.zcode/cli/db.sqlite"),
    companions=("*/.zcode/cli/db/db.sqlite-*", "*/.zcode/cli/db.sqlite-*", "*/.zcode/cli/log/*.jsonl"),
    tool_kinds=TOOL_KINDS,
    evidence=(
        "programs that read its database (agentsview; codeburn, of 0.14.8); no real one was seen; verified "
        "November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the tables of tokens that only this tool has next to its sessions."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    has_tables = peek.tables >= {"session", "message", "tool_usage"}
    is_own = has_tables and has_columns(
        peek, "model_usage", ("session_id", "model_id", "input_tokens", "output_tokens")
    )
    return DATABASE if is_own else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each session as a conversation, the oldest first."""
    from agent_journal.readers.zcode import database  # noqa: PLC0415 (only reading needs it)

    yield from database.conversations(source, note, INFO.name)
