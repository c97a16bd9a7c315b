"""Continue (extension for VS Code and JetBrains, and its CLI): one JSON file per session.

Companions of the sessions are an index with their dates, the configuration with the models, and event logs.
Only the logs have the times of messages, and they also contain sessions that were deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.continue_dev.detect import DOCUMENT, LIST, LOG, SESSION, STEPS, detect_version
from agent_journal.readers.continue_dev.names import SOURCE, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Continue",
    category="editors",
    versions=(SESSION, LOG, STEPS, LIST, DOCUMENT),
    revision=7,
    names={"unified": "continue_dev", "pam": "continue", "record": "continue"},
    config_key="continue",
    env=("AJ_CONTINUE_PATH", "CONTINUE_GLOBAL_DIR"),
    # The same folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/{pattern}"
        for home in ("~/.continue", "%CONTINUE_GLOBAL_DIR%")
        for pattern in (
            "sessions/",
            "dev_data/*/chatInteraction.jsonl",
            "dev_data/*/editInteraction.jsonl",
        )
    ),
    companions=("*/.continue/config.yaml", "*/.continue/config.json", "*/dev_data/devdata.sqlite"),
    tool_kinds=TOOL_KINDS,
    required=("conversation_id", "messages", "platform.model"),
    resume="cn --fork {id}",
    sums_requests=True,
    evidence=(
        "the vendor's public source as of June 2026 and its history since 2023; no samples from the field; "
        "verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim sessions, their folder and the one above it, their index, and the logs."""
    return detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield every conversation of a folder, a session or a log."""
    # imported only to read
    from agent_journal.readers.continue_dev import documents, folder, logs  # noqa: PLC0415

    if source.is_folder:
        return folder.read_folder(source, note)
    match version:
        case "dev-data":
            return logs.read_log(source, note)
        case "document":
            return documents.read_documents(source, note)
        case "index":
            return folder.read_index(source, note)
    return folder.read_session(source, note)
