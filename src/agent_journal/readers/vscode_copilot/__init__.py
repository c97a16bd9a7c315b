"""GitHub Copilot's chats in VS Code: a log of operations per session since 1.109, one JSON object before.

The response parts shown to the user give the order; calls, arguments, results and reasoning come from the
rounds with the model. Exports of a chat, the extension's transcripts and the store of old versions are also
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.vscode_copilot.detect import (
    LOG,
    STATE,
    TRANSCRIPT,
    VERSIONS,
    detect_version,
)
from agent_journal.readers.vscode_copilot.names import TOOL_KINDS, homes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="vscode-copilot",
    title="GitHub Copilot Chat in VS Code",
    category="editors",
    products=(
        Product(
            "GitHub Copilot Chat",
            ("*/Code/User/*", "*/Code - Insiders/User/*", "*/VSCodium/User/*", "*/.vscode-server*/*"),
        ),
        Product("Positron Assistant", ("*/Positron/User/*",)),
        Product("Windsurf", ("*/Windsurf/User/*", "*/Windsurf - Next/User/*")),
    ),
    versions=VERSIONS,
    revision=6,
    names={"unified": "github_copilot", "pam": "copilot", "record": "vscode-copilot"},
    config_key="vscode_copilot",
    env=("AJ_VSCODE_COPILOT_PATH", "VSCODE_PORTABLE"),
    homes=homes(),
    companions=("*/workspace.json", "*/state.vscdb.backup", "*/chatEditingSessions/*"),
    tool_kinds=TOOL_KINDS,
    required=("messages[].timestamp", "messages[].content"),
    undercounts="only the last prompt of an answer with several rounds is counted",
    evidence=(
        "the public source of the editor and the extension as of 2026, and samples of exports from 2025; "
        "verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim sessions (logs and objects), exports, transcripts that name the editor, and its store."""
    return None if peek.is_folder else detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file, or all conversations of the store."""
    from agent_journal.readers.vscode_copilot import (  # noqa: PLC0415 (imported only to read)
        session,
        state,
        transcript,
    )

    if version == STATE:
        yield from state.read_store(source, note, INFO.name)
    elif session.has_duplicate(source, note):
        return
    elif version == TRANSCRIPT:
        yield transcript.read_transcript(source, note, INFO.name)
    elif version == LOG:
        yield session.read_log(source, note, INFO.name)
    else:
        yield session.read_document(source, note, INFO.name)
