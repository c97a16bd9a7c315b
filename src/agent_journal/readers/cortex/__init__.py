"""Cortex Code, Snowflake's agent: one document per conversation; the messages of long ones are next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

CONVERSATION = "conversation"
TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "web_search": "web",
    "web_fetch": "web",
    "task": "agent",
    "todo_write": "plan",
}

INFO = ReaderInfo(
    name="cortex",
    title="Cortex Code",
    versions=(CONVERSATION,),
    names={"record": "cortex"},
    config_key="cortex",
    env=("AJ_CORTEX_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.snowflake/cortex/conversations/*.json",),
    companions=("*/cortex/conversations/*.history.jsonl", "*/cortex/conversations/*.back.*.json"),
    tool_kinds=TOOL_KINDS,
    undercounts="the tool states neither tokens nor models",
    evidence=(
        "a program that reads its files (agentsview) and the vendor's documentation of their location; no "
        "real file was seen; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim documents by the facts that only this tool has."""
    if peek.is_folder or peek.opening != "{" or "session_id" not in peek.keys:
        return None
    return CONVERSATION if any(map(_is_conversation, peek.records)) else None


def _is_conversation(record: dict[str, Any]) -> bool:
    return (
        record.get("session_id").__class__ is str
        and ("history" in record or "history_length" in record)
        and ("connection_name" in record or "permission_cache" in record)
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a document."""
    from agent_journal.readers.cortex import document  # noqa: PLC0415 (only reading needs it)

    yield document.conversation(source, note, INFO.name)
