"""Kiro and its predecessor Amazon Q Developer CLI.

The command line stores conversations in a database, newer versions one file per session. The editor first had
chats of one run each, then sessions with the logs of their runs, and since version 1 sessions with all lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.kiro.detect import CLI, DATABASE, IDE_CHAT, IDE_LINES, IDE_SESSION, version_of
from agent_journal.readers.kiro.names import EXECUTIONS, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_EDITOR = (
    *(f"{home}/Kiro/User" for home in ("~/Library/Application Support", "~/.config", "%APPDATA%")),
    "~/.kiro-server/data/User",
)
_AGENT = "globalStorage/kiro.kiroagent"

INFO = ReaderInfo(
    name="kiro",
    title="Kiro, Amazon Q Developer CLI",
    products=(
        Product("Kiro", ("*/.kiro/*", "*/kiro-cli/*", "*/Kiro/User/*", "*/.kiro-server/*")),
        Product("Amazon Q Developer CLI", ("*/amazon-q/data.sqlite3",)),
    ),
    versions=(CLI, DATABASE, IDE_LINES, IDE_SESSION, IDE_CHAT),
    names={"record": "kiro"},
    config_key="kiro",
    env=("AJ_KIRO_PATH", "KIRO_HOME", "XDG_DATA_HOME"),
    homes=(
        *(
            f"{home}/{pattern}"
            for home in ("~/.kiro", "%KIRO_HOME%")
            for pattern in ("sessions/cli/*.jsonl", "sessions/*/sess_*/messages.jsonl")
        ),
        *(
            f"{home}/{product}/data.sqlite3"
            for product in ("kiro-cli", "amazon-q")
            for home in ("~/.local/share", "~/Library/Application Support", "%LOCALAPPDATA%")
        ),
        *(
            f"{home}/{_AGENT}/{pattern}"
            for home in _EDITOR
            for pattern in ("workspace-sessions/*/*.json", "*/*.chat")
        ),
    ),
    companions=(
        "*/sessions/cli/*.json",
        "*/sess_*/session.json",
        "*/kiro-cli/data.sqlite3-*",
        "*/amazon-q/data.sqlite3-*",
        "*/workspace-sessions/*/sessions.json",
        f"*/kiro.kiroagent/*/{EXECUTIONS}/*",
    ),
    tool_kinds=TOOL_KINDS,
    resume="kiro-cli chat --resume-id {id}",
    undercounts="the tools state credits, no tokens",
    evidence=(
        "the vendor's public source of Amazon Q Developer CLI, samples of Kiro, and programs that read its "
        "files; verified November 2026. Kiro is closed source: what its sessions of 2026 hold beyond texts, "
        "calls and results is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by their tables, and files by the fields of conversations, lines and chats."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each conversation of a file."""
    from agent_journal.readers.kiro import database, editor, lines  # noqa: PLC0415 (only reading needs it)

    if version == DATABASE:
        yield from database.conversations(source, note, INFO.name)
    elif version == CLI:
        yield lines.of_cli(source, json_stream.lines(source, note), note, INFO.name)
    elif version == IDE_LINES:
        yield lines.of_editor(source, json_stream.lines(source, note), note, INFO.name)
    elif version == IDE_SESSION:
        yield from editor.session(source, note, INFO.name)
    else:
        yield from editor.chat(source, note, INFO.name)
