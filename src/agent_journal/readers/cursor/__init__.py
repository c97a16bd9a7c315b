"""Cursor: the editor's state (SQLite), chats of the command line (SQLite), transcripts of agents.

One chat may lie in several of these forms, under one id. Transcripts are copies: one is left alone where the
chat itself is beside it, and `INFO.versions` names the forms in the order of how much they tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.cursor.detect import version_of
from agent_journal.readers.cursor.names import CLI, IDE, NAME, TOOL_KINDS, TRANSCRIPT, TRANSCRIPT_TEXT
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

# The same below a person's folder on all systems; on Linux the second follows XDG_CONFIG_HOME.
_ROOTS = ("~/.cursor", "~/.config/cursor", "%CURSOR_CONFIG_DIR%", "%CURSOR_DATA_DIR%")
_PLACES = (
    "chats/*/*/store.db",
    # What other editors hold through the Agent Client Protocol lies in folders of its own.
    "acp-sessions/*/store.db",
    *(f"projects/*/agent-transcripts/**/*.{form}" for form in ("jsonl", "txt")),
)

INFO = ReaderInfo(
    name=NAME,
    title="Cursor",
    versions=(IDE, CLI, TRANSCRIPT, TRANSCRIPT_TEXT),
    revision=6,
    names={"unified": NAME, "record": NAME},
    config_key=NAME,
    env=("AJ_CURSOR_PATH", "CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR"),
    homes=(
        *(
            f"{home}/Cursor/User/{place}/state.vscdb"
            for home in ("~/.config", "~/Library/Application Support", "%APPDATA%")
            for place in ("globalStorage", "workspaceStorage/*")
        ),
        *(f"{root}/{place}" for root in _ROOTS for place in _PLACES),
        "~/.cursor/conversations/**/*",
    ),
    companions=(
        "*/state.vscdb-*",
        "*/state.vscdb.backup*",
        "*/workspaceStorage/*/workspace.json",
        "*/store.db-*",
        "*/chats/*/meta.json",
        "*/acp-sessions/*/meta.json",
    ),
    tool_kinds=TOOL_KINDS,
    record=RecordForm(system_as="assistant", told_once=True),
    resume="cursor-agent --resume {id}",
    undercounts="many answers are not counted at all",
    evidence=(
        "the source of programs that read and write its stores (specstory, agentsview and others, to Cursor "
        "3.13 and CLI 2026.09), and samples of transcripts; verified November 2026. The editor is closed: "
        "how it counts tokens and keeps pictures is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases with the editor's or the command line's chats, and transcripts of both kinds."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield every chat in a database, or the one of a transcript."""
    from agent_journal.readers.cursor import units  # noqa: PLC0415 (imported when something is read)

    yield from units.conversations(source, version, note)
