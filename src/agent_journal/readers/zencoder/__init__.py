"""Zencoder: one file of lines per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

SESSION = "session"
TOOL_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "Grep": "search",
    "Glob": "search",
    "WebSearch": "web",
    "WebFetch": "web",
    "Task": "agent",
    "subagent": "agent",
    "TodoWrite": "plan",
}
_ROLES = ("system", "user", "assistant", "tool", "finish", "permission")

INFO = ReaderInfo(
    name="zencoder",
    title="Zencoder",
    versions=(SESSION,),
    names={"record": "zencoder"},
    config_key="zencoder",
    env=("AJ_ZENCODER_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.zencoder/sessions/*.jsonl",),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states neither tokens nor models",
    evidence="a program that reads its files (agentsview); no real file was seen; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim lines by the header, or by messages with the tags of this tool."""
    if peek.is_folder or peek.opening != "{":
        return None
    keys = peek.keys
    if "creationReason" in keys and any(map(_is_header, peek.records)):
        return SESSION
    return SESSION if "createdAt" in keys and "role" in keys and any(map(_is_message, peek.records)) else None


def _is_header(record: dict[str, Any]) -> bool:
    return record.get("creationReason").__class__ is str and "createdAt" in record and "id" in record


def _is_message(record: dict[str, Any]) -> bool:
    """Whether a record is a message of a file whose header is lost."""
    content = record.get("content")
    return (
        record.get("role") in _ROLES
        and record.keys() <= {"role", "createdAt", "content", "reason", "id"}
        and "createdAt" in record
        and content.__class__ is list
        and any(part.__class__ is dict and ("tag" in part or "toolCallId" in part) for part in content)
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.zencoder import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
