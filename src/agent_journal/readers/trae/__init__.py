"""Trae's editor: chats in its state, up to the version that encrypts them.

Trae's command line is a fork of Codex and writes the same files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Encrypted, ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

STATE = "state"
KEY = "memento/icube-ai-agent-storage"
_HOMES = ("~/Library/Application Support", "~/.config", "%APPDATA%")
_APPS = ("Trae", "Trae CN", "TRAE SOLO", "TRAE SOLO CN")

INFO = ReaderInfo(
    name="trae",
    title="Trae",
    category="editors",
    versions=(STATE,),
    names={"record": "trae"},
    config_key="trae",
    env=("AJ_TRAE_PATH",),
    homes=tuple(
        f"{home}/{app}/User/{folder}/state.vscdb"
        for home in _HOMES
        for app in _APPS
        for folder in ("globalStorage", "workspaceStorage/*")
    ),
    encrypted=(
        Encrypted(
            "Trae",
            "conversation database",
            tuple(f"{home}/{app}/ModularData/ai-agent/database.db" for home in _HOMES for app in _APPS),
        ),
    ),
    undercounts="the editor states no tokens",
    evidence=(
        "a program that reads its state (agentsview); no real one was seen; verified November 2026. Newer "
        "versions encrypt their chats, and nothing of those can be read"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim the state of an editor by the key that has the chats."""
    if peek.is_folder or peek.opening in {"{", "["} or "ItemTable" not in peek.tables:
        return None
    return STATE if peek.query("SELECT 1 FROM ItemTable WHERE key = ?", KEY) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield each chat as a conversation."""
    from agent_journal.readers.trae import state  # noqa: PLC0415 (only reading needs it)

    yield from state.conversations(source, note, INFO.name)
