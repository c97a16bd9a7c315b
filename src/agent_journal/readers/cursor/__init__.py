"""Cursor: the editor's state (SQLite), chats of the CLI (SQLite), transcripts of agents.

One chat may exist in several of these forms, with the same id. Transcripts are copies: one is skipped if the
chat itself is on the same machine. `INFO.versions` lists the most detailed form first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Encrypted, Product, ReaderInfo
from agent_journal.readers.cursor.detect import detect_version
from agent_journal.readers.cursor.names import CLI, IDE, NAME, TOOL_KINDS, TRANSCRIPT, TRANSCRIPT_TEXT
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

# The same in the home directory of all systems; on Linux the second follows XDG_CONFIG_HOME.
_ROOTS = ("~/.cursor", "~/.config/cursor", "%CURSOR_CONFIG_DIR%", "%CURSOR_DATA_DIR%")
_PATTERNS = (
    "chats/*/*/store.db",
    # Sessions of other editors that use the Agent Client Protocol.
    "acp-sessions/*/store.db",
    *(f"projects/*/agent-transcripts/**/*.{form}" for form in ("jsonl", "txt")),
)

INFO = ReaderInfo(
    name=NAME,
    title="Cursor",
    category="editors",
    products=(
        Product("Cursor", ("*/Cursor/User/*", "*/.cursor/*")),
        Product("Windsurf", ("*/Windsurf/User/*", "*/Windsurf - Next/User/*")),
    ),
    versions=(IDE, CLI, TRANSCRIPT, TRANSCRIPT_TEXT),
    revision=6,
    names={"unified": NAME, "record": NAME},
    config_key=NAME,
    env=("AJ_CURSOR_PATH", "CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR"),
    homes=(
        *(
            f"{home}/Cursor/User/{folder}/state.vscdb"
            for home in ("~/.config", "~/Library/Application Support", "%APPDATA%")
            for folder in ("globalStorage", "workspaceStorage/*")
        ),
        *(f"{root}/{pattern}" for root in _ROOTS for pattern in _PATTERNS),
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
    encrypted=(
        Encrypted(
            "Windsurf",
            "Cascade conversation",
            ("~/.codeium/windsurf*/cascade/*.pb", "~/.codeium/windsurf*/cascade/implicit/*.pb"),
        ),
    ),
    tool_kinds=TOOL_KINDS,
    record=RecordForm(system_as="assistant", omits_repeats=True),
    resume="cursor-agent --resume {id}",
    undercounts="many answers have no token counts",
    evidence=(
        "the source of programs that read and write its stores (specstory, agentsview and others, up to "
        "Cursor 3.13 and CLI 2026.09), and samples of transcripts; verified November 2026. The editor is "
        "closed source: how it counts tokens and stores images is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases with chats of the editor or the CLI, and transcripts in both forms."""
    return detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield every chat of a database, or the chat of a transcript."""
    from agent_journal.readers.cursor import units  # noqa: PLC0415 (imported only to read)

    yield from units.read_unit(source, version, note)
