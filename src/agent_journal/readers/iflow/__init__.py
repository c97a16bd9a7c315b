"""iFlow CLI: one file of lines per session, in the envelope of Claude Code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model.ids import is_uuid
from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

SESSION = "session"
PREFIX = "session-"
TOOL_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "multi_edit": "edit",
    "write_file": "write",
    "search_file_content": "search",
    "glob": "search",
    "list_directory": "search",
    "web_fetch": "web",
    "web_search": "web",
    "task": "agent",
    "todo_write": "plan",
    "todo_read": "plan",
    "save_memory": "memory",
}

INFO = ReaderInfo(
    name="iflow",
    title="iFlow CLI",
    versions=(SESSION,),
    names={"record": "iflow"},
    config_key="iflow",
    env=("AJ_IFLOW_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.iflow/projects/*/session-*.jsonl",),
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    undercounts="most answers state no tokens",
    resume="iflow --resume {id}",
    evidence="a real session of 1.0 and a program that reads its files (agentsview); verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim lines by the form of their session's id."""
    if peek.is_folder or peek.opening != "{" or not {"sessionId", "message"} <= peek.keys:
        return None
    return SESSION if any(map(_is_line, peek.records)) else None


def _is_line(record: dict[str, Any]) -> bool:
    session, message = record.get("sessionId"), record.get("message")
    return (
        session.__class__ is str
        and session.startswith(PREFIX)
        and is_uuid(session.removeprefix(PREFIX))
        and message.__class__ is dict
        and "parts" not in message
        and "type" in record
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.iflow import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
