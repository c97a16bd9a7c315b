"""Mux: one file of messages per workspace, and one per subagent."""

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
TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "bash_output": "shell",
    "file_read": "read",
    "file_edit_replace_string": "edit",
    "file_edit_replace_lines": "edit",
    "file_edit_insert": "edit",
    "web_search": "web",
    "web_fetch": "web",
    "task": "agent",
    "todo_write": "plan",
    "propose_plan": "plan",
}

INFO = ReaderInfo(
    name="mux",
    title="Mux",
    versions=(CHAT,),
    names={"record": "mux"},
    config_key="mux",
    env=("AJ_MUX_PATH", "MUX_ROOT"),
    # The same folders on Linux, macOS and Windows; the last is that of older versions.
    homes=tuple(
        f"{home}/sessions/*/{pattern}"
        for home in ("~/.mux", "%MUX_ROOT%", "~/.mux-dev", "~/.cmux")
        for pattern in ("chat.jsonl", "subagent-transcripts/*/chat.jsonl")
    ),
    companions=tuple(f"*/{home}/config.json" for home in (".mux", ".mux-dev", ".cmux")),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    evidence="a program that reads its files (codeburn); no real file was seen; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim lines that are messages of a user interface with a place in a history."""
    if peek.is_folder or peek.opening != "{" or not {"parts", "metadata", "role"} <= peek.keys:
        return None
    return CHAT if any(map(_is_message, peek.records)) else None


def _is_message(record: dict[str, Any]) -> bool:
    metadata = record.get("metadata")
    return (
        record.get("parts").__class__ is list
        and record.get("role") in ("user", "assistant", "system")
        and metadata.__class__ is dict
        and ("historySequence" in metadata or {"timestamp", "model"} <= metadata.keys())
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.mux import chat  # noqa: PLC0415 (only reading needs it)

    yield chat.conversation(source, note, INFO.name)
