"""gptme: one folder per conversation, with a file of lines for it and for each of its branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo
from agent_journal.readers.gptme.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

LINES = "lines"
_ROLES = ("system", "user", "assistant")
_FIELDS = {
    *(
        "role",
        "content",
        "timestamp",
        "files",
        "file_hashes",
        "call_id",
        "pinned",
        "hide",
        "quiet",
        "metadata",
    )
}

INFO = ReaderInfo(
    name="gptme",
    title="gptme",
    versions=(LINES,),
    names={"record": "gptme"},
    config_key="gptme",
    env=("AJ_GPTME_PATH", "GPTME_LOGS_HOME", "XDG_DATA_HOME"),
    homes=tuple(
        f"{home}/*/{pattern}"
        for home in (
            *("~/.local/share/gptme/logs", "~/Library/Application Support/gptme/logs"),
            *("%LOCALAPPDATA%/gptme/gptme/logs", "%LOCALAPPDATA%/gptme/logs", "%GPTME_LOGS_HOME%"),
        )
        for pattern in ("conversation.jsonl", "branches/*.jsonl")
    ),
    companions=tuple(
        f"*/gptme/logs/*/{name}"
        for name in (
            *("config.toml", "events.jsonl", "lesson-emissions.jsonl", "model_selection_trace.json"),
            *("views/*.jsonl", "attachments/*", "workspace/*"),
        )
    ),
    tool_kinds=TOOL_KINDS,
    resume="gptme --name {id}",
    evidence=(
        "the vendor's public source as of August 2026, a sample of June 2026, and what 0.35 writes; verified "
        "November 2026. Times have no zone, they are taken for UTC"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lines that have a role, a text and a time, and no field that others have."""
    if peek.is_folder or peek.opening != "{" or not peek.keys >= {"role", "content", "timestamp"}:
        return None
    return LINES if peek.keys <= _FIELDS and any(map(_is_message, peek.records)) else None


def _is_message(record: dict[str, Any]) -> bool:
    is_text = record.get("content").__class__ is str and record.get("timestamp").__class__ is str
    return is_text and record.get("role") in _ROLES


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is one version)
    """Yield the conversation of a file."""
    from agent_journal.readers.gptme.log import conversation  # noqa: PLC0415 (only reading needs it)

    yield conversation(source, note, INFO.name)
