"""GitHub Copilot CLI: one JSONL file of chained events per session; in 2025 at first one JSON file.

Texts of the user and the model and tool results become messages; all other records stay events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.readers import ReaderInfo
from agent_journal.readers.copilot_cli.detect import EVENTS, HISTORY, detect_version
from agent_journal.readers.dialects.copilot_events.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

# The name of a session's folder is its id, a UUID.
_FOLDER = "*/????????-????-????-????-????????????"

_APP_FILES = (
    "config.json",
    "settings.json",
    "settings.json.lock",
    "mcp-config.json",
    "permissions-config.json",
    "command-history-state.json",
    "logs/*.log",
    "logs/.copilot-log.lock",
    "ide/*.lock",
    "pkg/*",
)

INFO = ReaderInfo(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    versions=(EVENTS, HISTORY),
    revision=4,
    names={"unified": "github_copilot", "pam": "copilot", "record": "copilot-cli"},
    config_key="copilot_cli",
    env=("AJ_COPILOT_PATH", "COPILOT_HOME"),
    # The same paths below the home folder on Linux, macOS and Windows.
    homes=(
        "~/.copilot/session-state/*/events.jsonl",
        "~/.copilot/session-state/*.jsonl",
        "~/.copilot/history-session-state/*.json",
        "%COPILOT_HOME%/session-state/*/events.jsonl",
        "%COPILOT_HOME%/session-state/*.jsonl",
        "%COPILOT_HOME%/history-session-state/*.json",
        "~/.copilot-cli/sessions/*/events.jsonl",
        # Builds before 1.0.40, which moves these files, followed XDG_STATE_HOME and XDG_CONFIG_HOME.
        "~/.local/state/.copilot/session-state/*/events.jsonl",
        "~/.local/state/.copilot/session-state/*.jsonl",
        "~/.local/state/.copilot/history-session-state/*.json",
        "~/.config/.copilot/session-state/*/events.jsonl",
        "~/.config/.copilot/session-state/*.jsonl",
        "~/.config/.copilot/history-session-state/*.json",
    ),
    companions=(
        "*/workspace.yaml",
        f"{_FOLDER}/plan.md",
        f"{_FOLDER}/checkpoints/*",
        f"{_FOLDER}/files/*",
        f"{_FOLDER}/research/*",
        f"{_FOLDER}/rewind-file-snapshots/*",
        f"{_FOLDER}/session.db*",
        f"{_FOLDER}/.workspace-fork.lock",
        f"{_FOLDER}/inuse.*.lock",
        "*/session-state/.session-operation-locks/*.lock",
        "*/session-store.db*",
        # Settings, caches and logs of the app; the sessions also have the prompts.
        *(f"*/.copilot/{name}" for name in _APP_FILES),
    ),
    tool_kinds=TOOL_KINDS,
    required=("messages[].timestamp", "messages[].content"),
    raw_field="transformedContent",
    resume="copilot --resume {id}",
    undercounts="older versions state what was sent to a model only when a session ends",
    sums_requests=True,
    evidence=(
        "the vendor's package 1.0.40 with its schema of events, its public SDK, samples of 0.0.3xx to "
        "1.0.77, and sessions of 1.0.102; verified November 2026. The names of files of 2025 and their "
        "timeline are not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim event files not written by an editor, and the older JSON files."""
    return detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file."""
    if version == HISTORY:
        from agent_journal.readers.dialects.copilot_events import history  # noqa: PLC0415 (imported only to read)

        yield history.conversation(source, note, INFO.name)
        return
    from agent_journal.readers.dialects.copilot_events.session import Session  # noqa: PLC0415 (imported only to read)

    session = Session(source, note)
    session.read()
    if not session.has_known_entries:
        raise UnreadableSource(source.label, "no line in it is an event of a session")
    yield session.conversation(INFO.name)
