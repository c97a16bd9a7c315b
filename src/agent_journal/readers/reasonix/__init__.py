"""Reasonix: one file of chat messages per session, with its facts in a file next to it."""

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
SUFFIX = ".meta"
_FIELDS = {"role", "content", "reasoning_content", "tool_calls", "tool_call_id", "name"}
_META_FIELDS = {"id", "workspace_root"}
_PATTERNS = (
    *("projects/*/sessions/*.jsonl", "projects/*/sessions/*/*.jsonl", "sessions/*.jsonl"),
    *("sessions/subagents/*.jsonl", "archive/*.jsonl"),
)
TOOL_KINDS: dict[str, ToolKind] = {
    "run_command": "shell",
    "shell": "shell",
    "read_file": "read",
    "edit_file": "edit",
    "multi_edit": "edit",
    "write_file": "write",
    "search_content": "search",
    "search_files": "search",
    "list_directory": "search",
    "glob": "search",
    "web_search": "web",
    "web_fetch": "web",
    "spawn_subagent": "agent",
    "todo_write": "plan",
}

INFO = ReaderInfo(
    name="reasonix",
    title="Reasonix",
    versions=(SESSION,),
    names={"record": "reasonix"},
    config_key="reasonix",
    env=("AJ_REASONIX_PATH",),
    homes=tuple(
        f"{home}/{pattern}" for home in ("~/.reasonix", "%APPDATA%/reasonix") for pattern in _PATTERNS
    ),
    companions=("*/reasonix/*.jsonl.meta", "*/.reasonix/*.jsonl.meta"),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states no tokens in its sessions",
    evidence=(
        "a program that reads its files (agentsview); no real file was seen; verified November 2026. A "
        "session without calls is recognized by the file with its facts only"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lines of chat messages whose calls have no `function`, or that have facts next to them."""
    if peek.is_folder or peek.opening != "{" or "role" not in peek.keys or not peek.keys <= _FIELDS:
        return None
    if any(map(_has_flat_call, peek.records)):
        return SESSION
    meta = peek.member(f"{peek.name}{SUFFIX}")
    return SESSION if meta is not None and meta.keys >= _META_FIELDS else None


def _has_flat_call(record: dict[str, Any]) -> bool:
    calls = record.get("tool_calls")
    return calls.__class__ is list and any(
        call.__class__ is dict and {"id", "name", "arguments"} <= call.keys() and "function" not in call
        for call in calls
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.reasonix import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
