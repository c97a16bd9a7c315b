"""GitHub Copilot's chats in VS Code: a log of operations per session since 1.109, one JSON object before.

What was shown is the thread; calls, their arguments, results and thoughts come from what went to the model.
Also read are exports of a chat, the extension's transcripts, and the store of old versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.vscode_copilot.detect import (
    LOG,
    STATE,
    TRANSCRIPT,
    VERSIONS,
    version_of,
)
from agent_journal.readers.vscode_copilot.names import TOOL_KINDS, homes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="vscode-copilot",
    title="GitHub Copilot Chat in VS Code",
    versions=VERSIONS,
    revision=6,
    names={"unified": "github_copilot", "pam": "copilot", "record": "vscode-copilot"},
    config_key="vscode_copilot",
    env=("AJ_VSCODE_COPILOT_PATH", "VSCODE_PORTABLE"),
    homes=homes(),
    companions=("*/workspace.json", "*/state.vscdb.backup", "*/chatEditingSessions/*"),
    tool_kinds=TOOL_KINDS,
    required=("messages[].timestamp", "messages[].content"),
    undercounts="of an answer that took several rounds only the last prompt is counted",
    evidence=(
        "the editor's and the extension's public source as of 2026, and samples of exports of 2025; "
        "verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim sessions as logs and as objects, exports, transcripts that name the editor, and its store."""
    return None if peek.is_folder else version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation that a file holds; of the store all of them."""
    from agent_journal.readers.vscode_copilot import (  # noqa: PLC0415 (imported when something is read)
        session,
        state,
        transcript,
    )

    if version == STATE:
        yield from state.conversations(source, note, INFO.name)
    elif session.has_twin(source, note):
        return
    elif version == TRANSCRIPT:
        yield transcript.conversation(source, note, INFO.name)
    elif version == LOG:
        yield session.from_log(source, note, INFO.name)
    else:
        yield session.from_document(source, note, INFO.name)
