"""QwenPaw, formerly CoPaw: the memory of an agent as one document per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import Product, ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

SESSION = "session"
TOOL_KINDS: dict[str, ToolKind] = {
    "execute_shell_command": "shell",
    "execute_python_code": "shell",
    "read_file": "read",
    "view_text_file": "read",
    "write_file": "write",
    "edit_file": "edit",
    "append_file": "edit",
    "grep_search": "search",
    "glob_search": "search",
    "browser_use": "web",
    "memory_search": "memory",
}

INFO = ReaderInfo(
    name="qwenpaw",
    title="QwenPaw",
    products=(
        Product("QwenPaw", ("*/.qwenpaw/*",)),
        Product("CoPaw", ("*/.copaw/*",)),
    ),
    versions=(SESSION,),
    names={"record": "qwenpaw"},
    config_key="qwenpaw",
    env=("AJ_QWENPAW_PATH", "QWENPAW_WORKING_DIR", "COPAW_WORKING_DIR"),
    # The same folders on Linux, macOS and Windows; the second is that of older versions.
    homes=tuple(
        f"{home}/workspaces/*/sessions/{pattern}"
        for home in ("~/.qwenpaw", "~/.copaw", "%QWENPAW_WORKING_DIR%", "%COPAW_WORKING_DIR%")
        for pattern in ("*.json", "*/*.json")
    ),
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    undercounts="the tool states neither tokens nor models",
    evidence=(
        "the vendor's public source of 2026 and samples of sessions; verified November 2026. Times have no "
        "zone and are read as UTC, although they are local"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim documents with the memory of an agent."""
    if peek.is_folder or peek.opening != "{" or "agent" not in peek.keys:
        return None
    return SESSION if any(map(_is_session, peek.records)) else None


def _is_session(record: dict[str, Any]) -> bool:
    agent = record.get("agent")
    memory = agent.get("memory") if agent.__class__ is dict else None
    return memory.__class__ is dict and memory.get("content").__class__ is list


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.qwenpaw import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
