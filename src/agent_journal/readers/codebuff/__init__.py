"""Codebuff and Freebuff: a folder per chat, with what the user interface shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

CHAT = "chat"
VARIANTS = ("user", "ai", "agent", "error")
TOOL_KINDS: dict[str, ToolKind] = {
    "run_terminal_command": "shell",
    "read_files": "read",
    "read_subtree": "read",
    "str_replace": "edit",
    "write_file": "write",
    "code_search": "search",
    "glob": "search",
    "find_files": "search",
    "list_directory": "search",
    "web_search": "web",
    "read_docs": "web",
    "spawn_agents": "agent",
    "spawn_agent_inline": "agent",
    "write_todos": "plan",
    "create_plan": "plan",
}

INFO = ReaderInfo(
    name="codebuff",
    title="Codebuff, Freebuff",
    versions=(CHAT,),
    names={"record": "codebuff"},
    config_key="codebuff",
    env=("AJ_CODEBUFF_PATH",),
    # The same folder in the home directory of all systems.
    homes=("~/.config/manicode/projects/*/chats/*/chat-messages.json",),
    companions=tuple(f"*/manicode/projects/*/chats/*/{file}.json" for file in ("run-state", "chat-meta")),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states credits, no tokens",
    evidence=(
        "the vendor's public source of 2026; no real file was seen; verified November 2026. Times without a "
        "date are stored as they are"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lists of messages that have a variant."""
    if peek.is_folder or peek.opening != "[" or not {"variant", "content", "id"} <= peek.keys:
        return None
    return CHAT if any(map(_is_message, peek.records)) else None


def _is_message(record: dict[str, Any]) -> bool:
    return record.get("variant") in VARIANTS and "content" in record and "timestamp" in record


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file, and those of its subagents."""
    from agent_journal.readers.codebuff import chat  # noqa: PLC0415 (only reading needs it)

    yield from chat.conversations(source, note, INFO.name)
