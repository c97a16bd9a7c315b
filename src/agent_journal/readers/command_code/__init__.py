"""Command Code: one file of lines per session, with its title in a file next to it."""

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
    "shell_command": "shell",
    "bash": "shell",
    "read_file": "read",
    "read_multiple_files": "read",
    "edit_file": "edit",
    "write_file": "write",
    "grep": "search",
    "glob": "search",
    "read_directory": "search",
    "web_search": "web",
    "web_fetch": "web",
    "task": "agent",
    "todo_write": "plan",
}

INFO = ReaderInfo(
    name="command-code",
    title="Command Code",
    versions=(SESSION,),
    names={"record": "command-code"},
    config_key="command_code",
    env=("AJ_COMMAND_CODE_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.commandcode/projects/*/*.jsonl",),
    companions=("*/.commandcode/projects/*/*.meta.json",),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states neither tokens nor models",
    evidence="a program that reads its files (agentsview); no real file was seen; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim lines that are messages with a session and metadata, and nothing around them."""
    keys = peek.keys
    if peek.is_folder or peek.opening != "{" or not {"sessionId", "role", "content"} <= keys:
        return None
    return SESSION if any(map(_is_message, peek.records)) else None


def _is_message(record: dict[str, Any]) -> bool:
    return (
        record.get("sessionId").__class__ is str
        and record.get("role") in ("user", "assistant", "tool", "system")
        and record.get("content").__class__ in (str, list)
        and "timestamp" in record
        and "type" not in record
        and (record.get("metadata").__class__ is dict or "gitBranch" in record)
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.command_code import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
